"""Files made to be slow or large, of any size: what a careless reader takes quadratic time or endless memory for.

The tests read each at a size at which quadratic time would be hours; ``python -m benchmarks.reading growth`` reads them
at doubling sizes and prints how the time grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hostile:
    """One kind of file: its format, and the file with a given number of bytes or a little more."""

    format: str
    make: Callable[[int], str]


def _many(piece: str, size: int) -> str:
    """A piece again and again, with the number of the repetition where it says so."""
    if "{}" not in piece:
        return piece * (size // len(piece) + 1)
    parts, length, i = [], 0, 0
    while length < size:
        parts.append(piece.replace("{}", str(i)))
        length += len(parts[-1])
        i += 1
    return "".join(parts)


_CFN = '{problem:{name:p,mustbe:"<10"},variables:{x:2,y:2,%s},functions:{%s}}'
_XML = '<instance><domains><domain name="D">0..1</domain></domains><variables>%s</variables>%s</instance>'
_X = '<variable name="x" domain="D"/><variable name="y" domain="D"/>'
_RELATION = '<relations><relation name="R" semantics="soft" defaultCost="0">%s</relation></relations>'
_USED = '<constraints><constraint scope="x y" reference="R"/></constraints>'
_BIF = """network n { }
variable a { type discrete [ 2 ] { t, f }; }
variable b { type discrete [ 2 ] { t, f }; }
"""
_XMLBIF = (
    "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>t</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR><TABLE>%s</TABLE>"
    "</DEFINITION></NETWORK></BIF>"
)
_YAML_TABLE = """domains: {d: {values: [0, 1]}}
variables: {x: {domain: d}, y: {domain: d}}
constraints: {c: {type: extensional, variables: [x, y], %s}}
"""
_YAML = "domains: {d: {values: [0, 1]}}\nvariables: {x: {domain: d}, y: {domain: d}}\n"


def _wcsp_function(variables: int, function: str) -> str:
    scope = " ".join(map(str, range(variables)))
    return f"p {variables} 2 1 10\n{'2 ' * variables}\n{variables} {scope} -1 {function}\n"


def _cfn_function(kind: str, size: int) -> str:
    names = [f"v{i}" for i in range(size // 16)]
    scope, values = ",".join(names), ",".join(f"{name}:2" for name in names)
    weights = ",".join("1" for _ in names)
    return _CFN % (values, f"f:{{scope:[{scope}],type:{kind},params:{{capacity:1,weights:[{weights}]}}}}")


def _wide_bif(parents: int) -> str:
    """A distribution of one variable given many, up to its first row: few letters, many cells."""
    names = [f"p{i}" for i in range(parents)]
    variables = "".join(f"variable {name} {{ type discrete [ 2 ] {{ t, f }}; }}\n" for name in names)
    return _BIF + variables + f"probability ( a | {', '.join(names)} ) {{ "


HOSTILE: dict[str, Hostile] = {
    "wcsp digits": Hostile("wcsp", lambda n: f"p 1 2 1 10\n2\n1 0 {'1' * n}x 0\n"),
    "wcsp zeros": Hostile("wcsp", lambda n: f"p 1 2 1 10\n{'0' * n}2\n1 0 3 0\n"),
    "wcsp comments": Hostile("wcsp", lambda n: _many("#\n", n) + "p 1 2 0 10\n2\n"),
    "wcsp words": Hostile("wcsp", lambda n: "p 1 2 1 10\n2\n" + _many("1 a ", n)),
    "wcsp variables": Hostile("wcsp", lambda n: f"p {n // 2} 2 0 10\n" + "2 " * (n // 2)),
    "wcsp constants": Hostile("wcsp", lambda n: f"p 1 2 {n // 6} 1000000000\n2\n" + "0 1 0\n" * (n // 6)),
    "wcsp functions": Hostile("wcsp", lambda n: f"p 2 2 {n // 8} 1000000000\n2 2\n" + "1 0 1 0\n" * (n // 8)),
    "wcsp glued": Hostile("wcsp", lambda n: "p 1 2 0 10\n2\n" + "1-1-" * (n // 4) + "1"),
    "wcsp scope": Hostile("wcsp", lambda n: f"p 1 2 1 10\n2\n{n // 2} " + "0 " * (n // 2) + "0 0"),
    "wcsp salldiff": Hostile(
        "wcsp",
        lambda n: (
            f"p {n // 8} 2 1 10\n{'2 ' * (n // 8)}\n{n // 8} {' '.join(map(str, range(n // 8)))} -1 salldiff var 1\n"
        ),
    ),
    "wcsp counts": Hostile("wcsp", lambda n: _wcsp_function(n // 20, f"gcc 2 0 9 {n // 16} 1 7 {n // 16} 0")),
    "wcsp regular": Hostile("wcsp", lambda n: _wcsp_function(n // 40, "sregular edit 1 2 1 0 1 1 3 0 0 1 1 0 1 1 1 0")),
    "wcsp grammar": Hostile("wcsp", lambda n: _wcsp_function(n // 40, "sgrammar var 1 3 2 0 3 0 1 0 0 2 1 1 0 1 2")),
    "wcsp maximum": Hostile("wcsp", lambda n: _wcsp_function(n // 8, f"max 1 {n} {'0 1 5 ' * (n // 8)}")),
    "wcsp list that never ends": Hostile("wcsp", lambda n: _wcsp_function(3, f"alldiff 999999999 {'1 ' * (n // 2)}")),
    "wcsp nested": Hostile("wcsp", lambda n: _wcsp_function(3, f"wcsp 0 1 0 0 n 3 2 {n} 9 2 2 2 {_many('0 1 0 ', n)}")),
    "cfn digits": Hostile("cfn", lambda n: _CFN % ("", f"f:{{scope:[x],costs:[{'1' * n}x 2]}}")),
    "cfn comments": Hostile("cfn", lambda n: _many("#\n//\n", n) + _CFN % ("", "")),
    "cfn quotes": Hostile("cfn", lambda n: _CFN % ("", "") + _many('"\n', n)),
    "cfn spaces": Hostile("cfn", lambda n: _CFN % (" " * n + '"', "")),
    "cfn among": Hostile("cfn", lambda n: _cfn_function("among", n)),
    "cfn weighted sum": Hostile("cfn", lambda n: _cfn_function("wsum", n)),
    "cfn knapsack": Hostile("cfn", lambda n: _cfn_function("knapsack", n)),
    "cfn costs": Hostile("cfn", lambda n: _CFN % ("", f"f:{{scope:[x,y],costs:[{_many('1,2,', n)}]}}")),
    "cfn tuples": Hostile(
        "cfn", lambda n: _CFN % ("", f"f:{{scope:[x,y],defaultcost:0,costs:[{_many('0,1,5,', n)}]}}")
    ),
    "cfn functions": Hostile("cfn", lambda n: _CFN % ("", _many("f{}:{scope:[x],costs:[1,2]}, ", n))),
    "uai digits": Hostile("uai", lambda n: f"MARKOV 1 2 1 1 0 2 {'1' * n}x 1"),
    "uai constants": Hostile("uai", lambda n: f"MARKOV 1 2 {n // 8} " + "0 " * (n // 8) + "1 0.5 " * (n // 8)),
    "uai comments": Hostile("uai", lambda n: "MARKOV #\n1 # a\n2\n0\n" + _many(" # b\n", n)),
    "uai variables": Hostile("uai", lambda n: f"MARKOV {n // 2} " + "2 " * (n // 2) + "0"),
    "lg digits": Hostile("lg", lambda n: f"MARKOV 1 2 1 1 0 2 -{'1' * n}x 1"),
    "xml digits": Hostile("xml", lambda n: _XML % (_X, _RELATION % f"{'1' * n}x:0 0" + _USED)),
    "xml label": Hostile(
        "xml", lambda n: f'<instance><domains><domain name="D">{"1" * n}</domain></domains></instance>'
    ),
    "xml range": Hostile(
        "xml", lambda n: f'<instance><domains><domain name="D">{"1" * n}..2</domain></domains></instance>'
    ),
    "xml tuples": Hostile("xml", lambda n: _XML % (_X, _RELATION % ("1:0 0" + "|0 1" * (n // 4)) + _USED)),
    "xml variables": Hostile("xml", lambda n: _XML % (_many('<variable name="v{}" domain="D"/>', n), "")),
    "xml scope": Hostile(
        "xml",
        lambda n: (
            _XML
            % (_X, _RELATION % "" + f'<constraints><constraint scope="{"x " * (n // 2)}" reference="R"/></constraints>')
        ),
    ),
    "xml predicate": Hostile(
        "xml",
        lambda n: (
            _XML
            % (
                _X,
                f'<predicates><predicate name="P"><parameters>{_many("int a{} ", n // 2)}</parameters><expression>'
                f"<functional>{_many('a{}, ', n // 2)}</functional></expression></predicate></predicates>",
            )
        ),
    ),
    "xml attributes": Hostile("xml", lambda n: "<instance " + _many('a{}="" ', n) + "/>"),
    "yaml list": Hostile("yaml", lambda n: f"{_YAML}agents: [{'1,' * (n // 2)}1]"),
    "yaml keys": Hostile("yaml", lambda n: f"{_YAML}agents:\n{_many('  a{}: 1', n)}".replace("1  a", "1\n  a")),
    "yaml values": Hostile("yaml", lambda n: f"domains: {{d: {{values: [{_many('{}, ', n)}]}}}}"),
    "yaml tuples": Hostile("yaml", lambda n: _YAML_TABLE % f"default: 0, values: {{1: '0 0{' | 0 1' * (n // 6)}'}}"),
    "yaml cost": Hostile(
        "yaml", lambda n: f"{_YAML}constraints: {{c: {{type: extensional, variables: x, default: {'1' * n}}}}}"
    ),
    "yaml expression": Hostile(
        "yaml", lambda n: f"{_YAML}constraints: {{c: {{type: intention, function: {'x+' * (n // 2)}y}}}}"
    ),
    "yaml range": Hostile("yaml", lambda n: f"domains: {{d: {{values: ['{' ' * n}1']}}}}"),
    "yaml quotes": Hostile("yaml", lambda n: _YAML + "name: " + "'" * n),
    "yaml comments": Hostile("yaml", lambda n: _many("#\n", n) + _YAML),
    "bif digits": Hostile("bif", lambda n: _BIF + f"probability ( a ) {{ table {'1' * n}x 1; }}"),
    "bif rows": Hostile("bif", lambda n: _BIF + "probability ( b | a ) { " + "(t) 1 0;" * (n // 8) + "}"),
    "bif comments": Hostile("bif", lambda n: "/**/" * (n // 4) + _many("//\n", n) + _BIF),
    "bif open comments": Hostile("bif", lambda n: _BIF + "/*" * (n // 2)),
    "bif quotes": Hostile("bif", lambda n: _BIF + '"\n' * (n // 2)),
    "bif variables": Hostile("bif", lambda n: _BIF + _many("variable v{} { type discrete [ 1 ] { x }; }\n", n)),
    "bif parents": Hostile("bif", lambda n: _BIF + "probability ( a | " + "b, " * (n // 3) + "b ) { }"),
    "xmlbif numbers": Hostile("xmlbif", lambda n: _XMLBIF % ("0.5 " * (n // 4))),
    "xmlbif digits": Hostile("xmlbif", lambda n: _XMLBIF % ("1" * n + "x")),
    "wcnf digits": Hostile("wcnf", lambda n: f"1 {'1' * n} 0\n"),
    "wcnf comments": Hostile("wcnf", lambda n: _many("c\n", n) + "h 1 0\n"),
    "wcnf marks": Hostile("wcnf", lambda n: "h 1 0\n" * (n // 6)),
    "wcnf clause": Hostile("wcnf", lambda n: "1 " + _many("{} ", n).replace("0 ", "7 ", 1) + "0\n"),
    "wcnf clauses": Hostile("wcnf", lambda n: "1 1 2 -3 0\n" * (n // 11)),
    "wcnf opposites": Hostile("wcnf", lambda n: "1 1 -1 0\n" * (n // 9)),
    "wcnf weights": Hostile("wcnf", lambda n: _many("1{} 1 2 0\n", n)),
    "qubo digits": Hostile("qubo", lambda n: f"p qubo 0 2 1 0\n0 0 {'1' * n}x\n"),
    "qubo comments": Hostile("qubo", lambda n: _many("c\n", n) + "p qubo 0 2 1 0\n0 0 1\n"),
    "qubo couplers": Hostile("qubo", lambda n: f"p qubo 0 2 0 {n // 6}\n" + "0 1 1\n" * (n // 6)),
    "coo terms": Hostile("coo", lambda n: _many("0 {} 1\n", n)),
    "coo vartype": Hostile("coo", lambda n: "# vartype" + " " * n + "=\n0 1 1\n"),
    "coo vartypes": Hostile("coo", lambda n: _many("# vartype =\n", n) + "0 1 1\n"),
    "qaplib digits": Hostile("qaplib", lambda n: f"1\n{'1' * n}x 1\n"),
    "qaplib matrices": Hostile("qaplib", lambda n: f"{int((n / 4) ** 0.5)}\n" + "1 " * (2 * int((n / 4) ** 0.5) ** 2)),
    "qaplib flows": Hostile(
        "qaplib", lambda n: f"{int((n / 12) ** 0.5)}\n" + " ".join(map(str, range(2 * int((n / 12) ** 0.5) ** 2)))
    ),
    "mc edges": Hostile("mc", lambda n: f"9 {n // 6}\n" + "1 2 1\n" * (n // 6)),
    "mc digits": Hostile("mc", lambda n: f"2 1\n1 2 {'1' * n}x\n"),
    "bq entries": Hostile("bq", lambda n: f"9 {n // 8}\n" + "1 2 1.5\n" * (n // 8)),
    "qpbo entries": Hostile("qpbo", lambda n: f"-9 -{n // 8}\n" + "1 2 1.5\n" * (n // 8)),
    "qpbo digits": Hostile("qpbo", lambda n: f"2 1\n1 2 {'1' * n}x\n"),
    "qpbo comments": Hostile("qpbo", lambda n: _many("#\n", n) + "2 1\n1 2 1\n"),
    "opb digits": Hostile("opb", lambda n: f"+{'1' * n} x1 >= 1 ;\n"),
    "opb spaces": Hostile("opb", lambda n: "min" + " " * n + "~" + " " * n + "+" + " " * n),
    "opb comments": Hostile("opb", lambda n: _many("* #variable=\n", n) + "+1 x1 >= 1 ;\n"),
    "opb statements": Hostile("opb", lambda n: "+1 x1 +1 x2 >= 1 ;\n" * (n // 19)),
    "opb objective": Hostile("opb", lambda n: f"min: {_many('+1 x{} x1 ', n)};\n"),
    "opb product": Hostile("opb", lambda n: f"min: +1 {_many('x{} ', n)};\n"),
    "opb count": Hostile("opb", lambda n: f"{_many('+1 x{} ', n)} >= {n // 20} ;\n"),
    "opb clause": Hostile("opb", lambda n: f"{_many('+1 x{} ', n)} >= 1 ;\n"),
    "opb clauses": Hostile("opb", lambda n: (" ".join(f"+1 x{i}" for i in range(9)) + " >= 1 ;\n") * (n // 62)),
    "opb knapsack": Hostile("opb", lambda n: f"{_many('+7{} x{} ', n)} = {n} ;\n"),
    "opb open": Hostile("opb", lambda n: "[" * n),
    "pre digits": Hostile("pre", lambda n: f"1 1 0 0 1 {'1' * n} 1\n"),
    "pre chain": Hostile(
        "pre", lambda n: "1 1 0 0 1 1 2\n" + "".join(f"1 {i + 1} {i} 0 1 1 2\n" for i in range(1, n // 16))
    ),
    "pre ring": Hostile("pre", lambda n: "".join(f"1 {i + 1} {i or n // 16} 0 1 1 2\n" for i in range(n // 16))),
    "pre alleles": Hostile("pre", lambda n: _many("1 1{} 0 0 1 {} {}\n", n)),
    "yaml deep": Hostile("yaml", lambda n: "[" * n),
    "bif defaults": Hostile("bif", lambda n: _wide_bif(18) + "default 0.5 0.5; " * (n // 17) + "}"),
    "bif tables": Hostile("bif", lambda n: _BIF + "probability ( a ) { " + "table 0.5 0.5; " * (n // 15) + "}"),
    "bif states": Hostile(
        "bif", lambda n: f"network n {{ }}\nvariable a {{ type discrete [ {n // 8} ] {{ {_many('s{}, ', n)} }}; }}"
    ),
    "bif properties": Hostile("bif", lambda n: "network n { " + "property a ; " * (n // 13) + "}\n" + _BIF),
    "bif open property": Hostile("bif", lambda n: "network n { property " + "a " * (n // 2)),
    "bif brackets": Hostile("bif", lambda n: _BIF + "{" * n),
    "bif name": Hostile("bif", lambda n: f"network {'n' * n} {{ }}\n"),
    "bif again": Hostile("bif", lambda n: _BIF + "probability ( a ) { table 1 0; }\n" * (n // 33)),
    "bif lines": Hostile("bif", lambda n: _BIF + "\n" * n + "probability ( c ) { }"),
    "bif values": Hostile("bif", lambda n: _BIF + f"probability ( b | a ) {{ ({'t, ' * (n // 3)}t) 1 0; }}"),
    "xmlbif variables": Hostile(
        "xmlbif",
        lambda n: (
            f"<BIF><NETWORK>{_many('<VARIABLE><NAME>v{}</NAME><OUTCOME>t</OUTCOME></VARIABLE>', n)}</NETWORK></BIF>"
        ),
    ),
    "xmlbif outcomes": Hostile(
        "xmlbif",
        lambda n: (
            f"<BIF><NETWORK><VARIABLE><NAME>a</NAME>{_many('<OUTCOME>{}</OUTCOME>', n)}</VARIABLE></NETWORK></BIF>"
        ),
    ),
    "xmlbif parents": Hostile(
        "xmlbif",
        lambda n: (
            "<BIF><NETWORK><VARIABLE><NAME>a</NAME><OUTCOME>t</OUTCOME></VARIABLE><DEFINITION><FOR>a</FOR>"
            f"{'<GIVEN>a</GIVEN>' * (n // 16)}<TABLE>1</TABLE></DEFINITION></NETWORK></BIF>"
        ),
    ),
    "xmlbif spaces": Hostile("xmlbif", lambda n: _XMLBIF % (" " * n + "1")),
    "xmlbif deep": Hostile("xmlbif", lambda n: "<BIF>" * (n // 5)),
    "xmlbif comments": Hostile("xmlbif", lambda n: "<BIF>" + "<!-- -->" * (n // 8) + "</BIF>"),
    "wcnf minus": Hostile("wcnf", lambda n: "1 " + "-" * n + "1 0\n"),
    "wcnf header": Hostile("wcnf", lambda n: f"p wcnf {'9' * n} 1 9\n1 1 0\n"),
    "wcnf header spaces": Hostile("wcnf", lambda n: "p" + " " * n + "wcnf 1 1 9 x\n"),
    "wcnf hard spaces": Hostile("wcnf", lambda n: " " * n + "h\n"),
    "wcnf zeros": Hostile("wcnf", lambda n: "0 " * (n // 2)),
    "wcnf empty clauses": Hostile("wcnf", lambda n: "1 0\n" * (n // 4)),
    "wcnf one literal": Hostile("wcnf", lambda n: "1 " + "1 " * (n // 2) + "0\n"),
    "wcnf long clauses": Hostile("wcnf", lambda n: ("1 " + " ".join(map(str, range(1, 101))) + " 0\n") * (n // 295)),
    "wcnf without end": Hostile("wcnf", lambda n: "1 2 3 " * (n // 6)),
    "qubo header": Hostile("qubo", lambda n: f"p qubo 0 {'1' * n} 1 0\n0 0 1\n"),
    "qubo diagonals": Hostile("qubo", lambda n: f"p qubo 0 2 {n // 6} 0\n" + "0 0 1\n" * (n // 6)),
    "qubo words": Hostile("qubo", lambda n: "p qubo 0 2 1 0\n" + "a " * (n // 2)),
    "coo digits": Hostile("coo", lambda n: f"0 {'1' * n} 1\n"),
    "coo diagonal": Hostile("coo", lambda n: _many("{} {} 1\n", n)),
    "coo repeats": Hostile("coo", lambda n: "0 1 1\n" * (n // 6)),
    "mc loops": Hostile("mc", lambda n: f"9 {n // 6}\n" + "1 1 1\n" * (n // 6)),
    "mc comments": Hostile("mc", lambda n: _many("#\n", n) + "2 1\n1 2 1\n"),
    "mc lengths": Hostile("mc", lambda n: f"9 {n // 10}\n" + "1 2\n1 2 1\n" * (n // 10)),
    "bq digits": Hostile("bq", lambda n: f"2 1\n1 2 {'1' * n}x\n"),
    "bq comments": Hostile("bq", lambda n: _many("#\n", n) + "2 1\n1 2 1\n"),
}
"""Name → kind; about half are valid, the others are refused."""

SMALL_AND_LARGE = {
    "wcsp domains": ("wcsp", "p 10 9 0 10\n" + "16777216 " * 10),
    "wcsp sum of domains": ("wcsp", "p 10 9 0 10\n" + "1000000 " * 10),
    "uai sum of domains": ("uai", "MARKOV 10 " + "1000000 " * 10 + "0"),
    "cfn sum of domains": ("cfn", _CFN % (",".join(f"v{i}:1000000" for i in range(10)), "")),
    "cfn functions": (
        "cfn",
        _CFN
        % (
            ",".join(f"v{i}:{500 + 90 * i}" for i in range(10)),
            ",".join(f"f{i}{j}:{{scope:[v{i},v{j}],type:>=,params:[0,9]}}" for i in range(10) for j in range(i)),
        ),
    ),
    "xml domains": ("xml", '<instance><domains><domain name="D" nbValues="16000000"/></domains></instance>'),
    "xml sum of domains": ("xml", _XML.replace("0..1", "0..999999") % (_X, "")),
    "yaml domains": ("yaml", "domains: {d: {values: [1 .. 16000000]}}\nvariables: {x: {domain: d}}\n"),
    "yaml sum of domains": ("yaml", _YAML.replace("0, 1", "1 .. 999999")),
    "yaml tables": (
        "yaml",
        "domains: {d: {values: [1 .. 3000]}}\nvariables: {x: {domain: d}, y: {domain: d}}\nconstraints: "
        "{c: {type: intention, function: x + y}}\n",
    ),
    "wcnf variables": ("wcnf", "p wcnf 99999999 1 9\n1 1 0\n"),
    "qubo variables": ("qubo", "p qubo 0 99999999 1 0\n0 0 1\n"),
    "coo variables": ("coo", "0 99999999 1\n"),
    "mc variables": ("mc", "99999999 1\n1 2 1\n"),
    "qpbo variables": ("qpbo", "-99999999 1\n1 2 1\n"),
    "opb variables": ("opb", "* #variable= 99999999\n+1 x1 >= 1 ;\n"),
    "opb states": ("opb", " ".join(f"+{3**i % 9973} x{i}" for i in range(2, 400)) + " >= 400000 ;\n"),
    "pre alleles": ("pre", "".join(f"1 {i} {i - 2} {i - 1} 1 {i} 1\n" for i in range(3, 40))),
    "bq variables": ("bq", "99999999 1\n1 2 1\n"),
    "wcsp table": ("wcsp", "p 2 9 1 10\n5000 5000\n2 0 1 0 0\n"),
    "wcsp pairs": (
        "wcsp",
        f"p 1000 9 1 10\n{'2 ' * 1000}\n1000 {' '.join(map(str, range(1000)))} -1 salldiff hard 10\n",
    ),
}
"""Name → format and a file of a few kilobytes that declares a hundred thousand times its size."""
