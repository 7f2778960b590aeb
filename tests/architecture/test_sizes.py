"""Files and functions stay short enough to be read."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.sizes import FUNCTION_LINES, KERNEL_LINES, too_long

SOURCE = Path(__file__).parents[2] / "src" / "dabp"


def test_nothing_in_the_package_is_too_long() -> None:
    """No file over 600 lines, no function over 60, 100 in kernels."""
    assert list(too_long(SOURCE)) == []


def test_what_is_too_long_is_found(tmp_path: Path) -> None:
    """A function one line too long is named, in kernels only where it is too long for one."""
    for lines, room in (
        (FUNCTION_LINES + 1, "solvers"),
        (FUNCTION_LINES + 1, "kernels"),
        (KERNEL_LINES + 1, "kernels"),
    ):
        path = tmp_path / room / f"long{lines}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("def f():\n" + "    pass\n" * (lines - 1))
    (tmp_path / "file.py").write_text("\n" * 601)
    assert [line.split(":")[0] for line in too_long(tmp_path)] == ["file.py", "kernels/long101.py", "solvers/long61.py"]
