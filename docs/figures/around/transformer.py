"""A picture of a pre-norm block."""

from derivations.kernel.site.diagrams import Picture, operations


def block() -> Picture:
    return operations(
        {
            "X": ("$X$", 0, 0, "$n × d$"),
            "n1": ("normalise", 1.1, 1),
            "att": ("attention, all tokens", 1.1, 2),
            "a1": ("add", 0, 3),
            "n2": ("normalise", 1.1, 4),
            "ff": ("feed-forward, each token", 1.1, 5),
            "a2": ("add", 0, 6),
            "Y": ("output", 0, 7, "$n × d$"),
        },
        [("X", "n1"), ("n1", "att"), ("att", "a1"), ("X", "a1"), ("a1", "n2"), ("n2", "ff"), ("ff", "a2"), ("a1", "a2"), ("a2", "Y")],
        title="A pre-norm block of an encoder",
        description="The input X, n by d, goes straight on; beside it, it is normalised and attention mixes its tokens, and the result is added. "
        "The sum goes straight on; beside it, it is normalised, the feed-forward layer takes each token by itself, and the result is added.",
    )
