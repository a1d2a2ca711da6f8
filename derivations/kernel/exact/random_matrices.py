"""Matrices that have an inverse, or the products that are stated of them, made of what was drawn: one in a thousand would have them by chance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, product
from operator import add

from flint import fmpq, fmpq_mat

from ..core.assumptions import Assumption
from ..core.expr import Expr
from .exact_evaluation import number

REFLECTION_ENTRIES = (3, -1, 2, 1, -2)  # what a reflection is made of
MAX_SCALED = 3  # up to how many matrices each is multiplied by each number


def with_matrices(env: dict, assumed: list[Assumption]) -> Iterator[dict]:
    """These values as they are, and with such matrices in their place as may be invertible, and may have the products, that are stated."""
    yield env
    products = [a for a in assumed if a.kind == "product"]
    tied = {x.data[0]: x for a in products for x in list_matrices(a)}
    alone = {a.args[0].data[0] for a in assumed if a.kind == "invertible"} - set(tied)
    if not tied and not alone:
        return
    yield from ({**env, **{name: like(env[name]) for name in (*alone, *tied)}} for like in TRANSFORMATIONS)
    if not tied:
        return
    near = {**env, **{name: make_dominant(env[name]) for name in alone}}
    for turned in (make_identity, make_reflection):
        yield from ({**near, **one} for one in generate_scaled(env, tied, products, turned))
    yield {**near, **{name: like for a in products for name, like in make_zero_product(env, a)}}
    yield {**near, **{name: like for a in products for name, like in make_inverse_pair(env, a)}}


def list_matrices(a: Assumption) -> list[Expr]:
    return [x.args[0] if x.op == "transpose" else x for x in a.args[:2]]


def rows_and_columns(entries: dict) -> tuple[int, ...]:
    """How many there are, by the place of the last entry."""
    return tuple(1 + k for k in max(entries))


def on_diagonal(place: tuple) -> bool:
    return len(set(place)) == 1


def make_dominant(entries: dict) -> dict:
    """The same, with more on its diagonal than beside it."""
    most = sum((abs(v) for v in entries.values()), number(1))
    return {place: v + most if on_diagonal(place) else v for place, v in entries.items()}


def make_identity(entries: dict, after: int = 0) -> dict:
    """The identity, as far as it goes; of one that is not square, the rows or columns after so many."""
    return {place: number(int(on_diagonal(there))) for place, there in shift_places(entries, after)}


def make_reflection(entries: dict, after: int = 0) -> dict:
    """The same of a reflection in what is orthogonal to the numbers that were drawn: it is its own inverse and transpose."""
    most = max(rows_and_columns(entries))
    v = [number(REFLECTION_ENTRIES[k % len(REFLECTION_ENTRIES)]) for k in range(most)]
    length = sum((x * x for x in v), number(0))
    return {
        place: number(int(on_diagonal(there))) - 2 * v[there[0] % most] * v[there[-1] % most] / length
        for place, there in shift_places(entries, after)
    }


def shift_places(entries: dict, after: int) -> Iterator[tuple[tuple, tuple]]:
    """(place, the place so many rows or columns on, along the shorter axis) of each entry."""
    sizes = rows_and_columns(entries)
    steps = [after * (size < max(sizes)) for size in sizes]
    for place in entries:
        yield place, tuple(map(add, place, steps))


def scale_down(entries: dict) -> dict:
    """The same divided by one number, so that each row and each column comes to less than 1."""
    most = 4 * max(rows_and_columns(entries)) * entries[min(entries)]
    return {place: v / most for place, v in entries.items()}


TRANSFORMATIONS = (
    make_identity,
    make_dominant,
    lambda entries: {p: -v for p, v in make_identity(entries).items()},
    lambda entries: {p: v + on_diagonal(p) for p, v in entries.items()},
    lambda entries: {p: v - on_diagonal(p) for p, v in entries.items()},
    lambda entries: scale_down(make_dominant(entries)),
    lambda entries: {p: number(0) for p in entries},
)


def generate_scaled(env: dict, tied: dict, products: list, turned) -> Iterator[dict]:
    """The identity or a reflection in the place of each matrix, or other rows for each, times what may give the multiples that are stated."""
    multiples = {number(a.args[2].data) for a in products} - {0}
    roots = {root for c in multiples if (root := rational_root(c))}
    numbers = sorted({number(1), *multiples, *roots}) if len(tied) <= MAX_SCALED else [number(1)]
    after = [*accumulate((min(rows_and_columns(env[name])) for name in tied), initial=0)]
    for chosen, rows in product(product(numbers, repeat=len(tied)), ([0] * len(tied), after)):
        yield {name: {p: c * v for p, v in turned(env[name], k).items()} for name, c, k in zip(tied, chosen, rows)}


def rational_root(c: fmpq) -> fmpq | None:
    return fmpq(c.p.isqrt(), c.q.isqrt()) if c > 0 and c.p.is_square() and c.q.is_square() else None


def make_zero_product(env: dict, a: Assumption) -> list:
    """What was drawn for two matrices, each 0 on another half of the axis that they are multiplied along: their product is 0."""
    ends = []
    for x, whole, first in zip(list_matrices(a), a.args, (True, False)):
        axis = (1 if first else 0) if whole.op != "transpose" else (0 if first else 1)
        entries = env[x.data[0]]
        axis = min(axis, len(next(iter(entries))) - 1)
        half = rows_and_columns(entries)[axis] // 2
        ends.append((x.data[0], {p: v if (p[axis] < half) == first else number(0) for p, v in entries.items()}))
    return ends


def make_inverse_pair(env: dict, a: Assumption) -> list:
    """A matrix with much on its diagonal, and its inverse times the multiple that is stated, where both are square."""
    first, second = list_matrices(a)
    left = make_dominant(env[first.data[0]])
    size = rows_and_columns(left)
    if first == second or size != rows_and_columns(env[second.data[0]]) or len(set(size)) > 1:
        return []
    n = size[0]
    turned = [whole.op == "transpose" for whole in a.args[:2]]
    inverse = fmpq_mat(n, n, [left[(j, i) if turned[0] else (i, j)] for i in range(n) for j in range(n)]).inv()
    c = number(a.args[2].data)
    return [(first.data[0], left), (second.data[0], {p: c * inverse[p[::-1] if turned[1] else p] for p in left})]


def has_no_rational_example(a: Assumption) -> bool:
    """A product of a matrix and its transpose that is the identity times a number without a rational root: numbers are rational here."""
    return a.kind == "product" and len(set(list_matrices(a))) == 1 and bool(a.args[2].data) and not rational_root(number(a.args[2].data))
