"""Pictures of the stream in a block, and of how much each write changes its direction."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, operations
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.layers.residual import cosines, random_stack
from snippets.seeing.one_token import stored_token

COUNT = 48


def stream() -> Picture:
    return operations(
        {
            "x": ("input", 0, 0, "$d$"),
            "one": ("norm", 1, 1),
            "attention": ("attention", 1, 2),
            "first": ("add", 0, 3),
            "two": ("norm", 1, 4),
            "layer": ("feed-forward", 1, 5),
            "second": ("add", 0, 6),
            "y": ("to the next block", 0, 7, "$d$"),
        },
        [
            ("x", "first"),
            ("x", "one"),
            ("one", "attention"),
            ("attention", "first", "write"),
            ("first", "second"),
            ("first", "two"),
            ("two", "layer"),
            ("layer", "second", "write"),
            ("second", "y"),
        ],
        title="A block and the residual stream",
        description="The input goes straight on to a sum, and through a norm into attention, whose write is added. The sum goes on to a second "
        "sum, and through a norm into the feed-forward layer, whose write is added there. The result goes to the next block.",
    )


def depth() -> Picture:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(256, generator=generator, dtype=torch.float64)
    measured = cosines(random_stack(x, count=COUNT, generator=generator)).square().tolist()
    scaled = cosines(random_stack(x, count=COUNT, scale=COUNT**-0.5, generator=generator)).square().tolist()
    places = list(range(1, COUNT + 1))
    return curves(
        [
            ("formula", places, [place / (place + 1) for place in places]),
            ("measured", places, measured, True),
            ("smaller writes", places, scaled),
        ],
        across="write",
        up="squared cosine",
        title="How much a write changes the direction of the stream",
        description=f"The squared cosine between the stream before and after each of {COUNT} writes. It starts near {measured[0]:.2f} and ends at "
        f"{measured[-1]:.2f}, close to the formula. With smaller writes it lies between {min(scaled):.2f} and {max(scaled):.2f}.",
        y_range=(0.4, 1.0),
    )


def sentence() -> Picture:
    before, attention, _, _, layer, _, after = stored_token().lengths.T.tolist()
    columns = {"before": before, "attention": attention, "feed-forward": layer, "after": after}
    return token_columns(
        [f"layer {number}" for number in range(len(before))],
        [Column(name, values) for name, values in columns.items()],
        title="The lengths of the stream of the word “it” in a trained model",
        description=f"The stream has length {before[0]:.2f} before layer 0 and {after[-1]:.2f} after layer {len(before) - 1}. Attention adds between "
        f"{min(attention):.2f} and {max(attention):.2f}, and the feed-forward layer between {min(layer):.2f} and {max(layer):.2f}.",
    )
