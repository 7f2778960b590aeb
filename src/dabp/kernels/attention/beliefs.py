# mypy: disable-error-code="untyped-decorator"
"""Beliefs of variables, unary costs + Σ of the messages from their factors (paper Eq. 15), and their gradient.

Variables are independent, so a range of them is a thread's share; messages are added in the order of the edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.one_variable import VariableEdges
from dabp.kernels.attention.vectors import BLOCK, LANES
from dabp.kernels.decorators import kernel
from dabp.kernels.simd import load, store

Floats = NDArray[np.floating]


@kernel
def beliefs(first: int, last: int, around: VariableEdges, unary: Floats, f2v: Floats, result: Floats) -> None:
    """Write [N, D] for variables first..last − 1."""
    width = result.shape[1]
    for i in range(first, last):
        edges = around.edges[around.offsets[i] : around.offsets[i + 1]]
        if width < BLOCK:
            for x in range(width):
                total = unary[i, x]
                for m in range(len(edges)):
                    total += f2v[edges[m], x]
                result[i, x] = total
        for x in range(0, width if width >= BLOCK else 0, BLOCK):
            begin = min(x, width - BLOCK)  # the last vector ends with the row, and overlaps the one before
            whole = load(unary, i * width + begin, LANES)
            for m in range(len(edges)):
                whole = whole + load(f2v, edges[m] * width + begin, LANES)
            store(result, i * width + begin, whole)


@kernel
def beliefs_backward(first: int, last: int, around: VariableEdges, gradient: Floats, grad_f2v: Floats) -> None:
    """Write [E, D] for the edges of variables first..last − 1."""
    for i in range(first, last):
        own = gradient[i]
        for n in range(around.offsets[i], around.offsets[i + 1]):
            made = grad_f2v[around.edges[n]]
            for x in range(len(own)):
                made[x] = own[x]
