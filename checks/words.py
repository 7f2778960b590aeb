"""Count what a reader has to read: ``python -m checks.words``; words of README, CHANGELOG and the site.

A word is a token that holds a letter. The exit code is 1 if a bound is exceeded.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
KINDS = ("prose", "tables", "code")
BOUNDS = {"README.md": 900, "CHANGELOG.md": 1_500, "docs": 20_000}
"""Words of prose and tables of a page or folder at most; code runs in tests and is counted apart."""


def counted(text: str) -> Counter[str]:
    """Words by kind: in fenced code, in lines of tables, and elsewhere; marks of filled places are no words."""
    words: Counter[str] = Counter()
    inside = False
    for line in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines():
        fence = line.lstrip().startswith("```")
        inside ^= fence
        if not fence:
            kind = "code" if inside else "tables" if line.startswith("|") else "prose"
            words[kind] += sum(any(letter.isalpha() for letter in token) for token in line.split())
    return words


def pages(name: str, root: Path = ROOT) -> list[Path]:
    """A page, or all pages of a folder."""
    place = root / name
    return sorted(place.rglob("*.md")) if place.is_dir() else [place]


def total(name: str, root: Path = ROOT) -> Counter[str]:
    """Words of a page or folder by kind."""
    return sum((counted(page.read_text(encoding="utf-8")) for page in pages(name, root)), Counter[str]())


def read(words: Counter[str]) -> int:
    """The words that bounds hold for."""
    return words["prose"] + words["tables"]


def main(arguments: list[str]) -> int:
    """Print the words; with ``--pages`` those of each page, too."""
    exceeded = False
    print(f"{'':42} " + " ".join(f"{kind:>7}" for kind in (*KINDS, "read", "bound")))
    for name, bound in BOUNDS.items():
        words = total(name)
        exceeded |= read(words) > bound
        if "--pages" in arguments and len(pages(name)) > 1:
            for page in sorted(pages(name), key=lambda page: -read(counted(page.read_text(encoding="utf-8")))):
                _print(str(page.relative_to(ROOT)), counted(page.read_text(encoding="utf-8")), "")
        _print(name, words, f"{bound:,}")
    return int(exceeded)


def _print(name: str, words: Counter[str], bound: str) -> None:
    print(f"{name:42} " + " ".join(f"{words[kind]:7,}" for kind in KINDS) + f" {read(words):7,} {bound:>7}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
