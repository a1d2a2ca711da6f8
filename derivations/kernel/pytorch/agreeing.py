"""The snippets that a claim names, at every point of a trial: each result has to be the claim's.

A snippet's own roundings are not followed: it may err by 16 times the larger bound of the claim's first and last expression.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from itertools import product

import torch

from ..core.claims import Claim
from ..core.expr import Expr, strip
from .calling import again, chosen, inputs, is_value, refuse_shared
from .comparing import at_sizes, settled
from .errors import Disagrees
from .ledger import Ledger
from .rounding import COVER, U, Value
from .snippets import also, call, prepared, shown
from .trial import Trial, at_point

ROUNDINGS = 16  # a snippet's roundings, against those of the expression it is compared with
ATOMS = ("symbol", "index", "const", "imaginary")
WATCHED = 4  # one point in so many is where a snippet is called twice


class Snippets:
    """The snippets that one claim names, and what became of each."""

    def __init__(self, claim: Claim):
        self.claim = claim
        self.ledger = Ledger(claim)
        self.ran = {k: [] for k in range(len(claim.code))}  # number of a snippet -> the sizes of each point at which it was compared
        self.handed: dict[int, set] = {}  # number of a snippet -> its arguments that were, at every such point, what it has to give

    def compare(self, t: Trial, values: list, trees: list | None = None, which: Iterable[int] | None = None):
        """Run the snippets, or those with the numbers given, at every point of a trial; with the trees, in fewer digits at two of them."""
        which = [k for k in (self.ran if which is None else which) if k in self.ran]
        if not which:
            return
        free = self.claim.free
        points = max(len(x.v) for x in (*values, *t.values.values()))
        for point in range(points):
            wanted = [shown(Value(at_point(x.v, point), at_point(x.e, point)), t, free) for x in values]
            for k in which:
                if agrees(self.claim.code[k], t, point, wanted, in_all_ways=point == points - 1):
                    self.ran[k].append(tuple(sorted(t.sizes.items())))
                    found = set(answers(self.claim.code[k], t, point, wanted))
                    self.handed[k] = self.handed.get(k, found) & found
        if trees:
            self.ledger.compare(t, trees, which)

    def runs(self) -> tuple:
        """(the call, at how many shapes, at how many points) for each that ran. Disagrees where one was handed its answer."""
        for k in self.handed:
            self.refuse_handed(k)
        return tuple((self.claim.code[k], len(set(sizes)), len(sizes)) for k, sizes in self.ran.items())

    def refuse_handed(self, k: int) -> None:
        points = [tuple(sizes) for sizes in self.ran[k]]
        if self.handed[k] and len(points) > 1:
            name, said = self.claim.code[k][0], ", ".join(sorted(self.handed[k]))
            raise Disagrees(
                f"code[{k}] hands {name} what it has to compute, as {said}, at every one of {len(points)} points; "
                "hand it what the claim's sides are made of, or leave the call out"
            )

    def note(self) -> str:
        largest = max((size for at in self.ran.values() for sizes in at for _, size in sizes), default=0)
        return also(self.claim) + (f", with sizes up to {largest}" if largest and self.claim.code else "") + self.ledger.note()


def agrees(code: tuple, t: Trial, point: int, wanted: list, in_all_ways: bool = False) -> bool:
    """Does a snippet run, and does that tell something? Disagrees where it does not give what the claim has.

    Where the formula has a value, and a bound on its error, the snippet has a value too, and it is that one within the bound. It is
    not asked where the formula has none anywhere. In all ways, it is called with strided arguments and the like as well.
    """
    name, arguments, keywords = code
    bounded = torch.stack(torch.broadcast_tensors(*(x.v.isfinite() & x.e.isfinite() for x in wanted))).all(0)
    if not bounded.any():
        return False
    found, bound = call(name, arguments, dict(keywords), t, point, watched=point % WATCHED == 0)
    refuse_unlike(name, found, wanted, bounded, t.sizes, inputs(bound))
    if in_all_ways:
        run, bound, which = prepared(name, arguments, dict(keywords), t, point)
        for way, result in again(name, run, bound):
            refuse_unlike(name, chosen(name, result, which, bound), wanted, bounded, t.sizes, f"{inputs(bound)}, {way}")
        refuse_shared(name, run, bound)
    return bool(settled(*wanted).any())


def answers(code: tuple, t: Trial, point: int, wanted: list) -> Iterable[str]:
    """The arguments that have the claim's value at a point, but for names and numbers, which a call is made of, as a side may be."""
    name, arguments, keywords = code
    run, bound, _ = prepared(name, arguments, dict(keywords), t, point)
    asked = inspect.signature(run).bind(*arguments, **dict(keywords)).arguments
    for parameter, given in asked.items():
        made = isinstance(given, tuple) or isinstance(given, Expr) and strip(given).op not in ATOMS
        value = bound.arguments[parameter]
        if made and isinstance(value, (torch.Tensor, float, int)) and any(is_value(value, want) for want, _ in wanted):
            yield parameter


def refuse_unlike(name: str, found: object, wanted: list, bounded: torch.Tensor, sizes: dict, given: str):
    """Disagrees unless what a snippet gives has the shape and, where that is bounded, the value of what is wanted."""
    room = COVER * ROUNDINGS * torch.stack(torch.broadcast_tensors(*(x.e + U * x.v.abs() for x in wanted))).amax(0)
    parts = [
        torch.Tensor.detach(x) if isinstance(x, torch.Tensor) else torch.tensor(x, dtype=torch.float64)
        for x in (found if isinstance(found, tuple) else (found,))
    ]
    for result, (want, _) in product(parts, wanted):
        if result.shape != want.shape:
            raise Disagrees(f"{name} gives shape {tuple(result.shape)} where the claim has {tuple(want.shape)}{at_sizes(sizes)}{given}")
        bad = bounded & ~((result - want).abs() <= room)
        if bad.any():
            where = tuple(bad.nonzero()[0])
            one, other = (in_digits(x[where].item()) for x in (result, want))
            raise Disagrees(f"{name} gives {one} where the claim has {other}{at_sizes(sizes)}{given}")


def in_digits(x: complex) -> str:
    return f"{x:.17g}" if isinstance(x, (int, float)) else str(x)
