"""The command line: one file per command; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import errno
import functools
import importlib
import io
import os
import sys
from typing import Annotated

import typer

from dabp import __version__
from dabp.errors import DabpError

_UNDERSCORES = {"token_normalize_func": lambda name: name.replace("_", "-")}
"""Options may be written as pyDCOP does, ``--row_count``."""

COMPLETION = "_DABP_COMPLETE"
"""Set where a shell asks what could come next, which any command can."""

BROKEN_PIPE = 141
"""The exit code of a command whose output nobody reads any more, as a shell counts SIGPIPE."""


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


COMMANDS = (
    *("solve", "info", "evaluate", "explain", "convert", "presolve", "generate", "solvers", "train-gat-pcm"),
    *("train-policy", "uai", "doctor", "experiment", "plot"),
)
"""In the order of the help; each is a module of this package."""

MODULES = {"uai": "uai_competition"}
"""Commands whose module has another name."""


@functools.cache
def application(only: str | None = None) -> typer.Typer:
    """The command line with all commands, or with one: loading the others would take longer than some commands do."""
    made = typer.Typer(
        name="dabp",
        help="Solve constraint optimisation problems: weighted CSPs, cost function networks, MAP/MPE, DCOPs.",
        no_args_is_help=True,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_options)
    for name in COMMANDS if only is None else (only,):
        spoken = name.replace("-", "_")
        module = importlib.import_module(f"dabp.cli.{MODULES.get(name, spoken)}")
        if hasattr(module, "app"):
            made.add_typer(module.app, name=name)
        else:
            settings = _UNDERSCORES if name == "generate" else None
            made.command(name, context_settings=settings)(getattr(module, spoken))
    return made


def __getattr__(name: str) -> typer.Typer:
    if name == "app":
        return application()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main() -> None:
    """Run the command line; whatever goes wrong is one line on standard error and exit code 2."""
    _ready_streams()
    asked = sys.argv[1] if len(sys.argv) > 1 else None
    try:
        app = application(asked if asked in COMMANDS and COMPLETION not in os.environ else None)
        code = app(standalone_mode=False)
        sys.stdout.flush()  # while a closed pipe can still be told from an error
    except DabpError as error:
        code = _complain(str(error))
    except KeyboardInterrupt:
        code = 130
    except SystemExit as stop:  # how Typer and Rich end when nobody reads on; commands raise typer.Exit
        code = BROKEN_PIPE if stop.code == 1 else stop.code
    except OSError as error:
        if is_closed_pipe(error):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # keeps the interpreter's exit quiet
            code = BROKEN_PIPE
        else:
            code = _complain(f"{error.filename or 'system'}: {error.strerror or error}")
    except MemoryError:
        code = _complain("out of memory; try --memory with a limit, or a solver that needs less")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click's usage errors, wherever typer keeps click
            raise
        code = _complain(error.format_message())
    sys.exit(code if isinstance(code, int) else 0)


def is_closed_pipe(error: OSError) -> bool:
    """Whether a write failed because nobody reads any more; Windows calls that an invalid argument, of no file."""
    if sys.platform == "win32" and error.errno == errno.EINVAL and error.filename is None:
        return True
    return isinstance(error, BrokenPipeError)


def _ready_streams() -> None:
    """Have streams that take any text: one that was closed is none, and an old encoding has no words for all names."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> int:
    from dabp.problem.shown import shown

    text = shown(" ".join(message.split()))
    print(f"dabp: {text or 'stopped'}", file=sys.stderr)
    return 2
