"""The last bits of a sum in several numbers of parts."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.serving.invariance import last_bits, sum_in_parts

WORKERS, SIZE, BATCHES, BATCH, COUNT = 16, 8, (1, 2, 4, 8, 16), 4, 8
TERMS = torch.randn(64, generator=torch.Generator().manual_seed(1))  # fp32


def sums() -> Picture:
    parts = [WORKERS // batch for batch in BATCHES]
    bits = torch.stack([last_bits(sum_in_parts(TERMS, parts=count), count=COUNT) for count in parts])
    changed = (bits != bits[0]).nonzero().tolist()
    said = "; ".join(f"{count}: {''.join(map(str, row))}" for count, row in zip(parts, bits.tolist()))
    picture = heat_map(
        bits.tolist(),
        [f"{count} parts" if count > 1 else "1 part" for count in parts],
        marked=[(row, column) for row, column in changed],
        title=f"The last {COUNT} bits of a sum of {len(TERMS)} numbers in fp32",
        description=f"The same numbers, added in several numbers of parts. {said}. Bits that differ from the first row are framed.",
    )
    return played(
        picture,
        terms=TERMS.tolist(),
        workers=WORKERS,
        size=SIZE,
        batches=list(BATCHES),
        batch=BATCH,
        rules=["number of workers", "size of the parts"],
        count=COUNT,
    )
