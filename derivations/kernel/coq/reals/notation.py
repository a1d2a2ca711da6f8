"""Translate trees to the reals: a scalar becomes a number, a tensor a function of natural numbers, its places, counted from 0.

Coq does not check this translation, so review this file and `definedness.py` with care.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ...core.expr import Expr, walk
from ..algebraic_structures import NotForCoq
from ..reserved_words import name_in_coq

RESERVED = frozenset(
    """
    total number dot matrix_vector vector_matrix product transposed identity softmax_vector softmax_rows length_of vector_of matrix_of
    exp ln sqrt Rabs cos sin tanh Rpower all columns rounded_fp32
    is_lim is_lim_seq filterlim at_right locally eventually p_infty Rbar_locally
    Derive ex_derive marked_vector marked_matrix rank_at_most rank_is
    """.split()  # noqa: SIM905
)
Text = tuple[str, int]  # Coq text, and how tightly it binds: one of the levels below

PLACES = ("row", "column", "third", "fourth")  # names of bound places
MOVING = "moving"
FUNCTIONS = {"exp": "exp", "log": "ln", "abs": "Rabs", "cos": "cos", "sin": "sin", "tanh": "tanh"}
OF_VECTORS = {"norm": "length_of"}
UNSUPPORTED_FUNCTIONS = ("largest",)
UNSUPPORTED = {
    "expectation": "an expectation",
    "variance": "a variance",
    "imaginary": "a complex number",
    "where": "a comparison of positions",
    "inverse": "an inverse of a matrix",
    "rank": "a rank",
}

ATOM, APPLIED, POWER, PRODUCT, SUM = range(5)  # levels, from the tightest to the loosest


def name_of(name: str) -> str:
    """Return the name of a symbol, size or index in Coq."""
    text = name_in_coq(name)
    return text + "_" if text in RESERVED or text in PLACES else text


def type_of(shape: tuple[Expr, ...]) -> str:
    """Return the type of a tensor in Coq."""
    return "nat -> " * len(shape) + "R"


def size_of(size: Expr) -> str:
    """Return a size as a natural number in Coq."""
    return f"{int(size.data)}" if size.op == "const" else name_of(size.data[0])


def show(e: Expr, loosest: int = SUM) -> str:
    """Return the tree in Coq, in parentheses if it binds more loosely than `loosest`. Raise NotForCoq if it has no translation."""
    if e.op in UNSUPPORTED:
        raise NotForCoq(f"{UNSUPPORTED[e.op]}, which is not stated over the reals yet")
    rule = RULES.get(e.op)
    if rule is None:
        raise NotForCoq(f"'{e.op}', which is not stated over the reals")
    text, level = rule(e)
    return f"({text})" if level > loosest else text


def rational(q: Fraction) -> Text:
    text = f"{q.numerator} / {q.denominator}" if q.denominator != 1 else str(q.numerator)
    return (text, ATOM) if q.denominator == 1 and q >= 0 else (f"({text})", ATOM)


def translate_symbol(e: Expr) -> Text:
    name, kind = e.data
    if kind == "random":
        raise NotForCoq("a random variable, which is not stated over the reals yet")
    return (f"number {name_of(name)}", APPLIED) if kind == "size" else (name_of(name), ATOM)


def translate_index(e: Expr) -> Text:
    return f"(number {name_of(e.data[0])} + 1)", ATOM


def show_entry(e: Expr, places: list[str], loosest: int = SUM) -> str:
    """Return the entry of a tensor at the places, or a number itself, in parentheses if it binds more loosely than `loosest`."""
    if not e.shape:
        return show(e, loosest)
    if e.op in ENTRYWISE:
        text, level = ENTRYWISE[e.op](e, places)
    else:
        text, level = f"{show(e, APPLIED)} {' '.join(places)}", APPLIED
    return f"({text})" if level > loosest else text


def entrywise(e: Expr) -> Text:
    """Translate an operation that works entry by entry: on numbers directly, on tensors as a function of the places."""
    if not e.shape:
        return ENTRYWISE[e.op](e, [])
    if len(e.shape) > len(PLACES):
        raise NotForCoq("a tensor of more than four axes")
    places = list(PLACES[: len(e.shape)])
    return f"(fun {' '.join(places)} => {show_entry(e, places)})", ATOM


def translate_add(e: Expr, places: list[str]) -> Text:
    left, right = e.args
    sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
    return f"{show_entry(left, places)} {sign} {show_entry(right, places, PRODUCT)}", SUM


def translate_neg(e: Expr, places: list[str]) -> Text:
    return f"- {show_entry(e.args[0], places, POWER)}", SUM


def translate_mul(e: Expr, places: list[str]) -> Text:
    left, right = e.args
    return f"{show_entry(left, places, PRODUCT)} * {show_entry(right, places, POWER)}", PRODUCT


def translate_div(e: Expr, places: list[str]) -> Text:
    left, right = e.args
    return f"{show_entry(left, places, PRODUCT)} / {show_entry(right, places, POWER)}", PRODUCT


def translate_pow(e: Expr) -> Text:
    """Translate a power: `^` for an integer exponent, `sqrt` for halves and quarters, `Rpower` for any other.

    `Rpower` is defined by the logarithm; `definedness.py` requires that its base is positive.
    """
    base, exponent = e.args
    if exponent.op != "const" or exponent.data.denominator not in (1, 2, 4):
        return f"Rpower {show(base, ATOM)} {show(exponent, ATOM)}", APPLIED
    q, text = exponent.data, show(base, ATOM)
    for _ in range(q.denominator.bit_length() - 1):
        text = f"(sqrt {text})"
    if abs(q.numerator) != 1:
        text = f"({text} ^ {abs(q.numerator)})"
    return (f"(/ {text})", ATOM) if q < 0 else (text, ATOM)


def translate_matmul(e: Expr) -> Text:
    left, right = e.args
    name = {(1, 1): "dot", (2, 1): "matrix_vector", (1, 2): "vector_matrix", (2, 2): "product"}.get((len(left.shape), len(right.shape)))
    if name is None:
        raise NotForCoq("a product of tensors with more than two axes")
    return f"{name} {size_of(right.shape[0])} {show(left, ATOM)} {show(right, ATOM)}", APPLIED


def translate_transpose(e: Expr) -> Text:
    return f"transposed {show(e.args[0], ATOM)}", APPLIED


def translate_fill(e: Expr, places: list[str]) -> Text:
    return rational(e.data)


def translate_array(e: Expr) -> Text:
    if len(e.shape) > 2:
        raise NotForCoq("a tensor of more than two axes, written out")
    columns = int(e.shape[-1].data)
    rows = [[show(x) for x in e.args[k : k + columns]] for k in range(0, len(e.args), columns)]
    return write_tensor(rows, len(e.shape))


def write_tensor(rows: list[list[str]], axes: int) -> Text:
    """Return the Coq text of a vector with the entries of the only row, or of a matrix with these rows."""
    lists = ["[" + "; ".join(row) + "]" for row in rows]
    return (f"vector_of {lists[0]}" if axes == 1 else f"matrix_of [{'; '.join(lists)}]"), APPLIED


def translate_sum(e: Expr) -> Text:
    name, size = e.data
    return f"\\sum_({name_of(name)} < {size_of(size)}) {show(e.args[0], PRODUCT)}", SUM


def translate_each(e: Expr) -> Text:
    return f"(fun {name_of(e.data[0])} => {show(e.args[0])})", ATOM


def translate_entry(e: Expr) -> Text:
    base, *places = e.args
    return f"{show(base, APPLIED)} {' '.join(map(place, places))}", APPLIED


def place(i: Expr) -> str:
    """Return an index as a place. Coq counts from 0, the language from 1."""
    return name_of(i.data[0]) if i.op == "index" else f"{int(i.data) - 1}%nat"


def translate_function(e: Expr, places: list[str]) -> Text:
    (x,) = e.args
    if e.data in OF_VECTORS and len(x.shape) == 1:
        return f"{OF_VECTORS[e.data]} {size_of(x.shape[0])} {show(x, ATOM)}", APPLIED
    if e.data not in FUNCTIONS:
        raise NotForCoq(f"the function {e.data}, which is not stated over the reals yet")
    return f"{FUNCTIONS[e.data]} {show_entry(x, places, ATOM)}", APPLIED


def translate_rounded(e: Expr) -> Text:
    if e.data != "fp32":
        raise NotForCoq(f"rounding to {e.data}, which is not stated over the reals yet")
    return f"rounded_fp32 {show(e.args[0], ATOM)}", APPLIED


def translate_softmax(e: Expr) -> Text:
    if len(e.shape) > 2:
        raise NotForCoq("softmax of a tensor with more than two axes")
    return f"softmax_{'rows' if len(e.shape) == 2 else 'vector'} {size_of(e.shape[-1])} {show(e.args[0], ATOM)}", APPLIED


def translate_derivative(e: Expr) -> Text:
    return f"Derive {' '.join(function_and_point(e))}", APPLIED


def function_and_point(e: Expr) -> tuple[str, str]:
    """Return (function, point) of a derivative. The function's argument replaces a symbol, or one entry of it."""
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


