"""Expression trees: what a claim is about.

A tree is exactly what the page shows. Nothing is simplified, flattened or reordered when it is built,
so two ways of writing one thing stay two trees until a witness has proved them equal.

Shapes are tuples of sizes. A size is a positive integer or a symbol that stands for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from ..errors import KernelError
from ..printing.plain import plain

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)?")
NAMED = ("symbol", "defined", "index")
FORMATS = {"fp32": (24, -149, 127)}  # significant bits, exponent of the smallest step, largest exponent


@dataclass(frozen=True)
class Expr:
    """A node: an operation, its arguments, its shape, and what else the operation needs to know."""

    op: str
    args: tuple = ()
    shape: tuple = ()
    data: object = None
    origin: object = field(default=None, compare=False, repr=False)  # of a symbol: what it was read from, in another system

    def __add__(self, other):
        return elementwise("add", self, other)

    def __sub__(self, other):
        return elementwise("add", self, -lift(other))

    def __neg__(self):
        return Expr("neg", (self,), self.shape)

    def __mul__(self, other):
        return elementwise("mul", self, other)

    def __truediv__(self, other):
        return elementwise("div", self, other)

    def __pow__(self, exponent):
        if self.shape:
            raise KernelError(f"a power of a tensor of shape {show_shape(self.shape)} is not defined; take one of an entry")
        return Expr("pow", (self, scalar_of(exponent)))

    def __matmul__(self, other):
        return matmul(self, other)

    def __radd__(self, other):
        return lift(other) + self

    def __rsub__(self, other):
        return lift(other) - self

    def __rmul__(self, other):
        return lift(other) * self

    def __rtruediv__(self, other):
        return lift(other) / self

    def __getitem__(self, indices):
        indices = tuple(lift(i) for i in (indices if isinstance(indices, tuple) else (indices,)))
        if len(indices) != len(self.shape):
            raise KernelError(f"{len(indices)} indices for a tensor of shape {show_shape(self.shape)}")
        for index_, size_ in zip(indices, self.shape):
            if index_.op == "index" and index_.data[1] != size_:
                raise KernelError(f"index {index_.data[0]} runs to {show(index_.data[1])}, but the axis has size {show(size_)}")
            if index_.op == "const" and not (
                index_.data.denominator == 1 and 1 <= index_.data <= (size_.data if size_.op == "const" else 1)
            ):
                raise KernelError(f"the index {show(index_)} may lie outside 1..{show(size_)}")
            if index_.op not in ("index", "const"):
                raise KernelError("an index is made by index(name, size) or is a positive integer")
        return Expr("entry", (self, *indices))

    @property
    def T(self):
        """The transpose of a matrix."""
        if len(self.shape) != 2:
            raise KernelError(f"only a matrix has a transpose, not shape {show_shape(self.shape)}")
        return Expr("transpose", (self,), self.shape[::-1])

    def __iter__(self):
        raise TypeError("an expression cannot be iterated over")

    def __bool__(self):
        raise TypeError("an expression is neither true nor false; state a claim about it")


class Reader(NamedTuple):
    """How the expressions of another system, such as SymPy, become trees. The language registers it; core knows none."""

    knows: Callable
    expression: Callable
    equation: Callable


READERS: list[Reader] = []


def is_foreign(value) -> bool:
    """Is it an expression of another system that can be read?"""
    return any(reader.knows(value) for reader in READERS)


def foreign_equation(value) -> tuple:
    """The two sides of an equation that is one object in another system."""
    for reader in READERS:
        if reader.knows(value):
            return reader.equation(value)
    raise KernelError(f"an identity has two sides; {value!r} is no equation")


def lift(value) -> Expr:
    """A Python integer or fraction as a constant; an expression as it is. Floats are refused: they are not exact."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        return Expr("const", (), (), Fraction(value))
    for reader in READERS:
        if reader.knows(value):
            return reader.expression(value)
    raise KernelError(f"{value!r} of type {type(value).__name__} is not an expression; write numbers as integers or fractions")


def scalar_of(value) -> Expr:
    value = lift(value)
    if value.shape:
        raise KernelError(f"a scalar is needed here, not shape {show_shape(value.shape)}")
    return value


def symbol(name: str, kind: str, shape: tuple = ()) -> Expr:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise KernelError(f"{name!r} is not a name: letters and digits, and at most one subscript after an underscore")
    return Expr("symbol", (), tuple(lift_size(s) for s in shape), (name, kind))


