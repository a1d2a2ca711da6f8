"""A picture of the whole layer."""

from derivations.kernel.site.diagrams import Picture, operations


def layer() -> Picture:
    return operations(
        {
            "X": ("$X$", 0, 0, "$n × d$"),
            "Z": ("$Z$", 1.5, 0, "$m × d$"),
            "q": ("query", 0, 1),
            "k": ("key", 1, 1),
            "v": ("value", 2, 1),
            "Q": ("split", 0, 2),
            "K": ("split", 1, 2),
            "V": ("split", 2, 2),
            "scores": ("product, scale", 0.5, 3),
            "softmax": ("mask, softmax", 0.5, 4),
            "mix": ("product", 1.25, 5),
            "combine": ("combine", 1.25, 6),
            "out": ("output", 1.25, 7),
            "Y": ("$Y$", 1.25, 8, "$n × d$"),
        },
        [
            ("X", "q"),
            ("Z", "k"),
            ("Z", "v"),
            ("q", "Q"),
            ("k", "K"),
            ("v", "V"),
            ("Q", "scores"),
            ("K", "scores"),
            ("scores", "softmax"),
            ("softmax", "mix"),
            ("V", "mix"),
            ("mix", "combine"),
            ("combine", "out"),
            ("out", "Y"),
        ],
        title="The multi-head layer, operation by operation",
        description="The tokens X, n by d, go through the layer named query; the context Z, m by d, through the layers named key and value. Each of "
        "the three is split into heads. Queries and keys are multiplied and scaled to scores, which are masked and turned into weights by "
        "softmax. The weights are multiplied with the values, the heads combined, and the layer named output gives Y, n by d.",
    )
