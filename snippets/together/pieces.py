"""The subjects of the claims about the small GPT: a cache, and a tied head.

A model of two blocks with random weights:

--8<-- [start:example-model]
>>> import torch
>>> from snippets.together.gpt import GPT, Config
>>> _ = torch.manual_seed(0)
>>> sizes = Config(vocab_size=50, num_layers=2, num_heads=6, num_kv_heads=2,
...                d=48, d_ff=128)
>>> model = GPT(sizes)
>>> tokens = torch.randint(50, (3, 10))  # (batch, n)
>>> logits, cache = model(tokens)
>>> tuple(logits.shape), len(cache), tuple(cache[0].key.shape)
((3, 10, 50), 2, (3, 2, 10, 8))

--8<-- [end:example-model]

All tokens at once, or seven of them, then one, then the last two:

--8<-- [start:example-cache]
>>> cache, parts = None, []
>>> for part in tokens.split([7, 1, 2], dim=-1):
...     logits_of_part, cache = model(part, cache=cache)
...     parts.append(logits_of_part)
>>> torch.allclose(torch.cat(parts, dim=-2), logits, atol=1e-6)
True
>>> def generated(use_cache):
...     generator = torch.Generator().manual_seed(1)
...     return model.generate(
...         tokens, count=20, use_cache=use_cache, generator=generator)
>>> torch.equal(generated(True), generated(False))
True

--8<-- [end:example-cache]

Stored keys, rotated once, give the scores of keys rotated by distance:

--8<-- [start:example-kept]
>>> import torch
>>> from snippets.order.positions import frequencies
>>> from snippets.together.pieces import scores_by_distance, scores_from_cache
>>> generator = torch.Generator().manual_seed(0)
>>> q_1, q_2 = torch.randn(2, 4, generator=generator)  # (h) each
>>> K_1, K_2 = torch.randn(2, 6, 4, generator=generator)  # (t, h) each
>>> halves, places = (q_1, q_2, K_1, K_2), (torch.tensor(6), torch.arange(6))
>>> torch.allclose(scores_from_cache(*halves, *places, frequencies(8)),
...                scores_by_distance(*halves, *places, frequencies(8)),
...                atol=1e-6)
True

--8<-- [end:example-kept]

A later token does not change an old row if it is masked:

--8<-- [start:example-old]
>>> import torch
>>> from snippets.together.pieces import old_row
>>> generator = torch.Generator().manual_seed(1)
>>> K, V = torch.randn(2, 6, 4, generator=generator)  # (m, d_k), (m, d_v)
>>> query, key, value = torch.randn(3, 4, generator=generator)
>>> masked, seen = (old_row(query, K, V, key, value, masked=masked)
...                 for masked in (True, False))
>>> alone = torch.softmax(K @ query, dim=-1) @ V
>>> torch.allclose(masked, alone), torch.allclose(seen, alone)
(True, False)

--8<-- [end:example-old]
"""

import torch
from jaxtyping import Float, Real
from torch import Tensor

from snippets.attention.formula import attention
from snippets.order.rotary import rotate_pairs


# --8<-- [start:old]
def old_row(
    query: Float[Tensor, " d_k"],
    K: Float[Tensor, "m d_k"],
    V: Float[Tensor, "m d_v"],
    key: Float[Tensor, " d_k"],
    value: Float[Tensor, " d_v"],
    *,
    masked: bool = True,
) -> Float[Tensor, " d_v"]:
    """An old query's output after one more token, masked or not."""
    keys = torch.cat([K, key[None]])  # (m + 1, d_k)
    values = torch.cat([V, value[None]])  # (m + 1, d_v)
    mask = torch.ones(1, len(keys), dtype=torch.bool, device=K.device)
    mask[:, -1] = not masked
    outputs = attention(query[None], keys, values, attn_mask=mask, scale=1.0)
    return outputs[0]


# --8<-- [end:old]


# --8<-- [start:kept]
def rotated(
    first: Float[Tensor, "*#batch h"],
    second: Float[Tensor, "*#batch h"],
    position: Real[Tensor, "*#batch"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, "*batch d_k"]:
    """Both halves of queries or keys, rotated by positions; d_k is 2 h."""
    return torch.cat(rotate_pairs(first, second, position, omega), dim=-1)


def scores_from_cache(
    q_1: Float[Tensor, " h"],
    q_2: Float[Tensor, " h"],
    K_1: Float[Tensor, "t h"],
    K_2: Float[Tensor, "t h"],
    s: Real[Tensor, ""],
    places: Real[Tensor, " t"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, " t"]:
    """The scores of a query at s; each key was rotated once, by its position."""
    kept = rotated(K_1, K_2, places, omega)  # (t, 2 h): this is in the cache
    return kept @ rotated(q_1, q_2, s, omega)


def scores_by_distance(
    q_1: Float[Tensor, " h"],
    q_2: Float[Tensor, " h"],
    K_1: Float[Tensor, "t h"],
    K_2: Float[Tensor, "t h"],
    s: Real[Tensor, ""],
    places: Real[Tensor, " t"],
    omega: Float[Tensor, " h"],
) -> Float[Tensor, " t"]:
    """The same from keys that are rotated by their distances."""
    keys = rotated(K_1, K_2, places - s, omega)  # (t, 2 h)
    return keys @ torch.cat([q_1, q_2])


# --8<-- [end:kept]


# --8<-- [start:tied]
def tied_logits(
    u: Float[Tensor, " N"], E: Float[Tensor, "N d"], W: Float[Tensor, "d d"]
) -> Float[Tensor, " N"]:
    """A token is looked up in a table, mapped, and compared with the table."""
    return u @ E @ W @ E.T


def tied_gradients(
    u: Float[Tensor, " N"], E: Float[Tensor, "N d"], W: Float[Tensor, "d d"]
) -> Float[Tensor, "N N d"]:
    """The gradient of each logit by the table, from autograd."""
    return torch.func.jacrev(tied_logits, argnums=1)(u, E, W)


# --8<-- [end:tied]
