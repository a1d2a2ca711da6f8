"""Ring attention in one process: devices in a ring, keys that travel, and assignments of tokens.

The assignment of tokens to devices does not change the output:

--8<-- [start:example-ring]
>>> import torch
>>> from torch.nn.functional import scaled_dot_product_attention
>>> from snippets.io.ring import contiguous, ring_attention, striped, zigzag
>>> generator = torch.Generator().manual_seed(0)
>>> query, key, value = torch.randn(
...     3, 24, 8, generator=generator, dtype=torch.float64)
>>> expected = scaled_dot_product_attention(query, key, value, is_causal=True)
>>> for places in (contiguous(24, 4), zigzag(24, 4), striped(24, 4)):
...     output = ring_attention(query, key, value, places, is_causal=True)
...     print(torch.allclose(output, expected), places[1].tolist())
True [6, 7, 8, 9, 10, 11]
True [3, 4, 5, 18, 19, 20]
True [1, 5, 9, 13, 17, 21]

--8<-- [end:example-ring]

Pairs that each of four devices computes in each step. If a row is uneven, some devices wait:

--8<-- [start:example-pairs]
>>> from snippets.io.ring import step_pairs
>>> for assign in (contiguous, zigzag, striped):
...     pairs = step_pairs(assign(24, 4))  # (step, device)
...     print(assign.__name__, pairs.amax(1).sum().item(), "waited for")
...     print(pairs)
contiguous 129 waited for
tensor([[21, 21, 21, 21],
        [ 0, 36, 36, 36],
        [ 0,  0, 36, 36],
        [ 0,  0,  0, 36]])
zigzag 75 waited for
tensor([[21, 21, 21, 21],
        [18, 18, 18, 18],
        [18, 18, 18, 18],
        [18, 18, 18, 18]])
striped 84 waited for
tensor([[21, 21, 21, 21],
        [15, 21, 21, 21],
        [15, 15, 21, 21],
        [15, 15, 15, 21]])

--8<-- [end:example-pairs]

Tokens that a device must hold so that sending takes no longer than computing:

--8<-- [start:example-hidden]
>>> from snippets.io.ring import tokens_to_hide
>>> speed, link, bytes_each = 400e12, 50e9, 2  # a second, and for a number
>>> tokens_to_hide(speed, link, bytes_each)
8000.0
>>> tokens_to_hide(speed, link, bytes_each, sharing=8)  # GQA, eight to one
1000.0

--8<-- [end:example-hidden]

Under a window of three, 24 tokens on four devices:

--8<-- [start:example-window]
>>> from snippets.io.ring import window_step_pairs
>>> for assign in (contiguous, zigzag, striped):
...     pairs = window_step_pairs(assign(24, 4), window=3)
...     print(f"{assign.__name__:10}", pairs.amax(1).tolist())
contiguous [15, 3, 0, 0]
zigzag     [15, 3, 0, 3]
striped    [6, 6, 6, 0]

--8<-- [end:example-window]
"""

from functools import reduce

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.attention.formula import scores as scores_of
from snippets.attention.formula import upcast
from snippets.blocks.merge import attention_state, merge_states, state_output


