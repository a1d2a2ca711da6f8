"""Pictures of a pre-norm block, and of one word in a block of a trained model."""

from derivations.kernel.site.diagrams import Picture, heat_map, operations
from snippets.seeing.one_token import stored_token


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


def sentence() -> Picture:
    features = stored_token().features[:, :4]
    steps = ["before", "attention adds", "sum", "normalised", "feed-forward adds", "sum", "after: normalised"]
    first = ", ".join(f"{step} {value:.3f}" for step, value in zip(steps, features[:, 0].tolist()))
    return heat_map(
        features,
        rows=steps,
        columns=[str(number) for number in range(1, features.shape[1] + 1)],
        across="feature",
        digits=3,
        title="Four features of the word “it” in layer 3 of a trained model",
        description=f"The first feature, step by step: {first}.",
    )
