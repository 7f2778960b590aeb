"""What runs in HiGHS's own process: read programs from standard input, solve them, write their solutions.

HiGHS has a process of its own because it cannot be stopped soon in another way, and because OR-Tools may have loaded
another version of the same library. Started by path. When standard input closes, because the parent closed it or died,
the process ends.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from typing import Any

import numpy as np

KINDS = {"f": np.float64, "i": np.int32}


def main() -> None:
    """Answer requests one after the other: a program, or other upper bounds of the last one's columns."""
    requests: queue.SimpleQueue[tuple[dict[str, Any], dict[str, Any]]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    import highspy

    highs: Any = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    while True:
        order, columns = requests.get()
        seconds = order["seconds"]
        highs.setOptionValue("time_limit", highs.getRunTime() + seconds if seconds is not None else float("inf"))
        if order["new"]:
            large = order["interior"]
            highs.setOptionValue("solver", "ipm" if large else "simplex")
            highs.setOptionValue("run_crossover", "off" if large else "on")
            highs.setOptionValue("presolve", "choose")
            highs.passModel(_model(highspy, columns))
        else:
            upper = columns["upper"]
            highs.setOptionValue("solver", "simplex")
            highs.changeColsBounds(len(upper), np.arange(len(upper), dtype=np.int32), np.zeros(len(upper)), upper)
        _answer(_solved(highspy, highs))


def _listen(requests: Any) -> None:
    """Read requests; end the process with the end of the input, whatever HiGHS does: it releases the lock."""
    stream = sys.stdin.buffer
    while line := stream.readline():
        order = json.loads(line)
        columns = {}
        for name, kind, count in order["columns"]:
            data = stream.read(count * np.dtype(KINDS[kind]).itemsize)
            columns[name] = np.frombuffer(data, dtype=KINDS[kind])
        requests.put((order, columns))
    os._exit(0)


def _model(highspy: Any, columns: dict[str, Any]) -> Any:
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns["costs"]), len(columns["low"])
    model.col_cost_, model.col_lower_, model.col_upper_ = (
        columns["costs"],
        np.zeros(len(columns["costs"])),
        columns["upper"],
    )
    model.row_lower_, model.row_upper_ = columns["low"], columns["high"]
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = columns["start"], columns["index"]
    model.a_matrix_.value_ = columns["value"]
    return model


def _solved(highspy: Any, highs: Any) -> tuple[bool, Any, Any]:
    """Whether it is infeasible; dual values of the rows or of a ray; values of the columns."""
    status, nothing = highspy.HighsModelStatus, np.zeros(0)
    highs.run()
    if highs.getModelStatus() in (status.kInfeasible, status.kUnboundedOrInfeasible):
        _, found, ray = highs.getDualRay()
        if not found:  # presolve leaves none
            highs.setOptionValue("solver", "simplex")
            highs.setOptionValue("presolve", "off")
            highs.run()
            _, found, ray = highs.getDualRay()
        return True, np.array(ray) if found else nothing, nothing
    solution = highs.getSolution()
    return False, np.array(solution.row_dual), np.array(solution.col_value)


def _answer(found: tuple[bool, Any, Any]) -> None:
    infeasible, multipliers, values = found
    head = {"infeasible": infeasible, "multipliers": len(multipliers), "values": len(values)}
    stream = sys.stdout.buffer
    stream.write(json.dumps(head).encode() + b"\n")
    stream.write(np.asarray(multipliers, dtype=np.float64).tobytes())
    stream.write(np.asarray(values, dtype=np.float64).tobytes())
    stream.flush()


if __name__ == "__main__":
    main()
