"""Files of repeated tables say what they say without this short cut."""

from __future__ import annotations

import io

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.formats import read, wcsp_repeats
from dabp.formats.wcsp_repeats import Repeats
from dabp.problem import Problem


def _text(rng: np.random.Generator) -> str:
    """A random file of a few different tables, half of the time with something changed in it."""
    sizes = rng.integers(2, 4, 4)
    count = int(rng.integers(4, 15))
    lines = [f"p 4 3 {count} 1000", " ".join(map(str, sizes))]
    for _ in range(count):
        a, b = rng.permutation(4)[:2]
        odd = int(rng.integers(9)) if rng.random() < 0.2 else 0
        body = [f"{i} {j} {(i * j + odd) % 3}" for i in range(sizes[a]) for j in range(sizes[b])]
        lines += [f"2 {a} {b} {rng.integers(2)} {len(body)}", *body]
    if rng.random() < 0.5:
        at = int(rng.integers(len(lines)))
        line = lines[at]
        changed = [f"{line} 7", "2 0 1 -1 >= 0 0", "# c", f"-{line}", line.replace(" ", "  ", 1), f"{line}\n{line}", ""]
        lines[at] = str(rng.choice(changed))
    return "\n".join(lines) + "\n"


def _outcome(text: str) -> Problem | str:
    try:
        return read(io.StringIO(text), "wcsp")
    except FormatError as error:
        return str(error)


def test_the_same_with_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same problem, or the same complaint at the same line, wherever chunks end."""
    rng, replaced = np.random.default_rng(0), []
    monkeypatch.setattr(wcsp_repeats, "LONG_BYTES", 8)
    plain_call, shortened = Repeats.__call__, Repeats.__init__

    def noted(self: Repeats) -> None:
        shortened(self)
        replaced.append(self)

    for _ in range(400):
        text = _text(rng)
        monkeypatch.setattr("dabp.formats.large.PIECE", int(rng.choice([20, 100, 2**20])))
        monkeypatch.setattr(Repeats, "__init__", noted)
        monkeypatch.setattr(Repeats, "__call__", plain_call)
        quick = _outcome(text)
        monkeypatch.setattr(Repeats, "__call__", lambda self, chunks: chunks)
        assert quick == _outcome(text), text
    assert sum(one.replaced for one in replaced) > 100


def test_a_table_at_every_edge_is_stored_twice_at_most() -> None:
    """The image of which each pair has its table written out takes the memory of a few."""
    body = "".join(f"{a} {b} {int(a != b)}\n" for a in range(12) for b in range(12))
    text = "p 50 12 49 100\n" + "12 " * 50 + "\n" + "".join(f"2 {i} {i + 1} 0 144\n{body}" for i in range(49))
    problem = read(io.StringIO(text), "wcsp")
    assert (problem.num_factors, len(problem.pool)) == (49, 2 * 144)
    assert problem.cost(np.arange(50) % 12) == 49
