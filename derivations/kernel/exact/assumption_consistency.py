"""Checks that the assumptions of a claim can be satisfied, at every size that they do not rule out.

Contradictory assumptions imply anything, and a page would say that the claim holds at every shape. So this module searches for values
that satisfy them all. A search proves nothing, but here it decides only what is rejected.
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
    LARGEST_SIZES,
    SCALARS,
    SIGNS,
    TRIALS,
    generate_candidates,
    has_only_sizes,
    is_law,
    is_satisfied,
    list_sizes_to_try,
    show_array,
)
from .exact_evaluation import evaluate
from .flint_numbers import Undefined, to_fmpq
from .limit_counterexamples import point_near_limit
from .matrices_for_assumptions import generate_with_matrices, has_no_rational_example

MAX_SIZE, MAX_SMALL_SIZE = 12, 3  # sizes are tried up to 12, and with more values up to 3
LARGER_NUMBERS = [Fraction(x) for x in (4, 5, -4, *range(6, MAX_SIZE + 2))]  # a number between index-dependent bounds
SHARED_VALUES = [Fraction(x) for x in (0, 1, -1, *range(2, MAX_SIZE + 2), -5, 1000, -1000)]  # one value for all entries of all symbols
SEPARATE_VALUES = [Fraction(x) for x in (0, 1, -1, 20, -20, 1000, -1000)]  # one value for each symbol, in every combination
FEW_SYMBOLS = 3
LARGE_SIZES, MAX_COMPUTED_NUMBERS, LARGE_SIZE_TRIALS = (
    (16, 64, 256, 1024, 4096),
    60_000,
    200,
)  # limits for large sizes


def has_example(claim: Claim, sides: bool = True) -> bool:
    """Return whether values were found at which all assumptions hold and, if `sides` is true, both sides of the claim exist."""
    testable = [a for a in claim.given if a.kind in (*SIGNS, "invertible", "product", "representable", "variance", "zero_or_one")]
    ends = (claim.start, claim.steps[-1].expr)
    evaluated = () if is_law(*claim.trees) or not sides else ends
    ranged = [a for a in claim.given if a.kind == "in range" and evaluated]
    for env, _ in generate_candidates(ends, claim.given):
        env |= point_near_limit(claim.towards)
        try:
            if all(is_satisfied(a, env, *ends) for a in testable) and all(may_hold(a, env, ends) for a in ranged):
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
    """Return whether the assumption holds at these values, or cannot be decided there."""
    try:
        return is_satisfied(a, env, *ends)
    except Undefined:
        raise
    except KernelError:
        return True


def find_unrelated_random(claim: Claim) -> list[Expr]:
    """Return the random symbols that occur only in assumptions or a certificate, where they could state anything about the claim."""
    sides = (claim.start, *(step.expr for step in claim.steps))
    in_sides = symbols(*sides)
    return [s for name, s in symbols(*claim.trees).items() if is_random(s) and name not in in_sides]


def list_size_assumptions(given: tuple) -> list[Assumption]:
    """Return the assumptions that restrict sizes: signs of sizes, and matrices that have no inverse, or not the product, at some sizes."""
    about = (*SIGNS, "representable")
    stated = [a for a in given if a.kind in about and has_only_sizes(*a.args) and symbols(*a.args) or bounds_columns(a)]
    return stated + [a for a in given if is_inverted_expression(a) and any(len(set(s.shape)) == 2 for s in symbols(*a.args).values())]


def is_inverted_expression(a: Assumption) -> bool:
    """Return whether the inverse of an expression is assumed to exist, as that of Xᵀ X, which excludes some sizes of X."""
    return a.kind == "invertible" and a.args[0].op != "symbol"


def bounds_columns(a: Assumption) -> bool:
    """Return whether a product is the identity for a matrix that is not square, so that it has at least as many columns as rows."""
    return a.kind == "product" and bool(a.args[2].data) and a.args[0].shape[0] != a.args[0].shape[1]


def find_empty_sizes(claim: Claim) -> dict[str, int]:
    """Return sizes that the assumptions about sizes allow but at which no values were found that satisfy the others; {} if there are none.

    An assumption with an open index applies to each of its values, and a variance counts as a nonnegative number. Assumptions that are
    consistent for few entries may contradict each other for more entries, and so may assumptions about a matrix and about its inverse.
    That an expression has an inverse may exclude sizes.
    """
    kinds = (*SIGNS, "variance", "zero_or_one", "invertible", "product")
    known = [a for a in claim.given if a.kind in kinds and not has_no_rational_example(a) and not is_inverted_expression(a)]
    stated = [Assumption("nonnegative", a.args[1:]) if a.kind == "variance" else a for a in known]
    about = [a for a in claim.given if a.kind in SIGNS and has_only_sizes(*a.args)]
    others = [a for a in stated if a not in about]
    names = symbols(*(x for a in (*others, *about) for x in a.args))
    sizes = sorted(n for n, s in names.items() if s.data[1] == "size")
    if not sizes or not others:
        return {}
    only_matrices = all(a.kind in ("invertible", "product") for a in others)  # three rows are enough to see whether these are consistent
    tried = (choice for choice in list_size_grid(sizes, tuple(about)) if not only_matrices or max(choice) <= MAX_SMALL_SIZE)
    chosen = (widen_orthogonal(dict(zip(sizes, choice)), others) for choice in (*tried, *list_large_sizes(sizes, others)))
    allowed = (choice for choice in chosen if all(certainly_holds(a, choice) for a in about))
    return next((choice for choice in allowed if not has_values_at(choice, [*others, *about], names)), {})


def suggest_size_bound(claim: Claim, sizes: dict[str, int]) -> Assumption | None:
    """Return a bound on one size that rules out these sizes, and after which no others are empty. Return None if none was found."""
    names = symbols(*claim.trees)
    for name, k in sizes.items():
        above, below = names[name] - (k + 1), min(k - 1, MAX_SIZE) - names[name]
        for bound in (below, above) if k > 2 else (above,):  # an upper bound of 1 would leave a single size
            rule = Assumption("nonnegative", (bound,))
            if not find_empty_sizes(replace(claim, given=(*claim.given, rule))):
                return rule
    return None


def list_large_sizes(sizes: list, others: list) -> Iterator[tuple]:
    """Yield choices of large sizes, one tuple for each choice: all sizes are equal, or one is large and the others are 1.

    Choices at which the assumptions would need more than MAX_COMPUTED_NUMBERS numbers are left out. If a matrix is assumed to be
    invertible or to have a stated product, there are none.
    """
    matrices = any(a.kind in ("invertible", "product") for a in others)  # these take too many numbers
    for k in () if matrices else LARGE_SIZES:
        for choice in dict.fromkeys([(k,) * len(sizes), *(tuple(k if name == n else 1 for name in sizes) for n in sizes)]):
            if sum(count_computed_numbers(x, dict(zip(sizes, choice))) for a in others for x in a.args) <= MAX_COMPUTED_NUMBERS:
                yield choice


def count_computed_numbers(x: Expr, sizes: dict) -> int:
    """Return how many numbers an evaluation of x computes, over all values of its open indices."""

    def count(e: Expr) -> int:
        entries = prod(exact_evaluation.evaluate_size(n, sizes) for n in e.shape)
        if e.op in ("matmul", "inverse"):
            entries *= max(exact_evaluation.evaluate_size(n, sizes) for y in e.args for n in y.shape)
        return entries + sum(map(count, e.args)) * (exact_evaluation.evaluate_size(e.data[1], sizes) if e.op in BINDERS else 1)

    return count(x) * prod(exact_evaluation.evaluate_size(i.data[1], sizes) for i in free_indices(x))


def widen_orthogonal(sizes: dict[str, int], given: list) -> dict[str, int]:
    """Return these sizes with enough columns for all rows that products make orthogonal; fewer columns are ruled out by the products."""
    products = [a for a in given if a.kind == "product"]
    inner = {name.data[0] for a in products if bounds_columns(a) and (name := a.args[0].shape[-1]).op == "symbol"}
    rows: dict = {name: {} for name in inner}
    for a in products:
        for x, axis in zip(a.args, (0, -1)):
            along, across = x.shape[-1 - axis], x.shape[axis]
            if along.op == "symbol" and along.data[0] in inner:
                rows[along.data[0]][x.args[0] if x.op == "transpose" else x] = exact_evaluation.evaluate_size(across, sizes)
    return sizes | {name: max(sizes[name], sum(row_counts.values())) for name, row_counts in rows.items()}


def list_size_grid(sizes: list, about: tuple) -> list[tuple]:
    """Return choices of sizes: all equal, or one larger or smaller than the rest, if the assumptions about them allow it."""
    equal_sizes = [(k,) * len(sizes) for k in range(1, MAX_SIZE + 1)]
    unequal_sizes = [
        tuple(k if name == choice else rest for name in sizes)
        for choice in sizes
        for k, rest in [(k, 1) for k in range(2, MAX_SIZE + 1)] + [(1, MAX_SIZE)]
        if len(sizes) > 1
    ]
    allowed = [
        choice
        for choice in equal_sizes + sorted(unequal_sizes, key=sum)
        if all(certainly_holds(a, dict(zip(sizes, choice))) for a in about)
    ]
    return allowed or list_sizes_to_try(sizes, about)


def certainly_holds(a: Assumption, env: dict) -> bool:
    """Return whether an assumption that does not depend on a claim's sides certainly holds at these values."""
    with suppress(Undefined, KernelError, KeyError):
        return is_satisfied(a, env, a.args[0], a.args[0])
    return False


