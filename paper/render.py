"""Write every table and figure of an experiment's results, the report, and our Table 1 beside the paper's.

python paper/render.py build/paper-small build/paper-small/rendered
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from dabp.experiments.figures import figure
from dabp.experiments.report import write_report
from dabp.experiments.store import Results
from dabp.experiments.table import FORMATS, Row, rows, seconds
from dabp.plots.drawing import draw_figure, label_order

SUFFIXES = {"text": "txt", "csv": "csv", "markdown": "md", "latex": "tex"}
PAPER = Path(__file__).parent / "table1.csv"


def main(source: str, target: str) -> None:
    """Render results (a folder or a packed file) into a folder."""
    results, folder = Results(source), Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    for name in results.plan_names:
        plan = results.plan(name)
        table = rows(results, plan)
        for form, suffix in SUFFIXES.items():
            (folder / f"{name}.{suffix}").write_text(FORMATS[form](table), encoding="utf-8")
        for each in plan.figures:
            made = figure(each, results, plan)
            draw_figure(made, label_order(made)).savefig(folder / f"{name}-{each}.svg")
        if name.startswith("table1"):
            (folder / "side-by-side.md").write_text(side_by_side(table), encoding="utf-8")
    write_report(results, folder / "report.html", "The paper's experiments")


def side_by_side(table: list[Row]) -> str:
    """Our cost and processor time beside the paper's cost and time, a Markdown table per family."""
    ours = {(row.group, row.label): row for row in table}
    with open(PAPER, encoding="utf-8") as stream:
        theirs = list(csv.DictReader(stream))
    sizes = sorted({line["variables"] for line in theirs}, key=int)
    parts = []
    for family in dict.fromkeys(line["family"] for line in theirs):
        heads = [f"{size} variables: paper | ours" for size in sizes]
        lines = [
            f"**{family}**",
            "",
            "| Solver | " + " | ".join(heads) + " |",
            "| --- |" + " ---: | ---: |" * len(sizes),
        ]
        published = {(line["solver"], line["variables"]): line for line in theirs if line["family"] == family}
        labels = dict.fromkeys([*(s for s, _ in published), *(lb for g, lb in ours if g.startswith(f"{family} ("))])
        for label in labels:
            cells = []
            for size in sizes:
                line, row = published.get((label, size)), ours.get((f"{family} (variables={size})", label))
                cells.append(f"{line['cost']} ({seconds(float(line['seconds']))})" if line else "")
                cells.append("" if row is None else _ours(row))
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _ours(row: Row) -> str:
    if not row.runs:
        return f"failed ({row.reasons})"
    return f"{row.cost:.2f} ({seconds(row.cpu)}, n={row.runs})"


if __name__ == "__main__":
    main(*sys.argv[1:])
