"""Expression trees: what a claim is about.

A tree is exactly what the page shows. Nothing is simplified, flattened or reordered when it is built,
so two ways of writing one thing stay two trees until a witness has proved them equal.

Shapes are tuples of sizes. A size is a positive integer or a symbol that stands for one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

from ..errors import KernelError, quantity, scripts
from ..printing.name_latex import refuse_word
from ..printing.plain_text import describe, show_shape
from ..printing.plain_text import plain as show  # a plain-text form for messages

Term = Union["Expr", int, Fraction]  # what may stand where an expression is expected; SymPy's expressions may as well
Rows = Term | list | tuple  # nested lists

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)?")
FORMATS = {"fp32": (24, -149, 127)}  # significant bits, exponent of the smallest step, largest exponent
BINDERS = {"sum": "a sum runs", "each": "entries run"}  # what binds the index that is its data


@dataclass(frozen=True)
class Expr:
    """An expression: an operation, its arguments, its shape, and what else the operation needs to know.

    Expressions are made by the constructors (`scalars`, `matrix`, `total`, ...) and by Python's operators:

    | written | means | shapes |
    |---|---|---|
    | `a + b`, `a - b`, `-a` | entry by entry | alike |
    | `a * b` | entry by entry; a scalar goes with every entry | alike, or one is a scalar |
    | `a / c` | every entry divided | `c` is a scalar |
    | `c**p` | a power | both are scalars |
    | `A @ B` | the product: the last axis of `A` against the first of `B` | those two sizes are alike |
    | `A.T` | the transpose | a matrix |
    | `A[i, j]` | an entry, counted from 1 | an index, or a number, for every axis |

    Python's integers and fractions may stand for numbers. Floats are refused, for they are not exact. Nothing is simplified when it is
    written: `x + y` and `y + x` are two trees until a claim proves them equal. `print` shows an expression as messages do.

    Examples:
        >>> from derivations.kernel import matrix, sizes, vector
        >>> n, d = sizes("n d")
        >>> A, z = matrix("A", n, d), vector("z", d)
        >>> print(2 * (A @ z) / d)
        (2*(A @ z))/d
        >>> A + z
        Traceback (most recent call last):
            ...
        derivations.kernel.errors.KernelError: shapes (n, d) and (d) do not go together in add
    """

    op: str
    args: tuple[Expr, ...] = ()
    shape: tuple[Expr, ...] = ()
    data: Any = None
    origin: Any = field(default=None, compare=False, repr=False)  # of a name: what it was read from, in another system

    def __str__(self) -> str:
        return show(self)

    def __eq__(self, other: object) -> bool:
        """Whether the trees are one and the same. That is for the kernel: a script that asks is told what to write."""
        if scripts.watched:
            scripts.refuse_comparison(sys._getframe(1))
        if self is other:
            return True
        if other.__class__ is not Expr:
            return NotImplemented
        return (self.op, self.data, self.args, self.shape) == (other.op, other.data, other.args, other.shape)

    def _no_order(self, other: object) -> NoReturn:
        raise KernelError("<, <=, > and >= say nothing of expressions; write derivation.inequality(id, left, right, because=...)")

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def __add__(self, other: Term) -> Expr:
        return elementwise("add", self, other)

    def __sub__(self, other: Term) -> Expr:
        return elementwise("add", self, Expr("neg", (lift(other),), lift(other).shape))  # which stays a negative, be it of a number

    def __neg__(self) -> Expr:
        return lift(-self.data) if self.op == "const" else Expr("neg", (self,), self.shape)

    def __mul__(self, other: Term) -> Expr:
        return elementwise("mul", self, other)

    def __truediv__(self, other: Term) -> Expr:
        return elementwise("div", self, other)

    def __pow__(self, exponent: Term) -> Expr:
        if self.shape:
            raise KernelError(f"a power of a tensor of shape {show_shape(self.shape)} is not defined; take one of an entry")
        return Expr("pow", (self, scalar_of(exponent)))

    def __matmul__(self, other: Expr) -> Expr:
        return matmul(self, other)

    def __radd__(self, other: Term) -> Expr:
        return lift(other) + self

    def __rsub__(self, other: Term) -> Expr:
        return lift(other) - self

    def __rmul__(self, other: Term) -> Expr:
        return lift(other) * self

    def __rtruediv__(self, other: Term) -> Expr:
        return lift(other) / self

    def __rpow__(self, other: Term) -> Expr:
        return lift(other) ** self

    def __getitem__(self, indices: Term | tuple[Term, ...]) -> Expr:
        places = tuple(lift(i) for i in (indices if isinstance(indices, tuple) else (indices,)))
        if not places or len(places) != len(self.shape):
            raise KernelError(f"{quantity(len(places), 'index', 'indices')} for a tensor of shape {show_shape(self.shape)}")
        for index_, size_ in zip(places, self.shape):
            if index_.op == "index" and index_.data[1] != size_:
                raise KernelError(f"index {index_.data[0]} runs to {show(index_.data[1])}, but the axis has size {show(size_)}")
            if index_.op == "const" and index_.data not in range(1, 1 + (int(size_.data) if size_.op == "const" else 1)):
                raise KernelError(f"the index {show(index_)} may lie outside 1..{show(size_)}")
            if index_.op not in ("index", "const"):
                raise KernelError("an index is made by index(name, size) or is a positive integer")
        return Expr("entry", (self, *places))

    @property
    def T(self) -> Expr:
        """The transpose of a matrix."""
        if len(self.shape) != 2:
            raise KernelError(f"only a matrix has a transpose, not shape {show_shape(self.shape)}")
        return Expr("transpose", (self,), self.shape[::-1])

    def __iter__(self) -> NoReturn:
        raise TypeError("an expression cannot be iterated over; a sum is written total(x[i], i)")

    def __bool__(self) -> NoReturn:
        raise TypeError("an expression is neither true nor false; state a claim about it")


if TYPE_CHECKING:

    class Symbols(Expr):
        """One symbol, or several for as many names: a type checker lets either be used."""

        def __iter__(self) -> Iterator[Expr]: ...  # type: ignore[override]


class Reader(NamedTuple):
    """How the expressions of another system, such as SymPy, become trees. The language registers it; core knows none."""

    knows: Callable[[Any], bool]
    expression: Callable[[Any], Expr]


READERS: list[Reader] = []


def lift(value: Term) -> Expr:
    """A Python integer or fraction as a constant; an expression as it is. Floats are refused: they are not exact."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Expr("const", (), (), Fraction(value))
    for reader in READERS:
        if reader.knows(value):
            return reader.expression(value)
    raise KernelError(f"{value!r} of type {type(value).__name__} is not an expression; write numbers as integers or fractions")