def translate_same(e: Expr) -> Text:
    return show(e.args[0], ATOM), ATOM


ENTRYWISE: dict[str, Callable[[Expr, list[str]], Text]] = {
    "add": translate_add,
    "neg": translate_neg,
    "mul": translate_mul,
    "div": translate_div,
    "fill": translate_fill,
    "function": translate_function,
    "paren": lambda e, places: (show_entry(e.args[0], places, ATOM), ATOM),
    "defined": lambda e, places: (show_entry(e.args[0], places, ATOM), ATOM),
    "transpose": lambda e, places: (show_entry(e.args[0], places[::-1], APPLIED), APPLIED),
}
RULES: dict[str, Callable[[Expr], Text]] = {
    **dict.fromkeys(ENTRYWISE, entrywise),
    "paren": translate_same,
    "defined": translate_same,
    "const": lambda e: rational(e.data),
    "symbol": translate_symbol,
    "index": translate_index,
    "pow": translate_pow,
    "matmul": translate_matmul,
    "transpose": translate_transpose,
    "eye": lambda e: ("identity", ATOM),
    "array": translate_array,
    "sum": translate_sum,
    "each": translate_each,
    "entry": translate_entry,
    "rounded": translate_rounded,
    "derivative": translate_derivative,
    "softmax": translate_softmax,
}
