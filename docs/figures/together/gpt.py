"""Pictures of the small GPT: its parts in order, and its loss during training."""

import json

from derivations.kernel.site.diagrams import Picture, curves, operations
from snippets.together.text import counting_loss, stored

WINDOW = 50  # steps of training over which a loss is averaged, as that of one batch jumps


def block() -> Picture:
    return operations(
        {
            "tokens": ("tokens", 1, 0, "n"),
            "x": ("embedding", 1, 1, "n × d"),
            "norm 1": ("RMSNorm", 0, 2),
            "attention": ("attention", 0, 3),
            "cache": ("cache", -1, 2, "old keys, values"),
            "kept": ("cache", -1, 4, "one row longer"),
            "add 1": ("+", 1, 4),
            "norm 2": ("RMSNorm", 0, 5),
            "swiglu": ("SwiGLU", 0, 6),
            "add 2": ("+", 1, 7),
            "norm": ("RMSNorm", 1, 8),
            "logits": ("embedding, transposed", 1, 9, "n × N"),
        },
        [
            ("tokens", "x"),
            ("x", "norm 1"),
            ("norm 1", "attention"),
            ("cache", "attention"),
            ("attention", "kept"),
            ("attention", "add 1"),
            ("x", "add 1"),
            ("add 1", "norm 2"),
            ("norm 2", "swiglu"),
            ("swiglu", "add 2"),
            ("add 1", "add 2"),
            ("add 2", "norm"),
            ("norm", "logits"),
        ],
        title="The model, with one of its blocks",
        description="Tokens are embedded. In each block, a normalised token goes through attention, which reads the cache "
        "and adds its own key and value to it. The output is added to the token. Then the same follows with SwiGLU. After the last block comes a norm, "
        "and a product with the table of the embedding.",
    )


def losses() -> Picture:
    curve = json.loads(stored("curve.json"))
    training, held_out = curve["training"], {int(step): loss for step, loss in curve["held out"].items()}
    ends = range(WINDOW, len(training) + 1, WINDOW)
    means = [sum(training[end - WINDOW : end]) / WINDOW for end in ends]
    steps = [step for step in held_out if step >= WINDOW]
    unigram, bigram = counting_loss(1), counting_loss(2)
    return curves(
        [
            ("held out", steps, [held_out[step] for step in steps]),
            ("training", list(ends), means),
            ("unigram", [steps[0], steps[-1]], [unigram] * 2),
            ("bigram", [steps[0], steps[-1]], [bigram] * 2),
        ],
        across="step of training",
        up="loss",
        y_range=(1, 3),
        title="The loss of the small GPT in training and on held-out text",
        description=f"On held-out text a unigram model's loss is {unigram:.2f}, and a bigram model's {bigram:.2f}. "
        f"The GPT's is {held_out[steps[0]]:.2f} after {steps[0]} steps and {held_out[steps[-1]]:.2f} after {steps[-1]}. "
        f"In training it ends at {means[-1]:.2f}.",
    )
