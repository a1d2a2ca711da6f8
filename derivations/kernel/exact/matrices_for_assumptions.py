"""Turns drawn values into matrices that are invertible or have the stated products, which random values hardly ever do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, product
from operator import add

from flint import fmpq, fmpq_mat

from ..core.assumptions import Assumption
from ..core.expr import Expr, symbols
from .flint_numbers import to_fmpq

REFLECTION_ENTRIES = (3, -1, 2, 1, -2)  # the vector that defines a reflection, repeated as needed
MAX_SCALED = 3  # for at most this many matrices, every combination of multiples is tried


def generate_with_matrices(env: dict, assumed: list[Assumption]) -> Iterator[dict]:
    """Yield these values unchanged, then with matrices in their place that may satisfy the assumptions "invertible" and "product"."""
    yield env
    products = [a for a in assumed if a.kind == "product"]
    in_product = {x.data[0]: x for a in products for x in list_matrices(a)}
    inverted = symbols(*(x for a in assumed if a.kind == "invertible" for x in a.args))
    alone = {name for name, s in inverted.items() if len(s.shape) == 2} - set(in_product)
    if not in_product and not alone:
        return
    yield from ({**env, **{name: like(env[name]) for name in (*alone, *in_product)}} for like in TRANSFORMATIONS)
    if not in_product:
        return
    dominated = {**env, **{name: make_dominant(env[name]) for name in alone}}
    for make in (make_identity, make_reflection):
        yield from ({**dominated, **matrices} for matrices in generate_scaled(env, in_product, products, make))
    yield {**dominated, **{name: like for a in products for name, like in make_zero_product(env, a)}}
    yield {**dominated, **{name: like for a in products for name, like in make_inverse_pair(env, a)}}


def list_matrices(a: Assumption) -> list[Expr]:
    """Return the two matrices of a stated product, without transposes."""
    return [x.args[0] if x.op == "transpose" else x for x in a.args[:2]]


def rows_and_columns(entries: dict) -> tuple[int, ...]:
    """Return the shape of a matrix or a vector."""
    return tuple(1 + k for k in max(entries))


def on_diagonal(place: tuple) -> bool:
    """Return whether a place is on the diagonal."""
    return len(set(place)) == 1


def make_dominant(entries: dict) -> dict:
    """Return the matrix with its diagonal increased until it is diagonally dominant, and so invertible."""
    most = sum((abs(v) for v in entries.values()), to_fmpq(1))
    return {place: v + most if on_diagonal(place) else v for place, v in entries.items()}


def make_identity(entries: dict, after: int = 0) -> dict:
    """Return the identity, truncated to the shape. If it is not square, take the rows or columns from number `after` on."""
    return {place: to_fmpq(int(on_diagonal(shifted))) for place, shifted in shift_places(entries, after)}


def make_reflection(entries: dict, after: int = 0) -> dict:
    """Return the same part of a reflection, which is its own inverse and its own transpose."""
    most = max(rows_and_columns(entries))
    v = [to_fmpq(REFLECTION_ENTRIES[k % len(REFLECTION_ENTRIES)]) for k in range(most)]
    length = sum((x * x for x in v), to_fmpq(0))
    return {
        place: to_fmpq(int(on_diagonal(shifted))) - 2 * v[shifted[0] % most] * v[shifted[-1] % most] / length
        for place, shifted in shift_places(entries, after)
    }


def shift_places(entries: dict, after: int) -> Iterator[tuple[tuple, tuple]]:
    """Yield (place, the place `after` rows or columns further along the shorter axis) for each entry."""
    sizes = rows_and_columns(entries)
    steps = [after * (size < max(sizes)) for size in sizes]
    for place in entries:
        yield place, tuple(map(add, place, steps))


def scale_down(entries: dict) -> dict:
    """Return the matrix divided by a number that makes the sum of each row and column less than 1."""
    most = 4 * max(rows_and_columns(entries)) * entries[min(entries)]
    return {place: v / most for place, v in entries.items()}


TRANSFORMATIONS = (
    make_identity,
    make_dominant,
    lambda entries: {p: -v for p, v in make_identity(entries).items()},
    lambda entries: {p: v + on_diagonal(p) for p, v in entries.items()},
    lambda entries: {p: v - on_diagonal(p) for p, v in entries.items()},
    lambda entries: scale_down(make_dominant(entries)),
    lambda entries: {p: to_fmpq(0) for p in entries},
)


def generate_scaled(env: dict, in_product: dict, products: list, make) -> Iterator[dict]:
    """Yield identities or reflections, or different rows of one for each matrix, times multiples that may give the stated products."""
    multiples = {to_fmpq(a.args[2].data) for a in products} - {0}
    roots = {root for c in multiples if (root := rational_root(c))}
    numbers = sorted({to_fmpq(1), *multiples, *roots}) if len(in_product) <= MAX_SCALED else [to_fmpq(1)]
    after = [*accumulate((min(rows_and_columns(env[name])) for name in in_product), initial=0)]
    for chosen, rows in product(product(numbers, repeat=len(in_product)), ([0] * len(in_product), after)):
        yield {name: {p: c * v for p, v in make(env[name], k).items()} for name, c, k in zip(in_product, chosen, rows)}


def rational_root(c: fmpq) -> fmpq | None:
    """Return the square root of a rational if it is rational, otherwise None."""
    return fmpq(c.p.isqrt(), c.q.isqrt()) if c > 0 and c.p.is_square() and c.q.is_square() else None


def make_zero_product(env: dict, a: Assumption) -> list:
    """Return two matrices with product 0: the drawn values, each set to 0 on a different half of the axis that is summed over."""
    ends = []
    for x, factor, first in zip(list_matrices(a), a.args, (True, False)):
        axis = (1 if first else 0) if factor.op != "transpose" else (0 if first else 1)
        entries = env[x.data[0]]
        axis = min(axis, len(next(iter(entries))) - 1)
        half = rows_and_columns(entries)[axis] // 2
        ends.append((x.data[0], {p: v if (p[axis] < half) == first else to_fmpq(0) for p, v in entries.items()}))
    return ends


def make_inverse_pair(env: dict, a: Assumption) -> list:
    """Return a diagonally dominant matrix and its inverse times the stated multiple. Return [] if they are not square."""
    first, second = list_matrices(a)
    left = make_dominant(env[first.data[0]])
    size = rows_and_columns(left)
    if first == second or size != rows_and_columns(env[second.data[0]]) or len(set(size)) > 1:
        return []
    n = size[0]
    transposed = [factor.op == "transpose" for factor in a.args[:2]]
    inverse = fmpq_mat(n, n, [left[(j, i) if transposed[0] else (i, j)] for i in range(n) for j in range(n)]).inv()
    c = to_fmpq(a.args[2].data)
    return [(first.data[0], left), (second.data[0], {p: c * inverse[p[::-1] if transposed[1] else p] for p in left})]


def has_no_rational_example(a: Assumption) -> bool:
    """Return whether a product of a matrix with its own transpose is stated to be c times the identity, where c has no rational root.

    The search uses rational numbers only.
    """
    return a.kind == "product" and len(set(list_matrices(a))) == 1 and bool(a.args[2].data) and not rational_root(to_fmpq(a.args[2].data))
