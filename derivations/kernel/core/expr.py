"""Expression trees, the constructors that scripts call, and functions that inspect trees.

A tree is exactly what the page shows. Nothing is simplified, flattened or reordered when a tree is built, so two ways of writing the
same value are different trees until a witness has proved them equal.

A shape is a tuple of sizes. A size is a positive integer constant or a symbol of kind "size".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

from ..errors import KernelError, scripts
from ..printing.latex import NAMED
from ..printing.name_latex import refuse_word
from ..printing.plain_text import describe
from ..printing.plain_text import plain as show
from .operators import AVERAGES, BINDERS, INDEXED, OPERATORS, real_scalar, scalar, shape_of

Term = Union["Expr", int, Fraction]  # accepted where an expression is expected; so are SymPy's expressions
Rows = Term | list | tuple  # nested lists

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)?")
FORMATS = {"fp32": (24, -149, 127)}  # significant bits, exponent of the smallest spacing, largest exponent


@dataclass(frozen=True)
class Expr:
    """An expression: an operator, its arguments, its shape, and further data of the operator, such as a name.

    Make expressions with the constructors (`scalars`, `matrix`, `total`, ...) and with Python's operators:

    | you write | meaning | shapes |
    |---|---|---|
    | `a + b`, `a - b`, `-a` | entrywise sum, difference, negative | equal |
    | `a * b` | entrywise product, or a scalar times every entry | equal, or one is a scalar |
    | `a / c` | every entry divided by `c` | `c` is a scalar |
    | `c**p` | power | both are scalars |
    | `A @ B` | product over the last axis of `A` and the first of `B` | these two sizes are equal |
    | `A.T` | transpose | `A` is a matrix |
    | `A[i, j]` | entry, counted from 1 | an index or a number for every axis |

    Python's integers and fractions are accepted as numbers. Floats are rejected, because they are not exact. Nothing is simplified:
    `x + y` and `y + x` are different trees until a claim proves them equal. `print` shows an expression as messages do.

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
    origin: Any = field(default=None, compare=False, repr=False)  # for a name read from another system: the object there

    def __str__(self) -> str:
        return show(self)

    def __eq__(self, other: object) -> bool:
        """Return whether the trees are equal. Only the kernel may compare: raise KernelError if a script does, since it means values."""
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
        return node("add", self, other)

    def __sub__(self, other: Term) -> Expr:
        return node("add", self, node("neg", other))  # keeps the negation as a node, even of a number

    def __neg__(self) -> Expr:
        return lift(-self.data) if self.op == "const" else node("neg", self)

    def __mul__(self, other: Term) -> Expr:
        if not isinstance(other, Expr) and self.shape and lift(other).shape:
            raise KernelError(
                f"{show(self)} * {show(lift(other))} may mean another product in the system that one of them is from; write @ for that"
            )
        return node("mul", self, other)

    def __truediv__(self, other: Term) -> Expr:
        other = lift(other)
        if self.op == other.op == "const" and other.data > 1 and (self.data / other.data).denominator == other.data:
            return lift(self.data / other.data)  # a fraction in lowest terms is a constant
        return node("div", self, other)

    def __pow__(self, exponent: Term) -> Expr:
        return node("pow", self, exponent)

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
        return node("entry", self, *(indices if isinstance(indices, tuple) else (indices,)))

    @property
    def T(self) -> Expr:
        """The transpose of a matrix."""
        return node("transpose", self)

    @property
    def bound_index(self) -> Expr | None:
        """The index that the node binds in its argument, or None."""
        return Expr("index", (), (), self.data) if self.op in BINDERS else None

    def __iter__(self) -> NoReturn:
        raise TypeError("an expression cannot be iterated over; a sum is written total(x[i], i)")

    def __bool__(self) -> NoReturn:
        raise TypeError("an expression is neither true nor false; state a claim about it")


if TYPE_CHECKING:

    class Symbols(Expr):
        """One symbol or a tuple of symbols, depending on the number of names. A type checker accepts both uses."""

        def __iter__(self) -> Iterator[Expr]: ...  # type: ignore[override]


class Reader(NamedTuple):
    """A converter from the expressions of another system, such as SymPy. The language registers it, so core depends on no such system."""

    knows: Callable[[Any], bool]
    expression: Callable[[Any], Expr]


