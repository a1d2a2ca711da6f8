"""Pictures of a prefill and of decoding, of a cache that fills, and of the factor by which a cache reduces the operations."""

import torch

from derivations.kernel.site.diagrams import Picture, below, curves, mask
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.weight_pictures import Column, token_columns
from snippets.attention.formula import attention_weights
from snippets.attention.masks import lower_right
from snippets.inference.cache import saving
from snippets.seeing.atlas import stored_head


def steps() -> Picture:
    prompt = mask(
        lower_right(4, 4),
        rows=[f"q{i}" for i in range(1, 5)],
        columns=[f"k{j}" for j in range(1, 5)],
        title="Prefill: 4 queries, 4 keys",
        description="The first query meets the first key; the fourth meets all four.",
    )
    fifth, sixth = (
        mask(
            lower_right(1, n),
            rows=[f"q{n}"],
            columns=[f"k{j}" for j in range(1, n + 1)],
            title=f"Decode: 1 query, {n} keys",
            description=f"The query of token {n} meets all {n} keys: {n - 1} from the cache, and its own.",
        )
        for n in (5, 6)
    )
    picture = below(prompt, fifth, sixth, title="A prompt of four tokens, and two steps of decoding")
    generator = torch.Generator().manual_seed(0)
    X, W = torch.randn(6, 4, generator=generator), torch.randn(3, 4, 2, generator=generator)
    return played(picture, tokens=_short(X), projections=_short(W), prompt=4)


def _short(x: torch.Tensor) -> list:
    """Numbers of one digit behind the point, which a page can hold."""
    return (10 * x.double()).round().div(10).tolist()


def factor() -> Picture:
    lengths = torch.logspace(0, 5, 41).round().int().unique().tolist()
    drawn = [(f"width {d}", lengths, [saving(n, d) / n for n in lengths]) for d in (64, 1024)]
    ends = [one[2][-1] for one in drawn]
    return curves(
        [
            ("two thirds, at most", lengths, [(2 * n + 1) / (3 * n) for n in lengths]),
            *drawn,
            ("half, at least", lengths, [(n + 1) / (2 * n) for n in lengths]),
        ],
        log="x",
        across="tokens",
        up="factor, divided by tokens",
        y_range=(0.4, 1),
        title="The factor by which a cache reduces the operations, divided by the number of tokens",
        description="The ratio starts at 1 and falls. It stays between two curves that approach one half and two thirds. With "
        f"100,000 tokens it is {ends[0]:.3f} at a width of 64 and {ends[1]:.3f} at a width of 1024.",
    )


def sentence() -> Picture:
    head = stored_head()
    words = ("because", "it", "was")
    steps = {word: head.tokens.index(word) for word in words}
    kept = max(steps.values()) + 1
    weights = attention_weights(head.query, head.key, is_causal=True)
    said = []
    columns = [Column("key", head.key[:kept, 0].tolist()), Column("value", head.value[:kept, 0].tolist())]
    for word, place in steps.items():
        row = weights[place, :kept].where(torch.arange(kept) <= place, torch.nan)  # later keys are not there yet
        columns.append(Column(f"“{word}”", row.tolist()))
        said.append(f"the query of “{word}” meets {place + 1} keys, and gives “animal” the weight {row[head.tokens.index('animal')]:.2f}")
    return token_columns(
        head.tokens[:kept],
        columns,
        title="A cache of keys and values that fills, and three steps that read it",
        description=f"One number of each key and value, and the weights of three steps: {'; '.join(said)}.",
    )
