"""``dabp lab``: what a researcher runs and a user of the solver does not need."""

from __future__ import annotations

import typer

from dabp.cli import add

app = typer.Typer(help="Run experiments, and train what solvers have learned.", rich_markup_mode=None)
for command in ("experiment", "train-policy", "train-gat-pcm"):
    add(app, command)
