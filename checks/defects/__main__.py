"""``python -m checks.defects``: each reproduction in a process and a folder of its own; 1 if one fails."""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from checks.records import Clock

PROGRAMS = Path(__file__).with_name("reproductions.py")


def main() -> int:
    """Run them, tell which fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[2], help="a checkout of the project")
    parser.add_argument("--defect", type=int, action="append", help="only this one; repeatable")
    parser.add_argument("--seconds", type=float, default=120.0, help="for one of them")
    clock = Clock(parser, "defects")
    chosen = parser.parse_args()
    environment = {**os.environ, "PYTHONPATH": str(chosen.source.resolve() / "src"), "MPLBACKEND": "Agg"}
    failed = 0
    for number, what in sorted(described().items()):
        if chosen.defect and number not in chosen.defect:
            continue
        wrong = reproduced(number, environment, chosen.seconds)
        failed += wrong is not None
        sys.stdout.write(f"{number:2d}  {'fails' if wrong else 'holds'}  {what}{f'  ({wrong})' if wrong else ''}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{failed} fail\n")
    clock.ended(chosen, f"{len(described())} defects of 0.1.0", failed)
    return 1 if failed else 0


def described() -> dict[int, str]:
    """The defects' numbers and what each was, from the programs' own words; nothing of them is imported here."""
    functions = [node for node in ast.parse(PROGRAMS.read_text()).body if isinstance(node, ast.FunctionDef)]
    found = [node for node in functions if node.name[0] == "d" and node.name[1:].isdecimal()]
    return {int(node.name[1:]): (ast.get_docstring(node) or "").splitlines()[0] for node in found}


def reproduced(number: int, environment: dict[str, str], seconds: float) -> str | None:
    """What goes wrong, in short; None if nothing does."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(PROGRAMS), str(number)]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return f"not over after {seconds:.0f} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:120]


if __name__ == "__main__":
    sys.exit(main())
