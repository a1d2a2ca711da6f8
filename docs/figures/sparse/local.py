"""Pictures of what is left of a cache, and of who looks at whom."""

from derivations.kernel.pages.drawing import Picture, curves, mask
from snippets.sparse.local import cache_fraction, local_global_mask


def fraction() -> Picture:
    lengths = [2 ** (k / 4) for k in range(40, 73)]  # 1,024 to 262,144
    drawn = [(f"{local} to 1", lengths, [cache_fraction(n, local, 1024) for n in lengths]) for local in (1, 3, 5)]
    least = drawn[-1][2][-1]
    return curves(
        drawn,
        across="tokens",
        up="part of the cache",
        log="x",
        y_range=(0, 1),
        y_ticks=(0, 0.25, 0.5, 0.75, 1),
        title="What is left of the KV cache, with one, three and five local layers for each global one",
        description="The local layers have a window of 1,024. Up to a text of that length nothing is saved. Then each curve falls "
        f"towards the share of the global layers; with five local layers for each of them it is {least:.2f} at the end.",
    )


def meeting() -> Picture:
    return mask(
        local_global_mask(12, window=2, num_global=1),
        across="keys",
        down="queries",
        title="Neighbours on both sides, and one global token",
        description="Of twelve tokens each looks at itself and its two neighbours. The first looks at all, and all look at the first.",
    )
