"""Every code block and command of README and docs runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import FENCE, ROOT, matches, normal, run

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page's code and commands work in a folder that has only the examples, and print what it shows."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    wrong = [f"{one.what}\nshown:\n{one.shown}\nprinted:\n{one.printed}" for one in run(page, tmp_path) if one.wrong]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_is_narrow(page: Path) -> None:
    """Code and commands are at most 88 columns wide, so that they are read without scrolling."""
    fences = FENCE.findall(page.read_text(encoding="utf-8"))
    code = [line for kind, body in fences if kind in ("python", "bash") for line in body.splitlines()]
    commands = [line for kind, body in fences if kind == "console" for line in body.splitlines() if line[:2] == "$ "]
    assert not [line for line in code + commands if len(line) > 88]


def test_the_comparison_can_fail() -> None:
    """Numbers that are not times must agree; … stands for what may differ."""
    assert matches(normal("cost 3\ntime 0.12 s"), normal("cost   3\ntime 5.00 s"))
    assert not matches(normal("cost 3"), normal("cost 4"))
    assert matches(normal("a …\n…\nz"), normal("a b c\nd\ne\nz"))
    assert not matches(normal("a"), normal("a\nb"))
