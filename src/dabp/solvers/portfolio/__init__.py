"""The portfolio behind `auto`.

Reading order: solver (what is chosen) → narrow (exact elimination) or search (the rest) → crew (threads) → member (runs
and slices) → bandit (who is next) → kinds (what there is) → prover (toulbar2) → incumbent (what is shared).
"""

from dabp.solvers.portfolio.solver import Portfolio

__all__ = ["Portfolio"]
