"""Mutations of one node of a tree.

Each operator is a function of a node and the claim's `Context` that yields the nodes with which it may be confused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from ..core.constructors import E, Var, function, ones, rounded, softmax, zeros
from ..core.expr import Expr, lift, node
from ..errors import KernelError
from .rebuild_trees import rebuild, transform_tree


class Vocabulary(Protocol):
    """The symbols and indices of a claim, each of which may be mistaken for another."""

    @property
    def sizes(self) -> Sequence[Expr]: ...

    @property
    def names(self) -> Sequence[Expr]: ...

    @property
    def indices(self) -> Sequence[Expr]: ...


Mutations = Iterator[Expr | int | Fraction]  # the nodes that may replace a node


def node_mutator(context: Vocabulary) -> Callable[[Expr], Iterator[tuple[str, Expr]]]:
    """Return a function that yields (operator, new node) for each mutation of a node; ill-typed ones are left out."""

    def mutate(e: Expr) -> Iterator[tuple[str, Expr]]:
        for name, operator in OPERATORS.items():
            mutations = operator(e, context)
            while True:
                try:
                    yield name, lift(next(mutations))
                except StopIteration:
                    break
                except KernelError:  # ill typed; a generator ends with its first error
                    break

    return mutate


def well_typed_of(*constructors: Callable[[], Expr]) -> Mutations:
    """Yield what each constructor returns, without those that raise KernelError."""
    for construct in constructors:
        try:
            yield construct()
        except KernelError:
            continue


def negate(e: Expr) -> Expr:
    """Return the negative of a tree, without a double sign."""
    return e.args[0] if e.op == "neg" else -e


def build_sum(a: Expr, b: Expr) -> Expr:
    """Return the sum as a tree, also of two numbers."""
    return node("add", a, b)


def is_root(e: Expr) -> bool:
    """Return whether a tree is a power with a fraction as its exponent, or is defined as one."""
    return e.op == "defined" and is_root(e.args[0]) or e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator > 1


def sign(e: Expr, context: Vocabulary) -> Mutations:
    """Drop a minus sign, or negate a term or a function's argument."""
    if e.op == "neg":
        yield e.args[0]
    elif e.op == "add":
        yield build_sum(negate(e.args[0]), e.args[1])
        yield build_sum(e.args[0], negate(e.args[1]))
    elif e.op in ("function", "softmax"):
        yield rebuild(e, (negate(e.args[0]),))


def factor(e: Expr, context: Vocabulary) -> Mutations:
    """Multiply or divide by 2, one term or a function's argument."""
    for times in (lambda x: 2 * x, lambda x: x / 2):
        if e.op == "add":
            yield build_sum(times(e.args[0]), e.args[1])
            yield build_sum(e.args[0], times(e.args[1]))
        elif e.op in ("function", "softmax"):
            yield rebuild(e, (times(e.args[0]),))


def exponent(e: Expr, context: Vocabulary) -> Mutations:
    """Change an exponent by 1, negate it or drop it."""
    if e.op == "pow":
        base, power = e.args
        yield from well_typed_of(
            lambda: base ** (power + 1 if power.op != "const" else power.data + 1),
            lambda: base ** (power - 1 if power.op != "const" else power.data - 1),
            lambda: base ** (negate(power) if power.op != "const" else -power.data),
            lambda: base,
        )


def transpose(e: Expr, context: Vocabulary) -> Mutations:
    """Drop or add a transpose."""
    if e.op == "transpose":
        yield e.args[0]
    elif len(e.shape) == 2:
        yield e.T


def swap(e: Expr, context: Vocabulary) -> Mutations:
    """Swap the operands of a matrix product, a quotient or a difference."""
    if len(e.args) != 2:
        return
    a, b = e.args
    if e.op == "matmul":
        yield from well_typed_of(lambda: b @ a)
    elif e.op == "div":
        yield from well_typed_of(lambda: b / a)
    elif e.op == "add" and b.op == "neg":
        yield b.args[0] - a


def index_replaced(e: Expr, context: Vocabulary) -> Mutations:
    """Replace an index by another of the same size, or swap the two indices of an entry."""
    if e.op == "index":
        yield from (i for i in context.indices if i != e and i.data[1] == e.data[1])
    elif e.op == "entry" and len(e.args) == 3:
        yield from well_typed_of(lambda: e.args[0][e.args[2], e.args[1]])


def bound(e: Expr, context: Vocabulary) -> Mutations:
    """Leave out the first term of a sum, or count it twice; and the same for the last term if the size is a number."""
    if e.op == "sum":
        size = e.data[1]
        ends = {1} | ({int(size.data)} if size.op == "const" else set())
        variable = e.bound_index
        for end in sorted(ends):
            term = transform_tree(e.args[0], lambda n: lift(end) if n == variable else None)
            yield e - term
            yield e + term
    elif e.op == "matmul" and not e.shape:
        yield e - e.args[0][1] * e.args[1][1]


def binding_confused(e: Expr, context: Vocabulary) -> Mutations:
    """Bind another index than the one in the body; or take an entry without substituting its index for the bound one."""
    if e.bound_index is not None:
        yield from (Expr(e.op, e.args, e.shape, i.data) for i in context.indices if i.data != e.data and i.data[1] == e.data[1])
    elif e.op == "entry" and e.args[0].op == "each" and not e.args[0].args[0].shape:
        yield e.args[0].args[0]


def condition_changed(e: Expr, context: Vocabulary) -> Mutations:
    """Exchange <= and < in a comparison of positions, move or swap its sides, or drop it."""
    if e.op == "where":
        body, left, right = e.args
        yield node("where", body, left, right, data="<" if e.data == "<=" else "<=")
        yield node("where", body, left + 1, right, data=e.data)
        yield node("where", body, left, right + 1, data=e.data)
        yield node("where", body, right, left, data=e.data)
        yield body


