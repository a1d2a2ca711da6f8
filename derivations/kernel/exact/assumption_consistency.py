"""Whether the assumptions of a claim leave anything for it to be about, and at every size that they do not rule out.

From assumptions that contradict each other anything follows, and a page would say of it that it holds at every shape. So values are
looked for at which all of them hold. A search proves nothing; here it decides only what is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain, islice, product
from math import prod
from random import Random

from ..core.assumptions import Assumption, is_random
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, show, symbols, walk
from ..core.operators import BINDERS
from ..errors import KernelError
from . import exact_evaluation
from .counterexample_search import (
    BITS,
    LARGEST,
    SCALARS,
    SIGNS,
    TRIALS,
    candidates,
    holds,
    is_law,
    of_sizes,
    show_array,
    sizes_to_try,
)
from .exact_evaluation import Undefined, evaluate, number
from .limit_counterexamples import point_near
from .random_matrices import has_no_rational_example, with_matrices

MAX_SIZE, MAX_SMALL_SIZE = 12, 3  # each size is tried up to the one, and with many values up to the other
LARGER_NUMBERS = [Fraction(x) for x in (4, 5, -4, *range(6, MAX_SIZE + 2))]  # what is bounded by an index may lie between two of them
SHARED_VALUES = [Fraction(x) for x in (0, 1, -1, *range(2, MAX_SIZE + 2), -5, 1000, -1000)]  # one for all entries of all symbols
SEPARATE_VALUES = [Fraction(x) for x in (0, 1, -1, 20, -20, 1000, -1000)]  # one for each symbol, each beside each
FEW_SYMBOLS = 3
LARGE_SIZES, MAX_COMPUTED_NUMBERS, LARGE_SIZE_TRIALS = (
    (16, 64, 256, 1024, 4096),
    60_000,
    200,
)  # with these numbers on the way to what is assumed


def example(claim: Claim, sides: bool = True) -> bool:
    """Are there values at which all assumptions of the claim hold, and its two sides exist, if that is asked too?"""
    testable = [a for a in claim.given if a.kind in (*SIGNS, "invertible", "product", "representable", "variance", "zero_or_one")]
    ends = (claim.start, claim.steps[-1].expr)
    evaluated = () if is_law(*claim.trees) or not sides else ends
    ranged = [a for a in claim.given if a.kind == "in range" and evaluated]
    for env, _ in candidates(ends, claim.given):
        env |= point_near(claim.towards)
        try:
            if all(holds(a, env, *ends) for a in testable) and all(may_hold(a, env, ends) for a in ranged):
                for e in evaluated:
                    try:
                        evaluate(e, env)
                    except Undefined:
                        raise
                    except KernelError:
                        pass
                return True
        except (Undefined, KernelError):
            continue
    return False


def may_hold(a: Assumption, env: dict, ends: tuple) -> bool:
    """Does the assumption hold here, or is that not known?"""
    try:
        return holds(a, env, *ends)
    except Undefined:
        raise
    except KernelError:
        return True


def strangers(claim: Claim) -> list[Expr]:
    """What is random and stands in an assumption or a certificate alone: what is assumed of it says nothing of what is claimed."""
    sides = (claim.start, *(step.expr for step in claim.steps))
    named = symbols(*sides)
    return [s for name, s in symbols(*claim.trees).items() if is_random(s) and name not in named]


def ruled_sizes(given: tuple) -> list[Assumption]:
    """The assumptions that say by themselves which sizes there are: signs of sizes, and a product that needs as many columns as rows."""
    about = (*SIGNS, "representable")
    return [a for a in given if a.kind in about and of_sizes(*a.args) and symbols(*a.args) or bounds_columns(a)]


def bounds_columns(a: Assumption) -> bool:
    """A product that is the identity, of a matrix with n rows and d columns: d is at least n."""
    return a.kind == "product" and bool(a.args[2].data) and a.args[0].shape[0] != a.args[0].shape[1]


def empty_sizes(claim: Claim) -> dict[str, int]:
    """Sizes at which nothing was found for which the assumptions hold, though none about sizes alone rules them out; {} where there are none.

    An assumption with an open index is made for each of its values, and a variance is no more than a number that is not negative: what
    holds where there are few entries may contradict itself where there are more; so may what is said of a matrix and of its inverse.
    """
    kinds = (*SIGNS, "variance", "zero_or_one", "invertible", "product")
    known = [a for a in claim.given if a.kind in kinds and not has_no_rational_example(a)]
    stated = [Assumption("nonnegative", a.args[1:]) if a.kind == "variance" else a for a in known]
    about = [a for a in claim.given if a.kind in SIGNS and of_sizes(*a.args)]
    others = [a for a in stated if a not in about]
    names = symbols(*(x for a in (*others, *about) for x in a.args))
    sizes = sorted(n for n, s in names.items() if s.data[1] == "size")
    if not sizes or not others:
        return {}
    few = all(a.kind in ("invertible", "product") for a in others)  # where three rows are enough to see that these go together
    tried = (one for one in list_size_grid(sizes, tuple(about)) if not few or max(one) <= MAX_SMALL_SIZE)
    chosen = (widen_orthogonal(dict(zip(sizes, one)), others) for one in (*tried, *list_large_sizes(sizes, others)))
    allowed = (one for one in chosen if all(certainly_holds(a, one) for a in about))
    return next((one for one in allowed if not has_values_at(one, [*others, *about], names)), {})


def ruling_out(claim: Claim, sizes: dict[str, int]) -> Assumption | None:
    """A bound on one size that rules out these, at which nothing was found, and beside which nothing else is lacking; None where none was found."""
    names = symbols(*claim.trees)
    for name, k in sizes.items():
        above, below = names[name] - (k + 1), min(k - 1, MAX_SIZE) - names[name]
        for bound in (below, above) if k > 2 else (above,):  # one size alone says too little
            rule = Assumption("nonnegative", (bound,))
            if not empty_sizes(replace(claim, given=(*claim.given, rule))):
                return rule
    return None


def list_large_sizes(sizes: list, others: list) -> Iterator[tuple]:
    """Large sizes, all alike or one of them beside ones, as far as what is assumed can be computed there."""
    matrices = any(a.kind in ("invertible", "product") for a in others)  # too many numbers
    for k in () if matrices else LARGE_SIZES:
        for one in dict.fromkeys([(k,) * len(sizes), *(tuple(k if name == n else 1 for name in sizes) for n in sizes)]):
            if sum(count_computed_numbers(x, dict(zip(sizes, one))) for a in others for x in a.args) <= MAX_COMPUTED_NUMBERS:
                yield one


def count_computed_numbers(x: Expr, sizes: dict) -> int:
    """How many numbers are computed on the way to x, at each value of its open indices."""

    def inside(e: Expr) -> int:
        entries = prod(exact_evaluation.size_value(n, sizes) for n in e.shape)
        if e.op in ("matmul", "inverse"):
            entries *= max(exact_evaluation.size_value(n, sizes) for y in e.args for n in y.shape)
        return entries + sum(map(inside, e.args)) * (exact_evaluation.size_value(e.data[1], sizes) if e.op in BINDERS else 1)

    return inside(x) * prod(exact_evaluation.size_value(i.data[1], sizes) for i in free_indices(x))


def widen_orthogonal(sizes: dict[str, int], given: list) -> dict[str, int]:
    """These sizes, but with columns enough for all rows that a product makes orthogonal: with fewer it rules the sizes out by itself."""
    products = [a for a in given if a.kind == "product"]
    inner = {name.data[0] for a in products if bounds_columns(a) and (name := a.args[0].shape[-1]).op == "symbol"}
    rows: dict = {name: {} for name in inner}
    for a in products:
        for x, axis in zip(a.args, (0, -1)):
            along, across = x.shape[-1 - axis], x.shape[axis]
            if along.op == "symbol" and along.data[0] in inner:
                rows[along.data[0]][x.args[0] if x.op == "transpose" else x] = exact_evaluation.size_value(across, sizes)
    return sizes | {name: max(sizes[name], sum(tall.values())) for name, tall in rows.items()}


def list_size_grid(sizes: list, about: tuple) -> list[tuple]:
    """All sizes alike, and one of them larger or smaller than the rest, where the assumptions about them allow it."""
    alike = [(k,) * len(sizes) for k in range(1, MAX_SIZE + 1)]
    apart = [
        tuple(k if name == one else rest for name in sizes)
        for one in sizes
        for k, rest in [(k, 1) for k in range(2, MAX_SIZE + 1)] + [(1, MAX_SIZE)]
        if len(sizes) > 1
    ]
    allowed = [one for one in alike + sorted(apart, key=sum) if all(certainly_holds(a, dict(zip(sizes, one))) for a in about)]
    return allowed or sizes_to_try(sizes, about)


def certainly_holds(a: Assumption, env: dict) -> bool:
    """Does an assumption, which is not about a claim's sides, hold at these values?"""
    with suppress(Undefined, KernelError, KeyError):
        return holds(a, env, a.args[0], a.args[0])
    return False


