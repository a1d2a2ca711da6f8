"""Slips at one node of a tree: each operator yields what may stand there in its place."""

from __future__ import annotations

from fractions import Fraction

from ..core.expr import E, Expr, Var, function, lift, node, ones, softmax, zeros
from ..errors import KernelError
from .rebuild_trees import everywhere, rebuild

HALF = Fraction(1, 2)


def slips_at(context):
    def slips(e: Expr):
        for name, operator in OPERATORS.items():
            made = operator(e, context)
            while True:
                try:
                    yield name, lift(next(made))
                except StopIteration:
                    break
                except KernelError:  # ill typed
                    break

    return slips


def attempts(*makers):
    """What the makers make, without what is ill typed."""
    for make in makers:
        try:
            yield make()
        except KernelError:
            continue


def negated(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else -e


def plus(a: Expr, b: Expr) -> Expr:
    return node("add", a, b)


def is_root(e: Expr) -> bool:
    """A power with a fraction as its exponent."""
    return e.op == "defined" and is_root(e.args[0]) or e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator > 1


def sign(e, context):
    if e.op == "neg":
        yield e.args[0]
    elif e.op == "add":
        yield plus(negated(e.args[0]), e.args[1])
        yield plus(e.args[0], negated(e.args[1]))
    elif e.op in ("function", "softmax"):
        yield rebuild(e, (negated(e.args[0]),))


def factor(e, context):
    for times in (lambda x: 2 * x, lambda x: x / 2):
        if e.op == "add":
            yield plus(times(e.args[0]), e.args[1])
            yield plus(e.args[0], times(e.args[1]))
        elif e.op in ("function", "softmax"):
            yield rebuild(e, (times(e.args[0]),))


def exponent(e, context):
    if e.op == "pow":
        base, power = e.args
        yield from attempts(
            lambda: base ** (power + 1 if power.op != "const" else power.data + 1),
            lambda: base ** (power - 1 if power.op != "const" else power.data - 1),
            lambda: base ** (negated(power) if power.op != "const" else -power.data),
            lambda: base,
        )


def transpose(e, context):
    if e.op == "transpose":
        yield e.args[0]
    elif len(e.shape) == 2:
        yield e.T


def swap(e, context):
    a, b = (*e.args, None, None)[:2]
    if e.op == "matmul":
        yield from attempts(lambda: b @ a)
    elif e.op == "div":
        yield from attempts(lambda: b / a)
    elif e.op == "add" and b.op == "neg":
        yield b.args[0] - a


def index_replaced(e, context):
    if e.op == "index":
        yield from (i for i in context.indices if i != e and i.data[1] == e.data[1])
    elif e.op == "entry" and len(e.args) == 3:
        yield from attempts(lambda: e.args[0][e.args[2], e.args[1]])


def bound(e, context):
    """A sum that starts at its second term, or counts its first term twice; and the same at its end where that has a number."""
    if e.op == "sum":
        size = e.data[1]
        ends = {1} | ({int(size.data)} if size.op == "const" else set())
        variable = e.bound_index
        for end in sorted(ends):
            term = everywhere(e.args[0], lambda n: lift(end) if n == variable else None)
            yield e - term
            yield e + term
    elif e.op == "matmul" and not e.shape:
        yield e - e.args[0][1] * e.args[1][1]


def binding_confused(e, context):
    """Another index bound than the one that the body has; and an entry of which the index that was bound is left as it is."""
    if e.bound_index is not None:
        yield from (Expr(e.op, e.args, e.shape, i.data) for i in context.indices if i.data != e.data and i.data[1] == e.data[1])
    elif e.op == "entry" and e.args[0].op == "each" and not e.args[0].args[0].shape:
        yield e.args[0].args[0]


def term_dropped(e, context):
    if e.op == "add":
        yield from e.args


def term_added(e, context):
    if e.op == "add":
        yield e + (ones(*e.shape) if e.shape else 1)


def factor_dropped(e, context):
    if e.op in ("mul", "matmul"):
        yield from (a for a in e.args if a.shape == e.shape)
    elif e.op == "eye":
        yield ones(*e.shape)
        yield zeros(*e.shape)


def scale_dropped(e, context):
    if e.op == "div":
        yield e.args[0]
        yield e.args[0] * e.args[1]
        if is_root(e.args[1]):  # divided by d_k instead of its root
            yield e.args[0] / (e.args[1].args[0])


def operation_dropped(e, context):
    if e.op in ("function", "softmax", "sum", "derivative", "rounded", "expectation", "variance") and e.args[0].shape == e.shape:
        yield e.args[0]


def function_confused(e, context):
    """A cosine for a sine, and the other way round; a length for its square; the first, the smallest or the sum for the largest."""
    if e.op == "function" and e.data in ("cos", "sin"):
        yield function("sin" if e.data == "cos" else "cos", e.args[0])
    elif e.op == "function" and e.data == "norm":
        yield e.args[0] @ e.args[0]
    elif e.op == "function" and e.data == "largest":
        yield e.args[0][1]
        yield -function("largest", negated(e.args[0]))
        yield ones(*e.args[0].shape) @ e.args[0]


def inverse_dropped(e, context):
    if e.op == "inverse":
        yield e.args[0]


def size_changed(e, context):
    if e.op == "symbol" and e.data[1] == "size":
        yield from (s for s in context.sizes if s != e)
        yield e + 1
        yield e - 1


def name_changed(e, context):
    if e.op == "symbol" and e.data[1] != "size":
        yield from (s for s in context.names if s != e and (s.shape, s.data[1]) == (e.shape, e.data[1]))


def wrong_axis(e, context):
    if e.op == "softmax" and len(e.shape) == 2:
        yield softmax(e.args[0].T).T


def moment_confused(e, context):
    if e.op == "expectation":
        yield Var(e.args[0])
    elif e.op == "variance":
        yield E(e.args[0])
        yield E(e.args[0] * e.args[0])


def constant_off(e, context):
    if e.op == "const":
        yield e.data + 1
        yield e.data - 1
    elif e.op == "fill":
        yield zeros(*e.shape) if e.data else ones(*e.shape)


def product_confused(e, context):
    """Entry by entry instead of a matrix product, and the other way round."""
    if e.op == "matmul" and len(e.args[0].shape) == 2 and len(e.args[1].shape) == 2:
        yield from attempts(lambda: e.args[0] * e.args[1])
    elif e.op == "mul" and all(len(a.shape) == 2 for a in e.args):
        yield from attempts(lambda: e.args[0] @ e.args[1])


OPERATORS = {
    "sign": sign,
    "factor": factor,
    "exponent": exponent,
    "transpose": transpose,
    "operands swapped": swap,
    "index replaced": index_replaced,
    "bound off by one": bound,
    "binding confused": binding_confused,
    "term dropped": term_dropped,
    "term added": term_added,
    "factor dropped": factor_dropped,
    "scale dropped": scale_dropped,
    "operation dropped": operation_dropped,
    "function confused": function_confused,
    "inverse dropped": inverse_dropped,
    "size changed": size_changed,
    "name changed": name_changed,
    "wrong axis": wrong_axis,
    "moment confused": moment_confused,
    "constant off by one": constant_off,
    "product confused": product_confused,
}


def slips_of_a_side(e: Expr):
    """A whole side that is off by a sign, a factor or one."""
    zero = e.op == "const" and not e.data
    yield "term added", e + (ones(*e.shape) if e.shape else 1)
    if not zero:
        yield "sign", negated(e)
        yield "factor", 2 * e
        yield "factor", e / 2
