"""Plans: what they expand to, the names and seeds of runs, and mistakes told clearly."""

from __future__ import annotations

import dataclasses

import pytest

from dabp.errors import ParameterError
from dabp.experiments.checking import check
from dabp.experiments.plan import Limits, Plan, Run, bytes_of, load_plan
from dabp.experiments.run import run_plan

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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", r"no \[\[solvers\]\]"),
        ("name =", "not TOML"),
        ("name = '../x'", "name is letters"),
        ("sed = 1", "no 'sed'; there are figures"),
        ("[[solvers]]\nsolver = 'bp'", r"no \[\[instances\]\]"),
        ("[[solvers]]\nsolver = 'bp'\n[[instances]]\nfiles = ['*.none']", "no file matches"),
        ("[[solvers]]\nsolver = 'bp'\n[[instances]]\nlabel = 'x'", "either family"),
        ("[[solvers]]\nlabel = 'x'\n[[instances]]\nfamily = 'y'", "needs solver"),
        ("[[solvers]]\nsolver = 'bp'\n[[solvers]]\nsolver = 'bp'\n[[instances]]\nfamily = 'y'", "labelled 'bp'"),
        ("[[solvers]]\nsolver = 'bp'\nsweep = {{a = 1}}\n[[instances]]\nfamily = 'y'", "is a list of values"),
        ("limits = {{time = -1}}\n[[solvers]]\nsolver = 'bp'\n[[instances]]\nfamily = 'y'", "positive number"),
        ("[[solvers]]\nsolver = 'bp'\n[[instances]]\nfamily = 'y'\nseeds = [1, 1]", "runs twice"),
    ],
)
def test_mistakes_are_told_with_the_file(tmp_path, text, words):
    """A person can mend the plan from the sentence alone."""
    with pytest.raises(ParameterError, match=words) as caught:
        load(tmp_path, text=text)
    assert "plan.toml" in str(caught.value)


SOLVER = "[[solvers]]\nsolver = 'dbp'\n"
INSTANCE = "[[instances]]\nfamily = 'random-cop'\n"
REST = SOLVER + INSTANCE

