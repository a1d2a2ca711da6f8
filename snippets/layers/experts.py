"""Mixture of experts: a router sends each token to k of N feed-forward layers.

The gate, with softmax before or after the choice:

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
>>> [round(share, 2) for share in p.sum(-1).tolist()]  # without division
[0.6, 0.51, 0.63, 0.44, 0.69]

--8<-- [end:example-gate]

A layer of four experts; each token uses two:

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

With one expert for each token and a divided gate, the router gets no gradient:

--8<-- [start:example-one]
>>> _ = router.requires_grad_()
>>> for divide in (True, False):
...     y = mixture(x, router, experts, k=1, divide=divide)
...     gradient, = torch.autograd.grad(y.square().sum(), router)
...     print(divide, bool(gradient.abs().max() > 1e-9))
True False
False True

--8<-- [end:example-one]

Three tokens and two experts. The balancing loss is below one, although the load is uneven:

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

All tokens except one lean slightly to the first expert, and one goes to the second with probability one:

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

Mixtral's weights in billions: all, those that one token uses, and with a single expert:

--8<-- [start:example-count]
>>> from snippets.layers.experts import mixtral_parameters
>>> [round(mixtral_parameters(k=k) / 1e9, 1) for k in (8, 2, 1)]
[46.7, 12.9, 7.2]
>>> round(8 * mixtral_parameters(k=1) / 1e9, 1)  # eight models with one expert
57.9

--8<-- [end:example-count]

Loads before and after the bias is updated 500 times:

--8<-- [start:example-bias]
>>> from snippets.layers.experts import route_by_sigmoid, updated_bias
>>> logits = torch.randn(200, 4, **kinds) + torch.arange(4)  # (n, N)
>>> bias = torch.zeros(4)
>>> for step in range(501):
...     gate, chosen = route_by_sigmoid(logits, bias, k=2)
...     load = chosen.flatten().bincount(minlength=4) / chosen.numel()
...     if step in (0, 500):
...         print(step, [round(share, 2) for share in load.tolist()])
...     bias = updated_bias(bias, load, rate=0.001)
0 [0.02, 0.14, 0.36, 0.48]
500 [0.25, 0.25, 0.25, 0.25]

--8<-- [end:example-bias]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:route]
def route(
    logits: Float[Tensor, "*batch N"], *, k: int, divide: bool = True
) -> tuple[Float[Tensor, "*batch k"], Int[Tensor, "*batch k"]]:
    """The gate of the k experts with the largest logits, and these experts:
    Shazeer et al. (2017). If it is divided, it sums to one."""
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
    """The mixture for each token. Here each expert is one matrix.

    An expert multiplies all its tokens at once.
    """
    logits = upcast(x) @ upcast(router)  # rounded logits choose other experts
    gate, chosen = route(logits, k=k, divide=divide)
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
    """Softmax over all logits, then the chosen entries, divided by their sum."""
    p = torch.cat([chosen, others]).softmax(-1)[: len(chosen)]
    return p / p.sum()


def choose_then_softmax(
    chosen: Float[Tensor, " k"], others: Float[Tensor, " m"]
) -> Float[Tensor, " k"]:
    """Softmax over the logits of the chosen experts only."""
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
    """The same, from the assignments and the probabilities of all tokens."""
    return balance_loss(sent.mean(0), p.mean(0))


def scaled_load_covariance(
    f: Float[Tensor, " N"], P: Float[Tensor, " N"]
) -> Float[Tensor, ""]:
    """The covariance of load and probability, times the number squared."""
    return len(f) * ((f - f.mean()) * (P - P.mean())).sum()


# --8<-- [end:balance]


# --8<-- [start:push]
def balance_gradients(
    Z: Float[Tensor, "n N"], f: Float[Tensor, " N"]
) -> Float[Tensor, "n N"]:
    """The derivative of the loss with respect to each logit of the router."""
    n, N = Z.shape
    p = Z.softmax(-1)
    return N / n * p * (f - p @ f[:, None])


# --8<-- [end:push]


# --8<-- [start:bias]
def route_by_sigmoid(
    logits: Float[Tensor, "*batch N"], bias: Float[Tensor, " N"], *, k: int
) -> tuple[Float[Tensor, "*batch k"], Int[Tensor, "*batch k"]]:
    """The gate and the experts of DeepSeek-V3, without its groups of experts and
    its constant factor. The bias affects the choice, but not the gate:
    Wang et al. (2024)."""
    scores = logits.sigmoid()
    chosen = (scores + bias).topk(k, dim=-1).indices
    kept = scores.gather(-1, chosen)
    return kept / kept.sum(-1, keepdim=True), chosen


def updated_bias(
    bias: Float[Tensor, " N"], load: Float[Tensor, " N"], *, rate: float
) -> Float[Tensor, " N"]:
    """Lower the bias of experts above the mean load, and raise the others':
    Wang et al. (2024)."""
    return bias - rate * (load - load.mean()).sign()


# --8<-- [end:bias]


# --8<-- [start:count]
def mixtral_parameters(*, k: int) -> int:
    """The weights of a model with the sizes of Jiang et al. (2024) and k experts
    in each block. If k is 2, these are the weights that one token uses."""
    blocks, d, d_f, N = 32, 4096, 14336, 8
    attention = 2 * d * d + 2 * d * 1024  # 8 heads of keys and of values
    experts = k * 3 * d * d_f
    norms, router = 2 * d, d * N
    return blocks * (attention + experts + norms + router) + 2 * 32000 * d + d


# --8<-- [end:count]
