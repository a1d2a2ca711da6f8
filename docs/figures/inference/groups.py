"""Pictures of query heads that share keys and values, and of the sizes that shrink."""

from derivations.kernel.site.diagrams import Picture, below, curves, operations
from derivations.kernel.site.figure_widgets import played
from snippets.inference.groups import grouped_operations, grouped_parameters
from snippets.serving.models import models


def family() -> Picture:
    picture = below(
        *(shared(name, heads) for name, heads in (("MHA", 4), ("GQA", 2), ("MQA", 1))),
        title="Query heads that share heads of keys and values",
    )
    # Llama 2 7B with other heads of keys and values, beside latent rows as wide as those of DeepSeek-V2 and narrower or wider ones.
    llama = models()["Llama 2 7B"]
    return played(
        picture,
        layers=llama.layers,
        heads=llama.heads,
        width=llama.head_width,
        itemsize=2,
        kept=[1, 2, 4, 8, 16, 32],
        first=8,
        latents=[64, 128, 256, 576, 1024, 2048],
        latent=576,
        lengths=[2**k for k in range(10, 17)],
        length=4096,
    )


def shared(name: str, kept: int) -> Picture:
    """Query heads above, and below them the keys and values that each reads."""
    size = 4 // kept
    queries = {f"q{i}": (f"$Q_{i + 1}$", i, 0) for i in range(4)}
    keys = {f"k{j}": (f"$K_{j + 1}, V_{j + 1}$", size * j + (size - 1) / 2, 1) for j in range(kept)}
    return operations(
        queries | keys,
        [(f"k{i // size}", f"q{i}") for i in range(4)],
        title=f"{name}: {kept} in the cache",
        description=f"Each head of keys and values is read by {size} of 4 query heads.",
    )


def shrinks() -> Picture:
    n, d, h = 4096, 4096, 32
    kept = [1, 2, 4, 8, 16, 32]
    work = [grouped_operations(n, d, h, one) / grouped_operations(n, d, h, h) for one in kept]
    parameters = [grouped_parameters(d, h, one) / grouped_parameters(d, h, h) for one in kept]
    return curves(
        [("operations", kept, work), ("parameters", kept, parameters), ("cache", kept, [one / h for one in kept])],
        log="x",
        x_ticks=kept,
        y_range=(0, 1),
        across="heads of keys and values, of 32",
        up="relative to MHA",
        title=f"A layer of width {d} with {h} query heads, on {n} tokens",
        description=f"With one head of keys and values the cache is {1 / h:.3f} of that of MHA, the parameters are {parameters[0]:.3f} and "
        f"the operations {work[0]:.3f}. With 8 they are 0.25, {parameters[3]:.3f} and {work[3]:.3f}.",
    )
