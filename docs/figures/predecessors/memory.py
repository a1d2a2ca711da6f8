"""Pictures of a memory: the distance of a state from a stored pattern."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.predecessors.memory import hopfield_step

STEPS = 6


def distances(stored: torch.Tensor, state: torch.Tensor, beta: float) -> list[float]:
    found = []
    for _ in range(STEPS + 1):
        found.append((state - stored[0]).norm().item())
        state = hopfield_step(state, stored, beta=beta)
    return found


def recalled() -> Picture:
    generator = torch.Generator().manual_seed(0)
    stored = torch.randn(8, 64, generator=generator, dtype=torch.float64)
    state = stored[0] + 0.8 * torch.randn(64, generator=generator, dtype=torch.float64)
    scales = [("scale 1/8", 1 / 8), ("scale 1/16", 1 / 16), ("scale 1/64", 1 / 64)]
    lines = [(name, list(range(STEPS + 1)), distances(stored, state, beta)) for name, beta in scales]
    ends = ", ".join(f"{name} at {values[-1]:.2f}" for name, _, values in lines)
    return curves(
        lines,
        across="step",
        up="distance from the pattern",
        x_ticks=list(range(STEPS + 1)),
        title="A state that starts near one of eight patterns",
        description=f"Eight patterns of width 64. All start at {lines[0][2][0]:.2f} from the first. After {STEPS} steps: {ends}.",
    )
