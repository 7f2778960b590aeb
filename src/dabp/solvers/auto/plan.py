"""Every number that decides who runs when in `auto`, in the order in which a solve meets them.

How a member searches is its solver's own affair (ranges of reinforced BP, temperatures of annealing, …); how the
members' runs are set up is in `kinds`. Here is what each gets, and when; `cold_plan` has the numbers for machines whose
kernels are not compiled yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dabp.solvers.belief_propagation.reinforcement import FASTEST

if TYPE_CHECKING:
    from dabp.problem import Problem
    from dabp.solvers.auto.features import Features

HORIZON = 30.0
"""Seconds that members plan for when there is no time limit."""

# ---- before any member runs (`timed_search`, `features`) ------------------------------------------------------------

EARLY_ENTRIES, AHEAD_PART, APART_SECONDS, ADDING_SECONDS = 300_000, 0.25, 3e-7, 2e-8
"""Entries of scopes (or eight cells each) for a second of the time: with more of them descent begins at once, and the
others are prepared beside it; for this part it has a thread of its own, or the only one. Components are looked for if
so many seconds are left for each entry, and adding up what an assignment costs is taken to need so many, …"""


def prepared_beside(problem: Problem, horizon: float) -> bool:
    """Whether it would take a noticeable part of the time to prepare the members."""
    return len(problem.scope_variables) + len(problem.pool) / 8 > EARLY_ENTRIES * horizon


FIRST_ANSWER = 0.02
"""… and otherwise descent to a first answer may take this part of the time before."""

SAMPLED_TABLES, SAMPLED_VALUES = 256, 128
"""Factors whose tables are looked at to tell what a problem is like, and values of each variable in these."""

WHOLE_TABLES = 8
"""So many between two largest domains tell alone whether agreeing is favoured: others may have lost values."""

# ---- first: what elimination solves exactly (`exact_parts`) ---------------------------------------------------------

ORDER_PART = 0.03
"""Part of the time in which an elimination order must be found, and that of its components."""

EXACT_PART, EXACT_SECONDS = 0.05, 3.0
"""Elimination alone, before any member runs, may take this part of the time, and so many seconds at most."""

BESIDE_PART, BESIDE_ORDER = 0.5, 0.1
"""One that would take longer, but no more than this part of the time, runs beside the members instead, where the
search for an order may take that part."""

ORDER_SECONDS, ORDER_VARIABLES = 1e-5, 5_000
"""Seconds that an edge takes in the search for an order, with more variables than this; with fewer it takes no time."""


def order_seconds(features: Features) -> float:
    """About how long the search for an elimination order takes."""
    return ORDER_SECONDS * features.num_edges if features.num_variables > ORDER_VARIABLES else 0.0


WORK_PER_SECOND = 3e8
"""Costs that elimination adds up in a second."""

ENTRIES = 20_000_000
"""Costs that all messages of an elimination may hold."""

WIDEST = 24
"""No problem with a larger induced width is tried: two values each would already be too many."""

# ---- the members (`kinds`) ------------------------------------------------------------------------------------------

MEDIUM, LARGE = 150, 600
"""Variables from which annealing comes first, and from which message passing does."""

GENEROUS = 60.0
"""Seconds from which DABP takes part: it needs some windows to learn."""

MOSTLY, EXCHANGING, FOLLOWING = 0.9, 0.5, 0.25
"""Shares from which on a problem counts as made of tables of a kind, as being about who has which value, and as stated
through variables that follow from others."""

IMAGE_VARIABLES, IMAGE_DEGREE = 200, 30.0
"""Images: at least so many variables, at most so many neighbours each, and mostly attractive tables."""


def character(features: Features) -> tuple[str, str]:
    """What kind of problem this is, which decides the members' shares, and why in words.

    - ``image``: attractive tables on a sparse graph. Its relaxation is nearly tight: the dual comes first, then
      labellings read from it and moves that change many variables at once.
    - ``permutation``: variables that must all differ and nearly take all values: annealing, which exchanges them.
    - ``binary``: two values each, not attractive, little forbidden: local search makes millions of moves a second.
      Where it has to go around what is forbidden (independent sets, covers), BP finds better.
    - ``large``: anything else from `LARGE` variables on: long runs of BP, reinforced and learned, and annealing.
    - ``medium``: from `MEDIUM` variables on: slow annealing; single runs of BP vary, tabu search looks at all moves.
    - ``small``: the rest: many short runs of local search and of BP.
    """
    sparse = features.num_variables >= IMAGE_VARIABLES and features.degree <= IMAGE_DEGREE
    if sparse and features.largest_arity <= 2 and features.attractive >= MOSTLY:
        return "image", f"{features.attractive:.0%} of the tables favour agreement: the dual comes first"
    if features.exchanging >= EXCHANGING:
        return "permutation", f"{features.exchanging:.0%} of the variables must all differ: annealing exchanges values"
    if features.largest_domain <= 2 and features.largest_arity <= 2 and features.crisp < MOSTLY:
        return "binary", "two values a variable: local search comes first"
    if features.num_variables >= LARGE:
        return "large", f"{features.num_variables:,} variables: long runs of belief propagation come first"
    if features.num_variables >= MEDIUM:
        return "medium", f"{features.num_variables:,} variables: annealing comes first"
    return "small", f"{features.num_variables:,} variables: local search and short runs of belief propagation"


@dataclass(frozen=True)
class Share:
    """What a member gets before anything is known about how it does."""

    weights: dict[str, float]
    """Its weight beside the others' by `character`; where there is none it is left out."""
    turn: int
    """Iterations of its first turn when members take turns; 0 if it plans by time and then has none."""
    delay: float = 0.0
    """Fraction of the time that passes before it takes part."""
    image_delay: float = 0.0
    """The same on images, where it begins sooner if nobody else has anything to do."""
    setup: float = 0.0
    """Seconds that it takes to start per million edges (costs of messages and tables counting as some more)."""


