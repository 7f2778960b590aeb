"""What runs in toulbar2's own process: read the problem from standard input, solve, let toulbar2 print.

Started by path, with the standard library and pytoulbar2 only, so that it starts in a tenth of a second. toulbar2
writes each solution and bound to standard output; lines of ours begin with ``dabp``. When standard input closes,
because the parent closed it or died, the worker is killed. On Windows, which cannot fork, the parent kills this
process; if the parent itself is killed, the process runs until toulbar2 ends.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import sys
from array import array
from collections import Counter
from typing import Any, BinaryIO


def main() -> None:
    """Solve the problem that standard input holds."""
    tell = _fork_worker()
    source = sys.stdin.buffer
    order = json.loads(source.readline())
    columns = {name: _read(source, code, count) for name, code, count in order["columns"]}
    if tell is not None:
        os.write(tell, b".")
    import pytoulbar2

    network = pytoulbar2.CFN(verbose=0, **order["settings"])
    for name, value in order["options"].items():
        setattr(network.Option, name, value)
    found = None
    try:
        build(network, columns, pytoulbar2.pytoulbar2.tb2.MAX_COST, order)
        network.UbInit = order["upper_bound"]
        for variable, value in enumerate(columns["initial"]):
            network.CFN.wcsp.setBestValue(variable, value)
        found = network.Solve(showSolutions=1)
    except network.Contradiction:  # seen while posting: nothing lies below the upper bound
        pass
    done = {
        "cost": None if found is None else found[1],
        "bound": network.GetDDualBound(),
        "complete": not network.Option.limited,
    }
    sys.stdout.write(f"dabp {json.dumps(done)}\n")
    sys.stdout.flush()
    os._exit(0)  # toulbar2's destructors may take long after a big search


def build(
    network: Any,
    columns: dict[str, array[Any]],
    top: int,
    order: dict[str, Any],
) -> None:
    """Post variables and cost functions; costs are non-negative integers in float64, inf = forbidden.

    Of the order, `exclusions` are sets of values of which at most one can be taken: implied, but the bound is then
    better. `statements` are implied, too: variables, keyword and parameters. `closed_forms` are functions without a
    table: a kind, two variables, parameters.
    """
    wcsp = network.CFN.wcsp
    sizes = columns["domain_sizes"]
    for variable, size in enumerate(sizes):
        wcsp.makeEnumeratedVariable(f"x{variable}", 0, size - 1)
    _post_closed_forms(wcsp, order["closed_forms"], top)
    for scope, keyword, parameters in order["statements"]:
        wcsp.postGlobalFunction(scope, keyword, parameters)
    scopes, scope_offsets = columns["scope_variables"], columns["scope_offsets"]
    pool, pool_offsets = columns["pool"], columns["pool_offsets"]
    arities = [end - start for start, end in itertools.pairwise(scope_offsets)]
    # Cost functions of arity 4 and more last: posting another one that removes values after them crashes toulbar2 1.4.
    for factor in sorted(range(len(arities)), key=lambda f: arities[f] > 3):
        table = columns["factor_table"][factor]
        scope = scopes[scope_offsets[factor] : scope_offsets[factor + 1]].tolist()
        costs = pool[pool_offsets[table] : pool_offsets[table + 1]].tolist()
        if len(scope) == 1:
            wcsp.postUnaryConstraint(*scope, costs, False)
        elif len(scope) == 2:
            wcsp.postBinaryConstraint(*scope, costs, False)
        elif len(scope) == 3:
            wcsp.postTernaryConstraint(*scope, costs, False)
        else:
            _post_nary(wcsp, scope, costs, [range(sizes[v]) for v in scope], top)
    for exclusion in order["exclusions"]:
        sets = " ".join(f"{len(values)} {' '.join(map(str, values))}" for values in exclusion.values())
        wcsp.postCliqueConstraint([int(variable) for variable in exclusion], f"1 {sets}")


def _post_closed_forms(wcsp: Any, posts: list[list[Any]], top: int) -> None:
    for kind, x, y, *numbers in posts:
        costs = [top if number == float("inf") else int(number) for number in numbers]
        if kind == ">=":
            wcsp.postSupxyc(x, y, *costs)
        elif kind == "disj":
            wcsp.postDisjunction(x, y, *costs)
        else:
            wcsp.postSpecialDisjunction(x, y, *costs)


def _post_nary(wcsp: Any, scope: list[int], costs: list[float], domains: list[range], top: int) -> None:
    [(default, count)] = Counter(costs).most_common(1)
    integer = {cost: top if cost == float("inf") else int(cost) for cost in set(costs)}
    index = wcsp.postNaryConstraintBegin(scope, integer[default], len(costs) - count)
    for values, cost in zip(itertools.product(*domains), costs, strict=True):
        if cost != default:
            wcsp.postNaryConstraintTuple(index, values, integer[cost])
    wcsp.postNaryConstraintEnd(index)


def _read(source: BinaryIO, code: str, count: int) -> array[Any]:
    column: array[Any] = array(code)
    column.frombytes(source.read(count * column.itemsize))
    return column


def _fork_worker() -> int | None:
    """Fork: the worker returns with a descriptor to write to once it has read the problem; None on Windows.

    The parent kills the worker when standard input closes, and reaps it. A thread in the worker could not: toulbar2
    keeps the interpreter lock while it searches.
    """
    if sys.platform == "win32":
        return None
    news, tell = os.pipe()  # a byte means that the worker has read its input, the end of the pipe that it is dead
    worker = os.fork()
    if worker == 0:
        os.close(news)
        return tell
    os.close(tell)
    os.close(1)
    if os.read(news, 1):
        select.select([0, news], [], [])
        os.kill(worker, signal.SIGKILL)  # harmless if it has ended: it is not reaped yet
    code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main()
