"""The tests of ``src/dabp/a/b.py`` are in ``tests/a/test_b.py``: a module's name says where to look."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "dabp"

ELSEWHERE = {
    "__main__": "cli/test_cli",  # a call of the command line
    "kernels/belief_propagation/layout": "graph/test_message_layout",
    "kernels/belief_propagation/memory": "solvers/belief_propagation/test_engine",
    "kernels/compilation": "kernels/test_cold_and_warm",
    "kernels/cost_model/columns": "kernels/cost_model/test_cost_model",
    "kernels/decorators": "kernels/test_cold_and_warm",
    "kernels/dual/certificate": "solvers/dual/test_solver",
    "kernels/dual/passes": "solvers/dual/test_solver",
    "kernels/elementary": "kernels/belief_propagation/test_min_sum",
    "kernels/elimination/forest": "solvers/belief_propagation/test_forest",
    "kernels/elimination/living_factors": "presolve/test_elimination",
    "kernels/elimination/mini_bucket": "solvers/elimination/test_mini_bucket",
    "kernels/elimination/mini_bucket_plan": "solvers/elimination/test_mini_bucket",
    "kernels/elimination/ordering": "graph/test_ordering",
    "kernels/elimination/small_degree": "presolve/test_elimination",
    "kernels/local_search/columns": "kernels/local_search/test_local_costs",
    "kernels/local_search/compilation": "kernels/test_cold_and_warm",
    "kernels/presolve/cliques": "presolve/test_joining",
    "kernels/presolve/components": "graph/test_components",
    "kernels/presolve/consistency": "presolve/test_consistency",
    "kernels/presolve/dominance": "presolve/test_dominance",
    "kernels/presolve/tables": "presolve/test_sharing",
    "solvers/dabp/backend": "solvers/dabp/test_backend_cpu",
    "solvers/dabp/messages": "solvers/dabp/test_backend_torch",
    "solvers/dual/pairs": "kernels/dual/test_pairs",
    "solvers/dual/passes": "solvers/dual/test_solver",
    "solvers/gat_pcm/subtree": "solvers/gat_pcm/test_search",
    "solvers/local_search/table": "solvers/local_search/test_local_costs",
    "solvers/portfolio/cold_search": "solvers/portfolio/test_solver",
    "solvers/portfolio/warming": "solvers/portfolio/test_solver",
    "solvers/toulbar2/child": "solvers/toulbar2/test_solver",
}
"""Modules without a test file of their name, and the one that tests them: compiled code is tested by what calls it."""

CROSSING = {
    "driver/test_proofs": "proofs of all solvers, by kind of cost",
    "experiments/test_browser": "the report in a browser, which few machines have",
    "formats/test_fuzz": "all readers",
    "formats/test_hostile": "all readers",
    "formats/test_instances": "all readers on real files",
    "formats/test_malformed": "all readers",
    "formats/test_round_trips": "all readers and writers",
    "kernels/test_cold_and_warm": "compiling, whatever is compiled",
    "solvers/dabp/test_fidelity": "DABP against the authors' program",
    "solvers/test_contract": "all solvers",
}
"""Test files named after no module, and what they are about."""

ROOMS = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__")
MODULES = sorted(
    module
    for module in (path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py"))
    if not module.endswith("__init__")
)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_tests_where_its_name_says(module: str) -> None:
    """A file with at least one test in it; or another that is named, which no longer stands once there is one."""
    path = TESTS / Path(module).parent / f"test_{Path(module).name}.py"
    assert path.is_file() != (module in ELSEWHERE), f"src/dabp/{module}.py has no {path.relative_to(TESTS.parent)}"
    found = TESTS / f"{ELSEWHERE[module]}.py" if module in ELSEWHERE else path
    assert "\ndef test_" in found.read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ROOMS)
def test_a_test_file_is_named_after_what_it_tests(room: str) -> None:
    """A module of its room, or the room itself; what crosses modules is listed."""
    for path in (TESTS / room).rglob("test_*.py"):
        place = path.relative_to(TESTS).with_suffix("")
        module = place.with_name(place.name.removeprefix("test_"))
        names_its_room = module.name == module.parent.name
        assert (SOURCE / module).with_suffix(".py").is_file() or names_its_room or place.as_posix() in CROSSING, place


def test_exceptions_are_still_there() -> None:
    """A list of what no longer exists would excuse whatever comes next."""
    assert all((SOURCE / f"{module}.py").is_file() for module in ELSEWHERE)
    assert all((TESTS / f"{name}.py").is_file() for name in CROSSING)
