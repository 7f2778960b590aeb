"""One function for each defect: what a user did on version 0.1.0, and what should have come of it.

They use the public names and the command line only, so that they run on every version; an `AssertionError`, another
error or running out of time is the defect. Run by path: ``python reproductions.py NUMBER`` in an empty folder.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import dabp

CALM = '{problem:{name:t,mustbe:"<1000"},variables:{x:3,y:2},functions:{f:{scope:[x,y],costs:[1,2,3,4,0,5]}}}'


def command(*words: str, seconds: float = 40.0) -> subprocess.CompletedProcess[str]:
    """``dabp`` with these words; a traceback is a defect."""
    done = subprocess.run(
        [sys.executable, "-m", "dabp", *words], capture_output=True, text=True, timeout=seconds, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr[-300:]
    return done


def grid(side: int, labels: int) -> dabp.Problem:
    """Costs at random on a square."""
    rng = np.random.default_rng(0)
    number = np.arange(side * side).reshape(side, side)
    across = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    pairs = np.concatenate([across, np.column_stack([number[:-1].ravel(), number[1:].ravel()])])
    return dabp.Problem(
        np.full(side * side, labels), pairs.ravel(), np.arange(len(pairs) + 1) * 2,
        rng.integers(0, 100, len(pairs) * labels**2).astype(float), np.arange(len(pairs) + 1) * labels**2,
    )  # fmt: skip


def d01() -> None:
    """DABP on domains of different sizes: every parameter became NaN after the first update."""
    rng = np.random.default_rng(1)
    sizes = [2, 3, 4, 2, 3, 4]
    pairs = [(i, j) for i in range(6) for j in range(i)]
    problem = dabp.Problem(
        sizes, [v for pair in pairs for v in pair], np.arange(len(pairs) + 1) * 2,
        rng.integers(0, 100, sum(sizes[i] * sizes[j] for i, j in pairs)).astype(float),
        np.cumsum([0, *(sizes[i] * sizes[j] for i, j in pairs)]),
    )  # fmt: skip
    result = dabp.solve(problem, "dabp", max_iterations=80, seed=1)
    numbers = [value for record in result.trace.records for value in record.values() if isinstance(value, float)]
    assert numbers
    assert all(map(math.isfinite, numbers)), "not a number in what was recorded of the windows"


def d02() -> None:
    """A plan ran any program."""
    Path("plan.toml").write_text(
        '[limits]\niterations = 5\n[[instances]]\nfamily = "random-cop"\nseeds = 1\nparameters = { variables = 5 }\n'
        '[[solvers]]\nsolver = "subprocess:Popen"\nparameters = { args = ["touch", "executed"] }\n',
        encoding="utf-8",
    )
    command("lab", "experiment", "run", "plan.toml", "-o", "results")
    time.sleep(1)
    assert not list(Path.cwd().rglob("executed")), "the program was executed"


def d03() -> None:
    """A neighbourhood that was resumed never ended."""
    problem = dabp.generate("random-cop", variables=10, domain=3, density=0.4, seed=1)
    dabp.write(problem, "p.wcsp")
    base = ("solve", "p.wcsp", "--solver", "neighbourhood", "--checkpoint", "c", "--quiet")
    command(*base, "--iterations", "20")
    command(*base, "--iterations", "40", "--resume")


def d04() -> None:
    """toulbar2 with nothing but a limit on iterations never ended."""
    dabp.solve(
        dabp.generate("random-cop", variables=120, domain=10, density=0.3, seed=1), "toulbar2", max_iterations=10**6
    )


def d05() -> None:
    """``plot trace`` crashed on a trace of bp-reinforced."""
    dabp.write(dabp.generate("random-cop", variables=10, domain=3, density=0.6, seed=1), "p.wcsp")
    command(
        "solve", "p.wcsp", "-s", "bp-reinforced", "--iterations", "300", "--trace", "t.jsonl", "-p", "restarts=3", "-q"
    )
    assert command("plot", "trace", "t.jsonl", "-o", "t.png").returncode == 0


def d06() -> None:
    """Reading a .cfn took time quadratic in its size: 800 kB more than ten seconds."""
    text = '{problem:{name:t,mustbe:"<9"},variables:{x:2},functions:{' + '"\n' * 400_000 + "}}"
    Path("p.cfn").write_text(text, encoding="utf-8")
    begun = time.process_time()
    with contextlib.suppress(dabp.DabpError):
        dabp.read("p.cfn")
    assert time.process_time() - begun < 4, f"{time.process_time() - begun:.0f} s"


def d07() -> None:
    """A time limit of 5 s became several times as much on a large grid."""
    problem = grid(400, 4)
    begun = time.perf_counter()
    dabp.solve(problem, "auto", time_limit=5.0)
    assert time.perf_counter() - begun < 11, f"{time.perf_counter() - begun:.0f} s"


def d08() -> None:
    """A pandas Series with names in another order was taken by position."""
    import pandas as pd

    model = dabp.Model()
    model.add_variable("x", ["a", "b"])
    try:
        model.add_cost(["x"], pd.Series({"b": 10.0, "a": 1.0}))
    except (dabp.DabpError, TypeError, ValueError):
        return
    problem = model.build() if hasattr(model, "build") else model.problem()
    assert problem.cost([0]) == 1.0, "costs by position"


def d09() -> None:
    """A file of some hundred bytes took more than 2 GB."""
    function = "x * y * z"
    for _ in range(15):  # as many tables at a time
        function = f"x * y * z + ({function})"
    text = "name: t\nobjective: min\ndomains:\n  d: {values: [0 .. 249]}\nvariables:\n"
    text += "".join(f"  {name}: {{domain: d}}\n" for name in "xyz")
    text += f"constraints:\n  c: {{type: intention, function: {function}}}\nagents: [a]\n"
    Path("p.yaml").write_text(text, encoding="utf-8")
    with contextlib.suppress(dabp.DabpError):
        dabp.read("p.yaml")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1_000_000, "more than 1 GB"


def d10() -> None:
    """A problem with an optimum below its limit was called infeasible."""
    Path("p.cfn").write_text(
        '{problem:{name:t,mustbe:"<1000000000.90"},variables:{x:3,y:2},functions:{f:{scope:[x,y],costs:'
        "[1000000000.25,1000000010.5,1000000020.0,1000000030.0,1000000001.0,1000000002.0]}}}",
        encoding="utf-8",
    )
    result = dabp.solve(dabp.read("p.cfn"), "toulbar2", time_limit=10)
    assert result.cost == 1000000000.25, f"{result.status} {result.cost}"


def d11() -> None:
    """A grid of 300 × 300 with a limit of 1 s took 22 s."""
    problem = grid(300, 10)
    begun = time.perf_counter()
    dabp.solve(problem, "auto", time_limit=1.0)
    assert time.perf_counter() - begun < 7, f"{time.perf_counter() - begun:.0f} s"


def d12() -> None:
    """A checkpoint replaced the very file of the problem."""
    dabp.write(dabp.generate("random-cop", variables=8, domain=3, density=0.6, seed=1), "q.wcsp")
    before = Path("q.wcsp").read_bytes()
    command("solve", "q.wcsp", "--solver", "tabu", "--iterations", "50", "--checkpoint", "q.wcsp", "-q")
    assert Path("q.wcsp").read_bytes() == before, "the problem is gone"


def d13() -> None:
    """20 kB of digits took 23 s to refuse."""
    Path("p.wcsp").write_text(f"t 1 2 1 {'1' * 40_000}x\n2\n1 0 0 1\n0 5\n", encoding="utf-8")
    begun = time.process_time()
    with contextlib.suppress(dabp.DabpError):
        dabp.read("p.wcsp")
    assert time.process_time() - begun < 5, "quadratic"


def d14() -> None:
    """A chained assignment in a YAML function was misread, and a huge default gave a traceback."""
    head = "name: t\nobjective: min\ndomains:\n  d: {values: [1, 2]}\nvariables:\n  x: {domain: d}\n  y: {domain: d}\n"
    body = "b = 0\n      a = b = x + y\n      return a * 100 + b\n"
    text = f"{head}constraints:\n  c:\n    type: intention\n    function: |\n      {body}agents: [a]\n"
    Path("p.yaml").write_text(text, encoding="utf-8")
    with contextlib.suppress(dabp.DabpError):
        assert dabp.read("p.yaml").cost([0, 1]) == 303, "misread"
    Path("q.yaml").write_text(
        head
        + "constraints:\n  c: {type: extensional, variables: [x, y], default: 99999999999999999999, values: {5: 1 1}}\n"
        "agents: [a]\n",
        encoding="utf-8",
    )
    with contextlib.suppress(dabp.DabpError):
        dabp.read("q.yaml")


def d15() -> None:
    """One empty file among the results broke the table."""
    Path("plan.toml").write_text(
        '[limits]\niterations = 5\n[[instances]]\nfamily = "random-cop"\nseeds = 2\nparameters = { variables = 5 }\n'
        '[[solvers]]\nsolver = "mgm"\n',
        encoding="utf-8",
    )
    command("lab", "experiment", "run", "plan.toml", "-o", "results")
    next(Path("results/runs").glob("*.jsonl")).write_text("")
    done = command("lab", "experiment", "table", "results")
    assert done.returncode == 0, done.stderr[-200:]


def d16() -> None:
    """A variable named assignment: our own answer could not be read back. The last of two --fix won silently."""
    Path("p.cfn").write_text(CALM.replace("x:3", "assignment:3").replace("[x,", "[assignment,"), encoding="utf-8")
    command("solve", "p.cfn", "-o", "a.json", "-q", "--time", "5")
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert command("evaluate", "p.cfn", "a.json").returncode == 0
    Path("q.cfn").write_text(CALM, encoding="utf-8")
    assert command("solve", "q.cfn", "--fix", "y=0", "--fix", "y=1", "-q", "--time", "5").returncode == 2, (
        "the last won"
    )


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    {name: each for name, each in globals().items() if name[0] == "d" and name[1:].isdecimal()}[
        f"d{int(sys.argv[1]):02}"
    ]()
