"""The assumptions that a claim may be made under."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import KernelError
from ..printing.assumptions import assumption_words
from ..printing.plain_text import show_shape
from .expr import Expr, Term, free_indices, lift, matmul, real_of, scalar_of, show, walk


@dataclass(frozen=True)
class Assumption:
    """Something that a claim is made under: `given=[...]` lists them. Each has to be needed, and a claim shows what breaks without it."""

    kind: str
    args: tuple[Expr, ...]

    def __str__(self) -> str:
        return assumption_text(self)


def positive(x: Term) -> Assumption:
    """The scalar x is greater than zero. `positive(x - y)` says that x is greater than y.

    An open index makes it one assumption for each of its values.

    Examples:
        >>> from derivations.kernel import Derivation, log, positive, scalars
        >>> x, y = scalars("x y")
        >>> derivation = Derivation("Logarithms")
        >>> derivation.identity("product", log(x * y), log(x) + log(y), given=[positive(x), positive(y)])
        >>> print(positive(x - y))
        x - y is positive
    """
    return Assumption("positive", (fixed(real_of(x)),))


def nonnegative(x: Term) -> Assumption:
    """The scalar x is zero or greater. `nonnegative(h - 2)` says that h is 2 or more.

    Examples:
        >>> from derivations.kernel import Derivation, nonnegative, sizes
        >>> h = sizes("h")
        >>> derivation = Derivation("Two or more heads")
        >>> derivation.inequality("square", 2 * h, h**2, because=h * (h - 2), given=[nonnegative(h - 2)])
    """
    return Assumption("nonnegative", (fixed(real_of(x)),))


def nonzero(x: Term) -> Assumption:
    """The scalar x is not zero: what is divided by has to be. Sizes are positive, and need no assumption.

    Examples:
        >>> from derivations.kernel import Derivation, nonzero, scalars
        >>> x, c = scalars("x c")
        >>> derivation = Derivation("Cancelling")
        >>> derivation.identity("cancel", c * x / c, x, given=[nonzero(c)])
    """
    return Assumption("nonzero", (fixed(x),))


def invertible(m: Expr) -> Assumption:
    """The matrix symbol m has an inverse. It is about a symbol, not a product, and not about something random.

    Examples:
        >>> from derivations.kernel import Derivation, eye, inverse, invertible, matrix, sizes
        >>> n = sizes("n")
        >>> M = matrix("M", n, n)
        >>> derivation = Derivation("An inverse")
        >>> derivation.identity("inverse", M @ inverse(M), eye(n), given=[invertible(M)])
    """
    if is_random(m := symbol_of(m)):
        raise KernelError(f"{show(m)} is random: it may be singular, and its inverse is not known here")
    return Assumption("invertible", (m,))


def product_is(left: Expr, right: Expr, times: int) -> Assumption:
    """The product of two matrix symbols, transposed or not, is `times` the identity: 0 for a zero product, 1 for an inverse.

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
        raise KernelError(f"a product of shape {show_shape(outer)} is not {show(multiple)} times the identity: say 0, or a number")
    for x in (left, right):
        symbol_of(x.args[0] if x.op == "transpose" else x)
    return Assumption("product", (left, right, multiple))


def independent(*randoms: Expr) -> Assumption:
    """All the entries, of each of the random tensors and across them, are independent of one another.

    Examples:
        >>> from derivations.kernel import Derivation, E, has_moment, independent, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> derivation = Derivation("A product of independent numbers")
        >>> given = [independent(q, k), has_moment(q, 1), has_moment(k, 1)]
        >>> derivation.identity("product", E(q[1] * k[1]), E(q[1]) * E(k[1]), given=given)
    """
    return Assumption("independent", tuple(map(random_of, randoms)))


def mean(x: Expr, value: Term) -> Assumption:
    """Each entry of the random tensor x has this mean: a real number that is not random itself.

    Examples:
        >>> from derivations.kernel import Derivation, E, index, mean, random, sizes, total
        >>> d = sizes("d")
        >>> q, i = random("q", d), index("i", d)
        >>> derivation = Derivation("The mean of a sum")
        >>> derivation.identity("sum", E(total(q[i], i)), 3 * d, given=[mean(q, 3)])
    """
    return Assumption("mean", parameter("mean", x, value))


