"""Gates: a decaying state as a recurrence and as a mask, with one gate or one for each channel, and the delta rule with a gate.

The recurrence and the masked product:

--8<-- [start:example-same]
>>> import torch
>>> from snippets.linear.gates import decay_mask, gated_product, gated_state
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(  # (n, d) each
...     3, 6, 4, generator=generator, dtype=torch.float64)
>>> gate = torch.tensor([0.9, 0.5, 1.0, 0.5, 0.8, 0.5], dtype=torch.float64)  # (n)
>>> torch.allclose(gated_state(query, key, value, gate.unsqueeze(-1)),
...                gated_product(query, key, value, gate))
True
>>> decay_mask(gate)[:4, :4].round(decimals=4)
tensor([[1.0000, 0.0000, 0.0000, 0.0000],
        [0.5000, 1.0000, 0.0000, 0.0000],
        [0.5000, 1.0000, 1.0000, 0.0000],
        [0.2500, 0.5000, 0.5000, 1.0000]], dtype=torch.float64)

--8<-- [end:example-same]

A gate for each channel can be absorbed into queries and keys:

--8<-- [start:example-channels]
>>> from snippets.linear.attention import masked_product
>>> from snippets.linear.gates import absorb_gates
>>> gates = torch.rand(6, 4, generator=generator, dtype=torch.float64)
>>> torch.allclose(masked_product(*absorb_gates(query, key, gates), value),
...                gated_state(query, key, value, gates))
True

--8<-- [end:example-channels]

The share of the weight beyond the horizon:

--8<-- [start:example-horizon]
>>> from snippets.linear.gates import share_beyond
>>> for gate in (0.5, 0.9, 0.99, 0.999):
...     horizon = round(1 / (1 - gate))
...     print(f"gate {gate:5}   horizon {horizon:5,}"
...           f"   beyond it {share_beyond(gate, horizon):.3f}"
...           f"   beyond three {share_beyond(gate, 3 * horizon):.3f}")
gate   0.5   horizon     2   beyond it 0.250   beyond three 0.016
gate   0.9   horizon    10   beyond it 0.349   beyond three 0.042
gate  0.99   horizon   100   beyond it 0.366   beyond three 0.049
gate 0.999   horizon 1,000   beyond it 0.368   beyond three 0.050

--8<-- [end:example-horizon]

Decay, then correct:

--8<-- [start:example-delta]
>>> from snippets.linear.gates import gated_delta_step
>>> state = torch.tensor([[8.0], [6.0]])  # values under two keys at a right angle
>>> first, new = torch.tensor([[1.0, 0.0]]), torch.tensor([[5.0]])
>>> gated_delta_step(state, first, new, alpha=0.5, beta=1.0).flatten().tolist()
[5.0, 3.0]

--8<-- [end:example-delta]

Half-lives:

--8<-- [start:example-half]
>>> from snippets.linear.gates import half_life
>>> [round(half_life(gate), 1) for gate in (0.5, 0.9, 0.99, 0.999)]
[1.0, 6.6, 69.0, 692.8]

--8<-- [end:example-half]

A channel that decays fast, over a long text:

--8<-- [start:example-overflow]
>>> fast = torch.full((200, 1), 0.5)  # fp32; a half, two hundred times
>>> ones = torch.ones(200, 1)
>>> masked_product(*absorb_gates(ones, ones, fast), ones)[[1, 9, 199]].flatten()
tensor([1.5000, 1.9980,    nan])
>>> gated_state(ones, ones, ones, fast)[[1, 9, 199]].flatten()
tensor([1.5000, 1.9980, 2.0000])

--8<-- [end:example-overflow]
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:state]
def gated_state(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
    gate: Float[Tensor, "*#batch n #d_k"],
) -> Float[Tensor, "*batch n d_v"]:
    """Token by token: the state decays, the token is written, the query reads.

    A gate is one number for each token, (n, 1), or one for each channel.
    Raises ValueError without tokens, and for numbers of tokens that differ.
    """
    wide = [upcast(x) for x in (query, key, value, gate)]
    state = upcast(torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :]))
    rows = (x.unsqueeze(-2).unbind(-3) for x in wide)  # (*batch, 1, d) each
    outputs = []
    for q, k, v, a in zip(*rows, strict=True):
        state = a.mT * state + k.mT @ v  # (*batch, d_k, d_v)
        outputs.append(q @ state)
    return torch.cat(outputs, dim=-2).to(query.dtype)


# --8<-- [end:state]


# --8<-- [start:mask]
def decay_mask(gate: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n n"]:
    """For each query and earlier key, the product of the gates since the key.

    Uses no logarithms, so a gate may be zero.
    """
    a, n = upcast(gate), gate.shape[-1]
    later = torch.ones(n, n, dtype=torch.bool, device=gate.device).tril(-1)
    steps = torch.where(later, a.unsqueeze(-1), 1)  # (*batch, n, n)
    return steps.cumprod(-2).tril().to(gate.dtype)


def gated_product(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
    gate: Float[Tensor, "*#batch n"],
) -> Float[Tensor, "*batch n d_v"]:
    """The same for one gate for each token: scores times a mask that decays.

    Raises ValueError for numbers of tokens that differ.
    """
    n = gate.shape[-1]
    if any(x.shape[-2] != n for x in (query, key, value)):
        raise ValueError("expected as many queries, keys, values and gates")
    scores = upcast(query) @ upcast(key).mT
    mixed = (decay_mask(upcast(gate)) * scores) @ upcast(value)
    return mixed.to(query.dtype)


# --8<-- [end:mask]


# --8<-- [start:channels]
def absorb_gates(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    gate: Float[Tensor, "*#batch n d_k"],
) -> tuple[Float[Tensor, "*batch n d_k"], Float[Tensor, "*batch n d_k"]]:
    """Queries and keys that have absorbed the gates of each channel."""
    C = gate.cumprod(-2)  # (*batch, n, d_k)
    return query * C, key / C


# --8<-- [end:channels]


# --8<-- [start:alibi]
def weights_with_alibi(
    scores: Float[Tensor, "*batch n"], *, slope: float
) -> Float[Tensor, "*batch n"]:
    """The last query's weights, with a penalty for distance.

    ALiBi: Press, Smith and Lewis (2022).
    """
    x, n = upcast(scores), scores.shape[-1]
    distance = torch.arange(n - 1, -1, -1, dtype=x.dtype, device=x.device)
    return torch.softmax(x - slope * distance, dim=-1).to(scores.dtype)


# --8<-- [end:alibi]


# --8<-- [start:horizon]
def share_beyond(gate: float, tokens: int) -> float:
    """The share of the weight that a constant gate gives to older tokens."""
    return gate**tokens


def half_life(gate: float) -> float:
    """The number of tokens after which a weight has halved."""
    return math.log(2) / -math.log(gate)


# --8<-- [end:horizon]


# --8<-- [start:delta]
def gated_delta_step(
    state: Float[Tensor, "*#batch d_k d_v"],
    key: Float[Tensor, "*#batch 1 d_k"],
    value: Float[Tensor, "*#batch 1 d_v"],
    *,
    alpha: float,
    beta: float,
) -> Float[Tensor, "*batch d_k d_v"]:
    """Decay, read, and write the difference to the value: Yang et al. (2025)."""
    state = alpha * state
    return state + beta * key.mT @ (value - key @ state)


# --8<-- [end:delta]
