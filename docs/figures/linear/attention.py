"""Pictures of the two forms of causal linear attention, and of the error of values read back from a state, as more are stored."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, curves, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.linear.attention import masked_product, read_state, running_state, write_state

WIDTH, MOST, REPEATS = 64, 128, 200
# Queries, keys and values of six tokens with two features.
QUERIES, KEYS = [[1, 0], [0, 1], [1, 1], [2, -1], [0, 2], [1, -1]], [[1, 1], [2, 0], [0, 1], [1, -1], [-1, 1], [1, 2]]
VALUES = [[1, 0], [2, 1], [0, 3], [1, 1], [3, 2], [2, 0]]


def forms() -> Picture:
    """The scores of six tokens under a causal mask, and the state that the same tokens leave."""
    F, G, V = (torch.tensor(rows, dtype=torch.float64) for rows in (QUERIES, KEYS, VALUES))
    scores = (F @ G.mT).tril()
    outputs, state = running_state(F, G, V)
    if not torch.equal(outputs, masked_product(F, G, V)):
        raise ValueError("the two forms differ")
    names, last = [f"{i}" for i in range(1, 7)], ", ".join(f"{x:.0f}" for x in outputs[-1].tolist())
    picture = beside(
        heat_map(
            scores,
            names,
            names,
            down="query",
            across="key",
            title="Scores",
            description="rows "
            + "; ".join(", ".join(f"{x:.0f}" for x in row) for row in scores.tolist())
            + ". Above the diagonal all are 0.",
        ),
        heat_map(
            state,
            title="State",
            description="rows "
            + "; ".join(", ".join(f"{x:.0f}" for x in row) for row in state.tolist())
            + f". The last query reads {last}.",
        ),
        title="Linear attention in two forms",
    )
    return played(picture, queries=QUERIES, keys=KEYS, values=VALUES, first=3, most=12)


def error(key: torch.Tensor) -> float:
    """The root of the mean square error of values of variance 1, read back by their own keys."""
    value = torch.randn(*key.shape[:-1], 1, generator=torch.Generator().manual_seed(1), dtype=key.dtype)
    return (read_state(key, write_state(key, value)) - value).square().mean().sqrt().item()


def recall() -> Picture:
    generator = torch.Generator().manual_seed(0)
    normalised = torch.nn.functional.normalize
    random = normalised(torch.randn(REPEATS, MOST, WIDTH, generator=generator, dtype=torch.float64), dim=-1)
    counts = [1, *range(4, MOST + 1, 4)]
    by_chance = [error(random[:, :n]) for n in counts]
    chosen = [n for n in counts if n <= WIDTH]
    exact = [error(torch.eye(WIDTH, dtype=torch.float64)[:n]) for n in chosen]
    return curves(
        [("random keys", counts, by_chance), ("orthonormal", chosen, exact)],
        across="keys stored",
        up="error of a value of size one",
        x_ticks=(0, 32, 64, 96, 128),
        title="The error of values read back from a state with 64 rows",
        description=f"With orthonormal keys the error is {max(exact):.0f} up to {WIDTH} keys, where that curve ends. With random keys "
        f"of length one it is {by_chance[1]:.2f} at {counts[1]} keys, {by_chance[counts.index(WIDTH)]:.2f} at {WIDTH} "
        f"and {by_chance[-1]:.2f} at {MOST}.",
    )
