"""`auto`: several public solvers that share what they find.

Reading order: solver (what is chosen) → exact_parts (elimination of what is narrow) → features (the kind of problem) →
members (the table) → line_up (which of them take part) → portfolio (the loop), timed_search and counted_search (its
two limits) → slices (a member at work) → incumbent (what is shared) → prover (toulbar2). `solvers.scheduler` chooses
the next member.
"""

from dabp.solvers.auto.solver import Auto

__all__ = ["Auto"]
