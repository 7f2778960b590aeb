"""Tables and picture of ``docs/benchmarks/scale.md``, from what is recorded; `benchmarks.pages` fills them in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.markdown import markdown
from benchmarks.scale.edges import SIZES, SOLVERS
from benchmarks.scale.records import Records

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "scale.png"
Row = dict[str, Any]


def tables(records: Records) -> dict[str, str]:
    """Every table of the page by its place."""
    return {
        "scale-edges": _edges(records.part("edges")),
        "scale-setup": _setup(records.part("setup")),
        "scale-threads": _threads(records.part("threads")),
        "scale-grids": _grids(records.part("grid")),
        "scale-dabp": _learning(records.part("dabp")),
        "scale-files": _files(records.part("file")),
        "scale-workers": _cluster([row for row in records.part("cluster") if row["what"] != "killed"]),
    }


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    return markdown(list(heads), [[str(cell) for cell in row] for row in rows])


def _edges(rows: list[Row]) -> str:
    found = {(row["kind"], row["solver"], row["variables"]): row for row in rows}
    heads = ["problem, solver", *(f"{size:,}" for size in SIZES), "largest over smallest", "bytes", "of the bandwidth"]
    heads += ["fetching alone, ns", "of fetching and bandwidth"]
    lines = []
    for kind, solver in dict.fromkeys((row["kind"], row["solver"]) for row in rows):
        sizes = [found.get((kind, solver, size)) for size in SIZES]
        known = [row for row in sizes if row is not None]
        ns = [f"{row['ns']:.1f}" if row else "–" for row in sizes]
        ratio = known[-1]["ns"] / known[0]["ns"]
        last = known[-1]
        lines.append(
            [f"{kind}, {solver}", *ns, f"{ratio:.2f}", f"{last['bytes']:.0f}", f"{100 * last['fraction']:.0f} %"]
            + ([f"{last['fetching']:.1f}", f"{100 * last['limit']:.0f} %"] if "limit" in last else ["–", "–"])
        )
    return _table(heads, lines)


def _setup(rows: list[Row]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row["stages"]))
    heads = ["at a million variables, CPU s (peak GB)", *names, "sum that counts", "in the system", "a fresh GB"]
    lines = []
    for row in rows:
        sums = [f"{row[name]:.2f} s" if name in row else "–" for name in ("sum", "system", "fresh")]
        lines.append([row["kind"], *(_stage(row["stages"].get(name)) for name in names), *sums])
    return _table(heads, lines)


def _stage(row: Row | None) -> str:
    return "–" if row is None else f"{row['cpu']:.2f} ({row['gigabytes']:.1f})"


def _threads(rows: list[Row]) -> str:
    heads = ["100,000 variables", "one thread, ms an iteration", "two threads", "speed-up", "two processes"]
    return _table(
        heads,
        [
            [f"{row['kind']}, {row['solver']}", row["one"], row["two"], row["speed_up"], row.get("machine", "–")]
            for row in rows
        ],
    )


def _grids(rows: list[Row]) -> str:
    heads = ["1000×1000, domain 5", "limit, s", "returned after, s", "cost a pair", "peak memory, GB"]
    return _table(
        heads,
        [
            [f"{row['kind']}, {row['solver']}", row["seconds"], row["wall"], row["per_pair"], row["gigabytes"]]
            for row in rows
        ],
    )


def _learning(rows: list[Row]) -> str:
    heads = ["DABP", "threads", "edges (split)", "ms an iteration", "CPU ms", "CPU µs an edge", "with deepest windows"]
    names = ("threads", "edges", "ms", "cpu_ms", "us_an_edge", "us_an_edge_deepest", "gigabytes")
    lines = [[f"{row['kind']} {row['variables']:,}", *(row.get(name, "–") for name in names)] for row in rows]
    return _table([*heads, "peak memory, GB"], lines)


def _with_smaller(rows: list[Row]) -> Iterator[Row]:
    """Each file, and after it the smaller one that toulbar2 has read, too."""
    for row in rows:
        yield row
        if "smaller" in row:
            yield {"format": row["format"], **row["smaller"]}


def _files(rows: list[Row]) -> str:
    heads = ["file", "dabp: CPU s", "toulbar2: CPU s", "dabp: peak GB", "of the problem's own", "toulbar2: peak GB"]
    lines = []
    for row in _with_smaller(rows):
        ours, peer = row["dabp"], row.get("toulbar2", "–")
        cpu, peak = (peer["cpu"], peer["peak"]) if isinstance(peer, dict) else (peer, "–")
        ratio = f"{ours['peak'] / ours['final']:.1f} times {ours['final']} GB"
        lines.append([f".{row['format']}, {row['bytes'] / 2**30:.2f} GB", ours["cpu"], cpu, ours["peak"], ratio, peak])
    return _table(heads, lines)


def _cluster(rows: list[Row]) -> str:
    heads = ["instance", "one worker", "two workers", "two below one"]
    lines = []
    for row in rows:
        one, two = row["per_constraint_1"], row["per_constraint_2"]
        lines.append([f"{row['kind']} {row['seed']}", f"{one:.4f}", f"{two:.4f}", f"{100 * (1 - two / one):+.3f} %"])
    return _table(heads, lines)


def draw(rows: list[Row]) -> None:
    """Draw the time of an iteration per edge, and what it would be at the memory's speed."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    from dabp.plots.style import PALETTE

    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    if not kinds:
        return
    figure, axes = plt.subplots(1, len(kinds), figsize=(11, 3.6), layout="constrained", sharey=True, squeeze=False)
    for ax, kind in zip(axes[0], kinds, strict=True):
        for colour, solver in zip(PALETTE, SOLVERS, strict=False):
            mine = [row for row in rows if row["kind"] == kind and row["solver"] == solver]
            points = sorted((row["variables"], row["ns"], row["bytes"] / row["bandwidth"]) for row in mine)
            if points:
                sizes, ns, floor = zip(*points, strict=True)
                ax.plot(sizes, ns, color=colour, marker="o", label=solver)
                ax.plot(sizes, floor, color=colour, linestyle=":", linewidth=1)
        ax.set_title(kind, fontsize=10)
        ax.set_xscale("log")
        ax.set_xlabel("variables")
        ax.set_ylim(bottom=0)
    axes[0][0].set_ylabel("ns an edge and iteration")
    title = "dotted: all at the memory's speed"
    axes[0][-1].legend(frameon=False, title=title, title_fontsize=8, loc="upper left")
    figure.savefig(PICTURE, dpi=130)
