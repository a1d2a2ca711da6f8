"""Linear attention: a masked product and a running state with the same outputs, and what the state can hold.

--8<-- [start:example-same]
>>> import torch
>>> from snippets.linear.attention import masked_product, positive_features, running_state
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(  # (n, d) each
...     3, 6, 4, generator=generator, dtype=torch.float64)
>>> F, G = positive_features(query), positive_features(key)
>>> outputs, state = running_state(F, G, value)
>>> torch.allclose(masked_product(F, G, value), outputs)
True
>>> state.shape  # whatever n is
torch.Size([4, 4])

--8<-- [end:example-same]

Eight keys of width four. The first four are orthonormal:

--8<-- [start:example-room]
>>> from snippets.linear.attention import read_state, write_state
>>> key = torch.randn(8, 4, generator=generator, dtype=torch.float64)
>>> key = torch.nn.functional.normalize(key, dim=-1)
>>> key[:4] = torch.eye(4)
>>> value = torch.arange(1.0, 9, dtype=torch.float64).unsqueeze(-1)  # (n, 1)
>>> def recalled(n):
...     found = read_state(key[:n], write_state(key[:n], value[:n]))
...     return found.squeeze(-1).round(decimals=2).tolist()
>>> recalled(4)
[1.0, 2.0, 3.0, 4.0]
>>> recalled(5)
[-0.64, 4.38, 2.01, 7.96, 8.2]

--8<-- [end:example-room]

Numbers that a head of width 128 keeps, as a cache and as a state:

--8<-- [start:example-numbers]
>>> from snippets.linear.attention import cache_numbers, state_numbers
>>> for n in (32, 64, 128, 100_000):
...     print(f"{n:7,} tokens   cache {cache_numbers(n, 128, 128):10,}"
...           f"   state {state_numbers(128, 128):6,}")
     32 tokens   cache      8,192   state 16,384
     64 tokens   cache     16,384   state 16,384
    128 tokens   cache     32,768   state 16,384
100,000 tokens   cache 25,600,000   state 16,384

--8<-- [end:example-numbers]

Which of the stored values is nearest to what each key reads, for fifty sets of random keys and values
of length one:

--8<-- [start:example-nearest]
>>> from snippets.linear.attention import nearest, read_state, write_state
>>> fresh = torch.Generator().manual_seed(1)
>>> for n in (64, 128, 256, 512):
...     drawn = torch.randn(2, 50, n, 64, generator=fresh, dtype=torch.float64)
...     key, value = torch.nn.functional.normalize(drawn, dim=-1)
...     found = nearest(read_state(key, write_state(key, value)), value)
...     right = (found == torch.arange(n)).double().mean()
...     print(f"{n:3} keys in 64 by 64 numbers   {100 * right:.0f} % right")
 64 keys in 64 by 64 numbers   100 % right
128 keys in 64 by 64 numbers   98 % right
256 keys in 64 by 64 numbers   76 % right
512 keys in 64 by 64 numbers   33 % right

--8<-- [end:example-nearest]

Noise, measured for a hundred sets of random keys:

--8<-- [start:example-noise]
>>> from snippets.linear.attention import recall_noise
>>> for n in (8, 64, 512):
...     keys = torch.randn(100, n, 64, generator=generator, dtype=torch.float64) / 8
...     print(f"{n:3} keys   noise {recall_noise(keys):.2f}"
...           f"   root of n over r {(n / 64) ** 0.5:.2f}")
  8 keys   noise 0.34   root of n over r 0.35
 64 keys   noise 1.02   root of n over r 1.00
512 keys   noise 3.02   root of n over r 2.83

--8<-- [end:example-noise]

After a long text:

--8<-- [start:example-ratio]
>>> cache_numbers(100_000, 128, 128) / state_numbers(128, 128)
1562.5

--8<-- [end:example-ratio]

A prompt of four tokens is read once, and its state is kept:

--8<-- [start:example-prompt]
>>> _, state = running_state(F[:4], G[:4], query[:4])  # any values
>>> later, _ = running_state(F[4:], G[4:], query[4:])  # without the prompt
>>> continued = read_state(F[4:], state) + later
>>> torch.allclose(continued, masked_product(F, G, query)[4:])
True

--8<-- [end:example-prompt]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import relu

from snippets.attention.formula import upcast


# --8<-- [start:same]
def positive_features(
    x: Float[Tensor, "*batch n d"],
) -> Float[Tensor, "*batch n d"]:
    """ELU plus one: Katharopoulos et al. (2020).

    Below 0 this is e to the x, which is positive. ELU itself rounds to -1 for
    an x of -6 in bf16 and of -20 in fp32, and the sum would be 0.
    """
    return relu(x) + x.clamp(max=0).exp()


def masked_product(
    F: Float[Tensor, "*#batch n r"],
    G: Float[Tensor, "*#batch n r"],
    V: Float[Tensor, "*#batch n d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """Scores, with those of later keys set to zero, times the values.

    Raises ValueError for numbers of tokens that differ.
    """
    n = F.shape[-2]
    if any(x.shape[-2] != n for x in (G, V)):
        raise ValueError("expected as many queries, keys and values")
    scores = (upcast(F) @ upcast(G).mT).tril()  # (*batch, n, n)
    return (scores @ upcast(V)).to(F.dtype)


def running_state(
    F: Float[Tensor, "*#batch n r"],
    G: Float[Tensor, "*#batch n r"],
    V: Float[Tensor, "*#batch n d_v"],
) -> tuple[Float[Tensor, "*batch n d_v"], Float[Tensor, "... r d_v"]]:
    """The same, token by token; also the state at the end.

    In half precision the state is kept in fp32: in bf16, a sum of ones stops
    at 256.
    Raises RuntimeError without tokens, and ValueError for numbers of tokens
    that differ.
    """
    wide = [upcast(x) for x in (F, G, V)]
    state = upcast(torch.zeros_like(G[..., :1, :].mT @ V[..., :1, :]))
    outputs = []
    for f, g, v in zip(*(x.unbind(-2) for x in wide), strict=True):
        state = state + g.unsqueeze(-1) * v.unsqueeze(-2)  # (*batch, r, d_v)
        outputs.append((f.unsqueeze(-2) @ state).squeeze(-2))
    return torch.stack(outputs, dim=-2).to(F.dtype), state.to(F.dtype)


# --8<-- [end:same]


# --8<-- [start:memory]
def write_state(
    key: Float[Tensor, "*#batch n r"], value: Float[Tensor, "*#batch n d_v"]
) -> Float[Tensor, "*batch r d_v"]:
    """Store all values under their keys in one state."""
    return key.mT @ value


def read_state(
    query: Float[Tensor, "*#batch t r"], state: Float[Tensor, "*#batch r d_v"]
) -> Float[Tensor, "*batch t d_v"]:
    """Read the state with each query."""
    return query @ state


# --8<-- [end:memory]


# --8<-- [start:nearest]
def nearest(
    read: Float[Tensor, "*#batch t d_v"], value: Float[Tensor, "*#batch n d_v"]
) -> Int[Tensor, "*batch t"]:
    """The index of the stored value that is nearest to each value read."""
    return torch.cdist(upcast(read), upcast(value)).argmin(-1)


# --8<-- [end:nearest]


# --8<-- [start:numbers]
def cache_numbers(n: int, d_k: int, d_v: int) -> int:
    """Numbers that one head keeps of n tokens in a KV cache."""
    return n * (d_k + d_v)


def state_numbers(d_k: int, d_v: int) -> int:
    """Numbers that one head keeps of any number of tokens in a state."""
    return d_k * d_v


# --8<-- [end:numbers]


# --8<-- [start:noise]
def recall_noise(key: Float[Tensor, "*batch n r"]) -> Float[Tensor, ""]:
    """The root mean square of what a query of length 1 reads, if it is independent
    of the keys, and each key is stored with the value 1."""
    query, value = (
        torch.zeros_like(key[..., :1, :]),
        torch.ones_like(key[..., :1]),
    )
    query[..., :1] = 1
    return read_state(query, write_state(key, value)).square().mean().sqrt()


# --8<-- [end:noise]
