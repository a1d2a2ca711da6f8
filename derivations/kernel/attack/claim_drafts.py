"""What a random claim is stated from, and how something slips in it: in a side, in what is assumed, in a certificate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace

from ..core.assumptions import Assumption, has_moment
from ..core.claims import bindings
from ..core.expr import Expr, free_indices, lift, symbols, takes_average, walk
from ..errors import KernelError
from .random_points import LARGE_OF_LAWS
from .random_trees import INDICES, SCALARS, SIZES, A, C, k, q, u, v, x, y
from .rewrite_rules import put, rewritten
from .tree_mutations import negated, slips_at

CONTEXT = SimpleNamespace(sizes=SIZES, names=(*SCALARS, u, v, A, C, q, k), indices=INDICES)


@dataclass(frozen=True)
class Draft:
    """What a claim is stated from."""

    kind: str
    sides: tuple
    given: tuple = ()
    because: tuple = ()
    at: tuple = ()
    towards: tuple = ()
    relation: str = "="


def slipped(draft: Draft, generator: Random) -> Draft:
    """The draft with one thing in it that may be wrong."""
    made = [in_a_side] * 4
    made += [weakened, weakened, dropped] * bool(draft.given)
    made += [another_order] * any(a.kind == "moment" for a in draft.given)
    made += [in_certificate, sign_of_certificate] * bool(draft.because)
    made += [sizes_matter] * (draft.kind == "identity" and not draft.sides[0].shape and not any(map(exponential_in_sizes, draft.sides)))
    made += [at_other_values] * bool(draft.at)
    return generator.choice(made)(draft, generator)


def exponential_in_sizes(e: Expr) -> bool:
    """Does a size stand in an exponent? Then no degree says how many sizes are enough, and SymPy's scope is the sizes that it tried."""
    return any(n.op == "pow" and any(s in set(walk(n.args[1])) for s in SIZES) for n in walk(e))


def every_node(e: Expr, path: tuple = ()):
    yield path, e
    for number, argument in enumerate(e.args):
        yield from every_node(argument, path + (number,))


def slips_here(node: Expr) -> list:
    """What may stand in the place of a node by a slip, of the same shape."""
    return [new for _, new in slips_at(CONTEXT)(node) if new.shape == node.shape]


def slip(e: Expr, generator: Random) -> Expr:
    """One slip, as people make them, at a random node."""
    choices = list(every_node(e))
    generator.shuffle(choices)
    for path, node in choices:
        found = slips_here(node)
        if found:
            try:
                new = put(e, path, generator.choice(found))
                if new.shape == e.shape:
                    return new
            except KernelError:
                continue
    return e + 1 if not e.shape else 2 * e


def in_a_side(draft: Draft, generator: Random) -> Draft:
    at = generator.randrange(len(draft.sides))
    return replace(draft, sides=(*draft.sides[:at], slip(draft.sides[at], generator), *draft.sides[at + 1 :]))


WEAKER = {"positive": ("nonnegative", "nonzero"), "nonnegative": ("nonzero",)}


def weakened(draft: Draft, generator: Random) -> Draft:
    """An assumption that holds up to its boundary, and now at it."""
    at = generator.randrange(len(draft.given))
    a = draft.given[at]
    kinds = WEAKER.get(a.kind, ())
    return with_given(draft, at, Assumption(generator.choice(kinds), a.args)) if kinds else dropped(draft, generator)


def dropped(draft: Draft, generator: Random) -> Draft:
    return with_given(draft, generator.randrange(len(draft.given)))


def another_order(draft: Draft, generator: Random) -> Draft:
    """A moment of another order than is averaged. That a mean or a variance has no open index the language sees to itself."""
    at = generator.choice([at for at, a in enumerate(draft.given) if a.kind == "moment"])
    random_, order = draft.given[at].args
    return with_given(draft, at, has_moment(random_, max(1, int(order.data) + generator.choice((-2, -1, -1)))))


def with_given(draft: Draft, at: int, *new: Assumption) -> Draft:
    return replace(draft, given=draft.given[:at] + new + draft.given[at + 1 :])


def in_certificate(draft: Draft, generator: Random) -> Draft:
    at = generator.randrange(len(draft.because))
    new = slip(draft.because[at], generator)
    return replace(draft, because=(*draft.because[:at], new, *draft.because[at + 1 :]))


def sign_of_certificate(draft: Draft, generator: Random) -> Draft:
    """A certificate that is the difference of the sides, and not known to have a sign."""
    if len(draft.because) != 1:
        return in_certificate(draft, generator)
    new = generator.choice((negated, lambda e: e - 1, lambda e: e * y, lambda e: slip(e, generator)))(draft.because[0])
    return replace(draft, because=(new,), sides=(draft.sides[0], rewritten(draft.sides[0] + new, generator, 2)))


def sizes_matter(draft: Draft, generator: Random) -> Draft:
    """A term that vanishes at every small size, and not at the largest at which the judge looks."""
    size, most = generator.choice(SIZES), generator.choice((2, 3, 4, 5, 6))
    if takes_average(*draft.sides):
        most = min(most, LARGE_OF_LAWS - 1)
    term: Expr = generator.choice((lift(1), x, size))
    for small in range(1, most + 1):
        term = term * (size - small)
    at = generator.randrange(2)
    return replace(draft, sides=tuple(e + term if number == at else e for number, e in enumerate(draft.sides)))


def at_other_values(draft: Draft, generator: Random) -> Draft:
    return replace(draft, at=values_at(draft.sides, generator, flat=True))


def values_at(sides: tuple, generator: Random, flat: bool = False) -> tuple:
    """A value for each name: small numbers; flat ones show little."""
    named = symbols(*sides)
    size = {s: 1 if flat else generator.randint(1, 2) for s in SIZES}

    def number():
        return generator.choice((0, 1)) if flat else generator.choice((0, 1, 2, -1, 3, Fraction(1, 2)))

    def filled(shape):
        return [filled(shape[1:]) for _ in range(size.get(shape[0], 1))] if shape else number()

    at = {s: size[s] if s.data[1] == "size" else filled(s.shape) for s in named.values()}
    return bindings(at | {a: generator.randint(1, size[a.data[1]]) for e in sides for a in free_indices(e) if a.data[1] in size})
