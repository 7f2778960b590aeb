"""What pages say about the program is what the program does: no page contradicts it or another."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import dabp
from dabp.driver.stopping import DEFAULT_SECONDS
from dabp.formats import FORMATS
from dabp.formats.meter import FREE_BYTES, MAX_BYTES, MIN_CELLS, MOST_TIMES
from dabp.solvers import SOLVERS

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
UNTESTED = ("Windows", "macOS", "ARM")
GONE = ("forest-lns", "bp-split", "bp-cooled")
"""Solvers of earlier versions, which only the change log and recorded tables name."""


def first_cells(page: str, heading: str) -> list[str]:
    """The first column of the table below a heading row that begins with this."""
    table = PAGES[page].split(f"| {heading} |")[1].split("\n\n")[0]
    return [line.split("|")[1].strip() for line in table.splitlines()[2:]]


def test_pages_agree_that_there_are_marginals() -> None:
    """Belief propagation at a temperature gives them; a page that says there are none is out of date."""
    model = dabp.Model()
    model.add_variables(["a", "b"], 2)
    model.add_cost(["a", "b"], lambda a, b: float(a != b))
    result = dabp.solve(model.build(), "bp", params={"temperature": 1.0}, max_iterations=20)
    assert result.beliefs is not None
    denied = re.compile(r"\b(no|not|without|nor|never) (exact )?marginals?\b", re.IGNORECASE)
    assert not {name for name, text in PAGES.items() if denied.search(text)}
    assert "marginals" in PAGES["README.md"]
    assert "Marginals" in PAGES["docs/index.md"]


def test_only_the_platform_of_the_tests_is_called_tested() -> None:
    """The hosted job that every change passes runs on Linux; no page calls another system tested."""
    job = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]["test"]
    assert job["runs-on"].startswith("ubuntu")
    rows = PAGES["docs/start.md"].split("| platform |")[1].split("\n\n")[0].splitlines()[2:]
    tested = [row.split("|")[1].strip() for row in rows if row.split("|")[2].strip().startswith("tested")]
    assert tested == ["Linux, x86-64"]
    assert "Linux on x86-64 is tested" in PAGES["README.md"]
    for name, text in PAGES.items():
        for sentence in re.split(r"(?<=[.;|])\s", text):
            if any(system in sentence for system in UNTESTED):
                assert not re.search(r"(?<!not )(?<!not yet )\btested\b(?! on Linux)", sentence), (name, sentence)


def test_every_format_has_its_row_and_no_other() -> None:
    """By name, with its suffixes, and a page that is there."""
    cells = {cell.strip("`"): cell for cell in first_cells("docs/formats/index.md", "format")}
    assert sorted(cells) == sorted(FORMATS)
    for name, form in FORMATS.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGES["docs/formats/index.md"], re.MULTILINE)
        assert all(f"`{suffix}`".lower() in row.lower() for suffix in form.suffixes), name
        (page,) = re.findall(r"\]\(([\w-]+\.md)\)", row)
        assert f"docs/formats/{page}" in PAGES


def test_solvers_that_pages_name_are_there() -> None:
    """In commands, in code, and none that is gone."""
    used = re.compile(r"--solver[ =]([\w-]+)|dabp\.solve\(\w+(?:\.build\(\))?, \"([\w-]+)\"|(?<= )-s ([\w-]+)")
    for name, text in PAGES.items():
        named = {one for groups in used.findall(text) for one in groups if one}
        assert named - {"NAME", "maxsum"} <= SOLVERS.keys(), name
        if not name.startswith("docs/benchmarks/"):
            assert not [solver for solver in GONE if solver in text], name


def test_limits_on_pages_are_the_programs() -> None:
    """Seconds without a limit, table cells and bytes of a file."""
    for name, text in PAGES.items():
        for seconds in re.findall(r"[Ww]ithout (?:a|any) limit,? (?:a solve|it) ends after (\d+) s", text):
            assert float(seconds) == DEFAULT_SECONDS, name
    assert f"ends after {DEFAULT_SECONDS:g} s" in PAGES["README.md"]
    formats = PAGES["docs/formats/index.md"]
    assert f"by default {MIN_CELLS:,}" in formats
    assert f"by default {MAX_BYTES >> 20} MiB" in formats
    assert f"for YAML {FORMATS['yaml'].max_bytes >> 20} MiB" in formats
    assert f"from {FREE_BYTES >> 20} MiB on not more than {MOST_TIMES} times" in formats


def test_extras_on_the_page_are_the_projects() -> None:
    """What a user installs; `docs` and `dev` are for who works on the project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {cell.strip("`") for cell in first_cells("docs/start.md", "extra")}
    assert extras == project["optional-dependencies"].keys() - {"docs", "dev"}


@pytest.mark.parametrize("name", ["README.md", "docs/start.md", "docs/index.md"])
def test_the_oldest_python_is_named(name: str) -> None:
    """As the package requires it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"Python {project['requires-python'].removeprefix('>=')} or newer" in PAGES[name]
