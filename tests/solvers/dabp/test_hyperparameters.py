"""DABP's parameters: what is refused, and in which words."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem


def small_problem() -> Problem:
    return dabp.generate("random-cop", variables=8, domain=4, density=0.6, seed=3)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_one_clear_line() -> None:
    """device=cuda on a machine without one says so in a sentence."""
    with pytest.raises(ParameterError, match="no GPU") as error:
        dabp.solve(small_problem(), "dabp", params={"device": "cuda", "backend": "plain"})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("restarts", 0), ("update_interval", 2), ("learning_rate", -1.0), ("weights", "none"), ("dtype", "half"),
     ("split_ratio", 1.0), ("heads", 2**31), ("learning_rate", 1e300), ("cost_scale", 0.0), ("device", "cuda"),
     ("backend", "abacus")],
)  # fmt: skip
def test_refuses_wrong_parameters(name: str, value: object) -> None:
    """A value outside a parameter's range is an error that names it."""
    with pytest.raises(ParameterError, match=name):
        dabp.solve(small_problem(), "dabp", params={name: value})


def test_other_devices_need_the_plain_backend() -> None:
    """The compiled kernels run on the CPU; a device that PyTorch does not know is refused as well."""
    with pytest.raises(ParameterError, match="backend=plain"):
        dabp.solve(small_problem(), "dabp", params={"device": "cuda"})
    with pytest.raises(ParameterError, match="no such device"):
        dabp.solve(small_problem(), "dabp", params={"device": "abacus", "backend": "plain"})


def test_without_pytorch_the_plain_backend_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence names the command that installs it; the compiled backend solves without."""
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ParameterError, match=r"pip install 'dabp\[torch\]'") as error:
        dabp.solve(small_problem(), "dabp", params={"backend": "plain"})
    assert "\n" not in str(error.value)
    assert dabp.solve(small_problem(), "dabp", max_iterations=3).iterations == 3


def test_naming_the_solver_loads_nothing_heavy() -> None:
    """Neither PyTorch nor Numba, so that a short limit is held."""
    script = (
        "import sys; from dabp.solvers import make_solver; make_solver('dabp'); "
        "print({'torch', 'numba'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
