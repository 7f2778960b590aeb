"""The layers of the package hold: an import against their order breaks the lint."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter on a copy of the package."""
    return subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("path", "line", "contract"),
    [
        ("kernels/elimination/ordering.py", "from dabp.problem import Problem", "Kernels know plain arrays"),
        ("problem/columns.py", "from dabp.graph import FactorGraph", "Each layer imports only"),
        ("solvers/base.py", "import dabp.driver.solve", "Each layer imports only"),
    ],
)
def test_an_import_against_the_order_is_refused(tmp_path: Path, path: str, line: str, contract: str) -> None:
    """One wrong import, also inside a function, breaks the lint, which names the contract."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    changed = tmp_path / "src" / "dabp" / path
    changed.write_text(changed.read_text() + f"\n\ndef lazily():\n    {line}\n")
    broken = lint(tmp_path)
    assert broken.returncode != 0
    assert any(contract in row and "BROKEN" in row for row in broken.stdout.splitlines())


def test_one_module_imports_numba() -> None:
    """Threads that enter Numba by different modules can find each other's half-imported."""
    folder = ROOT / "src" / "dabp"
    doors = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if re.search(r"^\s*(from|import) (numba|llvmlite)\b", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert doors == {"kernels/compiler.py"}