def has_values_at(sizes: dict[str, int], signs: list, names: dict) -> bool:
    """Are there values at which these assumptions hold, with these sizes?"""
    drawn = [s for name, s in names.items() if name not in sizes]
    trials = 20 * TRIALS if max(sizes.values()) <= MAX_SMALL_SIZE else 4 * TRIALS
    bits = {a.args[0].data[0] for a in signs if a.kind == "zero_or_one"}
    drawings_ = generate_draws(drawn, sizes, trials if drawn else 1, bits)
    if max(sizes.values()) >= LARGE_SIZES[0]:
        drawings_ = islice(drawings_, LARGE_SIZE_TRIALS)
    return any(all(certainly_holds(a, env) for a in signs) for one in drawings_ for env in with_matrices(one, signs))


def generate_draws(drawn: list, sizes: dict[str, int], trials: int, bits: Collection[str] = ()) -> Iterator[dict]:
    """Values for these symbols: one for all, then one for each, then entries that come again after a few. Bits are 0 or 1."""
    places = {s.data[0]: list(product(*(range(exact_evaluation.size_value(n, sizes)) for n in s.shape))) for s in drawn}
    most = max(sizes.values(), default=1)
    for tiles in chain(
        generate_uniform_draws(drawn, bits, numbers_of_size(most)), generate_periodic_draws(places, trials, bits)
    ):  # made as they are asked for: mostly few are
        yield dict(sizes) | {
            name: {p: number(tile[k % len(tile)]) for k, p in enumerate(places[name])} for name, tile in zip(places, tiles)
        }