CHARACTERS = ("small", "medium", "large", "image", "binary", "permutation")


def _weights(*first: float, **others: float) -> dict[str, float]:
    """By `character`, in that order or by name; 0 where none is given."""
    return {**dict.fromkeys(CHARACTERS, 0.0), **dict(zip(CHARACTERS, first, strict=False)), **others}


SHARES = {
    "bp-reinforced": Share(_weights(1.0, 0.3, 4.0, 0.4, 0.4, 0.2), 200, image_delay=0.6, setup=0.33),
    "bp-learned": Share(_weights(medium=3.0, large=4.0), 200, setup=0.4),
    "bp-cooled": Share(_weights(small=1.0, medium=0.5), 0, setup=0.33),
    "cooling": Share(_weights(small=0.5, medium=0.3), 0, setup=0.2),
    "tabu": Share(_weights(2.0, 1.0, 0.3, 0.0, 2.5, 1.0), 100, setup=0.2),
    "tabu 2": Share(_weights(0.4, 0.2, 0.1, 0.0, 0.5, 0.2), 0, setup=0.2),
    "annealing": Share(_weights(1.5, 5.0, 3.0, 0.0, 3.0, 5.0), 200, setup=0.2),
    "annealing 2": Share(_weights(medium=4.0, binary=0.5, permutation=4.0), 200, setup=0.2),
    "tempering": Share(_weights(medium=10.0), 0, setup=0.2),
    "following": Share(_weights(4.0, 8.0, 6.0, 0.0, 4.0, 4.0), 0, setup=0.05),
    "descent": Share(_weights(0.4, 0.4, 0.4, 0.4, 0.4, 0.4), 0, setup=0.05),
    "opening": Share(_weights(image=8.0), 0, setup=0.2),
    "bp-split": Share(_weights(0.3, 0.1, 0.3, 0.0, 0.1), 200, setup=0.65),
    "forest-lns": Share(_weights(0.4, 0.1, 0.4, 0.3, 0.4, 0.1), 40, image_delay=0.6, setup=0.4),
    "expansion": Share(_weights(image=3.0), 10, setup=0.25),
    "windows": Share(_weights(image=3.0), 0, image_delay=0.04, setup=0.25),
    "dual": Share(_weights(0.35, 0.1, 0.35, 4.0, 0.35, 0.35), 100, setup=0.55),
    "dabp": Share(_weights(small=0.3, medium=0.2, binary=0.3), 40, delay=0.25),
    "elimination": Share(_weights(0.5, 0.5, 0.5, 0.0, 0.5, 0.5), 100, delay=0.1),
}
"""All members there are, in the order of their turns; one without a weight is left out."""