READERS: list[Reader] = []  # in the order in which they are tried


def lift(value: Term) -> Expr:
    """Return an expression unchanged and a Python integer or fraction as a constant. Raise KernelError for anything else, such as a float."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Expr("const", (), (), Fraction(value))
    for reader in READERS:
        if reader.knows(value):
            return reader.expression(value)
    raise KernelError(f"{value!r} of type {type(value).__name__} is not an expression; write numbers as integers or fractions")


def node(op: str, *arguments: Term, data: Any = None, stated: tuple = ()) -> Expr:
    """Return a node. Raise KernelError if its arguments do not fit the operator. `stated` is the shape if it does not follow from them."""
    args = tuple(map(lift, arguments))
    return Expr(op, args, shape_of(op, data, args, stated), data)


def require_scalar(value: Term) -> Expr:
    """Return `value` as an expression. Raise KernelError unless it is a scalar."""
    scalar(None, value := lift(value))
    return value


def require_real(value: Term) -> Expr:
    """Return `value` as an expression. Raise KernelError unless it is a real scalar."""
    real_scalar(None, value := lift(value))
    return value


def symbol(name: str, kind: str, shape: tuple[Term, ...] = ()) -> Expr:
    """Return a symbol of kind "real", "size", "random", "index" or "defined". Raise KernelError if the name is malformed or reserved."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise KernelError(f"{name!r} is not a name: letters and digits, and at most one subscript after an underscore")
    refuse_word(name)
    return Expr("symbol", (), tuple(lift_size(s) for s in shape), (name, kind))


def lift_size(value: Term) -> Expr:
    """Return `value` as a size. Raise KernelError unless it is a positive integer or a symbol made by `sizes`."""
    positive = (value := lift(value)).op == "const" and value.data.denominator == 1 and value.data > 0
    if not positive and not (value.op == "symbol" and value.data[1] == "size"):
        raise KernelError(f"{show(value)} is not a size: sizes are positive integers or come from sizes(...)")
    return value


def make_symbols(names: str, kind: str) -> Symbols:
    """Return a tuple with a symbol for each of the names, which are separated by blanks. For one name return the symbol itself."""
    if not isinstance(names, str) or not names.split():
        raise KernelError(f"names are written in one text with blanks between them, as in scalars('x y'), not {names!r}")
    made = tuple(symbol(name, kind) for name in names.split())
    return made if len(made) > 1 else made[0]  # type: ignore[return-value]


def sizes(names: str) -> Symbols:
    """Return symbols for sizes, which are positive integers: a tuple for several names, one symbol for one name.

    A size is the length of an axis or the range of an index. It is also a number in formulas. A name starts with a letter, followed by
    letters and digits, and may have one subscript after an underscore: `n`, `n2`, `d_k`. A name must not be a word that formulas use
    (`e`, `I`, `pi`, `exp`, ...), and must not look like an entry of a vector or matrix of the claim, as `z_1` does next to `z`.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d_k = sizes("n d_k")
        >>> W = matrix("W", n, d_k)
        >>> print(W / d_k)
        W/d_k
    """
    return make_symbols(names, "size")


def scalars(names: str) -> Symbols:
    """Return symbols for arbitrary real numbers: a tuple for several names, one symbol for one name.

    The name of a Greek letter is printed as that letter: `sigma`, `mu_q`. Other names of several characters are printed upright: `loss`, `x1`.

    Examples:
        >>> from derivations.kernel import scalars
        >>> x, y = scalars("x y")
        >>> c = scalars("c")
        >>> print((x + y)**2 / c)
        (x + y)^2/c
    """
    return make_symbols(names, "real")


def matrix(name: str, rows: Term, columns: Term) -> Expr:
    """Return a symbol for a real matrix with arbitrary entries. On this site, rows are tokens.

    The numbers of rows and columns are positive integers or come from `sizes`.

    Examples:
        >>> from derivations.kernel import matrix, sizes
        >>> n, d = sizes("n d")
        >>> X, W = matrix("X", n, d), matrix("W", d, 3)
        >>> print((X @ W).T)
        (X @ W)ᵀ
    """
    return symbol(name, "real", (rows, columns))


