"""docs/architecture.md: the table leads to files that are there, and the picture shows the layers that are held."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PICTURE = ROOT / "docs" / "pictures" / "layers.svg"
QUOTED = re.compile(r"`([^`]+)`")


def rows() -> list[tuple[str, list[Path], list[str]]]:
    """What is to be changed, the paths it leads to, the names to look for there."""
    table = PAGE.read_text(encoding="utf-8").split("| to change | go to | look for |")[1].split("\n\n")[0]
    cells = [line.strip("|").split("|") for line in table.splitlines()[2:]]
    return [(what.strip(), list(map(place, QUOTED.findall(go))), QUOTED.findall(names)) for what, go, names in cells]


def place(path: str) -> Path:
    """Below the package, or below the repository."""
    inside = ROOT / "src" / "dabp" / path
    return inside if inside.exists() else ROOT / path


def content(path: Path) -> str:
    """The text that a path holds, all files of a folder."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


def test_every_row_leads_somewhere() -> None:
    """At least 25 rows, whose paths exist and contain the names to look for."""
    found = rows()
    assert len(found) >= 25
    for what, paths, names in found:
        missing = [str(path) for path in paths if not path.exists()]
        assert not missing, f"{what}: {missing}"
        text = "\n".join(map(content, paths))
        unknown = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)]
        assert not unknown, f"{what}: {unknown} are not in {paths}"


def test_every_room_is_in_the_table() -> None:
    """A newcomer finds a way into each layer, and into each room of the solvers."""
    folders = {path.parent for _, paths, _ in rows() for path in paths} | {p for _, paths, _ in rows() for p in paths}
    package = ROOT / "src" / "dabp"
    rooms = [folder for folder in (*package.iterdir(), *(package / "solvers").iterdir()) if holds_modules(folder)]
    assert len(rooms) > 15
    assert not [str(room) for room in rooms if not any(folder.is_relative_to(room) for folder in folders)]


def holds_modules(folder: Path) -> bool:
    """Whether it is a package."""
    return (folder / "__init__.py").exists()


def test_the_picture_shows_the_layers_in_order() -> None:
    """Top to bottom as the import contract has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(each["layers"] for each in contracts["contracts"] if each["type"] == "layers")
    assert re.findall(r'id="layer-(\w+)"', PICTURE.read_text(encoding="utf-8")) == layers
    assert ", ".join(layers) in PAGE.read_text(encoding="utf-8")