def numbers_of_size(n: int) -> list[Fraction]:
    """Numbers as large as an index, a sum or a square may demand at a large size, or as small."""
    return [Fraction(x) for x in (2 * n, Fraction(1, 2 * n), -2 * n, 2 * n**2)]


def generate_uniform_draws(drawn: list, bits: Collection[str], more: list) -> Iterator[tuple]:
    """One number for every entry of each symbol: small ones and large ones, and each beside each while there are few symbols."""
    for x in (*SHARED_VALUES, *more):
        yield tuple([x if s.data[0] not in bits or x in BITS else BITS[1]] for s in drawn)
    if len(drawn) <= FEW_SYMBOLS:
        yield from product(*([[x] for x in (BITS if s.data[0] in bits else [*SEPARATE_VALUES, *more])] for s in drawn))


def generate_periodic_draws(places: dict[str, list], trials: int, bits: Collection[str]) -> Iterator[tuple]:
    """Numbers for entries, which come again after one, two or three; or one apart from all others. Positive ones as often as any."""
    generator, every = Random(0), [*SCALARS, *LARGER_NUMBERS]
    positive = [x for x in every if x > 0]
    for trial in range(trials):
        numbers = every if trial % 2 else positive
        tiles = []
        for name, here in places.items():
            period = (1, 2, 3, len(here), -1)[trial // 2 % 5]  # -1: the first entry is one thing, and all others another
            tile = [generator.choice(BITS if name in bits else numbers) for _ in range(max(period, 2 if period < 0 else 1))]
            tiles.append(tile[:1] + tile[1:] * (len(here) - 1 if period < 0 else 1))
        yield tuple(tiles)


def only_of_indices(claim: Claim) -> Assumption | None:
    """An assumption in which an open index stands beside nothing but sizes and other indices: made for each of its values, it is about sizes."""
    signs = [a for a in claim.given if a.kind in (*SIGNS, "representable") and any(map(free_indices, a.args))]
    named = ((a, {s.data[1] for s in symbols(*a.args).values()}) for a in signs)
    return next((a for a, kinds in named if kinds <= {"size"} and not any(n.op == "entry" for x in a.args for n in walk(x))), None)


def negative_variance(given: tuple) -> str:
    """Values at which a variance that is stated would be negative while all else that is stated holds, in words; '' where none was found."""
    signs = [a for a in given if a.kind in SIGNS]
    for a in (a for a in given if a.kind == "variance"):
        below = Assumption("positive", (-a.args[1],))
        names = symbols(*(x for b in (*signs, below) for x in b.args))
        sizes = sorted(n for n, s in names.items() if s.data[1] == "size")
        drawn = [s for name, s in names.items() if name not in sizes]
        for one in list_size_grid(sizes, tuple(b for b in signs if of_sizes(*b.args))) or [()]:
            for env in generate_draws(drawn, dict(zip(sizes, one)), TRIALS if drawn else 1):
                if all(certainly_holds(b, env) for b in (*signs, below)):
                    where = ", ".join(f"{name} = {show_array(value)}" for name, value in env.items())
                    would = show_array(evaluate(a.args[1], env))
                    at = f"at {where} " * bool(where)
                    return f"{at}each entry of {show(a.args[0])} would have the variance {would}, and nothing random has"
    return ""


def pinned(claim: Claim) -> str:
    """A symbol to which the assumptions leave one value, with that value; '' where none was found. What is said then is said of numbers."""
    about = [a for a in claim.given if a.kind in (*SIGNS, "product", "invertible", "representable", "zero_or_one")]
    closed = [a for a in about if a.kind in ("nonnegative", "product", "zero_or_one")]  # what is positive or not zero is so nearby, too
    trees = [x for a in closed for x in a.args]
    names = {name: s for name, s in symbols(*trees).items() if s.data[1] == "real"}
    found: dict[tuple, dict] = {}  # (name, sizes) -> the first value that was found for it
    open_ = dict(names)
    for env, _ in candidates(tuple(trees), tuple(about)) if names else ():
        if not all(certainly_holds(a, env) for a in about):
            continue
        at = tuple(sorted((n, v) for n, v in env.items() if isinstance(v, int) and isinstance(n, str)))
        for near in (env, *perturb(env, names)):
            for name in [n for n in open_ if near[n] != found.setdefault((n, at), near[n])]:
                if near is env or all(certainly_holds(a, near) for a in about):
                    del open_[name]
        if not open_:
            break
    left = [*find_pinned_sizes(about), *((name, value) for (name, _), value in found.items() if name in open_)]
    return f"{left[0][0]} = {show_array(left[0][1])}" if left else ""


def find_pinned_sizes(given: list) -> list[tuple[str, int]]:
    """The sizes to which assumptions about sizes leave one value; the largest that is tried may be one of many."""
    about = tuple(a for a in given if a.kind in SIGNS and of_sizes(*a.args))
    sizes = sorted(n for n, s in symbols(*(x for a in about for x in a.args)).items())
    most = LARGEST.get(len(sizes), MAX_SMALL_SIZE)
    allowed = [
        one for one in product(range(1, most + 1), repeat=len(sizes)) if all(certainly_holds(a, dict(zip(sizes, one))) for a in about)
    ]
    values_of = [(name, {one[k] for one in allowed}) for k, name in enumerate(sizes)]
    return [(name, *few) for name, few in values_of if len(few) == 1 and most not in few]


def perturb(env: dict, names: dict) -> Iterator[dict]:
    """Other values: each symbol moved a little, all of them moved alike, doubled, and with the other sign."""
    step = Fraction(1, 4)
    for moved in [[name] for name in names] + [list(names)]:
        for change in (lambda v: v + number(step), lambda v: v - number(step), lambda v: v * number(2), lambda v: v * number(-1)):
            yield env | {name: {p: change(v) for p, v in env[name].items()} for name in moved}