def vector(name: str, size: Term) -> Expr:
    """Return a symbol for a real vector with arbitrary entries.

    A vector is neither a row nor a column: `q @ k` is a dot product, and `A @ z` and `z @ A` are vectors.

    Examples:
        >>> from derivations.kernel import sizes, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k, "and the first entry", q[1])
        q @ k and the first entry q[1]
    """
    return symbol(name, "real", (size,))


def random(name: str, *shape: Term) -> Expr:
    """Return a symbol for a random number, vector or tensor whose entries all have the same distribution.

    Only what a claim assumes is known about it: see `independent`, `mean`, `variance`, `has_moment` and `gaussian`. Use it inside `E` and `Var`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, noise = random("q", d), random("noise")
        >>> print(E(q[1] * noise))
        E[q[1]*noise]
    """
    return symbol(name, "random", shape)


def index(name: str, size: Term) -> Expr:
    """Return an index variable that runs over 1, ..., `size`. Use it to select entries, to sum with `total`, or to build a vector with `each`.

    A claim with an open index, which neither `total` nor `each` binds, holds for each of its values. An index fits only axes of its own size.

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
    return Expr("index", (), (), (symbol(name, "index").data[0], lift_size(size)))  # symbol() checks the name


def matmul(left: Term, right: Term) -> Expr:
    """Return the product `left @ right`, which sums over the last axis of `left` and the first of `right`."""
    return node("matmul", left, right)


def inverse(matrix_: Expr) -> Expr:
    """Return the inverse of a square matrix. The claim must state that it exists: `given=[invertible(M)]`.

    Examples:
        >>> from derivations.kernel import inverse, matrix, sizes
        >>> n = sizes("n")
        >>> M = matrix("M", n, n)
        >>> print(M @ inverse(M))
        M @ M⁻¹
    """
    return node("inverse", matrix_)


def eye(n: Term) -> Expr:
    """Return the identity matrix with `n` rows. Its entry `eye(n)[i, l]` is the Kronecker delta: 1 if `i` equals `l`, else 0.

    Examples:
        >>> from derivations.kernel import eye, index, sizes, total, vector
        >>> n = sizes("n")
        >>> z, i, l = vector("z", n), index("i", n), index("l", n)
        >>> print(total(eye(n)[i, l] * z[l], l))
        sum(eye(n)[i, l]*z[l], l = 1..n)
    """
    return node("eye", stated=(lift_size(n),) * 2)


def zeros(*shape: Term) -> Expr:
    """Return a tensor of zeros with the given shape.

    Examples:
        >>> from derivations.kernel import matrix, sizes, zeros
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) + zeros(n, m))
        A + zeros(n, m)
    """
    return node("fill", data=Fraction(0), stated=tuple(map(lift_size, shape)))


def ones(*shape: Term) -> Expr:
    """Return a tensor of ones with the given shape. `A @ ones(m)` sums each row of a matrix `A` with `m` columns.

    Examples:
        >>> from derivations.kernel import matrix, ones, sizes
        >>> n, m = sizes("n m")
        >>> print(matrix("A", n, m) @ ones(m))
        A @ ones(m)
    """
    return node("fill", data=Fraction(1), stated=tuple(map(lift_size, shape)))


def array(rows: Rows) -> Expr:
    """Return a tensor with the given entries: nested lists of equal lengths that contain numbers or scalar expressions.

    Examples:
        >>> from derivations.kernel import array, scalars
        >>> c, s = scalars("c s")
        >>> print(array([[c, -s], [s, c]]))
        [[c, -s], [s, c]]
    """
    if not isinstance(rows, (list, tuple)):
        return require_scalar(rows)
    parts = [array(row) for row in rows]
    if not parts or any(p.shape != parts[0].shape for p in parts):
        raise KernelError("a tensor is written as nested lists of equal lengths, none of them empty")
    entries = tuple(entry for p in parts for entry in (p.args if p.shape else (p,)))
    return node("array", *entries, stated=(lift(len(parts)), *parts[0].shape))


def total(body: Term, *indices: Expr) -> Expr:
    """Return the sum of a scalar over one or more indices, which `index` makes.

    Examples:
        >>> from derivations.kernel import index, sizes, total, vector
        >>> d = sizes("d")
        >>> q, k, i = vector("q", d), vector("k", d), index("i", d)
        >>> print(total(q[i] * k[i], i))
        sum(q[i]*k[i], i = 1..d)
    """
    return bind("sum", "a sum runs", body, indices)


def each(body: Term, *indices: Expr) -> Expr:
    """Return the vector whose entry at an index is `body`. With two indices, return a matrix: the first index counts rows, the second columns.

    If `body` is itself a tensor, the tensors are stacked along a new first axis. The index is bound, like that of a sum: an index of the
    same name outside is a different variable.

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
    return bind("each", "entries run", body, indices)


