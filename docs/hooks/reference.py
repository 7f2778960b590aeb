"""Pages made from the program itself: one for every command, one for every solver.

As an MkDocs hook it adds them to the site; ``python docs/hooks/reference.py FOLDER`` writes them into a folder. What is
on them comes from the commands' own declarations and the solvers' docstrings, so that a page cannot be out of date.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from pathlib import Path
from types import UnionType
from typing import Any

import typer.main

from dabp.cli import app
from dabp.solvers import SOLVERS, parameters

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w[\w, ]*)\n((?:(?:    .*)?\n?)+)", re.MULTILINE)


def pages() -> dict[str, str]:
    """Every page by its path in the site."""
    return {**command_pages(), **solver_pages()}


def command_pages() -> dict[str, str]:
    """``commands/NAME.md`` for each command; groups have their commands on one page."""
    group: Any = typer.main.get_command(app)
    commands = dict(group.commands)
    lines = [
        "# Commands",
        "",
        "`dabp COMMAND --help` says the same in the terminal.",
        "",
        "| command | what it does |",
        "| --- | --- |",
    ]
    lines += [f"| [`dabp {name}`]({name}.md) | {_first_line(each)} |" for name, each in commands.items()]
    index = "\n".join([*lines, "", *_parameters(group), ""])
    return {
        "commands/index.md": index,
        **{f"commands/{name}.md": _command_page(name, each) for name, each in commands.items()},
    }


def _command_page(name: str, command: Any) -> str:
    blocks = [f"# dabp {name}\n\n{_help(command)}\n", *_sections(f"dabp {name}", command)]
    return "\n\n".join(blocks) + "\n"


def _sections(path: str, command: Any) -> list[str]:
    """Usage and parameters of a command; of a group, those of each command in it, below a heading."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return [_usage(path, command), "\n".join(_parameters(command))]
    blocks = []
    for key, each in inner.items():
        blocks += [f"## {path} {key}\n\n{_help(each)}\n", *_sections(f"{path} {key}", each)]
    return blocks


def _help(command: Any) -> str:
    return inspect.cleandoc(command.help or "")


def _first_line(command: Any) -> str:
    return _help(command).split("\n\n")[0].replace("\n", " ")


def _usage(path: str, command: Any) -> str:
    words = [path, "[OPTIONS]"]
    for one in _shown(command, "argument"):
        word = _metavar(one) + ("..." if one.nargs == -1 else "")
        words.append(word if one.required else f"[{word}]")
    return f"```text\n{' '.join(words)}\n```\n"


def _shown(command: Any, kind: str) -> list[Any]:
    return [each for each in command.params if each.param_type_name == kind and not getattr(each, "hidden", False)]


def _metavar(one: Any) -> str:
    return str(one.metavar or one.name).upper()


def _parameters(command: Any) -> list[str]:
    """Tables of arguments and of options."""
    lines = []
    arguments, options = _shown(command, "argument"), _shown(command, "option")
    if arguments:
        lines += ["| argument | what it is |", "| --- | --- |"]
        lines += [f"| `{_metavar(one)}` | {_cell(one.help or '')} |" for one in arguments] + [""]
    if options:
        lines += ["| option | takes | default | what it does |", "| --- | --- | --- | --- |"]
        hints = typing.get_type_hints(inspect.unwrap(command.callback))
        lines += [_option(one, hints.get(one.name, bool)) for one in options]
    return lines


def _option(one: Any, hint: Any) -> str:
    names = ", ".join(f"`{word}`" for word in (*one.opts, *one.secondary_opts))
    kinds = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    takes = "" if bool in kinds else " or ".join(_words(kind) for kind in kinds if kind is not type(None))
    given = one.default is not None and one.default is not False and not callable(one.default)
    return f"| {names} | {takes} | {f'`{one.default}`' if given else ''} | {_cell(one.help or '')} |"


