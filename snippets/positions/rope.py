"""RoPE in practice: what a score depends on, checkpoints, and features not rotated.

Which key has the highest score, if each token's key is its query aimed one position back? The
queries come from content, or are the same for all tokens, or the same and four times as long.

--8<-- [start:example-head]
>>> import torch
>>> from snippets.positions.rope import aimed_key, rotary_weights
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(200, 64, generator=generator, dtype=torch.float64)  # (n, d_k)
>>> same = X[:1].expand(200, 64)
>>> i = torch.arange(1, 200)  # each token but the first
>>> for Q in (X, same, 4 * same):
...     weights = rotary_weights(Q, aimed_key(Q, distance=-1))[1:]
...     shares = [(weights.argmax(-1) == i - back).double().mean().item() for back in (0, 1)]
...     mean = weights[i - 1, i - 1].mean().item()  # on the previous token
...     print("itself {:.0%}   previous {:.0%}".format(*shares), f"  its weight {mean:.3f}")
itself 100%   previous 0%   its weight 0.001
itself 0%   previous 100%   its weight 0.242
itself 0%   previous 100%   its weight 0.997

--8<-- [end:example-head]

A key whose score is highest 7 positions before the query:

--8<-- [start:example-aimed]
>>> import torch
>>> from snippets.order.rotary import apply_rotary
>>> from snippets.positions.rope import aimed_key
>>> generator = torch.Generator().manual_seed(0)
>>> q, other = torch.randn(2, 64, generator=generator, dtype=torch.float64)
>>> k = aimed_key(q, distance=-7)
>>> place = torch.arange(101)  # the query stands at 50
>>> def scores(key):  # one for each place of the key
...     turned = apply_rotary(key.expand(101, 64), place)
...     return turned @ apply_rotary(q, torch.tensor(50))
>>> scores(k).argmax().item()
43
>>> round(scores(k)[43].item(), 3), round((q @ q).item(), 3)
(80.286, 80.286)
>>> [round(scores(key)[43].item(), 3) for key in (q, other)]
[61.783, 15.301]

--8<-- [end:example-aimed]

A checkpoint in one layout, run by code for the other, with and without its columns reordered:

--8<-- [start:example-checkpoint]
>>> from snippets.order.rotary import apply_rotary_interleaved
>>> from snippets.positions.rope import to_halves
>>> X = torch.randn(5, 16, generator=generator, dtype=torch.float64)
>>> W_Q, W_K = torch.randn(2, 16, 8, generator=generator, dtype=torch.float64)
>>> place = torch.arange(5)
>>> def scores(rotate, W_Q, W_K):
...     return rotate(X @ W_Q, place) @ rotate(X @ W_K, place).mT
>>> trained = scores(apply_rotary_interleaved, W_Q, W_K)
>>> torch.allclose(scores(apply_rotary, W_Q, W_K), trained)
False
>>> reordered = [to_halves(W, num_heads=1) for W in (W_Q, W_K)]
>>> torch.allclose(scores(apply_rotary, *reordered), trained)
True
>>> to_halves(torch.arange(8.0).expand(1, 8), num_heads=2)
tensor([[0., 2., 1., 3., 4., 6., 5., 7.]])

--8<-- [end:example-checkpoint]

RoPE on the first 16 of 64 features: a rotated part plus a plain part.

--8<-- [start:example-partial]
>>> from snippets.positions.rope import apply_partial_rotary
>>> p, r = torch.tensor(3), torch.tensor(40)
>>> def partial(x, at):
...     return apply_partial_rotary(x, at, width=16)
>>> whole = partial(q, p) @ partial(k, r)
>>> first = apply_rotary(q[:16], p) @ apply_rotary(k[:16], r)
>>> torch.allclose(whole, first + q[16:] @ k[16:])
True

--8<-- [end:example-partial]
"""

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import attention_weights, upcast
from snippets.order.positions import frequencies
from snippets.order.rotary import (
    align_positions,
    apply_rotary,
    apply_rotation,
    find_rotation,
)


# --8<-- [start:clock]
def score_by_distance(
    rho: Float[Tensor, "*#batch h"],
    alpha: Float[Tensor, "*#batch h"],
    kappa: Float[Tensor, "*#batch h"],
    beta: Float[Tensor, "*#batch h"],
    distance: Real[Tensor, "*#batch"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, "*batch"]:
    """A sum of waves, from the lengths and angles of each pair in query and key."""
    angle = distance.unsqueeze(-1) * omega + beta - alpha  # (*batch, h)
    return (rho * kappa * torch.cos(angle)).sum(-1)


# --8<-- [end:clock]


# --8<-- [start:aimed]
def aimed_key(
    q: Float[Tensor, "*batch d_k"], *, distance: int | float
) -> Float[Tensor, "*batch d_k"]:
    """The key whose score with q is highest at this distance, negative if behind.

    Raises ValueError for an odd d_k, by `frequencies`.
    """
    return apply_rotary(q, torch.tensor(-distance, device=q.device))


# --8<-- [end:aimed]


# --8<-- [start:weights]
def rotary_weights(
    Q: Float[Tensor, "*#batch n d_k"], K: Float[Tensor, "*#batch n d_k"]
) -> Float[Tensor, "*batch n n"]:
    """Causal attention weights of queries and keys under RoPE.

    Raises ValueError for an odd d_k, by `frequencies`.
    """
    position = torch.arange(Q.shape[-2], device=Q.device)
    query, key = apply_rotary(Q, position), apply_rotary(K, position)
    return attention_weights(query, key, is_causal=True)


# --8<-- [end:weights]


# --8<-- [start:checkpoint]
def to_halves(
    W: Float[Tensor, "d width"], *, num_heads: int
) -> Float[Tensor, "d width"]:
    """Columns of W_Q or W_K, from the layout of neighbours to that in halves.

    For `Linear.weight`, which has them as rows, transpose before and after.
    Raises RuntimeError if twice the heads does not divide the width.
    """
    pairs = W.unflatten(-1, (num_heads, -1, 2))  # (d, heads, d_k / 2, 2)
    return pairs.mT.flatten(-3)


# --8<-- [end:checkpoint]


# --8<-- [start:partial]
def apply_partial_rotary(
    x: Float[Tensor, "*#batch d_k"],
    position: Real[Tensor, "*#batch"] | int,
    *,
    width: int,
    base: float = 10000.0,
    token_axis: int = -2,
) -> Float[Tensor, "*batch d_k"]:
    """RoPE on the first features, `width` of them; the others stay as they are.

    Raises ValueError as `apply_rotary` does, and if the width is odd.
    """
    place = align_positions(x, position, token_axis=token_axis)
    omega = frequencies(
        width, base=base, dtype=upcast(x).dtype, device=x.device
    )
    return apply_rotation(x, find_rotation(place, omega))


# --8<-- [end:partial]
