"""Masks of twelve tokens, whose blocks a reader counts."""

import torch

from derivations.kernel.site.diagrams import Picture, mask
from derivations.kernel.site.figure_widgets import played
from snippets.attention.packing import count_blocks, document_numbers, in_prefix, looks_back, same_document

TOKENS, SIZE = 12, 3
LENGTHS = (3, 5, 4)


def masks() -> dict[str, torch.Tensor]:
    """Five masks of twelve tokens, by name."""
    token = torch.arange(TOKENS)
    query, key = token[:, None], token
    back = looks_back(query, key)
    return {
        "causal": back,
        "documents": back & same_document(query, key, document_numbers(torch.tensor(LENGTHS))),
        "window": back & (query - key < 3),
        "prefix": back | in_prefix(query, key, prefix=6),
        "every third": back & ((query - key) % 3 == 0),
    }


def blocks() -> Picture:
    drawn = masks()
    skipped, partial, full = count_blocks(drawn["documents"], block_size=SIZE)
    names = [str(place) for place in range(1, TOKENS + 1)]
    picture = mask(
        drawn["documents"],
        names,
        names,
        down="query",
        across="key",
        title="Documents of three, five and four tokens in one row",
        description=f"Three triangles along the diagonal. In blocks of {SIZE} by {SIZE}: {skipped} skipped, {partial} partial, {full} full.",
    )
    return played(
        picture,
        names=list(drawn),
        masks=[one.int().tolist() for one in drawn.values()],
        sizes=[1, 2, 3, 4, 6, 12],
        size=SIZE,
    )