def variance(x: Expr, value: Term) -> Assumption:
    """Each entry of the random tensor x has this variance: a real number that is not random itself.

    Examples:
        >>> from derivations.kernel import Derivation, Var, index, independent, random, sizes, total, variance
        >>> d = sizes("d")
        >>> q, i = random("q", d), index("i", d)
        >>> derivation = Derivation("The variance of a sum")
        >>> derivation.identity("sum", Var(total(q[i], i)), 3 * d, given=[independent(q), variance(q, 3)])
    """
    return Assumption("variance", parameter("variance", x, value))


def parameter(kind: str, x: Expr, value: Term) -> tuple[Expr, Expr]:
    """A random tensor, and a number that each of its entries may have as mean or variance: real, not random itself, and one for all."""
    x, value = random_of(x), fixed(real_of(value))
    if free_indices(value):
        instead = f"state one number, such as {kind}({show(x)}, 1), and write what differs beside {show(x)} in the claim"
        raise KernelError(f"{show(value)} has an open index, and every entry of {show(x)} has the same {kind}: {instead}")
    return x, value


def has_moment(x: Expr, order: int) -> Assumption:
    """Each entry of the random tensor x has a finite moment of this order, and so of each lower one: a mean for 1, a variance for 2.

    A claim states it of whatever it averages, up to the power that it averages. A mean that is stated says it for the order 1, a variance
    for 2, and that something is Gaussian for all. Without it a side may have no value: a Cauchy variable has no mean.

    Examples:
        >>> from derivations.kernel import Derivation, E, has_moment, random, scalars
        >>> x, c = random("x"), scalars("c")
        >>> derivation = Derivation("A mean moves along")
        >>> derivation.identity("moved", E(x + c), E(x) + c, given=[has_moment(x, 1)])
        >>> print(has_moment(x, 1))
        each entry of x has a mean
    """
    x, power = random_of(x), lift(order)
    if power.op != "const" or power.data.denominator != 1 or power.data < 1:
        raise KernelError(f"the order of a moment is a positive integer, such as 1 for a mean, not {show(power)}")
    return Assumption("moment", (x, power))


def gaussian(*randoms: Expr) -> Assumption:
    """Each entry of the random tensors is normally distributed, so that its higher moments follow from mean and variance.

    Examples:
        >>> from derivations.kernel import Derivation, E, gaussian, mean, random, variance
        >>> x = random("x")
        >>> derivation = Derivation("A fourth moment")
        >>> derivation.identity("fourth", E(x**4), 3, given=[mean(x, 0), variance(x, 1), gaussian(x)])
    """
    return Assumption("gaussian", tuple(map(random_of, randoms)))


def representable(*xs: Term) -> Assumption:
    """Each is a number of the floating-point format already, so that rounding leaves it as it is.

    What shows that it is needed has to be named, with `without`: few numbers are not representable, where one tries simple ones.

    Examples:
        >>> from fractions import Fraction
        >>> from derivations.kernel import Derivation, representable, rounded, scalars
        >>> x = scalars("x")
        >>> derivation = Derivation("Nothing to round")
        >>> third = {representable(x): {x: Fraction(1, 3)}}
        >>> derivation.identity("kept", rounded(x), x, given=[representable(x)], without=third)
    """
    return Assumption("representable", tuple(fixed(real_of(x)) for x in xs))


def in_range() -> Assumption:
    """No exponent leaves the format's range: no overflow, no underflow.

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
    if isinstance(x, str) or lift(x).op != "symbol":
        raise KernelError(f"this assumption is about a symbol, not {show(x)}")
    return lift(x)


def is_random(e: Expr) -> bool:
    return any(n.op == "symbol" and n.data[1] == "random" for n in walk(e))


def fixed(x: Term) -> Expr:
    if is_random(x := scalar_of(x)):
        raise KernelError(f"{show(x)} holds what is random: name its mean or its variance, and state it of that: mean(w, m), positive(m)")
    return x


def random_of(x: Expr) -> Expr:
    if not is_random(x := symbol_of(x)):
        raise KernelError(f"{show(x)} is not random; make it with random(name, ...)")
    return x


def assumption_text(a: Assumption, latex_names: bool = False) -> str:
    """In words. For pages, names are LaTeX between dollars."""
    open_ = sorted({i for x in a.args for i in free_indices(x)}, key=lambda i: i.data[0])
    return assumption_words(a.kind, a.args, open_, latex_names)
