"""Worker threads that run slices of members and report; kernels release the interpreter lock."""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable

from dabp.compiling import working_seconds
from dabp.solvers.auto.bandit import Bandit
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.member import Member, Report
from dabp.solvers.auto.plan import AHEAD_PART, GRACE, slice_seconds


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
        self._left = False
        """Whether `close` has gone, so that threads still at work end their members themselves."""
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

    def join(self, members: list[Member], bandit: Bandit) -> None:
        """Let more members take part, whose bandit knows their numbers from 0 on."""
        with self._changed:
            self._members += members
            self._bandit.join(bandit)
            self._changed.notify_all()

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
        cost = self._incumbent.cost
        return not self._busy and all(member.exhausted or member.waits(cost) for member in self._members)

    def close(self) -> None:
        """End the members; who is in the midst of a long step after `GRACE` ends by itself when that is done."""
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        deadline = working_seconds() + GRACE
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - working_seconds()))
        with self._changed:
            self._left = True
            idle = [member for i, member in enumerate(self._members) if i not in self._busy]
        for member in idle:
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
                    slice_seconds(self._horizon),
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
                self._bandit.reward(index, max(report.seconds, 1e-6), report.gain, report.best, report.ended)
                self._changed.notify_all()
                left = self._left
            if left:
                member.close()

    def _next(self) -> int | None:
        elapsed = self._clock() / max(self._horizon, 1e-9)
        cost = self._incumbent.cost
        begun = self._begun(elapsed)
        able = [
            i
            for i, member in enumerate(self._members)
            if i not in self._busy and not member.exhausted and not member.waits(cost)
        ]
        available = []
        for i in able:
            member = self._members[i]
            if member.kind.ahead and not begun:
                return i
            if elapsed >= member.kind.delay:
                if member.kind.first and member.rounds == 0:
                    return i
                available.append(i)
            elif math.isinf(member.kind.delay):  # it was there for the time before the others
                member.exhausted = True
                if (untold := member.pending()) is not None:
                    self._incumbent.offer(untold, member.kind.name, self._clock())
                member.close()
        available = available or [i for i in able if self._members[i].kind.eager]
        return self._bandit.choose(available, cost, self._incumbent.bound)

    def _begun(self, elapsed: float) -> bool:
        """Whether who was there ahead of the others is one among them now: it had its time, and they are set up."""
        others = [member for member in self._members if not member.kind.ahead]
        return elapsed >= AHEAD_PART and (len(self._threads) == 1 or any(member.rounds for member in others))
