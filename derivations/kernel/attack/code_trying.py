"""Corrupted snippets before the code witness: each has to be killed, or be shown by numbers to compute what the snippet does.

Killed is one of which the witness says less than of the snippet: that it computes something else, that it is not read, or that it is proved
at fewer shapes or under more conditions. What it says as much of is judged by numbers, at sizes up to 9 and at tiny and whole entries,
where the snippet and its corrupted form have to give the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from ..core.claims import Claim
from ..core.expr import symbols
from ..errors import KernelError
from ..pytorch.calling import copied
from ..pytorch.drawing import draw
from ..pytorch.snippets import prepared
from ..pytorch.trial import Trial
from ..traced import witness
from ..traced.arguments import SNIPPET
from ..traced.witness import Said
from .code_slips import Slip, slips

LARGEST = 9
MODERATE = 30  # entries whose exponentials have room
OUTCOMES = ("killed", "equivalent", "survived", "unclassified")


def tried(claim: Claim, k: int, before: Said) -> Iterator[tuple[Slip, str]]:
    """(a corrupted form of the function that a call names, what became of it)."""
    name = claim.code[k][0]
    run = witness.function(name)
    for slip in slips(run):
        with put_in(name, slip.run):
            said = witness.asked(claim, k)
        yield slip, "killed" if says_less(said, before) else judged(claim, k, slip, before)


def says_less(said: Said, before: Said) -> bool:
    return said.state != "proved" or said.scope != before.scope or bool(set(said.conditions) - set(before.conditions))


@contextmanager
def put_in(name: str, run: Any) -> Iterator[None]:
    """Another function in the place of one that a call names, in its own module."""
    matched = SNIPPET.fullmatch(name)
    module, function = sys.modules[matched[1]], matched[2]
    own = getattr(module, function)
    setattr(module, function, run)
    try:
        yield
    finally:
        setattr(module, function, own)


def judged(claim: Claim, k: int, slip: Slip, before: Said) -> str:
    """Whether a corrupted function gives what the snippet gives, wherever numbers are drawn: 'equivalent', 'survived' or, if none, 'unclassified'."""
    name, arguments, keywords = claim.code[k]
    told = 0
    for t in trials(claim, LARGEST if before.scope == witness.EVERY else max(witness.TRIED)):
        for point in range(points_of(t)):
            with suppress(KernelError):
                run, bound, _ = prepared(name, arguments, dict(keywords), t, point)
                outcome = alike(run, slip.run, bound)
                if outcome is False:
                    return "survived"
                told += outcome is True
    return "equivalent" if told else "unclassified"


def points_of(t: Trial) -> int:
    return min(2, max((len(x.v) for x in t.values.values()), default=1))


def trials(claim: Claim, largest: int) -> Iterator[Trial]:
    """Each size at each number up to the largest, alike and unlike; and there entries of every size, and small whole ones."""
    names = sorted(n for n, s in symbols(*claim.trees, *witness.expressions(claim.code)).items() if s.data[1] == "size")
    for k in range(1, largest + 1):
        for sizes in [{n: k for n in names}, {n: 1 + (k + 2 * j) % largest for j, n in enumerate(names)}][: 2 if names else 1]:
            for how in ({}, {"small": True}, {"scale": 1e-3}):
                with suppress(KernelError):
                    yield from filter(None, [draw(claim, sizes, k, with_random=False, **how)])


def alike(run: Any, other: Any, bound: Any) -> bool | None:
    """Do two functions give the same, up to roundings, and leave what they are given alike? None where the snippet gives nothing."""
    try:
        args, kwargs = copied((bound.args, bound.kwargs))
        want = run(*args, **kwargs)
    except Exception:
        return None
    try:
        args, kwargs = copied((bound.args, bound.kwargs))
        have = other(*args, **kwargs)
    except Exception:
        return False
    left, right = numbers(want), numbers(have)
    if len(left) != len(right) or any(a.shape != b.shape for a, b in zip(left, right)):
        return False
    if not all(a.isfinite().all() for a in left) or overflows(right, bound):
        return None
    return all(torch.allclose(a, b, rtol=1e-7, atol=1e-9 * (1 + a.abs().max().item() if a.numel() else 1)) for a, b in zip(left, right))


def overflows(found: list, bound: Any) -> bool:
    """Is there no number, where something large was given? What two ways of writing one thing do there is a matter of rounding."""
    large = any(a.numel() and a.abs().max() > MODERATE for a in numbers_of(bound))
    return large and not all(a.isfinite().all() for a in found)


def numbers_of(bound: Any) -> list:
    return [a for x in bound.arguments.values() for a in ([x] if isinstance(x, torch.Tensor) else [])]


def numbers(x: Any) -> list:
    if isinstance(x, (tuple, list)):
        return [y for part in x for y in numbers(part)]
    return [x.detach().to(torch.complex128)] if isinstance(x, torch.Tensor) else [torch.as_tensor(x, dtype=torch.complex128)]
