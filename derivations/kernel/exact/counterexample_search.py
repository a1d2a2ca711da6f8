"""Searches for small concrete counterexamples: to a false claim, and to a claim without one of its assumptions.

A search that finds nothing proves nothing. It only improves error messages and decides whether an assumption can be shown to be needed.
Exact evaluation checks every counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product, zip_longest
from random import Random
from typing import Any

from ..core.assumptions import Assumption, gaussian, independent, mean, nonnegative, positive, variance
from ..core.constructors import inverse, ones
from ..core.constructors import random as random_tensor
from ..core.expr import Expr, contains_average, free_indices, lift, matmul, symbols, walk
from ..core.number_formats import FORMATS
from ..errors import KernelError
from ..printing.plain_text import plain
from . import exact_evaluation, flint_numbers, value_printing
from .assumption_facts import collect_facts, list_implied
from .exact_evaluation import evaluate, evaluate_polynomial
from .flint_numbers import Undefined, certainly_differ, to_fmpq
from .normal_form import moment_name
from .polynomials import Polynomial
from .tree_to_normal_form import normalize
from .value_printing import show_value

SIGNS = ("positive", "nonnegative", "nonzero")
SCALARS = [Fraction(x) for x in (1, 2, -1, 0, 3, Fraction(1, 2), -2, Fraction(1, 4))]
ENTRIES = [Fraction(x) for x in (0, 0, 1, 1, -1, 2)]
BITS = (Fraction(0), Fraction(1))
MAX_SIZE_CHOICES, TRIALS, SCALAR_TRIALS = 40, 60, 2000
MAX_FURTHER_SIZE, MAX_CONSTANT = 8, 1000
LARGEST_SIZES = {1: 130, 2: 12, 3: 6}  # number of sizes -> the largest that is tried, if assumptions about sizes rule out small ones


class Counterexample:
    """A counterexample: values by name, and the two sides there; an undefined side is a description."""

    def __init__(self, at: dict, left: Any, right: Any, note: str = "") -> None:
        self.at, self.left, self.right, self.note = at, left, right, note

    def __str__(self) -> str:
        where = ", ".join([f"{name} = {show_array(v)}" for name, v in self.at.items()] + [self.note] * bool(self.note))
        left, right = show_distinct(self.left, self.right)
        return f"at {where or 'every value'}: left = {left}, right = {right}".replace("= ≈", "≈ ")


def show_distinct(left: Any, right: Any) -> tuple[str, str]:
    """Return two values as text, with as many digits as it takes to tell them apart."""
    both = ((show_array(left, digits), show_array(right, digits)) for digits in value_printing.DIGITS)
    return next((shown for shown in both if shown[0] != shown[1]), (show_array(left), show_array(right)))


def show_array(v: Any, digits: int = value_printing.DIGITS[0]) -> str:
    """Return the entries of a value as text."""
    if isinstance(v, (str, int)):
        return str(v)
    if set(v) == {()}:
        return show_value(v[()], digits)
    if len(next(iter(v))) == 1:
        return "[" + ", ".join(show_value(x, digits) for _, x in sorted(v.items())) + "]"
    rows = sorted({p[0] for p in v})
    return "[" + ", ".join("[" + ", ".join(show_value(x, digits) for p, x in sorted(v.items()) if p[0] == r) + "]" for r in rows) + "]"


def is_law(*trees: Expr) -> bool:
    """Return whether a tree contains an expectation or a variance."""
    return contains_average(*trees)


def find_counterexample(
    left: Expr, right: Expr, given: tuple, relation: str = "=", undefined: bool = False, sizes: dict | None = None
) -> Counterexample | None:
    """Return a small counterexample or None. If `undefined` is true, a place where a side does not exist counts as one.

    The search tries small sizes, and then `sizes`.
    """
    if is_law(left, right):
        return find_law_counterexample(left, right, given, relation)
    for env, others in generate_candidates((left, right), given, sizes):
        if find_failing_sides(left, right, given, relation, env, undefined):
            return shrink(left, right, given, relation, env, others, undefined)
    return None


def generate_candidates(sides: tuple, given: tuple, sizes: dict | None = None) -> Iterator[tuple[dict, list[Expr]]]:
    """Yield environments to try, small ones first, each with the symbols whose entries may be made smaller.

    Where the trees contain other constants than the numbers that are tried, numbers near these are tried at the end.
    """
    trees = (*sides, *(x for a in given for x in a.args))
    names, extra = symbols(*trees), list_numbers_to_round(trees)
    near = list_numbers_near_constants(trees)
    bits = {a.args[0].data[0] for a in given if a.kind == "zero_or_one"}
    size_names = sorted(n for n, s in names.items() if s.data[1] == "size")
    others = [names[n] for n in sorted(names) if n not in size_names]
    free = sorted(set().union(*map(free_indices, sides)), key=lambda i: i.data[0])
    generator = Random(0)
    further = [tuple(sizes.get(name, 1) for name in size_names)] if sizes and max(sizes.values()) <= MAX_FURTHER_SIZE else []
    tried = [*list_sizes_to_try(size_names, given), *further]
    for chosen, more in [*product(tried, [extra]), *product(tried, [near] * bool(near and others))]:
        env = dict(zip(size_names, chosen))
        for _ in range(TRIALS if size_names else SCALAR_TRIALS):
            yield (
                env
                | {s.data[0]: draw_entries(s, env, generator, more, BITS if s.data[0] in bits else ()) for s in others}
                | {("index", i.data[0]): generator.randrange(exact_evaluation.evaluate_size(i.data[1], env)) for i in free},
                others,
            )


def list_numbers_to_round(trees: tuple) -> list[Fraction]:
    """Return numbers that show what the roundings in the trees change.

    For each format: a number that is too large, one with all its digits, one that is too small to change 1, and for short formats also a
    tie, and one just above it, which is rounded to the tie if it is rounded to a longer format first.
    """
    found = []
    for name in dict.fromkeys(n.data for t in trees for n in walk(t) if n.op == "rounded"):
        bits, _, largest = FORMATS[name]
        found += [Fraction(2) ** int(largest).bit_length(), Fraction(2) ** bits - 1, Fraction(1, 2 ** (bits + 6))]
        if name != "fp32":
            found += [Fraction(2**bits + 1), 2**bits + 1 + Fraction(1, 2**20)]
    return found


def list_numbers_near_constants(trees: tuple) -> list[Fraction]:
    """Return each constant that is larger than the numbers tried anyway, one more and one less, with both signs: there a sign may change."""
    constants = {n.data for t in trees for n in walk(t) if n.op == "const" and max(SCALARS) < abs(n.data) <= MAX_CONSTANT}
    return sorted({sign * (c + step) for c in constants for step in (-1, 0, 1) for sign in (1, -1)})


def list_sizes_to_try(names: list, given: tuple) -> list:
    """Return the sizes to try in turn: small ones, or larger ones if assumptions about sizes rule those out."""
    about = [a for a in given if a.kind in SIGNS and has_only_sizes(*a.args)]

    def allowed(chosen: tuple) -> bool:
        env = dict(zip(names, chosen))
        try:
            return all(is_satisfied(a, env, *a.args, *a.args) for a in about)
        except (Undefined, KernelError, KeyError):
            return False

    def up_to(most: int) -> list:
        ordered = sorted(product(range(1, most + 1), repeat=len(names)), key=lambda c: (sum(c), max(c, default=0)))
        return [chosen for chosen in ordered if not about or allowed(chosen)][:MAX_SIZE_CHOICES]

    return up_to(3) or up_to(LARGEST_SIZES.get(len(names), 3))


def has_only_sizes(x: Expr) -> bool:
    """Return whether x contains only sizes, and no open index."""
    return not free_indices(x) and all(s.data[1] == "size" for s in symbols(x).values())


def draw_entries(s: Expr, env: dict, generator: Random, extra: Sequence = (), only: Sequence = ()) -> dict:
    """Return random entries for a symbol. `extra` adds numbers to the usual ones; `only` replaces them."""
    places = list(product(*(range(exact_evaluation.evaluate_size(n, env)) for n in s.shape)))
    pool = only or [*(ENTRIES if s.shape else SCALARS), *extra]
    return {p: to_fmpq(generator.choice(pool)) for p in places}


def find_failing_sides(left: Expr, right: Expr, given: tuple, relation: str, env: dict, undefined: bool = False) -> list | None:
    """Return the two sides if the claim fails at these values while its assumptions hold, otherwise None."""
    try:
        if not all(is_satisfied(a, env, left, right) for a in given):
            return None
    except (Undefined, KernelError, KeyError):
        return None
    sides: list = []
    for e in (left, right):
        try:
            sides.append(evaluate(e, env))
        except Undefined as error:
            sides.append(f"undefined ({error})")
        except (KernelError, OverflowError, KeyError):
            sides.append(None)
    if any(isinstance(s, str) for s in sides):
        return ["not computed" if s is None else s for s in sides] if undefined else None
    if None in sides:
        return None
    if sides[0].keys() != sides[1].keys():
        return None  # sides of different shapes are not even compared
    return sides if any(flint_numbers.certainly_violates(relation, sides[0][p], sides[1][p]) for p in sides[0]) else None


def is_satisfied(a: Assumption, env: dict, left: Expr, right: Expr) -> bool:
    """Return whether an assumption certainly holds at these values. One with an open index must hold at each of its values.

    Raise KernelError if it cannot be tested at values.
    """
    env = {name: value for name, value in env.items() if not isinstance(name, tuple) or a.kind == "in range"}
    if a.kind in ("positive", "nonnegative", "nonzero", "representable"):
        test = {
            "positive": lambda v: v > 0,
            "nonnegative": lambda v: v >= 0,
            "nonzero": lambda v: certainly_differ(v, to_fmpq(0)),
            "representable": lambda v: flint_numbers.round_to(v, "fp32") == v,
        }[a.kind]
        return all(bool(test(v)) for x in a.args for v in exact_evaluation.evaluate_everywhere(x, env))
    if a.kind == "zero_or_one":
        return all(not certainly_differ(v, to_fmpq(0)) or not certainly_differ(v, to_fmpq(1)) for v in evaluate(a.args[0], env).values())
    if a.kind == "invertible":
        evaluate(inverse(a.args[0]), env)
        return True
    if a.kind == "product":
        both = evaluate(matmul(*a.args[:2]), env)
        return all(v == to_fmpq(a.args[2].data if len(set(p)) == 1 else 0) for p, v in both.items())
    if a.kind == "variance":
        return bool(evaluate(a.args[1], env)[()] >= 0)
    if a.kind == "in range":
        unbounded = env | {"unbounded": True}
        pairs = [(evaluate(e, env), evaluate(e, unbounded)) for e in (left, right)]  # other parts of the sides may be balls
        return not any(certainly_differ(a[p], b[p]) for a, b in pairs for p in a)
    raise KernelError(f"the assumption '{a.kind}' cannot be tested at values", code="not-settled")


def shrink(left: Expr, right: Expr, given: tuple, relation: str, env: dict, others: list[Expr], undefined: bool) -> Counterexample:
    """Return the counterexample after greedily replacing entries by 0, then 1, while the claim still fails."""
    for target in (0, 1):
        for s in others:
            for place, value in list(env[s.data[0]].items()):
                if value in (0, target):
                    continue
                candidate = env | {s.data[0]: env[s.data[0]] | {place: to_fmpq(target)}}
                if find_failing_sides(left, right, given, relation, candidate, undefined):
                    env = candidate
    sides = find_failing_sides(left, right, given, relation, env, undefined) or [None, None]
    return Counterexample(select_shown_values(env, left, right), sides[0], sides[1])


def select_shown_values(env: dict, *trees: Expr) -> dict:
    """Return the values that a message shows: tensors, sizes that their shapes do not show, and indices, counted from 1."""
    in_trees = symbols(*trees)
    shown_by_shapes = {size.data[0] for name, s in in_trees.items() if name in env for size in s.shape if size.op == "symbol"}
    return {n: v for n, v in env.items() if isinstance(n, str) and n not in shown_by_shapes} | {
        n[1]: v + 1 for n, v in env.items() if isinstance(n, tuple)
    }


# Laws of expectation: the search chooses sizes, parameters and, where the assumptions leave it open, the distribution.


@dataclass(frozen=True)
class Coupling:
    """A law with its random symbols made dependent, and a note that says how. Along a cycle, the entries of a tensor take three values in turn."""

    left: Expr
    right: Expr
    given: tuple
    randoms: list[Expr]
    note: str = ""
    cycle: Expr | None = None


def find_law_counterexample(left: Expr, right: Expr, given: tuple, relation: str = "=") -> Counterexample | None:
    """Return a counterexample to a law of expectation, or None.

    None if something is differentiated by a parameter of the distributions: at each value of it, an attempt is about one distribution.
    """
    parameters = symbols(*(x for a in given if a.kind in ("mean", "variance") for x in a.args[1:]))
    if any(n.op == "derivative" and symbols(n.args[1]).keys() & parameters.keys() for e in (left, right) for n in walk(e)):
        return None
    given += list_implied(given)
    names = symbols(left, right, *(x for a in given for x in a.args))
    couplings = generate_couplings(left, right, given, [s for s in names.values() if s.data[1] == "random"])
    searches = zip_longest(*(generate_attempts(coupling, names, relation) for coupling in couplings))  # all couplings at small sizes first
    return next((found for attempts in searches for found in attempts if found), None)


def generate_attempts(law: Coupling, names: dict[str, Expr], relation: str) -> Iterator[Counterexample | None]:
    """Yield a counterexample or None at each choice of values, small ones first."""
    tried = list_distributions(law.given, law.randoms, law.cycle)
    readings: dict = {}
    for env in generate_law_environments(law.left, law.right, law.given, names):
        attempts = (try_distribution(law, complete, env, family, relation, readings) for complete, family in tried)
        yield next(filter(None, attempts), None)


def generate_law_environments(left: Expr, right: Expr, given: tuple, names: dict[str, Expr]) -> Iterator[dict]:
    """Yield values for the sizes, scalars and free indices; the entries of another tensor are 1, or count from 1."""
    size_names = sorted(n for n, s in names.items() if s.data[1] == "size")
    scalars = sorted(n for n, s in names.items() if s.data[1] == "real" and not s.shape)
    tensors = [s for s in names.values() if s.shape and s.data[1] == "real"]
    free = sorted(free_indices(left) | free_indices(right), key=lambda i: i.data[0])
    numbers = SCALARS[:4] + [Fraction(1, 2)] * any(
        is_random_bit(a.args[0], given) for a in given if a.kind == "zero_or_one"
    )  # a probability
    for chosen in list_sizes_to_try(size_names, given):
        sized: dict = dict(zip(size_names, chosen))
        all_places = {s.data[0]: list(product(*(range(exact_evaluation.evaluate_size(n, sized)) for n in s.shape))) for s in tensors}
        steps = (0, 1) if any(len(places) > 1 for places in all_places.values()) else (0,)
        for step, params in product(steps, product(numbers, repeat=len(scalars))):
            env = sized | {n: {(): to_fmpq(v)} for n, v in zip(scalars, params)}
            env |= {name: {p: to_fmpq(1 + step * k) for k, p in enumerate(places)} for name, places in all_places.items()}
            for places in product(*(range(exact_evaluation.evaluate_size(i.data[1], env)) for i in free)):
                yield env | {("index", i.data[0]): k for i, k in zip(free, places)}


def is_random_bit(s: Expr, given: tuple) -> bool:
    """Return whether a symbol is random, and stated to be 0 or 1."""
    return s.data[1] == "random" and any(a.kind == "zero_or_one" and a.args[0] == s for a in given)


def are_independent(some: set, given: tuple) -> bool:
    """Return whether the entries of these random symbols are stated to be independent of one another."""
    return any(some <= set(a.args) for a in given if a.kind == "independent")


def generate_couplings(left: Expr, right: Expr, given: tuple, randoms: list[Expr]) -> Iterator[Coupling]:
    """Yield the law with its random symbols as dependent as the assumptions allow."""
    law = Coupling(left, right, given, randoms)
    if are_independent(set(randoms), given):
        yield law
    elif len(randoms) > 1:
        identified = identify_randoms(law)
        yield from [identified] if identified else []
        if not identified or len(identified.randoms) > 1:
            yield couple_randoms(law)
        yield from couple_in_cycles(law)
        yield replace(law, given=(*given, independent(*randoms)))
    elif randoms and randoms[0].shape:
        yield from (make_entries_equal(law), *couple_in_cycles(law))
    else:
        yield replace(law, given=(*given, independent(*randoms)))


def make_entries_equal(law: Coupling) -> Coupling:
    """Return a law about one random tensor with all entries equal."""
    (tensor,) = law.randoms
    entry = random_tensor(f"{tensor.data[0].replace('_', '')}_1")
    left, right = (substitute(e, {tensor: entry * ones(*tensor.shape)}) for e in (law.left, law.right))
    return Coupling(
        left, right, rename_in(law.given, {tensor: entry}), [entry], f"every entry of {tensor.data[0]} the same {entry.data[0]}"
    )


def couple_in_cycles(law: Coupling) -> Iterator[Coupling]:
    """Yield the law with the entries of one tensor taking three values in turn, so that they have one distribution but an order."""
    fixed = {x for a in law.given if a.kind in ("gaussian", "zero_or_one") for x in a.args}
    for s in law.randoms:
        if s.shape and s not in fixed and not are_independent({s}, law.given):
            yield replace(law, note=f"each entry of {s.data[0]} next to the previous one in a cycle of three values", cycle=s)


def rename_in(given: tuple, replacements: dict) -> tuple:
    """Return the assumptions with some of the symbols that they are about replaced, each once."""
    return tuple(dict.fromkeys(replace(a, args=tuple(replacements.get(x, x) for x in a.args)) for a in given))


CAUCHY, STUDENT = "the Cauchy law", "Student's law with {} degrees of freedom"


def describe_heavy_tails(taken: dict) -> str:
    """Return, in words, distributions without the moments in `taken`, which maps random names to orders; '' if it is empty.

    Student's t with r degrees of freedom has all moments below the order r but not that one. Shifted and scaled, it has any mean and
    variance that it can have. The expectation of a polynomial of degree r in such an entry does not exist.
    """
    return " and ".join(
        f"{name} may have {CAUCHY if r == 1 else STUDENT.format(r)}, which has no {moment_name(r).partition(' ')[2]}"
        for name, r in taken.items()
    )


def identify_randoms(law: Coupling) -> Coupling | None:
    """Return the law with random symbols that need not be independent and may have one distribution made equal; None if there are none."""
    same: dict[Expr, Expr] = {}
    kept: list[Expr] = []
    for s in law.randoms:
        groups = {first: [first, *(x for x, y in same.items() if y == first)] for first in kept}
        fitting = (first for first, group in groups.items() if all(may_be_equal(s, x, law.given) for x in group))
        if (first := next(fitting, None)) is not None:
            same[s] = first
        else:
            kept.append(s)
    if not same:
        return None
    left, right = (substitute(e, same) for e in (law.left, law.right))
    independence = tuple(a for a in law.given if a.kind == "independent")
    given = state_moments_once(rename_in(tuple(a for a in law.given if a not in independence), same))
    return Coupling(
        left, right, (*given, independent(*kept)), kept, ", ".join(f"{s.data[0]} = {first.data[0]}" for s, first in same.items())
    )


def state_moments_once(given: tuple) -> tuple:
    """Return the assumptions with a moment that is stated a second time replaced by the condition that both values are equal."""
    stated: dict = {}
    result: list[Assumption] = []
    for a in given:
        first = stated.setdefault((a.kind, a.args[0]), a) if a.kind in ("mean", "variance") else a
        apart = a.args[1] - first.args[1] if first is not a else None
        result += [a] if apart is None else [nonnegative(apart), nonnegative(-apart)]
    return tuple(result)


def may_be_equal(s: Expr, other: Expr, given: tuple) -> bool:
    """Return whether two random symbols may be one: not if they are independent, or if different moments are stated.

    The means of two symbols that are 0 or 1 need only be equal for some values.
    """
    moments = [{(a.kind, a.args[1]) for a in given if a.kind in ("mean", "variance") and a.args[0] == x} for x in (s, other)]
    agree = all(len({value for stated in moments for kind, value in stated if kind == k}) < 2 for k in ("mean", "variance"))
    bits = is_random_bit(s, given)
    alike = s.shape == other.shape and bits == is_random_bit(other, given)
    return (agree or bits) and alike and not are_independent({s, other}, given)


def couple_randoms(law: Coupling) -> Coupling:
    """Return the law with all random tensors linear functions of one tensor w, which makes them as dependent as possible.

    If one of them is 0 or 1, it takes the place of w. Where the assumptions rule this out, they all are independent.
    """
    left, right, given, randoms = law.left, law.right, law.given, law.randoms
    bits = [s for s in randoms if is_random_bit(s, given)]
    normal = [s for s in randoms if any(a.kind == "gaussian" and s in a.args for a in given)]
    shape = bits[0].shape if bits else randoms[0].shape if len({s.shape for s in randoms}) == 1 else ()
    misfit = any(s.shape != shape and (shape or are_independent({s}, given)) for s in randoms)
    apart = any(are_independent({s, x}, given) for s, x in combinations(randoms, 2))
    if len(bits) > 1 or bits and normal or misfit or apart:
        return replace(law, given=(*given, independent(*randoms)))
    w = bits[0] if bits else random_tensor("w", *shape)

    def stated_moment(kind: str, s: Expr, default: Expr) -> Expr:
        return next((a.args[1] for a in given if a.kind == kind and a.args[0] == s), default)

    chance = stated_moment("mean", w, lift(Fraction(1, 2)))
    spread, middle = ((chance - chance**2) ** Fraction(1, 2), chance) if bits else (lift(1), lift(0))

    def as_linear(s: Expr) -> Expr:
        deviation, centre = stated_moment("variance", s, lift(1)) ** Fraction(1, 2) / spread, stated_moment("mean", s, lift(0))
        tensor = w * ones(*s.shape) if s.shape != shape and not w.shape else w
        centre -= deviation * middle
        return deviation * tensor + (centre * ones(*s.shape) if s.shape else centre)

    replacements = {s: as_linear(s) for s in randoms if s not in bits}
    about_others = tuple(a for a in given if not any(s in a.args for s in replacements))
    if bits:
        about_w = (positive(chance - chance**2), *[mean(w, chance)] * all(a.kind != "mean" or a.args[0] != w for a in about_others))
    else:
        about_w = (mean(w, 0), variance(w, 1), *[gaussian(w)] * bool(normal))
    note = " and ".join(s.data[0] for s in replacements) + f" linear in {'' if bits else 'one '}{w.data[0]}"
    given = (*about_others, independent(w), *about_w)
    return Coupling(substitute(left, replacements), substitute(right, replacements), given, [w], note)


# Name -> the values taken with equal probability, as multiples of one deviation from the mean. Gaussians are averaged in closed form.
FAMILIES: dict[str, tuple[int, ...] | None] = {"Gaussian": None, "on two points": (1, -1), "on three points, askew": (2, -1, -1)}
CYCLE = (1, 0, -1)
MAX_MOMENT, MAX_DENOMINATOR = 12, 4  # of the moments on points that are computed, and of the probabilities of a 0-1 variable


def substitute(e: Expr, replacements: dict) -> Expr:
    """Return the tree with subtrees replaced."""
    if e in replacements:
        return replacements[e]
    return replace(e, args=tuple(substitute(a, replacements) for a in e.args))


def list_distributions(given: tuple, randoms: list, cycle: Expr | None = None) -> list:
    """Return pairs (the assumptions completed by a mean and a variance of each random name, the name of a family), each once."""
    stated = {(a.kind, x.data[0]) for a in given for x in a.args if a.kind in ("mean", "variance", "gaussian") and x.op == "symbol"}
    free = any(("gaussian", s.data[0]) not in stated for s in randoms)
    families = [family for family, points in FAMILIES.items() if (free if points else cycle is None)]

    def completed(moments: tuple) -> tuple:
        rules = [(rule, s, value) for s in randoms for rule, value in zip((mean, variance), moments) if not is_random_bit(s, given)]
        rules += [(mean, s, moments[2]) for s in randoms if is_random_bit(s, given)]
        return given + tuple(rule(s, value) for rule, s, value in rules if (rule.__name__, s.data[0]) not in stated)

    half, quarter = Fraction(1, 2), Fraction(1, 4)
    return [
        *dict.fromkeys(
            product(map(completed, ((0, 1, half), (1, 1, quarter), (0, 2, 1), (0, 0, 0), (2, 2, half), (-1, 1, half))), families)
        )
    ]


class NormalFormCache:
    """The normal forms of sides under some assumptions, cached because they are evaluated at many numbers."""

    def __init__(self, assumptions: tuple, places: dict) -> None:
        self.facts, self.places = collect_facts(assumptions), places
        self.forms: dict[int, Polynomial] = {}

    def of(self, e: Expr) -> Polynomial:
        """Return the normal form of e."""
        if id(e) not in self.forms:
            self.forms[id(e)] = normalize(e, self.facts, self.places)
        return self.forms[id(e)]


def try_distribution(law: Coupling, complete: tuple, env: dict, family: str, relation: str, readings: dict) -> Counterexample | None:
    """Return a counterexample with random entries from this family at these values, or None."""
    is_normal = any(a.kind == "gaussian" for a in law.given)
    sides: list
    if not may_hold_at(law, env):
        return None
    try:
        if FAMILIES[family] and not is_normal:
            sides = average_outcomes(law, complete, env, family)
        else:
            sides = average_normal_forms(law, complete, env, family, readings)
    except Undefined as error:
        sides = [f"undefined ({error})"] * 2
    except (KernelError, AttributeError, KeyError):
        return None
    if not isinstance(sides[0], str) and not any(
        flint_numbers.certainly_violates(relation, sides[0][place], sides[1][place]) for place in sides[0]
    ):
        return None
    at = {n: v for n, v in env.items() if isinstance(n, str)} | {n[1]: v + 1 for n, v in env.items() if isinstance(n, tuple)}
    return Counterexample(
        at, sides[0], sides[1], note=", ".join([law.note] * bool(law.note) + describe_distribution(law, complete, family))
    )


def may_hold_at(law: Coupling, env: dict) -> bool:
    """Return whether the assumptions about numbers hold at these values, or a stated mean or variance has no value there."""
    implied = list_implied(law.given)
    for a in law.given:
        if a.kind in (*SIGNS, "variance"):
            try:
                if not is_satisfied(a, env, law.left, law.right):
                    return False
            except (Undefined, KernelError, KeyError):
                if a.kind != "variance" and a not in implied:
                    return False
    return True


def describe_distribution(law: Coupling, complete: tuple, family: str) -> list[str]:
    """Return the distribution of each random symbol and its moments, in words."""
    described = []
    for s in law.randoms:
        normal = any(a.kind == "gaussian" and s in a.args for a in law.given)
        bit, shape = is_random_bit(s, law.given), "on three points" if s == law.cycle else "Gaussian" if normal else family
        described.append(f"{s.data[0]} {'0 or 1' if bit else shape}")
    for a in complete:
        if a.kind in ("mean", "variance"):
            described.append(f"{'E' if a.kind == 'mean' else 'Var'}[{a.args[0].data[0]}] = {plain(a.args[1])}")
    return described


def average_outcomes(law: Coupling, complete: tuple, env: dict, family: str) -> list:
    """Return both sides, averaged over all outcomes. Raise KernelError if there are too many."""
    supports: dict[str, list] = {}
    number = 0
    for s in law.randoms:
        values = list_support(s, law, complete, env, family)
        places = list(product(*(range(exact_evaluation.evaluate_size(n, env)) for n in s.shape)))
        number += len(values) * (1 if s == law.cycle else len(places))
        if s == law.cycle:
            values = [{place: values[(sum(place) + start) % len(values)] for place in places} for start in range(len(values))]
        supports[s.data[0]] = values
    if number > 12:
        raise KernelError("there are too many outcomes", code="not-settled")
    return [evaluate(e, env | {"supports": supports}) for e in (law.left, law.right)]


def list_support(s: Expr, law: Coupling, complete: tuple, env: dict, family: str) -> list:
    """Return the equally likely values of each entry of a random symbol. Raise KernelError if it is 0 or 1 with a probability not tried."""

    def moment(kind: str) -> Any:
        return evaluate(next(a.args[1] for a in complete if a.kind == kind and a.args[0] == s), env)[()]

    m = moment("mean")
    if is_random_bit(s, law.given):
        chance = flint_numbers.to_fraction(m)
        if not 0 <= chance <= 1 or chance.denominator > MAX_DENOMINATOR:
            raise KernelError("no such probability is tried", code="not-settled")
        return [to_fmpq(k < chance.numerator) for k in range(chance.denominator)]
    points = CYCLE if s == law.cycle else FAMILIES[family] or ()
    width = evaluate(
        (lift(flint_numbers.to_fraction(moment("variance"))) * len(points) / sum(x * x for x in points)) ** Fraction(1, 2), env
    )[()]
    return [m + width * x for x in points]


def average_normal_forms(law: Coupling, complete: tuple, env: dict, family: str, readings: dict) -> list:
    """Return both sides from their normal forms, for a family of Gaussians or with the moments of another family where none is stated."""
    others = [s for s in law.randoms if not is_random_bit(s, law.given)]
    values = exact_evaluation.list_atom_values(env)
    if not FAMILIES[family]:
        complete += (gaussian(*others),) if others else ()
    else:
        others = [s for s in others if all(a.kind != "gaussian" or s not in a.args for a in law.given)]
        supports = {s.data[0]: list_support(s, law, complete, env, family) for s in others}
        values |= {
            ("moment", name, r): flint_numbers.average([x**r for x in support])
            for name, support in supports.items()
            for r in range(1, MAX_MOMENT + 1)
        }
    places = {n[1]: k + 1 for n, k in env.items() if isinstance(n, tuple)}
    key = (complete, *places.items())
    reading = readings[key] = readings.get(key) or NormalFormCache(complete, places)
    sides = [{(): evaluate_polynomial(reading.of(e), values)} for e in (law.left, law.right)]
    if any(not certainly_differ(evaluate_polynomial(p, values), to_fmpq(0)) for p in reading.facts.divisors):
        raise Undefined("a division by zero")
    return sides
