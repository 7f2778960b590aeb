"""Makes the example files of this folder: ``python examples/make_examples.py``.

Everything is drawn from fixed seeds, so the files can be made again to the letter.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dabp

HERE = Path(__file__).parent


def frequencies() -> dabp.Problem:
    """Twenty radio links, eight frequencies; near links must keep apart, and low frequencies are cheaper."""
    rng = np.random.default_rng(7)
    places = rng.random((20, 2))
    model = dabp.Model("frequencies")
    links = model.add_variables([f"link{i:02d}" for i in range(20)], list(range(100, 180, 10)))
    for link in links:
        model.add_cost([link], lambda f: (f - 100) / 10, name=f"price_{link}")
    for i in range(20):
        for j in range(i + 1, 20):
            distance = float(np.hypot(*(places[i] - places[j])))
            if distance < 0.12:
                model.forbid([links[i], links[j]], lambda a, b: abs(a - b) < 20, name=f"apart_{i}_{j}")
            elif distance < 0.35:
                weight = round(60 * (0.35 - distance)) + 1
                model.add_cost([links[i], links[j]], lambda a, b, w=weight: w * max(0, 2 - abs(a - b) // 10))
    return model.build()


def network() -> dabp.Problem:
    """A Bayesian network of a coughing patient: each cost is −ln of a conditional probability."""
    tables = [
        (["season"], [0.5, 0.5]),
        (["smoker"], [0.7, 0.3]),
        (["cold", "season"], [[0.6, 0.9], [0.4, 0.1]]),
        (["bronchitis", "smoker"], [[0.95, 0.7], [0.05, 0.3]]),
        (["cough", "cold", "bronchitis"], [[[0.95, 0.2], [0.4, 0.1]], [[0.05, 0.8], [0.6, 0.9]]]),
        (["fever", "cold"], [[0.98, 0.6], [0.02, 0.4]]),
        (["tired", "cold", "bronchitis"], [[[0.8, 0.5], [0.3, 0.2]], [[0.2, 0.5], [0.7, 0.8]]]),
    ]
    model = dabp.Model("cough")
    model.add_variable("season", ["winter", "summer"])
    for name in ("smoker", "cold", "bronchitis", "cough", "fever", "tired"):
        model.add_variable(name, ["no", "yes"])
    for scope, probabilities in tables:
        model.add_cost(scope, -np.log(np.array(probabilities)))
    return model.build()


def main() -> None:
    """Write the files."""
    dabp.write(frequencies(), HERE / "frequencies.cfn")
    dabp.write(frequencies(), HERE / "frequencies.wcsp")
    dabp.write(network(), HERE / "cough.uai")
    (HERE / "cough.uai.evid").write_text("2 4 1 5 0\n")  # cough yes, fever no


if __name__ == "__main__":
    main()
