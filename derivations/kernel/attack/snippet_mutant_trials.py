"""Try mutated snippets: the code witness must kill each, or numbers must show that it computes the same as the snippet.

A mutation is killed if the witness proves less about it than about the snippet: it computes something else, cannot be read, or is proved at
fewer shapes or under more conditions. Otherwise numbers decide whether the two functions agree: at sizes up to 9, at one size of 101, and at
tiny and integer entries.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import isfinite
from types import FunctionType
from typing import Any

from ..core.claims import EVERY_SHAPE, SNIPPET, Claim
from ..core.expr import symbols
from ..errors import KernelError
from ..pytorch.input_layouts import copy_tensors, double_by_default
from ..pytorch.sampling import draw
from ..pytorch.snippet_arguments import Arguments, prepare_call
from ..pytorch.trial import Trial
from ..traced import witness
from ..traced.witness import CallVerdict
from .snippet_mutations import LARGE, SnippetMutation, mutate_snippet

LARGEST = 9
NEAR = 1e-8
MODERATE = 30  # the largest entry whose exponential is safe from overflow
OUTCOMES = ("killed", "equivalent", "survived", "unclassified")


def try_mutations(claim: Claim, k: int, before: CallVerdict) -> Iterator[tuple[SnippetMutation, str]]:
    """Yield (mutation, outcome) for each mutation of the function in the claim's call number k.

    `before` is the witness's answer to the snippet itself. An outcome is one of OUTCOMES.
    """
    name = claim.code[k][0]
    run = witness.function(name)
    assert isinstance(run, FunctionType)
    for slip in mutate_snippet(run):
        with replace_function(name, slip.run):
            said = witness.check_call(claim, k)
        yield slip, "killed" if says_less(said, before) else judge_by_numbers(claim, k, slip, before)


def says_less(said: CallVerdict, before: CallVerdict) -> bool:
    """Return whether an answer is not a proof, or one of another scope or under more conditions."""
    return said.state != "proved" or said.scope != before.scope or bool(set(said.conditions) - set(before.conditions))


@contextmanager
def replace_function(name: str, run: Any) -> Iterator[None]:
    """Replace a snippet's function in its module, for the duration of a with statement."""
    matched = SNIPPET.fullmatch(name)
    assert matched is not None
    module, function = sys.modules[matched[1]], matched[2]
    original = getattr(module, function)
    setattr(module, function, run)
    try:
        yield
    finally:
        setattr(module, function, original)


def judge_by_numbers(claim: Claim, k: int, slip: SnippetMutation, before: CallVerdict) -> str:
    """Compare a mutation with the snippet at random numbers.

    Return "survived" if they differ somewhere, "equivalent" if they agree everywhere, "unclassified" if nothing could be compared.
    """
    agreed = 0
    for t in trials(claim, before.scope == EVERY_SHAPE):
        given = Arguments(t)
        for point in range(points_of(t)):
            with suppress(KernelError):
                run, bound, which = prepare_call(claim.code[k], given, point)
                outcome = alike(run, slip.run, bound, which)
                if outcome is False:
                    return "survived"
                agreed += outcome is True
    return "equivalent" if agreed else "unclassified"


def points_of(t: Trial) -> int:
    """Return how many points of a trial to compare at: 1 or 2."""
    return min(2, max((len(x.value) for x in t.values.values()), default=1))


def trials(claim: Claim, everywhere: bool) -> Iterator[Trial]:
    """Yield trials at small sizes, equal and unequal, with ordinary, small integer and tiny entries.

    With everywhere=True, try larger sizes as well, and each size alone just above LARGE.
    """
    largest = LARGEST if everywhere else max(witness.SIZES_TRIED)
    names = sorted(n for n, s in symbols(*claim.trees, *witness.find_expressions(claim.code)).items() if s.data[1] == "size")
    for k in range(1, largest + 1):
        for sizes in [{n: k for n in names}, {n: 1 + (k + 2 * j) % largest for j, n in enumerate(names)}][: 2 if names else 1]:
            for how in ({}, {"small": True}, {"scale": 1e-3}):
                with suppress(KernelError):
                    yield from filter(None, [draw(claim, sizes, k, with_random=False, **how)])
    for name in names if everywhere else ():
        with suppress(KernelError):
            yield from filter(None, [draw(claim, dict.fromkeys(names, 2) | {name: LARGE + 1}, LARGE, with_random=False)])


def alike(run: Any, other: Any, bound: Any, which: str | None) -> bool | None:
    """Return whether two functions give the same up to rounding; None if the snippet fails, or gives a number that is not finite."""
    want, have = result_of(run, bound, which), result_of(other, bound, which)
    if want is None or have is None:
        return None if want is None else False
    if len(want) != len(have) or any(shape_of(a) != shape_of(b) for a, b in zip(want, have)):
        return False
    if not all(is_finite(a) for a in want) or is_large(bound) and not all(is_finite(b) for b in have):
        return None
    return all(largest(a - b) <= NEAR * (1 + largest(a)) for a, b in zip(want, have))


def result_of(run: Any, bound: Any, which: str | None) -> list | None:
    """Return the results of one call; None if it raises anything, because mutated code may raise anything."""
    try:
        return numbers(once(run, bound), which)
    except Exception:
        return None


def once(run: Any, bound: Any) -> Any:
    """Call a function with copies of the arguments. The default dtype is fp64: a forgotten dtype changes only rounding, which is not judged here."""
    args, kwargs = copy_tensors((bound.args, bound.kwargs))
    with double_by_default():
        return run(*args, **kwargs)


def numbers(x: Any, which: str | None = None) -> list:
    """Return the tensors and numbers of a result as a flat list; with `which`, those of one of several results."""
    if which is not None:
        return numbers(x[int(which)])
    return [y for part in x for y in numbers(part)] if isinstance(x, (tuple, list)) else [x]


def shape_of(x: Any) -> tuple:
    """Return the shape of a tensor, or () for a number."""
    return tuple(getattr(x, "shape", ()))


def largest(x: Any) -> float:
    """Return the largest absolute value in a tensor, or of a number."""
    if not hasattr(x, "numel"):
        return abs(x)
    return float((x + 0.0).abs().max()) if x.numel() else 0.0


def is_finite(x: Any) -> bool:
    """Return whether a tensor or number is finite."""
    return bool(x.isfinite().all()) if hasattr(x, "isfinite") else isfinite(x)


def is_large(bound: Any) -> bool:
    """Return whether an argument is so large that its exponential may overflow, where equivalent expressions may differ."""
    return any(hasattr(x, "numel") and largest(x) > MODERATE for x in bound.arguments.values())
