"""SIGINT and SIGTERM as a question that every stage of a solve asks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

ENDING: tuple[signal.Signals, ...] = (signal.SIGTERM,)
"""The signals by which another program ends this one."""
if sys.platform == "win32":
    ENDING += (signal.SIGBREAK,)  # Ctrl-Break, and a closed window


class Interruption:
    """SIGINT and the `ENDING` signals as a flag: the first asks the solve to end with its best answer.

    The second SIGINT raises `KeyboardInterrupt`, as in any Python program: a notebook's kernel lives on. The second
    `ENDING` signal ends the program. Outside the main thread signals are left alone. In processes of `multiprocessing`
    the `ENDING` signals are left alone: a pool whose process has died sends SIGTERM to the others and reads no more
    from them, so that a large answer would be sent for ever. What one around it was asked before it began, it was
    asked, too.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            pooled = multiprocessing.parent_process() is not None
            for number in (signal.SIGINT, *(() if pooled else ENDING)):
                self._previous[number] = signal.signal(number, self._handle)
            around = getattr(self._previous[signal.SIGINT], "__self__", None)
            self.requested |= isinstance(around, Interruption) and around.requested
        return self

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.requested:
            self.requested = True
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            # None: it was set by something that is not Python, which cannot be put back.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
