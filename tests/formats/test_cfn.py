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


_DENSE = """{"problem": {"name": "p", "mustbe": "<99"},
"variables": {"a": 2, "b": ["u", "v", "w"], "c": 2, "9": 2},
"functions": {
%s
}}"""
_TABLE = "[0, 1.5, 2, 3, inf, 5]"


def _read(text: str) -> tuple[object, ...]:
    try:
        problem = read(io.StringIO(text), "cfn")
    except FormatError as error:
        return ("error", str(error))
    names = [problem.names.factor(f) for f in range(problem.num_factors)]
    return (problem, names, problem.pool.tolist(), problem.constant)


@pytest.mark.parametrize(
    "functions",
    [
        f'"f": {{"scope": ["a", "b"], "costs": {_TABLE}}}',
        f'"f": {{"scope": ["a", "b"], "costs": {_TABLE}}},\n"g": {{"scope": ["b", "c"], "costs": "f"}}',
        f'"f":{{"scope":["b" "a"],"costs":{_TABLE}}} "f0" : {{ "scope" : [ "c" ] , "costs" : [ 7 8 ] }}',
        f'"f": {{"scope": ["a", "a"], "costs": {_TABLE}}}',
        f'"f": {{"scope": ["a", "x"], "costs": {_TABLE}}}',
        f'"f": {{"scope": ["a b"], "costs": {_TABLE}}}',
        f'\n\n"f": {{"scope":\n["a", "9"], "costs": {_TABLE}}}',
        '"f": {"scope": ["a"], "costs": [1]}',
        '"f": {"scope": ["a"], "costs": [1, nan]}',
        '"f": {"scope": ["a"], "costs": [1, x]}',
        '"f": {"scope": ["a"], "costs": [1, 1_0]}',
        '"f": {"scope": ["a"], "costs": [1, -inf]}',
        '"f": {"scope": [], "costs": [1]}, "f": {"scope": ["a"], "costs": [1, 2]}',
        '"f": {"scope": ["a"], "defaultcost": 3, "costs": [1, 2]}',
        '"scope": {"scope": ["a"], "costs": [3 4]}',
        '"f": {"scope": ["a"], "costs": [1, 2',
    ],
)
def test_functions_taken_in_one_go_are_those_taken_word_by_word(
    functions: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commonest form has a path of its own: the same problems and the same complaints, of whatever is like it."""
    quick = _read(_DENSE % functions)
    monkeypatch.setattr("dabp.formats.cfn._Reader._dense_function", lambda self: False)
    assert quick == _read(_DENSE % functions)