CYCLE_SECONDS, MANY_VALUES = 7e-8, 32
"""Seconds that an expansion takes for each edge, and from how many values on a cycle through all may wait: with few
of them the first expansions gain most of what there is to gain, with many the dual does."""

LATE_EXPANSION = ((0.5, 1.0), (0.2, 0.5))
"""Where a cycle would take more than the first part of the time, expansion begins when the second has passed, from
what the dual, which has all threads until then, has decoded: 1 = not at all."""


def expansion_delay(features: Features, horizon: float) -> float:
    """The part of the time that passes before expansion takes part."""
    if features.largest_domain < MANY_VALUES:
        return 0.0
    cycle = CYCLE_SECONDS * features.num_edges * features.largest_domain
    return next((late for part, late in LATE_EXPANSION if cycle > part * horizon), 0.0)


WINDOW_COST_SECONDS, WINDOW_PART = 2e-6, 0.5
"""Seconds that windows all over a problem take for each cost of its messages, and the part of the time for that."""

WINDOW_COSTS, WINDOW_GROWTH = 120_000, 2
"""Costs that the messages of a window have at first, and how many times more when all such windows are done."""

WINDOW_PASSES, WINDOW_LOOK, WINDOW_GAIN = 600, 20, 0.02
"""Most passes in a window, and after how many the bound must have come this part of the gap nearer to go on."""

WINDOW_SLACK = 1e-3
"""What passes in single precision may be off by when integer costs are compared with their bound."""


def window_seconds(features: Features) -> float:
    """About how long it takes to look at all windows of the first size."""
    return WINDOW_COST_SECONDS * features.num_messages


PROVED_IMAGE = 2_000
"""Variables of the largest image that toulbar2 is tried on: on larger ones the dual proves, or nobody does."""


def proved_by_search(features: Features) -> bool:
    """Whether a problem is of a kind that toulbar2 is tried on."""
    return features.num_variables <= PROVED_IMAGE or character(features)[0] != "image"


SETUP_PART, FIRST_SETUP_PART = 0.3, 0.6
"""A member whose start would take more than this part of the time left is left out, the one of most weight only if it
would take more than the other part; but never all of them."""

EDGE_COSTS, EDGE_CELLS = 200.0, 6.0
"""How many costs of messages, and how many cells of different tables, take as long to lay out as an edge."""


def setup_seconds(name: str, features: Features) -> float:
    """About how long a member takes to start, on a machine that does other things as well."""
    edges = features.num_edges + features.num_messages / EDGE_COSTS + features.num_different_cells / EDGE_CELLS
    return SHARES[name].setup * 1e-6 * edges


LAYOUT, LAYOUT_BYTES = 4.5, {"forest-lns": 27.0, "dual": 25.0, "following": 0.0}
"""Bytes that a member takes for each cell of a table at its worst moment: messages' tables in single precision, or
local search's of 16 bits from both ends; and members that take more."""

ONE_LAYOUT = frozenset({"tabu", "tabu 2", "annealing", "annealing 2", "tempering", "cooling", "opening"})
"""Members that move on one table together (`local_search.shared_tables`)."""

LAYOUT_ROOM = 2**28
"""Bytes that the members together may take; or what sharing tables saves us against a solver that does not share, if
that is more: with toulbar2 beside them the whole takes about twice what toulbar2 alone does. Images are left alone,
where large layouts are worth it."""


