"""The delta rule in chunks: the system of a chunk, the thin matrices of the WY form, and their counts.

Three tokens with the same key, a rate of one, and the values 10, 20 and 30:

--8<-- [start:example-three]
>>> import torch
>>> from snippets.linear.chunks import chunk_system, solve_chunk
>>> key = torch.tensor([[0.6, 0.8]]).expand(3, 2)  # (n, d_k), of length 1
>>> value = torch.tensor([[10.0], [20.0], [30.0]])  # (n, d_v)
>>> rate = torch.ones(3)
>>> chunk_system(key, rate)
tensor([[1., 0., 0.],
        [1., 1., 0.],
        [1., 1., 1.]])
>>> writes = solve_chunk(key, value, rate)  # (n, d_v), from an empty state
>>> [round(one, 3) for one in writes.flatten().tolist()]
[10.0, 10.0, 10.0]
>>> state = key.mT @ writes  # (d_k, d_v)
>>> [round(one, 3) for one in (key @ state).flatten().tolist()]
[30.0, 30.0, 30.0]

--8<-- [end:example-three]

Chunks of any length agree with the recurrence up to rounding:

--8<-- [start:example-chunks]
>>> from snippets.linear.chunks import chunked_delta_rule
>>> from snippets.linear.delta import delta_rule
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(  # (n, d) each
...     3, 12, 4, generator=generator, dtype=torch.float64)
>>> key = torch.nn.functional.normalize(key, dim=-1)
>>> rate = torch.rand(12, generator=generator, dtype=torch.float64)  # (n)
>>> expected = delta_rule(query, key, value, rate)
>>> for chunk in (1, 3, 5, 12):
...     found = chunked_delta_rule(query, key, value, rate, chunk=chunk)
...     print(chunk, torch.allclose(found, expected))
1 True
3 True
5 True
12 True

--8<-- [end:example-chunks]

A product of four steps, and the identity minus two thin matrices:

--8<-- [start:example-product]
>>> from snippets.linear.chunks import product_of_steps
>>> key, rate = key[:4], rate[:4]
>>> thin = solve_chunk(key, key, rate)  # (n, d_k)
>>> one = torch.eye(4, dtype=torch.float64)
>>> torch.allclose(product_of_steps(key, rate), one - key.mT @ thin)
True

--8<-- [end:example-product]

The inverse of the system without a step for each row:

--8<-- [start:example-squares]
>>> from snippets.linear.chunks import inverse_by_squaring
>>> key = torch.nn.functional.normalize(torch.randn(
...     64, 128, generator=generator, dtype=torch.float64), dim=-1)
>>> rate = torch.rand(64, generator=generator, dtype=torch.float64)
>>> system = chunk_system(key, rate)  # (n, n)
>>> inverse, rounds = inverse_by_squaring(system)
>>> rounds, torch.allclose(inverse @ system, torch.eye(64, dtype=torch.float64))
(6, True)

--8<-- [end:example-squares]

Counts of a head of width 128, in a text of 4,096 tokens:

--8<-- [start:example-cost]
>>> from snippets.linear.chunks import (
...     chunked_delta_multiplications, chunked_steps, delta_multiplications)
>>> n, width = 4_096, 128
>>> print(f"token by token {delta_multiplications(n, width, width) // n:7,}"
...       f"   steps in sequence {n:5,}")
token by token  49,152   steps in sequence 4,096
>>> for chunk in (16, 64, 256):
...     each = chunked_delta_multiplications(n, width, width, chunk=chunk) / n
...     print(f"chunks of {chunk:4} {each:7,.0f}"
...           f"   steps in sequence {chunked_steps(n, chunk=chunk):5,.0f}")
chunks of   16  57,216   steps in sequence   271
chunks of   64  81,792   steps in sequence   127
chunks of  256 180,096   steps in sequence   271

--8<-- [end:example-cost]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast


# --8<-- [start:system]
def chunk_system(
    key: Float[Tensor, "*#batch n d_k"], beta: Float[Tensor, "*#batch n"]
) -> Float[Tensor, "*batch n n"]:
    """Ones on the diagonal; below it, the row's rate times a product of keys."""
    below = (beta.unsqueeze(-1) * (key @ key.mT)).tril(-1)
    return below + torch.eye(key.shape[-2], dtype=key.dtype, device=key.device)


def solve_system(
    system: Float[Tensor, "*#batch n n"],
    rows: Float[Tensor, "*#batch n d"],
    beta: Float[Tensor, "*#batch n"],
) -> Float[Tensor, "*batch n d"]:
    """Solve a chunk's system for rows times their rates, from top to bottom."""
    rated = upcast(beta).unsqueeze(-1) * upcast(rows)
    solved = torch.linalg.solve_triangular(
        upcast(system), rated, upper=False, unitriangular=True
    )
    return solved.to(rows.dtype)


