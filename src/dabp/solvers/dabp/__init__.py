"""Deep attentive belief propagation (paper §3).

solver.py has the parameters, alg1.py Algorithm 1; messages.py one iteration, learned.py what is inferred in it (λ and
w), network.py the network that infers it, loss.py what it learns from. backend_cpu.py and backend_torch.py (GPU) do the
heavy operations that backend.py names.
"""

from dabp.solvers.dabp.solver import Dabp

__all__ = ["Dabp"]
