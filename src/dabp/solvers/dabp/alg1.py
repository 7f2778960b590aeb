"""Algorithm 1 of the paper: online learning while propagating beliefs."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import torch
from numpy.typing import NDArray
from torch import Tensor

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, State, Step
from dabp.solvers.dabp.backend import Backend
from dabp.solvers.dabp.backend_cpu import CpuBackend
from dabp.solvers.dabp.backend_torch import TorchBackend
from dabp.solvers.dabp.learned import Inference
from dabp.solvers.dabp.loss import Loss
from dabp.solvers.dabp.messages import Iteration, Messages, Propagation
from dabp.solvers.dabp.network import Network, kept_numbers
from dabp.solvers.dabp.optimizer import AdamW
from dabp.solvers.dabp.record import record_of
from dabp.solvers.dabp.structure import Structure, tensor
from dabp.solvers.dabp.window import Window
from dabp.solvers.status import Status
from dabp.solvers.stopped import ask

if TYPE_CHECKING:
    from dabp.solvers.dabp.solver import Dabp

ACTIVATION_BYTES = 6 * 2**30
"""A window that would keep more than this, or a quarter of the machine's memory, for its backward pass keeps messages
and states only."""

_NETWORK_STREAM = 0xDA


@dataclass
class Place:
    """Where in Algorithm 1 a search stands."""

    restart: int = 0
    t: int = 0
    """Iterations of this restart, counted window by window."""
    windows: int = 0
    iterations: int = 0
    """Of all restarts, counted one by one."""
    skipped: int = 0
    """Windows that were not learned from because their loss, a gradient or a parameter was not finite."""


class DabpSearch(Search):
    """A running DABP: the network and its optimiser, messages, and where in Algorithm 1 it stands."""

    def __init__(self, solver: Dabp, problem: Problem, seed: int, budget: Budget, device: torch.device):
        self.solver, self.problem, self.seed, self.budget, self.device = solver, problem, seed, budget, device
        ask(budget.guard)
        graph = FactorGraph.from_problem(
            problem, solver.split_ratio, np.dtype(solver.dtype), cost_scale=solver.cost_scale, seed=seed
        )
        ask(budget.guard)
        self.structure = Structure.from_graph(graph, problem)
        ask(budget.guard)
        compiled = device.type == "cpu" and graph.dtype == np.float32  # the only precision worth compiling ahead
        self.backend: Backend = (
            CpuBackend(self.structure, budget.threads) if compiled else TorchBackend(self.structure, device)
        )
        kept = kept_numbers(self.structure) * graph.dtype.itemsize * solver.update_interval
        self.inference = Inference(self.structure, self.backend, device, solver.weights, solver.damping)
        self.propagation = Propagation(
            self.structure,
            self.backend,
            device,
            self.inference,
            recompute=kept > min(ACTIVATION_BYTES, psutil.virtual_memory().total // 4),
        )
        ask(budget.guard)
        self.loss = Loss(self.structure, device)
        self.network = self._new_network(0)
        parameters = dict(self.network.named_parameters())
        self.optimizer = AdamW(parameters, solver.learning_rate, solver.weight_decay)
        self.messages = self.propagation.start()
        self.place = Place()
        self._deadline = 0.0
        self._at_border = True
        self._steps = self._algorithm1() if self.structure.num_edges else self._without_factors()

    @property
    def at_boundary(self) -> bool:
        """Between windows: the graph of a window's gradients is not saved."""
        return self._at_border

    def step(self) -> Step:
        """A block of iterations; with the last one of a window also the update."""
        if torch.get_num_threads() != 1:
            # Operations are small: PyTorch's threads would mostly wait for each other, on a busy machine for long.
            # The kernels have their own (Budget.threads), on which results do not depend.
            torch.set_num_threads(1)
        self._deadline = time.perf_counter() + BLOCK_SECONDS
        self._at_border = False
        return next(self._steps)

    def _algorithm1(self) -> Iterator[Step]:
        """Algorithm 1 from the window's border where `place` stands, a `Step` each block and each window.

        Comments give the paper's lines. τ* (lines 1, 9 and 14) is the driver's, to whom each step tells its best.
        Within an iteration the order is the authors' program's: lines 7 and 8, from the v2f messages before, then 5
        and 6. Line 13 also ends a restart when the costs of a window have settled, as their program does. A window
        that convergence cuts short is learned from too: the next restart would repeat this one otherwise.
        """
        solver, place = self.solver, self.place
        for restart in range(place.restart, solver.restarts):  # line 2
            for begin in range(place.t, solver.max_iterations_per_restart, solver.update_interval):
                if begin == 0:
                    self._begin_restart(restart)  # line 3
                window = self._window(begin)
                while True:  # line 4, the iterations of a window
                    made, change = self._iterate(window)  # lines 5 to 8
                    converged = change < solver.tolerance
                    if window.full or converged:
                        break
                    if time.perf_counter() >= self._deadline or place.iterations == self.budget.max_iterations:
                        yield window.block()
                step = window.block()
                effective = window.effective(solver.effective_iterations)  # line 11
                loss = self._update(window, effective)  # lines 10 and 12
                self._record(step, window, effective, loss, made)
                place.t, place.windows = begin + len(window.costs), place.windows + 1
                settled = window.settled
                ended = converged or settled or place.t == solver.max_iterations_per_restart
                if ended:
                    step.records[-1] |= {"iterations": place.t, "converged": converged, "settled": settled}
                    place.restart, place.t = restart + 1, 0
                    if place.restart == solver.restarts:
                        alone = solver.restarts == 1 and (converged or settled)
                        step.finished = Status.CONVERGED if alone else Status.LIMIT
                self._at_border = True
                yield step
                if ended:
                    break  # line 13

    def _begin_restart(self, restart: int) -> None:
        """Zero messages and GRU states; a new network if it does not learn, as it would repeat the last otherwise."""
        self.messages = self.propagation.start()
        if not self.solver.learning and restart > 0:
            self.network = self._new_network(restart)

    def _window(self, begin: int) -> Window:
        """The window from iteration `begin` of the restart; only full ones of T_upd iterations are learned from."""
        solver = self.solver
        length = min(solver.update_interval, solver.max_iterations_per_restart - begin)
        self.messages = self.messages.detached()
        return Window(self.problem, self.network, length, solver.learning and length == solver.update_interval)

    def _iterate(self, window: Window) -> tuple[Iteration, float]:
        """One iteration, and the largest change of a v2f message in it."""
        before = self.messages.v2f
        with torch.set_grad_enabled(window.learns):
            asked = len(window.beliefs) % self.solver.network_interval == 0
            made = self.propagation.iterate(self.messages, window.network, None if asked else window.learned)
        self.messages, window.learned = made.messages, made.learned
        window.add(made.beliefs)
        self.place.iterations += 1
        return made, self.backend.change(before.detach(), made.messages.v2f.detach())

    def _update(self, window: Window, effective: list[int]) -> float | None:
        """θ ← AdamW(θ, ∇L(θ)) if the window is learned from; the loss L of Eq. 16, if there is one.

        Where the loss, a gradient or a new parameter is not finite, θ and the optimiser stay as they are.
        """
        self.messages = self.messages.detached()
        if not effective:
            return None
        loss = window.loss(effective, self.loss)
        value = float(loss.detach())
        if window.learns:
            if math.isfinite(value):
                loss.backward()  # type: ignore[no-untyped-call]
                window.skipped = not self.optimizer.step()
            else:
                window.skipped = True
            self.place.skipped += window.skipped
        return value

    def _record(self, step: Step, window: Window, effective: list[int], loss: float | None, made: Iteration) -> None:
        place = self.place
        where: dict[str, Any] = {"window": place.windows, "restart": place.restart, "iteration": place.iterations}
        where["loss"] = loss if loss is not None and math.isfinite(loss) else None
        if window.skipped:
            where["skipped"] = True
        facts = record_of(window, effective, self.loss, made.learned, self.inference, self.structure)
        step.records.append(where | facts)

    def summary(self) -> tuple[str, ...]:
        """Says if updates were left out."""
        if not self.place.skipped:
            return ()
        return (
            f"{self.place.skipped} of {self.place.windows} windows were not learned from: their loss, a gradient or a "
            "parameter was not finite in "
            f"{self.solver.dtype}",
        )

    def _without_factors(self) -> Iterator[Step]:
        """Nothing but unary costs: each variable takes its cheapest value."""
        values = self.propagation.unary.argmin(1).cpu().numpy()
        cost = float(self.problem.cost(values))
        feasible = bool(np.isfinite(cost))
        self.place.iterations += 1
        self._at_border = True
        yield Step(np.array([cost]), values if feasible else None, cost, finished=Status.CONVERGED)

    def _new_network(self, draw: int) -> Network:
        source = torch.Generator().manual_seed(int(generator(self.seed, _NETWORK_STREAM, draw).integers(2**62)))
        network = Network(self.structure, self.solver.heads, source, self.device)
        return network.to(getattr(torch, self.solver.dtype))

    def _arrays(self) -> dict[str, Tensor]:
        """Every tensor of the state but the messages."""
        arrays: dict[str, Tensor] = {f"parameter.{name}": value for name, value in self.network.named_parameters()}
        arrays |= {f"mean.{name}": value for name, value in self.optimizer.mean.items()}
        return arrays | {f"square.{name}": value for name, value in self.optimizer.square.items()}

    def state_dict(self) -> State:
        """Parameters, optimiser, messages, GRU states, and where in Algorithm 1 it stands."""
        arrays = self._arrays() | {f"messages.{name}": value for name, value in self.messages._asdict().items()}
        copies = {name: value.detach().cpu().numpy().copy() for name, value in arrays.items()}
        return {**copies, "updates": self.optimizer.steps, **asdict(self.place)}

    def load_state_dict(self, state: State) -> None:
        """Continue where `state_dict` was taken."""
        self.place = Place(**{name: state[name] for name in asdict(self.place)})
        self.optimizer.steps = state["updates"]
        with torch.no_grad():
            for name, value in self._arrays().items():
                value.copy_(torch.from_numpy(np.array(state[name])))
        self.messages = Messages(*(tensor(state[f"messages.{name}"], self.device) for name in Messages._fields))
        if self.structure.num_edges:
            self._steps = self._algorithm1()

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages, GRU states, parameters and the optimiser's means."""
        arrays = self._arrays() | self.messages._asdict()
        return {name: value.detach().cpu().numpy() for name, value in arrays.items()}

    def close(self) -> None:
        """End the kernels' threads."""
        self.backend.close()
