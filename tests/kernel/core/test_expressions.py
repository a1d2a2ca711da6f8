"""Every constructor of expressions: the value of the result against plain Python, its shape and its names."""

from fractions import Fraction

import pytest
import sympy as sp

from derivations.kernel import (
    E,
    I,
    absolute,
    array,
    diff,
    exp,
    eye,
    index,
    inverse,
    log,
    matrix,
    ones,
    paren,
    random,
    rank,
    rounded,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    zeros,
)
from derivations.kernel.core.expr import Expr, free_indices, lift, require_scalar, show, strip_brackets, symbols, walk
from derivations.kernel.errors import KernelError
from derivations.kernel.exact.exact_evaluation import evaluate
from derivations.kernel.exact.flint_numbers import to_fmpq, to_fraction
from tests.kernel.common import has_code

n, m = sizes("n m")
x, y = scalars("x y")
A, U = matrix("A", n, n), matrix("U", n, m)
z, w = vector("z", n), vector("w", m)
i, j, k = index("i", n), index("j", n), index("k", m)
ENV = {
    "n": 2,
    "m": 3,
    "x": {(): to_fmpq(3)},
    "y": {(): to_fmpq(Fraction(1, 2))},
    "A": {(p, r): to_fmpq(v) for p, row in enumerate([[1, 2], [3, 5]]) for r, v in enumerate(row)},
    "U": {(p, r): to_fmpq(10 * p + r) for p in range(2) for r in range(3)},
    "z": {(0,): to_fmpq(4), (1,): to_fmpq(-1)},
    "w": {(p,): to_fmpq(p + 1) for p in range(3)},
}


def value(e):
    """As a number, or as nested lists."""
    found = {place: to_fraction(v) for place, v in evaluate(e, ENV).items()}
    if not e.shape:
        return found[()]
    if len(e.shape) == 1:
        return [v for _, v in sorted(found.items())]
    return [[v for p, v in sorted(found.items()) if p[0] == row] for row in sorted({p[0] for p in found})]


VALUES = {
    "a sum": (lambda: x + y, Fraction(7, 2)),
    "a number plus": (lambda: 2 + x, 5),
    "a difference": (lambda: x - 1, 2),
    "a number less": (lambda: 1 - x, -2),
    "the negative": (lambda: -x, -3),
    "a product": (lambda: x * y, Fraction(3, 2)),
    "a number times": (lambda: 2 * x, 6),
    "a quotient": (lambda: x / y, 6),
    "a number divided": (lambda: 1 / x, Fraction(1, 3)),
    "a power": (lambda: x**2, 9),
    "a root": (lambda: sqrt(x + 1), 2),
    "a number times a vector": (lambda: x * z, [12, -3]),
    "a vector times a number": (lambda: z * x, [12, -3]),
    "a vector by entries": (lambda: z * z, [16, 1]),
    "a vector divided": (lambda: z / x, [Fraction(4, 3), Fraction(-1, 3)]),
    "a matrix times a vector": (lambda: A @ z, [2, 7]),
    "a vector times a matrix": (lambda: z @ U, [-10, -7, -4]),
    "a dot product": (lambda: z @ z, 17),
    "a transpose": (lambda: U.T, [[0, 10], [1, 11], [2, 12]]),
    "an inverse": (lambda: inverse(A), [[-5, 2], [3, -1]]),
    "an entry": (lambda: A[1, 1], 1),
    "a sum over two indices": (lambda: total(U[i, k], i, k), 36),
    "a sum of sums": (lambda: total(total(U[i, k], k), i), 36),
    "the identity": (lambda: eye(n), [[1, 0], [0, 1]]),
    "zeros": (lambda: zeros(n), [0, 0]),
    "zeros of two axes": (lambda: zeros(1, m), [[0, 0, 0]]),
    "ones": (lambda: ones(m), [1, 1, 1]),
    "a list": (lambda: array([1, x]), [1, 3]),
    "lists": (lambda: array([[1, 2, x], (4, 5, 6)]), [[1, 2, 3], [4, 5, 6]]),
    "no list": (lambda: array(x), 3),
    "an absolute value": (lambda: absolute(-x), 3),
    "an exponential": (lambda: exp(x - 3), 1),
    "a logarithm": (lambda: log(x - 2), 0),
    "brackets": (lambda: paren(z), [4, -1]),
    "a rounding": (lambda: rounded(2**24 + lift(1)), 2**24),
    "a rank": (lambda: rank(ones(n, n)), 1),
    "a size": (lambda: n * x, 6),
    "the last entry of what is written out": (lambda: array([5, 6, 7])[3], 7),
}


