"""Ulysses in one process: tokens are exchanged for heads, and back again.

Six devices would each get one of six heads; with three devices, each gets two:

--8<-- [start:example-ulysses]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.io.ulysses import ulysses_attention
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(
...     3, 6, 12, 8, generator=generator)  # six heads, twelve tokens
>>> output = ulysses_attention(query, key, value, devices=3, is_causal=True)
>>> expected = scaled_dot_product_attention(query, key, value, is_causal=True)
>>> torch.allclose(output, expected, atol=1e-6)
True

--8<-- [end:example-ulysses]

Megabytes that each device sends in one layer, for 131,072 tokens and the heads of
Llama 3.1 8B and 70B:

--8<-- [start:example-bytes]
>>> from snippets.io.ulysses import ring_bytes, ulysses_bytes_with_copies
>>> from snippets.serving.models import models
>>> for name in ("Llama 3.1 8B", "Llama 3.1 70B"):
...     model = models()[name]
...     heads, kv_heads = model.heads, model.kv_heads
...     print(name)
...     for p in (2, 4, 8, 16, 32):
...         sizes = p, 131072 // p, model.head_width
...         ring = ring_bytes(*sizes, kv_heads, 2)
...         other = ulysses_bytes_with_copies(*sizes, heads, kv_heads, 2)
...         print(f"{p:4} devices: ring {ring / 1e6:4.0f}"
...               f"  Ulysses {other / 1e6:4.0f}")
Llama 3.1 8B
   2 devices: ring  268  Ulysses  671
   4 devices: ring  403  Ulysses  503
   8 devices: ring  470  Ulysses  294
  16 devices: ring  503  Ulysses  189
  32 devices: ring  520  Ulysses  130
Llama 3.1 70B
   2 devices: ring  268  Ulysses 1208
   4 devices: ring  403  Ulysses  906
   8 devices: ring  470  Ulysses  528
  16 devices: ring  503  Ulysses  315
  32 devices: ring  520  Ulysses  195

--8<-- [end:example-bytes]

Seconds for the attention of one layer without a mask, 16,384 tokens on each of
eight devices of one server, and 512 on each:

--8<-- [start:example-seconds]
>>> from snippets.io.ulysses import (
...     ring_seconds, step_seconds, ulysses_bytes, ulysses_seconds)
>>> speed, link = 400e12, 50e9  # operations and bytes in a second
>>> for tokens in (16384, 512):
...     computing = step_seconds(tokens, 128, 32, speed)
...     ring = ring_bytes(8, tokens, 128, 8, 2) / link
...     other = ulysses_bytes(8, tokens, 128, 32, 8, 2) / link
...     print(f"{tokens:6} tokens: ring {ring_seconds(8, computing, ring):.6f}"
...           f"  Ulysses {ulysses_seconds(8, computing, other):.6f}")
 16384 tokens: ring 0.087961  Ulysses 0.093833
   512 tokens: ring 0.000304  Ulysses 0.000269
>>> from snippets.io.ulysses import tokens_for_equal_times
>>> tokens_for_equal_times(8, 32, 8, 2, speed, link)
750.0

--8<-- [end:example-seconds]
"""

from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import attention


# --8<-- [start:exchange]
def all_to_all(parts: Float[Tensor, "p p *rest"]) -> Float[Tensor, "p p *rest"]:
    """What each device holds after each has sent part s to device s."""
    return parts.transpose(0, 1)


def tokens_to_heads(
    x: Float[Tensor, "p h c d"],
) -> Float[Tensor, "p e n d"]:
    """From c tokens and all heads on each of p devices to all n tokens and e
    heads.

    Raises RuntimeError unless the devices divide the heads.
    """
    parts = x.unflatten(1, (len(x), -1))  # (p, p, e, c, d)
    received = all_to_all(parts)  # (p, from, e, c, d)
    return received.transpose(1, 2).flatten(2, 3)


def heads_to_tokens(
    x: Float[Tensor, "p e n d"],
) -> Float[Tensor, "p h c d"]:
    """Back again.

    Raises RuntimeError unless the devices divide the tokens.
    """
    parts = x.unflatten(2, (len(x), -1)).transpose(1, 2)  # (p, to, e, c, d)
    return all_to_all(parts).flatten(1, 2)


# --8<-- [end:exchange]


