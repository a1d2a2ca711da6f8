"""The assumptions that a claim may state in `given=[...]`."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import KernelError
from ..printing.assumptions import assumption_words
from ..printing.plain_text import show_shape
from .expr import Expr, Term, free_indices, lift, matmul, node, require_real, require_scalar, show, walk


@dataclass(frozen=True)
class Assumption:
    """One assumption of a claim. Every assumption must be needed: the checker looks for a counterexample to the claim without it."""

    kind: str
    args: tuple[Expr, ...]

    def __str__(self) -> str:
        return describe_assumption(self)


def positive(x: Term) -> Assumption:
    """Assume that the scalar `x` is greater than zero. `positive(x - y)` says that `x` is greater than `y`.

    If `x` contains an open index, the assumption holds for each of its values.

    Examples:
        >>> from derivations.kernel import Derivation, log, positive, scalars
        >>> x, y = scalars("x y")
        >>> derivation = Derivation("Logarithms")
        >>> derivation.identity("product", log(x * y), log(x) + log(y), given=[positive(x), positive(y)])
        >>> print(positive(x - y))
        x - y is positive
    """
    return Assumption("positive", (require_nonrandom(require_real(x)),))


def nonnegative(x: Term) -> Assumption:
    """Assume that the scalar `x` is zero or greater. `nonnegative(h - 2)` says that `h` is at least 2.

    Examples:
        >>> from derivations.kernel import Derivation, nonnegative, sizes
        >>> h = sizes("h")
        >>> derivation = Derivation("Two or more heads")
        >>> derivation.inequality("square", 2 * h, h**2, because=h * (h - 2), given=[nonnegative(h - 2)])
    """
    return Assumption("nonnegative", (require_nonrandom(require_real(x)),))


def nonzero(x: Term) -> Assumption:
    """Assume that the scalar `x` is not zero, for example because it is a divisor. Sizes are positive and need no assumption.

    Examples:
        >>> from derivations.kernel import Derivation, nonzero, scalars
        >>> x, c = scalars("x c")
        >>> derivation = Derivation("Cancelling")
        >>> derivation.identity("cancel", c * x / c, x, given=[nonzero(c)])
    """
    return Assumption("nonzero", (require_nonrandom(x),))


def invertible(m: Expr) -> Assumption:
    """Assume that the matrix `m` has an inverse. It may be an expression without open indices, such as `eye(n) + A`. It must not be random.

    Examples:
        >>> from derivations.kernel import Derivation, eye, inverse, invertible, matrix, sizes
        >>> n = sizes("n")
        >>> M = matrix("M", n, n)
        >>> derivation = Derivation("An inverse")
        >>> derivation.identity("inverse", M @ inverse(M), eye(n), given=[invertible(M)])
        >>> R = inverse(eye(n) + M)
        >>> derivation.identity("resolvent", R @ M, M @ R, given=[invertible(eye(n) + M)])
    """
    (m,) = node("inverse", m).args  # a square matrix
    if is_random(m):
        raise KernelError(f"{show(m)} is random: it may be singular, and its inverse is not known here", code="random-not-allowed")
    if free_indices(m):
        raise KernelError(f"{show(m)} has an open index: a matrix that is assumed to be invertible has none", code="open-index")
    return Assumption("invertible", (m,))


def product_is(left: Expr, right: Expr, times: int) -> Assumption:
    """Assume that the product of two matrix symbols, transposed or not, is `times` the identity matrix.

    Use 0 for a product that vanishes, and 1 for an inverse or for orthonormal columns.

    Examples:
        >>> from derivations.kernel import Derivation, matrix, product_is, sizes
        >>> n, d = sizes("n d")
        >>> X, Q = matrix("X", n, d), matrix("Q", d, d)
        >>> derivation = Derivation("Turning queries and keys alike")
        >>> derivation.identity("turned", (X @ Q) @ (X @ Q).T, X @ X.T, given=[product_is(Q, Q.T, 1)])
    """
    left, right, multiple = lift(left), lift(right), lift(times)
    outer = matmul(left, right).shape
    if multiple.op != "const" or multiple.data and (len(outer) != 2 or outer[0] != outer[1]):
        raise KernelError(
            f"a product of shape {show_shape(outer)} is not {show(multiple)} times the identity: say 0, or a number", code="wrong-shape"
        )
    for x in (left, right):
        symbol_of(x.args[0] if x.op == "transpose" else x)
    return Assumption("product", (left, right, multiple))


def independent(*randoms: Expr) -> Assumption:
    """Assume that all entries of the random tensors are independent, both within each tensor and across tensors.

    Examples:
        >>> from derivations.kernel import Derivation, E, has_moment, independent, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> derivation = Derivation("A product of independent numbers")
        >>> given = [independent(q, k), has_moment(q, 1), has_moment(k, 1)]
        >>> derivation.identity("product", E(q[1] * k[1]), E(q[1]) * E(k[1]), given=given)
    """
    return Assumption("independent", tuple(map(require_random_symbol, randoms)))


def mean(x: Expr, value: Term) -> Assumption:
    """Assume that every entry of the random tensor `x` has mean `value`, a real number that is not random.

    Examples:
        >>> from derivations.kernel import Derivation, E, index, mean, random, sizes, total
        >>> d = sizes("d")
        >>> q, i = random("q", d), index("i", d)
        >>> derivation = Derivation("The mean of a sum")
        >>> derivation.identity("sum", E(total(q[i], i)), 3 * d, given=[mean(q, 3)])
    """
    return Assumption("mean", check_parameter("mean", x, value))


def variance(x: Expr, value: Term) -> Assumption:
    """Assume that every entry of the random tensor `x` has variance `value`, a real number that is not random.

    Examples:
        >>> from derivations.kernel import Derivation, Var, index, independent, random, sizes, total, variance
        >>> d = sizes("d")
        >>> q, i = random("q", d), index("i", d)
        >>> derivation = Derivation("The variance of a sum")
        >>> derivation.identity("sum", Var(total(q[i], i)), 3 * d, given=[independent(q), variance(q, 3)])
    """
    return Assumption("variance", check_parameter("variance", x, value))


def check_parameter(kind: str, x: Expr, value: Term) -> tuple[Expr, Expr]:
    """Return `x` and `value` if every entry of `x` may have `value` as its mean or variance, else raise KernelError."""
    x, value = require_random_symbol(x), require_nonrandom(require_real(value))
    if free_indices(value):
        instead = f"state one number, such as {kind}({show(x)}, 1), and write what differs beside {show(x)} in the claim"
        raise KernelError(
            f"{show(value)} has an open index, and every entry of {show(x)} has the same {kind}: {instead}", code="open-index"
        )
    return x, value


def has_moment(x: Expr, order: int) -> Assumption:
    """Assume that every entry of the random tensor `x` has a finite moment of this order, and so of each lower one.

    Order 1 means that the mean exists, order 2 the variance. A claim needs this for every random quantity it averages, up to the power
    that it averages: without it a side may have no value, since a Cauchy variable has no mean. `mean` implies order 1, `variance` order
    2, and `gaussian` every order.

    Examples:
        >>> from derivations.kernel import Derivation, E, has_moment, random, scalars
        >>> x, c = random("x"), scalars("c")
        >>> derivation = Derivation("A mean moves along")
        >>> derivation.identity("moved", E(x + c), E(x) + c, given=[has_moment(x, 1)])
        >>> print(has_moment(x, 1))
        each entry of x has a mean
    """
    x, power = require_random_symbol(x), lift(order)
    if power.op != "const" or power.data.denominator != 1 or power.data < 1:
        raise KernelError(f"the order of a moment is a positive integer, such as 1 for a mean, not {show(power)}", code="invalid-argument")
    return Assumption("moment", (x, power))


def gaussian(*randoms: Expr) -> Assumption:
    """Assume that every entry of the random tensors is normally distributed. Its moments then follow from mean and variance.

    Examples:
        >>> from derivations.kernel import Derivation, E, gaussian, mean, random, variance
        >>> x = random("x")
        >>> derivation = Derivation("A fourth moment")
        >>> derivation.identity("fourth", E(x**4), 3, given=[mean(x, 0), variance(x, 1), gaussian(x)])
    """
    return Assumption("gaussian", tuple(map(require_random_symbol, randoms)))


def representable(*xs: Term) -> Assumption:
    """Assume that each scalar is a number of fp32, so that rounding to fp32 does not change it.

    For a number of another format, write `rounded(x, "bf16")` in place of `x`.

    State a counterexample that shows that the assumption is needed in `without`: the simple numbers that the checker tries are representable.

    Examples:
        >>> from fractions import Fraction
        >>> from derivations.kernel import Derivation, representable, rounded, scalars
        >>> x = scalars("x")
        >>> derivation = Derivation("Nothing to round")
        >>> third = {representable(x): {x: Fraction(1, 3)}}
        >>> derivation.identity("kept", rounded(x), x, given=[representable(x)], without=third)
    """
    return Assumption("representable", tuple(require_nonrandom(require_real(x)) for x in xs))


def in_range() -> Assumption:
    """Assume that no rounding overflows or underflows.

    Examples:
        >>> from fractions import Fraction
        >>> from derivations.kernel import Derivation, in_range, rounded, scalars
        >>> a, b = scalars("a b")
        >>> derivation = Derivation("Half of a product")
        >>> tiny = {in_range(): {a: Fraction(1, 2**149), b: 1}}
        >>> derivation.identity("halved", rounded(a * b / 2), rounded(a * b) / 2, given=[in_range()], without=tiny)
    """
    return Assumption("in range", ())


def symbol_of(x: Term) -> Expr:
    """Return `x` as an expression. Raise KernelError unless it is a symbol."""
    if isinstance(x, str) or lift(x).op != "symbol":
        raise KernelError(f"this assumption is about a symbol, not {show(x)}", code="not-a-symbol")
    return lift(x)


def is_random(e: Expr) -> bool:
    """Return whether the tree contains a random symbol."""
    """Return whether the tree contains a random symbol."""
    return any(n.op == "symbol" and n.data[1] == "random" for n in walk(e))


def require_nonrandom(x: Term) -> Expr:
    """Return `x` as a scalar expression. Raise KernelError if it is a tensor or contains something random."""
    if is_random(x := require_scalar(x)):
        raise KernelError(
            f"{show(x)} holds what is random: name its mean or its variance, and state it of that: mean(w, m), positive(m)",
            code="random-not-allowed",
        )
    return x


def require_random_symbol(x: Expr) -> Expr:
    """Return `x`. Raise KernelError unless it is a random symbol."""
    if not is_random(x := symbol_of(x)):
        raise KernelError(f"{show(x)} is not random; make it with random(name, ...)", code="not-random")
    return x


def describe_assumption(a: Assumption, latex_names: bool = False) -> str:
    """Return the assumption in words. With `latex_names`, as pages need it, names are LaTeX between dollar signs."""
    open_ = sorted({i for x in a.args for i in free_indices(x)}, key=lambda i: i.data[0])
    return assumption_words(a.kind, a.args, open_, latex_names)
