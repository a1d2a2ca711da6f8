"""A picture of the error of values read back from a state, as more are stored."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.linear.attention import read_state, write_state

WIDTH, MOST, REPEATS = 64, 128, 200


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
