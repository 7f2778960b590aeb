"""Deep attentive belief propagation (paper §3).

solver.py has the parameters, search.py Alg. 1, messages.py one iteration, network.py the network, loss.py what it
learns from; operations.py the heavy parts in PyTorch, compiled.py the same in compiled kernels.
"""

from dabp.solvers.dabp.solver import Dabp

__all__ = ["Dabp"]
