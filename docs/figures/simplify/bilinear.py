"""Pictures of the scores as a bilinear form."""

from derivations.kernel.site.diagrams import Picture, below, curves, heat_map, shapes
from snippets.attention.formula import scores
from snippets.seeing.atlas import stored_head
from snippets.simplify.bilinear import merged_multiplications, merging_saves, split_multiplications


def merged() -> Picture:
    sizes = {"n": 40, "d": 76, "d_k": 26}
    weights = shapes(
        [("$W_Q$", "d", "d_k"), ("$W_K^⊤$", "d_k", "d")],
        ("$W$", "d", "d"),
        sizes,
        title="Computed once",
        description="W_Q, d by d_k, times the transpose of W_K, d_k by d, is W, d by d.",
    )
    scores = shapes(
        [("$X$", "n", "d"), ("$W$", "d", "d"), ("$X^⊤$", "d", "n")],
        ("$S$", "n", "n"),
        sizes,
        title="Used for every input",
        description="X, n by d, times W, d by d, times the transpose of X, d by n, is the n by n scores.",
    )
    return below(weights, scores, title="Two projections merged into one matrix between the input and its transpose")


def costs() -> Picture:
    n, d = 128, 512
    widths = list(range(16, d + 1, 16))
    split = [split_multiplications(n, d, d_k) / 1e6 for d_k in widths]
    once = [merged_multiplications(n, d) / 1e6] * len(widths)
    saves = next(d_k for d_k in range(1, d + 1) if merging_saves(n, d, d_k))
    return curves(
        [("split", widths, split), ("merged", widths, once)],
        x_ticks=(64, 128, 256, 512),
        y_range=(0, max(split)),
        across="width $d_k$ of the head",
        up="million multiplications",
        title=f"What the scores of {n} tokens cost in a model {d} wide",
        description=f"With two projections the cost grows in proportion to the width of the head, from {split[0]:.1f} to "
        f"{split[-1]:.1f} million multiplications. Merged it is {once[0]:.1f} million at every width. "
        f"Merging saves from width {saves} on.",
    )


def sentence() -> Picture:
    head = stored_head()
    words = ("animal", "street", "it", "tired")
    places = [head.tokens.index(word) for word in words]
    found = scores(head.query, head.key)[places][:, places]
    return heat_map(
        found,
        rows=words,
        columns=words,
        across="key",
        down="query",
        title="Scores among four words, in one head of a trained model",
        description=f"The query of “it” and the key of “animal” have the score {found[2, 0]:.2f}; the query of “animal” and the key of “it” have "
        f"{found[0, 2]:.2f}.",
    )
