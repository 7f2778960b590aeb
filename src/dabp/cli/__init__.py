"""The command line: one file per command; nothing heavy is imported before a command needs it."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from dabp import __version__
from dabp.errors import DabpError

app = typer.Typer(
    name="dabp",
    help="Solve constraint optimisation problems: weighted CSPs, cost function networks, MAP/MPE, DCOPs.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_UNDERSCORES = {"token_normalize_func": lambda name: name.replace("_", "-")}
"""Options may be written as pyDCOP does, ``--row_count``."""

BROKEN_PIPE = 141
"""The exit code of a command whose output nobody reads any more, as a shell counts SIGPIPE."""


def _version(shown: bool) -> None:
    if shown:
        print(f"dabp {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def _register() -> None:
    from dabp.cli.convert import convert
    from dabp.cli.doctor import doctor
    from dabp.cli.evaluate import evaluate
    from dabp.cli.experiment import app as experiment
    from dabp.cli.explain import explain
    from dabp.cli.generate import generate
    from dabp.cli.info import info
    from dabp.cli.plot import app as plot
    from dabp.cli.presolve import presolve
    from dabp.cli.solve import solve
    from dabp.cli.solvers import solvers
    from dabp.cli.train_gat_pcm import train_gat_pcm
    from dabp.cli.train_policy import train_policy
    from dabp.cli.uai import uai

    training = (train_gat_pcm, train_policy)
    for command in (solve, info, evaluate, explain, convert, presolve, generate, solvers, *training, uai, doctor):
        app.command(context_settings=_UNDERSCORES if command is generate else None)(command)
    app.add_typer(experiment, name="experiment")
    app.add_typer(plot, name="plot")


_register()


def main() -> None:
    """Run the command line; whatever goes wrong is one line on standard error and exit code 2."""
    _ready_streams()
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()  # while a closed pipe can still be told from an error
    except DabpError as error:
        code = _complain(str(error))
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # keeps the interpreter's exit quiet
        code = BROKEN_PIPE
    except SystemExit as stop:  # how Typer and Rich end when nobody reads on; commands raise typer.Exit
        code = BROKEN_PIPE if stop.code == 1 else stop.code
    except OSError as error:
        code = _complain(f"{error.filename or 'system'}: {error.strerror or error}")
    except MemoryError:
        code = _complain("out of memory; try --memory with a limit, or a solver that needs less")
    except Exception as error:
        if not hasattr(error, "format_message"):  # click's usage errors, wherever typer keeps click
            raise
        code = _complain(error.format_message())
    sys.exit(code if isinstance(code, int) else 0)


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
