"""The operators of the expression tree: how many arguments each takes, which shape it has, and what it binds.

What every room must know of an operator is declared here, once. What an operator means is not declared here: each evaluator has a rule
of its own for that, because evaluators that shared their rules would share their mistakes.

To add an operator:

1. Add an entry to `OPERATORS`. (A sine or a norm is not an operator. It is a function: add its name to `ENTRYWISE` or `REDUCING`.)
2. Add a constructor to `expr.py` that calls `node`, with examples in its docstring, and list its name in the kernel's `__init__`.
3. Say how it is printed: its level in `LEVEL` of `printing/latex.py`, and a method in each of `Printer`, `Plain` and `Script`. For a word
   in front of brackets, an entry in `WORDS` replaces the methods. Teach `attack/parse_plain.py` and `attack/parse_latex.py` to read it.
4. Give each evaluator a rule in its `RULES`, or list the operator in its `UNSUPPORTED`: `exact/exact_evaluation.py`, `exact/tree_to_normal_form.py`,
   `sympy/tree_to_sympy.py`, `pytorch/evaluation.py`, `pytorch/float_formats.py`, `coq/notation.py`, `coq/reals/notation.py`, and the judge's
   `attack/mpmath_evaluation.py`. They have such tables for functions, too.
5. If it is partial, say in `coq/reals/definedness.py` where it has a value. For a function in `BENT`, say in `sympy/tree_to_sympy.py` and in
   `pytorch/nondifferentiable_points.py` where its slope jumps (`CORNERS`).

`tests/kernel/core/test_operators.py` names each printer and each evaluator that lacks an entry, and asks for an example of the operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import KernelError, quantity
from ..printing.latex import Tree
from ..printing.plain_text import plain, show_shape

Shape = tuple[Any, ...]
ShapeRule = Callable[..., Shape | None]


@dataclass(frozen=True)
class Op:
    """What every room must know of an operator."""

    name: str
    arity: int | None  # the number of arguments; None: any number
    shape: ShapeRule  # from (data, *arguments); KernelError where they do not fit, None where the node states its own shape
    binds: str = ""  # "index": the index that is its data, (name, size); "random": every random symbol in its argument
    operands: int | None = None  # how many arguments are computed with, if not all: the others are places, or what is differentiated by
    stands_in: bool = False  # whether it means what its argument means
    partial: bool = False  # whether it may have no value where its arguments have one


def by_shapes(fit: Callable[..., Any], shape: Callable[..., Shape], message: str) -> ShapeRule:
    """Return the rule of an operator whose arguments fit by their shapes alone. In `message`, {} stands for a shape that does not fit."""

    def rule(data: Any, *arguments: Tree) -> Shape:
        shapes = [x.shape for x in arguments]
        if not fit(*shapes):
            raise KernelError(message.format(*map(show_shape, shapes)))
        return shape(*shapes)

    return rule


def numbers(data: Any, *arguments: Tree) -> Shape:
    """Return the shape of a number that is made of numbers."""
    for x in arguments:
        if x.shape:
            raise KernelError(f"a scalar is needed here, not shape {show_shape(x.shape)}")
    return ()


def stated(data: Any, *entries: Tree) -> None:
    """Leave the shape to the node, whose entries are numbers."""
    numbers(data, *entries)


def same(data: Any, x: Tree) -> Shape:
    """Return the shape of the only argument, whatever it is."""
    return x.shape


def power(data: Any, base: Tree, exponent: Tree) -> Shape:
    if base.shape:
        raise KernelError(f"a power of a tensor of shape {show_shape(base.shape)} is not defined; take one of an entry")
    return numbers(data, exponent)


def real(data: Any, x: Tree) -> Shape:
    """Return the shape of a number that is made of a real number."""
    if is_complex(x):
        raise KernelError(f"{plain(x)} is complex: it has no sign, no rounding and no place in an order. Leave I out of it")
    return numbers(data, x)


def is_complex(e: Tree) -> bool:
    return e.op == "imaginary" or any(map(is_complex, e.args))


def entry(data: Any, tensor: Tree, *places: Tree) -> Shape:
    """Return the shape of an entry. A place is an index of its axis, or a number that surely lies on the axis."""
    if not places or len(places) != len(tensor.shape):
        raise KernelError(f"{quantity(len(places), 'index', 'indices')} for a tensor of shape {show_shape(tensor.shape)}")
    for place, size in zip(places, tensor.shape):
        if place.op == "index" and place.data[1] != size:
            raise KernelError(f"index {place.data[0]} runs to {plain(place.data[1])}, but the axis has size {plain(size)}")
        if place.op == "const" and place.data not in range(1, 1 + (int(size.data) if size.op == "const" else 1)):
            raise KernelError(f"the index {plain(place)} may lie outside 1..{plain(size)}")
        if place.op not in ("index", "const"):
            raise KernelError("an index is made by index(name, size) or is a positive integer")
    return ()


def function(data: Any, x: Tree) -> Shape:
    if data not in FUNCTIONS:
        raise KernelError(f"{data!r} is not a function; {', '.join(FUNCTIONS)} are known")
    return () if data in REDUCING else x.shape


def derivative(data: Any, body: Tree, by: Tree) -> Shape:
    target = variable(by)
    if target.op != "symbol" or target.data[1] != "real" or by.shape:
        raise KernelError("differentiate by a real scalar symbol or by one entry of a real symbol")
    return numbers(data, body)


def variable(by: Any) -> Any:
    """Return the symbol that a derivative is taken by, or whose entry it is taken by."""
    return by.args[0] if by.op == "entry" else by


ADDED = by_shapes(lambda a, b: a == b, lambda a, b: a, "shapes {} and {} do not go together in add")
MULTIPLIED = by_shapes(lambda a, b: not a or not b or a == b, lambda a, b: a or b, "shapes {} and {} do not go together in mul")
DIVIDED = by_shapes(lambda a, b: not b, lambda a, b: a, "division by a tensor of shape {1}; divide by a scalar")
INNER = "shapes {} and {} cannot be multiplied: the inner sizes must agree"
CONTRACTED = by_shapes(lambda a, b: a and b and a[-1] == b[0], lambda a, b: a[:-1] + b[1:], INNER)
TRANSPOSED = by_shapes(lambda a: len(a) == 2, lambda a: a[::-1], "only a matrix has a transpose, not shape {}")
INVERTED = by_shapes(lambda a: len(a) == 2 and a[0] == a[1], lambda a: a, "only a square matrix has an inverse, not shape {}")
RANKED = by_shapes(lambda a: len(a) == 2, lambda a: (), "only a matrix has a rank, not shape {}")
NORMALIZED = by_shapes(lambda a: a, lambda a: a, "softmax needs a vector or a matrix, not a scalar")

ENTRYWISE = ("exp", "log", "abs", "cos", "sin", "tanh")  # functions of a number, or of each entry of a tensor
REDUCING = ("norm", "largest")  # functions that make one number of a vector
FUNCTIONS = (*ENTRYWISE, *REDUCING)  # what the data of the operator `function` may be
PARTIAL = ("log",)  # functions that have no value for some numbers
BENT = ("abs", "norm", "largest")  # functions whose slope jumps somewhere

OPERATORS = {
    op.name: op
    for op in (
        Op("const", 0, numbers),
        Op("imaginary", 0, numbers),
        Op("symbol", 0, stated),
        Op("index", 0, numbers),
        Op("defined", 1, same, stands_in=True),
        Op("paren", 1, same, stands_in=True),
        Op("add", 2, ADDED),
        Op("neg", 1, same),
        Op("mul", 2, MULTIPLIED),
        Op("div", 2, DIVIDED, partial=True),
        Op("pow", 2, power, partial=True),
        Op("matmul", 2, CONTRACTED),
        Op("transpose", 1, TRANSPOSED),
        Op("inverse", 1, INVERTED, partial=True),
        Op("rank", 1, RANKED),
        Op("eye", 0, stated),
        Op("fill", 0, stated),
        Op("array", None, stated),
        Op("sum", 1, numbers, binds="index"),
        Op("each", 1, lambda data, body: (data[1], *body.shape), binds="index"),
        Op("entry", None, entry, operands=1),
        Op("function", 1, function),
        Op("softmax", 1, NORMALIZED),
        Op("derivative", 2, derivative, operands=1, partial=True),
        Op("rounded", 1, real, partial=True),
        Op("expectation", 1, numbers, binds="random"),
        Op("variance", 1, numbers, binds="random"),
    )
}
BINDERS = frozenset(op.name for op in OPERATORS.values() if op.binds == "index")
AVERAGES = frozenset(op.name for op in OPERATORS.values() if op.binds == "random")
INDEXED = BINDERS | {"index"}  # whose data is an index, (name, size)
STAND_INS = frozenset(op.name for op in OPERATORS.values() if op.stands_in)


def is_partial(e: Tree) -> bool:
    """Tell whether the node may have no value where its arguments have one."""
    return e.data in PARTIAL if e.op == "function" else OPERATORS[e.op].partial


def shape_of(name: str, data: Any, arguments: tuple, stated: Shape) -> Shape:
    """Return the shape of a node. Raise KernelError if there is no such operator, or if the arguments do not fit it."""
    op = OPERATORS.get(name)
    if op is None:
        raise KernelError(f"there is no operator '{name}'; core/operators.py declares {', '.join(OPERATORS)}")
    if op.arity not in (None, len(arguments)):
        raise KernelError(f"{name} takes {op.arity} argument{'s' * (op.arity != 1)}, not {len(arguments)}")
    shape = op.shape(data, *arguments)
    return stated if shape is None else shape
