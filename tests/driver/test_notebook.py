"""Solves in a real Jupyter kernel: interrupted, they answer; interrupted twice, they raise; the kernel lives on."""

from __future__ import annotations

import pytest

from tests.driver.notebook import ANSWER, RUNNING, notebook

pytest.importorskip("ipykernel")


@pytest.mark.parametrize("solver", ["auto", "dabp", "toulbar2"])
def test_the_stop_button_gives_the_best_answer(solver: str) -> None:
    """The cell ends as any other, its result is there, and the next cell runs; twice in one kernel."""
    with notebook() as kernel:
        for _ in range(2):
            cell = kernel.begin(RUNNING.format(solver=solver, options=""), until="running")
            kernel.interrupt()
            assert kernel.end(cell).status == "ok"
            assert kernel.run(ANSWER).text == "INTERRUPTED True\n"


@pytest.mark.parametrize("solver", ["dabp", "auto"])
def test_two_interrupts_do_not_end_the_kernel(solver: str) -> None:
    """Impatience costs the answer at most: KeyboardInterrupt as from any cell, and the kernel is as before."""
    with notebook() as kernel:
        cell = kernel.begin(RUNNING.format(solver=solver, options=""), until="running")
        kernel.interrupt()
        kernel.interrupt()
        outcome = kernel.end(cell)
        assert (outcome.status, outcome.error) in (("ok", ""), ("error", "KeyboardInterrupt"))
        assert kernel.alive
        assert kernel.run("print(6 * 7)").text == "42\n"


def test_progress_is_shown_below_the_cell() -> None:
    """`display=True`: one line that changes, without anything to install."""
    with notebook() as kernel:
        code = RUNNING.format(solver="tabu", options=", display=True").replace(
            "seed=1", "seed=1, max_iterations=100_000"
        )
        outcome = kernel.run(code)
    assert outcome.status == "ok"
    assert any("searching  cost" in text and "s left" in text for text in outcome.shown)
    assert outcome.shown[-1].startswith("ended  cost")