def bind(op: str, says: str, body: Term, indices: tuple[Term, ...]) -> Expr:
    """Bind indices in `body`, the first of them outermost. Raise KernelError, with a message that starts with `says`, if one is no index."""
    body, over = lift(body), list(map(lift, indices))
    wrong = [show(i) + " twice" * (over.count(i) > 1) for i in over if i.op != "index" or over.count(i) > 1]
    if wrong or not over:
        raise KernelError(f"{says} over what index(name, size) made, not {[*wrong, 'nothing: name its index'][0]}")
    for index_ in reversed(over):
        body = node(op, body, data=index_.data)
    return body


def function(name: str, argument: Term) -> Expr:
    """Return a function of `core.operators.FUNCTIONS`, given by its name, applied to a number, to each entry, or to a vector."""
    return node("function", argument, data=name)


def exp(x: Term) -> Expr:
    """Return the exponential of a number, or of each entry of a tensor.

    Examples:
        >>> from derivations.kernel import exp, matrix, sizes
        >>> n, m = sizes("n m")
        >>> print(exp(matrix("S", n, m)))
        exp(S)
    """
    return function("exp", x)


def log(x: Term) -> Expr:
    """Return the natural logarithm of a number, or of each entry of a tensor. The argument must be positive, if necessary by assumption.

    Examples:
        >>> from derivations.kernel import exp, log, scalars
        >>> x = scalars("x")
        >>> print(log(exp(x) + 1))
        log(exp(x) + 1)
    """
    return function("log", x)


def absolute(x: Term) -> Expr:
    """Return the absolute value of a number, or of each entry of a tensor.

    Examples:
        >>> from derivations.kernel import absolute, scalars
        >>> x, y = scalars("x y")
        >>> print(absolute(x * y))
        abs(x*y)
    """
    return function("abs", x)


def sqrt(x: Term) -> Expr:
    """Return the square root of a scalar. The scalar must not be negative, if necessary by assumption. Sizes are positive.

    Examples:
        >>> from derivations.kernel import sizes, sqrt, vector
        >>> d = sizes("d")
        >>> q, k = vector("q", d), vector("k", d)
        >>> print(q @ k / sqrt(d))
        (q @ k)/sqrt(d)
    """
    return lift(x) ** Fraction(1, 2)


def softmax(scores: Expr) -> Expr:
    """Return the softmax over the last axis: of a vector, or of each row of a matrix.

    Each entry is the exponential of a score divided by the sum of the exponentials along the axis.

    Examples:
        >>> from derivations.kernel import matrix, sizes, softmax
        >>> n, m = sizes("n m")
        >>> print(softmax(matrix("S", n, m))[1, 1])
        softmax(S)[1, 1]
    """
    return node("softmax", scores)


def E(x: Term) -> Expr:
    """Return the expectation of a scalar over all random entries in it. State what is known about their distributions in `given`.

    Examples:
        >>> from derivations.kernel import E, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(E(q @ k))
        E[q @ k]
    """
    return node("expectation", x)


def Var(x: Term) -> Expr:
    """Return the variance of a scalar: the expectation of its square minus the square of its expectation.

    Examples:
        >>> from derivations.kernel import Var, random, sizes
        >>> d = sizes("d")
        >>> q, k = random("q", d), random("k", d)
        >>> print(Var(q @ k))
        Var(q @ k)
    """
    return node("variance", x)


def diff(body: Term, by: Expr) -> Expr:
    """Return the derivative of a scalar with respect to a real scalar symbol or one entry of a real symbol.

    With an entry at an open index, the claim is about every entry of the gradient. `by` must not be a size or random.

    Examples:
        >>> from derivations.kernel import diff, index, matrix, sizes, vector
        >>> n = sizes("n")
        >>> z, A, i = vector("z", n), matrix("A", n, n), index("i", n)
        >>> print(diff(z @ (A @ z), z[i]))
        d(z @ (A @ z))/d(z[i])
    """
    return node("derivative", body, by)


