"""A picture of which patch each pixel belongs to."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map
from snippets.heads.patches import patchify, patchify_wrong

SIDE, WIDTH = 2, 6


def owners() -> Picture:
    image = torch.arange(4 * WIDTH).view(1, 4, WIDTH)

    def drawn(into_patches, title: str) -> Picture:
        patch = torch.zeros(image.numel())
        for number, pixels in enumerate(into_patches(image, patch_size=SIDE)):
            patch[pixels] = number + 1
        patch = patch.view(4, WIDTH)
        said = "; ".join(f"row {r + 1}: patches {', '.join(f'{one:.0f}' for one in row)}" for r, row in enumerate(patch.tolist()))
        return heat_map(patch, title=title, description=f"{said}.")

    return below(
        drawn(patchify, "Cut"), drawn(patchify_wrong, "Reshaped without a transpose"), title="Which patch each pixel of an image belongs to"
    )
