"""The operators of expression trees: the arity, the shape rule and the binding of each.

What every room must know about an operator is declared here, once. The meaning of an operator is not: each evaluator has its own rule
for that, because evaluators that shared rules would share mistakes.

To add an operator:

1. Add an entry to `OPERATORS`. (A sine or a norm is not an operator. It is a function: add its name to `ENTRYWISE` or `REDUCING`.)
2. Add a constructor to `constructors.py` that calls `node`, with examples in its docstring, and list its name in the kernel's `__init__`.
3. Define how it is printed: add its level to `LEVEL` of `printing/latex.py`, and a method to each of `Printer`, `Plain` and `Script`. If it
   is printed as a word before brackets, an entry in `WORDS` replaces the methods. Teach `attack/parse_plain.py` and `attack/parse_latex.py` to read it.
4. Give each evaluator a rule in its `RULES`, or list the operator in its `UNSUPPORTED`: `exact/exact_evaluation.py`, `exact/tree_to_normal_form.py`,
   `sympy/tree_to_sympy.py`, `pytorch/evaluation.py`, `pytorch/float_formats.py`, `coq/notation.py`, `coq/reals/notation.py`, and the judge's
   `attack/mpmath_evaluation.py`. They have similar tables for functions.
5. If it is partial, state in `coq/reals/definedness.py` where it is defined. For a function in `NONSMOOTH`, state in `sympy/derivative_text.py` and
   in `pytorch/nondifferentiable_points.py` where its derivative jumps (`CORNERS`).

`tests/kernel/core/test_operators.py` fails for each printer and each evaluator that lacks an entry, and for an operator without an example.
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
    """What every room must know about an operator."""

    name: str
    arity: int | None  # the number of arguments; None: any number
    shape: ShapeRule  # maps (data, *arguments) to the shape; None if the node states its shape; KernelError if the arguments do not fit
    binds: str = ""  # "index": the index in its data, (name, size); "random": every random symbol in its argument
    operands: int | None = (
        None  # the number of leading arguments that are values, if not all: the others are indices, or a differentiation variable
    )
    transparent: bool = False  # whether its value is that of its argument
    partial: bool = False  # whether it may be undefined although its arguments are defined


def by_shapes(fit: Callable[..., Any], shape: Callable[..., Shape], message: str, code: str = "wrong-shape") -> ShapeRule:
    """Return a shape rule that looks only at the shapes of the arguments. In `message`, {} is replaced by the shapes that do not `fit`."""

    def rule(data: Any, *arguments: Tree) -> Shape:
        shapes = [x.shape for x in arguments]
        if not fit(*shapes):
            raise KernelError(message.format(*map(show_shape, shapes)), code=code)
        return shape(*shapes)

    return rule


def scalar(data: Any, *arguments: Tree) -> Shape:
    """Return the scalar shape. Raise KernelError unless all arguments are scalars."""
    for x in arguments:
        if x.shape:
            raise KernelError(f"a scalar is needed here, not shape {show_shape(x.shape)}", code="wrong-shape")
    return ()


def stated(data: Any, *entries: Tree) -> None:
    """Return None, because the node states its own shape. Raise KernelError unless all entries are scalars."""
    scalar(data, *entries)


def same(data: Any, x: Tree) -> Shape:
    """Return the shape of the only argument."""
    return x.shape


def power(data: Any, base: Tree, exponent: Tree) -> Shape:
    """Return the scalar shape. Raise KernelError unless base and exponent are scalars."""
    if base.shape:
        raise KernelError(f"a power of a tensor of shape {show_shape(base.shape)} is not defined; take one of an entry", code="wrong-shape")
    return scalar(data, exponent)


def real_scalar(data: Any, x: Tree) -> Shape:
    """Return the scalar shape. Raise KernelError unless the argument is a scalar without the imaginary unit."""
    if is_complex(x):
        raise KernelError(
            f"{plain(x)} is complex: it has no sign, no rounding and no place in an order. Leave I out of it", code="not-real"
        )
    return scalar(data, x)


def is_complex(e: Tree) -> bool:
    """Return whether the imaginary unit occurs in the tree outside of absolute values, which are real."""
    return e.op == "imaginary" or (e.op, e.data) != ("function", "abs") and any(map(is_complex, e.args))


def entry(data: Any, tensor: Tree, *indices: Tree) -> Shape:
    """Check the indices of an entry, and return its shape, which is always ().

    Raise KernelError for a wrong number of indices, for an index that runs over another size than its axis, and for a number that may lie
    outside the axis.
    """
    if not indices or len(indices) != len(tensor.shape):
        raise KernelError(
            f"{quantity(len(indices), 'index', 'indices')} for a tensor of shape {show_shape(tensor.shape)}", code="wrong-number-of-indices"
        )
    for index, size in zip(indices, tensor.shape):
        if index.op == "index" and index.data[1] != size:
            raise KernelError(
                f"index {index.data[0]} runs to {plain(index.data[1])}, but the axis has size {plain(size)}", code="index-of-another-size"
            )
        if index.op == "const" and index.data not in range(1, 1 + (int(size.data) if size.op == "const" else 1)):
            raise KernelError(f"the index {plain(index)} may lie outside 1..{plain(size)}", code="index-out-of-range")
        if index.op not in ("index", "const"):
            raise KernelError("an index is made by index(name, size) or is a positive integer", code="not-an-index")
    return ()


def where(data: Any, body: Tree, left: Tree, right: Tree) -> Shape:
    """Return the scalar shape. Raise KernelError unless the condition compares two positions."""
    if not (is_position(left) and is_position(right)):
        raise KernelError(f"{plain(left)} {data} {plain(right)} does not compare indices, sizes and integers", code="not-a-condition")
    return scalar(data, body)


def is_position(e: Tree) -> bool:
    """Return whether an expression is a sum of indices, sizes and integers, each taken once or an integer number of times."""
    if e.op == "mul":
        return any(x.op == "const" and x.data.denominator == 1 and is_position(y) for x, y in (e.args, e.args[::-1]))
    if e.op in ("add", "neg", "paren"):
        return all(map(is_position, e.args))
    return e.op == "index" or e.op == "symbol" and e.data[1] == "size" or e.op == "const" and e.data.denominator == 1


def function(data: Any, x: Tree) -> Shape:
    """Return the shape of a function's value: scalar if it reduces a vector to a number, else that of its argument."""
    if data not in FUNCTIONS:
        raise KernelError(f"{data!r} is not a function; {', '.join(FUNCTIONS)} are known", code="unknown-function")
    if data == "norm" and is_complex(x):
        raise KernelError(f"the length of {plain(x)}, which is complex, is that of its absolute values", code="not-real")
    return () if data in REDUCING else x.shape


