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


def test_separators_inside_of_quotes() -> None:
    """A colon inside of the quotes of a tag separates, as for toulbar2 (``"type:"``); names keep theirs."""
    text = '{"problem:": {"name": "p", "mustbe:": "<10"}, "variables": {"x": 2, "y": 2}, "functions": {'
    text += '"f": {"scope": ["x", "y"], "type:": ">=", "params": {"cost": 0, "delta": 0}}}}'
    with pytest.raises(FormatError, match=r"an integer was expected|is not supported|a number was expected"):
        read(io.StringIO(text.replace('"cost": 0, "delta": 0', '"delta": x')), "cfn")
    assert read(io.StringIO(text.replace('"delta": 0', "0")), "cfn").pool.tolist() == [0, float("inf"), 0, 0]
