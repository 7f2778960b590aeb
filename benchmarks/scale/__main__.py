"""Growth to a million variables.

    python -m benchmarks.scale                 # everything, which takes most of an hour
    python -m benchmarks.scale edges setup     # only these parts
    python -m benchmarks.scale page            # the picture of what is recorded; measures nothing

Each measurement is a process of its own, one at a time, and a line of ``benchmarks/recorded/scale.jsonl``, where a
later line replaces an earlier one with the same key. ``--only TEXT`` takes those whose key contains it.
"""

from __future__ import annotations

import argparse
import json

from benchmarks.scale import cluster, cut, edges, files, grids, learning, page, setup, threads
from benchmarks.scale.records import Records

PARTS = {
    "edges": edges,
    "setup": setup,
    "threads": threads,
    "grid": grids,
    "dabp": learning,
    "file": files,
    "cluster": cluster,
    "cut": cut,
}


def main() -> None:
    """Measure the parts named, or make one measurement for a parent that asks for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--only", default="", help="measurements whose key contains this")
    parser.add_argument("--measure", nargs=2, metavar=("PART", "JSON"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.measure:
        part, arguments = chosen.measure
        print(json.dumps(PARTS[part].measured(**json.loads(arguments))))
        return
    records = Records()
    for part in chosen.parts or PARTS:
        if part == "page":
            page.draw(records.part("edges"))
            continue
        for arguments in PARTS[part].measurements():
            if chosen.only in records.key(part, arguments):
                records.measure(part, arguments)


if __name__ == "__main__":
    main()
