"""How a wrong scale and padding change the weights."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from snippets.attention.formula import attention_weights
from snippets.attention.reference import pad, scale_by_size_wrong


def flat() -> Picture:
    query, key, value = torch.rand(3, 2, 4, 8, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    added = [0, 8, 24, 56, 120, 248]
    drawn = {"most": [], "most, wrong scale": [], "least, wrong scale": [], "least": []}
    for extra in added:
        longer, _, mask = pad(key, value, extra=extra)
        for name, scale in (("", None), (", wrong scale", scale_by_size_wrong(longer))):
            weights = attention_weights(query, longer, attn_mask=mask, scale=scale)[..., :8]
            drawn["most" + name].append(weights.max().item())
            drawn["least" + name].append(weights.min().item())
    said = "; ".join(f"{name} from {y[0]:.3f} to {y[-1]:.3f}" for name, y in drawn.items())
    return curves(
        [(name, [8 + extra for extra in added], y) for name, y in drawn.items()],
        log="x",
        x_ticks=(8, 16, 32, 64, 128, 256),
        across="keys, eight of them kept",
        up="weight of a key that is kept",
        title="With the wrong scale, padding moves the weights towards an equal share",
        description=f"The weights of the eight keys that are kept, as the number of keys grows from 8 to 256 by masked padding: {said}.",
    )