def lift_size(value) -> Expr:
    value = lift(value)
    positive = value.op == "const" and value.data.denominator == 1 and value.data > 0
    if not positive and not (value.op == "symbol" and value.data[1] == "size"):
        raise KernelError(f"{show(value)} is not a size: sizes are positive integers or come from sizes(...)")
    return value


def sizes(names: str) -> tuple:
    """Symbols for positive integers, as in `n, d_k = sizes("n d_k")`; one name gives one symbol."""
    made = tuple(symbol(name, "size") for name in names.split())
    return made if len(made) > 1 else made[0]


def scalars(names: str) -> tuple:
    """Symbols for real numbers."""
    made = tuple(symbol(name, "real") for name in names.split())
    return made if len(made) > 1 else made[0]


def matrix(name: str, rows, columns) -> Expr:
    """A real matrix of any entries."""
    return symbol(name, "real", (rows, columns))


def vector(name: str, size) -> Expr:
    """A real vector of any entries."""
    return symbol(name, "real", (size,))


def random(name: str, *shape) -> Expr:
    """A random tensor whose entries all have one distribution. What is known of it is stated in a claim's assumptions."""
    return symbol(name, "random", shape)


def index(name: str, size) -> Expr:
    """A variable that runs over 1, ..., size."""
    symbol(name, "index")  # refuses what is not a name
    return Expr("index", (), (), (name, lift_size(size)))


def elementwise(op: str, left, right) -> Expr:
    """Entry by entry; a scalar goes with every entry, and nothing else is broadcast."""
    foreign = not isinstance(left, Expr) or not isinstance(right, Expr)
    left, right = lift(left), lift(right)
    if foreign and op == "mul" and left.shape and right.shape:
        raise KernelError(
            f"{show(left)} * {show(right)}: one of them is of another system, where * may be another product; write @ for that one"
        )
    if left.shape and right.shape and left.shape != right.shape or (op == "add" and left.shape != right.shape):
        raise KernelError(f"shapes {show_shape(left.shape)} and {show_shape(right.shape)} do not go together in {op}")
    if op == "div" and right.shape:
        raise KernelError(f"division by a tensor of shape {show_shape(right.shape)}; divide by a scalar")
    return Expr(op, (left, right), left.shape or right.shape)


def matmul(left: Expr, right: Expr) -> Expr:
    """Sum over the last axis of left and the first of right: matrix products, and q @ k for vectors."""
    left, right = lift(left), lift(right)
    if not left.shape or not right.shape or left.shape[-1] != right.shape[0]:
        raise KernelError(f"shapes {show_shape(left.shape)} and {show_shape(right.shape)} cannot be multiplied: the inner sizes must agree")
    return Expr("matmul", (left, right), left.shape[:-1] + right.shape[1:])


def inverse(matrix_: Expr) -> Expr:
    matrix_ = lift(matrix_)
    if len(matrix_.shape) != 2 or matrix_.shape[0] != matrix_.shape[1]:
        raise KernelError(f"only a square matrix has an inverse, not shape {show_shape(matrix_.shape)}")
    return Expr("inverse", (matrix_,), matrix_.shape)


def eye(n) -> Expr:
    return Expr("eye", (), (lift_size(n),) * 2)


def zeros(*shape) -> Expr:
    return Expr("fill", (), tuple(map(lift_size, shape)), Fraction(0))


def ones(*shape) -> Expr:
    return Expr("fill", (), tuple(map(lift_size, shape)), Fraction(1))


def array(rows) -> Expr:
    """A tensor written out: nested lists of numbers or of scalar expressions."""
    if not isinstance(rows, (list, tuple)):
        return scalar_of(rows)
    parts = [array(row) for row in rows]
    if not parts or any(p.shape != parts[0].shape for p in parts):
        raise KernelError("a tensor is written as nested lists of equal lengths, none of them empty")
    entries = tuple(entry for p in parts for entry in (p.args if p.shape else (p,)))
    return Expr("array", entries, (lift(len(parts)), *parts[0].shape))


def total(body, *indices: Expr) -> Expr:
    """The sum of body over one or more indices."""
    body = scalar_of(body)
    for index_ in reversed(indices):
        body = Expr("sum", (body,), (), index_.data)
    return body


