"""What a plan says, looked up by key and kind: everything that does not fit is told with its key and place."""

from __future__ import annotations

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.experiment_plan import load_plan

SOLVER = "[[solvers]]\nsolver = 'dbp'\n"
INSTANCE = "[[instances]]\nfamily = 'random-cop'\n"
REST = SOLVER + INSTANCE

WRONG = [
    # the plan itself
    ("name = 3\n" + REST, "'name' of the plan is non-empty text, not 3"),
    ("name = ''\n" + REST, "'name' of the plan is non-empty text, not ''"),
    ("seed = -1\n" + REST, "'seed' of the plan is a whole number of at least 0, not -1"),
    ("seed = 2020-01-02\n" + REST, "'seed' of the plan is a whole number of at least 0, not 2020-01-02"),
    ("repetitions = 0\n" + REST, "'repetitions' of the plan is a whole number of at least 1, not 0"),
    ("repetitions = 1.5\n" + REST, "'repetitions' of the plan is a whole number of at least 1, not 1.5"),
    ("figures = 'sweep'\n" + REST, "'figures' of the plan is a list of names, not 'sweep'"),
    ("figures = [['sweep']]\n" + REST, "'figures' of the plan is a list of names"),
    ("figures = ['seewp']\n" + REST, "no figure 'seewp'; did you mean 'sweep'"),
    ("tables = ['x']\n" + REST, "the plan has no 'tables'; there are figures"),
    ("", "the plan has no [[solvers]], and so nothing to run"),
    (SOLVER, "the plan has no [[instances]], and so nothing to run"),
    ("name =", "is not TOML"),
    ("name = '../x'\n" + REST, "name is letters, digits"),
    # limits, of the plan and of a solver
    ("limits = 3\n" + REST, "'limits' of the plan is a table of keys and values, not 3"),
    ("limits = {tiem = 3}\n" + REST, "limits of the plan has no 'tiem'; there are iterations"),
    ("limits = {time = 0}\n" + REST, "'time' of limits of the plan is a positive number, not 0"),
    ("limits = {time = nan}\n" + REST, "'time' of limits of the plan is a positive number, not nan"),
    ("limits = {time = 10:00:00}\n" + REST, "'time' of limits of the plan is a positive number, not 10:00:00"),
    ("limits = {wall = '60'}\n" + REST, "'wall' of limits of the plan is a positive number, not '60'"),
    ("limits = {iterations = 1.5}\n" + REST, "'iterations' of limits of the plan is a whole number of at least 1"),
    ("limits = {memory = 'much'}\n" + REST, "'memory' of limits of the plan: the memory limit is an amount like"),
    ("limits = {memory = '0 GB'}\n" + REST, "'memory' of limits of the plan is more than 0 bytes, not '0 GB'"),
    ("limits = {memory = [1]}\n" + REST, "'memory' of limits of the plan is an amount of memory like"),
    (SOLVER + "limits = [1]\n" + INSTANCE, "'limits' of [[solvers]] entry 1 is a table of keys and values, not [1]"),
    # solvers
    ("solvers = 3\n" + INSTANCE, "'solvers' of the plan is a list of tables, written [[solvers]], not 3"),
    ("[solvers]\nsolver = 'dbp'\n" + INSTANCE, "'solvers' of the plan is a list of tables, written [[solvers]]"),
    ("solvers = []\n" + INSTANCE, "the plan has no [[solvers]], and so nothing to run"),
    ("[[solvers]]\nsolver = 5\n" + INSTANCE, "'solver' of [[solvers]] entry 1 is non-empty text, not 5"),
    ("[[solvers]]\nsolver = ' '\n" + INSTANCE, "'solver' of [[solvers]] entry 1 is non-empty text"),
    ("[[solvers]]\nsolver = 'x:'\n" + INSTANCE, "a solver of your own is 'module:Class', not 'x:'"),
    (SOLVER + SOLVER + "label = [1]\n" + INSTANCE, "'label' of [[solvers]] entry 2 is non-empty text, not [1]"),
    (SOLVER + "seeds = 3\n" + INSTANCE, "[[solvers]] entry 1 has no 'seeds'; there are label"),
    (SOLVER + "parameters = 3\n" + INSTANCE, "'parameters' of [[solvers]] entry 1 is a table of keys and values"),
    (SOLVER + "parameters = {a = 2020-01-02}\n" + INSTANCE, "'a' of parameters of [[solvers]] entry 1 is a number"),
    (SOLVER + "parameters = {a = [{b = 10:00:00}]}\n" + INSTANCE, "'a' of parameters of [[solvers]] entry 1"),
    (SOLVER + "parameters = {damping = [1]}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not [1]"),
    (SOLVER + "parameters = {damping = true}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not True"),
    (SOLVER + "parameters = {damping = 'high'}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not 'high'"),
    (SOLVER + "parameters = {restarts = 1.5}\n" + INSTANCE, "'restarts' of solver 'dbp' is a whole number, not 1.5"),
    (SOLVER + "parameters = {exact-forests = {}}\n" + INSTANCE, "'exact_forests' of solver 'dbp' is true or false"),
    (SOLVER + "sweep = 3\n" + INSTANCE, "'sweep' of [[solvers]] entry 1 is a table of keys and values, not 3"),
    (SOLVER + "sweep = {damping = []}\n" + INSTANCE, "'damping' of sweep of [[solvers]] entry 1 is a list of values"),
    (SOLVER + "sweep = {damping = [2020-01-02]}\n" + INSTANCE, "'damping' of sweep of [[solvers]] entry 1 is a number"),
    (SOLVER + "sweep = {damping = [0.5, [1]]}\n" + INSTANCE, "'damping' of solver 'dbp' is a number, not [1]"),
    ("[[solvers]]\nlabel = 'x'\n" + INSTANCE, "[[solvers]] entry 1 needs solver"),
    (SOLVER + SOLVER + INSTANCE, "two [[solvers]] entries are labelled 'dbp'"),
    (REST + "seeds = [1, 1]", "solver 'dbp' runs twice on the same instance"),
    # instances
    (SOLVER + "[[instances]]\nlabel = 'x'", "[[instances]] entry 1 has either family"),
    (SOLVER + "[[instances]]\nfiles = ['*.none']", "no file matches '*.none'"),
    ("instances = []\n" + SOLVER, "the plan has no [[instances]], and so nothing to run"),
    (SOLVER + "[[instances]]\nfamily = 5", "'family' of [[instances]] entry 1 is non-empty text, not 5"),
    (SOLVER + "[[instances]]\nfamily = 'random'", "there is no generator 'random'; did you mean 'random-cop'"),
    (REST + "label = [1]", "'label' of [[instances]] entry 1 is non-empty text, not [1]"),
    (REST + "limits = {time = 1}", "[[instances]] entry 1 has no 'limits'; there are family"),
    (REST + "seeds = -1", "'seeds' of [[instances]] entry 1 is a whole number of at least 1, or a non-empty list"),
    (REST + "seeds = 0", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = 'ab'", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = []", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = [2020-01-02T10:00:00]", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "seeds = [1, -1]", "'seeds' of [[instances]] entry 1 is a whole number of at least 1"),
    (REST + "parameters = {variables = [3]}", "'variables' of generator 'random-cop' is a whole number, not [3]"),
    (REST + "parameters = {variables = '3'}", "'variables' of generator 'random-cop' is a whole number, not '3'"),
    (REST + "parameters = {variant = 3}", "'variant' of generator 'random-cop' is text, not 3"),
    (REST + "parameters = {seed = 3}", "seeds of generator 'random-cop' are given as seeds"),
    (REST + "parameters = {return = 3}", "generator 'random-cop' has no parameter 'return'"),
    (REST + "sweep = {variables = [5, 'x']}", "'variables' of generator 'random-cop' is a whole number, not 'x'"),
    (SOLVER + "[[instances]]\nfiles = 3", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty list"),
    (SOLVER + "[[instances]]\nfiles = [1]", "'files' of [[instances]] entry 1 is non-empty text, or a non-empty list"),
    (SOLVER + "[[instances]]\nfiles = '.'", "no file matches '.'"),
    (SOLVER + "[[instances]]\nfiles = 'plan.toml'\nlabel = 1", "'label' of [[instances]] entry 1 is non-empty text"),
    (SOLVER + "[[instances]]\nfiles = 'plan.toml'\nseeds = 3", "'seeds' of [[instances]] entry 1 goes with family"),
    # without bounds
    (REST + "seeds = 1e9", "at most 250,000 runs"),
    ("repetitions = 1e9\n" + REST, "at most 250,000 runs, this one at least 1,000,000,000"),
    ("seed = 1e300\n" + REST, "'seed' of the plan is at most"),
    (
        "repetitions = 1000\n" + REST + "seeds = 1000",
        "a plan has at most 250,000 runs, this one at least 1,000,000: make",
    ),
    (REST + f"sweep = {{variables = {list(range(1, 999))}, domain = {list(range(1, 999))}}}", "at most 250,000 runs"),
    (SOLVER + "[[instances]]\nfiles = '/dev/zero'", "'/dev/zero' is outside of the plan's folder"),
    ("name = '.hidden'\n" + REST, "name is letters, digits"),
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
