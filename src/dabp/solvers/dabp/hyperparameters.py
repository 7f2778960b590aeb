"""Deep attentive belief propagation: parameters of the solver (paper §3 and §4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.stopped import NotPrepared, Stopped


@dataclass(frozen=True, kw_only=True)
class Dabp(Solver):
    """Belief propagation whose damping factors and weights a network infers and learns online, on the problem itself.

    Parameters
    ----------
    restarts
        R. The network, its optimiser and the incumbent live across restarts, messages and GRU states do not.
    max_iterations_per_restart
        T_max, iterations of a restart.
    update_interval
        T_upd, iterations of a window, after which the network is updated.
    network_interval
        The network infers λ and w in every `network_interval`-th iteration of a window, from its first; they stay in
        between. 1 is the paper's; with T_upd the network runs once a window, and an iteration costs a fraction.
    effective_iterations
        T_eff, how many of a window's iterations the loss averages: the best, without the first.
    learning_rate, weight_decay
        Of AdamW.
    learning
        If false the network is never updated; each restart then draws a new one, as it would repeat the last otherwise.
    weights
        "learned", or "uniform" (every other factor of a variable counts the same).
    damping
        "edge" (one factor per variable and factor), or "mean" (their mean for all).
    heads
        K, heads of the last attention.
    split_ratio
        Every factor of arity 2 or more is split in two copies with this and the remaining share of its costs.
    cost_scale
        Costs are divided by this; by default half the median positive finite range of the factors.
    tolerance
        A restart ends when no v2f message changed by more than this, in scaled units; or when costs settled.
    dtype
        "float32" or "float64".
    backend
        "compiled" (kernels on the CPU), or "plain" (PyTorch, one function for each equation of the paper).
    device
        "cpu", or with backend=plain a device of PyTorch, such as "cuda" for a graphics card.
    """

    checkpoints: ClassVar[bool] = True
    prefixes: ClassVar[bool] = True

    restarts: int = 20
    max_iterations_per_restart: int = 1000
    update_interval: int = 20
    network_interval: int = 1
    effective_iterations: int = 2
    learning_rate: float = 1e-4
    weight_decay: float = 5e-5
    learning: bool = True
    weights: str = "learned"
    damping: str = "edge"
    heads: int = 4
    split_ratio: float | None = 0.95
    cost_scale: float | None = None
    tolerance: float = 1e-4
    dtype: str = "float32"
    backend: str = "compiled"
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name in ("restarts", "max_iterations_per_restart", "effective_iterations", "network_interval", "heads"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.update_interval <= self.effective_iterations:
            raise ParameterError(
                f"effective_iterations must be below update_interval={self.update_interval}, as the first iteration of "
                f"a window gives no loss, got {self.effective_iterations}"
            )
        for name in ("learning_rate", "weight_decay", "tolerance"):
            if not 0 <= getattr(self, name) <= 1e30:  # what float32 can hold
                raise ParameterError(f"{name} must be 0 to 1e+30, got {getattr(self, name)}")
        if self.heads > 1024:
            raise ParameterError(f"heads must be at most 1024, got {self.heads}")
        for name, words in (
            ("weights", ("learned", "uniform")),
            ("damping", ("edge", "mean")),
            ("dtype", ("float32", "float64")),
            ("backend", ("compiled", "plain")),
        ):
            if getattr(self, name) not in words:
                raise ParameterError(f"{name} must be {' or '.join(words)}, got {getattr(self, name)!r}")
        if self.split_ratio is not None and not 0 < self.split_ratio < 1:
            raise ParameterError(f"split_ratio must lie between 0 and 1, got {self.split_ratio}")
        if self.cost_scale is not None and not self.cost_scale > 0:
            raise ParameterError(f"cost_scale must be positive, got {self.cost_scale}")
        if self.device != "cpu" and self.backend != "plain":
            raise ParameterError(
                f"device {self.device!r} needs backend=plain: the compiled kernels run on the CPU, device=cpu"
            )

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with a fresh network; an initial assignment is not used, messages start at zero."""
        from dabp.solvers.dabp.alg1 import DabpSearch  # loads Numba, which naming a solver must not

        if self.backend == "plain":
            check_device(self.device)
        try:
            return DabpSearch(self, problem, seed, budget)
        except Stopped as reason:
            return NotPrepared("DABP", reason)


def check_device(name: str) -> None:
    """Refuse what PyTorch does not find here, PyTorch itself included."""
    try:
        import torch
    except ImportError:
        raise ParameterError("backend=plain needs PyTorch: pip install 'dabp[torch]' installs it") from None
    try:
        torch.empty(0, device=torch.device(name))
    except (RuntimeError, AssertionError):
        kind = name.partition(":")[0]
        raise ParameterError(
            f"device {name!r} cannot be used: PyTorch finds no {'GPU' if kind == 'cuda' else 'such device'} here; "
            "device=cpu always works"
        ) from None
