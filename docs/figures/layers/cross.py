"""A picture of one matrix of scores, normalised in both directions."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map


def directions() -> Picture:
    scores = torch.tensor([[2.0, 0, 0, 1], [2, 1, 0, 0], [2, 0, 3, 0]], dtype=torch.float64)  # (n, m)
    rows, columns = ["$q_1$", "$q_2$", "$q_3$"], ["$k_1$", "$k_2$", "$k_3$", "$k_4$"]
    weights = {"rows": scores.softmax(1), "columns": scores.softmax(0)}
    names = {"rows": "The weights of each query sum to one", "columns": "The weights of each key sum to one"}
    maps = [
        heat_map(
            values.tolist(),
            rows,
            columns,
            title=names[axis],
            description=f"Weights whose {axis} sum to one. The first query and the first key: {values[0, 0].item():.2f}.",
            most=1,
        )
        for axis, values in weights.items()
    ]
    return below(*maps, title="Weights of the same scores in both directions")
