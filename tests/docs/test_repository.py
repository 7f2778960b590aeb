"""What the repository says about itself agrees: version, change log, citation, supported Pythons, named files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

import dabp
from dabp.solvers import SOLVERS

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^## (\S+) \((.+)\)$", re.MULTILINE)
SOURCE = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.(?:py|md|toml|json|css|js))`")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_change_log_is_open_for_this_version_only() -> None:
    """The first heading is this version; those below it have a date."""
    (first, state), *closed = HEADING.findall(text("CHANGELOG.md"))
    assert first == dabp.__version__.removesuffix(".dev0")
    assert (state == "unreleased") == dabp.__version__.endswith(".dev0")
    assert closed
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in closed)


def test_the_citation_is_of_the_last_release() -> None:
    """CITATION.cff has the version and date of the newest closed heading, and the README the version."""
    released = next((version, date) for version, date in HEADING.findall(text("CHANGELOG.md")) if date != "unreleased")
    citation = yaml.safe_load(text("CITATION.cff"))
    assert (citation["version"], str(citation["date-released"])) == released
    assert f"version {released[0]}," in text("README.md")
    assert citation["references"][0]["year"] == 2022


def test_every_supported_python_is_tested() -> None:
    """The hosted checks run `make test` for the Pythons that the package names, none older than it allows."""
    project = tomllib.loads(text("pyproject.toml"))["project"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    job = yaml.safe_load(text(".github/workflows/test.yml"))["jobs"]["test"]
    assert job["strategy"]["matrix"]["python"] == named
    assert {"run": "make test"} in job["steps"]
    assert project["requires-python"] == f">={named[0]}"


def test_wheels_are_built_for_every_supported_python() -> None:
    """By the workflow and by `cibuildwheel` alone; each wheel is tried by the smoke test."""
    project = tomllib.loads(text("pyproject.toml"))
    named = [each.rpartition(" ")[2] for each in project["project"]["classifiers"] if re.search(r":: 3\.\d+$", each)]
    tags = [f"cp{python.replace('.', '')}" for python in named]
    settings = project["tool"]["cibuildwheel"]
    assert settings["build"].split() == [f"{tag}-*" for tag in tags]
    assert settings["test-command"] == "python {project}/tests/smoke.py"
    steps = yaml.safe_load(text(".github/workflows/wheels.yml"))["jobs"]["wheels"]["steps"]
    (built,) = (step["env"]["CIBW_BUILD"] for step in steps if "CIBW_BUILD" in step.get("env", {}))
    assert re.findall(r"cp\d+", built) == tags


def test_files_that_pages_name_are_there() -> None:
    """A path in backquotes on a page leads to a file of the package or of the repository."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    places = (ROOT, ROOT / "src" / "dabp", ROOT / "docs")
    lost = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in pages
        for path in SOURCE.findall(page.read_text(encoding="utf-8"))
        if "/a/" not in path and not any((place / path).is_file() for place in places)
    ]
    assert not lost


def test_commands_that_pages_name_are_there() -> None:
    """Modules to run, make targets and paths of tests on any page."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    words = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    modules = set(re.findall(r"python -m ((?:benchmarks|tests|checks)[\w.]+)", words))
    targets = set(re.findall(r"`make ([\w-]+)`", words))
    paths = set(re.findall(r"pytest (?:-n 0 )?(tests/[\w/.]+)", words))
    assert len(modules) > 5
    assert len(targets) > 3
    places = {module: ROOT / module.replace(".", "/") for module in modules}
    lost = [
        name for name, at in places.items() if not (at.with_suffix(".py").is_file() or (at / "__main__.py").is_file())
    ]
    lost += [target for target in targets if not re.search(rf"^{target}:", text("Makefile"), re.MULTILINE)]
    lost += [path for path in paths if not (ROOT / path).exists()]
    assert not lost


def test_the_readme_names_the_solvers_and_no_others() -> None:
    """Each solver of the registry stands in the first column of its table."""
    table = text("README.md").split("## Solvers")[1].split("\n\n")[1]
    named = [name for line in table.splitlines() for name in re.findall(r"`([\w-]+)`", line.split("|")[1])]
    assert sorted(named) == sorted(SOLVERS)
