# mypy: disable-error-code="untyped-decorator"
"""Maximum flow by two growing trees, one from the source and one from the sink, that are mended instead of regrown.

Y. Boykov and V. Kolmogorov, *An experimental comparison of min-cut/max-flow algorithms for energy minimization in
vision*, PAMI 2004. The trees grow until they touch, the path through them is saturated, what that cuts off looks for a
new parent in its tree (`_adopt`) or becomes free, and so on. Terminal arcs are not stored: ``excess[i] > 0`` is what
the source can still send to node i, ``excess[i] < 0`` what i can still send to the sink.

Arcs come in pairs: arc p goes from ``tail`` i (p lies between ``start[i]`` and ``start[i + 1]``) to ``head[p]``, and
``partner[p]`` is the arc back. A node that is not ``alive`` takes no part.

Where few nodes can send to the sink, only its tree grows: it finds every path that there is, and nodes that nothing
leads from to the sink are never looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.decorators import inner, kernel, part

Array = Any

NONE, TERMINAL, ORPHAN = -1, -2, -3
"""What a parent can be besides an arc."""
FREE, SOURCE, SINK = 0, 1, 2
"""Trees."""
OPTIONS = {"_nrt": False}
FEW = 4
"""The source's tree grows too if it has fewer than this many times the sink's roots."""


class Network(NamedTuple):
    """A graph with capacities and the state of the two trees."""

    start: Array
    """The first arc of each node, [N + 1]."""
    head: Array
    """Where each arc leads, [A]."""
    partner: Array
    """The arc back, [A]."""
    capacity: Array
    """What each arc can still take, [A]."""
    excess: Array
    """Above 0: what the source can still send to a node; below: what it can still send to the sink, [N]."""
    alive: Array
    """Which nodes take part, [N]."""
    tree: Array
    """`FREE`, `SOURCE` or `SINK`, [N]."""
    parent: Array
    """The arc from a node to its parent, or `TERMINAL`, `ORPHAN`, `NONE`, [N]."""
    distance: Array
    """Arcs to the terminal, as far as known, [N]."""
    stamp: Array
    """When `distance` was last known to be right, [N]."""
    queue: Array
    """Active nodes in a ring, [N + 1]."""
    queued: Array
    """Whether a node is in the ring, [N]."""
    orphans: Array
    """Nodes that look for a parent, in a ring, [N + 1]."""
    counters: Array
    """[6]: first and end of `queue`, first and end of `orphans`, the time, whether the source's tree grows."""


def network(start: Array, head: Array, partner: Array) -> Network:
    """A network without capacities yet."""
    nodes = len(start) - 1
    return Network(
        start=start,
        head=head,
        partner=partner,
        capacity=np.zeros(len(head)),
        excess=np.zeros(nodes),
        alive=np.zeros(nodes, dtype=np.bool_),
        tree=np.zeros(nodes, dtype=np.int8),
        parent=np.full(nodes, NONE, dtype=np.int64),
        distance=np.zeros(nodes, dtype=np.int64),
        stamp=np.zeros(nodes, dtype=np.int64),
        queue=np.zeros(nodes + 1, dtype=np.int64),
        queued=np.zeros(nodes, dtype=np.bool_),
        orphans=np.zeros(nodes + 1, dtype=np.int64),
        counters=np.zeros(6, dtype=np.int64),
    )


@part(**OPTIONS)
def _activate(net: Network, i: int) -> None:
    """Put a node into the ring of active ones, once, if its tree grows."""
    if not net.queued[i] and (net.counters[5] or net.tree[i] == SINK):
        net.queued[i] = True
        end = net.counters[1]
        net.queue[end] = i
        net.counters[1] = end + 1 if end + 1 < len(net.queue) else 0


@part(**OPTIONS)
def _orphan(net: Network, i: int) -> None:
    """Cut a node off its parent."""
    net.parent[i] = ORPHAN
    end = net.counters[3]
    net.orphans[end] = i
    net.counters[3] = end + 1 if end + 1 < len(net.orphans) else 0


@kernel(**OPTIONS)
def begin(net: Network) -> None:
    """Plant the trees: every living node that has an arc of its own to a terminal."""
    net.counters[:] = 0
    net.counters[4] = 1
    sources, sinks = 0, 0
    for i in range(len(net.alive)):
        sources += net.alive[i] and net.excess[i] > 0.0
        sinks += net.alive[i] and net.excess[i] < 0.0
    net.counters[5] = sources < FEW * sinks
    for i in range(len(net.alive)):
        net.queued[i] = False
        net.parent[i] = NONE
        net.tree[i] = FREE
        net.stamp[i] = 0
        if net.alive[i] and net.excess[i] != 0.0:
            net.tree[i] = SOURCE if net.excess[i] > 0.0 else SINK
            net.parent[i] = TERMINAL
            net.distance[i] = 1
            _activate(net, i)


