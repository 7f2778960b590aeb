"""Compiled union-find on the variables of a problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any


@kernel
def connected_components(num_variables: int, scopes: Array, scope_offsets: Array, label: Array) -> int:
    """Number the connected components by their first variable; fills `label` [N], returns how many there are."""
    parent = np.arange(num_variables)
    for factor in range(len(scope_offsets) - 1):
        for entry in range(scope_offsets[factor] + 1, scope_offsets[factor + 1]):
            a, b = scopes[entry - 1], scopes[entry]
            while parent[a] != a:
                parent[a] = parent[parent[a]]
                a = parent[a]
            while parent[b] != b:
                parent[b] = parent[parent[b]]
                b = parent[b]
            if a < b:
                parent[b] = a
            else:
                parent[a] = b
    count = 0
    for variable in range(num_variables):
        root = variable
        while parent[root] != root:
            root = parent[root]
        parent[variable] = root
        if root == variable:
            label[variable] = count
            count += 1
        else:
            label[variable] = label[root]
    return count
