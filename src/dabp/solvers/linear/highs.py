"""HiGHS as the solver of linear programs, in a thread that can be stopped."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from dabp.solvers.linear.program import Floats, Program

INTERIOR_ENTRIES = 400_000
"""Entries of a program from which on the interior point method replaces the dual simplex."""


class Run:
    """A linear program that is being solved.

    Attributes
    ----------
    multipliers
        A dual value of each row of the program, or of its ray where it is infeasible; None before the end.
    values
        The value of each column; None if there is none.
    infeasible
        Whether HiGHS says so; the multipliers prove it, or do not.
    error
        What went wrong.
    """

    def __init__(self, program: Program, seconds: float):
        import highspy

        self._program, self._seconds = program, seconds
        self.multipliers: Floats | None = None
        self.values: Floats | None = None
        self.infeasible, self.error = False, ""
        self._highs: Any = highspy.Highs()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to come."""
        return not self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it has come."""
        self._thread.join(seconds if math.isfinite(seconds) else None)
        return self.ended

    def close(self) -> None:
        """Stop, and wait until HiGHS has noticed."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._solve()
        except Exception as error:  # read by the thread that waits
            self.error = f"{type(error).__name__}: {error}"

    def _solve(self) -> None:
        import highspy

        highs, status = self._highs, highspy.HighsModelStatus
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("threads", 1)
        if math.isfinite(self._seconds):
            highs.setOptionValue("time_limit", max(0.0, self._seconds))
        large = len(self._program.entry) >= INTERIOR_ENTRIES
        highs.setOptionValue("solver", "ipm" if large else "simplex")
        if large:
            highs.setOptionValue("run_crossover", "off")
        for event in (highs.cbSimplexInterrupt, highs.cbIpmInterrupt):
            event.subscribe(self._interrupt)
        highs.passModel(_model(self._program))
        highs.run()
        if highs.getModelStatus() in (status.kInfeasible, status.kUnboundedOrInfeasible):
            self.infeasible = True
            highs.setOptionValue("solver", "simplex")
            highs.setOptionValue("presolve", "off")  # it finds no ray
            highs.run()
            _, found, ray = highs.getDualRay()
            if found:
                self.multipliers = np.array(ray, dtype=np.float64)[: len(self._program.low)]
            return
        solution = highs.getSolution()
        if len(solution.row_dual):
            self.multipliers = np.array(solution.row_dual)[: len(self._program.low)]
        if len(solution.col_value):
            self.values = np.array(solution.col_value)

    def _interrupt(self, event: Any) -> None:
        event.interrupt(self._stop.is_set())


def _model(program: Program) -> Any:
    """The program as HiGHS takes it, the sums over the values of each variable behind its rows."""
    import highspy

    count, values = len(program.low), program.num_values
    sizes = np.diff(program.starts)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.upper), count + len(sizes)
    model.col_cost_, model.col_lower_, model.col_upper_ = program.costs, np.zeros(len(program.upper)), program.upper
    model.row_lower_ = np.concatenate([program.low, np.ones(len(sizes))])
    model.row_upper_ = np.concatenate([program.high, np.ones(len(sizes))])
    row = np.concatenate([program.row, count + np.repeat(np.arange(len(sizes)), sizes)])
    order = np.argsort(row, kind="stable")
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=model.num_row_))])
    model.a_matrix_.index_ = np.concatenate([program.column, np.arange(values)])[order]
    model.a_matrix_.value_ = np.concatenate([program.entry, np.ones(values)])[order]
    return model
