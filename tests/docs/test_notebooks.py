"""The notebooks of examples/ run from the first cell to the last, keep their promises, and have no outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "notebooks"
PROMISES = {
    "first-model": ["OPTIMAL: proved optimal", "at noon it costs"],
    "grid-image": ["better than what was seen: True"],
    "relaxation": ["violated: ('bob not late',)"],
    "stream": ["never worse than the start: True", "function 0 is free now: True"],
    "comparing": ["as good as the best of them: True"],
}
"""What a notebook prints, whatever the machine."""
CARDS = {"first-model": 2, "grid-image": 3, "relaxation": 2, "stream": 1, "comparing": 3}
"""Objects that it shows as HTML: results, problems and frames."""


def load(name: str) -> Any:
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def test_every_notebook_is_run_here() -> None:
    """None is added without a promise."""
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == PROMISES.keys() == CARDS.keys()


def test_notebooks_keep_their_promises() -> None:
    """Executed from an empty namespace each, without an error or a warning, in the folder they lie in.

    One kernel runs them all: most of the time of a short notebook is a kernel's start and imports.
    """
    notebooks = {name: load(name) for name in PROMISES}
    together = nbformat.v4.new_notebook()
    for notebook in notebooks.values():
        together.cells += [nbformat.v4.new_code_cell("%reset -f"), *notebook.cells]
    for number, cell in enumerate(together.cells):
        cell["id"] = f"together-{number}"
    NotebookClient(together, timeout=120, allow_errors=True, resources={"metadata": {"path": str(FOLDER)}}).execute()
    for name, notebook in notebooks.items():
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        assert [output["evalue"] for output in outputs if output.output_type == "error"] == [], name
        assert [output["text"] for output in outputs if output.get("name") == "stderr"] == [], name
        printed = "".join(output.get("text", "") for output in outputs)
        assert [words for words in PROMISES[name] if words not in printed] == [], printed
        assert sum("text/html" in output.get("data", {}) for output in outputs) >= CARDS[name], name


@pytest.mark.parametrize("name", PROMISES)
def test_a_notebook_is_kept_without_outputs(name: str) -> None:
    """So that a change of one is a change of what people wrote; its code is narrow enough to be read."""
    for cell in load(name).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
        if cell.cell_type == "code":
            assert max(map(len, cell.source.splitlines())) <= 120