def has_values_at(sizes: dict[str, int], signs: list, names: dict) -> bool:
    """Return whether values with these sizes were found at which the assumptions hold."""
    drawn = [s for name, s in names.items() if name not in sizes]
    trials = 20 * TRIALS if max(sizes.values()) <= MAX_SMALL_SIZE else 4 * TRIALS
    bits = {a.args[0].data[0] for a in signs if a.kind == "zero_or_one"}
    draws = generate_draws(drawn, sizes, trials if drawn else 1, bits)
    if max(sizes.values()) >= LARGE_SIZES[0]:
        draws = islice(draws, LARGE_SIZE_TRIALS)
    return any(all(certainly_holds(a, env) for a in signs) for draw in draws for env in generate_with_matrices(draw, signs))


def generate_draws(drawn: list, sizes: dict[str, int], trials: int, bits: Collection[str] = ()) -> Iterator[dict]:
    """Yield values for these symbols: one for all, one for each, then entries that repeat after a few. Symbols in `bits` get 0 or 1."""
    places = {s.data[0]: list(product(*(range(exact_evaluation.evaluate_size(n, sizes)) for n in s.shape))) for s in drawn}
    most = max(sizes.values(), default=1)
    for tiles in chain(
        generate_uniform_draws(drawn, bits, numbers_of_size(most)), generate_periodic_draws(places, trials, bits)
    ):  # lazily: mostly the first few are enough
        yield dict(sizes) | {
            name: {p: to_fmpq(tile[k % len(tile)]) for k, p in enumerate(places[name])} for name, tile in zip(places, tiles)
        }


