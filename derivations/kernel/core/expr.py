"""Expression trees, and functions that inspect them. `constructors.py` has the functions with which scripts build trees.

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
from typing import Any, NamedTuple, NoReturn, Union

from ..errors import KernelError, scripts
from ..printing.latex import NAMED
from ..printing.name_latex import check_name
from ..printing.plain_text import describe
from ..printing.plain_text import plain as show
from .operators import AVERAGE_OPERATORS, BINDERS, INDEXED, OPERATORS, is_position, real_scalar, scalar, shape_of

Term = Union["Expr", int, Fraction]  # accepted where an expression is expected; so are SymPy's expressions

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)?")


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
            scripts.check_comparison(sys._getframe(1))
        if self is other:
            return True
        if other.__class__ is not Expr:
            return NotImplemented
        return (self.op, self.data, self.args, self.shape) == (other.op, other.data, other.args, other.shape)

    def __le__(self, other: Term) -> Condition:
        return condition(self, "<=", other)

    def __lt__(self, other: Term) -> Condition:
        return condition(self, "<", other)

    def __ge__(self, other: Term) -> Condition:
        return condition(other, "<=", self)

    def __gt__(self, other: Term) -> Condition:
        return condition(other, "<", self)

    def __add__(self, other: Term) -> Expr:
        return node("add", self, other)

    def __sub__(self, other: Term) -> Expr:
        return node("add", self, node("neg", other))  # keeps the negation as a node, even of a number

    def __neg__(self) -> Expr:
        return lift(-self.data) if self.op == "const" else node("neg", self)

    def __mul__(self, other: Term) -> Expr:
        if not isinstance(other, Expr) and self.shape and lift(other).shape:
            raise KernelError(
                f"{show(self)} * {show(lift(other))} may mean another product in the system that one of them is from; write @ for that",
                code="ambiguous-product",
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


class Condition(NamedTuple):
    """A comparison of two positions, such as `j <= i`, for `where`."""

    left: Expr
    relation: str
    right: Expr

    def __bool__(self) -> NoReturn:
        said = f"{show(self.left)} {self.relation} {show(self.right)}"
        raise KernelError(f"{said} is neither true nor false: pass it as where=..., two as where=[1 < j, j <= i]", code="order-operator")


def condition(left: Term, relation: str, right: Term) -> Condition:
    """Return a comparison. Raise KernelError unless both sides are positions: sums of indices, sizes and integers."""
    left, right = lift(left), lift(right)
    if is_position(left) and is_position(right):
        return Condition(left, relation, right)
    raise KernelError(
        "<, <=, > and >= compare indices, sizes and integers, as in total(x[j], j, where=j <= i); of other expressions write "
        "derivation.inequality(id, left, right, because=...)",
        code="order-operator",
    )


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
    raise KernelError(
        f"{value!r} of type {type(value).__name__} is not an expression; write numbers as integers or fractions, as in x / 4 or Fraction(1, 4)",
        code="not-an-expression",
    )


def node(op: str, *arguments: Term, data: Any = None, stated: tuple = ()) -> Expr:
    """Return a node. Raise KernelError if its arguments do not fit the operator. `stated` is the shape if it does not follow from them."""
    args = tuple(map(lift, arguments))
    return Expr(op, args, shape_of(op, data, args, stated), data)


def matmul(left: Term, right: Term) -> Expr:
    """Return the product `left @ right`, which sums over the last axis of `left` and the first of `right`."""
    return node("matmul", left, right)


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
        raise KernelError(f"{name!r} is not a name: letters and digits, and at most one subscript after an underscore", code="invalid-name")
    check_name(name)
    return Expr("symbol", (), tuple(lift_size(s) for s in shape), (name, kind))


def lift_size(value: Term) -> Expr:
    """Return `value` as a size. Raise KernelError unless it is a positive integer or a symbol made by `sizes`."""
    positive = (value := lift(value)).op == "const" and value.data.denominator == 1 and value.data > 0
    if not positive and not (value.op == "symbol" and value.data[1] == "size"):
        raise KernelError(f"{show(value)} is not a size: sizes are positive integers or come from sizes(...)", code="not-a-size")
    return value


def strip_brackets(e: Expr) -> Expr:
    """Return the tree without `paren` nodes and without origins. Trees that differ only there are the same expression."""
    return strip_brackets(e.args[0]) if e.op == "paren" else Expr(e.op, tuple(map(strip_brackets, e.args)), e.shape, e.data)


def walk(e: Expr) -> Iterator[Expr]:
    """Yield every node of the tree, parents before their arguments."""
    stack = [e]
    while stack:
        yield (e := stack.pop())
        stack += e.args[::-1]


def named_nodes(*trees: Expr) -> Iterator[Expr]:
    """Yield every symbol, definition and index of the trees, including the sizes in shapes and in indices."""
    for node in (node for tree in trees for node in walk(tree)):
        bound = () if node.bound_index is None else (node.bound_index,)
        yield from (s for s in (node, *node.shape, *bound, *node_sizes(node)) if s.op in NAMED)


def record_name(names: dict[str, Expr], s: Expr) -> None:
    """Add `s` to the dictionary under its name. Raise KernelError if the name already belongs to something else."""
    if names.setdefault(s.data[0], s) != s:
        raise KernelError(
            f"the name {s.data[0]} is used for two things: {describe(names[s.data[0]])}, and {describe(s)}", code="ambiguous-name"
        )


def symbols(*trees: Expr) -> dict[str, Expr]:
    """Return the symbols of the trees by name, including sizes. Raise KernelError if two share a name."""
    found: dict[str, Expr] = {}
    for s in (s for s in named_nodes(*trees) if s.op != "index"):
        record_name(found, s)
    return {name: s for name, s in found.items() if s.op == "symbol"}


def node_sizes(e: Expr) -> tuple[Expr, ...]:
    """Return the sizes in the node itself: the lengths of its axes and, for an index or a binder, the size of the index."""
    return (*e.shape, e.data[1]) if e.op in INDEXED else e.shape


def operands(e: Expr) -> tuple[Expr, ...]:
    """Return the arguments whose values the node uses: without the indices of an entry and the variable of a derivative."""
    return e.args[: OPERATORS[e.op].operands]


def contains_average(*trees: Expr) -> bool:
    """Return whether one of the trees contains an expectation or a variance."""
    return any(e.op in AVERAGE_OPERATORS for tree in trees for e in walk(tree))


def free_indices(e: Expr) -> set[Expr]:
    """Return the index variables that no node of the tree binds. A claim holds for each of their values."""
    return {e} if e.op == "index" else {i for a in e.args for i in free_indices(a)} - {e.bound_index}