def derivative(data: Any, body: Tree, by: Tree) -> Shape:
    """Return the scalar shape. Raise KernelError unless a scalar is differentiated by a real scalar symbol or by an entry of a real symbol."""
    target = differentiation_symbol(by)
    if target.op != "symbol" or target.data[1] != "real" or by.shape:
        raise KernelError("differentiate by a real scalar symbol or by one entry of a real symbol", code="invalid-derivative-variable")
    return scalar(data, body)


def differentiation_symbol(by: Any) -> Any:
    """Return the symbol of a differentiation variable, which is a symbol or an entry of one."""
    return by.args[0] if by.op == "entry" else by


MISMATCH = "shapes {} and {} do not go together in "
ADDED = by_shapes(lambda a, b: a == b, lambda a, b: a, MISMATCH + "add", "mismatched-shapes")
MULTIPLIED = by_shapes(lambda a, b: not a or not b or a == b, lambda a, b: a or b, MISMATCH + "mul", "mismatched-shapes")
DIVIDED = by_shapes(lambda a, b: not b, lambda a, b: a, "division by a tensor of shape {1}; divide by a scalar")
INNER = "shapes {} and {} cannot be multiplied: the inner sizes must agree"
CONTRACTED = by_shapes(lambda a, b: a and b and a[-1] == b[0], lambda a, b: a[:-1] + b[1:], INNER, "mismatched-shapes")
TRANSPOSED = by_shapes(lambda a: len(a) == 2, lambda a: a[::-1], "only a matrix has a transpose, not shape {}")
INVERTED = by_shapes(lambda a: len(a) == 2 and a[0] == a[1], lambda a: a, "only a square matrix has an inverse, not shape {}")
RANKED = by_shapes(lambda a: len(a) == 2, lambda a: (), "only a matrix has a rank, not shape {}")
NORMALIZED = by_shapes(lambda a: a, lambda a: a, "softmax needs a vector or a matrix, not a scalar")

ENTRYWISE = ("exp", "log", "abs", "cos", "sin", "tanh")  # functions that act on a number, or on each entry of a tensor
REDUCING = ("norm", "largest")  # functions that map a vector to a number
FUNCTIONS = (*ENTRYWISE, *REDUCING)  # the possible data of the operator `function`
PARTIAL = ("log",)  # functions that are undefined for some real numbers
NONSMOOTH = ("abs", "norm", "largest")  # functions whose derivative jumps somewhere

OPERATORS = {
    op.name: op
    for op in (
        Op("const", 0, scalar),
        Op("imaginary", 0, scalar),
        Op("symbol", 0, stated),
        Op("index", 0, scalar),
        Op("defined", 1, same, transparent=True),
        Op("paren", 1, same, transparent=True),
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
        Op("sum", 1, scalar, binds="index"),
        Op("each", 1, lambda data, body: (data[1], *body.shape), binds="index"),
        Op("where", 3, where),  # the first argument where data, "<=" or "<", holds of the others; elsewhere 0
        Op("entry", None, entry, operands=1),
        Op("function", 1, function),
        Op("softmax", 1, NORMALIZED),
        Op("derivative", 2, derivative, operands=1, partial=True),
        Op("rounded", 1, real_scalar, partial=True),
        Op("expectation", 1, scalar, binds="random"),
        Op("variance", 1, scalar, binds="random"),
    )
}
BINDERS = frozenset(op.name for op in OPERATORS.values() if op.binds == "index")
AVERAGE_OPERATORS = frozenset(op.name for op in OPERATORS.values() if op.binds == "random")
INDEXED = BINDERS | {"index"}  # operators whose data is an index, (name, size)
TRANSPARENT = frozenset(op.name for op in OPERATORS.values() if op.transparent)


def is_partial(e: Tree) -> bool:
    """Return whether the node may be undefined although its arguments are defined."""
    return e.data in PARTIAL if e.op == "function" else OPERATORS[e.op].partial


def shape_of(name: str, data: Any, arguments: tuple, stated: Shape) -> Shape:
    """Return the shape of a node. Raise KernelError if the operator does not exist or its arguments do not fit."""
    op = OPERATORS.get(name)
    if op is None:
        raise KernelError(f"there is no operator '{name}'; core/operators.py declares {', '.join(OPERATORS)}", code="unknown-operator")
    if op.arity not in (None, len(arguments)):
        raise KernelError(f"{name} takes {op.arity} argument{'s' * (op.arity != 1)}, not {len(arguments)}", code="wrong-arguments")
    shape = op.shape(data, *arguments)
    return stated if shape is None else shape
