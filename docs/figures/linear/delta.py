"""Pictures of two states after three writes, and of the error of values that are overwritten again and again."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, curves, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.linear.delta import additive_step, delta_step

KEYS, WIDTH, WRITES = 16, 64, 256
# Keys of length one: the first two are at a right angle, the third is not at a right angle to either.
NAMED = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]}


def reads() -> Picture:
    """What the keys read after the first one has got three values."""
    keys = torch.tensor(list(NAMED.values()), dtype=torch.float64)
    names = {"delta rule": delta_step, "plain addition": additive_step}
    values = [10.0, 20.0, 30.0]
    pictures = []
    for name, step in names.items():
        state, found = torch.zeros(2, 1, dtype=torch.float64), []
        for value in values:
            state = step(state, keys[:1], torch.tensor([[value]], dtype=torch.float64), beta=1.0)
            found.append(keys @ state)
        table = torch.cat(found, -1)  # (key, write)
        said = "; ".join(f"key {key}: {', '.join(f'{x:.0f}' for x in row)}" for key, row in zip(NAMED, table.tolist()))
        pictures.append(
            heat_map(
                table,
                [f"key {key}" for key in NAMED],
                [f"{value:.0f}" for value in values],
                across="value written",
                digits=0,
                most=60,
                title=name.capitalize(),
                description=f"What each key reads after each write. {said}.",
            )
        )
    picture = beside(*pictures, title="What keys read from two states")
    rates = [0, 0.25, 0.5, 0.75, 1, 1.5, 2]
    return played(picture, keys=list(NAMED.values()), names=list(NAMED), values=[3, 5], rates=rates, rate=1, most=18)


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
