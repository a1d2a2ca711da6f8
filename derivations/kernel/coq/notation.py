"""Coq's notation: what a claim's trees are in MathComp, and what must be declared for them.

Nothing here is proved. A slip here, or in `assumptions.py`, would have Coq prove another claim than the page shows, so these two are
what has to be read.
"""

from __future__ import annotations

from fractions import Fraction

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, exp, walk
from ..core.operators import STAND_INS
from .algebraic_structures import FIELD, REAL, RING, ROOTS, STRUCTURES, UNITS, NotForCoq
from .prelude import PRELUDE_NAME
from .reserved_words import coq_name

LARGEST = 64  # numerals up to here are written as they are; Coq counts them out one by one
LONGEST = 16  # an axis up to here is written out, place by place
UNSUPPORTED = {
    "expectation": "an expectation",
    "variance": "a variance",
    "derivative": "a derivative",
    "rounded": "rounding",
    "imaginary": "a complex number",
}
MORE_AXES = "a tensor with more than two axes, other than an entry of one"

ATOM, POSTFIX, APPLIED, POWER, SIGN, PRODUCT, SUM = range(7)  # what binds tighter comes first


class Notation:
    """Coq's notation for the trees of one claim, and what must be declared for it."""

    prelude = PRELUDE_NAME
    scope = ""  # over what a theorem is, where that is not the structure
    before = ()  # what each proof begins with
    simplified = ""  # what stands before the general tactic
    general = ""  # this tactic, where it is not one of the two of every structure
    every_size = False  # whether every size is said to be positive

    def __init__(self):
        self.level = RING  # the structure needed so far
        self.numbers = {}  # sizes that stand as numbers
        self.names = {}  # the symbols, by name
        self.firsts = {}  # symbolic sizes of which the first place is spoken of
        self.exponents = []  # arguments of exp that no sum binds
        self.parts = {}  # numbers written as multiples of a part of theirs
        self.uses_exp = False
        self.summed = []  # the indices of the sums around what is being written

    def need(self, level: int):
        self.level = max(self.level, level)

    def need_division(self, by: Expr):
        """Numbers and sizes are known not to be zero where numbers are ordered."""
        ordered = ("const", "function", "softmax", "index")
        counted = any(n.op in ordered or n.op == "symbol" and n.data[1] == "size" for n in walk(by))
        self.need(REAL if counted else FIELD)

    def need_exp(self):
        self.need(REAL)
        self.uses_exp = True

    def declared(self) -> list:
        """The structure that the theorems are over."""
        known = "Add Ring R_ring : (ring_of R)." if self.level < FIELD else "Add Field R_field : (field_of R)."
        return [f"Variable R : {STRUCTURES[self.level]}.", known]

    def exponential(self, increasing: bool) -> list:
        """What is known of the exponential."""
        return [
            "Variable exp : R -> R.",
            "Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.",
            "Hypothesis exp_positive : forall x, 0 < exp x.",
            *(["Hypothesis exp_increasing : forall x y, x <= y -> exp x <= exp y."] if increasing else []),
        ]

    def first_theorems(self, free: set) -> list:
        """(name, reason, statement, proof) of what is proved before the claim, where these indices are free."""
        return []

    def name(self, name: str) -> str:
        return coq_name(name)

    def size(self, e: Expr) -> str:
        return str(int(e.data)) if e.op == "const" else self.name(e.data[0])

    def type(self, shape: tuple) -> str:
        if not shape:
            return "R"
        if len(shape) > 2:  # a function of its indices
            return " -> ".join([*(f"'I_{self.size(s)}" for s in shape), "R"])
        rows, columns = self.size(shape[0]), self.size(shape[1]) if len(shape) == 2 else "1"
        return f"'M[R]_({rows}, {columns})"

    def symbol_type(self, e: Expr) -> str:
        return self.type(e.shape)

    def distribution(self, a: Assumption, claim: Claim) -> list:
        """What an assumption about distributions says: no theorem needs it, where nothing is random."""
        return []

    def show(self, e: Expr, most: int = SUM) -> str:
        """The tree in Coq, in brackets if it binds more loosely than `most`."""
        text, level = self.translate(e)
        return f"({text})" if level > most else text

    def translate(self, e: Expr) -> tuple:
        """(text, how tightly it binds)."""
        if e.op in UNSUPPORTED:
            raise NotForCoq(f"{UNSUPPORTED[e.op]}, which MathComp's algebra does not have")
        rule = RULES.get(e.op)
        if rule is None:
            raise NotForCoq(f"'{e.op}', for which there is no translation")
        return rule(self, e)


def of_paren(to: Notation, e: Expr) -> tuple:
    return to.translate(e.args[0])


def of_const(to: Notation, e: Expr) -> tuple:
    return number(to, e.data)


def number(to: Notation, q: Fraction) -> tuple:
    if q.denominator != 1:
        to.need(REAL)
        return f"{number(to, Fraction(q.numerator))[0]} / {whole(q.denominator)}", PRODUCT
    return (f"- {whole(-q.numerator)}", SIGN) if q < 0 else (whole(q.numerator), ATOM)


