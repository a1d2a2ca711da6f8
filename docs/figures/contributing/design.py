"""Pictures of the design that figures follow."""

import torch

from derivations.kernel.site.diagrams import Picture, below, curves, heat_map, operations
from snippets.attention.formula import scores
from snippets.scaling.saturation import two_key_gradient, two_key_weight
from snippets.seeing.atlas import stored_head


def roles() -> Picture:
    names = {"Q": "query", "K": "key", "V": "value"}
    nodes: dict[str, tuple] = {letter: (f"${letter}$", place, 0, name) for place, (letter, name) in enumerate(names.items())}
    nodes |= {"step": ("attention", 1, 1), "O": ("$O$", 1, 2, "output")}
    return operations(
        nodes,
        [*((letter, "step") for letter in names), ("step", "O")],
        title="The colours of queries, keys, values and outputs",
        description="Q in blue, K in brown and V in green lead to attention, which leads to O in purple.",
    )


def marks() -> Picture:
    head = stored_head()
    gap = torch.linspace(-4, 4, 33, dtype=torch.float64)
    return below(
        heat_map(
            scores(head.query, head.key)[2:5, :4],
            marked=[(0, 2)],
            title="Cells",
            description="Positive numbers are blue, negative ones red, and one cell is framed.",
        ),
        curves(
            [("weight", gap, two_key_weight(gap)), ("derivative", gap, two_key_gradient(gap))],
            across="",
            up="",
            title="Curves",
            description="The first curve is solid and blue, the second dashed and red.",
        ),
        title="Cells and curves",
    )