@pytest.mark.parametrize("write, expected", VALUES.values(), ids=VALUES)
def test_what_is_written_has_this_value(write, expected):
    assert value(write()) == expected


SHAPES = {
    "a product": (lambda: A @ U, (n, m)),
    "a matrix and a vector": (lambda: U.T @ z, (m,)),
    "a dot product": (lambda: z @ z, ()),
    "a transpose": (lambda: U.T, (m, n)),
    "a sum": (lambda: U + U, (n, m)),
    "the negative": (lambda: -U, (n, m)),
    "a scaled one": (lambda: x * U, (n, m)),
    "scaled behind": (lambda: U * x, (n, m)),
    "softmax": (lambda: softmax(U), (n, m)),
    "an exponential": (lambda: exp(U), (n, m)),
    "brackets": (lambda: paren(U), (n, m)),
    "an inverse": (lambda: inverse(A), (n, n)),
    "an entry": (lambda: U[i, k], ()),
    "a random tensor": (lambda: random("R", n, m, 2), (n, m, lift(2))),
    "a random number": (lambda: random("r"), ()),
    "a written one": (lambda: array([[1, 2, 3]]), (lift(1), lift(3))),
    "a cube": (lambda: array([[[1, 2]], [[3, 4]], [[5, 6]]]), (lift(3), lift(1), lift(2))),
    "an expectation": (lambda: E(z[1]), ()),
    "a rank": (lambda: rank(U), ()),
}


@pytest.mark.parametrize("write, shape", SHAPES.values(), ids=SHAPES)
def test_what_is_written_has_this_shape(write, shape):
    assert write().shape == shape


def test_one_name_gives_one_symbol_and_several_give_several():
    assert sizes("n") == n and scalars("x y") == (x, y) and sizes("n m") == (n, m)
    assert symbols(A @ U, total(x * z[i], i)) == {"A": A, "U": U, "x": x, "z": z, "n": n, "m": m}
    assert symbols(total(x, k)) == {"x": x, "m": m} and symbols(k + 0) == {"m": m} and symbols() == {}
    assert symbols(total(z[i], i) + w[index("i", m)]) == {"z": z, "w": w, "n": n, "m": m}  # an index is no symbol


def test_what_is_defined_is_no_symbol_but_what_it_stands_for_holds_some():
    p = Expr("defined", (x + 1,), (), ("p", "defined"))
    assert symbols(p * y) == {"x": x, "y": y}


FREE = {
    "none": (lambda: A @ A, set()),
    "of an entry": (lambda: U[i, k], {i, k}),
    "bound": (lambda: total(z[i], i), set()),
    "one bound": (lambda: total(U[i, k], k), {i}),
    "bound in one place": (lambda: total(z[i], i) + z[i], {i}),
    "of the same name and another size": (lambda: total(z[i] * w[index("i", m)], i), {index("i", m)}),
}


@pytest.mark.parametrize("write, free", FREE.values(), ids=FREE)
def test_the_indices_that_no_sum_binds(write, free):
    assert free_indices(write()) == free


def test_brackets_alone_do_not_make_another_expression():
    assert strip_brackets(paren(paren(x) + y) * 2) == (x + y) * 2 and strip_brackets(total(paren(z)[i], i)) == total(z[i], i)
    assert strip_brackets(x - y) != strip_brackets(y - x) and strip_brackets(paren(z)).shape == (n,)


def test_a_walk_meets_every_node_parents_first():
    assert [e.op for e in walk((x + 2) * y)] == ["mul", "add", "symbol", "const", "symbol"]


def test_a_derivative_is_by_what_it_says():
    assert diff(x * y, y).args == (x * y, y) and diff(x, z[1]).args[1] == z[1]


def test_numbers_are_exact():
    assert (
        lift(3).data == 3 and isinstance(lift(3).data, Fraction) and lift(x) is x and require_scalar(Fraction(1, 3)).data == Fraction(1, 3)
    )
    assert show(lift(Fraction(-1, 3))) == "-1/3" and I.op == "imaginary"


def test_a_number_of_sympys_is_a_number():
    assert lift(sp.Rational(3, 2)) == lift(Fraction(3, 2)) and x + sp.Integer(2) == x + 2


def test_a_format_that_is_not_known_is_met_with_those_that_are():
    with pytest.raises(KernelError, check=has_code("unknown-format")):
        rounded(x, "fp64")


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_place_within_a_known_size_is_an_index(place):
    assert value(array([5, 6, 7])[place]) == 4 + place


def test_the_first_place_of_a_symbolic_size_is_always_there():
    assert z[1].args[1] == lift(1)
    with pytest.raises(KernelError):
        z[2]
