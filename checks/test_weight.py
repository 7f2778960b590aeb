"""The counts of `checks.weight`, on small files made for them."""

from __future__ import annotations

from pathlib import Path

from checks.weight import capitals, lines, long_parameter_lists, repeated_names, short_docstrings


def test_counts_of_a_small_package(tmp_path: Path) -> None:
    """Each measure counts what it names, and nothing beside it."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "kernels").mkdir(parents=True)
    nine = ", ".join(f"p{i}" for i in range(9))
    (tmp_path / "a" / "same.py").write_text('"""One two three."""\nA_B = 1\nC, DD = 1, 2\nLIMIT: int = 3\nlower = 4\n')
    (tmp_path / "b" / "same.py").write_text(
        f"def wide({nine}):\n    pass\n\n\ndef narrow(self, {nine[:-4]}):\n    INSIDE = 1\n"
    )
    (tmp_path / "b" / "kernels" / "other.py").write_text(f"def kernel({nine}):\n    pass\n")
    assert lines(tmp_path) == 13
    assert capitals(tmp_path) == (3, 1)
    assert repeated_names(tmp_path) == {"same.py": 2}
    assert long_parameter_lists(tmp_path) == ["b/same.py:1 wide"]
    assert short_docstrings(tmp_path) == 1
