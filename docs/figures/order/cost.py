"""Pictures of what attention costs."""

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.order.cost import doubling_ratio, pair_operations, projection_operations

WIDTH = 512
LENGTHS = [2 ** (k / 2) for k in range(10, 33)]  # 32 to 65536


def operations() -> Picture:
    projections, pairs = ([count(n, WIDTH) / 1e9 for n in LENGTHS] for count in (projection_operations, pair_operations))
    picture = curves(
        [("projections", LENGTHS, projections), ("pairs", LENGTHS, pairs)],
        log="xy",
        across="tokens",
        up="billion operations",
        x_ticks=(32, 256, 1024, 8192, 65536),
        title=f"Operations of a layer of width {WIDTH}, by the number of tokens",
        description=f"Both grow with the number of tokens, the pairs twice as steeply on these logarithmic axes. At 32 tokens the projections take "
        f"{projections[0]:.3f} billion operations and the pairs {pairs[0]:.4f}. They meet at {2 * WIDTH} tokens. "
        f"At 65536 tokens it is {projections[-1]:.0f} and {pairs[-1]:.0f}.",
    )
    return played(picture, lengths=[2**k for k in range(5, 18)], first=2 * WIDTH, widths=[2**k for k in range(7, 15)], width=WIDTH)


def doubling() -> Picture:
    ratios = [doubling_ratio(n, WIDTH) for n in LENGTHS]
    return curves(
        [("", LENGTHS, ratios)],
        log="x",
        across="tokens",
        up="times as much",
        x_ticks=(32, 256, 1024, 8192, 65536),
        y_range=(1, 4),
        title="The cost of twice as many tokens, as a multiple",
        description=f"From {ratios[0]:.2f} times at 32 tokens the ratio rises to {ratios[-1]:.2f} at 65536. "
        f"At {2 * WIDTH} tokens it is {doubling_ratio(2 * WIDTH, WIDTH):.0f}.",
    )
