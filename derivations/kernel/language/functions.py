"""More functions. Each is a `function` node with a name, and each witness has its own definition of the name."""

from __future__ import annotations

from ..core.constructors import absolute, function
from ..core.expr import Expr, Term, lift, show
from ..core.operators import is_complex
from ..errors import KernelError
from ..printing.plain_text import show_shape


def cos(x: Term) -> Expr:
    """Return the cosine of a number, or of each entry of a tensor, in radians.

    Examples:
        >>> from derivations.kernel import Derivation, cos, scalars, sin
        >>> x, y = scalars("x y")
        >>> derivation = Derivation("Angles")
        >>> derivation.identity("sum", cos(x + y), cos(x) * cos(y) - sin(x) * sin(y))
    """
    return function("cos", x)


def sin(x: Term) -> Expr:
    """Return the sine of a number, or of each entry of a tensor, in radians.

    Examples:
        >>> from derivations.kernel import Derivation, cos, diff, scalars, sin
        >>> x = scalars("x")
        >>> derivation = Derivation("A wave")
        >>> derivation.identity("slope", diff(sin(x), x), cos(x))
    """
    return function("sin", x)


def tanh(x: Term) -> Expr:
    """Return the hyperbolic tangent of a number, or of each entry of a tensor.

    Examples:
        >>> from derivations.kernel import Derivation, diff, scalars, tanh
        >>> x = scalars("x")
        >>> derivation = Derivation("A squashing function")
        >>> derivation.identity("slope", diff(tanh(x), x), 1 - tanh(x) ** 2)
    """
    return function("tanh", x)


def largest(x: Expr) -> Expr:
    """Return the largest entry of a vector.

    It cannot be differentiated, because it has no derivative where two entries are the largest.

    Examples:
        >>> from derivations.kernel import Derivation, exp, index, largest, nonnegative, ones, scalars, sizes, total, vector
        >>> n = sizes("n")
        >>> c, z, j = scalars("c"), vector("z", n), index("j", n)
        >>> derivation = Derivation("The largest score")
        >>> derivation.identity("shift", largest(z + c * ones(n)), largest(z) + c)
        >>> derivation.identity("scale", largest(c * z), c * largest(z), given=[nonnegative(c)])
        >>> derivation.inequality("bound", z[j], largest(z), because=largest(z) - z[j])
        >>> derivation.inequality("one", 1, total(exp(z[j] - largest(z)), j), because=total(exp(z[j] - largest(z)), j) - 1)
        >>> print(largest(z))
        largest(z)
    """
    if len(lift(x).shape) != 1:
        raise KernelError(
            f"largest is taken of a vector's entries; {show(lift(x))} has the shape {show_shape(lift(x).shape)}", code="wrong-shape"
        )
    return function("largest", x)


def norm(x: Expr) -> Expr:
    """Return the Euclidean length of a vector: the square root of its product with itself.

    The length of a complex vector is that of the absolute values of its entries. (`@` and `.T` conjugate nothing.)

    Examples:
        >>> from derivations.kernel import Derivation, I, array, norm, sizes, sqrt, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> derivation = Derivation("Lengths")
        >>> derivation.identity("squared", norm(q - k) ** 2, norm(q) ** 2 + norm(k) ** 2 - 2 * (q @ k))
        >>> derivation.identity("complex", norm(array([2, I])), sqrt(5))
        >>> print(norm(q), norm(array([2, I])))
        norm(q) norm(abs([2, I]))
    """
    x = lift(x)
    if len(x.shape) != 1:
        raise KernelError(f"norm is the length of a vector; {show(x)} has the shape {show_shape(x.shape)}", code="wrong-shape")
    return function("norm", absolute(x) if is_complex(x) else x)