def whole(n: int) -> str:
    if n < 2:
        return str(int(n))
    if n <= LARGEST:
        return f"{n}%:R"
    rest, last = divmod(n, LARGEST)
    return f"({whole(rest)} * {LARGEST}%:R + {whole(last)})"


def of_symbol(to: Notation, e: Expr) -> tuple:
    if e in to.parts:
        return to.parts[e], ATOM
    if e.data[1] == "size":
        to.numbers[e.data[0]] = e
        return f"{to.name(e.data[0])}%:R", ATOM
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    return variable(to, e), ATOM


def variable(to: Notation, e: Expr) -> str:
    name, kind = e.data
    if kind == "random":
        raise NotForCoq("what is random, outside of an expectation or with more than two axes")
    to.names[name] = e
    return to.name(name)


def of_index(to: Notation, e: Expr) -> tuple:
    if e.data[0] in to.summed:
        to.need(REAL)  # the first numbers add up to n(n + 1)/2
    return f"{to.name(e.data[0])}.+1%:R", ATOM


def of_add(to: Notation, e: Expr) -> tuple:
    left, right = e.args
    sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
    return f"{to.show(left)} {sign} {to.show(right, PRODUCT)}", SUM


def of_neg(to: Notation, e: Expr) -> tuple:
    return f"- {to.show(e.args[0], POWER)}", SUM


def of_mul(to: Notation, e: Expr) -> tuple:
    left, right = e.args
    if left.shape and right.shape:
        i, j = "row", "column"
        at = [entry_text(to, x, i, j if len(x.shape) == 2 else "ord0") for x in e.args]
        rows, columns = to.size(left.shape[0]), to.size(left.shape[1]) if len(left.shape) == 2 else "1"
        return f"\\matrix_({i} < {rows}, {j} < {columns}) ({at[0]} * {at[1]})", SUM
    if left.shape or right.shape:
        factor, tensor = (left, right) if right.shape else (right, left)
        return f"{to.show(factor, POWER)} *: {to.show(tensor, POWER)}", PRODUCT
    return f"{to.show(left, PRODUCT)} * {to.show(right, POWER)}", PRODUCT


def of_div(to: Notation, e: Expr) -> tuple:
    left, right = e.args
    to.need_division(right)
    if left.shape:
        return f"{to.show(right, ATOM)}^-1 *: {to.show(left, POWER)}", PRODUCT
    return f"{to.show(left, PRODUCT)} / {to.show(right, POWER)}", PRODUCT


def of_pow(to: Notation, e: Expr) -> tuple:
    base, exponent = e.args
    if exponent.op != "const":
        raise NotForCoq("a power with a symbolic exponent")
    q = exponent.data
    if q < 0:
        to.need_division(base)
        text, level = power(to, base, -q)
        return f"{text if level == ATOM else f'({text})'}^-1", POSTFIX
    return power(to, base, q)


def power(to: Notation, base: Expr, q: Fraction) -> tuple:
    depth = q.denominator.bit_length() - 1
    if q.denominator != 2**depth or depth > 2:
        raise NotForCoq(f"the power {q}: MathComp has square roots only")
    text = to.show(base, ATOM)
    if depth:
        to.need(ROOTS)
        for _ in range(depth):
            text = f"(Num.sqrt {text})"
    return (text, ATOM) if q.numerator == 1 else (f"{text} ^+ {q.numerator}", POWER)


def of_matmul(to: Notation, e: Expr) -> tuple:
    left, right = e.args
    if len(left.shape) == 1 == len(right.shape):
        return f"({to.show(left, ATOM)}^T *m {to.show(right, POWER)}) ord0 ord0", APPLIED
    if len(left.shape) == 1:
        return f"{to.show(right, ATOM)}^T *m {to.show(left, POWER)}", PRODUCT
    return f"{to.show(left, PRODUCT)} *m {to.show(right, POWER)}", PRODUCT


def of_transpose(to: Notation, e: Expr) -> tuple:
    return f"{to.show(e.args[0], ATOM)}^T", POSTFIX


def of_inverse(to: Notation, e: Expr) -> tuple:
    inside = e.args[0]
    while inside.op in ("transpose", "paren", "defined", "inverse"):
        inside = inside.args[0]
    if inside.op not in ("symbol", "eye"):
        raise NotForCoq("the inverse of something other than a named matrix or its transpose")
    to.need(UNITS)
    return f"invmx {to.show(e.args[0], ATOM)}", APPLIED


def of_eye(to: Notation, e: Expr) -> tuple:
    return f"(1%:M : {to.type(e.shape)})", ATOM


def of_fill(to: Notation, e: Expr) -> tuple:
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    if not e.data:
        return f"(0 : {to.type(e.shape)})", ATOM
    return f"(const_mx {to.show(Expr('const', (), (), e.data), ATOM)} : {to.type(e.shape)})", ATOM


def of_array(to: Notation, e: Expr) -> tuple:
    if len(e.shape) > 2 or any(int(size.data) > LONGEST for size in e.shape):
        raise NotForCoq(f"{MORE_AXES}, or a long one written out")
    columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
    rows = [e.args[k : k + columns] for k in range(0, len(e.args), columns)]
    shown = "; ".join(f"[:: {'; '.join(to.show(x) for x in row)}]" for row in rows)
    return f"(written {len(rows)} {columns} [:: {shown}] : {to.type(e.shape)})", ATOM


