"""First messages that lean towards an assignment."""

from __future__ import annotations

from dabp.kernels.belief_propagation.layout import Ints, Reals, Variables
from dabp.kernels.decorators import array_kernel


@array_kernel
def lean(variables: Variables, assignment: Ints, charge: float, v2f: Reals) -> None:
    """v2f messages that charge every value but the assignment's; 0 in padded lanes."""
    for i in range(len(variables.domain)):
        width = variables.unary_start[i + 1] - variables.unary_start[i]
        for message in range(variables.message_start[i], variables.message_start[i + 1], width):
            for value in range(width):
                v2f[message + value] = charge if value < variables.domain[i] else 0.0
            v2f[message + assignment[i]] = 0.0