def function(name: str, argument) -> Expr:
    argument = lift(argument)
    return Expr("function", (argument,), argument.shape, name)


def exp(x) -> Expr:
    return function("exp", x)


def log(x) -> Expr:
    return function("log", x)


def absolute(x) -> Expr:
    return function("abs", x)


def sqrt(x) -> Expr:
    return lift(x) ** Fraction(1, 2)


def softmax(scores: Expr) -> Expr:
    """exp(s_j) / sum over the last axis of exp(s)."""
    scores = lift(scores)
    if not scores.shape:
        raise KernelError("softmax needs a vector or a matrix, not a scalar")
    return Expr("softmax", (scores,), scores.shape)


def E(x) -> Expr:
    """Expectation over every random entry."""
    return Expr("expectation", (scalar_of(x),))


def Var(x) -> Expr:
    """E[x^2] - E[x]^2."""
    return Expr("variance", (scalar_of(x),))


def diff(body, by: Expr) -> Expr:
    """The derivative of a scalar by a scalar symbol or by an entry of a symbol."""
    by = lift(by)
    target = by.args[0] if by.op == "entry" else by
    if target.op != "symbol" or target.data[1] != "real" or by.shape:
        raise KernelError("differentiate by a real scalar symbol or by one entry of a real symbol")
    return Expr("derivative", (scalar_of(body), by))


def rounded(x, format_: str = "fp32") -> Expr:
    """x rounded to the nearest number of a binary floating-point format, ties to even."""
    if format_ not in FORMATS:
        raise KernelError(f"{format_!r} is not a format; {', '.join(FORMATS)} is known")
    return Expr("rounded", (scalar_of(x),), (), format_)


def rank(matrix_: Expr) -> Expr:
    if len(lift(matrix_).shape) != 2:
        raise KernelError(f"only a matrix has a rank, not shape {show_shape(lift(matrix_).shape)}")
    return Expr("rank", (lift(matrix_),))


def paren(x: Expr) -> Expr:
    """Brackets that a reader should see; they mean nothing."""
    x = lift(x)
    return Expr("paren", (x,), x.shape)


I = Expr("imaginary")


def strip(e: Expr) -> Expr:
    """The tree without its brackets: two trees that differ only there are one expression."""
    if e.op == "paren":
        return strip(e.args[0])
    return Expr(e.op, tuple(map(strip, e.args)), e.shape, e.data)


def walk(e: Expr):
    """Every node, parents first."""
    yield e
    for argument in e.args:
        yield from walk(argument)


def named(*trees: Expr):
    """All that the trees name: symbols, definitions and indices, with the sizes in shapes and in indices."""
    for node in (node for tree in trees for node in walk(tree)):
        bound = [Expr("index", (), (), node.data), node.data[1]] if node.op in ("index", "sum") else []
        yield from (s for s in (node, *node.shape, *bound) if s.op in NAMED)


def take_name(names: dict, key: str, s: Expr):
    """names[key] = s. One name for two things is refused."""
    if names.setdefault(key, s) != s:
        raise KernelError(f"the name {s.data[0]} is used for two things: {describe(names[key])}, and {describe(s)}")


def symbols(*trees: Expr) -> dict:
    """The symbols of the trees, sizes included, by name."""
    found = {}
    for s in named(*trees):
        if s.op != "index":
            take_name(found, s.data[0], s)
    return {name: s for name, s in found.items() if s.op == "symbol"}


def free_indices(e: Expr, bound: frozenset = frozenset()) -> set:
    """The index variables that no sum binds: the claim is about each of their values."""
    if e.op == "index":
        return set() if e in bound else {e}
    if e.op == "sum":
        bound = bound | {Expr("index", (), (), e.data)}
    return set().union(*(free_indices(a, bound) for a in e.args))


def describe(s: Expr) -> str:
    if s.op == "index":
        return f"an index up to {show(s.data[1])}"
    if s.op == "defined":
        return f"a definition, {show(s.args[0])}"
    return {"size": "a size", "random": "a random "}.get(s.data[1], "a ") + (
        "" if s.data[1] == "size" else f"tensor of shape {show_shape(s.shape)}" if s.shape else "real number"
    )


def show_shape(shape: tuple) -> str:
    return "(" + ", ".join(map(show, shape)) + ")"


def show(e) -> str:
    """A plain-text form for messages."""
    return plain(e)
