"""Drafts of random claims, and mutations of drafts: of a side, an assumption, a nonnegative form or a counterexample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace

from ..core.assumptions import Assumption, has_moment
from ..core.claims import read_values
from ..core.expr import Expr, contains_average, free_indices, lift, symbols, walk
from ..errors import KernelError
from .random_points import LARGE_IF_COSTLY
from .random_trees import INDICES, SCALARS, SIZES, A, C, k, q, u, v, x, y
from .rewrite_rules import replace_node, rewrite_randomly
from .tree_mutations import negate, node_mutator

CONTEXT = SimpleNamespace(sizes=SIZES, names=(*SCALARS, u, v, A, C, q, k), indices=INDICES)


@dataclass(frozen=True)
class Draft:
    """The parts from which a claim is stated; the names are those of the fields of `Claim`."""

    kind: str
    sides: tuple
    given: tuple = ()
    because: tuple = ()
    at: tuple = ()
    towards: tuple = ()
    relation: str = "="


def mutate_draft(draft: Draft, generator: Random) -> Draft:
    """Return the draft with one random mutation, which often makes it false."""
    mutations = [mutate_side] * 4
    mutations += [weaken_assumption, weaken_assumption, drop_assumption] * bool(draft.given)
    mutations += [change_moment_order] * any(a.kind == "moment" for a in draft.given)
    mutations += [mutate_nonnegative_form, break_nonnegativity] * bool(draft.because)
    mutations += [add_term_of_sizes] * (
        draft.kind == "identity" and not draft.sides[0].shape and not any(map(has_no_degree_in_sizes, draft.sides))
    )
    mutations += [flatten_values] * bool(draft.at)
    return generator.choice(mutations)(draft, generator)


def has_no_degree_in_sizes(e: Expr) -> bool:
    """Return whether a size occurs in an exponent, or positions are compared.

    No degree then bounds how many sizes have to be tried, and SymPy's scope is the sizes that it tried.
    """
    return any(n.op == "where" or n.op == "pow" and any(s in set(walk(n.args[1])) for s in SIZES) for n in walk(e))


def nodes_with_paths(e: Expr, path: tuple = ()) -> Iterator[tuple[tuple, Expr]]:
    """Yield (path, node) for each node of a tree; a path is a tuple of argument positions from the root."""
    yield path, e
    for number, argument in enumerate(e.args):
        yield from nodes_with_paths(argument, path + (number,))


def list_node_mutations(node: Expr) -> list:
    """Return the mutations of a node that keep its shape."""
    return [new for _, new in node_mutator(CONTEXT)(node) if new.shape == node.shape]


def mutate_randomly(e: Expr, generator: Random) -> Expr:
    """Return the tree with one mutation at a random node; if there is none, the tree plus 1 or twice the tree."""
    choices = list(nodes_with_paths(e))
    generator.shuffle(choices)
    for path, node in choices:
        mutations = list_node_mutations(node)
        if mutations:
            try:
                new = replace_node(e, path, generator.choice(mutations))
                if new.shape == e.shape:
                    return new
            except KernelError:  # the mutation does not fit the shapes or indices around it
                continue
    return e + 1 if not e.shape else 2 * e


def mutate_side(draft: Draft, generator: Random) -> Draft:
    """Mutate a random side."""
    at = generator.randrange(len(draft.sides))
    return replace(draft, sides=(*draft.sides[:at], mutate_randomly(draft.sides[at], generator), *draft.sides[at + 1 :]))


WEAKER = {"positive": ("nonnegative", "nonzero"), "nonnegative": ("nonzero",)}


def weaken_assumption(draft: Draft, generator: Random) -> Draft:
    """Replace a sign assumption by a weaker one that includes the boundary; drop any other assumption."""
    at = generator.randrange(len(draft.given))
    a = draft.given[at]
    kinds = WEAKER.get(a.kind, ())
    return with_given(draft, at, Assumption(generator.choice(kinds), a.args)) if kinds else drop_assumption(draft, generator)


def drop_assumption(draft: Draft, generator: Random) -> Draft:
    """Drop a random assumption."""
    return with_given(draft, generator.randrange(len(draft.given)))


def change_moment_order(draft: Draft, generator: Random) -> Draft:
    """Change the order of a moment that is assumed to exist."""
    at = generator.choice([at for at, a in enumerate(draft.given) if a.kind == "moment"])
    variable, order = draft.given[at].args
    return with_given(draft, at, has_moment(variable, max(1, int(order.data) + generator.choice((-2, -1, -1)))))


def with_given(draft: Draft, at: int, *new: Assumption) -> Draft:
    """Return the draft with the assumption at position `at` replaced by the new ones."""
    return replace(draft, given=draft.given[:at] + new + draft.given[at + 1 :])


def mutate_nonnegative_form(draft: Draft, generator: Random) -> Draft:
    """Mutate an expression of `because`: the nonnegative form of an inequality, or a factor of a matrix."""
    at = generator.randrange(len(draft.because))
    new = mutate_randomly(draft.because[at], generator)
    return replace(draft, because=(*draft.because[:at], new, *draft.because[at + 1 :]))


def break_nonnegativity(draft: Draft, generator: Random) -> Draft:
    """Replace the nonnegative form by one that may be negative, and the right side so that the form is still the difference."""
    if len(draft.because) != 1:
        return mutate_nonnegative_form(draft, generator)
    new = generator.choice((negate, lambda e: e - 1, lambda e: e * y, lambda e: mutate_randomly(e, generator)))(draft.because[0])
    return replace(draft, because=(new,), sides=(draft.sides[0], rewrite_randomly(draft.sides[0] + new, generator, 2)))


def add_term_of_sizes(draft: Draft, generator: Random) -> Draft:
    """Add a term to one side that is 0 at every small size, but not at the largest size that the judge tries."""
    size, most = generator.choice(SIZES), generator.choice((2, 3, 4, 5, 6))
    if contains_average(*draft.sides):
        most = min(most, LARGE_IF_COSTLY - 1)
    term: Expr = generator.choice((lift(1), x, size))
    for small in range(1, most + 1):
        term = term * (size - small)
    at = generator.randrange(2)
    return replace(draft, sides=tuple(e + term if number == at else e for number, e in enumerate(draft.sides)))


def flatten_values(draft: Draft, generator: Random) -> Draft:
    """Replace the counterexample by values of 0 and 1 at sizes of 1."""
    return replace(draft, at=draw_values(draft.sides, generator, flat=True))


def draw_values(sides: tuple, generator: Random, flat: bool = False) -> tuple:
    """Return a random counterexample: small numbers, sizes of 1 or 2, indices in their range. With flat=True, 0 or 1 at sizes of 1."""
    named = symbols(*sides)
    size = {s: 1 if flat else generator.randint(1, 2) for s in SIZES}

    def number() -> int | Fraction:
        return generator.choice((0, 1)) if flat else generator.choice((0, 1, 2, -1, 3, Fraction(1, 2)))

    def nested(shape: tuple):
        return [nested(shape[1:]) for _ in range(size.get(shape[0], 1))] if shape else number()

    at = {s: size[s] if s.data[1] == "size" else nested(s.shape) for s in named.values()}
    return read_values(at | {a: generator.randint(1, size[a.data[1]]) for e in sides for a in free_indices(e) if a.data[1] in size})
