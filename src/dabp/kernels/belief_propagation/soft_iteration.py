"""The fused iteration at a finite temperature, whole or a stage of it for one thread's share."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.belief_propagation.iteration import MANY_CHANGES, note_cost, price_all, verdict
from dabp.kernels.belief_propagation.layout import Ints, Layout
from dabp.kernels.belief_propagation.memory import CURRENT, ITERATIONS, RUNNING, Memory, Rules
from dabp.kernels.belief_propagation.min_sum import hear_pairs, price_moved, send_many, update_variables
from dabp.kernels.belief_propagation.soft import Room, Softness, soft_many, soft_pairs, soften, weigh
from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import Lanes

SOFTEN, SEND, UPDATE = 1, 2, 4
"""Stages of an iteration: weights of tables and v2f messages, f2v messages, and what follows them."""


class Course(NamedTuple):
    """What changes from iteration to iteration: place 0 is the one before the first, which the memory is as after."""

    beta: NDArray[np.float64]
    """Inverse temperature over ln 2, in scaled units of cost; infinite = min-sum."""
    gain: NDArray[np.float64]
    """Of reinforcement; negative = none."""
    damping: NDArray[np.float64]
    """Of every edge; negative = each edge keeps its own."""


class Share(NamedTuple):
    """Which part of each stage is to be done."""

    span: Ints
    """[3, 2]: ranges of higher factors, of variables and of numbers of tables."""
    room: Room
    """For one factor of higher arity."""


@array_kernel
def iterate_softly(
    layout: Layout,
    memory: Memory,
    rules: Rules,
    soft: Softness,
    course: Course,
    share: Share,
    stages: int,
    lanes: Lanes,
    trace: Any,
) -> tuple[int, int]:
    """`iterate` at a finite temperature: iterations until `trace` is full or the rules end them; how many, and why."""
    span = share.span
    for t in range(1, len(trace) + 1):
        c = course.beta[t]
        hard = c == np.inf
        if stages & SOFTEN and not hard:
            if c != course.beta[t - 1]:
                soften(layout, soft, c, lanes, span[2, 0], span[2, 1])
            weigh(layout, memory, soft, c, lanes, span[1, 0], span[1, 1])
        if stages & SEND and hard:
            for i in range(span[1, 0], span[1, 1]):
                hear_pairs(layout, memory.v2f, memory.f2v, 0, lanes, i)
            send_many(layout, memory, share.room.values, lanes, span[0, 0], span[0, 1])
        elif stages & SEND:
            soft_pairs(layout, memory, soft, c, lanes, span[1, 0], span[1, 1])
            soft_many(layout, memory, soft, c, share.room, lanes, span[0, 0], span[0, 1])
        if stages & UPDATE:
            if course.damping[t] != course.damping[t - 1]:
                memory.damping[:] = course.damping[t]
            memory.counts[ITERATIONS] += 1
            change, changed = update_variables(layout, memory, course.gain[t], lanes, span[1, 0], span[1, 1])
            if MANY_CHANGES * changed > len(layout.variables.domain):
                price_all(layout.exact, memory, span[1, 0], len(memory.priced))
            elif changed > 0:
                price_moved(layout.exact, memory, span[1, 0], span[1, 1])
            note_cost(memory, rules, changed)
            trace[t - 1] = memory.costs[CURRENT]
            why = verdict(memory, rules, float(change))
            if why != RUNNING:
                return t, why
    return len(trace), RUNNING
