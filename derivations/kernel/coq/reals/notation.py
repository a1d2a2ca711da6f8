"""What a tree is over the reals: numbers, and functions of places for tensors.

Nothing here is proved, so this is what has to be read, with `definedness.py`.
"""

from __future__ import annotations

from fractions import Fraction

from ...core.expr import Expr, walk
from ..algebraic_structures import NotForCoq
from ..reserved_words import coq_name

RESERVED = frozenset(
    """
    total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows length_of vector_of matrix_of
    exp ln sqrt Rabs cos sin tanh Rpower all columns rounded_fp32
    is_lim is_lim_seq filterlim at_right locally eventually p_infty Rbar_locally
    Derive ex_derive marked_vector marked_matrix rank_at_most rank_is
    """.split()  # noqa: SIM905
)
PLACES = ("row", "column", "third", "fourth")
MOVING = "moving"
FUNCTIONS = {"exp": "exp", "log": "ln", "abs": "Rabs", "cos": "cos", "sin": "sin", "tanh": "tanh"}
OF_VECTORS = {"norm": "length_of"}
UNSUPPORTED_FUNCTIONS = ("largest",)
UNSUPPORTED = {
    "expectation": "an expectation",
    "variance": "a variance",
    "imaginary": "a complex number",
    "inverse": "an inverse of a matrix",
    "rank": "a rank",
}

ATOM, APPLIED, POWER, PRODUCT, SUM = range(5)  # what binds tighter comes first


def name_of(name: str) -> str:
    found = coq_name(name)
    return found + "_" if found in RESERVED or found in PLACES else found


def type_of(shape: tuple) -> str:
    return "nat -> " * len(shape) + "R"


def size_of(size: Expr) -> str:
    return f"{int(size.data)}" if size.op == "const" else name_of(size.data[0])


def show(e: Expr, most: int = SUM) -> str:
    """The tree in Coq, in brackets if it binds more loosely than `most`."""
    if e.op in UNSUPPORTED:
        raise NotForCoq(f"{UNSUPPORTED[e.op]}, which is not stated over the reals yet")
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForCoq(f"'{e.op}', which is not stated over the reals")
    text, level = rule(e)
    return f"({text})" if level > most else text


def rational(q: Fraction) -> tuple:
    text = f"{q.numerator} / {q.denominator}" if q.denominator != 1 else str(q.numerator)
    return (text, ATOM) if q.denominator == 1 and q >= 0 else (f"({text})", ATOM)


def of_symbol(e: Expr) -> tuple:
    name, kind = e.data
    if kind == "random":
        raise NotForCoq("a random variable, which is not stated over the reals yet")
    return (f"number {name_of(name)}", APPLIED) if kind == "size" else (name_of(name), ATOM)


def of_index(e: Expr) -> tuple:
    return f"(number {name_of(e.data[0])} + 1)", ATOM


def at(e: Expr, places: list, most: int = SUM) -> str:
    """The entry of a tensor at places, in brackets if it binds more loosely than `most`; of a number, the number."""
    if not e.shape:
        return show(e, most)
    if e.op in ENTRYWISE:
        text, level = ENTRYWISE[e.op](e, places)
    else:
        text, level = f"{show(e, APPLIED)} {' '.join(places)}", APPLIED
    return f"({text})" if level > most else text


def entrywise(e: Expr) -> tuple:
    """An operation entry by entry: of numbers, or as the tensor whose entries it gives."""
    if not e.shape:
        return ENTRYWISE[e.op](e, [])
    if len(e.shape) > len(PLACES):
        raise NotForCoq("a tensor of more than four axes")
    places = list(PLACES[: len(e.shape)])
    return f"(fun {' '.join(places)} => {at(e, places)})", ATOM


def of_add(e: Expr, places: list) -> tuple:
    left, right = e.args
    sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
    return f"{at(left, places)} {sign} {at(right, places, PRODUCT)}", SUM


def of_neg(e: Expr, places: list) -> tuple:
    return f"- {at(e.args[0], places, POWER)}", SUM


def of_mul(e: Expr, places: list) -> tuple:
    left, right = e.args
    return f"{at(left, places, PRODUCT)} * {at(right, places, POWER)}", PRODUCT


def of_div(e: Expr, places: list) -> tuple:
    left, right = e.args
    return f"{at(left, places, PRODUCT)} / {at(right, places, POWER)}", PRODUCT


def of_pow(e: Expr) -> tuple:
    """A whole power by multiplying, a power of a half by roots, any other by the logarithm: its base is positive, says `definedness.py`."""
    base, exponent = e.args
    if exponent.op != "const" or exponent.data.denominator not in (1, 2, 4):
        return f"Rpower {show(base, ATOM)} {show(exponent, ATOM)}", APPLIED
    q, text = exponent.data, show(base, ATOM)
    for _ in range(q.denominator.bit_length() - 1):
        text = f"(sqrt {text})"
    if abs(q.numerator) != 1:
        text = f"({text} ^ {abs(q.numerator)})"
    return (f"(/ {text})", ATOM) if q < 0 else (text, ATOM)


