"""The command line: one file per command; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import errno
import functools
import importlib
import io
import os
import sys
import time
import warnings
from typing import Annotated, Any

import typer

from dabp import __version__
from dabp.errors import DabpError, ParameterError

COMMANDS = (
    *("solve", "info", "evaluate", "explain", "convert", "presolve", "generate", "solvers", "plot"),
    *("doctor", "uai", "lab"),
)
"""In the order of the help; each is a module of this package."""

USAGE = {
    "is not a valid integer": "is not a whole number",
    "is not a valid int.": "is not a whole number.",
    "is not a valid float": "is not a number",
    "is not in the range at least": "is not at least",
}
"""What click says of a wrong value → what is shown."""

loading_began = 0.0
"""When the program began to load, by `time.perf_counter`; `main` sets it."""


def _version(shown: bool) -> None:
    if shown:
        print(f"dabp {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@functools.cache
def application(only: str | None = None) -> typer.Typer:
    """The command line with all commands, or with one: loading the others would take longer than some commands do."""
    made = typer.Typer(
        name="dabp",
        help="Solve constraint optimisation problems: weighted CSPs, cost function networks, MAP/MPE, DCOPs.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_options)
    for name in COMMANDS if only is None else (only,):
        add(made, name)
    return made


def add(group: typer.Typer, name: str) -> None:
    """Add a command that a module of this package defines: a group `app`, or a function of the command's name."""
    spoken = name.replace("-", "_")
    module = importlib.import_module(f"dabp.cli.{'uai_competition' if name == 'uai' else spoken}")
    if hasattr(module, "app"):
        group.add_typer(module.app, name=name)
    else:
        group.command(name, context_settings=getattr(module, "SETTINGS", None))(getattr(module, spoken))


def __getattr__(name: str) -> typer.Typer:
    if name == "app":
        return application()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def readable(command: Any) -> Any:
    """A click command whose help names values in words, lists whole sentences, and appears without arguments, too."""
    command.short_help = " ".join((command.help or "").partition("\n\n")[0].split())
    words = {"int": "NUMBER", "integer": "NUMBER", "float": "NUMBER", "path": "FILE", "str": "NAME", "text": "NAME"}
    for each in command.params:
        if each.param_type_name == "argument":
            name = (each.metavar or each.name).upper() + ("..." if each.nargs == -1 else "")
            each.make_metavar = functools.partial(_shown, name if each.required else f"[{name}]")
            each.get_error_hint = functools.partial(_shown, repr(name))
        elif each.metavar is None:
            each.metavar = words.get(each.type.name.partition(" ")[0])
        if hasattr(each.type, "_describe_range"):  # what click writes as x>=1
            least, most = each.type.min, each.type.max
            each.type._describe_range = functools.partial(_shown, f"at least {least}" + _at_most(most))
    group = getattr(command, "commands", {})
    command.no_args_is_help = bool(group) or any(each.required for each in command.params)
    for inner in group.values():
        readable(inner)
    return command


def _at_most(most: float | None) -> str:
    return "" if most is None else f" and at most {most}"


def _shown(name: str, *_: object, **__: object) -> str:
    return name


def main(began: float | None = None) -> None:
    """Run the command line; an error is one line on standard error and exit code 2.

    `began` is when the program began to load, by `time.perf_counter`; by default now.
    """
    global loading_began
    loading_began = time.perf_counter() if began is None else began
    _ready_streams()
    asked = sys.argv[1] if len(sys.argv) > 1 else None
    completing = "_DABP_COMPLETE" in os.environ  # a shell asks what could come next, which any command can
    try:
        if asked in ("experiment", "train-policy", "train-gat-pcm"):
            raise ParameterError(f"`dabp {asked}` is called `dabp lab {asked}` now, with the same options")
        command = typer.main.get_command(application(asked if asked in COMMANDS and not completing else None))
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: print(f"dabp: {_line(message)}", file=sys.stderr)
            code = readable(command)(prog_name="dabp", standalone_mode=False)
        sys.stdout.flush()  # here a closed pipe differs from other errors
    except DabpError as error:
        code = _complain(error)
    except KeyboardInterrupt:
        code = 130
    except SystemExit as stop:  # from Typer and Rich at a closed pipe; commands raise typer.Exit
        code = 141 if stop.code == 1 else stop.code
    except OSError as error:
        if is_closed_pipe(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # keeps the interpreter's exit quiet
            code = 141  # as a shell counts SIGPIPE
        else:
            code = _complain(f"{error.filename or 'system'}: {error.strerror or error}")
    except MemoryError:
        code = _complain("out of memory; try --memory with a limit, or a solver that needs less")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click's usage errors, wherever typer keeps click
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            code = 0
        else:
            code = _complain(_in_words(error.format_message()))
    if code == 130:
        print("dabp: interrupted before it was done", file=sys.stderr)
    sys.exit(code if isinstance(code, int) else 0)


def is_closed_pipe(error: OSError) -> bool:
    """Whether a write failed because the reading end is closed, on Windows an invalid argument without a file."""
    if sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None:
        return True
    return isinstance(error, BrokenPipeError)


def _ready_streams() -> None:
    """Make a closed stream an empty one, and let streams of a small encoding take any text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _line(message: object) -> str:
    """A message as one line that is safe to print."""
    from dabp.problem.shown import shown

    return shown(" ".join(str(message).split()))


def _in_words(message: str) -> str:
    """A usage error of click without Python's names of types."""
    for theirs, ours in USAGE.items():
        message = message.replace(theirs, ours)
    unknown = message.startswith("No such command") and "Did you mean" not in message
    return f"{message} `dabp --help` lists them." if unknown else message


def _complain(message: object) -> int:
    print(f"dabp: {_line(message) or 'stopped'}", file=sys.stderr)
    return 2