# --8<-- [start:ulysses]
def attention_with_exchange(
    query: Float[Tensor, "p h c d_k"],
    key: Float[Tensor, "p h_kv c d_k"],
    value: Float[Tensor, "p h_kv c d_v"],
    *,
    is_causal: bool = False,
    scale: float | None = None,
) -> Float[Tensor, "p h c d_v"]:
    """Attention of all tokens, with c tokens on each of p devices before and
    after it: Jacobs et al. (2023).

    Raises RuntimeError unless the devices divide the heads of keys and values.
    """
    whole = (tokens_to_heads(x) for x in (query, key, value))  # (p, e, n, d)
    output = attention(
        *whole, is_causal=is_causal, scale=scale, enable_gqa=True
    )
    return heads_to_tokens(output)


def ulysses_attention(
    query: Float[Tensor, "h n d_k"],
    key: Float[Tensor, "h_kv n d_k"],
    value: Float[Tensor, "h_kv n d_v"],
    *,
    devices: int,
    is_causal: bool = False,
) -> Float[Tensor, "h n d_v"]:
    """The same from and to one device: each device gets a piece of the text.

    Raises RuntimeError unless the devices divide the tokens and the heads of
    keys and values.
    """
    pieces = (
        x.unflatten(1, (devices, -1)).transpose(0, 1)  # (p, h, c, d)
        for x in (query, key, value)
    )
    output = attention_with_exchange(*pieces, is_causal=is_causal)
    return output.transpose(0, 1).flatten(1, 2)


# --8<-- [end:ulysses]


# --8<-- [start:bytes]
def ring_bytes(
    devices: int, tokens: int, width: int, kv_heads: int, itemsize: int
) -> int:
    """Bytes that each device sends, with keys and values of its own tokens or
    of others in each step but the last.
    """
    piece = 2 * tokens * width * kv_heads * itemsize
    return sum(piece for _ in range(1, devices))


def gather_bytes(
    devices: int, tokens: int, width: int, kv_heads: int, itemsize: int
) -> int:
    """Bytes of all keys and values, less those that a device has already."""
    everything = 2 * (devices * tokens) * width * kv_heads * itemsize
    return everything - everything // devices


def ulysses_bytes(
    devices: int,
    tokens: int,
    width: int,
    heads: int,
    kv_heads: int,
    itemsize: int,
) -> float:
    """Bytes that each device sends: queries and output, keys and values, each
    without the part that stays.
    """
    numbers = 2 * tokens * width * (heads + kv_heads)
    return (numbers - numbers / devices) * itemsize


def ulysses_bytes_with_copies(
    devices: int,
    tokens: int,
    width: int,
    heads: int,
    kv_heads: int,
    itemsize: int,
) -> float:
    """As `ulysses_bytes`, but heads of keys and values are copied if there are
    fewer of them than devices: each device then gets one.
    """
    return ulysses_bytes(
        devices, tokens, width, heads, max(kv_heads, devices), itemsize
    )


def ring_less_ulysses(
    devices: int,
    tokens: int,
    width: int,
    heads: int,
    kv_heads: int,
    itemsize: int,
) -> float:
    """How many more bytes a ring sends."""
    ring = ring_bytes(devices, tokens, width, kv_heads, itemsize)
    return ring - ulysses_bytes(
        devices, tokens, width, heads, kv_heads, itemsize
    )


# --8<-- [end:bytes]


# --8<-- [start:seconds]
def step_seconds(tokens: int, width: int, heads: int, speed: float) -> float:
    """Seconds of computing for as many queries as keys."""
    return 4 * tokens**2 * width * heads / speed


def ring_seconds(devices: int, computing: float, sending: float) -> float:
    """Seconds of a ring, from those of computing in a step and of all sending:
    both at the same time, and a last step without sending.
    """
    return max((devices - 1) * computing, sending) + computing


def ulysses_seconds(devices: int, computing: float, sending: float) -> float:
    """Seconds of Ulysses: first sending, then computing, then sending."""
    return devices * computing + sending


def tokens_for_equal_times(
    devices: int,
    heads: int,
    kv_heads: int,
    itemsize: int,
    speed: float,
    link: float,
) -> float:
    """Tokens on each device at which both take equally long, if there are any:
    with fewer tokens, Ulysses is faster. Zero or less if a ring sends no more
    bytes.
    """
    saved = devices * kv_heads - (heads + kv_heads)
    return itemsize * speed * saved / (2 * devices * heads * link)


# --8<-- [end:seconds]
