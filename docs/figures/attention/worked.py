"""The weights of the worked example, and the errors of its outputs with their bound."""

from derivations.kernel.site.diagrams import Picture, below, curves, heat_map
from snippets.attention.basic import basic_attention
from snippets.attention.formula import attention_weights
from snippets.attention.worked import DIGITS, OUTPUTS, TOKENS, error_bounds


def weights() -> Picture:
    found = attention_weights(TOKENS, TOKENS, scale=1.0)
    names = [str(i) for i in range(1, 4)]
    maps = [
        heat_map(
            sequence,
            names,
            names,
            down="query",
            across="key",
            digits=4,
            title=title,
            description="; ".join(f"row {name}: " + ", ".join(f"{weight:.4f}" for weight in row) for name, row in zip(names, sequence))
            + ".",
        )
        for title, sequence in zip(("First sequence", "Second sequence"), found)
    ]
    return below(*maps, title="The weights of the two sequences")


def misses() -> Picture:
    """For each output: recomputed minus printed, and the bound for rounded inputs, in units of the fourth place."""
    missed = (basic_attention(TOKENS) - OUTPUTS).abs() / DIGITS
    bounds = error_bounds(TOKENS, half=DIGITS / 2)[2] / DIGITS
    order = missed.flatten().argsort()
    places = range(1, len(order) + 1)
    drawn = {name: values.flatten()[order].tolist() for name, values in (("bound", bounds), ("difference", missed))}
    return curves(
        [(name, places, values, True) for name, values in drawn.items()],
        log="y",
        x_ticks=(1, 12, 24),
        across="outputs, in the order of their differences",
        up="units of the fourth place",
        title="Differences between recomputed and printed outputs, and their bound",
        description=f"Of {len(order)} numbers, the largest difference is {max(drawn['difference']):.2f} units of the fourth place, "
        f"and the bounds lie between {min(drawn['bound']):.1f} and {max(drawn['bound']):.1f}.",
    )