def numbers_of_size(n: int) -> list[Fraction]:
    """Return numbers of the magnitude of an index, a sum or a square at size n, and their inverse."""
    return [Fraction(x) for x in (2 * n, Fraction(1, 2 * n), -2 * n, 2 * n**2)]


def generate_uniform_draws(drawn: list, bits: Collection[str], more: list) -> Iterator[tuple]:
    """Yield one number for every entry of each symbol: the same for all symbols and, for few symbols, every combination."""
    for x in (*SHARED_VALUES, *more):
        yield tuple([x if s.data[0] not in bits or x in BITS else BITS[1]] for s in drawn)
    if len(drawn) <= FEW_SYMBOLS:
        yield from product(*([[x] for x in (BITS if s.data[0] in bits else [*SEPARATE_VALUES, *more])] for s in drawn))


def generate_periodic_draws(places: dict[str, list], trials: int, bits: Collection[str]) -> Iterator[tuple]:
    """Yield numbers for entries that repeat after one, two or three, or a first entry that differs from the rest.

    Every other draw is positive.
    """
    generator, all_numbers = Random(0), [*SCALARS, *LARGER_NUMBERS]
    positive = [x for x in all_numbers if x > 0]
    for trial in range(trials):
        numbers = all_numbers if trial % 2 else positive
        tiles = []
        for name, places_of_symbol in places.items():
            period = (1, 2, 3, len(places_of_symbol), -1)[trial // 2 % 5]  # -1: the first entry, then another number for all others
            tile = [generator.choice(BITS if name in bits else numbers) for _ in range(max(period, 2 if period < 0 else 1))]
            tiles.append(tile[:1] + tile[1:] * (len(places_of_symbol) - 1 if period < 0 else 1))
        yield tuple(tiles)


def find_index_only_assumption(claim: Claim) -> Assumption | None:
    """Return an assumption whose open index is combined with sizes and indices only, or None.

    It restricts sizes, since it holds at each value.
    """
    signs = [a for a in claim.given if a.kind in (*SIGNS, "representable") and any(map(free_indices, a.args))]
    kinds_by_assumption = ((a, {s.data[1] for s in symbols(*a.args).values()}) for a in signs)
    return next(
        (a for a, kinds in kinds_by_assumption if kinds <= {"size"} and not any(n.op == "entry" for x in a.args for n in walk(x))), None
    )


def find_negative_variance(given: tuple) -> str:
    """Return, in words, values at which a stated variance would be negative while the other assumptions hold; '' if none were found."""
    signs = [a for a in given if a.kind in SIGNS]
    for a in (a for a in given if a.kind == "variance"):
        below = Assumption("positive", (-a.args[1],))
        names = symbols(*(x for b in (*signs, below) for x in b.args))
        sizes = sorted(n for n, s in names.items() if s.data[1] == "size")
        drawn = [s for name, s in names.items() if name not in sizes]
        for choice in list_size_grid(sizes, tuple(b for b in signs if has_only_sizes(*b.args))) or [()]:
            for env in generate_draws(drawn, dict(zip(sizes, choice)), TRIALS if drawn else 1):
                if all(certainly_holds(b, env) for b in (*signs, below)):
                    where = ", ".join(f"{name} = {show_array(value)}" for name, value in env.items())
                    shown_variance = show_array(evaluate(a.args[1], env))
                    at = f"at {where} " * bool(where)
                    return f"{at}each entry of {show(a.args[0])} would have the variance {shown_variance}, and nothing random has"
    return ""


def find_pinned_value(claim: Claim) -> str:
    """Return a symbol and its value, in words, if the assumptions seem to leave it one value only; '' if not."""
    about = [a for a in claim.given if a.kind in (*SIGNS, "product", "invertible", "representable", "zero_or_one")]
    closed = [a for a in about if a.kind in ("nonnegative", "product", "zero_or_one")]  # strict signs also hold nearby
    trees = [x for a in closed for x in a.args]
    names = {name: s for name, s in symbols(*trees).items() if s.data[1] == "real"}
    found: dict[tuple, dict] = {}  # (name, sizes) -> the first value found
    open_ = dict(names)
    for env, _ in generate_candidates(tuple(trees), tuple(about)) if names else ():
        if not all(certainly_holds(a, env) for a in about):
            continue
        sizes = tuple(sorted((n, v) for n, v in env.items() if isinstance(v, int) and isinstance(n, str)))
        for other in (env, *perturb(env, names)):
            for name in [n for n in open_ if other[n] != found.setdefault((n, sizes), other[n])]:
                if other is env or all(certainly_holds(a, other) for a in about):
                    del open_[name]
        if not open_:
            break
    single_values = [*find_pinned_sizes(about), *((name, value) for (name, _), value in found.items() if name in open_)]
    return f"{single_values[0][0]} = {show_array(single_values[0][1])}" if single_values else ""


def find_pinned_sizes(given: list) -> list[tuple[str, int]]:
    """Return the sizes that assumptions about sizes restrict to one value.

    The largest value tried does not count: larger ones may exist.
    """
    about = tuple(a for a in given if a.kind in SIGNS and has_only_sizes(*a.args))
    sizes = sorted(n for n, s in symbols(*(x for a in about for x in a.args)).items())
    most = LARGEST_SIZES.get(len(sizes), MAX_SMALL_SIZE)
    allowed = [
        choice
        for choice in product(range(1, most + 1), repeat=len(sizes))
        if all(certainly_holds(a, dict(zip(sizes, choice))) for a in about)
    ]
    values_of = [(name, {choice[k] for choice in allowed}) for k, name in enumerate(sizes)]
    return [(name, min(values)) for name, values in values_of if len(values) == 1 and most not in values]


def perturb(env: dict, names: dict) -> Iterator[dict]:
    """Yield other values: each symbol, then all of them, moved a little, doubled, and with the opposite sign."""
    step = Fraction(1, 4)
    for chosen in [[name] for name in names] + [list(names)]:
        for change in (lambda v: v + to_fmpq(step), lambda v: v - to_fmpq(step), lambda v: v * to_fmpq(2), lambda v: v * to_fmpq(-1)):
            yield env | {name: {p: change(v) for p, v in env[name].items()} for name in chosen}
