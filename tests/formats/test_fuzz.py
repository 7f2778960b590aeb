"""The first inputs of the fuzzer, in every test run."""

from __future__ import annotations

from checks.fuzz import run


def test_only_format_errors_come_out() -> None:
    """2,000 mutated files of every format: refused or read, in one line, soon and in little memory."""
    report = run(2_000)
    assert report.inputs == 2_000
    assert not report.failures
    assert report.read > 50
    assert report.slowest < 2  # CPU seconds of one input: what does not end, not what is slow
