"""Messages between an experiment and its fork servers: a length of four bytes, then that many bytes."""

from __future__ import annotations

import os
import struct


def send(descriptor: int, message: bytes) -> None:
    """Write one message; raises `OSError` when nobody reads."""
    rest = memoryview(struct.pack(">I", len(message)) + message)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def receive(descriptor: int) -> bytes | None:
    """Read one message; None when the other side is gone."""
    head = _exactly(descriptor, 4)
    return None if head is None else _exactly(descriptor, struct.unpack(">I", head)[0])


def _exactly(descriptor: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = os.read(descriptor, size - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
