"""Solvers by name, imported on demand so that a list of them costs nothing.

To add one: write a `Solver` in a module of this package, add a line to `SOLVERS`; the contract tests pick it up.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, cast

import numpy as np

from dabp.errors import ParameterError, suggestion
from dabp.packages import installed, require
from dabp.solvers.base import Solver
from dabp.solvers.hints import WORDS

LARGEST = 2**62
"""Largest whole number of a parameter: kernels count in 64 bits. Larger ones are cut to it."""


@dataclass(frozen=True)
class Entry:
    """A named solver: its class, a line for the list, the parameters of its preset, the package that it needs."""

    module: str
    class_name: str
    summary: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    needs: str | None = None

    @property
    def installed(self) -> bool:
        """Whether the package that the solver needs is installed."""
        return self.needs is None or installed(self.needs)

    def load(self) -> type[Solver]:
        """Import the class and return it."""
        return _loaded(self.module, self.class_name)


@functools.cache
def _loaded(module: str, class_name: str) -> type[Solver]:
    return cast(type[Solver], getattr(importlib.import_module(f"dabp.solvers.{module}"), class_name))


_bp = functools.partial(Entry, "belief_propagation.bp", "BeliefPropagation")
_toulbar2 = functools.partial(Entry, "toulbar2.toulbar2", "Toulbar2", needs="pytoulbar2")
_dabp = functools.partial(Entry, "dabp", "Dabp")

SOLVERS: dict[str, Entry] = {
    "bp": _bp("min-sum belief propagation, exact on forests"),
    "dbp": _bp("damped BP (λ = 0.9), the paper's DBP", {"damping": 0.9}),
    "dbp-scfg": _bp("damped BP on the split factor graph, the paper's DBP-SCFG", {"damping": 0.9, "split_ratio": 0.95}),
    "bp-reinforced": _bp(
        "reinforced BP: beliefs slowly freeze into an assignment; the best on large problems",
        {"damping": 0.2, "reinforcement": 1e-4},
    ),
    "bp-learned": Entry(
        "belief_propagation.learned",
        "LearnedBeliefPropagation",
        "BP at a falling temperature, whose schedule is learned over families of problems and while solving",
    ),
    "gat-pcm-lns": Entry(
        "gat_pcm.search",
        "GatPcmLns",
        "large neighbourhood search with a pretrained cost model, the paper's GAT-PCM-LNS",
    ),
    "auto": Entry("auto", "Auto", "the best answer for the time there is: several solvers that share what they find"),
    "neighbourhood": Entry(
        "elimination.neighbourhood",
        "Neighbourhood",
        "large neighbourhood search on sets of bounded elimination width, solved exactly",
    ),
    "expansion": Entry(
        "graph_cut.expansion",
        "Expansion",
        "expansion and fusion moves by minimum cuts; for images and other problems with binary factors",
    ),
    "dual": Entry(
        "dual.message_passing", "Dual", "a lower bound by message passing on the LP dual, and assignments read from it"
    ),
    "dual-branching": Entry(
        "dual.branching",
        "BranchingDual",
        "the dual, and branch and bound by passes where its relaxation leaves a gap; for binary factors",
    ),
    "linear-relaxation": Entry(
        "linear.relaxation",
        "LinearRelaxation",
        "the linear relaxation, by HiGHS: a bound and a start",
        needs="highspy",
    ),
    "semidefinite": Entry(
        "semidefinite.semidefinite",
        "Semidefinite",
        "the semidefinite bound on quadratic functions of two-valued variables (max-cut, QUBO), and roundings of it",
    ),
    "assignment": Entry(
        "assignment.assignment",
        "AssignmentBound",
        "assignment bounds, and branch and bound by them, where variables must all differ (quadratic assignment)",
    ),
    "mbe": Entry(
        "elimination.mini_bucket", "MiniBucketElimination", "mini-bucket elimination, exact on narrow problems"
    ),
    "annealing": Entry(
        "local_search.annealing", "Annealing", "heat-bath simulated annealing in cycles of growing length"
    ),
    "annealing-free": Entry(
        "local_search.following_annealing",
        "FollowingAnnealing",
        "annealing of free variables; those defined by others, as partial sums are, follow",
    ),
    "tempering": Entry(
        "local_search.tempering", "Tempering", "parallel tempering: replicas at several temperatures change places"
    ),
    "icm": Entry(
        "local_search.icm", "Icm", "iterated conditional modes: each variable in turn takes its cheapest value"
    ),
    "tabu": Entry(
        "local_search.tabu", "Tabu", "tabu search over all moves, restarted from perturbed and combined incumbents"
    ),
    "robust-tabu": Entry(
        "local_search.robust_tabu",
        "RobustTabu",
        "robust tabu search for quadratic assignment, from combinations of the best permutations",
    ),
    "dsa": Entry(
        "local_search.dsa", "Dsa", "DSA, the distributed stochastic algorithm: all improve at once, by chance"
    ),
    "mgm": Entry("local_search.mgm", "Mgm", "MGM, maximum gain messages: the best of each neighbourhood improves"),
    "mgm2": Entry("local_search.mgm2", "Mgm2", "MGM-2: as MGM, and pairs of neighbours may improve together"),
    "gdba": Entry(
        "local_search.gdba", "Gdba", "GDBA, distributed breakout: as MGM, and what is violated weighs more where stuck"
    ),
    "toulbar2": _toulbar2("toulbar2: exact, branch and bound with soft local consistency"),
    "toulbar2-vns": _toulbar2("toulbar2's variable neighbourhood search", {"mode": "vns"}),
    "toulbar2-incop": _toulbar2("toulbar2 with INCOP local search first", {"mode": "incop"}),
    "toulbar2-pils": _toulbar2("toulbar2 with PILS local search first", {"mode": "pils"}),
    "dabp": _dabp("deep attentive BP: damping and weights learned while solving", {"cost_scale": 50.0}),
    "dabp-heter": _dabp(
        "DABP with uniform weights, damping learned per edge (the paper's DABP_Heter_λ)",
        {"cost_scale": 50.0, "weights": "uniform"},
    ),
    "dabp-homo": _dabp(
        "DABP with uniform weights, one learned damping factor (the paper's DABP_Homo_λ)",
        {"cost_scale": 50.0, "weights": "uniform", "damping": "mean"},
    ),
    "dabp-static": _dabp(
        "DABP that never learns: a new random network each restart", {"cost_scale": 50.0, "learning": False}
    ),
}


ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(("maxsum", "amaxsum", "maxproduct", "minsum", "beliefpropagation", "loopybp", "lbp"), "bp"),
    **dict.fromkeys(("dampedmaxsum", "maxsumad", "dampedbp"), "dbp"),
    **dict.fromkeys(("dpop", "adpop", "bucketelimination", "variableelimination", "minibucket"), "mbe"),
    **dict.fromkeys(("gibbs", "sa", "simulatedannealing", "neal", "dwave", "qubo"), "annealing"),
    **dict.fromkeys(("trws", "mplp", "srmp", "lpdual", "mpbp"), "dual"),
    **dict.fromkeys(("syncbb", "ncbb", "afb", "branchandbound", "cpsat", "ortools", "hbfs", "exact"), "toulbar2"),
    **dict.fromkeys(("lp", "highs", "linear", "linearprogramming", "localpolytope"), "linear-relaxation"),
    **dict.fromkeys(("dba", "breakout"), "gdba"),
    **dict.fromkeys(("dsatuto", "adsa", "mixeddsa"), "dsa"),
    **dict.fromkeys(("coordinatedescent", "greedy", "iteratedconditionalmodes"), "icm"),
    **dict.fromkeys(("tabusearch", "localsearch"), "tabu"),
    **dict.fromkeys(("sdp", "goemanswilliamson", "maxcutsdp", "eigenvalue", "mixing", "biqmac"), "semidefinite"),
    "paralleltempering": "tempering",
    "lns": "neighbourhood",
    "vns": "toulbar2-vns",
    "incop": "toulbar2-incop",
    "pils": "toulbar2-pils",
    "gatpcm": "gat-pcm-lns",
    "portfolio": "auto",
}
"""Name of a method in other tools and papers, in small letters without hyphens → the nearest solver here."""


FORMER = {"forest-lns": "neighbourhood"}
"""Solver of version 0.1 → the solver that replaces it."""


def entry(name: str) -> Entry:
    """The line of a solver, or an error that suggests the nearest name."""
    try:
        return SOLVERS[name]
    except KeyError:
        raise ParameterError(f"there is no solver {name!r}{_hint(name)}") from None


def _hint(name: str) -> str:
    plain = name.lower().replace("_", "-")
    known = ELSEWHERE.get(plain.replace("-", "").replace(" ", ""))
    if plain in FORMER:
        return f"; since version 0.2 {FORMER[plain]!r} does its work"
    if plain in SOLVERS:
        return f"; did you mean {plain!r}?"
    return suggestion(name, SOLVERS) if known is None else f"; nearest to what other tools call that is {known!r}"


def parameters(name: str) -> dict[str, tuple[Any, Any]]:
    """Parameter → (type, default) of a named solver, its preset applied."""
    line = entry(name)
    cls = line.load()
    return {key: (hint, line.preset.get(key, default)) for key, (hint, default) in _declared(cls).items()}


@functools.cache  # evaluating annotations takes longer than many a solve of a stream
def _declared(cls: type[Solver]) -> dict[str, tuple[Any, Any]]:
    hints = typing.get_type_hints(cls)
    return {field.name: (hints[field.name], field.default) for field in dataclasses.fields(cls)}


def make_solver(name: str, params: Mapping[str, Any] | None = None) -> Solver:
    """A solver by name, with parameters as values or as text from a command line."""
    line = entry(name)
    known = parameters(name)
    chosen = dict(line.preset)
    for key, value in (params or {}).items():
        key = key.replace("-", "_")
        if key not in known:
            raise ParameterError(f"solver {name!r} has no parameter {key!r}{suggestion(key, known)}")
        chosen[key] = _converted(name, key, value, known[key][0])
    if line.needs is not None:
        require(line.needs, f"solver {name!r}")
    return line.load()(**chosen)


def _converted(solver: str, key: str, value: Any, hint: Any) -> Any:
    """A value of the declared type: 0 becomes 0.0 where that is a float, as kernels are compiled for it."""
    options = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
    if NoneType in options and (value is None or (isinstance(value, str) and value.lower() in ("none", "null", ""))):
        return None
    for option in (int, float, bool, str):
        if option not in options:
            continue
        try:
            return (_from_text if isinstance(value, str) else _from_value)(value, option)
        except (ValueError, KeyError, OverflowError):
            continue
    wanted = " or ".join(WORDS.get(o, str(o)) for o in options if o is not NoneType)
    shown = repr(value)
    raise ParameterError(f"parameter {key!r} of solver {solver!r} is {wanted}, not {shown[:60]}")


def _from_text(text: str, option: type) -> Any:
    """The text of a command line as a value; `ValueError` or `KeyError` if it is none."""
    if option is bool:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
    return _from_value(option(text), option)


def _from_value(value: Any, option: type) -> Any:
    """A number, NumPy's too, of the declared type; `ValueError` or `OverflowError` if it is none."""
    if option is float and isinstance(value, Real):
        return float(value)
    if option is int and (isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())):
        return max(-LARGEST, min(int(cast(int, value)), LARGEST))
    if isinstance(value, option) or (option is bool and isinstance(value, np.bool_)):
        return option(value)
    raise ValueError
