"""Pictures of linear attention: its two groupings, and what each costs."""

from derivations.kernel.site.diagrams import Picture, below, curves, shapes
from snippets.predecessors.linear import linear_multiplications, quadratic_multiplications


def cost() -> Picture:
    widths, lengths = 64, [2 ** (power / 2) for power in range(6, 25)]
    quadratic = [quadratic_multiplications(n, n, widths, widths) / 1e6 for n in lengths]
    linear = [linear_multiplications(n, n, widths, widths) / 1e6 for n in lengths]
    return curves(
        [("weights first", lengths, quadratic), ("keys and values first", lengths, linear)],
        log="xy",
        across="tokens",
        up="millions of multiplications",
        title="Multiplications with weights first, and with keys and values first",
        description=f"For {widths} features and values of width {widths}. With 8 tokens weights first takes {quadratic[0]:.3f} million and keys "
        f"and values first {linear[0]:.3f} million. They cross at 64 tokens. With 4,096 tokens it is {quadratic[-1]:.0f} million and "
        f"{linear[-1]:.0f} million.",
    )


def groupings() -> Picture:
    sizes = {"n": 96, "r": 26, "m": 96, "d_v": 34}
    weights = shapes(
        [("$FG^T$", "n", "m"), ("$V$", "m", "d_v")],
        ("", "n", "d_v"),
        sizes,
        title="Weights first",
        description="The product of features, n by m, times the values, m by d_v.",
    )
    sums = shapes(
        [("$F$", "n", "r"), ("$G^TV$", "r", "d_v")],
        ("", "n", "d_v"),
        sizes,
        title="Keys and values first",
        description="The features of the queries, n by r, times the sum over keys and values, r by d_v.",
    )
    return below(weights, sums, title="Linear attention, grouped both ways")
