"""State-space duality: a recurrence as a masked product, both in chunks, and their costs.

The matrix of a recurrence, and the mask that is its inverse:

--8<-- [start:example-inverse]
>>> import torch
>>> from snippets.linear.duality import recurrence_matrix
>>> from snippets.linear.gates import decay_mask
>>> gate = torch.tensor([0.9, 0.5, 0.8, 0.5], dtype=torch.float64)
>>> recurrence_matrix(gate)
tensor([[ 1.0000,  0.0000,  0.0000,  0.0000],
        [-0.5000,  1.0000,  0.0000,  0.0000],
        [ 0.0000, -0.8000,  1.0000,  0.0000],
        [ 0.0000,  0.0000, -0.5000,  1.0000]], dtype=torch.float64)
>>> torch.allclose(torch.linalg.inv(recurrence_matrix(gate)), decay_mask(gate))
True

--8<-- [end:example-inverse]

Chunks of any length give the same numbers:

--8<-- [start:example-chunks]
>>> from snippets.linear.duality import chunked_linear_attention
>>> from snippets.linear.gates import gated_product, gated_state
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(  # (n, d) each
...     3, 12, 4, generator=generator, dtype=torch.float64)
>>> gate = torch.rand(12, generator=generator, dtype=torch.float64)
>>> expected = gated_product(query, key, value, gate)
>>> for chunk in (1, 3, 5, 12):  # 12 is all at once; 1 is one token at a time
...     found = chunked_linear_attention(query, key, value, gate, chunk=chunk)
...     print(chunk, torch.allclose(found, expected))
1 True
3 True
5 True
12 True

--8<-- [end:example-chunks]

The blocks of a mask between chunks:

--8<-- [start:example-rank]
>>> scores = decay_mask(gate) * (query @ key.mT)  # (12, 12)
>>> [torch.linalg.matrix_rank(block).item() for block in (scores, scores[6:, :6])]
[12, 4]

--8<-- [end:example-rank]

Multiplications for each token of a head of width 128, in a text of 65,536 tokens:

--8<-- [start:example-cost]
>>> from snippets.linear.duality import (
...     chunked_multiplications, masked_multiplications,
...     recurrent_multiplications)
>>> n = 65_536
>>> print(f"all at once    {masked_multiplications(n, 128, 128) // n:10,}")
all at once    16,777,216
>>> print(f"token by token {recurrent_multiplications(n, 128, 128) // n:10,}")
token by token     49,152
>>> for chunk in (1, 8, 64, 256):
...     each = chunked_multiplications(n, 128, 128, chunk=chunk) / n
...     print(f"chunks of {chunk:3}  {each:10,.0f}"
...           f"   steps in sequence {n // chunk:6,}")
chunks of   1      49,408   steps in sequence 65,536
chunks of   8      36,864   steps in sequence  8,192
chunks of  64      49,408   steps in sequence  1,024
chunks of 256      98,368   steps in sequence    256

--8<-- [end:example-cost]

The best chunk length for heads of several widths:

--8<-- [start:example-best]
>>> from snippets.linear.duality import best_chunk
>>> [round(best_chunk(width, width, price=1), 1) for width in (64, 256, 512)]
[5.7, 11.3, 16.0]

--8<-- [end:example-best]

--8<-- [start:example-chosen]
>>> best_chunk(128, 128, price=1), best_chunk(128, 128, price=64)
(8.0, 64.0)

--8<-- [end:example-chosen]

All states by merging stretches, in a few rounds:

--8<-- [start:example-scan]
>>> from snippets.linear.duality import parallel_scan
>>> writes = key.unsqueeze(-1) * value.unsqueeze(-2)  # (n, d_k, d_v)
>>> states, rounds = parallel_scan(gate, writes)
>>> rounds  # for 12 tokens
4
>>> found = (query.unsqueeze(-2) @ states).squeeze(-2)
>>> torch.allclose(found, gated_state(query, key, value, gate.unsqueeze(-1)))
True

--8<-- [end:example-scan]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.linear.gates import decay_mask


# --8<-- [start:inverse]
def recurrence_matrix(
    gate: Float[Tensor, "*batch n"],
) -> Float[Tensor, "*batch n n"]:
    """Ones on the diagonal and negative gates below it: times the states of all
    tokens, this gives what each of them adds."""
    ones = torch.diag_embed(torch.ones_like(gate))
    return ones - torch.diag_embed(gate[..., 1:], offset=-1)


# --8<-- [end:inverse]


# --8<-- [start:chunks]
def chunked_linear_attention(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
    gate: Float[Tensor, "*#batch n"],
    *,
    chunk: int,
) -> Float[Tensor, "*batch n d_v"]:
    """A masked product within each chunk, and a state from one to the next.

    Raises ValueError for numbers of tokens that differ, and RuntimeError for
    a chunk below 1.
    """
    n, dtype = gate.shape[-1], query.dtype
    if any(x.shape[-2] != n for x in (query, key, value)):
        raise ValueError("expected as many queries, keys, values and gates")
    query, key, value, gate = map(upcast, (query, key, value, gate))
    state = torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :])
    if n == 0:
        return (query @ state).to(dtype)
    outputs = []
    parts = [x.split(chunk, dim=-2) for x in (query, key, value)]
    for q, k, v, a in zip(*parts, gate.split(chunk, dim=-1), strict=True):
        mask = decay_mask(a)  # (*batch, chunk, chunk)
        start = a.cumprod(-1).unsqueeze(-1)  # gates since the last chunk
        within = (mask * (q @ k.mT)) @ v
        outputs.append(start * (q @ state) + within)
        left = mask[
            ..., -1:, :
        ].mT  # gates from each token to the end of the chunk
        state = start[..., -1:, :] * state + k.mT @ (left * v)
    return torch.cat(outputs, dim=-2).to(dtype)


# --8<-- [end:chunks]


# --8<-- [start:cost]
def masked_multiplications(n: int, r: int, d_v: int) -> int:
    """All scores, and all values times scores."""
    return n**2 * (r + d_v)


def recurrent_multiplications(n: int, r: int, d_v: int) -> int:
    """For each token, the state decays, is written to, and is read."""
    return 3 * n * r * d_v


def chunked_multiplications(n: int, r: int, d_v: int, *, chunk: int) -> float:
    """Scores within chunks; each token writes to the state and reads it, and it
    decays once per chunk."""
    return n * chunk * (r + d_v) + 2 * n * r * d_v + n * r * d_v / chunk


def best_chunk(r: int, d_v: int, *, price: float) -> float:
    """The chunk length that costs least, if a multiplication in a decay counts as
    `price` multiplications in a matrix product."""
    return (price * r * d_v / (r + d_v)) ** 0.5


# --8<-- [end:cost]


# --8<-- [start:parallel_scan]
def parallel_scan(
    gate: Float[Tensor, " n"], writes: Float[Tensor, "n d_k d_v"]
) -> tuple[Float[Tensor, "n d_k d_v"], int]:
    """The states of all tokens, and the number of rounds.

    Each round merges every stretch with the one before it, all at once.
    """
    decay, state = gate[:, None, None], writes  # of stretches of one token
    reach, rounds = 1, 0
    while reach < len(gate):
        before = decay[reach:] * state[:-reach]
        state = torch.cat([state[:reach], state[reach:] + before])
        decay = torch.cat([decay[:reach], decay[reach:] * decay[:-reach]])
        reach, rounds = 2 * reach, rounds + 1
    return state, rounds


# --8<-- [end:parallel_scan]
