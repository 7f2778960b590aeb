# mypy: disable-error-code="untyped-decorator"
"""Maximum flow by two growing trees, one from the source and one from the sink, that are mended instead of regrown.

Y. Boykov and V. Kolmogorov, *An experimental comparison of min-cut/max-flow algorithms for energy minimization in
vision*, PAMI 2004. The trees grow until they touch, the path through them is saturated, what that cuts off looks for a
new parent in its tree (`_adopt`) or becomes free, and so on. Terminal arcs are not stored: ``excess[i] > 0`` is what
the source can still send to node i, ``excess[i] < 0`` what i can still send to the sink.

Arcs come in pairs: arc p goes from node i (``start[i] ≤ p < start[i + 1]``) to ``head[p]``, and ``partner[p]`` is the
arc back. Nodes that are not ``alive`` are left out.

If the source has at least four times as many roots as the sink, only the sink's tree grows, which finds every path.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.decorators import array_inner, array_kernel, part

Array = Any

NONE = -1
"""The parent of a free node."""
TERMINAL = -2
"""The parent of a root."""
ORPHAN = -3
"""The parent of a node that needs a new one."""
FREE = 0
"""The tree of a node in neither."""
SOURCE = 1
"""The tree that grows from the source."""
SINK = 2
"""The tree that grows from the sink."""


class Network(NamedTuple):
    """A graph with capacities and the state of the two trees."""

    start: Array
    """The first arc of each node, [N + 1]."""
    head: Array
    """The end of each arc, [A]."""
    partner: Array
    """The arc back, [A]."""
    capacity: Array
    """The residual capacity of each arc, [A]."""
    excess: Array
    """The residual capacity from the source (above 0) or, negated, to the sink (below 0), [N]."""
    alive: Array
    """Whether each node takes part, [N]."""
    tree: Array
    """`FREE`, `SOURCE` or `SINK`, [N]."""
    parent: Array
    """The arc from a node to its parent, or `TERMINAL`, `ORPHAN`, `NONE`, [N]."""
    distance: Array
    """Arcs to the terminal at the time `stamp`, [N]."""
    stamp: Array
    """The time at which `distance` was computed, [N]."""
    queue: Array
    """Active nodes in a ring, [N + 1]."""
    queued: Array
    """Whether a node is in the ring, [N]."""
    orphans: Array
    """Nodes without a parent, in a ring, [N + 1]."""
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


@part(_nrt=False)
def _activate(net: Network, i: int) -> None:
    """Put a node into the ring of active ones, once, if its tree grows."""
    if not net.queued[i] and (net.counters[5] or net.tree[i] == SINK):
        net.queued[i] = True
        end = net.counters[1]
        net.queue[end] = i
        net.counters[1] = end + 1 if end + 1 < len(net.queue) else 0


@part(_nrt=False)
def _orphan(net: Network, i: int) -> None:
    """Cut a node off its parent."""
    net.parent[i] = ORPHAN
    end = net.counters[3]
    net.orphans[end] = i
    net.counters[3] = end + 1 if end + 1 < len(net.orphans) else 0


@array_kernel
def begin(net: Network) -> None:
    """Make each node with residual capacity to a terminal a root."""
    net.counters[:] = 0
    net.counters[4] = 1
    sources, sinks = 0, 0
    for i in range(len(net.alive)):
        sources += net.alive[i] and net.excess[i] > 0.0
        sinks += net.alive[i] and net.excess[i] < 0.0
    net.counters[5] = sources < 4 * sinks
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


@array_inner
def _grow(net: Network, i: int) -> int:
    """Add the free neighbours of an active node to its tree; returns an arc from the source's tree to the sink's."""
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


@part(_nrt=False)
def _residual(net: Network, i: int, forward: bool, flow: float) -> float:
    """The least of `flow` and the residual capacities of the way between node i and its terminal."""
    while net.parent[i] != TERMINAL:
        up = net.parent[i]
        flow = min(flow, net.capacity[net.partner[up] if forward else up])
        i = net.head[up]
    return min(flow, abs(net.excess[i]))


@part(_nrt=False)
def _send(net: Network, i: int, forward: bool, flow: float) -> None:
    """Send `flow` between node i and its terminal; nodes behind saturated arcs become orphans."""
    while net.parent[i] != TERMINAL:
        up = net.parent[i]
        down, above = net.partner[up], net.head[up]
        used, back = (down, up) if forward else (up, down)
        net.capacity[used] -= flow
        net.capacity[back] += flow
        if net.capacity[used] <= 0.0:
            _orphan(net, i)
        i = above
    net.excess[i] -= flow if forward else -flow
    if (net.excess[i] <= 0.0) if forward else (net.excess[i] >= 0.0):
        _orphan(net, i)


@array_inner
def _augment(net: Network, bridge: int) -> None:
    """Saturate the path through an arc between the trees."""
    source_end, sink_end = net.head[net.partner[bridge]], net.head[bridge]
    flow = _residual(net, source_end, True, net.capacity[bridge])
    flow = _residual(net, sink_end, False, flow)
    net.capacity[bridge] -= flow
    net.capacity[net.partner[bridge]] += flow
    _send(net, source_end, True, flow)
    _send(net, sink_end, False, flow)


@part(_nrt=False)
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


@array_inner
def _adopt(net: Network) -> int:
    """Give every orphan a parent that is connected to the terminal, or free it; returns the number of orphans."""
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


@array_kernel
def advance(net: Network, work: int) -> bool:
    """Go on for about `work` nodes; True when the flow is maximal and the trees are the two sides of the cut."""
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