WRONG = [
    # the plan itself
    ("name = 3\n" + REST, "'name' of the plan is non-empty text, not 3"),
    ("name = ''\n" + REST, "'name' of the plan is non-empty text, not ''"),
    ("title = ['x']\n" + REST, "'title' of the plan is non-empty text, not ['x']"),
    ("seed = -1\n" + REST, "'seed' of the plan is a whole number of at least 0, not -1"),
    ("seed = true\n" + REST, "'seed' of the plan is a whole number of at least 0, not True"),
    ("seed = 2020-01-02\n" + REST, "'seed' of the plan is a whole number of at least 0, not 2020-01-02"),
    ("repetitions = 0\n" + REST, "'repetitions' of the plan is a whole number of at least 1, not 0"),
    ("repetitions = 1.5\n" + REST, "'repetitions' of the plan is a whole number of at least 1, not 1.5"),
    ("repetitions = [2]\n" + REST, "'repetitions' of the plan is a whole number of at least 1, not [2]"),
    ("figures = 'sweep'\n" + REST, "'figures' of the plan is a list of names, not 'sweep'"),
    ("figures = [1]\n" + REST, "'figures' of the plan is a list of names, not [1]"),
    ("figures = [['sweep']]\n" + REST, "'figures' of the plan is a list of names"),
    ("[figures]\nsweep = true\n" + REST, "'figures' of the plan is a list of names"),
    ("figures = ['seewp']\n" + REST, "no figure 'seewp'; did you mean 'sweep'"),
    ("tables = ['x']\n" + REST, "the plan has no 'tables'; there are figures"),
    # limits, of the plan and of a solver
    ("limits = 3\n" + REST, "'limits' of the plan is a table of keys and values, not 3"),
    ("[[limits]]\ntime = 1\n" + REST, "'limits' of the plan is a table of keys and values, not [{"),
    ("limits = {tiem = 3}\n" + REST, "limits of the plan has no 'tiem'; there are iterations"),
    ("limits = {time = 0}\n" + REST, "'time' of limits of the plan is a positive number, not 0"),
    ("limits = {time = inf}\n" + REST, "'time' of limits of the plan is a positive number, not inf"),
    ("limits = {time = nan}\n" + REST, "'time' of limits of the plan is a positive number, not nan"),
    ("limits = {time = 10:00:00}\n" + REST, "'time' of limits of the plan is a positive number, not 10:00:00"),
    ("limits = {wall = '60'}\n" + REST, "'wall' of limits of the plan is a positive number, not '60'"),
    ("limits = {wall = true}\n" + REST, "'wall' of limits of the plan is a positive number, not True"),
    ("limits = {iterations = 1.5}\n" + REST, "'iterations' of limits of the plan is a whole number of at least 1"),
    ("limits = {iterations = inf}\n" + REST, "'iterations' of limits of the plan is a whole number of at least 1"),
    ("limits = {iterations = []}\n" + REST, "'iterations' of limits of the plan is a whole number of at least 1"),
    ("limits = {memory = 'much'}\n" + REST, "'memory' of limits of the plan: an amount of memory is like"),
    ("limits = {memory = [1]}\n" + REST, "'memory' of limits of the plan: an amount of memory is like"),
    ("limits = {memory = 0.5}\n" + REST, "'memory' of limits of the plan: an amount of memory is like"),
    ("limits = {memory = '99999999999 GB'}\n" + REST, "'memory' of limits of the plan: an amount of memory is like"),
    (SOLVER + "limits = [1]\n" + INSTANCE, "'limits' of [[solvers]] entry 1 is a table of keys and values, not [1]"),
    (SOLVER + "limits = {wall = []}\n" + INSTANCE, "'wall' of limits of [[solvers]] entry 1 is a positive number"),
    # solvers
    ("solvers = 3\n" + INSTANCE, "'solvers' of the plan is a list of tables, written [[solvers]], not 3"),
    ("solvers = ['dbp']\n" + INSTANCE, "'solvers' of the plan is a list of tables, written [[solvers]], not ['dbp']"),
    ("[solvers]\nsolver = 'dbp'\n" + INSTANCE, "'solvers' of the plan is a list of tables, written [[solvers]]"),
    ("solvers = []\n" + INSTANCE, "the plan has no [[solvers]], and so nothing to run"),
    ("[[solvers]]\nsolver = 5\n" + INSTANCE, "'solver' of [[solvers]] entry 1 is non-empty text, not 5"),
    ("[[solvers]]\nsolver = ['dbp']\n" + INSTANCE, "'solver' of [[solvers]] entry 1 is non-empty text, not ['dbp']"),
    ("[[solvers]]\nsolver = ' '\n" + INSTANCE, "'solver' of [[solvers]] entry 1 is non-empty text"),
    ("[[solvers]]\nsolver = 'x:'\n" + INSTANCE, "a solver of your own is 'module:Class', not 'x:'"),
    (SOLVER + SOLVER + "label = [1]\n" + INSTANCE, "'label' of [[solvers]] entry 2 is non-empty text, not [1]"),
    (SOLVER + "label = {a = 1}\n" + INSTANCE, "'label' of [[solvers]] entry 1 is non-empty text"),
    (SOLVER + "seeds = 3\n" + INSTANCE, "[[solvers]] entry 1 has no 'seeds'; there are label"),
    (SOLVER + "parameters = 3\n" + INSTANCE, "'parameters' of [[solvers]] entry 1 is a table of keys and values"),
    (SOLVER + "parameters = [{a = 1}]\n" + INSTANCE, "'parameters' of [[solvers]] entry 1 is a table"),
    (SOLVER + "parameters = {a = 2020-01-02}\n" + INSTANCE, "'a' of parameters of [[solvers]] entry 1 is a number"),
    (SOLVER + "parameters = {a = [{b = 10:00:00}]}\n" + INSTANCE, "'a' of parameters of [[solvers]] entry 1"),
    (SOLVER + "parameters = {damping = [1]}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not [1]"),
    (SOLVER + "parameters = {damping = true}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not True"),
    (SOLVER + "parameters = {damping = 'high'}\n" + INSTANCE, "'damping' of solver 'dbp' is float, not 'high'"),
    (SOLVER + "parameters = {restarts = 1.5}\n" + INSTANCE, "'restarts' of solver 'dbp' is a whole number, not 1.5"),
    (SOLVER + "parameters = {exact-forests = {}}\n" + INSTANCE, "'exact_forests' of solver 'dbp' is true or false"),
    (SOLVER + "sweep = 3\n" + INSTANCE, "'sweep' of [[solvers]] entry 1 is a table of keys and values, not 3"),
    (SOLVER + "sweep = ['damping']\n" + INSTANCE, "'sweep' of [[solvers]] entry 1 is a table of keys and values"),
    (SOLVER + "sweep = {damping = []}\n" + INSTANCE, "'damping' of sweep of [[solvers]] entry 1 is a list of values"),
    (SOLVER + "sweep = {damping = 'abc'}\n" + INSTANCE, "'damping' of sweep of [[solvers]] entry 1 is a list"),
    (SOLVER + "sweep = {damping = [2020-01-02]}\n" + INSTANCE, "'damping' of sweep of [[solvers]] entry 1 is a number"),
    (SOLVER + "sweep = {damping = [0.5, [1]]}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not [1]"),
    # instances
    ("instances = 3\n" + SOLVER, "'instances' of the plan is a list of tables, written [[instances]], not 3"),
    ("instances = 'x'\n" + SOLVER, "'instances' of the plan is a list of tables, written [[instances]], not 'x'"),
    ("[instances]\nfamily = 'x'\n" + SOLVER, "'instances' of the plan is a list of tables, written [[instances]]"),
    ("instances = []\n" + SOLVER, "the plan has no [[instances]], and so nothing to run"),
    (SOLVER + "[[instances]]\nfamily = 5", "'family' of [[instances]] entry 1 is non-empty text, not 5"),
    (SOLVER + "[[instances]]\nfamily = {}", "'family' of [[instances]] entry 1 is non-empty text, not {}"),
    (SOLVER + "[[instances]]\nfamily = 'random'", "there is no generator 'random'; did you mean 'random-cop'"),
    (REST + "label = [1]", "'label' of [[instances]] entry 1 is non-empty text, not [1]"),
    (REST + "limits = {time = 1}", "[[instances]] entry 1 has no 'limits'; there are family"),
    (REST + "seeds = -1", "'seeds' of [[instances]] entry 1 is a whole number of at least 1, or a non-empty list"),
    (REST + "seeds = 0", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = 1.5", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = true", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = 'ab'", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = []", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = {a = 1}", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = 2020-01-02", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = [2020-01-02T10:00:00]", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = [1, -1]", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = [[1]]", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "parameters = 'x'", "'parameters' of [[instances]] entry 1 is a table of keys and values, not 'x'"),
    (REST + "parameters = {variables = [3]}", "'variables' of generator 'random-cop' is a whole number, not [3]"),
    (REST + "parameters = {variables = '3'}", "'variables' of generator 'random-cop' is a whole number, not '3'"),
    (REST + "parameters = {variant = 3}", "'variant' of generator 'random-cop' is text, not 3"),
    (REST + "parameters = {seed = 3}", "seeds of generator 'random-cop' are given as seeds"),
    (REST + "parameters = {return = 3}", "generator 'random-cop' has no parameter 'return'"),
    (REST + "sweep = 3", "'sweep' of [[instances]] entry 1 is a table of keys and values, not 3"),
    (REST + "sweep = {variables = [5, 'x']}", "'variables' of generator 'random-cop' is a whole number, not 'x'"),
    (SOLVER + "[[instances]]\nfiles = 3", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty list"),
    (SOLVER + "[[instances]]\nfiles = []", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty list"),
    (SOLVER + "[[instances]]\nfiles = [1]", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty list"),
    (SOLVER + "[[instances]]\nfiles = {a = 1}", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty"),
    (SOLVER + "[[instances]]\nfiles = '.'", "no file matches '.'"),
    (SOLVER + "[[instances]]\nfiles = 'plan.toml'\nlabel = 1", "'label' of [[instances]] entry 1 is non-empty text"),
    (SOLVER + "[[instances]]\nfiles = 'plan.toml'\nseeds = 3", "'seeds' of [[instances]] entry 1 goes with family"),
    # not TOML for Python's reader
    ("a = " + "[" * 5000, "is not TOML"),
    ("a = " + "9" * 5000, "is not TOML"),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=[text[:40].replace("\n", " ") for text, _ in WRONG])
def test_every_key_has_its_type(tmp_path, text, words):
    """Wrong types, values and nesting, at every level: one sentence with the plan, the place and the key."""
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(ParameterError) as caught:
        check(load_plan(tmp_path / "plan.toml"))
    assert words in str(caught.value)
    assert "plan" in str(caught.value).split(":")[0]
    assert "\n" not in str(caught.value)


def test_a_plan_without_runs_is_refused(tmp_path):
    """Also one that was not read from a file."""
    with pytest.raises(ParameterError, match="plan 'empty': there is nothing to run"):
        run_plan(Plan("empty", "Empty", ()), tmp_path / "out")


def test_a_solvers_limits_add_to_the_plans(tmp_path):
    """Its own where it has them, the plan's otherwise; 1e2 iterations are 100."""
    text = "limits = {time = 5, memory = '1 KB'}\n" + SOLVER + "limits = {time = 2.5, iterations = 1e2}\n" + INSTANCE
    (tmp_path / "plan.toml").write_text(text)
    assert load_plan(tmp_path / "plan.toml").runs[0].limits == Limits(2.5, 100, None, 1000)


def test_amounts_of_memory():
    """Decimal and binary units."""
    assert [bytes_of(text) for text in (5, "4 GB", "2MiB", "0.5 kb")] == [5, 4 * 10**9, 2 * 2**20, 500]
    with pytest.raises(ParameterError, match="amount of memory"):
        bytes_of("much")
