"""Pictures of a sliding window, and of the weights of tokens through a stack of windows."""

from derivations.kernel.site.diagrams import Picture, beside, curves, mask
from derivations.kernel.site.figure_widgets import played
from snippets.sparse.window import distance_shares, tokens_within_reach, window_mask


def masks() -> Picture:
    one = window_mask(9, 3)
    two = (one.double() @ one.double()) > 0
    left = mask(
        one, across="keys", down="queries", title="One layer", description="Each of nine queries keeps its own key and two before it."
    )
    right = mask(
        two, across="tokens", down="outputs", title="Two layers", description="Each output depends on its own token and four before it."
    )
    picture = beside(left, right, title="A window, in one layer and through several")
    windows, depths = [1, 2, 3, 4], [1, 2, 3, 4]
    tokens = tokens_within_reach(layers=depths[-1], window=windows[-1])
    return played(picture, tokens=tokens, windows=windows, window=3, depths=depths, depth=2)


def shares() -> Picture:
    drawn = []
    for layers in (1, 4, 16):
        found = distance_shares(layers=layers, window=8)
        drawn.append((f"{layers} layer{'s' * (layers > 1)}", list(range(len(found))), found.tolist()))
    last = drawn[-1][2]
    top = max(range(len(last)), key=last.__getitem__)
    return curves(
        drawn,
        across="distance",
        up="weight",
        title="The weight of the token at each distance, with a window of 8 and equal weights",
        description=f"With one layer, 8 tokens have the same weight. With 16 layers, {len(last)} tokens are within reach. The weight is "
        f"largest at distance {top}, half of the reach, and nearly zero at both ends.",
    )
