"""Pictures of duality: the mask of a gate with its blocks, and costs of a chunk length."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, heat_map
from snippets.linear.duality import chunked_multiplications, recurrent_multiplications
from snippets.linear.gates import decay_mask


def blocks() -> Picture:
    gate = torch.tensor([0.9, 0.9, 0.7, 0.9, 0.8, 0.9, 0.6, 0.9], dtype=torch.float64)
    names = [str(token) for token in range(1, 9)]
    return heat_map(
        decay_mask(gate),
        names,
        names,
        across="key",
        down="query",
        marked=[(i, j) for i in range(4, 8) for j in range(4)],
        title="The mask of a gate, with the block between two chunks",
        description="A mask of eight tokens, with ones on the diagonal, zeros above it, and smaller numbers further below. The block of the last "
        "four queries and the first four keys is framed. Its rows are multiples of one another.",
    )


def cost() -> Picture:
    n, width = 65536, 128
    chunks = [2**power for power in range(11)]
    per_token = [chunked_multiplications(n, width, width, chunk=chunk) / n for chunk in chunks]
    dear = [one + 63 * width * width / chunk for one, chunk in zip(per_token, chunks)]
    recurrent = recurrent_multiplications(n, width, width) / n
    dear_recurrent = recurrent + 63 * width * width  # its state decays once a token
    best = [chunks[each.index(min(each))] for each in (per_token, dear)]
    return curves(
        [
            ("recurrence, price 64", chunks, [dear_recurrent] * len(chunks)),
            ("chunks, price 64", chunks, dear),
            ("recurrence, price 1", chunks, [recurrent] * len(chunks)),
            ("chunks, price 1", chunks, per_token),
        ],
        across="chunk length",
        up="multiplications for each token",
        log="xy",
        x_ticks=(1, 4, 16, 64, 256, 1024),
        y_ticks=(2**14, 2**16, 2**18, 2**20),
        title=f"Costs of chunks in a head of width {width}",
        description=f"If a multiplication in a decay counts once, the curve is lowest at {best[0]} and never far below the recurrence. "
        f"If it counts 64 times, the curve is lowest at {best[1]}, and the recurrence costs {dear_recurrent / min(dear):.1f} times as much. Longer chunks cost more either way.",
    )
