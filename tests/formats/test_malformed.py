"""Files that are wrong are refused with one line that says where and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.errors import FormatError
from dabp.formats import read

_DATA = Path(__file__).parents[1] / "data"

_EXPECTED = [
    ("blank.cnf", 1, "the file is empty"),
    ("hard.wcnf", 2, "a number was expected, 'h' found"),
    ("huge.wcnf", None, "its variables would have 1999999999998 values in all, mor"),
    ("literal.wcnf", 2, "literal 1e+12 is no integer of up to 524288 (max_cells)"),
    ("open.wcnf", 2, "the file ends where the 0 that ends a clause should follo"),
    ("variable.wcnf", 3, "there is no variable 3; there are 1..2"),
    ("weight.wcnf", 2, "a weight is -3; it should be 1 or more"),
    ("word.wcnf", 2, "a number was expected, 'x' found"),
    ("zero.wcnf", 2, "a clause has no weight, or one of 0"),
    ("continuous.bif", 2, "variables of type 'continuous' are not supported, only di"),
    ("count.bif", 2, "3 values were announced, 2 found"),
    ("entity.xmlbif", 2, "XML entities are refused (entities)"),
    ("for.xmlbif", 3, "<DEFINITION> has no <FOR>"),
    ("hole.bif", 4, "variable 'a' has no probabilities for some values of its "),
    ("huge.bif", 22, "its tables would have 1099511627776 cells, more than the "),
    ("missing.bif", None, "variable 'b' has no distribution"),
    ("missing.xmlbif", None, "variable 'a' has no distribution"),
    ("negative.bif", 4, "a probability of 'a' is -0.5"),
    ("open.bif", 5, "a probability or ';' was expected, '' found"),
    ("parent.bif", 4, "there is no variable 'z'"),
    ("root.xmlbif", 1, "the root element is <NETWORK>, <BIF> with a <NETWORK> was"),
    ("row.bif", 5, "2 probabilities were expected, 3 found"),
    ("start.bif", 1, "'network' was expected, 'variable' found"),
    ("table.xmlbif", 3, "'a' needs a table of 2 probabilities, 3 found"),
    ("twice.bif", 5, "variable 'a' has two distributions"),
    ("utility.xmlbif", 2, "variables of type 'utility' are not supported, only natur"),
    ("value.bif", 6, "value 'x' is not in the domain of 'b'"),
    ("word.bif", 4, "a probability was expected, 'half' found"),
    ("word.xmlbif", 3, "the table of 'a' has something that is not a number"),
    ("blank.bq", 1, "the file is empty"),
    ("diagonal.qubo", 3, "1 diagonals were announced, then 1 couplers"),
    ("fraction.bq", 2, "there is no variable 1.5; there are 1..2"),
    ("header.qubo", 2, "a line 'p qubo 0 variables diagonals couplers' was expect"),
    ("huge.coo", 1, "its variables would have 2000000000000 values in all, mor"),
    ("huge.mc", 1, "its variables would have 1999999999998 values in all, mor"),
    ("infinite.coo", 2, "a coefficient is inf"),
    ("negative.coo", 2, "there is no variable -1; there are 0..0"),
    ("numbers.txt", 3, "there is no variable 9; there are 1..3"),
    ("rest.mc", 3, "the 1 announced lines are complete, but the file goes on"),
    ("short.qubo", 3, "the file ends where two variables and a coefficient shoul"),
    ("triple.coo", 2, "lines of two variables and a coefficient were expected"),
    ("unknown.txt", 1, "its content does not tell the format; name one with forma"),
    ("variable.qubo", 3, "there is no variable 2; there are 0..1"),
    ("word.coo", 2, "a number was expected, 'x' found"),
    ("zero.mc", 2, "there is no variable 0; there are 1..2"),
    ("default.xml", 5, "a soft relation has no defaultCost, or a tuple has no cost"),
    ("alias.yaml", 5, "YAML aliases (*d) are refused"),
    ("attribute.yaml", 10, "an expression cannot have 'x.real'; only arithmetic and c"),
    ("binary.cfn", 1, "this is not UTF-8 text (byte 0xff)"),
    ("binary.wcsp", 2, "a number was expected, '\\x0e\\x0f\\x10\\x11\\x12\\x13\\x14\\x15\\"),
    ("binary.xml", 2, "this is not well-formed XML (not well-formed (invalid tok"),
    ("binary.yaml", 2, "this is not UTF-8 text (byte 0x80)"),
    ("blank.cfn", 1, "the file is empty"),
    ("bomb.yaml", 2, "YAML aliases (*a) are refused"),
    ("broken.xml", 4, "this is not well-formed XML (mismatched tag)"),
    ("broken.yaml", 4, "this is not YAML (did not find expected node content)"),
    ("code.yaml", 10, "an expression cannot have \"__import__('os').system('true'"),
    ("cost.xml", 5, "a cost was expected, 'a' found"),
    ("costs.cfn", 3, "2 costs were expected, 3 found"),
    ("cut.wcsp.bz2", None, "the .bz2 data is damaged (it ends early)"),
    ("cut.wcsp.gz", None, "the .gz data is damaged (Compressed file ended before the"),
    ("cut.wcsp.xz", None, "the .xz data is damaged (it ends early)"),
    ("deep.xml", 51, "elements are nested more than 50 deep"),
    ("deep.yaml", 1, "YAML is nested more than 30 deep"),
    ("default.yaml", 12, "it has no default, and not every combination is listed"),
    ("division.yaml", 10, "an expression has no value for some values (a division by"),
    ("domain.xml", 4, "there is no domain 'E'"),
    ("empty-domain.uai", 3, "variable 1 has a domain of 0 values; 1 to 1048576 (max_cells) can be"),
    ("empty-domain.wcsp", 3, "variable 1 has a domain of 0 values; 1 to 1048576 (max_ce"),
    ("empty.wcsp", 1, "the file is empty"),
    ("entities.xml", 3, "XML entities are refused (entities)"),
    ("external.xml", 3, "XML entities are refused (entities)"),
    ("global.cfn", 3, "global function 'sgcc' is not supported: only tables of c"),
    ("global.wcsp", 4, "global constraint 'sregular' is not supported: only table"),
    ("global.xml", 5, "global constraint 'global:allDifferent' is not supported"),
    ("header.wcsp", 1, "a number was expected, 'two' found"),
    ("huge-domain.wcsp", 2, "variable 0 has a domain of 1e+12 values; 1 to 1048576 (ma"),
    ("huge-table.yaml", 11, "its tables would have 100000000 cells, more than the limi"),
    ("huge.cfn", 3, "its tables would have 1000000000000 cells, more than the "),
    ("huge.uai", 5, "its tables would have more than 10^15 cells, more than th"),
    ("huge.wcsp", 3, "its tables would have 1000000000000 cells, more than the "),
    ("huge.xml", 3, "its domains would have 1000000000001 values in all, more "),
    ("huge.yaml", 5, "its domains would have 1000000000000 values in all, more "),
    ("infinite.LG", 7, "a logarithm cannot be inf"),
    ("infinite.uai", 7, "a probability cannot be inf"),
    ("key.yaml", 4, "'price' is not supported here"),
    ("kind.uai", 1, "MARKOV or BAYES was expected, 'FACTOR' found"),
    ("many-variables.wcsp", 2, "the file ends where a domain size should follow"),
    ("name.yaml", 10, "there is no variable 'y'"),
    ("negative-count.wcsp", 1, "the number of variables should be an integer of 0 or more"),
    ("negative.uai", 7, "a probability cannot be -0.5"),
    ("no-bound.cfn", 1, "a bound such as \"<10.0\" was expected, '5' found"),
    ("not-gzip.wcsp.gz", None, "its name ends in .gz, but it is not compressed that way"),
    ("nul.cfn", 2, "this is not text (it has NUL bytes)"),
    ("number.cfn", 3, "a number was expected, '2x' found"),
    ("objective.yaml", 2, "the objective is min or max, not 'best'"),
    ("operator.xml", 5, "operator 'exec' is not supported"),
    ("power.yaml", 10, "an expression has no value for some values (a division by"),
    ("random.xml", 4, "random variables are not supported"),
    ("relation.xml", 5, "there is no relation 'R9'"),
    ("rest.uai", 8, "the announced tables are complete, but the file goes on"),
    ("rest.wcsp", 5, "the 1 announced cost functions are complete, but the file"),
    ("root.xml", 2, "the root element is <html>, <instance> was expected"),
    ("scope.cfn", 3, "there is no variable 'y'"),
    ("section.cfn", 4, "section 'extras' after the functions is not supported"),
    ("sharing.cfn", 3, "there is no function 'g' to share costs with"),
    ("sharing.wcsp", 3, "there is no shared cost function 1 to reuse"),
    ("source.yaml", 10, "'source' is refused: it would run code from another file"),
    ("syntax.yaml", 10, "an expression cannot be read (expected 'else' after 'if' "),
    ("table.uai", 6, "a table of 2 numbers was expected, 3 announced"),
    ("tag.cfn", 3, "'costs' was expected, 'prices' found"),
    ("tag.yaml", 3, "YAML tag 'tag:yaml.org,2002:python/object/apply:os' is re"),
    ("text.yaml", 10, "an expression calculates with text"),
    ("truncated.cfn", 2, "the file ends early"),
    ("truncated.uai", 7, "the file ends where a number of a table should follow"),
    ("truncated.wcsp", 5, "the file ends where a tuple of cost function 1 should fol"),
    ("tuple.yaml", 13, "a tuple of 1 values was expected, '1 0' found"),
    ("twice.cfn", 3, "variable 'x' is defined twice"),
    ("twice.wcsp", 3, "a cost function names a variable twice"),
    ("twice.yaml", 5, "key 'c' occurs twice"),
    ("value.cfn", 4, "value 'c' is not in its variable's domain"),
    ("value.wcsp", 4, "variable 1 has values 0..1, 2 found"),
    ("value.xml", 5, "value '2' is not in its variable's domain"),
    ("variable.uai", 5, "a scope names a variable outside 0..0"),
    ("variable.wcsp", 3, "a scope names a variable outside 0..1"),
    ("word.wcsp", 4, "a number was expected, 'one' found"),
]


@pytest.mark.parametrize(("name", "line", "reason"), _EXPECTED)
def test_reason_and_place(name: str, line: int | None, reason: str) -> None:
    """The message is one line: the file, the line (unless the file is not even text) and what is wrong there."""
    path = _DATA / "malformed" / name
    with pytest.raises(FormatError) as caught:
        read(path)
    assert caught.value.line == line
    text = str(caught.value)
    assert text.startswith(f"{path}:{line}: {reason}" if line is not None else f"{path}: {reason}")
    assert "\n" not in text
    assert text.isprintable()


def test_every_malformed_file_is_in_the_table() -> None:
    """No file in the folder goes untested."""
    assert {path.name for path in (_DATA / "malformed").iterdir()} == {name for name, _, _ in _EXPECTED}


@pytest.mark.parametrize("path", sorted((_DATA / "good").iterdir()), ids=lambda path: path.name)
def test_good_files_read(path: Path) -> None:
    """The hand-made good files, which also seed the fuzzer, are read without complaint."""
    assert read(path).num_variables > 0
