"""Count what makes the code heavy to read: ``python -m checks.weight [FOLDER]``, one row per measure and bound.

FOLDER is the root of a checkout, by default this one. The exit code is 1 if a bound is exceeded.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MOST_PARAMETERS = 8
"""Of a function outside kernels, `self` not counted."""


@dataclass(frozen=True)
class Measure:
    """One count, and the largest value that it should have."""

    name: str
    value: int
    bound: int


def python_files(folder: Path) -> list[Path]:
    """All Python files below a folder, sorted."""
    return sorted(folder.rglob("*.py"))


def lines(folder: Path) -> int:
    """Lines of all Python files below a folder, blank lines and comments included."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in python_files(folder))


def trees(folder: Path) -> Iterator[tuple[Path, ast.Module]]:
    """Each Python file below a folder with its syntax tree."""
    for path in python_files(folder):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def capitals(folder: Path) -> tuple[int, int]:
    """Module-level names in capitals, and how many of them are assigned as a tuple (``A, B = 1, 2``)."""
    names = in_tuples = 0
    for _, tree in trees(folder):
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if _annotated(node) else []
            for target in targets:
                inside = [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and _is_constant(n.id)]
                names += len(inside)
                in_tuples += len(inside) if isinstance(target, ast.Tuple) else 0
    return names, in_tuples


def _annotated(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign)


def _is_constant(name: str) -> bool:
    return re.fullmatch(r"_?[A-Z][A-Z0-9_]*", name) is not None and len(name.strip("_")) > 1


def repeated_names(folder: Path) -> dict[str, int]:
    """File names that occur more than once, with their number; ``__init__.py`` and ``__main__.py`` are not counted."""
    names = Counter(path.name for path in python_files(folder) if not path.name.startswith("__"))
    return {name: count for name, count in names.items() if count > 1}


def long_parameter_lists(folder: Path) -> list[str]:
    """Functions outside kernels with more than `MOST_PARAMETERS` parameters."""
    found = []
    for path, tree in trees(folder):
        inside = path.relative_to(folder)
        if "kernels" in inside.parts:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
                if len([a for a in given if a.arg not in ("self", "cls")]) > MOST_PARAMETERS:
                    found.append(f"{inside}:{node.lineno} {node.name}")
    return found


def class_of(path: Path, name: str) -> ast.ClassDef:
    """The definition of a class in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def public_members(folder: Path) -> int:
    """Public attributes of `Problem`: methods and properties, inherited ones too, and what its constructor assigns."""
    sys.path.insert(0, str(folder / "src"))
    from dabp.problem import Problem

    instance = Problem([2, 2], [0, 1], [0, 2], [1.0, 2.0, 3.0, 4.0], [0, 4])
    return len({name for name in (*dir(Problem), *vars(instance)) if not name.startswith("_")})


def short_docstrings(folder: Path) -> int:
    """Docstrings of three words or fewer."""
    count = 0
    for _, tree in trees(folder):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node)
                count += text is not None and len(text.split()) <= 3
    return count


def phrases(folder: Path, *words: str) -> int:
    """How often any of these phrases occurs below a folder."""
    pattern = re.compile("|".join(rf"\b{word}\b" for word in words))
    return sum(len(pattern.findall(path.read_text(encoding="utf-8"))) for path in python_files(folder))


def signposts(page: Path) -> int:
    """Rows of the table "to change …, go to …"."""
    text = page.read_text(encoding="utf-8")
    table = text.split("| to change |")[1].split("\n\n")[0] if "| to change |" in text else ""
    return max(len(table.splitlines()) - 2, 0)


def measures(root: Path) -> list[Measure]:
    """All measures of a checkout."""
    source = root / "src" / "dabp"
    names, in_tuples = capitals(source)
    problem = class_of(source / "problem" / "problem.py", "Problem")
    return [
        Measure("lines of src", lines(root / "src"), 44_000),
        Measure("lines of tests", lines(root / "tests"), 30_000),
        Measure("lines of checks", lines(root / "checks"), 2_500),
        Measure("module-level names in capitals", names, 500),
        Measure("names in capitals assigned as a tuple", in_tuples, 0),
        Measure("file names that occur more than once", len(repeated_names(source)), 12),
        Measure("public members of Problem", public_members(root), 35),
        Measure("base classes of Problem", len(problem.bases), 0),
        Measure("functions with more than 8 parameters", len(long_parameter_lists(source)), 10),
        Measure("docstrings of three words or fewer", short_docstrings(source), 0),
        Measure('"so many", "so much" and "so-manieth"', phrases(source, "so many", "so much", "so-manieth"), 0),
        Measure("rows of the signpost table", signposts(root / "docs" / "architecture.md"), 60),
    ]


def main(arguments: list[str]) -> int:
    """Print the measures of a checkout; 1 if one is above its bound."""
    root = Path(arguments[0]) if arguments else Path(__file__).parents[1]
    found = measures(root.resolve())
    for measure in found:
        verdict = "ok" if measure.value <= measure.bound else "too many"
        print(f"{measure.name:42} {measure.value:7,} {measure.bound:7,}  {verdict}")
    print("repeated file names:", ", ".join(sorted(repeated_names(root / "src" / "dabp"))))
    print("long parameter lists:", *long_parameter_lists(root / "src" / "dabp"), sep="\n  ")
    return int(any(measure.value > measure.bound for measure in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
