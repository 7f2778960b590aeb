"""What DABP has learned in each iteration, collected while it runs, and as a file that NumPy reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import DabpError, ParameterError
from dabp.safe_files import replacing

ONCE = ("edge_variable", "edge_factor", "weight_edge", "weight_neighbour")
"""Fields of an `Observation` that are the same in each iteration."""


class Learned:
    """An observer for `dabp.solve` that keeps all iterations of the solver dabp.

    Examples
    --------
    >>> import dabp
    >>> problem = dabp.generate("random-cop", variables=8, density=0.5, seed=1)
    >>> learned = Learned()
    >>> result = dabp.solve(problem, "dabp", max_iterations=30, observe=learned)
    >>> learned.arrays()["damping"].shape
    (30, 56)
    """

    def __init__(self) -> None:
        self._kept: list[dict[str, Any]] = []
        self._once: dict[str, NDArray[np.int64]] = {}

    def __len__(self) -> int:
        """How many iterations were observed."""
        return len(self._kept)

    def __call__(self, observation: Any) -> None:
        """Keep what one iteration inferred."""
        if not hasattr(observation, "damping"):
            raise ParameterError("a Learned is an observer and no callback: dabp.solve(…, observe=learned)")
        fields = observation._asdict()
        self._once = {name: fields.pop(name) for name in ONCE}
        self._kept.append(fields)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Every field of `Observation` by name, with the iterations as first axis where they differ."""
        names = self._kept[0] if self._kept else ()
        return {**self._once, **{name: np.array([each[name] for each in self._kept]) for name in names}}

    def save(self, path: str | Path) -> None:
        """Write `arrays` as an ``.npz`` file, for `numpy.load`."""
        if Path(path).suffix != ".npz":
            raise DabpError(f"{path}: what DABP has learned is written as .npz")
        with replacing(path, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, **self.arrays())