def scalar_of(value: Term) -> Expr:
    if (value := lift(value)).shape:
        raise KernelError(f"a scalar is needed here, not shape {show_shape(value.shape)}")
    return value


def real_of(value: Term) -> Expr:
    """A scalar that is to be real: what has a sign, what is rounded, what is a mean."""
    if any(n.op == "imaginary" for n in walk(scalar_of(value))):
        raise KernelError(f"{show(lift(value))} is complex: it has no sign, no rounding and no place in an order. Leave I out of it")
    return lift(value)


def symbol(name: str, kind: str, shape: tuple[Term, ...] = ()) -> Expr:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise KernelError(f"{name!r} is not a name: letters and digits, and at most one subscript after an underscore")
    refuse_word(name)
    return Expr("symbol", (), tuple(lift_size(s) for s in shape), (name, kind))


def lift_size(value: Term) -> Expr:
    positive = (value := lift(value)).op == "const" and value.data.denominator == 1 and value.data > 0
    if not positive and not (value.op == "symbol" and value.data[1] == "size"):
        raise KernelError(f"{show(value)} is not a size: sizes are positive integers or come from sizes(...)")
    return value


def several(names: str, kind: str) -> Symbols:
    """A symbol for each name; one alone is no tuple."""
    if not isinstance(names, str) or not names.split():
        raise KernelError(f"names are written in one text with blanks between them, as in scalars('x y'), not {names!r}")
    made = tuple(symbol(name, kind) for name in names.split())
    return made if len(made) > 1 else made[0]  # type: ignore[return-value]


