"""Pictures of attention and of saturation."""

import torch

from derivations.kernel.site.diagrams import Picture, bars, curves, operations
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.attention.formula import attention_weights, scores
from snippets.scaling.saturation import concentration, two_key_gradient, two_key_weight
from snippets.seeing.atlas import stored_head

WIDTHS = [2**power for power in range(11)]


def attention() -> Picture:
    return operations(
        {
            "Q": ("$Q$", 0, 0, "$n × d_k$"),
            "K": ("$K$", 1, 0, "$m × d_k$"),
            "dot": ("matrix product", 0.5, 1),
            "scale": ("scale", 0.5, 2),
            "mask": ("mask", 0.5, 3),
            "M": ("$M$", 1.6, 3, "$n × m$"),
            "softmax": ("softmax", 0.5, 4),
            "mix": ("matrix product", 0.5, 5),
            "V": ("$V$", 1.6, 5, "$m × d_v$"),
            "O": ("$O$", 0.5, 6, "$n × d_v$"),
        },
        [
            ("Q", "dot"),
            ("K", "dot"),
            ("dot", "scale", "products, $n × m$"),
            ("scale", "mask"),
            ("M", "mask"),
            ("mask", "softmax", "scores, $n × m$"),
            ("softmax", "mix", "weights, $n × m$"),
            ("V", "mix"),
            ("mix", "O"),
        ],
        title="Attention, operation by operation",
        description="The queries Q, n by d_k, and the keys K, m by d_k, are multiplied to n by m products. The products are scaled, "
        "masked with M, which gives the scores, and turned into weights by softmax. The weights are multiplied with the values V, "
        "m by d_v, and give the output O, n by d_v.",
    )


def two_keys() -> Picture:
    gap = torch.linspace(-8, 8, 97, dtype=torch.float64)
    weight, slope = two_key_weight(gap), two_key_gradient(gap)
    return curves(
        [("weight", gap, weight), ("derivative", gap, slope)],
        across="gap between the two scores",
        x_ticks=(-8, -4, 0, 4, 8),
        title="A weight and its derivative, by the gap between two scores",
        description=f"From gap −8 to gap 8 the weight rises from {weight[0]:.4f} to {weight[-1]:.4f}, most steeply at gap "
        f"{gap[slope.argmax()]:.0f}, where the derivative is {slope.max():.2f}. At both ends it is {slope[-1]:.4f}.",
    )


def largest_weight() -> Picture:
    generator = torch.Generator().manual_seed(0)
    rows = []
    for d_k in (4, 64, 1024):
        query, key = (torch.randn(500, tokens, d_k, generator=generator, dtype=torch.float64) for tokens in (1, 16))
        for name, scale in (("scaled", None), ("unscaled", 1.0)):
            rows.append((f"$d_k$ {d_k}, {name}", concentration(query, key, scale=scale)[0]))
    said = (f"{label.replace('$', '')}: {value:.2f}" for label, value in rows)
    picture = bars(
        [*rows[:2], None, *rows[2:4], None, *rows[4:]],
        most=1.0,
        title="The largest of 16 weights, with the scale and without",
        description=f"Means over 500 queries. {'; '.join(said)}.",
    )
    return played(picture, widths=WIDTHS, first=64, scores=[[round(score, 4) for score in row] for row in products().tolist()])


def products() -> torch.Tensor:
    """The dot products of one query with 16 keys, for each width in `WIDTHS`."""
    generator = torch.Generator().manual_seed(0)
    query, key = (torch.randn(tokens, WIDTHS[-1], generator=generator, dtype=torch.float64) for tokens in (1, 16))
    return torch.cat([scores(query[:, :d_k], key[:, :d_k], scale=1.0) for d_k in WIDTHS])


def sentence() -> Picture:
    head = stored_head()
    query = head.tokens.index("it")
    unscaled, scaled = (attention_weights(head.query, head.key, scale=scale)[query] for scale in (1.0, None))
    return token_columns(
        head.tokens,
        [Column("without the scale", unscaled.tolist(), 5), Column("with the scale", scaled.tolist(), 5)],
        title="The weights of the word “it”, without the scale and with it",
        description=f"Without the scale, one token has the weight {unscaled.max():.5f}. With it, the same token has {scaled.max():.4f}, and "
        f"{(scaled > 0.01).sum()} tokens have more than 0.01.",
        query=query,
    )
