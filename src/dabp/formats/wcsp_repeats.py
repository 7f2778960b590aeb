"""A ``.wcsp`` file made short before it is parsed: tables that repeat become references to the first of them.

The format has words for that itself: a function of negative arity defines a table for others, and the number of tuples
-n takes the n-th of these. Functions are recognised in the form in which all programs write them: a line with arity,
scope, default cost and number of tuples, then a line for each tuple.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dabp.formats.tokens import KNOWN_BYTES

LONG_BYTES = 512
"""Text of tables that is compared with what came before."""


class Unexpected(Exception):  # noqa: N818 - never shown: the file is read again as it is
    """The file has another form than this module expects, after tables were replaced."""


class Repeats:
    """Rewrites a file from the end of the problem's name on, chunk by chunk; `replaced` counts tables."""

    def __init__(self) -> None:
        self.replaced = 0
        self._sizes: list[bytes] = []
        self._seen: set[int] = set()
        self._numbers: dict[tuple[bytes, ...], int] = {}  # body, default cost and domain sizes → reference
        self._known_bytes = 0
        self._last, self._last_tuples = b"", -1
        self._misses = 0

    @property
    def changed(self) -> bool:
        """Whether the text is another than that of the file, so that errors are to be found in the file itself."""
        return bool(self._numbers)

    def __call__(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The file as it is to be parsed; as it is from where it has another form."""
        rest = b""
        for chunk in chunks:
            data = rest + chunk
            parts: list[bytes] = []
            start = self._rewrite(data, parts)
            rest = data[max(start, 0) :]
            if start < 0 or len(rest) > 2**22:
                if self.changed:
                    raise Unexpected
                yield data
                yield from chunks
                return
            yield b"".join(parts)
        yield rest

    def _rewrite(self, data: bytes, parts: list[bytes]) -> int:
        """Collect the rewritten text; where a function starts that goes on in the next chunk, -1 for another form."""
        start = 0
        if data.translate(None, b"0123456789 \t\r\n") or (not self.changed and self._misses > 50_000):
            return -1
        if not self._sizes:
            lines = data.split(b"\n", 2)
            header, self._sizes = lines[0].split(), lines[1].split() if len(lines) > 2 else []
            if len(header) != 4 or not self._sizes or len(self._sizes) != int(header[0][:9]):
                return -1
            start = len(lines[0]) + len(lines[1]) + 2
            parts.append(data[:start])
        while line := data.find(b"\n", start) + 1:
            words = data[start:line].split()
            if words:
                if len(words) < 3 or int(words[0][:9]) != len(words) - 3:
                    return -1
                end = self._end(data, line, int(words[-1][:9]))
                if end < 0:
                    break
                parts.append(self._function(words, data[start:line], data[line:end]))
            start = end if words else line
        return start

    def _end(self, data: bytes, start: int, tuples: int) -> int:
        if tuples <= 50:  # quicker than NumPy
            for _ in range(tuples):
                if not (start := data.find(b"\n", start) + 1):
                    return -1
            return start
        if tuples == self._last_tuples and data.startswith(self._last, start):
            return start + len(self._last)
        width = 16 * tuples
        while True:
            ends = np.flatnonzero(np.frombuffer(data[start : start + width], dtype=np.uint8) == ord("\n"))
            if len(ends) >= tuples:
                return start + int(ends[tuples - 1]) + 1
            if start + width >= len(data):
                return -1
            width *= 4

    def _function(self, words: list[bytes], line: bytes, body: bytes) -> bytes:
        """A function as it is, as the definition of a table, or with a reference instead of its table."""
        if len(body) < LONG_BYTES:
            self._misses += 1 if len(words) < 5 else 50  # of one variable, tables are short in any file
            return line + body
        self._misses += 5
        if body == self._last:
            body = self._last  # whose hash is known
        scope = words[1:-2]
        try:
            key = (body, words[-2], *[self._sizes[int(v)] for v in scope])
        except (IndexError, ValueError):
            return line + body
        number = self._numbers.get(key)
        if number is not None:
            self.replaced, self._last, self._last_tuples = self.replaced + 1, body, int(words[-1])
            return b"%s %s %s -%d\n" % (words[0], b" ".join(scope), words[-2], number)
        if hash(key) not in self._seen:
            self._seen.add(hash(key))
        elif self._known_bytes < KNOWN_BYTES and len(body.split()) == int(words[-1]) * (len(scope) + 1):
            self._numbers[key] = len(self._numbers) + 1
            self._known_bytes += len(body)
            return b"-" + line.lstrip() + body
        return line + body