def _words(kind: Any) -> str:
    """A type in words."""
    if typing.get_origin(kind) is list:
        return _words(typing.get_args(kind)[0]) + ", repeatable"
    return {int: "whole number", float: "number", str: "text", Path: "file"}.get(kind, str(kind))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def solver_pages() -> dict[str, str]:
    """``solvers/NAME.md`` for each solver: what it is, its parameters with the defaults of its preset."""
    lines = [
        "# Solvers",
        "",
        "[Choosing a solver](../choosing.md) says which; `dabp solvers NAME` says the same in the terminal.",
        "",
        "| solver | what it is | presolves | checkpoints |",
        "| --- | --- | --- | --- |",
    ]
    for name, entry in SOLVERS.items():
        kind = entry.load()
        lines.append(
            f"| [`{name}`]({name}.md) | {_cell(entry.summary)} | {_tick(kind.presolves)} | {_tick(kind.checkpoints)} |"
        )
    return {
        "solvers/index.md": "\n".join(lines) + "\n",
        **{f"solvers/{name}.md": _solver_page(name) for name in SOLVERS},
    }


def _tick(value: bool) -> str:
    return "yes" if value else ""


def _solver_page(name: str) -> str:
    entry = SOLVERS[name]
    kind = entry.load()
    text, described = described_parameters(kind)
    lines = [f"# {name}", "", f"*{entry.summary}*", "", _markdown(text), ""]
    lines += [
        "```bash",
        f"dabp solve FILE --solver {name} --time 30",
        "```",
        "",
        "```python",
        f'dabp.solve(problem, "{name}", time_limit=30)',
        "```",
        "",
    ]
    known = parameters(name)
    if known:
        lines += ["## Parameters", "", "`--param name=value` on the command line, `params={…}` in Python.", ""]
        lines += ["| parameter | type | default | what it is |", "| --- | --- | --- | --- |"]
        for key, (hint, default) in known.items():
            lines.append(f"| `{key}` | {_cell(_type_name(hint))} | `{default}` | {_cell(described.get(key, ''))} |")
    siblings = [other for other, line in SOLVERS.items() if line.load() is kind and other != name]
    if siblings:
        lines += [
            "",
            "The same class with other defaults: " + ", ".join(f"[`{other}`]({other}.md)" for other in siblings) + ".",
        ]
    facts = [f"`{kind.__name__}` in `dabp.solvers.{entry.module}`."]
    facts.append(
        "The problem is simplified first unless told otherwise."
        if kind.presolves
        else "No presolve unless asked for (`--presolve`)."
    )
    facts.append("Can be saved and resumed (`--checkpoint`)." if kind.checkpoints else "Cannot be saved and resumed.")
    return "\n".join([*lines, "", " ".join(facts), ""])


def described_parameters(kind: type) -> tuple[str, dict[str, str]]:
    """A docstring's text before its sections, and what its section of parameters says about each."""
    text = inspect.cleandoc(kind.__doc__ or "") + "\n"
    parts = SECTION.split(text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    described = {}
    for entry in ENTRY.finditer(sections.get("Parameters", "")):
        for name in entry[1].split(","):
            described[name.strip()] = " ".join(entry[2].split())
    return parts[0].strip(), described


def _markdown(text: str) -> str:
    """RST's double backquotes as single ones."""
    return text.replace("``", "`")


def _type_name(hint: Any) -> str:
    if isinstance(hint, type):
        return hint.__name__
    options = [option.__name__ for option in typing.get_args(hint)]
    return " or ".join("none" if option == "NoneType" else option for option in options)


def on_config(config: Any) -> Any:
    """Put the pages into the navigation, where ``commands`` and ``solvers`` stand."""
    made = pages()
    for section in config["nav"]:
        for title, entries in section.items():
            if title == "Reference":
                section[title] = [
                    *entries,
                    {"Commands": _paths(made, "commands/")},
                    {"Solvers": _paths(made, "solvers/")},
                ]
    return config


def _paths(made: dict[str, str], folder: str) -> list[str]:
    return [path for path in made if path.startswith(folder)]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to the site."""
    from mkdocs.structure.files import File

    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


if __name__ == "__main__":
    for place, written in pages().items():
        target = Path(sys.argv[1]) / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(written, encoding="utf-8")
