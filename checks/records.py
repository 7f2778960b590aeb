"""Records of the checks: with ``--record`` a check adds a line to ``checks/records.jsonl`` when it ends."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORDS = Path(__file__).with_name("records.jsonl")
COLUMNS = ("check", "command", "count", "failures", "commit", "date", "seconds")


class Clock:
    """The option ``--record`` of a check, and the seconds since it was declared."""

    def __init__(self, parser: argparse.ArgumentParser, check: str, records: Path = RECORDS):
        parser.add_argument("--record", action="store_true", help=f"add a line to {RECORDS.relative_to(ROOT)}")
        self._check, self._records, self._begun = check, records, time.monotonic()

    def ended(self, chosen: argparse.Namespace, count: str, failures: int) -> None:
        """Write the line if it is wanted: `count` says how many of what."""
        if not chosen.record:
            return
        words = ["git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        row = {
            "check": self._check,
            "count": count,
            "failures": failures,
            "commit": commit.stdout.strip(),
            "date": dt.date.today().isoformat(),
            "seconds": round(time.monotonic() - self._begun),
        }
        with self._records.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def table(records: Path = RECORDS) -> str:
    """The records as a Markdown table, those of a check together and the newest first."""
    newest_first = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()[::-1]]
    order = list(dict.fromkeys(row["check"] for row in newest_first[::-1]))
    lines = ["| " + " | ".join(COLUMNS) + " |", "| " + " | ".join(["---"] * len(COLUMNS)) + " |"]
    for row in sorted(newest_first, key=lambda row: order.index(row["check"])):
        cells = {**row, "command": f"`{row.get('command', 'make ' + row['check'])}`"}
        lines.append("| " + " | ".join(str(cells.get(name, "–")) for name in COLUMNS) + " |")
    return "\n".join(lines) + "\n"
