"""Stacks of linear and full layers: bytes of caches and states, and the delta rule with a gate for each channel.

Sizes of a published model whose layers are three to one:

--8<-- [start:example-sizes]
>>> from math import prod
>>> from snippets.serving.models import models
>>> model = models()["Qwen3-Next-80B-A3B"]
>>> model.layers, model.full_layers  # each other layer keeps a state
(48, 12)
>>> token_bytes = 2 * 2 * model.kv_heads * model.head_width  # of a full layer
>>> state_bytes = 2 * prod(model.state)  # two bytes a number
>>> token_bytes, state_bytes, state_bytes // token_bytes
(2048, 1048576, 512)

--8<-- [end:example-sizes]

Bytes of its stack, and of one with full attention in all 48 layers, in MiB:

--8<-- [start:example-bytes]
>>> from snippets.linear.hybrids import full_bytes, hybrid_bytes
>>> for n in (128, 512, 2_048, 32_768, 262_144):
...     full = full_bytes(n, 12, 3, token_bytes) / 2**20
...     hybrid = hybrid_bytes(n, 12, 3, token_bytes, state_bytes) / 2**20
...     print(f"{n:7,} tokens   full {full:8,.0f}   hybrid {hybrid:6,.0f}"
...           f"   share {hybrid / full:.2f}")
    128 tokens   full       12   hybrid     39   share 3.25
    512 tokens   full       48   hybrid     48   share 1.00
  2,048 tokens   full      192   hybrid     84   share 0.44
 32,768 tokens   full    3,072   hybrid    804   share 0.26
262,144 tokens   full   24,576   hybrid  6,180   share 0.25

--8<-- [end:example-bytes]

A state, measured in tokens of a cache:

--8<-- [start:example-worth]
>>> from snippets.linear.hybrids import state_in_tokens
>>> for groups in (32, 8, 2):
...     print(f"{groups:2} key-value heads: {state_in_tokens(32, groups, width=128):5,.0f} tokens")
32 key-value heads:    64 tokens
 8 key-value heads:   256 tokens
 2 key-value heads: 1,024 tokens

--8<-- [end:example-worth]

A gate for each channel: the state 8 and 6 under two keys at a right angle:

--8<-- [start:example-channels]
>>> import torch
>>> from snippets.linear.gates import gated_delta_step
>>> from snippets.linear.hybrids import channel_delta_step
>>> state = torch.tensor([[8.0], [6.0]])  # (d_k, d_v)
>>> key, value = torch.tensor([[1.0, 0.0]]), torch.tensor([[5.0]])
>>> gates = torch.tensor([[0.5, 1.0]])  # (1, d_k): the second channel is kept
>>> channel_delta_step(state, key, value, gates, beta=1.0).flatten().tolist()
[5.0, 6.0]
>>> same = torch.tensor([[0.5, 0.5]])
>>> channel_delta_step(state, key, value, same, beta=1.0).flatten().tolist()
[5.0, 3.0]
>>> gated_delta_step(state, key, value, alpha=0.5, beta=1.0).flatten().tolist()
[5.0, 3.0]

--8<-- [end:example-channels]

The shortest text for which a hybrid needs at most a tenth more than its limit:

--8<-- [start:example-near]
>>> for linear in (1, 3, 7):
...     n = next(n for n in range(1, 10**6)
...              if hybrid_bytes(n, 1, linear, token_bytes, state_bytes)
...              * (linear + 1) <= 1.1 * full_bytes(n, 1, linear, token_bytes))
...     print(f"{linear} to one: {n:6,} tokens")
1 to one:  5,120 tokens
3 to one: 15,360 tokens
7 to one: 35,840 tokens

--8<-- [end:example-near]
"""

from jaxtyping import Float
from torch import Tensor


# --8<-- [start:bytes]
def full_bytes(n: int, blocks: int, linear: int, token_bytes: int) -> int:
    """A cache of all tokens in each layer of a stack of blocks, if its linear
    layers had full attention too."""
    return blocks * (linear + 1) * n * token_bytes


def hybrid_bytes(
    n: int, blocks: int, linear: int, token_bytes: int, state_bytes: int
) -> int:
    """In each block, one cache of all tokens and a state in each linear layer."""
    return blocks * (n * token_bytes + linear * state_bytes)


def state_in_tokens(heads: int, kv_heads: int, *, width: int) -> float:
    """How many tokens of a cache take as many numbers as a state. The keys and
    values of all heads have the same width."""
    return heads * width**2 / (2 * kv_heads * width)


# --8<-- [end:bytes]


# --8<-- [start:channels]
def channel_delta_step(
    state: Float[Tensor, "*#batch d_k d_v"],
    key: Float[Tensor, "*#batch 1 d_k"],
    value: Float[Tensor, "*#batch 1 d_v"],
    gate: Float[Tensor, "*#batch 1 d_k"],
    *,
    beta: float,
) -> Float[Tensor, "*batch d_k d_v"]:
    """Each channel decays by its gate, and then the key reads and writes: Kimi
    Team (2025)."""
    state = gate.mT * state  # one gate for each row
    return state + beta * key.mT @ (value - key @ state)


# --8<-- [end:channels]