def sizes(names: str) -> Symbols:
    """Symbols for sizes: positive integers. Several names give several symbols, one name gives one.

    A size is the length of an axis, or how far an index runs, and may stand in formulas as a number. A name is a letter with letters
    and digits after it, and at most one subscript behind an underscore: `n`, `n2`, `d_k`. No name is a word that formulas use (`e`, `I`,
    `pi`, `exp`, ...), and none is read as an entry of a vector or a matrix beside it, as `z_1` is of `z`.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d_k = sizes("n d_k")
        >>> W = matrix("W", n, d_k)
        >>> print(W / d_k)
        W/d_k
    """
    return several(names, "size")


def scalars(names: str) -> Symbols:
    """Symbols for real numbers of any value. Several names give several symbols, one name gives one.

    A name of a Greek letter is printed as that letter: `sigma`, `mu_q`. A longer word stands upright: `loss`, `x1`.

    Examples:
        >>> from derivations.kernel import scalars
        >>> x, y = scalars("x y")
        >>> c = scalars("c")
        >>> print((x + y)**2 / c)
        (x + y)^2/c
    """
    return several(names, "real")


def matrix(name: str, rows: Term, columns: Term) -> Expr:
    """A real matrix of any entries, with so many rows and columns. Rows are tokens on this site.

    Sizes are positive integers or come from `sizes`; anything else is refused.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d = sizes("n d")
        >>> X, W = matrix("X", n, d), matrix("W", d, 3)
        >>> print((X @ W).T)
        (X @ W)ᵀ
    """
    return symbol(name, "real", (rows, columns))


def vector(name: str, size: Term) -> Expr:
    """A real vector of any entries. It is neither a row nor a column: `q @ k` is a dot product, `A @ z` and `z @ A` are vectors.

    Examples:
        >>> from derivations.kernel import sizes, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k, "and the first entry", q[1])
        q @ k and the first entry q[1]
    """
    return symbol(name, "real", (size,))


def random(name: str, *shape: Term) -> Expr:
    """A random number, vector or tensor whose entries all have one distribution.

    Nothing is known of it but what a claim assumes: `independent`, `mean`, `variance`, `gaussian`. It occurs under `E` and `Var`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, noise = random("q", d), random("noise")
        >>> print(E(q[1] * noise))
        E[q[1]*noise]
    """
    return symbol(name, "random", shape)


def index(name: str, size: Term) -> Expr:
    """A variable that runs over 1, ..., size: for entries, and for what `total` sums over or `each` lists.

    An index that neither binds makes the claim one about each of its values. An index goes with axes of its own size alone.

    Examples:
        >>> from derivations.kernel import index, matrix, sizes
        >>> n, m = sizes("n m")
        >>> A, i, l = matrix("A", n, m), index("i", n), index("l", m)
        >>> print(A[i, l])
        A[i, l]
        >>> A[l, i]
        Traceback (most recent call last):
            ...
        derivations.kernel.errors.KernelError: index l runs to m, but the axis has size n
    """
    return Expr("index", (), (), (symbol(name, "index").data[0], lift_size(size)))  # a symbol, since that refuses what is not a name


def elementwise(op: str, left: Term, right: Term) -> Expr:
    """Entry by entry; a scalar goes with every entry, and nothing else is broadcast."""
    mixed = not (isinstance(left, Expr) and isinstance(right, Expr))
    left, right = lift(left), lift(right)
    if mixed and op == "mul" and left.shape and right.shape:
        raise KernelError(f"{show(left)} * {show(right)} may mean another product in the system that one of them is from; write @ for that")
    if left.shape and right.shape and left.shape != right.shape or (op == "add" and left.shape != right.shape):
        raise KernelError(f"shapes {show_shape(left.shape)} and {show_shape(right.shape)} do not go together in {op}")
    if op == "div" and right.shape:
        raise KernelError(f"division by a tensor of shape {show_shape(right.shape)}; divide by a scalar")
    if op == "div" and left.op == right.op == "const" and right.data > 1 and (left.data / right.data).denominator == right.data:
        return lift(left.data / right.data)  # a fraction is a number
    return Expr(op, (left, right), left.shape or right.shape)


