"""The assumptions that a claim may be made under, and how they are worded."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import KernelError
from ..printing.latex import latex
from ..printing.plain import plain
from .expr import Expr, free_indices, lift, matmul, scalar_of, show, show_shape, walk


@dataclass(frozen=True)
class Assumption:
    kind: str
    args: tuple


def positive(x) -> Assumption:
    return Assumption("positive", (scalar_of(x),))


def nonnegative(x) -> Assumption:
    return Assumption("nonnegative", (scalar_of(x),))


def nonzero(x) -> Assumption:
    return Assumption("nonzero", (scalar_of(x),))


def invertible(m: Expr) -> Assumption:
    m = symbol_of(m)
    if m.data[1] == "random":
        raise KernelError(f"{show(m)} is random: it may be singular, and its inverse is not known here")
    return Assumption("invertible", (m,))


def product_is(left: Expr, right: Expr, times: int) -> Assumption:
    """The product of two matrix symbols, transposed or not, is `times` the identity: 0 for a zero product, 1 for an inverse."""
    left, right = lift(left), lift(right)
    outer = matmul(left, right).shape
    if times and (len(outer) != 2 or outer[0] != outer[1]):
        raise KernelError(f"a product of shape {show_shape(outer)} is not a multiple of the identity")
    for x in (left, right):
        symbol_of(x.args[0] if x.op == "transpose" else x)
    return Assumption("product", (left, right, lift(times)))


def independent(*randoms: Expr) -> Assumption:
    """All the entries, of each and across them, are independent of one another."""
    return Assumption("independent", tuple(map(random_of, randoms)))


def mean(x: Expr, value) -> Assumption:
    return Assumption("mean", (random_of(x), parameter(value)))


def variance(x: Expr, value) -> Assumption:
    return Assumption("variance", (random_of(x), parameter(value)))


def parameter(value) -> Expr:
    """A number that a distribution may have as mean or variance: real, and not random itself."""
    if any(n.op == "imaginary" or n.op == "symbol" and n.data[1] == "random" for n in walk(scalar_of(value))):
        raise KernelError(f"{show(lift(value))} cannot be a mean or a variance: it is complex, or random itself")
    return scalar_of(value)


def gaussian(*randoms: Expr) -> Assumption:
    return Assumption("gaussian", tuple(map(random_of, randoms)))


def representable(*xs: Expr) -> Assumption:
    """Each is a number of the floating-point format already."""
    return Assumption("representable", tuple(map(scalar_of, xs)))


def in_range() -> Assumption:
    """No exponent leaves the format's range: no overflow, no underflow."""
    return Assumption("in range", ())


def symbol_of(x: Expr) -> Expr:
    x = lift(x)
    if x.op != "symbol":
        raise KernelError(f"this assumption is about a symbol, not {show(x)}")
    return x


def random_of(x: Expr) -> Expr:
    x = symbol_of(x)
    if x.data[1] != "random":
        raise KernelError(f"{show(x)} is not random; make it with random(name, ...)")
    return x


def assumption_text(a: Assumption, latex_names: bool = False) -> str:
    """In words. For pages, names are LaTeX between dollars."""

    def shown(x):
        return f"${latex(x)}$" if latex_names else plain(x)

    names = list(map(shown, a.args))
    return {
        "positive": "{0} is positive",
        "nonnegative": "{0} is not negative",
        "nonzero": "{0} is not zero",
        "invertible": "{0} is invertible",
        "independent": "the entries of " + " and ".join(names) + " are independent",
        "mean": "each entry of {0} has mean {1}",
        "variance": "each entry of {0} has variance {1}",
        "gaussian": " and ".join(names) + (" is" if len(names) == 1 else " are") + " Gaussian",
        "product": "the product of {0} and {1} is {2} times the identity",
        "representable": " and ".join(names) + " are floating-point numbers",
        "in range": "no exponent leaves the format's range",
    }[a.kind].format(*names) + "".join(f", for every {shown(i)}" for i in open_indices(a))


def open_indices(a) -> list:
    return sorted(set().union(*map(free_indices, a.args)), key=lambda i: i.data[0])
