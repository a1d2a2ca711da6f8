"""How far apart rounding alone may take two ways to the same logits.

The trained model over 60 characters at once, and token by token with the cache:

--8<-- [start:example-bound]
>>> import torch
>>> from snippets.together.bound import logits_bound
>>> from snippets.together.text import encode, parts
>>> from snippets.together.trained import load_gpt
>>> tokens = encode(parts()[1][:60])
>>> for dtype in (torch.float32, torch.float64):
...     model, cache = load_gpt().to(dtype), None
...     for token in tokens.split(1):
...         stepwise, cache = model(token, cache=cache)
...     apart = (stepwise[-1] - model(tokens)[0][-1]).abs()  # (vocab_size)
...     bound = 2 * logits_bound(model, tokens)  # both may be off
...     within = (apart <= bound).all()
...     print(f"{dtype}   within {within}   {bound.max():.0e}")
torch.float32   within True   5e-02
torch.float64   within True   9e-11

--8<-- [end:example-bound]
"""

import copy

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from snippets.associativity.tolerance import growth
from snippets.attention.formula import share_heads
from snippets.heads.split import combine_heads, split_heads
from snippets.order.positions import frequencies, waves
from snippets.together.gpt import GPT, Block, silu


# --8<-- [start:sites]
class Sites:
    """Each place where something is rounded, and by how much at most."""

    def __init__(self, dtype: torch.dtype) -> None:
        """For a computation in this format."""
        self.dtype, self.numbers, self.most = dtype, [], []

    def rounded(
        self,
        exact: Float[Tensor, "*shape"],
        *,
        count: int,
        size: Float[Tensor, "*shape"] | None = None,
    ) -> Float[Tensor, "*shape"]:
        """The exact numbers; parts of this size in all are rounded so often."""
        self.numbers.append(exact)
        size = exact.abs() if size is None else size
        self.most.append((growth(count, self.dtype) - 1) * size.detach())
        return exact

    def project(
        self, x: Float[Tensor, "*batch d"], weight: Float[Tensor, "d_out d"]
    ) -> Float[Tensor, "*batch d_out"]:
        """A sum of d products: d roundings, in whatever order it is taken."""
        size = x.abs() @ weight.abs().T
        return self.rounded(x @ weight.T, count=weight.shape[-1], size=size)

    def bound(self, outputs: Float[Tensor, " m"]) -> Float[Tensor, " m"]:
        """How far each output may be off.

        That is its gradient by each number, times how far that may be off.
        """
        each = torch.eye(len(outputs)).to(outputs)  # (m, m)
        gradients = torch.autograd.grad(
            outputs, self.numbers, each, is_grads_batched=True
        )
        return sum(
            (gradient.abs() * most).flatten(1).sum(1)
            for gradient, most in zip(gradients, self.most)
        )


# --8<-- [end:sites]


# --8<-- [start:parts]
def round_norm(
    sites: Sites, x: Float[Tensor, "*batch d"], gain: Float[Tensor, " d"]
) -> Float[Tensor, "*batch d"]:
    """Squares, their mean, epsilon, a root; the division and the gain."""
    root = (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return sites.rounded(x / root * gain, count=x.shape[-1] + 6)


def round_rotary(
    sites: Sites, x: Float[Tensor, "*batch n d_k"]
) -> Float[Tensor, "*batch n d_k"]:
    """Cosines and sines that err by a unit, two roundings; a product, a sum.

    Raises ValueError for an odd d_k, by `frequencies`.
    """
    omega = frequencies(x.shape[-1])
    position = torch.arange(x.shape[-2], device=x.device)
    cosines, sines = (
        wave.to(x) for wave in waves(position, omega.to(x.device))
    )
    a, b = x.chunk(2, dim=-1)
    turned = a * cosines - b * sines, a * sines + b * cosines
    size = (
        (a * cosines).abs() + (b * sines).abs(),
        (a * sines).abs() + (b * cosines).abs(),
    )
    return sites.rounded(
        torch.cat(turned, -1), count=4, size=torch.cat(size, -1)
    )


def round_attention(
    sites: Sites,
    query: Float[Tensor, "*batch n d_k"],
    key: Float[Tensor, "*batch n d_k"],
    value: Float[Tensor, "*batch n d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Scores, weights and means, as the page on tolerances counts them."""
    n, d_k = query.shape[-2:]
    ahead = torch.ones(n, n, dtype=torch.bool, device=query.device).triu(1)
    size = (query.abs() @ key.abs().mT / d_k**0.5).masked_fill(ahead, 0)
    scores = sites.rounded(query @ key.mT / d_k**0.5, count=d_k + 3, size=size)
    seen = scores.masked_fill(ahead, -torch.inf)
    spread = (seen.amax(-1, keepdim=True) - scores).masked_fill(ahead, 0)
    # The largest score is subtracted from each; an exponential; a mean.
    weights = torch.softmax(seen, dim=-1)  # (*batch, n, n)
    size = (n + 8 + spread) * weights
    weights = sites.rounded(weights, count=1, size=size)
    return sites.rounded(weights @ value, count=n, size=weights @ value.abs())


# --8<-- [end:parts]


# --8<-- [start:bound]
def round_block(
    sites: Sites, x: Float[Tensor, "*batch n d"], block: Block
) -> Float[Tensor, "*batch n d"]:
    """A block of the model, with each rounding noted.

    Raises RuntimeError for tokens of another width than the block's.
    """

    def heads(linear: nn.Linear, num_heads: int) -> Tensor:
        projected = sites.project(seen, linear.weight)
        return split_heads(projected, num_heads=num_heads)

    layer, forward = block.attention, block.feed_forward
    seen = round_norm(sites, x, block.norm_1.gain)
    query = round_rotary(sites, heads(layer.query, layer.num_heads))
    key = round_rotary(sites, heads(layer.key, layer.num_kv_heads))
    value = heads(layer.value, layer.num_kv_heads)
    key, value = (share_heads(query, one) for one in (key, value))
    mixed = combine_heads(round_attention(sites, query, key, value))
    x = sites.rounded(x + sites.project(mixed, layer.output.weight), count=1)
    seen = round_norm(sites, x, block.norm_2.gain)
    gate = sites.project(seen, forward.gate.weight)
    up = sites.project(seen, forward.up.weight)
    gated = sites.rounded(silu(gate) * up, count=7)
    return sites.rounded(x + sites.project(gated, forward.down.weight), count=1)


def logits_bound(
    model: GPT, tokens: Int[Tensor, " n"]
) -> Float[Tensor, " vocab_size"]:
    """How far rounding may take the last logits, to first order."""
    sites, exact = Sites(model.embedding.dtype), copy.deepcopy(model).double()
    x = exact.embedding.detach()[tokens].requires_grad_()  # (n, d)
    for block in exact.blocks:
        x = round_block(sites, x, block)
    last = round_norm(sites, x, exact.norm.gain)[-1:]  # (1, d)
    return sites.bound(sites.project(last, exact.embedding)[0])


# --8<-- [end:bound]
