"""Corrupted snippets before the code witness: each has to be killed, or be shown by numbers to compute what the snippet does.

Killed is one of which the witness says less than of the snippet: that it computes something else, that it is not read, or that it is proved
at fewer shapes or under more conditions. What it says as much of is judged by numbers, at sizes up to 9, one alone at 101, and at tiny
and whole entries, where the snippet and its corrupted form have to give the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from typing import Any

from ..core.claims import EVERY, SNIPPET, Claim
from ..core.expr import symbols
from ..errors import KernelError
from ..pytorch.input_layouts import copied, double_by_default
from ..pytorch.sampling import draw
from ..pytorch.snippet_arguments import Given, prepared
from ..pytorch.trial import Trial
from ..traced import witness
from ..traced.witness import Said
from .snippet_mutations import LARGE, Slip, slips

LARGEST = 9
NEAR = 1e-8
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
    told = 0
    for t in trials(claim, before.scope == EVERY):
        given = Given(t)
        for point in range(points_of(t)):
            with suppress(KernelError):
                run, bound, which = prepared(claim.code[k], given, point)
                outcome = alike(run, slip.run, bound, which)
                if outcome is False:
                    return "survived"
                told += outcome is True
    return "equivalent" if told else "unclassified"


def points_of(t: Trial) -> int:
    return min(2, max((len(x.v) for x in t.values.values()), default=1))


def trials(claim: Claim, everywhere: bool) -> Iterator[Trial]:
    """Each size at each small number, alike and unlike; and there entries of every size, and small whole ones. Then, where every shape is
    meant, each size alone beyond what looks large to a slip."""
    largest = LARGEST if everywhere else max(witness.TRIED)
    names = sorted(n for n, s in symbols(*claim.trees, *witness.expressions(claim.code)).items() if s.data[1] == "size")
    for k in range(1, largest + 1):
        for sizes in [{n: k for n in names}, {n: 1 + (k + 2 * j) % largest for j, n in enumerate(names)}][: 2 if names else 1]:
            for how in ({}, {"small": True}, {"scale": 1e-3}):
                with suppress(KernelError):
                    yield from filter(None, [draw(claim, sizes, k, with_random=False, **how)])
    for name in names if everywhere else ():
        with suppress(KernelError):
            yield from filter(None, [draw(claim, dict.fromkeys(names, 2) | {name: LARGE + 1}, LARGE, with_random=False)])


def alike(run: Any, other: Any, bound: Any, which: str | None) -> bool | None:
    """Do two functions give the same, up to roundings? None where the snippet gives nothing, or no number."""
    want, have = result_of(run, bound, which), result_of(other, bound, which)
    if want is None or have is None:
        return None if want is None else False
    if len(want) != len(have) or any(shape_of(a) != shape_of(b) for a, b in zip(want, have)):
        return False
    if not all(is_finite(a) for a in want) or is_large(bound) and not all(is_finite(b) for b in have):
        return None
    return all(largest(a - b) <= NEAR * (1 + largest(a)) for a, b in zip(want, have))


def result_of(run: Any, bound: Any, which: str | None) -> list | None:
    """What one call gives; None where it stops, for whatever reason: what corrupted code raises can be anything."""
    try:
        return numbers(once(run, bound), which)
    except Exception:
        return None


def once(run: Any, bound: Any) -> Any:
    """One call, in fp64 where nothing else is said: a format that is forgotten changes roundings alone, which are not judged here."""
    args, kwargs = copied((bound.args, bound.kwargs))
    with double_by_default():
        return run(*args, **kwargs)


def numbers(x: Any, which: str | None = None) -> list:
    """The tensors and numbers of a result, or of the one of several that is meant."""
    if which is not None:
        return numbers(x[int(which)])
    return [y for part in x for y in numbers(part)] if isinstance(x, (tuple, list)) else [x]


def shape_of(x: Any) -> tuple:
    return tuple(getattr(x, "shape", ()))


def largest(x: Any) -> float:
    if not hasattr(x, "numel"):
        return abs(x)
    return float((x + 0.0).abs().max()) if x.numel() else 0.0


def is_finite(x: Any) -> bool:
    return bool(x.isfinite().all()) if hasattr(x, "isfinite") else isfinite(x)


def is_large(bound: Any) -> bool:
    """Is something given whose exponential has no room? What two ways of writing one thing do there is a matter of rounding."""
    return any(hasattr(x, "numel") and largest(x) > MODERATE for x in bound.arguments.values())
