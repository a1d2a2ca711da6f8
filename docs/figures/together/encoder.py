"""A picture of the published encoder: from a sentence to one vector."""

from derivations.kernel.site.diagrams import Picture, operations


def parts() -> Picture:
    return operations(
        {
            "tokens": ("tokens", 0, 0, "n"),
            "table": ("embedding", 0, 1, "n × 384"),
            "positions": ("positions, segment", 1, 1, "n × 384"),
            "add": ("+", 0, 2),
            "norm": ("LayerNorm", 0, 3),
            "blocks": ("6 blocks", 0, 4, "n × 384"),
            "mask": ("padding", 1, 3, "n, hidden"),
            "mean": ("mean of the tokens", 0, 5, "384"),
            "length": ("divide by the norm", 0, 6, "384"),
        },
        [
            ("tokens", "table"),
            ("table", "add"),
            ("positions", "add"),
            ("add", "norm"),
            ("norm", "blocks"),
            ("mask", "blocks"),
            ("mask", "mean"),
            ("blocks", "mean"),
            ("mean", "length"),
        ],
        title="From a sentence to one vector",
        description="Tokens are embedded, vectors of positions and of the segment are added, and the sum is normalised. Six blocks follow. Padding is hidden in the blocks and left "
        "out of the mean of the tokens, which is divided by its norm.",
    )