def of_matmul(e: Expr) -> tuple:
    left, right = e.args
    by = {(1, 1): "dot", (2, 1): "matrix_vector", (1, 2): "vector_matrix", (2, 2): "product"}.get((len(left.shape), len(right.shape)))
    if by is None:
        raise NotForCoq("a product of tensors with more than two axes")
    return f"{by} {size_of(right.shape[0])} {show(left, ATOM)} {show(right, ATOM)}", APPLIED


def of_transpose(e: Expr) -> tuple:
    return f"transposed {show(e.args[0], ATOM)}", APPLIED


def of_fill(e: Expr, places: list) -> tuple:
    return rational(e.data)


def of_array(e: Expr) -> tuple:
    if len(e.shape) > 2:
        raise NotForCoq("a tensor of more than two axes, written out")
    return written(
        [[show(x) for x in e.args[k : k + int(e.shape[-1].data)]] for k in range(0, len(e.args), int(e.shape[-1].data))], e.shape
    )


def written(rows: list, shape: tuple) -> tuple:
    listed = ["[" + "; ".join(row) + "]" for row in rows]
    return (f"vector_of {listed[0]}" if len(shape) == 1 else f"matrix_of [{'; '.join(listed)}]"), APPLIED


def of_sum(e: Expr) -> tuple:
    name, size = e.data
    return f"\\sum_({name_of(name)} < {size_of(size)}) {show(e.args[0], PRODUCT)}", SUM


def of_each(e: Expr) -> tuple:
    return f"(fun {name_of(e.data[0])} => {show(e.args[0])})", ATOM


def of_entry(e: Expr) -> tuple:
    base, *places = e.args
    return f"{show(base, APPLIED)} {' '.join(map(place, places))}", APPLIED


def place(i: Expr) -> str:
    """An index is counted from 0 here."""
    return name_of(i.data[0]) if i.op == "index" else f"{int(i.data) - 1}%nat"


def of_function(e: Expr, places: list) -> tuple:
    (x,) = e.args
    if e.data in OF_VECTORS and len(x.shape) == 1:
        return f"{OF_VECTORS[e.data]} {size_of(x.shape[0])} {show(x, ATOM)}", APPLIED
    if e.data not in FUNCTIONS:
        raise NotForCoq(f"the function {e.data}, which is not stated over the reals yet")
    return f"{FUNCTIONS[e.data]} {at(x, places, ATOM)}", APPLIED


def of_rounded(e: Expr) -> tuple:
    if e.data != "fp32":
        raise NotForCoq(f"rounding to {e.data}, which is not stated over the reals yet")
    return f"rounded_fp32 {show(e.args[0], ATOM)}", APPLIED


def of_softmax(e: Expr) -> tuple:
    if len(e.shape) > 2:
        raise NotForCoq("softmax of a tensor with more than two axes")
    return f"softmax_{'rows' if len(e.shape) == 2 else 'vector'} {size_of(e.shape[-1])} {show(e.args[0], ATOM)}", APPLIED


def of_derivative(e: Expr) -> tuple:
    return f"Derive {' '.join(moved(e))}", APPLIED


def moved(e: Expr) -> tuple:
    """(function, point) of a derivative: what a symbol stands for, or one of its entries, is a number that moves."""
    body, by = e.args
    if any(n.op == "derivative" for n in walk(body)):
        raise NotForCoq("a derivative of a derivative, which is not stated over the reals yet")
    if by.op != "entry":
        return f"(fun {show(by)} => {show(body)})", show(by, ATOM)
    tensor, *places = by.args
    if len(places) > 2:
        raise NotForCoq("a derivative by an entry of a tensor with more than two axes")
    marked = f"marked_{'vector' if len(places) == 1 else 'matrix'} {show(tensor)} {' '.join(map(place, places))} {MOVING}"
    return f"(fun {MOVING} => let {show(tensor)} := {marked} in {show(body)})", show(by, ATOM)


def of_same(e: Expr) -> tuple:
    return show(e.args[0], ATOM), ATOM


ENTRYWISE = {
    "add": of_add,
    "neg": of_neg,
    "mul": of_mul,
    "div": of_div,
    "fill": of_fill,
    "function": of_function,
    "paren": lambda e, places: (at(e.args[0], places, ATOM), ATOM),
    "defined": lambda e, places: (at(e.args[0], places, ATOM), ATOM),
    "transpose": lambda e, places: (at(e.args[0], places[::-1], APPLIED), APPLIED),
}
RULES = {
    **dict.fromkeys(ENTRYWISE, entrywise),
    "paren": of_same,
    "defined": of_same,
    "const": lambda e: rational(e.data),
    "symbol": of_symbol,
    "index": of_index,
    "pow": of_pow,
    "matmul": of_matmul,
    "transpose": of_transpose,
    "eye": lambda e: ("identity", ATOM),
    "array": of_array,
    "sum": of_sum,
    "each": of_each,
    "entry": of_entry,
    "rounded": of_rounded,
    "derivative": of_derivative,
    "softmax": of_softmax,
}