def matmul(left: Term, right: Term) -> Expr:
    """Sum over the last axis of left and the first of right: matrix products, and q @ k for vectors."""
    left, right = lift(left), lift(right)
    if not left.shape or not right.shape or left.shape[-1] != right.shape[0]:
        raise KernelError(f"shapes {show_shape(left.shape)} and {show_shape(right.shape)} cannot be multiplied: the inner sizes must agree")
    return Expr("matmul", (left, right), left.shape[:-1] + right.shape[1:])


def inverse(matrix_: Expr) -> Expr:
    """The inverse of a square matrix. A claim that needs it says so: `invertible(M)` among what is given.

    Examples:
        >>> from derivations.kernel import inverse, matrix, sizes
        >>> n = sizes("n")
        >>> M = matrix("M", n, n)
        >>> print(M @ inverse(M))
        M @ M⁻¹
    """
    if len((matrix_ := lift(matrix_)).shape) != 2 or matrix_.shape[0] != matrix_.shape[1]:
        raise KernelError(f"only a square matrix has an inverse, not shape {show_shape(matrix_.shape)}")
    return Expr("inverse", (matrix_,), matrix_.shape)


def eye(n: Term) -> Expr:
    """The identity matrix with n rows. Its entry `eye(n)[i, l]` is Kronecker's delta: 1 where i is l, and 0 elsewhere.

    Examples:
        >>> from derivations.kernel import eye, index, sizes, total, vector
        >>> n = sizes("n")
        >>> z, i, l = vector("z", n), index("i", n), index("l", n)
        >>> print(total(eye(n)[i, l] * z[l], l))
        sum(eye(n)[i, l]*z[l], l = 1..n)
    """
    return Expr("eye", (), (lift_size(n),) * 2)


def zeros(*shape: Term) -> Expr:
    """A tensor of zeros, of the sizes given.

    Examples:
        >>> from derivations.kernel import matrix, sizes, zeros
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) + zeros(n, m))
        A + zeros(n, m)
    """
    return Expr("fill", (), tuple(map(lift_size, shape)), Fraction(0))


def ones(*shape: Term) -> Expr:
    """A tensor of ones, of the sizes given. `A @ ones(n)` sums the rows of A.

    Examples:
        >>> from derivations.kernel import matrix, ones, sizes
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) @ ones(m))
        A @ ones(m)
    """
    return Expr("fill", (), tuple(map(lift_size, shape)), Fraction(1))


def array(rows: Rows) -> Expr:
    """A tensor written out: nested lists of numbers or of scalar expressions, of equal lengths.

    Examples:
        >>> from derivations.kernel import array, scalars
        >>> c, s = scalars("c s")
        >>> print(array([[c, -s], [s, c]]))
        [[c, -s], [s, c]]
    """
    if not isinstance(rows, (list, tuple)):
        return scalar_of(rows)
    parts = [array(row) for row in rows]
    if not parts or any(p.shape != parts[0].shape for p in parts):
        raise KernelError("a tensor is written as nested lists of equal lengths, none of them empty")
    entries = tuple(entry for p in parts for entry in (p.args if p.shape else (p,)))
    return Expr("array", entries, (lift(len(parts)), *parts[0].shape))


def total(body: Term, *indices: Expr) -> Expr:
    """The sum of a scalar over one or more indices, each made by `index`.

    Examples:
        >>> from derivations.kernel import index, sizes, total, vector
        >>> d = sizes("d")
        >>> q, k, i = vector("q", d), vector("k", d), index("i", d)
        >>> print(total(q[i] * k[i], i))
        sum(q[i]*k[i], i = 1..d)
    """
    return bind("sum", scalar_of(body), tuple(map(lift, indices)))


