"""The tests of ``src/dabp/a/b.py`` are in ``tests/a/test_b.py``: a module's name says where to look."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "dabp"

ELSEWHERE = {
    "__main__": "cli/test_cli",  # a call of the command line
    "cli/lab": "cli/test_cli",
    "kernels/assignment/pairs": "solvers/assignment/test_relaxation",
    "kernels/attention/attentive_messages": "solvers/dabp/test_compiled",
    "kernels/attention/dense": "solvers/dabp/test_compiled",
    "kernels/attention/gated_units": "solvers/dabp/test_compiled",
    "kernels/attention/hub_attention": "solvers/dabp/test_compiled",
    "kernels/attention/one_variable": "solvers/dabp/test_compiled",
    "kernels/belief_propagation/message_arrays": "graph/test_message_layout",
    "kernels/belief_propagation/pair_layout": "kernels/belief_propagation/test_min_sum",
    "kernels/compiler": "kernels/test_cache",
    "kernels/decorators": "kernels/test_cache",
    "kernels/dual/certificate": "solvers/dual/test_message_passing",
    "kernels/dual/passes": "solvers/dual/test_message_passing",
    "kernels/elimination/forest": "solvers/belief_propagation/test_exact_forest",
    "kernels/elimination/free_set": "kernels/elimination/test_conditioned_minimum",
    "kernels/elimination/living_factors": "presolve/test_elimination",
    "kernels/elimination/mini_bucket": "solvers/elimination/test_mini_bucket",
    "kernels/elimination/mini_bucket_plan": "solvers/elimination/test_mini_bucket",
    "kernels/elimination/ordering": "graph/test_elimination_order",
    "kernels/elimination/small_degree": "presolve/test_elimination",
    "formats/functions": "formats/test_statements",
    "problem/blocks": "problem/test_model",
    "problem/differences": "driver/test_several",
    "problem/globals": "problem/globals/test_globals",  # one folder, one test over all functions
    "solvers/linear": "solvers/linear/test_relaxation",
    "kernels/local_search/search_arrays": "kernels/local_search/test_moves",
    "kernels/local_search/robust_tabu": "solvers/local_search/test_robust_tabu",
    "kernels/local_search/compilation": "kernels/test_cache",
    "kernels/semidefinite/mixing": "solvers/semidefinite/test_proof",
    "kernels/pair_minimum": "kernels/belief_propagation/test_min_sum",
    "kernels/rows": "presolve/test_elimination",
    "kernels/presolve/cliques": "presolve/test_joining",
    "kernels/presolve/union_find": "graph/test_components",
    "kernels/presolve/arc_consistency": "presolve/test_consistency",
    "kernels/presolve/dominated_values": "presolve/test_dominance",
    "kernels/presolve/table_sums": "presolve/test_restriction",
    "solvers/belief_propagation/message_search": "solvers/belief_propagation/test_bp",
    "solvers/auto/member": "solvers/auto/test_members",
    "solvers/every_kernel": "solvers/test_kernel_build",
    "solvers/dabp/folding": "solvers/dabp/test_compiled",
    "solvers/dual/general_passes": "solvers/dual/test_message_passing",
    "presolve/rule": "presolve/test_pipeline",
    "solvers/local_costs/search_table": "kernels/local_search/test_tabu_moves",
    "solvers/toulbar2/child": "solvers/toulbar2/test_toulbar2",
}
"""Modules without a test file of their name, and the one that tests them: compiled code is tested by what calls it."""

MODULES = sorted(
    module
    for module in (path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py"))
    if not module.endswith("__init__")
)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_tests_where_its_name_says(module: str) -> None:
    """A file with at least one test in it, or another that is named above."""
    path = TESTS / Path(module).parent / f"test_{Path(module).name}.py"
    together = Path(module).parent.as_posix()
    found = path if path.is_file() else TESTS / f"{ELSEWHERE.get(module) or ELSEWHERE.get(together, 'none')}.py"
    assert found.is_file(), f"src/dabp/{module}.py has no {path.relative_to(TESTS.parent)}"
    assert "\ndef test_" in found.read_text(encoding="utf-8")


def test_exceptions_are_still_there() -> None:
    """A list of what no longer exists would excuse whatever comes next."""
    assert all((SOURCE / f"{module}.py").is_file() or (SOURCE / module).is_dir() for module in ELSEWHERE)
