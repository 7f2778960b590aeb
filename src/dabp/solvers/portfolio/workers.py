"""Worker threads that run slices of members and report; kernels release the interpreter lock."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from dabp.solvers.portfolio.bandit import Bandit
from dabp.solvers.portfolio.incumbent import Incumbent
from dabp.solvers.portfolio.member import Member, Report
from dabp.solvers.portfolio.plan import SLICE_SECONDS


class Workers:
    """Threads that ask the bandit who is next, run that member for a slice and put a `Report` on `reports`.

    Of `size` threads only `active` work at a time; the others wait, so that a child process can have a core.
    """

    def __init__(
        self,
        members: list[Member],
        bandit: Bandit,
        incumbent: Incumbent,
        size: int,
        clock: Callable[[], float],
        horizon: float,
    ):
        self._members, self._bandit, self._incumbent = members, bandit, incumbent
        self._clock, self._horizon = clock, horizon
        self.reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._stop = False
        self._active = size
        self._busy: set[int] = set()
        self._threads = [
            threading.Thread(target=self._work, args=(number,), daemon=True, name=f"dabp-{number}")
            for number in range(size)
        ]

    def start(self) -> None:
        """Set all to work."""
        for thread in self._threads:
            thread.start()

    @property
    def active(self) -> int:
        """How many threads may work."""
        return self._active

    @active.setter
    def active(self, count: int) -> None:
        with self._changed:
            self._active = count
            self._changed.notify_all()

    @property
    def idle(self) -> bool:
        """Whether no member has anything left to do."""
        return not self._busy and all(member.exhausted for member in self._members)

    def close(self) -> None:
        """Wait for the current steps to end, and end the members."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        for member in self._members:
            member.close()

    def _work(self, number: int) -> None:
        while True:
            with self._changed:
                index = None
                while not self._stop:
                    if number < self._active and (index := self._next()) is not None:
                        break
                    self._changed.wait(0.05)
                if self._stop or index is None:
                    return
                self._busy.add(index)
            member = self._members[index]
            now = self._clock()
            try:
                report = member.slice(
                    SLICE_SECONDS,
                    self._incumbent,
                    self._clock,
                    max(0.0, self._horizon - now),
                    lambda: self._stop or number >= self._active,
                )
            except Exception as error:  # the others go on; `TimedSearch` tells
                member.exhausted = True
                report = Report(member.kind.name, 0.0, error=error)
            self.reports.put(report)  # before it counts as idle, so that who sees it idle finds its report
            with self._changed:
                self._busy.discard(index)
                self._bandit.reward(index, max(report.seconds, 1e-6), report.gain, report.best)
                self._changed.notify_all()

    def _next(self) -> int | None:
        elapsed = self._clock() / max(self._horizon, 1e-9)
        available = [
            i
            for i, member in enumerate(self._members)
            if i not in self._busy and not member.exhausted and elapsed >= member.kind.delay
        ]
        return self._bandit.choose(available, self._incumbent.cost, self._incumbent.bound)