def layout_room(features: Features) -> float:
    """Bytes that the members' layouts may take together."""
    return max(LAYOUT_ROOM, 8.0 * (features.num_cells - features.num_different_cells))


def layout_bytes(name: str, features: Features) -> float:
    """About what a member's own layout takes."""
    return LAYOUT_BYTES.get(name, LAYOUT) * features.num_different_cells


FIRST_DAMPING, FIRST_RATE, FIRST_PART = 0.2, 1e-3, 0.25
"""Damping and reinforcement of a first run of reinforced BP: an answer at once, and how long an iteration takes here;
faster if it would take more than this part of the time."""


def iteration_seconds(features: Features) -> float:
    """About how long an iteration of BP takes on one core."""
    return 2e-9 * (10 * features.num_edges + 0.5 * features.num_cells)


def first_rate(features: Features, horizon: float) -> float:
    """The rate of a first run of reinforced BP, which takes about 1 / rate iterations."""
    return float(min(FASTEST, max(FIRST_RATE, iteration_seconds(features) / (FIRST_PART * max(horizon, 1e-3)))))


LONG_RUN = 0.75
"""Part of the time left that the third and later runs of reinforced BP on large problems are planned to take."""

ALONE_ITERATIONS, ALONE_PART = 1_000, 0.85
"""Where there is time for fewer iterations of BP than this on one core, one run of it has all threads, and the others
wait until this part of the time has passed."""


def few_iterations(features: Features, horizon: float) -> bool:
    """Whether there is time for few iterations of BP, by about how long one takes on one core."""
    return ALONE_ITERATIONS * iteration_seconds(features) > horizon


FEW_NEIGHBOURS = 0.25
"""A sparse problem on which there is time for few iterations (few variables, many values) is treated as a large one, if
variables have neighbours among no more than this part of the others: short runs of BP would not come to their end."""


def slow_and_sparse(features: Features, horizon: float) -> bool:
    """Whether a problem of few variables is one for long runs of belief propagation for all that."""
    sparse = features.degree <= min(SPARSE_DEGREE, FEW_NEIGHBOURS * features.num_variables)
    return sparse and few_iterations(features, horizon)


FEWEST_ITERATIONS, PREPARED = 9, 0.9
"""A run of BP with fewer iterations than this in what is left of the time is worth less than descent, …"""


def too_few_iterations(name: str, features: Features, horizon: float) -> bool:
    """… the part that preparation leaves, less its own start."""
    left = ALONE_PART * (PREPARED * horizon - setup_seconds(name, features))
    return name.startswith("bp-") and FEWEST_ITERATIONS * iteration_seconds(features) > left


OPENING_SECONDS, OPENING_PART, OPENING_SWEEPS = 2.0, 0.2, 150
"""Images with less time than this begin with one quick cooling that takes this part of it, if that is enough for so
many sweeps: the dual alone might end before it has a labelling to show."""


def worth_opening(features: Features, horizon: float) -> bool:
    """Whether a quick cooling comes first, by about how long a sweep takes."""
    sweep = 3e-8 * features.num_variables * max(1.0, features.largest_domain / 8)
    return horizon < OPENING_SECONDS and OPENING_SWEEPS * sweep <= OPENING_PART * horizon


COOLED_PART, COOLED_RATE = 0.08, (5e-5, FIRST_RATE)
"""Part of the time left that a run of BP takes before its answer is cooled, and the rates that this may lead to."""

COOLINGS, COOLING_HEAT = 4, (0.4, 0.8)
"""Coolings without a better answer after which another start is made, and where one begins, drawn from here, as a part
of the temperature at which annealing from scratch would."""

COOLING_PARTS, SHORTEST_COOLING = (0.02, 0.04, 0.08), 0.01
"""Parts of the time that coolings take, one of them each, and the fewest seconds."""

STALE, STALE_SECONDS, CLOSE = 0.5, 0.5, 0.005
"""A patient run ends when it has found nothing better for this part of its time and so many seconds more, if what it
found is within this of the incumbent, relative to its size: it has frozen, but for a few variables. What is as near is
put together with the incumbent where answers may differ on many islands."""

