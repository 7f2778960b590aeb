"""How figures look."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from dabp.plots.style import PALETTE, colour, dash, marker, short_number, take_names_literally


def test_solvers_can_be_told_apart() -> None:
    """When the colours come again, the dashes differ: 32 solvers have 32 looks."""
    looks = {(colour(i), dash(i)) for i in range(4 * len(PALETTE))}
    assert len(looks) == 32
    assert len({marker(i) for i in range(8)}) == 8


def test_figures_take_dollar_signs_for_what_they_are(tmp_path: Path) -> None:
    """In every place that a figure of an experiment has for names; powers of ten stay formulas."""
    figure = Figure()
    figure.suptitle("$x^$")
    bars, lines = figure.subplots(2)
    bars.set_title("$x^$")
    bars.set_yticks([0, 1], ["$x^$", "y"])
    lines.plot([1, 1000], [1, 2], label="$x^$")
    lines.set_xscale("log")
    figure.legend(*lines.get_legend_handles_labels())
    take_names_literally(figure)
    figure.savefig(tmp_path / "figure.png")
    assert [label.get_parse_math() for label in bars.get_yticklabels()] == [False, False]
    assert all(label.get_parse_math() for label in lines.get_xticklabels())


def test_round_numbers_are_short() -> None:
    """As they stand on a logarithmic axis, from milliseconds to billions of iterations."""
    numbers = [0.001, 0.1, 1, 50, 1000, 10_000, 200_000, 1e6, 5e9, 1e13]
    assert [short_number(n) for n in numbers] == ["0.001", "0.1", "1", "50", "1000", "10k", "200k", "1M", "5G", "1e+13"]
