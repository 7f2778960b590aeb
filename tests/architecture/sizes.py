"""What is too long in the package: ``python -m tests.architecture.sizes [FOLDER]`` lists it, and fails if any is."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 600
FUNCTION_LINES, KERNEL_LINES = 60, 100
"""A kernel is long because what it calls is compiled into it; elsewhere a function shows one idea on a screen."""


def too_long(folder: Path) -> Iterator[str]:
    """A line for each file and function of a package that is longer than it may be."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text()
        if len(text.splitlines()) > FILE_LINES:
            yield f"{path.relative_to(folder)}: {len(text.splitlines())} lines, {FILE_LINES} at most"
        most = KERNEL_LINES if "kernels" in path.relative_to(folder).parts else FUNCTION_LINES
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > most:
                    yield f"{path.relative_to(folder)}: {node.name} has {lines} lines, {most} at most"


if __name__ == "__main__":
    found = list(too_long(Path(sys.argv[1] if len(sys.argv) > 1 else "src/dabp")))
    sys.stdout.write("\n".join([*found, f"{len(found)} too long"]) + "\n")
    sys.exit(bool(found))