SLIVER = 0.1
"""A member that one of several workers (`sharing`) would have only this part of its time for is left to others."""

# ---- time among the members (`workers`, `bandit`) -------------------------------------------------------------------

GRACE = 0.15
"""Seconds that the end of a solve waits for members in the midst of a step; who takes longer ends by itself."""

SLICE_SECONDS, SLICE_PART = 0.15, 0.04
"""How long a member runs before the bandit is asked again: so many seconds, or this part of all if that is less."""


def slice_seconds(horizon: float) -> float:
    """How long a slice is in a solve of so many seconds."""
    return min(SLICE_SECONDS, SLICE_PART * horizon)


MEMORY, FLOOR = 0.25, 0.08
"""Fraction of the time after which a gain counts half, and the share of its prior that even the worst member keeps, so
that a change of fortune is seen."""

SMALL_GAP, CLOSING = 0.03, 8.0
"""With a relative gap below this, members that raise the bound weigh so many times their prior."""

SEEKING, AT_LOSS = 0.5, 0.5
"""Without an incumbent, the weight of a member that learns from violations (`SEEKERS`), beside all others together;
when only such a one has found anything, the others weigh this part of what they did."""

SEEKERS = frozenset({"tabu", "tabu 2"})
"""Members that weigh what they violate in the midst of a run; annealing does between its cycles, BP never."""

STALE_PART = 0.2
"""After so long without an improvement, as a part of the bandit's memory, distances from the incumbent count half."""

PATIENT_RUNS, DRIFT = 2, 0.2
"""Whole runs that a patient member has before it is judged by what they found, and how far what is remembered of its
costs moves towards a worse slice."""

GROWTH = 2
"""Limited by iterations: each round of turns is this many times longer than the one before."""

# ---- toulbar2 beside them (`timed_search`, `prover`) ----------------------------------------------------------------

PROVER_CELLS, PROVER_FACTORS = 1_000_000, 15_000
"""The largest problem that is handed to toulbar2, for each second of the time: beyond, reading it would take most."""

MAX_JOBS, SHARED_CORE = 64, 0.15
"""With more components the whole problem is one job. Seconds of each turn when toulbar2 and a member share a single
core; toulbar2 has two of them in a row."""

FIRST_LOOK = 1.0
"""Seconds after which toulbar2 is started again, once, if the incumbent is better than what it has found."""

TRIAL, SHORTEST_TRIAL, LONGEST_TRIAL = 0.2, 0.5, 10.0
"""The part of the time, between these seconds, that toulbar2 has a core before its prospects are judged."""

START_PART, LULLS, DIVE = 0.3, 2.0, 0.5
"""Where most is forbidden the trial is longer by so many times what passes before the first bound, but at most by this
part of the time: a dive takes about as long as reading and propagating. The shortest trial of a vast problem is then so
many times as long as elsewhere."""

VAST_DIGITS, VAST_TRIAL, VAST_GAP = 60.0, 0.05, 0.01
"""From so many decimal digits of the number of assignments on, the trial is this part of the time, a gap above this is
hopeless, and stays so when nobody improves any more."""

SPARSE_VARIABLES, SPARSE_DEGREE, SPARSE_TRIAL = 400, 12.0, 0.6
"""A problem of at most so many variables and neighbours is never vast: its structure (frequencies, schedules) may be
what a proof lives on, and toulbar2's own answers what nobody else finds; it is tried for this part of the time."""

VAST_SECONDS, SPARSE_SECONDS = 2.0, 1.0
"""With less time than this toulbar2 does not begin on a vast problem, and on one that has as many digits and is sparse
or forbids much: its start alone takes much of it."""

STALL = 8.0
"""Seconds without an improvement after which it has its core back, whatever its prospects."""

HOPELESS_GAP, MANY_DIGITS = 0.1, 25.0
"""A relative gap above this after the trial is taken for hopeless, if a job's assignments have so many digits."""
