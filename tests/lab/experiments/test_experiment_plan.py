"""Plans: what they expand to, the names and seeds of runs, and mistakes told clearly."""

from __future__ import annotations

import dataclasses
import glob
from pathlib import Path

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments import experiment_plan
from dabp.lab.experiments.experiment_plan import Limits, Plan, Run, load_plan

PLAN = """
seed = {seed}
repetitions = 2
[limits]
time = 10
memory = "1.5 GB"
[[instances]]
label = "{group}"
family = "random-cop"
seeds = 3
sweep = {{ variables = [5, 6] }}
[[solvers]]
solver = "bp"
[[solvers]]
solver = "dbp"
label = "DBP"
sweep = {{ damping = [0.5, 0.9] }}
limits = {{ iterations = 100 }}
"""


def load(folder, seed=1, group="random", text=PLAN) -> Plan:
    path = folder / "plan.toml"
    path.write_text(text.format(seed=seed, group=group))
    return load_plan(path)


def test_a_plan_expands_to_every_combination(tmp_path):
    """Instances × repetitions × solvers with their sweeps, each once and under its own key."""
    plan = load(tmp_path)
    assert len(plan.runs) == 6 * 2 * 3
    assert len({run.key for run in plan.runs}) == len(plan.runs)
    assert plan.groups == ["random (variables=5)", "random (variables=6)"]
    assert plan.labels == ["bp", "DBP (damping=0.5)", "DBP (damping=0.9)"]
    assert plan.runs[0].limits.memory == 1_500_000_000
    assert plan.runs[1].limits.iterations == 100
    assert plan.runs[0].limits.wall_seconds == 75


def test_solvers_share_seeds_and_nothing_else_does(tmp_path):
    """Seeds come from the plan's seed, the instance and the repetition, so that solvers are compared in pairs."""
    plan = load(tmp_path)
    by_place: dict[str, set[int]] = {}
    for run in plan.runs:
        by_place.setdefault(run.instance_key, set()).add(run.seed)
    assert all(len(seeds) == 1 for seeds in by_place.values())
    assert len(set.union(*by_place.values())) == 12
    assert {run.seed for run in load(tmp_path, seed=2).runs}.isdisjoint({run.seed for run in plan.runs})


def test_labels_do_not_name_results(tmp_path):
    """A relabelled plan finds its old results."""
    first, second = load(tmp_path, group="a"), load(tmp_path, group="b")
    assert [run.key for run in first.runs] == [run.key for run in second.runs]


def test_whole_numbers_name_the_same_run(tmp_path):
    """10 and 10.0 are one limit, 1 and 1.0 one parameter."""
    plan = load(tmp_path)
    run = plan.runs[0]
    same = dataclasses.replace(run, limits=dataclasses.replace(run.limits, time=float(run.limits.time or 0)))
    assert same.key == run.key
    assert dataclasses.replace(run, parameters={"damping": 1}).key == replaced(run, 1.0).key
    assert replaced(run, 0.5).key != replaced(run, 0).key


def replaced(run: Run, damping: float) -> Run:
    return dataclasses.replace(run, parameters={"damping": damping})


def test_runs_and_plans_survive_being_sent(tmp_path):
    """What goes to a worker or a file comes back with the same key."""
    plan = load(tmp_path)
    assert Plan.from_dict(plan.to_dict()) == plan
    assert Run.from_dict(plan.runs[3].to_dict()).key == plan.runs[3].key


def test_a_file_is_known_by_its_content(tmp_path):
    """A moved instance keeps its results, a changed one gets new ones."""
    text = '[[instances]]\nfiles = "*.wcsp"\n[[solvers]]\nsolver = "bp"\n'
    (tmp_path / "a.wcsp").write_text("one")
    first = load(tmp_path, text=text).runs[0]
    (tmp_path / "a.wcsp").rename(tmp_path / "b.wcsp")
    assert load(tmp_path, text=text).runs[0].key == first.key
    (tmp_path / "b.wcsp").write_text("two")
    assert load(tmp_path, text=text).runs[0].key != first.key


def test_a_solvers_limits_add_to_the_plans(tmp_path):
    """Its own where it has them, the plan's otherwise; 1e2 iterations are 100."""
    text = (
        "limits = {time = 5, memory = '1 KB'}\n[[solvers]]\nsolver = 'dbp'\n"
        "limits = {time = 2.5, iterations = 1e2}\n[[instances]]\nfamily = 'random-cop'\n"
    )
    (tmp_path / "plan.toml").write_text(text)
    assert load_plan(tmp_path / "plan.toml").runs[0].limits == Limits(2.5, 100, None, 1000)


@pytest.mark.posix
def test_a_device_is_no_plan():
    """An endless file is not read to its end."""
    with pytest.raises(ParameterError, match="/dev/zero: a plan has at most"):
        load_plan("/dev/zero")


def plan_with_files(folder, pattern):
    path = folder / "plans" / "plan.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"[[instances]]\nfiles = [{pattern!r}]\n[[solvers]]\nsolver = 'bp'\n")
    return path


def test_patterns_find_what_glob_finds(tmp_path):
    """Names, wildcards and ``**``, without hidden files and folders unless they are named."""
    for name in ("a.x", "b.x", "sub/a.x", "sub/deep/c.x", "sub/deep/.d.x", ".hidden/e.x", "sub/f.y"):
        (tmp_path / "plans" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "plans" / name).write_text(name)
    for pattern in (
        "*.x",
        "a.x",
        "**/*.x",
        "**",
        "sub/**",
        "*/a.x",
        "s?b/**/[ac].x",
        ".hidden/*.x",
        "**/deep/*",
        "**/.d.x",
    ):
        wanted = {path for path in glob.glob(str(tmp_path / "plans" / pattern), recursive=True) if Path(path).is_file()}
        found = {run.instance["file"] for run in load_plan(plan_with_files(tmp_path, pattern)).runs}
        assert found | {str(tmp_path / "plans" / "plan.toml")} == wanted | {str(tmp_path / "plans" / "plan.toml")}


@pytest.mark.parametrize("outside", ["{}/data/*.x", "../data/*.x", "../plans/../data/one.x", "*/../../data/*.x"])
def test_files_outside_of_the_plans_folder_need_trust(tmp_path, outside):
    """A plan that somebody sent reads nothing else; what is named after a wildcard stays refused."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one.x").write_text("1")
    path = plan_with_files(tmp_path, outside.format(tmp_path))
    with pytest.raises(ParameterError, match="--trust"):
        load_plan(path)
    with pytest.raises(ParameterError, match="--trust"):
        load_plan(path, [str(tmp_path / "other")])
    if outside[0] != "*":
        assert len(load_plan(path, [str(tmp_path / "data")]).runs) == 1


@pytest.mark.parametrize("limit", ["MOST_ENTRIES", "SEARCH_SECONDS"])
def test_a_search_for_files_is_bounded(tmp_path, monkeypatch, limit):
    """In count and in time, also where nothing matches."""
    for number in range(20):
        (tmp_path / "plans" / str(number)).mkdir(parents=True)
    monkeypatch.setattr(experiment_plan, limit, 0 if limit == "SEARCH_SECONDS" else 10)
    with pytest.raises(ParameterError, match="name the folders"):
        load_plan(plan_with_files(tmp_path, "**/*.none"))
