"""A result as text and as a card: what is known is there, nothing in a name is markup, and it is short."""

from __future__ import annotations

import html.parser
import itertools

import dabp
from dabp.driver.result import Result
from dabp.solvers.status import Status

HOSTILE = "<script>alert(1)</script> & \x1b[2J \u202e ${x} \"'" + "long" * 100


class Tags(html.parser.HTMLParser):
    """Collects tags that are opened and not closed, every tag, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(card: str) -> Tags:
    """A card, well formed."""
    tags = Tags()
    tags.feed(card)
    assert tags.open == []
    return tags


def results() -> list[Result]:
    """Every kind of ending, with and without an answer, bound, notes and values."""
    found = []
    for status, cost, values, notes in itertools.product(
        Status, (None, 3.0, -1e9 + 0.25), (None, {}, {HOSTILE: HOSTILE, "b": 1}), ((), (HOSTILE,) * 30)
    ):
        bound = None if cost is None else cost - 1
        found.append(Result(None, cost, status, bound, 7, 0.5, 1, HOSTILE, values=values, notes=notes))
    return found


def test_text_and_card_of_every_result() -> None:
    """About ten lines that nothing harmful can leave, and a card of known tags: a name is never one."""
    for result in results():
        text = repr(result)
        assert len(text.splitlines()) <= 11
        assert max(map(len, text.splitlines())) <= 88
        assert "\x1b" not in text
        assert text.startswith(f"{result.status.value}: ")
        tags = read(result._repr_html_())
        assert "script" not in tags.seen
        assert "\x1b" not in tags.text
        assert result.status.value in tags.text


def test_large_answers_are_cut_and_counted() -> None:
    """A thousand variables take one line of text and twenty rows of a card; the rest is a number."""
    values = {f"x{i}": i for i in range(1000)}
    result = Result(None, 1.0, Status.OPTIMAL, 1.0, 1, 0.1, 0, "auto", values=values)
    line = next(line for line in repr(result).splitlines() if "assignment" in line)
    assert len(line) <= 88
    shown = line.count("=")
    assert f"… and {1000 - shown:,} more" in line
    assert "… and 980 more" in read(result._repr_html_()).text


def test_the_card_draws_how_the_cost_fell() -> None:
    """From the first answer to the last, and nothing where there is nothing to see."""
    problem = dabp.generate("random-cop", variables=12, domain=3, density=0.5, seed=0)
    result = dabp.solve(problem, "dsa", max_iterations=50)
    assert ("polyline" in read(result._repr_html_()).seen) == (len(result.trace.improvements) >= 3)
    result.trace.improvements[:] = [(0.0, 0, 1e308), (0.1, 1, 9.0), (0.2, 2, 5.0), (0.3, 3, 4.0)]
    card = result._repr_html_()
    assert "best cost from 9 to 4" in read(card).text
    assert "nan" not in card


def test_a_relaxed_answer_shows_its_cost_and_what_it_violates() -> None:
    """It is an answer, and the text says what is wrong with it."""
    model = dabp.Model()
    model.add_variables(["a", "b", "c"], 2)
    model.all_different(["a", "b", "c"], name="three in two")
    model.add_cost(["a"], [3, 2])
    text = repr(dabp.solve(model, "bp", relax=True, max_iterations=50))
    assert "no feasible" not in text
    assert "violated    three in two" in text
    assert "cost        2" in text
