"""Pictures of the cache's size, of a mask with a global token, and of dilated layers."""

from derivations.kernel.site.diagrams import Picture, curves, mask, operations
from snippets.sparse.local import cache_fraction, local_global_mask, paths


def fraction() -> Picture:
    lengths = [2 ** (k / 4) for k in range(40, 73)]  # 1,024 to 262,144
    drawn = [(f"{local} to 1", lengths, [cache_fraction(n, local, 1024) for n in lengths]) for local in (1, 3, 5)]
    least = drawn[-1][2][-1]
    return curves(
        drawn,
        across="tokens",
        up="relative size",
        log="x",
        x_ticks=(1024, 4096, 16384, 65536, 262144),
        y_range=(0, 1),
        y_ticks=(0, 0.25, 0.5, 0.75, 1),
        title="The KV cache with one, three and five local layers for each global one",
        description="The local layers have a window of 1,024. Up to a text of that length nothing is saved. Then each curve falls "
        f"towards the share of the global layers; with five local layers for each of them it is {least:.2f} at the end.",
    )


def meeting() -> Picture:
    return mask(
        local_global_mask(12, window=2, num_global=1),
        across="keys",
        down="queries",
        title="Neighbours on both sides, and one global token",
        description="Each of twelve tokens attends to itself and its two neighbours. The first attends to all, and all attend to the first.",
    )


def doubled() -> Picture:
    gaps, last = (1, 2, 4), 8
    seen, arrows = {last}, []
    nodes = {(len(gaps), last): (str(last), last, len(gaps))}
    for layer, gap in reversed(list(enumerate(gaps))):
        arrows += [((layer, token - back), (layer + 1, token)) for token in sorted(seen) for back in (0, gap)]
        seen |= {token - gap for token in seen}
        nodes |= {(layer, token): (str(token), token, layer) for token in sorted(seen)}
    found = paths(*gaps).tolist()
    return operations(
        nodes,
        arrows,
        title="Eight tokens through three layers, by gaps of one, two and four",
        description=f"Eight tokens in a row. In the first layer four of them take from themselves and from the token before, in the second two "
        f"from two tokens before, in the third the last one from four before. The paths to it from each token number {found}.",
    )