def term_dropped(e: Expr, context: Vocabulary) -> Mutations:
    """Drop a term of a sum."""
    if e.op == "add":
        yield from e.args


def term_added(e: Expr, context: Vocabulary) -> Mutations:
    """Add 1 to a sum."""
    if e.op == "add":
        yield e + (ones(*e.shape) if e.shape else 1)


def factor_dropped(e: Expr, context: Vocabulary) -> Mutations:
    """Drop a factor of a product; replace an identity matrix by ones or zeros."""
    if e.op in ("mul", "matmul"):
        yield from (a for a in e.args if a.shape == e.shape)
    elif e.op == "eye":
        yield ones(*e.shape)
        yield zeros(*e.shape)


def scale_dropped(e: Expr, context: Vocabulary) -> Mutations:
    """Drop a divisor, multiply by it, or divide by its square."""
    if e.op == "div":
        yield e.args[0]
        yield e.args[0] * e.args[1]
        if is_root(e.args[1]):  # divide by d_k instead of its root
            yield e.args[0] / (e.args[1].args[0])


def operation_dropped(e: Expr, context: Vocabulary) -> Mutations:
    """Replace a function, sum, derivative, rounding or moment by its argument."""
    if e.op in ("function", "softmax", "sum", "derivative", "rounded", "expectation", "variance") and e.args[0].shape == e.shape:
        yield e.args[0]


def format_confused(e: Expr, context: Vocabulary) -> Mutations:
    """Round to another format."""
    if e.op == "rounded":
        yield rounded(e.args[0], "fp16" if e.data == "bf16" else "bf16")


def function_confused(e: Expr, context: Vocabulary) -> Mutations:
    """Exchange sine and cosine; square a norm; replace the largest entry by the first or smallest one or by the sum."""
    if e.op == "function" and e.data in ("cos", "sin"):
        yield function("sin" if e.data == "cos" else "cos", e.args[0])
    elif e.op == "function" and e.data == "norm":
        yield e.args[0] @ e.args[0]
    elif e.op == "function" and e.data == "largest":
        yield e.args[0][1]
        yield -function("largest", negate(e.args[0]))
        yield ones(*e.args[0].shape) @ e.args[0]


def inverse_dropped(e: Expr, context: Vocabulary) -> Mutations:
    """Replace an inverse by its argument."""
    if e.op == "inverse":
        yield e.args[0]


def size_changed(e: Expr, context: Vocabulary) -> Mutations:
    """Replace a size by another one, or change it by 1."""
    if e.op == "symbol" and e.data[1] == "size":
        yield from (s for s in context.sizes if s != e)
        yield e + 1
        yield e - 1


def name_changed(e: Expr, context: Vocabulary) -> Mutations:
    """Replace a symbol by another one of the same shape and kind."""
    if e.op == "symbol" and e.data[1] != "size":
        yield from (s for s in context.names if s != e and (s.shape, s.data[1]) == (e.shape, e.data[1]))


def wrong_axis(e: Expr, context: Vocabulary) -> Mutations:
    """Take a softmax over the columns instead of the rows."""
    if e.op == "softmax" and len(e.shape) == 2:
        yield softmax(e.args[0].T).T


def moment_confused(e: Expr, context: Vocabulary) -> Mutations:
    """Exchange the expectation and the variance; replace a variance by the second moment."""
    if e.op == "expectation":
        yield Var(e.args[0])
    elif e.op == "variance":
        yield E(e.args[0])
        yield E(e.args[0] * e.args[0])


def constant_off(e: Expr, context: Vocabulary) -> Mutations:
    """Add 1 to a constant, and subtract 1 from it; exchange a tensor of zeros and a tensor of ones."""
    if e.op == "const":
        yield e.data + 1
        yield e.data - 1
    elif e.op == "fill":
        yield zeros(*e.shape) if e.data else ones(*e.shape)


def product_confused(e: Expr, context: Vocabulary) -> Mutations:
    """Exchange the matrix product and the product entry by entry."""
    if e.op == "matmul" and len(e.args[0].shape) == 2 and len(e.args[1].shape) == 2:
        yield from well_typed_of(lambda: e.args[0] * e.args[1])
    elif e.op == "mul" and all(len(a.shape) == 2 for a in e.args):
        yield from well_typed_of(lambda: e.args[0] @ e.args[1])


OPERATORS: dict[str, Callable[[Expr, Vocabulary], Mutations]] = {
    "sign": sign,
    "factor": factor,
    "exponent": exponent,
    "transpose": transpose,
    "operands swapped": swap,
    "index replaced": index_replaced,
    "bound off by one": bound,
    "binding confused": binding_confused,
    "condition changed": condition_changed,
    "term dropped": term_dropped,
    "term added": term_added,
    "factor dropped": factor_dropped,
    "scale dropped": scale_dropped,
    "operation dropped": operation_dropped,
    "format confused": format_confused,
    "function confused": function_confused,
    "inverse dropped": inverse_dropped,
    "size changed": size_changed,
    "name changed": name_changed,
    "wrong axis": wrong_axis,
    "moment confused": moment_confused,
    "constant off by one": constant_off,
    "product confused": product_confused,
}


def mutate_whole_side(e: Expr) -> Iterator[tuple[str, Expr]]:
    """Yield (operator, new side) for a whole side that is off by a sign, a factor of 2 or 1/2, or a term of 1."""
    is_zero = e.op == "const" and not e.data
    yield "term added", e + (ones(*e.shape) if e.shape else 1)
    if not is_zero:
        yield "sign", negate(e)
        yield "factor", 2 * e
        yield "factor", e / 2