def of_sum(to: Notation, e: Expr) -> tuple:
    name, size = e.data
    to.summed.append(name)
    body = to.show(e.args[0], PRODUCT)
    to.summed.pop()
    return f"\\sum_({to.name(name)} < {to.size(size)}) {body}", SUM


def of_each(to: Notation, e: Expr) -> tuple:
    """A column by its rows, or a matrix by its entries; of a body that is a vector, a matrix by its rows."""
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    body, bound, column, matrix = e.args[0], e.data[0], "column", len(e.shape) == 2
    if body.op == "each" and body.data[0] != bound:
        column, text = to.name(body.data[0]), to.show(body.args[0])
    else:
        text = entry_text(to, body, column, "ord0") if matrix else to.show(body)
    places = f"{to.name(bound)} < {to.size(e.shape[0])}" + (f", {column} < {to.size(e.shape[1])}" if matrix else "")
    return f"(\\{'matrix' if matrix else 'col'}_({places}) ({text}) : {to.type(e.shape)})", ATOM


def of_entry(to: Notation, e: Expr) -> tuple:
    if e in to.parts:
        return to.parts[e], ATOM
    base, *at = e.args
    places = [place(to, i, s) for i, s in zip(at, base.shape)]
    if len(places) > 2:
        return entry_of_more(to, base, places), APPLIED
    return entry_text(to, base, *(places if len(places) == 2 else [places[0], "ord0"])), APPLIED


def entry_of_more(to: Notation, base: Expr, places: list) -> str:
    """An entry of a tensor with more than two axes: of a symbol, or of a softmax, which is taken slice by slice."""
    while base.op in STAND_INS:
        base = base.args[0]
    if base.op == "symbol":
        return f"{variable(to, base)} {' '.join(places)}"
    if base.op != "softmax":
        raise NotForCoq(MORE_AXES)
    *slice_, i, j = places
    rows, columns = map(to.size, base.shape[-2:])
    inside = entry_of_more(to, base.args[0], [*slice_, "row", "column"])
    to.need_exp()
    return f"softmax_rows exp (\\matrix_(row < {rows}, column < {columns}) {inside}) {i} {j}"


def entry_text(to: Notation, base: Expr, row: str, column: str) -> str:
    return f"{to.show(base, ATOM)} {row} {column}"


def place(to: Notation, i: Expr, size: Expr) -> str:
    """An index, counted from 0 where Coq is concerned."""
    if i.op == "index":
        return to.name(i.data[0])
    if size.op != "const":  # the first; what holds at any place holds there
        to.firsts[size.data[0]] = size
        return f"first_{size.data[0]}"
    return f"(@Ordinal {int(size.data)} {int(i.data) - 1} isT)"


def of_function(to: Notation, e: Expr) -> tuple:
    (argument,) = e.args
    if e.data not in FUNCTIONS or e.data == "tanh" and argument.shape:
        raise NotForCoq(f"the function {e.data}, which MathComp's algebra does not have")
    return FUNCTIONS[e.data](to, argument)


def of_abs(to: Notation, x: Expr) -> tuple:
    to.need(REAL)
    inside = to.show(x)
    return (f"map_mx (fun x => `|x|) {to.show(x, ATOM)}", APPLIED) if x.shape else (f"`|{inside}|", ATOM)


def of_tanh(to: Notation, x: Expr) -> tuple:
    return to.translate(1 - 2 / (1 + exp(2 * x)))


def of_exp(to: Notation, x: Expr) -> tuple:
    to.need_exp()
    if not x.shape:
        to.exponents.append(x)
    return f"{'map_mx ' if x.shape else ''}exp {to.show(x, ATOM)}", APPLIED


FUNCTIONS = {"abs": of_abs, "exp": of_exp, "tanh": of_tanh}
UNSUPPORTED_FUNCTIONS = ("log", "cos", "sin", "norm", "largest")  # over Coq's reals, `reals/` has most of them


def of_softmax(to: Notation, e: Expr) -> tuple:
    to.need_exp()
    return f"softmax_{'rows' if len(e.shape) == 2 else 'column'} exp {to.show(e.args[0], ATOM)}", APPLIED


def of_rank(to: Notation, e: Expr) -> tuple:
    to.need(FIELD)
    raise NotForCoq("a rank outside a bound on it")


RULES = {
    "paren": of_paren,
    "defined": of_paren,
    "const": of_const,
    "symbol": of_symbol,
    "index": of_index,
    "add": of_add,
    "neg": of_neg,
    "mul": of_mul,
    "div": of_div,
    "pow": of_pow,
    "matmul": of_matmul,
    "transpose": of_transpose,
    "inverse": of_inverse,
    "eye": of_eye,
    "fill": of_fill,
    "array": of_array,
    "sum": of_sum,
    "each": of_each,
    "entry": of_entry,
    "function": of_function,
    "softmax": of_softmax,
    "rank": of_rank,
}