def each(body: Term, *indices: Expr) -> Expr:
    """The vector whose entry at an index is the body; with two indices, the matrix whose rows are the first and columns the second.

    Of a body that is a tensor itself, the tensors side by side: the index is a first axis before those that the body has. The index
    belongs to what stands inside, as that of a sum does: an index of the same name outside is another.

    Examples:
        >>> from derivations.kernel import Derivation, each, exp, index, sizes, softmax, total, vector
        >>> n, m = sizes("n m")
        >>> z, v, a, b = vector("z", n), vector("v", n), vector("a", n), vector("b", m)
        >>> i, l, r = index("i", n), index("l", n), index("r", m)
        >>> weights = each(exp(z[i]) / total(exp(z[l]), l), i)
        >>> print(weights @ v)
        each(exp(z[i])/sum(exp(z[l]), l = 1..n), i = 1..n) @ v
        >>> print(each(a[i] * b[r], i, r).T, "and an entry", each(a[i] ** 2, i)[l])
        each(a[i]*b[r], i = 1..n, r = 1..m)ᵀ and an entry each(a[i]^2, i = 1..n)[l]
        >>> derivation = Derivation("Softmax, entry by entry")
        >>> derivation.identity("softmax", softmax(z), weights)
    """
    return bind("each", lift(body), tuple(map(lift, indices)))


def bind(op: str, body: Expr, indices: tuple[Expr, ...]) -> Expr:
    """The body with its indices bound, the first of them outermost."""
    wrong = [show(i) + " twice" * (indices.count(i) > 1) for i in indices if i.op != "index" or indices.count(i) > 1]
    if wrong or not indices:
        raise KernelError(f"{BINDERS[op]} over what index(name, size) made, not {[*wrong, 'nothing: name its index'][0]}")
    for index_ in reversed(indices):
        body = Expr(op, (body,), (index_.data[1], *body.shape) if op == "each" else (), index_.data)
    return body


def function(name: str, argument: Term) -> Expr:
    argument = lift(argument)
    return Expr("function", (argument,), () if name in ("norm", "largest") else argument.shape, name)


def exp(x: Term) -> Expr:
    """The exponential, of a number or of each entry.

    Examples:
        >>> from derivations.kernel import exp, matrix, sizes
        >>> n, m = sizes("n m")
        >>> print(exp(matrix("S", n, m)))
        exp(S)
    """
    return function("exp", x)


def log(x: Term) -> Expr:
    """The natural logarithm, of a number or of each entry. A claim states that what it is taken of is positive.

    Examples:
        >>> from derivations.kernel import exp, log, scalars
        >>> x = scalars("x")
        >>> print(log(exp(x) + 1))
        log(exp(x) + 1)
    """
    return function("log", x)


def absolute(x: Term) -> Expr:
    """The absolute value, of a number or of each entry.

    Examples:
        >>> from derivations.kernel import absolute, scalars
        >>> x, y = scalars("x y")
        >>> print(absolute(x * y))
        abs(x*y)
    """
    return function("abs", x)


def sqrt(x: Term) -> Expr:
    """The square root of a scalar. Of a size it is always defined; of anything else a claim states that it is not negative.

    Examples:
        >>> from derivations.kernel import sizes, sqrt, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k / sqrt(d))
        (q @ k)/sqrt(d)
    """
    return lift(x) ** Fraction(1, 2)


def softmax(scores: Expr) -> Expr:
    """Softmax over the last axis: of a vector, or of each row of a matrix.

    An entry is the exponential of a score, divided by the sum of the exponentials along the axis.

    Examples:
        >>> from derivations.kernel import matrix, sizes, softmax
        >>> n, m = sizes("n m")
        >>> print(softmax(matrix("S", n, m))[1, 1])
        softmax(S)[1, 1]
    """
    if not (scores := lift(scores)).shape:
        raise KernelError("softmax needs a vector or a matrix, not a scalar")
    return Expr("softmax", (scores,), scores.shape)


def E(x: Term) -> Expr:
    """The expectation of a scalar, over every random entry in it. What a claim assumes of them stands in `given`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(E(q @ k))
        E[q @ k]
    """
    return Expr("expectation", (scalar_of(x),))


def Var(x: Term) -> Expr:
    """The variance of a scalar: the expectation of its square, less the square of its expectation.

    Examples:
        >>> from derivations.kernel import Var, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(Var(q @ k))
        Var(q @ k)
    """
    return Expr("variance", (scalar_of(x),))