def rounded(x: Term, format_: str = "fp32") -> Expr:
    """Return a real scalar rounded to the nearest number of a floating-point format, ties to even. The only format is `fp32`.

    Examples:
        >>> from derivations.kernel import rounded, scalars
        >>> x, y = scalars("x y")
        >>> print(rounded(x + y))
        fl(x + y)
    """
    if format_ not in FORMATS:
        raise KernelError(f"{format_!r} is not a format; {', '.join(FORMATS)} is known")
    return node("rounded", x, data=format_)


def rank(matrix_: Expr) -> Expr:
    """Return the rank of a matrix, a number. Prove an upper bound with `inequality` and a factorisation: `because=(A, B)`.

    Examples:
        >>> from derivations.kernel import matrix, rank, sizes
        >>> d, d_k = sizes("d d_k")
        >>> print(rank(matrix("W_Q", d, d_k) @ matrix("W_K", d, d_k).T))
        rank(W_Q @ W_Kᵀ)
    """
    return node("rank", matrix_)


def paren(x: Expr) -> Expr:
    """Return `x` in brackets that the reader sees. They do not change the value: a step that only adds or drops them is vacuous.

    Examples:
        >>> from derivations.kernel import paren, scalars
        >>> x, y = scalars("x y")
        >>> print(paren(x * y) * x, "and without them", (x * y) * x)
        (x*y)*x and without them x*y*x
    """
    return node("paren", x)


I = Expr("imaginary")
"""The imaginary unit. Complex numbers are not ordered, so it cannot occur in an inequality.

Examples:
    >>> from derivations.kernel import I, scalars
    >>> x = scalars("x")
    >>> print((1 + I * x) * (1 - I * x))
    (1 + I*x)*(1 - I*x)
"""


def strip(e: Expr) -> Expr:
    """Return the tree without `paren` nodes and without origins. Trees that differ only there are the same expression."""
    return strip(e.args[0]) if e.op == "paren" else Expr(e.op, tuple(map(strip, e.args)), e.shape, e.data)


def walk(e: Expr) -> Iterator[Expr]:
    """Yield every node of the tree, parents before their arguments."""
    stack = [e]
    while stack:
        yield (e := stack.pop())
        stack += e.args[::-1]


def named(*trees: Expr) -> Iterator[Expr]:
    """Yield every symbol, definition and index of the trees, including the sizes in shapes and in indices."""
    for node in (node for tree in trees for node in walk(tree)):
        bound = () if node.bound_index is None else (node.bound_index,)
        yield from (s for s in (node, *node.shape, *bound, *own_sizes(node)) if s.op in NAMED)


def record_name(names: dict[str, Expr], s: Expr) -> None:
    """Add `s` to the dictionary under its name. Raise KernelError if the name already belongs to something else."""
    if names.setdefault(s.data[0], s) != s:
        raise KernelError(f"the name {s.data[0]} is used for two things: {describe(names[s.data[0]])}, and {describe(s)}")


def symbols(*trees: Expr) -> dict[str, Expr]:
    """Return the symbols of the trees by name, including sizes. Raise KernelError if two share a name."""
    found: dict[str, Expr] = {}
    for s in (s for s in named(*trees) if s.op != "index"):
        record_name(found, s)
    return {name: s for name, s in found.items() if s.op == "symbol"}


def own_sizes(e: Expr) -> tuple[Expr, ...]:
    """Return the sizes in the node itself: the lengths of its axes and, for an index or a binder, the size of the index."""
    return (*e.shape, e.data[1]) if e.op in INDEXED else e.shape


def operands(e: Expr) -> tuple[Expr, ...]:
    """Return the arguments whose values the node uses: without the indices of an entry and the variable of a derivative."""
    return e.args[: OPERATORS[e.op].operands]


def takes_average(*trees: Expr) -> bool:
    """Return whether one of the trees contains an expectation or a variance."""
    return any(e.op in AVERAGES for tree in trees for e in walk(tree))


def free_indices(e: Expr) -> set[Expr]:
    """Return the index variables that no node of the tree binds. A claim holds for each of their values."""
    return {e} if e.op == "index" else {i for a in e.args for i in free_indices(a)} - {e.bound_index}
