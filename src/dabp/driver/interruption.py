"""SIGINT and SIGTERM as a flag that every stage of a solve reads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

ENDING: tuple[signal.Signals, ...] = (signal.SIGTERM,)
"""Signals that ask the program to end."""
if sys.platform == "win32":
    ENDING += (signal.SIGBREAK,)  # Ctrl-Break, and a closed window


class Interruption:
    """SIGINT and the `ENDING` signals as a flag: the first sets `requested`, and the solve ends with its best answer.

    The second SIGINT raises `KeyboardInterrupt`, so that a notebook's kernel lives on. The second `ENDING` signal ends
    the program. Outside the main thread signals are left alone, and in processes of `multiprocessing` the `ENDING`
    signals: a pool whose process has died sends SIGTERM to the others and reads no more from them, and a large answer
    would be sent for ever. An interrupt received by an enclosing `Interruption` before counts as received by this one.
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

    def __exit__(self, *_: object) -> None:
        for number, handler in self._previous.items():
            # A handler of None was not set by Python and cannot be restored.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
