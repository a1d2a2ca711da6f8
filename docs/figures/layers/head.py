"""A picture of four embeddings in the plane, and of their logits for all directions of the context."""

import torch

from derivations.kernel.site.diagrams import Picture, below, curves
from snippets.layers.head import winners

CORNERS = torch.tensor([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]], dtype=torch.float64)


def door() -> Picture:
    angles = torch.linspace(0, 360, 73, dtype=torch.float64)
    turn = torch.deg2rad(angles)
    contexts = torch.stack([turn.cos(), turn.sin()], 1)  # (73, 2)
    middle = CORNERS.mean(0, keepdim=True) + 0.1
    embeddings = torch.cat([CORNERS, middle])
    won = winners(torch.cat([CORNERS, middle]), contexts)
    logits = (contexts @ embeddings.T).T  # (4, 73)
    lead = (logits[:3].max(0).values - logits[3]).min().item()
    names = ["token 1", "token 2", "token 3", "in the middle"]
    ring = torch.cat([CORNERS, CORNERS[:1]]).T.tolist()
    plane = curves(
        [("tokens 1, 2 and 3", *ring), ("in the middle", *embeddings[3:].T.tolist(), True)],
        across="first feature",
        up="second feature",
        x_ticks=(-0.5, 0, 1),
        y_ticks=(-1, 0, 1),
        title="The embeddings",
        description="Three points are the corners of a triangle. The fourth lies inside.",
    )
    turned = curves(
        [(name, angles.tolist(), row.tolist()) for name, row in zip(names, logits)],
        across="direction of the context, in degrees",
        up="logit",
        title="The logits, for all directions of the context",
        description=f"For each direction one of {len(won)} tokens has the largest logit. The logit of the fourth token, whose embedding lies between theirs, "
        f"is below the largest by {lead:.2f} or more in every direction.",
        x_ticks=(0, 90, 180, 270, 360),
    )
    return below(plane, turned, title="Four tokens of width two, and their logits")
