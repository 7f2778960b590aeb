"""Every number that decides who runs when in `auto`, in the order in which a solve meets them.

How a member searches is its solver's own affair (ranges of reinforced BP, temperatures of annealing, …); how the
members' runs are set up is in `kinds`. Here is what each gets, and when.
"""

from __future__ import annotations

from dataclasses import dataclass

HORIZON = 30.0
"""Seconds that members plan for when there is no time limit."""

# ---- first: what elimination solves exactly (`exact_parts`) ---------------------------------------------------------

EXACT_PART, EXACT_SECONDS = 0.2, 10.0
"""Elimination alone, before there is any answer, may take this part of the time, and so many seconds at most."""

WORK_PER_SECOND = 3e8
"""Costs that elimination adds up in a second."""

ENTRIES = 20_000_000
"""Costs that all messages of an elimination may hold."""

WIDEST = 24
"""No problem with a larger induced width is tried: two values each would already be too many."""

# ---- the members (`kinds`) ------------------------------------------------------------------------------------------

LARGE = 600
"""Variables from which message passing comes first and local search second."""

GENEROUS = 60.0
"""Seconds from which DABP takes part: it needs torch, whose import alone takes seconds, and some windows to learn."""


@dataclass(frozen=True)
class Share:
    """What a member gets before anything is known about how it does."""

    prior: float
    """Its weight beside the others' on problems below `LARGE`."""
    large: float
    """The same from `LARGE` on."""
    turn: int
    """Iterations of its first turn when members take turns."""
    delay: float = 0.0
    """Fraction of the time that passes before it takes part."""


SHARES = {
    "bp-reinforced": Share(1.0, 5.0, 200),
    "bp-reinforced 2": Share(0.0, 3.0, 200),
    "tabu": Share(2.0, 0.3, 100),
    "annealing": Share(1.5, 0.6, 200),
    "bp-split": Share(0.3, 0.3, 200),
    "forest-lns": Share(0.4, 0.4, 40),
    "dual": Share(0.35, 0.35, 100),
    "dabp": Share(0.3, 0.3, 40, delay=0.25),
}
"""All members there are, in the order of their turns; one with a weight of 0 is left out."""

FIRST_RATE = 1e-3
"""Reinforcement of a first run: an answer at once, and how long an iteration takes here."""

SECOND_RUN, LONG_RUN = 0.15, 0.75
"""Parts of the time left that the second and later runs of reinforced BP on large problems are planned to take."""

STALE, STALE_SECONDS = 0.5, 0.5
"""A patient run ends when it has found nothing better for this part of its time and so many seconds more …"""

CLOSE = 0.005
"""… if what it found is within this of the incumbent, relative to its size: it has frozen, but for a few variables."""

# ---- time among the members (`workers`, `bandit`) -------------------------------------------------------------------

SLICE_SECONDS = 0.15
"""How long a member runs before the bandit is asked again."""

MEMORY = 0.25
"""Fraction of the time after which a gain counts half."""

FLOOR = 0.08
"""The share of its prior that even the worst member keeps, so that a change of fortune is seen."""

SMALL_GAP, CLOSING = 0.03, 8.0
"""With a relative gap below this, members that raise the bound weigh so many times their prior."""

DRIFT = 0.2
"""How far what is remembered of a member's costs moves towards a worse slice."""

GROWTH = 2
"""Limited by iterations: each round of turns is this many times longer than the one before."""

# ---- toulbar2 beside them (`timed_search`, `prover`) ----------------------------------------------------------------

PROVER_CELLS, PROVER_FACTORS = 20_000_000, 300_000
"""The largest problem that is handed to toulbar2: beyond, reading it would take its whole time."""

MAX_JOBS = 64
"""With more components than this the whole problem is one job."""

SHARED_CORE = 0.15
"""Seconds of each turn when toulbar2 and a member share a single core; toulbar2 has two of them in a row."""

FIRST_LOOK = 1.0
"""Seconds after which toulbar2 is started again, once, if the incumbent is better than what it has found."""

TRIAL, SHORTEST_TRIAL, LONGEST_TRIAL = 0.2, 0.5, 10.0
"""The part of the time, between these seconds, that toulbar2 has a core before its prospects are judged."""

STALL = 8.0
"""Seconds without an improvement after which it has its core back, whatever its prospects."""

HOPELESS_GAP = 0.1
"""A relative gap above this after the trial, on a problem of many variables, is taken for hopeless."""

MANY_DIGITS = 25.0
"""How many: decimal digits of the number of assignments of a job."""