# --8<-- [start:places]
def in_order(
    n: int, parts: int, *, device: torch.device | str | None = None
) -> Int[Tensor, "{parts} c"]:
    """The places of n tokens, in equal parts.

    Raises ValueError for a number of parts that does not divide n.
    """
    if parts < 1 or n % parts:
        raise ValueError(f"{n} tokens; expected a multiple of {parts}")
    return torch.arange(n, device=device).view(parts, n // parts)


def contiguous(
    n: int, devices: int, *, device: torch.device | str | None = None
) -> Int[Tensor, "p c"]:
    """Each device holds one piece of the text.

    Raises ValueError, by `in_order`, unless the devices divide n.
    """
    return in_order(n, devices, device=device)


def zigzag(
    n: int, devices: int, *, device: torch.device | str | None = None
) -> Int[Tensor, "p c"]:
    """Each holds a chunk, and the chunk that is as far from the other end.

    Raises ValueError, by `in_order`, unless twice the devices divide n.
    """
    chunks = in_order(n, 2 * devices, device=device)
    early, late = chunks[:devices], chunks[devices:].flip(0)
    return torch.cat([early, late], dim=1)


def striped(
    n: int, devices: int, *, device: torch.device | str | None = None
) -> Int[Tensor, "p c"]:
    """Tokens are dealt out in turn.

    Raises ValueError, by `in_order`, unless the devices divide n.
    """
    return in_order(n, devices, device=device).view(-1, devices).T


# --8<-- [end:places]


# --8<-- [start:ring]
def ring_attention(
    query: Float[Tensor, "n d_k"],
    key: Float[Tensor, "n d_k"],
    value: Float[Tensor, "n d_v"],
    places: Int[Tensor, "p c"],
    *,
    is_causal: bool = False,
) -> Float[Tensor, "n d_v"]:
    """Attention in which each device keeps its queries and passes its keys on.

    Row r of places lists the tokens that device r holds; each token occurs once.
    After as many steps as there are devices, every query has met every key: Liu,
    Zaharia and Abbeel (2023). Raises ValueError unless the inputs are matrices
    with a row for each place; use `torch.vmap` for batches and heads.
    """
    n = places.numel()
    if any(x.shape[:-1] != (n,) for x in (query, key, value)):
        raise ValueError(f"expected matrices of {n} rows, one for each place")
    query, key, value, dtype = *map(upcast, (query, key, value)), query.dtype
    output = torch.empty_like(value)
    devices = len(places)
    for r, own in enumerate(places):
        parts = []
        for step in range(devices):
            held = places[(r - step) % devices]  # whose keys are here now
            scores = scores_of(query[own], key[held])
            if is_causal:
                later = held > own.unsqueeze(-1)
                scores = scores.masked_fill(later, -torch.inf)
            parts.append(attention_state(scores, value[held]))
        output[own] = state_output(reduce(merge_states, parts))
    return output.to(dtype)


# --8<-- [end:ring]


# --8<-- [start:pairs]
def step_pairs(places: Int[Tensor, "p c"]) -> Int[Tensor, "p p"]:
    """Pairs under a causal mask: a row for each step, a column for a device."""
    held = torch.stack([places.roll(step, 0) for step in range(len(places))])
    queries = places.expand_as(held).contiguous()  # (step, device, c)
    seen = torch.searchsorted(held.sort().values, queries, right=True)
    return seen.sum(-1)


def pairs_waited_for(devices: int, tokens: int) -> int:
    """Pieces in order: pairs of the slowest device in each step, added up."""
    pairs = step_pairs(contiguous(devices * tokens, devices))
    return int(pairs.amax(1).sum())


def zigzag_pairs(devices: int, chunk: int) -> int:
    """Two chunks each: pairs of the slowest device, times the number of devices."""
    pairs = step_pairs(zigzag(2 * devices * chunk, devices))
    return devices * int(pairs.amax(1).sum())


# --8<-- [end:pairs]


# --8<-- [start:hidden]
def tokens_to_hide(
    speed: float, link: float, bytes_each: int, *, sharing: int = 1
) -> float:
    """Tokens that each device must hold so that sending takes no longer than
    computing: operations and bytes in a second, bytes of a number, and how many
    query heads share a head of keys and values.
    """
    return bytes_each * speed / (2 * link * sharing)


# --8<-- [end:hidden]


# --8<-- [start:window]
def window_step_pairs(
    places: Int[Tensor, "p c"], *, window: int
) -> Int[Tensor, "p p"]:
    """As step_pairs, if a query sees its own token and window - 1 before it."""
    nearer = step_pairs(places)
    held = torch.stack([places.roll(step, 0) for step in range(len(places))])
    queries = (places - window).expand_as(held).contiguous()
    too_far = torch.searchsorted(held.sort().values, queries, right=True)
    return nearer - too_far.sum(-1)


# --8<-- [end:window]