def diff(body: Term, by: Expr) -> Expr:
    """The derivative of a scalar by a real scalar symbol, or by one entry of a real symbol.

    An entry at an open index gives the whole gradient, an entry at a time. A size or something random is nothing to differentiate by.

    Examples:
        >>> from derivations.kernel import diff, index, matrix, sizes, vector
        >>> n = sizes("n")
        >>> z, A, i = vector("z", n), matrix("A", n, n), index("i", n)
        >>> print(diff(z @ (A @ z), z[i]))
        d(z @ (A @ z))/d(z[i])
    """
    target = by.args[0] if (by := lift(by)).op == "entry" else by
    if target.op != "symbol" or target.data[1] != "real" or by.shape:
        raise KernelError("differentiate by a real scalar symbol or by one entry of a real symbol")
    return Expr("derivative", (scalar_of(body), by))


def rounded(x: Term, format_: str = "fp32") -> Expr:
    """A scalar rounded to the nearest number of a binary floating-point format, ties to even. The format `fp32` is known.

    Examples:
        >>> from derivations.kernel import rounded, scalars
        >>> x, y = scalars("x y")
        >>> print(rounded(x + y))
        fl(x + y)
    """
    if format_ not in FORMATS:
        raise KernelError(f"{format_!r} is not a format; {', '.join(FORMATS)} is known")
    return Expr("rounded", (real_of(x),), (), format_)


def rank(matrix_: Expr) -> Expr:
    """The rank of a matrix, as a number. A bound on it is an inequality, and its certificate a factorisation: `because=(A, B)`.

    Examples:
        >>> from derivations.kernel import matrix, rank, sizes
        >>> d, d_k = sizes("d d_k")
        >>> print(rank(matrix("W_Q", d, d_k) @ matrix("W_K", d, d_k).T))
        rank(W_Q @ W_Kᵀ)
    """
    if len((matrix_ := lift(matrix_)).shape) != 2:
        raise KernelError(f"only a matrix has a rank, not shape {show_shape(matrix_.shape)}")
    return Expr("rank", (matrix_,))


def paren(x: Expr) -> Expr:
    """Brackets that a reader should see. They mean nothing, and a step that only sets or drops them proves nothing.

    Examples:
        >>> from derivations.kernel import paren, scalars
        >>> x, y = scalars("x y")
        >>> print(paren(x * y) * x, "and without them", (x * y) * x)
        (x*y)*x and without them x*y*x
    """
    x = lift(x)
    return Expr("paren", (x,), x.shape)


I = Expr("imaginary")
"""The imaginary unit. Complex numbers have no order, so it cannot stand in an inequality.

Examples:
    >>> from derivations.kernel import I, scalars
    >>> x = scalars("x")
    >>> print((1 + I * x) * (1 - I * x))
    (1 + I*x)*(1 - I*x)
"""


def strip(e: Expr) -> Expr:
    """The tree without its brackets: two trees that differ only there are one expression."""
    return strip(e.args[0]) if e.op == "paren" else Expr(e.op, tuple(map(strip, e.args)), e.shape, e.data)


def walk(e: Expr) -> Iterator[Expr]:
    """Every node, parents first."""
    left = [e]
    while left:
        yield (e := left.pop())
        left += e.args[::-1]


def named(*trees: Expr) -> Iterator[Expr]:
    """All that the trees name: symbols, definitions and indices, with the sizes in shapes and in indices."""
    for node in (node for tree in trees for node in walk(tree)):
        bound = [Expr("index", (), (), node.data), node.data[1]] if node.op in ("index", *BINDERS) else []
        yield from (s for s in (node, *node.shape, *bound) if s.op in ("symbol", "defined", "index"))


def take_name(names: dict[str, Expr], s: Expr) -> None:
    """Take s in by its name. One name for two things is refused."""
    if names.setdefault(s.data[0], s) != s:
        raise KernelError(f"the name {s.data[0]} is used for two things: {describe(names[s.data[0]])}, and {describe(s)}")


def symbols(*trees: Expr) -> dict[str, Expr]:
    """The symbols of the trees, sizes included, by name."""
    found: dict[str, Expr] = {}
    for s in (s for s in named(*trees) if s.op != "index"):
        take_name(found, s)
    return {name: s for name, s in found.items() if s.op == "symbol"}


def free_indices(e: Expr) -> set[Expr]:
    """The index variables that nothing binds: the claim is about each of their values."""
    inside = {i for a in e.args for i in free_indices(a)}
    return {e} if e.op == "index" else inside - {Expr("index", (), (), e.data)} if e.op in BINDERS else inside