@inner(**OPTIONS)
def _grow(net: Network, i: int) -> int:
    """Let an active node take its free neighbours; the arc from the source's tree to the sink's if they touch."""
    forward = net.tree[i] == SOURCE
    for p in range(net.start[i], net.start[i + 1]):
        back = net.partner[p]
        if net.capacity[p if forward else back] <= 0.0:
            continue
        j = net.head[p]
        if not net.alive[j]:
            continue
        if net.tree[j] == FREE:
            net.tree[j] = net.tree[i]
            net.parent[j] = back
            net.stamp[j] = net.stamp[i]
            net.distance[j] = net.distance[i] + 1
            _activate(net, j)
        elif net.tree[j] != net.tree[i]:
            return p if forward else back
        elif net.stamp[j] <= net.stamp[i] and net.distance[j] > net.distance[i] + 1:  # a shorter way
            net.parent[j] = back
            net.stamp[j] = net.stamp[i]
            net.distance[j] = net.distance[i] + 1
    return NONE


@inner(**OPTIONS)
def _augment(net: Network, bridge: int) -> None:
    """Send what fits along the path through an arc between the trees."""
    flow = net.capacity[bridge]
    i = net.head[net.partner[bridge]]
    while net.parent[i] != TERMINAL:
        flow = min(flow, net.capacity[net.partner[net.parent[i]]])
        i = net.head[net.parent[i]]
    flow = min(flow, net.excess[i])
    i = net.head[bridge]
    while net.parent[i] != TERMINAL:
        flow = min(flow, net.capacity[net.parent[i]])
        i = net.head[net.parent[i]]
    flow = min(flow, -net.excess[i])
    net.capacity[bridge] -= flow
    net.capacity[net.partner[bridge]] += flow
    i = net.head[net.partner[bridge]]
    while net.parent[i] != TERMINAL:
        up = net.parent[i]
        down = net.partner[up]
        above = net.head[up]
        net.capacity[down] -= flow
        net.capacity[up] += flow
        if net.capacity[down] <= 0.0:
            _orphan(net, i)
        i = above
    net.excess[i] -= flow
    if net.excess[i] <= 0.0:
        _orphan(net, i)
    i = net.head[bridge]
    while net.parent[i] != TERMINAL:
        up = net.parent[i]
        above = net.head[up]
        net.capacity[up] -= flow
        net.capacity[net.partner[up]] += flow
        if net.capacity[up] <= 0.0:
            _orphan(net, i)
        i = above
    net.excess[i] += flow
    if net.excess[i] >= 0.0:
        _orphan(net, i)


@part(**OPTIONS)
def _origin(net: Network, i: int) -> int:
    """Arcs from a node to its terminal, or −1 if the way ends at an orphan; marks what was walked."""
    now = net.counters[4]
    steps, j = 0, i
    while True:
        if net.stamp[j] == now:
            steps += net.distance[j]
            break
        above = net.parent[j]
        if above == TERMINAL:
            net.stamp[j] = now
            net.distance[j] = 1
            steps += 1
            break
        if above < 0:  # an orphan, or free
            return -1
        steps += 1
        j = net.head[above]
    total, j = steps, i
    while net.stamp[j] != now:
        net.stamp[j] = now
        net.distance[j] = steps
        steps -= 1
        j = net.head[net.parent[j]]
    return total


@inner(**OPTIONS)
def _adopt(net: Network) -> int:
    """Find every orphan a new parent that still reaches the terminal, or set it free; returns how many there were."""
    count = 0
    while net.counters[2] != net.counters[3]:
        i = net.orphans[net.counters[2]]
        net.counters[2] = net.counters[2] + 1 if net.counters[2] + 1 < len(net.orphans) else 0
        count += 1
        forward = net.tree[i] == SOURCE
        best, nearest = NONE, len(net.alive) + 2
        for p in range(net.start[i], net.start[i + 1]):
            j = net.head[p]
            if net.tree[j] != net.tree[i] or net.capacity[net.partner[p] if forward else p] <= 0.0:
                continue
            if net.parent[j] == NONE:
                continue
            away = _origin(net, j)
            if 0 <= away < nearest:
                best, nearest = p, away
        if best != NONE:
            net.parent[i] = best
            net.stamp[i] = net.counters[4]
            net.distance[i] = nearest + 1
            continue
        for p in range(net.start[i], net.start[i + 1]):
            j = net.head[p]
            if net.tree[j] != net.tree[i] or net.parent[j] == NONE:
                continue
            if net.capacity[net.partner[p] if forward else p] > 0.0:
                _activate(net, j)
            if net.parent[j] >= 0 and net.head[net.parent[j]] == i:
                _orphan(net, j)
        net.tree[i] = FREE
        net.parent[i] = NONE
    return count


@kernel(**OPTIONS)
def advance(net: Network, work: int) -> bool:
    """Go on for about so many nodes looked at; True when the flow is largest and the trees are the cut's two sides."""
    while net.counters[0] != net.counters[1]:
        i = net.queue[net.counters[0]]
        if net.tree[i] != FREE:
            bridge = _grow(net, i)
            if bridge != NONE:
                net.counters[4] += 1
                _augment(net, bridge)
                work -= 4 + _adopt(net)
                if work < 0:
                    return False
                continue  # it may touch in other places too
        net.queued[i] = False
        net.counters[0] = net.counters[0] + 1 if net.counters[0] + 1 < len(net.queue) else 0
        work -= 1
        if work < 0:
            return False
    return True
