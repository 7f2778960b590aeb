"""What ``.cfn`` files may say, beyond the good and bad files of the data folder."""

from __future__ import annotations

import io

import pytest

from dabp.errors import FormatError
from dabp.formats import read


@pytest.mark.parametrize("name", ["1", "3rd", "0"])
def test_value_names_do_not_start_with_a_digit(name: str) -> None:
    """A tuple would take such a name for an index and put the cost on another value; toulbar2 refuses it, too."""
    text = f"""{{problem: {{name: p, mustbe: "<10"}},
        variables: {{x: ["a",
            "{name}"]}},
        functions: {{f: {{scope: [x], defaultcost: 0, costs: ["{name}" 5]}}}}}}"""
    with pytest.raises(FormatError, match=f":3: value name '{name}' starts with a digit"):
        read(io.StringIO(text), "cfn")


def test_values_by_index_and_by_name() -> None:
    """In tuples digits are an index, everything else a name, a minus sign included."""
    text = (
        '{problem:{name:p,mustbe:"<10"},variables:{x:["-1","b"]},functions:{f:{scope:[x],defaultcost:0,costs:[%s 5]}}}'
    )
    assert read(io.StringIO(text % '"-1"'), "cfn").pool.tolist() == [5, 0]
    assert read(io.StringIO(text % "1"), "cfn").pool.tolist() == [0, 5]
