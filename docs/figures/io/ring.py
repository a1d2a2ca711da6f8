"""Pictures of a ring: the keys on each device in each step, and the pairs of each device."""

import torch

from derivations.kernel.site.diagrams import Picture, bars, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.io.ring import contiguous, step_pairs, striped, zigzag


def moves() -> Picture:
    devices, steps = range(1, 5), range(1, 5)
    pieces = [[(device - step) % 4 + 1 for step in steps] for device in devices]
    seen = [(d, s) for s, d in step_pairs(contiguous(24, 4)).nonzero().tolist()]
    said = "; ".join(f"device {device}: {', '.join(map(str, row))}" for device, row in zip(devices, pieces))
    picture = heat_map(
        pieces,
        [f"device {device}" for device in devices],
        [f"step {step}" for step in steps],
        marked=seen,
        title="The keys on each of four devices, step by step",
        description=f"The number of the piece of keys in four steps. {said}. A piece is framed where it is the device's own or an earlier one.",
    )
    unmasked = torch.full((4, 4), (24 // 4) ** 2)
    pairs = [unmasked, step_pairs(contiguous(24, 4)), step_pairs(zigzag(24, 4))]
    return played(picture, names=["none", "causal", "causal, zigzag"], pairs=[one.tolist() for one in pairs])


def pairs() -> Picture:
    rows: list = []
    said = []
    for name, assign in (("plain", contiguous), ("zigzag", zigzag), ("striped", striped)):
        found = step_pairs(assign(24, 4)).sum(0).tolist()
        rows += [*((f"{name}, device {device}", count) for device, count in enumerate(found, 1)), None]
        said.append(f"{name}: {', '.join(map(str, found))}")
    return bars(
        rows[:-1],
        digits=0,
        title="Pairs of each of four devices under a causal mask, 24 tokens",
        description="Pairs of the four devices. " + "; ".join(said) + ".",
    )
