"""How far apart two ways of computing the same logits may come out, from rounding alone.

The trained model over 60 characters at once, and token by token with the cache:

--8<-- [start:example-bound]
>>> import torch
>>> from snippets.together.bound import logits_bound
>>> from snippets.together.text import encode, parts
>>> from snippets.together.trained import load
>>> tokens = encode(parts()[1][:60])
>>> for dtype in (torch.float32, torch.float64):
...     model, cache = load().to(dtype), None
...     for token in tokens.split(1):
...         stepwise, cache = model(token, cache)
...     apart = (stepwise[-1] - model(tokens)[0][-1]).abs()  # (vocab_size)
...     bound = 2 * logits_bound(model, tokens)  # one may be too large, and one too small
...     print(f"{dtype}   within {(apart <= bound).all()}   {bound.max():.0e}")
torch.float32   within True   5e-02
torch.float64   within True   1e-10

--8<-- [end:example-bound]
"""

import copy

import torch
from torch import Tensor

from snippets.associativity.tolerance import growth
from snippets.attention.formula import share_heads
from snippets.heads.split import combine_heads, split_heads
from snippets.order.positions import frequencies, waves
from snippets.together.gpt import GPT, Block, silu


# --8<-- [start:sites]
class Sites:
    """Each place of a computation where something is rounded, and by how much at most."""

    def __init__(self, dtype: torch.dtype):
        self.dtype, self.numbers, self.most = dtype, [], []

    def rounded(self, exact: Tensor, count: int, size: Tensor | None = None) -> Tensor:
        """The exact numbers, of which parts as large as `size` in all are rounded so often."""
        self.numbers.append(exact)
        size = exact.abs() if size is None else size
        self.most.append((growth(count, self.dtype) - 1) * size.detach())
        return exact

    def project(self, x: Tensor, weight: Tensor) -> Tensor:
        """A sum of d products: d roundings, in whatever order it is taken."""
        return self.rounded(x @ weight.T, weight.shape[-1], x.abs() @ weight.abs().T)

    def bound(self, outputs: Tensor) -> Tensor:
        """How far each output may be off: the slope by each number, times how far that may be."""
        slopes = torch.autograd.grad(
            outputs, self.numbers, torch.eye(len(outputs)).to(outputs), is_grads_batched=True
        )
        return sum(((s.abs() * most).flatten(1).sum(1) for s, most in zip(slopes, self.most)))


# --8<-- [end:sites]


# --8<-- [start:parts]
def normalise(sites: Sites, x: Tensor, gain: Tensor) -> Tensor:
    """Squares, their mean, epsilon, a root; the division and the gain."""
    return sites.rounded(
        x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * gain, x.shape[-1] + 6
    )


def rotate(sites: Sites, x: Tensor) -> Tensor:
    """Cosines and sines that err by a unit, which is two roundings; a product, and a sum."""
    cosines, sines = waves(torch.arange(x.shape[-2]), frequencies(x.shape[-1]))
    a, b = x.chunk(2, dim=-1)
    turned = torch.cat([a * cosines - b * sines, a * sines + b * cosines], dim=-1)
    size = [
        (a * one).abs() + (b * other).abs() for one, other in ((cosines, sines), (sines, cosines))
    ]
    return sites.rounded(turned, 4, torch.cat(size, dim=-1))


def attend(sites: Sites, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Scores, weights and means, as the page on tolerances counts them."""
    n, d_k = query.shape[-2:]
    ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
    size = query.abs() @ key.abs().mT / d_k**0.5
    scores = sites.rounded(query @ key.mT / d_k**0.5, d_k + 3, size.masked_fill(ahead, 0))
    spread = scores.masked_fill(ahead, -torch.inf).amax(-1, keepdim=True) - scores
    weights = torch.softmax(scores.masked_fill(ahead, -torch.inf), dim=-1)  # (..., n, n)
    # The largest score is subtracted from each, which is rounded; then an exponential and a mean.
    size = (n + 8 + spread.masked_fill(ahead, 0)) * weights
    weights = sites.rounded(weights, 1, size)
    return sites.rounded(weights @ value, n, weights @ value.abs())


# --8<-- [end:parts]


# --8<-- [start:bound]
def through_block(sites: Sites, x: Tensor, block: Block) -> Tensor:
    """A block of the model, with each rounding noted."""
    layer, forward = block.attention, block.feed_forward
    seen = normalise(sites, x, block.norm_1.gain)
    query = rotate(sites, split_heads(sites.project(seen, layer.query.weight), num_heads=layer.num_heads))
    key, value = (
        split_heads(sites.project(seen, each.weight), num_heads=layer.num_kv_heads)
        for each in (layer.key, layer.value)
    )
    shared = (share_heads(query, each) for each in (rotate(sites, key), value))
    mixed = combine_heads(attend(sites, query, *shared))
    x = sites.rounded(x + sites.project(mixed, layer.output.weight), 1)
    seen = normalise(sites, x, block.norm_2.gain)
    gate, up = (sites.project(seen, each.weight) for each in (forward.gate, forward.up))
    gated = sites.rounded(silu(gate) * up, 7)
    return sites.rounded(x + sites.project(gated, forward.down.weight), 1)


def logits_bound(model: GPT, tokens: Tensor) -> Tensor:
    """How far the last token's logits may be off in the model's format, to first order."""
    sites, exact = Sites(model.embedding.dtype), copy.deepcopy(model).double()
    x = exact.embedding.detach()[tokens].requires_grad_()  # (n, d)
    for block in exact.blocks:
        x = through_block(sites, x, block)
    return sites.bound(sites.project(normalise(sites, x, exact.norm.gain), exact.embedding)[-1])


# --8<-- [end:bound]
