"""Claims that hold at every shape: identities, chains, laws, inequalities, and the snippets of definitions."""

from __future__ import annotations

import torch

from ..core.claims import Claim
from ..core.expr import show, symbols
from .comparing import at_sizes, compare, first, settled
from .drawing import shapes, values
from .errors import Disagrees, NotForTorch
from .laws import require_moments
from .ledger import Ledger
from .rounding import COVER
from .snippets import also, compare_code


def identity(claim: Claim):
    trees = [claim.start, *(s.expr for s in claim.steps)]
    return over_shapes(
        claim,
        trees,
        lambda t, found, sizes: [
            compare(a, b, f"step {k}, " * (len(trees) > 2) + "the two sides differ", sizes)
            for k, (a, b) in enumerate(zip(found, found[1:]), 1)
        ],
        ends=(0, -1),
    )


def inequality(claim: Claim):
    left, right = claim.start, claim.steps[0].expr

    def check(t, found, sizes):
        a, b, first_, second = found
        good = settled(a, b)
        bad = good & (a.v - b.v > COVER * (a.e + b.e))
        if bad.any():
            raise Disagrees("the left side is larger{}: {:.17g} and {:.17g}".format(at_sizes(sizes), *first(bad, a, b)))
        if left.op != "rank" and (settled(second) & (second.v < -COVER * second.e)).any():
            raise Disagrees(f"the certificate is negative{at_sizes(sizes)}")
        if left.op == "rank" and (b.v != t.size(claim.because[0].shape[-1])).any():
            raise Disagrees(f"the factorisation goes through {show(claim.because[0].shape[-1])} columns")
        compare(first_, second, "it is not what the certificate says", sizes)
        return [good]

    return over_shapes(claim, [left, right, *certified(claim)], check)


def certified(claim: Claim) -> list:
    """The two things that are equal if the certificate is good."""
    left = claim.start
    if left.op != "rank":
        return [claim.steps[0].expr - left, claim.because[0]]
    if [len(factor.shape) for factor in claim.because] != [2, 2] or (claim.because[0] @ claim.because[1]).shape != left.args[0].shape:
        raise Disagrees("the certificate is not two matrices whose product has the shape of the matrix")
    return [left.args[0], claim.because[0] @ claim.because[1]]


def definition(claim: Claim):
    if not claim.code:
        raise NotForTorch("a definition has nothing to prove, and names no code")
    return over_shapes(claim, [claim.steps[0].expr], lambda t, found, sizes: [settled(*found)])


def over_shapes(claim: Claim, trees: list, check, ends: tuple = (0,)):
    """Check at every shape, and snippets against the trees at the ends; the verdict, with how many shapes and points it rests on."""
    require_moments(claim)
    tried, points, drawn, ledger = set(), 0, 0, Ledger(claim)
    laws = any(s.data[1] == "random" for s in symbols(*claim.trees).values())
    for seed, sizes in enumerate(shapes(claim, 3 if laws else 4)):
        found = values(claim, trees, sizes, seed)
        if found is None:
            continue
        t, found = found
        goods = check(t, found, sizes)
        compare_code(claim, claim.code, t, [found[k] for k in ends])
        ledger.compare(t, [trees[k] for k in ends])
        good = torch.stack(torch.broadcast_tensors(*(g.reshape(len(g), -1).all(1) for g in goods))).all(0)
        number_ = max(len(x.v) for x in (*t.values.values(), *found))
        drawn += number_
        points += int(good.expand(number_).sum())
        if good.any():
            tried.add(tuple(sizes.items()))
    if not drawn:
        raise NotForTorch("no values were found at which its assumptions hold")
    if 4 * points < drawn:
        raise NotForTorch("the rounding bounds are too large to tell anything at most points")
    return "agrees", "numbers only", note(claim, len(tried), points) + ledger.note()


def note(claim: Claim, tried: int, points: int) -> str:
    shapes_ = f"{tried} {'shape' if tried == 1 else 'shapes'}, " if any(s.data[1] == "size" for s in symbols(*claim.trees).values()) else ""
    return f"{shapes_}{points} points in fp64, within the rounding bound carried along" + also(claim)
