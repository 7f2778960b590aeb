"""The authors' numbers (tests/data/dabp_reference.npz) in our names and numbering."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from dabp.graph import FactorGraph
from dabp.problem import Problem
from dabp.solvers.dabp.structure import Structure

FILE = Path(__file__).parents[2] / "data" / "dabp_reference.npz"
INSTANCES = ("random_cop", "graph_coloring")
SCALE = 50.0
_HEAD_PARTS = {"query_proj.weight": "query", "key_proj.weight": "key", "score_proj.weight": "score"}


class Reference:
    """One instance: the problem, its split graph, and what the program computed on it."""

    def __init__(self, name: str):
        with np.load(FILE) as file:
            self.arrays = {k.removeprefix(f"{name}/"): file[k] for k in file.files if k.startswith(f"{name}/")}
        rows, columns = self["row_var"].astype(int), self["col_var"].astype(int)
        tables = self["split_cost"].astype(np.float64) * SCALE
        self.num_factors, size = len(rows), tables.shape[1]
        # Their tables went through float32, so each copy comes as a factor of its own, exactly as it was.
        self.problem = Problem(
            [size] * len(self["color"]),
            np.stack([rows, columns], 1).ravel(),
            np.arange(0, 2 * len(rows) + 1, 2),
            tables.ravel(),
            np.arange(len(rows) + 1) * size * size,
            variable_names=[f"X{i + 1}.1" for i in range(len(self["color"]))],
        )
        graph = FactorGraph.from_problem(self.problem, None, np.dtype(np.float64), cost_scale=SCALE, perturbation=0.0)
        self.structure = Structure.from_graph(graph, self.problem)
        # Ours: edge 2f is factor f and its row variable, 2f + 1 its column variable; theirs: f and NF + f.
        self.edges = np.arange(2 * len(rows)).reshape(2, -1).T.ravel()

    def __getitem__(self, key: str) -> np.ndarray:
        return self.arrays[key]

    def by_edge(self, t: int, name: str) -> np.ndarray:
        """A quantity of iteration t in our order of edges."""
        if f"t{t}/{name}" in self.arrays:
            return self[f"t{t}/{name}"][self.edges]
        return np.concatenate([self[f"t{t}/{name}_row"], self[f"t{t}/{name}_col"]])[self.edges]

    def parameters(self, prefix: str) -> dict[str, np.ndarray]:
        """Parameters in our names: heads stacked, colour embedding, GRUs and layers renamed."""
        result: dict[str, np.ndarray] = {}
        heads: dict[str, dict[int, np.ndarray]] = {}
        for key, value in self.arrays.items():
            if not key.startswith(prefix + "/"):
                continue
            key = key[len(prefix) + 1 :]
            if key.startswith("attentions."):
                _, head, part = key.split(".", 2)
                heads.setdefault(_HEAD_PARTS.get(part, "score_bias"), {})[int(head)] = value.squeeze()
                continue
            key = re.sub(r"conv(\d)", lambda match: f"layers.{int(match[1]) - 1}", key)
            key = key.replace("lin.weight", "weight").replace("vn_color_embed.weight", "color_embedding")
            key = key.replace("gru1", "gru_v2f").replace("gru2", "gru_f2v")
            result[key] = value[0] if "att_" in key else value
        result |= {name: np.stack([values[i] for i in sorted(values)]) for name, values in heads.items()}
        return {name: np.asarray(value, dtype=np.float64) for name, value in result.items()}


def weights(reference: Reference, query: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Weights of each (target edge, source edge) pair of the reference, heads averaged, straight from Eq. 10-13."""
    count = reference.num_factors
    target, source = reference["weight_target_edge"] % count, reference["weight_source_edge"] % count
    powers = np.exp(1.0 / (1.0 + np.exp(-(query[target] + key[source]))))
    edge = reference["weight_target_edge"].astype(int)
    total = np.zeros((2 * count, query.shape[1]))
    np.add.at(total, edge, powers)
    return (powers / total[edge]).mean(1)
