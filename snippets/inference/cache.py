"""Attention with a cache of keys and values, for one new token or for many.

A prompt goes in at once, and the tokens after it one by one:

--8<-- [start:example-cache]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.inference.cache import attend
>>> generator = torch.Generator().manual_seed(0)
>>> X = torch.randn(6, 8, generator=generator, dtype=torch.float64)  # (n, d)
>>> W = torch.randn(3, 8, 4, generator=generator, dtype=torch.float64)
>>> whole = attention(*(X @ one for one in W), is_causal=True)  # (n, d_v)
>>> prompt, cache = attend(X[:4], *W)  # prefill: (4, d_v)
>>> tokens = []
>>> for i in (4, 5):  # decode: (1, d_v) each
...     output, cache = attend(X[i:i + 1], *W, cache=cache)
...     tokens.append(output)
>>> torch.allclose(torch.cat([prompt, *tokens]), whole)
True
>>> cache.key.shape, cache.value.shape  # no queries are kept
(torch.Size([6, 4]), torch.Size([6, 4]))

--8<-- [end:example-cache]

The same cache in memory that is allocated once:

--8<-- [start:example-allocated]
>>> from snippets.inference.cache import KeyValueCache
>>> allocated = KeyValueCache(capacity=6)
>>> for i in range(6):
...     key, value = allocated.append(X[i:i + 1] @ W[1], X[i:i + 1] @ W[2])
>>> torch.allclose(key, cache.key), torch.allclose(value, cache.value)
(True, True)

--8<-- [end:example-allocated]

The keys and values of a sentence in one head, token by token:

--8<-- [start:example-sentence]
>>> import torch
>>> from snippets.attention.formula import attention
>>> from snippets.inference.cache import KeyValueCache
>>> from snippets.seeing.atlas import stored_head
>>> head = stored_head()
>>> filling = KeyValueCache(capacity=len(head.tokens))
>>> rows = []
>>> for i in range(len(head.tokens)):
...     key, value = filling.append(head.key[i:i + 1], head.value[i:i + 1])
...     rows.append(attention(head.query[i:i + 1], key, value))
...     if head.tokens[i] == "it":
...         print(len(key), "tokens,", key.numel() + value.numel(), "numbers")
11 tokens, 704 numbers
>>> masked = attention(head.query, head.key, head.value, is_causal=True)
>>> torch.allclose(torch.cat(rows), masked)
True

--8<-- [end:example-sentence]

Changing hidden tokens to any finite numbers has no effect:

--8<-- [start:example-hidden]
>>> later = torch.cat([X[:4], 1e6 * torch.ones(2, 8)])  # another last two tokens
>>> changed = attention(*(later @ one for one in W), is_causal=True)
>>> torch.equal(changed[:4], whole[:4])
True

--8<-- [end:example-hidden]

How many times as many operations a text takes without a cache, between its two bounds:

--8<-- [start:example-saving]
>>> from snippets.inference.cache import saving
>>> for n in (1, 10, 100, 1000, 10000):
...     low, high = (n + 1) / 2, (2 * n + 1) / 3
...     print(f"{n:5}   {low:8.2f}   {saving(n, 1024):8.2f}   {high:8.2f}")
    1       1.00       1.00       1.00
   10       5.50       5.50       7.00
  100      50.50      50.90      67.00
 1000     500.50     533.20     667.00
10000    5000.50    6182.78    6667.00

--8<-- [end:example-saving]

Two layers that compute the mean of what they see. The first token is dropped from both caches before
the third comes:

--8<-- [start:example-echo]
>>> from snippets.inference.cache import last_output_after_dropping
>>> tokens = torch.tensor([4.0, 0.0, 0.0])
>>> last_output_after_dropping(tokens, forget=1).item()  # with a trace
1.0
>>> last_output_after_dropping(tokens[1:], forget=0).item()  # without it
0.0

--8<-- [end:example-echo]

A prompt of 2,000 tokens and an answer of 500, for a layer of width 1,024:

--8<-- [start:example-after-prompt]
>>> from snippets.inference.cache import decode_operations
>>> decode_operations(2000, 500, 1024)
8803328000

--8<-- [end:example-after-prompt]

A prefill in chunks:

--8<-- [start:example-chunks]
>>> from snippets.inference.cache import chunked_pairs, prefill_in_chunks
>>> output, cache = prefill_in_chunks(X, *W, size=2)
>>> torch.allclose(output, whole)
True
>>> [chunked_pairs(size, 4096 // size) / 4096**2 for size in (4096, 1024, 256, 1)]
[1.0, 0.625, 0.53125, 0.5001220703125]

--8<-- [end:example-chunks]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention
from snippets.attention.masks import lower_right
from snippets.order.causal import Cache
from snippets.order.cost import (
    operations_with_cache,
    operations_without_cache,
    step_operations,
)


# --8<-- [start:seen]
def masked_output(
    scores: Float[Tensor, " m"],
    value: Float[Tensor, "m d_v"],
    keep: Float[Tensor, " m"],
) -> Float[Tensor, " d_v"]:
    """The output of a query that sees the keys with factor 1, not those with 0.

    At least one key has the factor 1.
    """
    weights = torch.softmax(scores.masked_fill(keep == 0, -torch.inf), dim=-1)
    return weights @ value  # (m) (m, d_v) -> (d_v)


# --8<-- [end:seen]


# --8<-- [start:attend]
def attend(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d d_k"],
    W_K: Float[Tensor, "d d_k"],
    W_V: Float[Tensor, "d d_v"],
    *,
    cache: Cache | None = None,
) -> tuple[Float[Tensor, "*batch n d_v"], Cache]:
    """Causal attention for n new tokens; the cache holds all tokens before them.

    Without a cache this is a prefill, and with one token a step of decoding.
    Raises RuntimeError for a cache with other widths or another batch.
    """
    new = Cache(x @ W_K, x @ W_V)
    if cache is not None:  # (*batch, past + n, d_k) and (*batch, past + n, d_v)
        new = Cache(*(torch.cat(pair, dim=-2) for pair in zip(cache, new)))
    mask = lower_right(x.shape[-2], new.key.shape[-2], device=x.device)
    return attention(x @ W_Q, new.key, new.value, attn_mask=mask), new


# --8<-- [end:attend]


# --8<-- [start:allocated]
class KeyValueCache:
    """The keys and values of one layer, in memory that is allocated once.

    It has room for `capacity` tokens and takes its other sizes, dtype and
    device from the first keys and values.
    """

    def __init__(self, capacity: int) -> None:
        """An empty cache."""
        self.capacity, self.length = capacity, 0
        self.key: Tensor | None = None  # (*batch, capacity, d_k)
        self.value: Tensor | None = None  # (*batch, capacity, d_v)

    def append(
        self,
        key: Float[Tensor, "*batch n d_k"],
        value: Float[Tensor, "*batch n d_v"],
    ) -> tuple[Float[Tensor, "*batch m d_k"], Float[Tensor, "*batch m d_v"]]:
        """Store new keys and values, and return those of all tokens so far.

        The results are views. The next call writes behind them.
        Raises ValueError if there is no room, where autograd records, and for
        another batch, width, dtype or device than before.
        """
        if torch.is_grad_enabled() and (
            key.requires_grad or value.requires_grad
        ):
            raise ValueError(
                "a KeyValueCache is for inference; expected torch.no_grad()"
            )
        start, end = self.length, self.length + key.shape[-2]
        if end > self.capacity:
            raise ValueError(
                f"the cache has room for {self.capacity} tokens; found {end}"
            )
        if self.key is None or self.value is None:
            room = (*key.shape[:-2], self.capacity)
            stored = (
                key.new_zeros(*room, key.shape[-1]),
                value.new_zeros(*room, value.shape[-1]),
            )
        else:
            stored = self.key, self.value
        for old, new in zip(stored, (key, value)):
            shape = *old.shape[:-2], end - start, old.shape[-1]
            held = shape, old.dtype, old.device
            found = tuple(new.shape), new.dtype, new.device
            if found != held:
                raise ValueError(f"the cache expected {held}; found {found}")
            old[..., start:end, :] = new
        self.key, self.value = stored
        self.length = end
        return self.key[..., :end, :], self.value[..., :end, :]


# --8<-- [end:allocated]


# --8<-- [start:output_jacobians]
def output_jacobians(
    query: Float[Tensor, "n d_k"],
    key: Float[Tensor, "m d_k"],
    value: Float[Tensor, "m d_v"],
) -> tuple[Float[Tensor, "n d_v n d_k"], Float[Tensor, "n d_v m d_k"]]:
    """Derivatives of the outputs with respect to queries and to keys; no mask, no
    scale."""

    def output(query: Tensor, key: Tensor) -> Tensor:
        return attention(query, key, value, scale=1.0)

    by_query, by_key = torch.func.jacrev(output, argnums=(0, 1))(query, key)
    return by_query, by_key


# --8<-- [end:output_jacobians]


# --8<-- [start:saving]
def saving(n: int, d: int) -> float:
    """How many times as many operations n tokens take without a cache."""
    return operations_without_cache(n, d) / operations_with_cache(n, d)


# --8<-- [end:saving]


# --8<-- [start:trace_of_dropped_token]
def last_output_after_dropping(
    tokens: Float[Tensor, " n"], *, forget: int
) -> Float[Tensor, ""]:
    """The last token after two layers that compute the mean of what they see.

    The first `forget` tokens are dropped from both caches before the last one.
    """
    places = torch.arange(1, len(tokens), device=tokens.device)
    # Layer 1: all tokens but the last, and the last.
    middle, new = tokens[:-1].cumsum(0) / places, tokens[forget:].mean()
    return torch.cat([middle[forget:], new[None]]).mean()  # layer 2


def trace_of_dropped_token(
    x: Float[Tensor, ""], y: Float[Tensor, ""], z: Float[Tensor, ""]
) -> Float[Tensor, ""]:
    """The trace of x: the last row with x dropped, minus the last row without x."""
    tokens = torch.stack([x, y, z])
    return last_output_after_dropping(
        tokens, forget=1
    ) - last_output_after_dropping(tokens[1:], forget=0)


# --8<-- [end:trace_of_dropped_token]


# --8<-- [start:after-prompt]
def decode_operations(prompt: int, tokens: int, d: int) -> int:
    """A layer's operations for tokens decoded after a prompt."""
    return sum(step_operations(prompt + b, d) for b in range(1, tokens + 1))


# --8<-- [end:after-prompt]


# --8<-- [start:chunks]
def prefill_in_chunks(
    x: Float[Tensor, "*batch n d"],
    W_Q: Float[Tensor, "d d_k"],
    W_K: Float[Tensor, "d d_k"],
    W_V: Float[Tensor, "d d_v"],
    *,
    size: int,
) -> tuple[Float[Tensor, "*batch n d_v"], Cache]:
    """A prefill in chunks of `size` tokens."""
    outputs, cache = [], None
    for chunk in x.split(size, dim=-2):
        output, cache = attend(chunk, W_Q, W_K, W_V, cache=cache)
        outputs.append(output)
    return torch.cat(outputs, dim=-2), cache


def chunked_pairs(size: int, chunks: int) -> int:
    """Scores computed if each chunk meets all tokens up to its own end."""
    return sum(size * (size * c) for c in range(1, chunks + 1))


# --8<-- [end:chunks]
