"""Answers as pyDCOP's ``solve`` prints them; see docs/formats/yaml.md."""

from __future__ import annotations

import json
from typing import Any

from dabp.driver.result import Result
from dabp.formats.solution import plain
from dabp.solvers.status import Status


def as_pydcop(result: Result) -> str:
    """One JSON object with pyDCOP's keys, in its order; what is unknown is null."""
    return json.dumps(pydcop_facts(result), sort_keys=True, indent=2, allow_nan=False, default=plain) + "\n"


def pydcop_facts(result: Result) -> dict[str, Any]:
    """The values of pyDCOP's keys. An answer never violates anything; there are no agents to measure."""
    known = result.assignment is not None
    return {
        "agt_metrics": {},
        "assignment": result.values or {},
        "cost": result.cost,
        "cycle": result.iterations,
        "msg_count": result.messages,
        "msg_size": result.message_size,
        "status": _status(result),
        "time": result.runtime,
        "violation": 0 if known else None,
    }


def _status(result: Result) -> str:
    """Why it ended, in pyDCOP's words: only a time limit is a timeout."""
    if result.status is Status.INTERRUPTED:
        return "STOPPED"
    return "TIMEOUT" if result.limit == "time limit" else "FINISHED"
