"""``dabp explain``: conflicts in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import dabp
from tests.cli.conftest import Run


def infeasible(folder: Path) -> Path:
    """Three people, two days, all different; and something beside that hurts nobody."""
    model = dabp.Model("shifts")
    names = model.add_variables(["ann", "bob", "eve"], ["mon", "tue"])
    model.forbid(names[:2], lambda a, b: a == b, name="one")
    model.forbid(names[1:], lambda a, b: a == b, name="two")
    model.forbid(names[::2], lambda a, b: a == b, name="three")
    model.forbid("ann", ["mon"], name="beside")
    dabp.write(model.build(), folder / "shifts.cfn")
    return folder / "shifts.cfn"


def test_a_conflict_is_listed(run: Run, tmp_path: Path) -> None:
    """Its constraints with their variables, in text and as JSON; exit code 0."""
    file = infeasible(tmp_path)
    code, out, _ = run("explain", file, "--conflict")
    assert code == 0
    assert "these 3 constraints contradict each other; without any one of them the others can hold" in out
    assert "one (ann, bob)" in out
    assert "beside" not in out
    facts = json.loads(run("explain", file, "--conflict", "--json").out)
    assert facts["minimal"]
    assert [one["constraint"] for one in facts["conflict"]] == ["one", "two", "three"]
    assert facts["conflict"][2]["scope"] == ["ann", "eve"]


def test_what_is_feasible_or_unclear_ends_with_1(run: Run, tmp_path: Path) -> None:
    """And says which; values that are held count."""
    file = tmp_path / "free.cfn"
    model = dabp.Model("free")
    model.all_different(model.add_variables(["a", "b"], 2))
    dabp.write(model.build(), file)
    code, out, _ = run("explain", file, "--conflict")
    assert (code, "feasible" in out) == (1, True)
    assert json.loads(run("explain", file, "--conflict", "--json").out)["conflict"] is None
    code, out, _ = run("explain", file, "--conflict", "--fix", "a=0", "--fix", "b=0")
    assert (code, "this constraint allows nothing" in out) == (0, True)
    code, out, _ = run("explain", infeasible(tmp_path), "--conflict", "--time", "0")
    assert (code, "before it was clear" in out) == (1, True)


def test_a_solution_is_explained_as_evaluate_does(run: Run, tmp_path: Path) -> None:
    """One of the two is wanted."""
    file = infeasible(tmp_path)
    (tmp_path / "x.sol").write_text("0 0 1\n")
    assert run("explain", file, tmp_path / "x.sol") == run("evaluate", file, tmp_path / "x.sol")
    assert "a solution file, or --conflict" in run("explain", file).err
    assert "a solution file, or --conflict" in run("explain", file, tmp_path / "x.sol", "--conflict").err


def test_relaxed_solves(run: Run, tmp_path: Path) -> None:
    """``--relax`` names what is violated, ``--price`` decides what, and JSON has it; exit code 0."""
    file = infeasible(tmp_path)
    assert run("solve", file, "--time", "20").code == 1
    code, out, _ = run("solve", file, "--relax", "--time", "20")
    assert code == 0
    assert "violated        1 hard constraint:" in out
    assert "1 of 4 hard constraints is violated, the fewest there can be" in out
    answer = tmp_path / "a.json"
    prices = ["--price", "one=2", "--price", "three=5", "--price", "beside=9"]
    code, out, _ = run("solve", file, "--relax", *prices, "--time", "20", "--json", "-o", answer)
    assert json.loads(out)["violated"] == json.loads(answer.read_text())["violated"] == ["two"]
    assert run("evaluate", file, answer).code == 1
    assert "--price goes with --relax" in run("solve", file, "--price", "one=2").err
    assert "name=number" in run("solve", file, "--relax", "--price", "one=x").err
    assert "no hard constraint 'five'" in run("solve", file, "--relax", "--price", "five=1").err
