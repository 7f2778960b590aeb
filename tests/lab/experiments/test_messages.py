"""Messages over a pipe: whole, in order, and an end that is told from an empty message."""

from __future__ import annotations

import os
import threading

import pytest

from dabp.lab.experiments.messages import receive, send


def test_messages_come_whole_and_in_order():
    """Empty ones, and ones larger than a pipe holds, read while they are written."""
    sent = [b"", b"x", os.urandom(300_000), b"last"]
    read, write = os.pipe()
    writer = threading.Thread(target=lambda: [send(write, message) for message in sent])
    writer.start()
    assert [receive(read) for _ in sent] == sent
    writer.join()
    os.close(write)
    assert receive(read) is None
    os.close(read)


def test_half_a_message_is_the_end():
    """The other side died while it wrote."""
    for part in (b"\0\0", b"\0\0\0\5ab"):
        read, write = os.pipe()
        os.write(write, part)
        os.close(write)
        assert receive(read) is None
        os.close(read)


def test_nobody_reads():
    """An error, not a hang."""
    read, write = os.pipe()
    os.close(read)
    with pytest.raises(OSError, match="pipe"):
        send(write, b"x")
    os.close(write)
