"""Online learning while propagating beliefs (paper Alg. 1)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from dabp.graph import FactorGraph
from dabp.kernels.attention.weight_range import weight_range
from dabp.problem import Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, State, Step
from dabp.solvers.dabp.compiled import CompiledOperations
from dabp.solvers.dabp.loss import Loss, theorem1_bound
from dabp.solvers.dabp.messages import Iteration, Messages, Propagation
from dabp.solvers.dabp.network import Network
from dabp.solvers.dabp.operations import Operations, TorchOperations
from dabp.solvers.dabp.optimizer import AdamW
from dabp.solvers.dabp.structure import Structure, tensor
from dabp.solvers.dabp.window import Window
from dabp.solvers.status import Status

if TYPE_CHECKING:
    from dabp.solvers.dabp.solver import Dabp

ACTIVATION_BYTES = 2**29
"""A window that would keep more than this for its backward pass keeps messages and states only."""
KEPT_PER_NODE = 160
"""Numbers kept per node and iteration otherwise, about."""

_NETWORK_STREAM = 0xDA


class DabpSearch(Search):
    """A running DABP: the network and its optimiser, messages, and where in Alg. 1 it stands."""

    def __init__(self, solver: Dabp, problem: Problem, seed: int, budget: Budget, device: torch.device):
        self.solver, self.problem, self.seed, self.budget = solver, problem, seed, budget
        graph = FactorGraph.from_problem(
            problem, solver.split_ratio, np.dtype(solver.dtype), cost_scale=solver.cost_scale, seed=seed
        )
        self.structure = Structure.from_graph(graph, problem)
        self.operations: Operations = (
            CompiledOperations(self.structure, budget.threads)
            if device.type == "cpu"
            else TorchOperations(self.structure, device)
        )
        self.device = device
        kept = self.structure.num_nodes * KEPT_PER_NODE * graph.dtype.itemsize * solver.update_interval
        self.propagation = Propagation(
            self.structure, self.operations, device, solver.weights, solver.damping, recompute=kept > ACTIVATION_BYTES
        )
        self.loss = Loss(self.structure, device)
        nullary = np.flatnonzero(problem.arities == 0).tolist()
        self.loss_constant = problem.constant + sum(float(problem.cells(f)[0]) for f in nullary)
        self.network = self._new_network(0)
        self.optimizer = self._new_optimizer()
        self.messages: Messages = self.propagation.start()
        self.restart = 0
        self.t = 0
        """Iterations of this restart."""
        self.windows = 0
        self.iterations = 0
        self.window: Window | None = None
        self.length = 0
        """Iterations of this window."""
        self.before: Messages = self.messages

    @property
    def learns(self) -> bool:
        """Whether the network is updated after this window: only after full ones."""
        return self.solver.learning and self.length == self.solver.update_interval

    @property
    def at_boundary(self) -> bool:
        """Between windows: the graph of a window's gradients is not saved."""
        return self.window is None

    def step(self) -> Step:
        """A block of iterations; with the last one of a window also the update (Alg. 1, lines 5-13)."""
        if torch.get_num_threads() != 1:
            # Operations are small: PyTorch's threads would mostly wait for each other, on a busy machine for long.
            # The kernels have their own (Budget.threads), on which results do not depend.
            torch.set_num_threads(1)
        if self.structure.num_edges == 0:
            return self._without_factors()
        window = self.window or self._open()
        first, learns = len(window), self.learns
        end = time.perf_counter() + BLOCK_SECONDS
        limit = self.budget.max_iterations
        with torch.set_grad_enabled(learns):
            while True:
                self.before = self.messages
                made = self.propagation.iterate(self.messages, window.weights)
                self.messages = made.messages
                window.add(made.beliefs)
                self.t += 1
                self.iterations += 1
                if len(window) == self.length or time.perf_counter() >= end or self.iterations == limit:
                    break
        costs = window.look_up()
        best = int(np.argmin(costs))
        step = Step(costs=costs)
        if np.isfinite(costs[best]):
            step.best = window.assignments[first + best]
            step.best_cost = self.problem.cost(step.best)
        if len(window) == self.length:
            self._close(window, made, learns, step)
        return step

    def _open(self) -> Window:
        """Begin a window, and with the first one of a restart zero messages (line 3)."""
        solver = self.solver
        if self.t == 0:
            self.messages = self.propagation.start()
            if not solver.learning and self.restart > 0:
                self.network = self._new_network(self.restart)
        self.messages = self.messages.detached()
        self.length = min(solver.update_interval, solver.max_iterations - self.t)
        with torch.set_grad_enabled(self.learns):
            self.window = Window(self.problem, self.network.weights())
        return self.window

    def _close(self, window: Window, made: Iteration, learns: bool, step: Step) -> None:
        """Update the network from a full window (lines 10-12), and end the restart if it converged (line 13)."""
        solver = self.solver
        effective = window.effective(solver.effective_iterations)
        loss = None
        if effective:
            with torch.set_grad_enabled(learns):
                loss = window.loss(effective, self.loss)
            if learns:
                loss.backward()  # type: ignore[no-untyped-call]
                self.optimizer.step()
        self.messages, self.before = self.messages.detached(), self.before.detached()
        moved = float((self.messages.v2f - self.before.v2f).abs().max())
        step.records.append(self._record(window, made, effective, None if loss is None else float(loss.detach())))
        self.window = None
        self.windows += 1
        if self.t >= solver.max_iterations or moved < solver.tolerance or window.settled:
            converged = moved < solver.tolerance
            step.records[-1] |= {"iterations": self.t, "converged": converged, "settled": window.settled}
            self.restart, self.t = self.restart + 1, 0
            if self.restart == solver.restarts:
                step.finished = Status.CONVERGED

    @torch.no_grad()
    def _record(self, window: Window, made: Iteration, effective: list[int], loss: float | None) -> dict[str, Any]:
        """What the trace keeps of a window; costs in the problem's units, the loss in scaled ones."""
        record: dict[str, Any] = {
            "window": self.windows,
            "restart": self.restart,
            "iteration": self.iterations,
            "loss": loss,
        }
        if effective:
            best = effective[0]
            chances = self.loss.probabilities(window.beliefs[best].detach())
            own = chances.gather(1, torch.from_numpy(window.assignments[best])[:, None].to(chances.device))
            finite = bool(np.isfinite(self.problem.pool).all())
            smoothed = float(self.loss.smoothed_cost(chances)) * self.structure.graph.cost_scale
            record["smoothed_cost"] = smoothed + self.loss_constant
            bound = theorem1_bound(self.problem, window.assignments[best], own[:, 0].double().cpu().numpy())
            record["bound_theorem1"] = bound if finite else None
            record["cost"] = float(window.costs[best]) if np.isfinite(window.costs[best]) else None
        damping = self.propagation.effective_damping(made.damping)
        graph, structure = self.structure.graph, self.structure
        low, high = 1.0, 1.0
        if self.solver.weights == "learned":
            query, key = made.query.detach().cpu().numpy(), made.key.detach().cpu().numpy()
            edges = (graph.variable_edge_offsets, graph.variable_edges, structure.edge_factor)
            low, high = weight_range(*edges, query, key)
        if len(damping):
            record |= {f"damping_{name}": float(getattr(damping, name)()) for name in ("min", "mean", "max")}
        return record | {"weight_min": float(low), "weight_mean": 1.0, "weight_max": float(high)}

    def _without_factors(self) -> Step:
        """Nothing but unary costs: each variable takes its cheapest value."""
        values = self.propagation.unary.argmin(1).cpu().numpy()
        cost = self.problem.cost(values)
        feasible = bool(np.isfinite(cost))
        self.iterations += 1
        return Step(np.array([cost]), values if feasible else None, cost, finished=Status.CONVERGED)

    def _new_network(self, draw: int) -> Network:
        source = torch.Generator().manual_seed(int(generator(self.seed, _NETWORK_STREAM, draw).integers(2**62)))
        network = Network(self.structure, self.solver.heads, source, self.device)
        return network.to(getattr(torch, self.solver.dtype))

    def _new_optimizer(self) -> AdamW:
        return AdamW(dict(self.network.named_parameters()), self.solver.learning_rate, self.solver.weight_decay)

    def state_dict(self) -> State:
        """Parameters, optimiser, messages, GRU states, and where in Alg. 1 it stands."""
        arrays: dict[str, Tensor] = {f"parameter.{name}": value for name, value in self.network.named_parameters()}
        arrays |= {f"mean.{name}": value for name, value in self.optimizer.mean.items()}
        arrays |= {f"square.{name}": value for name, value in self.optimizer.square.items()}
        arrays |= {f"messages.{name}": value for name, value in vars(self.messages).items()}
        return {
            **{name: value.detach().cpu().numpy().copy() for name, value in arrays.items()},
            "updates": self.optimizer.steps,
            "restart": self.restart,
            "t": self.t,
            "windows": self.windows,
            "iterations": self.iterations,
        }

    def load_state_dict(self, state: State) -> None:
        """Continue where `state_dict` was taken."""
        self.restart, self.t, self.windows = state["restart"], state["t"], state["windows"]
        self.iterations, self.optimizer.steps = state["iterations"], state["updates"]
        with torch.no_grad():
            for prefix, tensors in (
                ("parameter", dict(self.network.named_parameters())),
                ("mean", self.optimizer.mean),
                ("square", self.optimizer.square),
            ):
                for name, value in tensors.items():
                    value.copy_(torch.from_numpy(np.array(state[f"{prefix}.{name}"])))
        restored = {name: tensor(state[f"messages.{name}"], self.device) for name in vars(self.messages)}
        self.messages = Messages(**restored)
        self.window = None

    def close(self) -> None:
        """End the kernels' threads."""
        if isinstance(self.operations, CompiledOperations):
            self.operations.close()
