"""A picture of the error of values that are overwritten again and again."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.linear.delta import additive_step, delta_step

KEYS, WIDTH, WRITES = 16, 64, 256


def rewritten() -> Picture:
    generator = torch.Generator().manual_seed(0)
    keys = torch.nn.functional.normalize(torch.randn(KEYS, WIDTH, generator=generator, dtype=torch.float64), dim=-1)
    current = torch.zeros(KEYS, 8, dtype=torch.float64)
    states = {"linear attention": torch.zeros(WIDTH, 8, dtype=torch.float64), "delta rule": torch.zeros(WIDTH, 8, dtype=torch.float64)}
    steps = {"linear attention": additive_step, "delta rule": delta_step}
    errors = {name: [] for name in steps}
    for write in range(WRITES):
        i = write % KEYS
        current[i] = torch.randn(8, generator=generator, dtype=torch.float64)
        for name, step in steps.items():
            states[name] = step(states[name], keys[i : i + 1], current[i : i + 1], beta=1.0)
            seen = slice(0, min(write + 1, KEYS))
            errors[name].append((keys[seen] @ states[name] - current[seen]).square().mean().sqrt().item())
    count = list(range(1, WRITES + 1))
    last = {name: error[-1] for name, error in errors.items()}
    return curves(
        [(name, count, error) for name, error in errors.items()],
        across="values written",
        up="error of the current values",
        x_ticks=(0, 64, 128, 192, 256),
        title=f"{KEYS} keys of width {WIDTH} whose values change again and again",
        description=f"Random values of size one under {KEYS} random keys of length one, written in turn. "
        f"After {WRITES} writes, the error of linear attention is {last['linear attention']:.1f}, and that of the delta rule {last['delta rule']:.1f}.",
    )