def solve_chunk(
    key: Float[Tensor, "*#batch n d_k"],
    rows: Float[Tensor, "*#batch n d"],
    beta: Float[Tensor, "*#batch n"],
) -> Float[Tensor, "*batch n d"]:
    """Build the system of a chunk, and solve it for rows times their rates."""
    system = chunk_system(upcast(key), upcast(beta))
    return solve_system(system, rows, beta)


def read_chunk(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    state: Float[Tensor, "*#batch d_k d_v"],
    writes: Float[Tensor, "*#batch n d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """What each query reads: the old state, and the writes up to its token."""
    return query @ state + (query @ key.mT).tril() @ writes


# --8<-- [end:system]


# --8<-- [start:product]
def product_of_steps(
    key: Float[Tensor, "n d_k"], beta: Float[Tensor, " n"]
) -> Float[Tensor, "d_k d_k"]:
    """The matrix by which a chunk multiplies the state, one step at a time."""
    found = torch.eye(key.shape[-1], dtype=key.dtype, device=key.device)
    for k, b in zip(key.split(1), beta, strict=True):  # (1, d_k) each
        found = found - b * k.mT @ (k @ found)
    return found


# --8<-- [end:product]


# --8<-- [start:chunked]
def chunked_delta_rule(
    query: Float[Tensor, "*#batch n d_k"],
    key: Float[Tensor, "*#batch n d_k"],
    value: Float[Tensor, "*#batch n d_v"],
    beta: Float[Tensor, "*#batch n"],
    *,
    chunk: int,
) -> Float[Tensor, "*batch n d_v"]:
    """The delta rule in chunks: Yang, Wang, Zhang et al. (2024).

    Raises ValueError without tokens and for numbers of tokens that differ, and
    RuntimeError for a chunk below 1.
    """
    n, dtype = beta.shape[-1], query.dtype
    if n == 0 or any(x.shape[-2] != n for x in (query, key, value)):
        raise ValueError("expected as many queries, keys, values and rates")
    query, key, value, beta = map(upcast, (query, key, value, beta))
    state = torch.zeros_like(key[..., :1, :].mT @ value[..., :1, :])
    queries, keys, values = (
        x.split(chunk, dim=-2) for x in (query, key, value)
    )
    rates, outputs = beta.split(chunk, dim=-1), []
    # without the state: all chunks at once, on a machine that can
    systems = [chunk_system(k, b) for k, b in zip(keys, rates, strict=True)]
    thin = list(map(solve_system, systems, keys, rates))
    new = list(map(solve_system, systems, values, rates))
    for q, k, w, u in zip(queries, keys, thin, new, strict=True):
        writes = u - w @ state  # (*batch, chunk, d_v)
        outputs.append(read_chunk(q, k, state, writes))
        state = state + k.mT @ writes
    return torch.cat(outputs, dim=-2).to(dtype)


# --8<-- [end:chunked]


# --8<-- [start:squares]
def inverse_by_squaring(
    system: Float[Tensor, "*batch n n"],
) -> tuple[Float[Tensor, "*batch n n"], int]:
    """The inverse of a system of a chunk, and the number of rounds."""
    one = torch.eye(system.shape[-1], dtype=system.dtype, device=system.device)
    power = one - system  # strictly triangular
    inverse, reach, rounds = one + power, 2, 1
    while reach < system.shape[-1]:
        power = power @ power
        inverse = inverse + power @ inverse
        reach, rounds = 2 * reach, rounds + 1
    return inverse, rounds


# --8<-- [end:squares]


# --8<-- [start:cost]
def delta_multiplications(n: int, d_k: int, d_v: int) -> int:
    """For each token, its key reads, its error is written, its query reads."""
    return 3 * n * d_k * d_v


def chunked_delta_multiplications(
    n: int, d_k: int, d_v: int, *, chunk: int
) -> float:
    """The same for whole chunks; products of keys with keys and with queries;
    weights times writes; and a triangular system for keys and values."""
    products = n * chunk * (2 * d_k + d_v)
    system = n * (chunk - 1) * (d_k + d_v) / 2
    return 3 * n * d_k * d_v + products + system


def chunked_steps(n: int, *, chunk: int) -> float:
    """Steps in sequence: the rows of the systems after the first, of all chunks
    at once, and then the chunks one after another."""
    return chunk - 1 + n / chunk


# --8<-- [end:cost]
