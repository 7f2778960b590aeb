"""Write every table and figure of an experiment's results, the report, and our numbers beside the paper's.

python paper/render.py build/paper-small build/paper-small/rendered
python paper/render.py paper/small/results.jsonl.xz rendered --page docs/paper.md    # and fill in that page's tables
"""

from __future__ import annotations

import argparse
from pathlib import Path

from places import filled
from tables import numbers, tables

from dabp.lab.experiments.figures import figure
from dabp.lab.experiments.report import write_report
from dabp.lab.experiments.results_table import FORMATS, rows
from dabp.lab.experiments.store import Results
from dabp.plots.drawing import draw_figure, label_order

SUFFIXES = {"text": "txt", "csv": "csv", "markdown": "md", "latex": "tex"}


def render(results: Results, folder: Path) -> None:
    """Every plan's tables and figures, the report, and the tables beside the paper's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in results.plan_names:
        plan = results.plan(name)
        table = rows(results, plan)
        for form, suffix in SUFFIXES.items():
            (folder / f"{name}.{suffix}").write_text(FORMATS[form](table), encoding="utf-8")
        for each in plan.figures:
            made = figure(each, results, plan)
            draw_figure(made, label_order(made)).savefig(folder / f"{name}-{each}.svg")
    beside = [f"## {name}\n\n{text}" for name, text in tables(results).items()]
    (folder / "side-by-side.md").write_text("\n".join(beside), encoding="utf-8")
    write_report(results, folder / "report.html", "The paper's experiments")


def pictures(page: str, results: Results, folder: Path) -> None:
    """The pictures that a page shows as ``pictures/paper-PLAN-FIGURE.png``."""
    for name in results.plan_names:
        plan = results.plan(name)
        for each in plan.figures:
            file = f"paper-{name.removesuffix('-small')}-{each}.png"
            if f"(pictures/{file})" in page:
                made = figure(each, results, plan)
                draw_figure(made, label_order(made)).savefig(folder / file, dpi=65)


def main() -> None:
    """Render results (a folder or a packed file) into a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, help="a page whose tables are filled in")
    options = parser.parse_args()
    results = Results(options.results)
    render(results, options.folder)
    if options.page:
        page = options.page.read_text(encoding="utf-8")
        pictures(page, results, options.page.parent / "pictures")
        options.page.write_text(filled(page, tables(results), numbers(results)), encoding="utf-8")


if __name__ == "__main__":
    main()
