"""The portfolio behind `auto`.

Reading order: solver (what is chosen) → plan (every number that decides who runs when) → exact_parts (elimination of
what is narrow) → timed_search or counted_search (the rest, limited by time or by iterations) → workers (threads) →
member (runs and slices) → bandit (who is next) → kinds (what there is) → prover (toulbar2) → incumbent (what is
shared) → explain (the notes).
"""

from dabp.solvers.auto.solver import Auto

__all__ = ["Auto"]
