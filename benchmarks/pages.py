"""Fill the tables and figures of pages from recorded files: ``python -m benchmarks.pages``.

A table stands between ``<!-- NAME -->`` and ``<!-- end -->``, a number of the prose between ``<!-- = NAME -->`` and
``<!-- = -->``. Tables come from the runs in ``benchmarks/recorded`` (`page_tables`, `scale.page`), from
``history.json`` there, which keeps tables whose runs were not kept, and from the records of the checks. A table begins
with command, machine, date and commit as far as they are recorded. ``--keep`` first moves the tables that were typed
into pages of benchmarks to ``history.json``, with the command and the date that stand before them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checks.records import table as promises
from paper.places import PLACE, filled

from benchmarks import page_tables
from benchmarks.markdown import markdown
from benchmarks.page_tables import RECORDED
from benchmarks.scale import page as scale_page
from benchmarks.scale.records import Records

ROOT = Path(__file__).parents[1]
HISTORY = json.loads((RECORDED / "history.json").read_text(encoding="utf-8"))
"""Tables as pages stated them (``tables``), and how the files of runs were made (``sources``)."""
MEASURED = re.compile(r"\d\.\d|\d{3}|\d,\d{3}")
"""What a measured number of a table looks like: with a decimal point, or of three digits and more."""


def pages() -> list[Path]:
    """The pages that have places."""
    return [ROOT / "README.md", ROOT / "docs" / "promises.md", *sorted((ROOT / "docs" / "benchmarks").glob("*.md"))]


def with_source(source: Mapping[str, Any], table: str, *, then: bool = False) -> str:
    """A table below the line that says how it was made; `then`: from a page, its runs were not kept."""
    command = [f"`{source['command']}`"] if "command" in source else []
    words = [*command, *(str(source[key]) for key in ("machine", "date") if key in source)]
    words += [f"commit {source['commit']}"] if "commit" in source else []
    words += ["as measured then"] if then else []
    return f"*{'; '.join(words)}*\n\n{table}"


def tables() -> dict[str, str]:
    """Every table by its place."""
    made = {
        name: with_source(entry, markdown(entry["columns"], entry["rows"]), then=True)
        for name, entry in HISTORY["tables"].items()
    }
    source, lines = page_tables.first_use()
    made["first-use"] = with_source(source, markdown(["what", "figure", "bar"], lines))
    made["promises"] = promises()
    made["races"] = markdown(["race", "`auto`", "beside it"], page_tables.races())
    for name, table in scale_page.tables(Records()).items():
        made[name] = with_source(HISTORY["sources"]["scale"], table)
    for name, (file, table) in _kept().items():
        made[name] = with_source(HISTORY["sources"][file], table)
    return made


def _kept() -> dict[str, tuple[str, str]]:
    """Tables from runs that are kept: by place, the file and the table."""
    modes = ("auto-2", "toulbar2", "toulbar2-vns", "incop")
    members = ("auto-2", "tabu", "annealing", "bp-learned", "toulbar2")
    opponents = ["best static damping", "`bp-reinforced`", "annealing", "tabu"]
    lines = {
        "auto-families": (
            "auto",
            ["configuration", "`auto`", *page_tables.ALONE, "excess"],
            page_tables.families()[0],
        ),
        "auto-between": (
            "auto_between",
            ["family and variables", "two threads", "excess, %", "one thread", "excess, %"],
            page_tables.between()[0],
        ),
        "auto-instances": ("auto_instances", ["instance", "`auto`", "toulbar2 alone"], page_tables.instances()),
        "auto-structured": (
            "auto_structured",
            ["problem", "s", "`auto`", "toulbar2", "VNS", "INCOP"],
            page_tables.beside("auto_structured", ("2", "10"), modes),
        ),
        "auto-forbidding": (
            "auto_forbidding",
            ["problem", "`auto`", *members[1:]],
            page_tables.beside("auto_forbidding", ("2",), members),
        ),
        "auto-max-cut": ("auto_max_cut", ["graph", "`auto`", "annealing", "tabu"], page_tables.max_cut()),
        "auto-kinds": (
            "auto_kinds",
            ["limit, s", "problems", "at or below six solvers alone", "latest, s beyond the limit"],
            page_tables.kinds(),
        ),
        "auto-vision": (
            "auto_vision",
            ["problem", "s", "`auto`", "`dual`", "`expansion`", "PyMaxflow", "proved by `auto`"],
            page_tables.vision(),
        ),
        "learning": ("learning", ["limit", "instances", *opponents], page_tables.learning()),
    }
    made = {name: (file, markdown(columns, rows)) for name, (file, columns, rows) in lines.items()}
    made["auto-ablation"] = ("auto_ablation", page_tables.ablation())
    return made


def numbers() -> dict[str, str]:
    """Every number of the prose by its place."""
    _, reached, runs = page_tables.families()
    _, (two, one) = page_tables.between()
    missed = [row for row in page_tables.first_use()[0]["rows"] if row["value"] > row["most"]]
    return {
        "families-reached": f"{reached} of {runs}",
        "between-two": str(two),
        "between-one": str(one),
        "first-use-missed": str(len(missed)),
    }


def keep(page: Path) -> None:
    """Move tables that were typed into a page to ``history.json`` and leave places for them."""
    text = page.read_text(encoding="utf-8")
    typed = PLACE.sub(lambda place: " " * len(place[0]), text)
    for found in reversed(list(re.finditer(r"^\|.*\n\| ?-.*\n(?:\|.*\n)+", typed, re.MULTILINE))):
        if not MEASURED.search(found[0]):
            continue
        before = typed[: found.start()]
        section = before[before.rfind("\n#") + 2 :]
        title = section.partition("\n")[0].strip("# ").lower()
        name = f"{page.stem}-{'-'.join(re.findall(r'[a-z0-9]+', title))}".replace("_", "-")
        lines = [[cell.strip() for cell in line[1:-1].split("|")] for line in found[0].splitlines()]
        entry: dict[str, Any] = {}
        for key, pattern in (("command", r"`(python -m [^`]+)`"), ("date", r"(\d{4}-\d\d-\d\d)")):
            if match := re.search(pattern, section):
                entry[key] = match[1]
        HISTORY["tables"][name] = {**entry, "columns": lines[0], "rows": lines[2:]}
        text = f"{text[: found.start()]}<!-- {name} -->\n<!-- end -->\n{text[found.end() :]}"
    page.write_text(text, encoding="utf-8")


def write_history() -> None:
    """`HISTORY` as JSON, a line for each row of a table."""
    text = json.dumps(HISTORY, ensure_ascii=False, indent=1)
    text = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda row: "[" + re.sub(r",\n\s+", ", ", row[1]) + "]", text)
    (RECORDED / "history.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Fill all pages, and say which have changed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="move typed tables to history.json first")
    if parser.parse_args().keep:
        for page in sorted((ROOT / "docs" / "benchmarks").glob("*.md")):
            keep(page)
        write_history()
    made, values = tables(), numbers()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = filled(text, made, values)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: filled")


if __name__ == "__main__":
    main()
