"""What a plan says, looked up by key and kind: everything that does not fit is told with its key and place."""

from __future__ import annotations

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.plan_section import Section

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
    # without bounds
    (REST + "seeds = 1e9", "'seeds' of [[instances]] entry 1 is at most 250,000"),
    ("repetitions = 1e9\n" + REST, "'repetitions' of the plan is at most 250,000"),
    ("seed = 1e300\n" + REST, "'seed' of the plan is at most"),
    ("repetitions = 1000\n" + REST + "seeds = 1000", "more than the 250,000 runs that a plan may have"),
    (REST + f"sweep = {{variables = {list(range(1, 999))}, domain = {list(range(1, 999))}}}", "more than 250,000 comb"),
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


def test_lookups_give_values_or_defaults():
    """Each kind as its own type; what people write as 1e2 is a whole number."""
    section = Section({"a": "x", "b": ["p", "q"], "n": 1e2, "s": [3, 4], "t": {"u": [1]}, "r": 0.5}, "here")
    assert (section.text("a", "y"), section.text("z", "y")) == ("x", "y")
    assert (section.texts("b"), section.texts("z"), section.patterns("a")) == (["p", "q"], [], ["x"])
    assert (section.whole("n", 0, 0), section.whole("z", 7, 0)) == (100, 7)
    assert (section.seeds("s"), section.seeds("z"), section.positive("r")) == ([3, 4], [0], 0.5)
    assert (section.positive("z"), section.choices("t")) == (None, {"u": [1]})
    assert "a" in section
    assert "z" not in section


def test_unknown_keys_are_told_with_those_there_are():
    """At the place where they stand."""
    with pytest.raises(ParameterError, match="here has no 'b'; there are a, c"):
        Section({"a": 1, "b": 2}, "here").only("a", "c")
