"""Mixture of experts: a router sends each token to k of N feed-forward layers.

The gate, in both orders:

--8<-- [start:example-gate]
>>> import torch
>>> from snippets.layers.experts import route
>>> generator = torch.Generator().manual_seed(0)
>>> logits = torch.randn(5, 8, generator=generator)  # (n, N)
>>> gate, chosen = route(logits, k=2)
>>> tuple(gate.shape), gate.sum(-1).allclose(torch.ones(5))
((5, 2), True)
>>> p = logits.softmax(-1).gather(-1, chosen)  # softmax first
>>> torch.allclose(p / p.sum(-1, keepdim=True), gate)
True
>>> [round(share, 2) for share in p.sum(-1).tolist()]  # not divided
[0.6, 0.51, 0.63, 0.44, 0.69]

--8<-- [end:example-gate]

A layer of four experts, of which each token uses two:

--8<-- [start:example-layer]
>>> from snippets.layers.experts import mixture
>>> kinds = dict(generator=generator, dtype=torch.float64)
>>> x = torch.randn(5, 6, **kinds)  # (n, d)
>>> router = torch.randn(6, 4, **kinds)  # (d, N)
>>> experts = torch.randn(4, 6, 6, **kinds)  # a matrix for each
>>> gate, chosen = route(x @ router, k=2)
>>> y = mixture(x, router, experts, k=2)
>>> parts = [g * x[0] @ experts[e] for g, e in zip(gate[0], chosen[0])]
>>> torch.allclose(y[0], sum(parts))
True

--8<-- [end:example-layer]

With one expert for each token and a gate that is divided, the router learns nothing:

--8<-- [start:example-one]
>>> _ = router.requires_grad_()
>>> for divide in (True, False):
...     y = mixture(x, router, experts, k=1, divide=divide)
...     slope, = torch.autograd.grad(y.square().sum(), router)
...     print(divide, bool(slope.abs().max() > 1e-9))
True False
False True

--8<-- [end:example-one]

Three tokens, two experts. The loss that balances is below one, and the load is not balanced:

--8<-- [start:example-balance]
>>> from snippets.layers.experts import balance_of_tokens
>>> p = torch.tensor([[0.6, 0.4], [0.6, 0.4], [0.1, 0.9]])
>>> sent = torch.nn.functional.one_hot(p.argmax(-1)).float()
>>> sent.mean(0).tolist()
[0.6666666865348816, 0.3333333432674408]
>>> round(balance_of_tokens(sent, p).item(), 4)
0.9556
>>> even = torch.full((3, 2), 0.5)
>>> all_to_one = torch.tensor([[1.0, 0.0]]).expand(3, 2)
>>> round(balance_of_tokens(all_to_one, even).item(), 4)
1.0

--8<-- [end:example-balance]

All tokens but one lean to the first expert by a hair, and one goes to the second with all it has:

--8<-- [start:example-small]
>>> for n in (3, 4, 5, 100):
...     p = torch.tensor([[0.5001, 0.4999]] * (n - 1) + [[0.0, 1.0]])
...     sent = torch.nn.functional.one_hot(p.argmax(-1)).float()
...     print(n, f"{balance_of_tokens(sent, p):.3f}")
3 0.889
4 0.875
5 0.880
100 0.990

--8<-- [end:example-small]

The weights of Mixtral, all and those that one token uses, in billions:

--8<-- [start:example-count]
>>> from snippets.layers.experts import mixtral_weights
>>> [round(mixtral_weights(k=k) / 1e9, 1) for k in (8, 2, 1)]
[46.7, 12.9, 7.2]
>>> round(8 * mixtral_weights(k=1) / 1e9, 1)  # eight models of one expert
57.9

--8<-- [end:example-count]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


# --8<-- [start:route]
def route(
    logits: Float[Tensor, "*batch N"], *, k: int, divide: bool = True
) -> tuple[Float[Tensor, "*batch k"], Int[Tensor, "*batch k"]]:
    """The gate of the k experts with the largest logits, and which they are:
    Shazeer et al. (2017). It sums to one, unless it is not divided."""
    largest, chosen = logits.topk(k, dim=-1)
    if divide:
        return largest.softmax(-1), chosen
    return logits.softmax(-1).gather(-1, chosen), chosen


# --8<-- [end:route]


# --8<-- [start:mixture]
def mixture(
    x: Float[Tensor, "n d"],
    router: Float[Tensor, "d N"],
    experts: Float[Tensor, "N d d_v"],
    *,
    k: int,
    divide: bool = True,
) -> Float[Tensor, "n d_v"]:
    """What each token gets from its experts, here a matrix each.

    An expert multiplies its own tokens, all at once.
    """
    gate, chosen = route(x @ router, k=k, divide=divide)
    y = x.new_zeros(len(x), experts.shape[-1])
    for e, expert in enumerate(experts):
        token, place = (chosen == e).nonzero(as_tuple=True)  # those sent to it
        share = gate[token, place].unsqueeze(-1) * (x[token] @ expert)
        y = y.index_add(0, token, share.to(y.dtype))
    return y


# --8<-- [end:mixture]


# --8<-- [start:orders]
def softmax_then_choose(
    chosen: Float[Tensor, " k"], others: Float[Tensor, " m"]
) -> Float[Tensor, " k"]:
    """Softmax over all logits, then the chosen ones, divided by their sum."""
    p = torch.cat([chosen, others]).softmax(-1)[: len(chosen)]
    return p / p.sum()


def choose_then_softmax(
    chosen: Float[Tensor, " k"], others: Float[Tensor, " m"]
) -> Float[Tensor, " k"]:
    """Softmax over the logits of the chosen experts alone."""
    return chosen.softmax(-1)


# --8<-- [end:orders]


# --8<-- [start:balance]
def balance_loss(
    f: Float[Tensor, " N"], P: Float[Tensor, " N"]
) -> Float[Tensor, ""]:
    """Load times mean probability, summed over experts, times their number:
    Fedus, Zoph and Shazeer (2022)."""
    return len(f) * (f * P).sum()


def balance_of_tokens(
    sent: Float[Tensor, "n N"], p: Float[Tensor, "n N"]
) -> Float[Tensor, ""]:
    """The same from where each token went and from its probabilities."""
    return balance_loss(sent.mean(0), p.mean(0))


def surplus(
    f: Float[Tensor, " N"], P: Float[Tensor, " N"]
) -> Float[Tensor, ""]:
    """How load and probability vary together over the experts."""
    return len(f) * ((f - f.mean()) * (P - P.mean())).sum()


# --8<-- [end:balance]


# --8<-- [start:push]
def balance_gradients(
    Z: Float[Tensor, "n N"], f: Float[Tensor, " N"]
) -> Float[Tensor, "n N"]:
    """The slope of the loss by each logit of the router."""
    n, N = Z.shape
    p = Z.softmax(-1)
    return N / n * p * (f - p @ f[:, None])


# --8<-- [end:push]


# --8<-- [start:count]
def mixtral_weights(*, k: int) -> int:
    """The weights of a model with the sizes of Jiang et al. (2024), if it had k
    experts in each block; with k of 2, those that one token uses."""
    blocks, d, d_f, N = 32, 4096, 14336, 8
    attention = 2 * d * d + 2 * d * 1024  # 8 heads of keys and of values
    experts = k * 3 * d * d_f
    norms, router = 2 * d, d * N
    return blocks * (attention + experts + norms + router) + 2 * 32000 * d + d


# --8<-- [end:count]
