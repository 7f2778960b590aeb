"""``dabp generate``: instances from the command line."""

from __future__ import annotations

from pathlib import Path

from dabp.formats import read
from dabp.lab.generators import generate
from tests.cli.conftest import Run, params


def test_options_are_the_generators_parameters(run: Run, tmp_path: Path) -> None:
    """The file holds what the function gives."""
    target = tmp_path / "p.xml"
    given = params(variables=12, domain=3, k=4, p=0.5, max_cost=9)
    assert run("generate", "small-world", *given, "--seed", 7, "-o", target) == (0, "", "")
    expected = generate("small-world", variables=12, domain=3, k=4, p=0.5, max_cost=9, seed=7)
    found = read(target)
    assert found.scope_variables.tolist() == expected.scope_variables.tolist()
    assert found.pool.tolist() == expected.pool.tolist()


def test_without_a_file_it_goes_to_standard_output(run: Run) -> None:
    """As XML, which can be piped into solve."""
    assert run("generate", "scale-free", *params(variables=4, domain=2)).out.startswith("<")
