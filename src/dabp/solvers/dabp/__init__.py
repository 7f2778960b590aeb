"""Deep attentive belief propagation (paper §3).

hyperparameters.py has the parameters, alg1.py Algorithm 1. plain.py computes Eq. 7-16 in PyTorch, one function for
each equation: read it first. compiled.py computes the same on the CPU with kernels and a tape (operations.py).
"""

from dabp.solvers.dabp.hyperparameters import Dabp

__all__ = ["Dabp"]
