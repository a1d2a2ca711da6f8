"""Translate a claim's trees into MathComp's notation, and record what a Coq file must declare for them.

Coq does not check this translation. With a mistake here, or in `assumptions.py`, Coq would prove another claim than the page shows, so
review these two files with care.
"""

from __future__ import annotations

from fractions import Fraction

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.constructors import exp
from ..core.expr import Expr, free_indices, walk
from ..core.operators import TRANSPARENT
from .algebraic_structures import FIELD, REAL, RING, ROOTS, STRUCTURES, UNITS, NotForCoq
from .prelude import PRELUDE_NAME
from .reserved_words import name_in_coq

Text = tuple[str, int]  # Coq text, and how tightly it binds: one of the levels below

LARGEST = 64  # the largest numeral that is written directly; Coq represents n%:R as a sum of n ones
LONGEST = 16  # the longest axis that is written out entry by entry
UNSUPPORTED = {
    "expectation": "an expectation",
    "variance": "a variance",
    "derivative": "a derivative",
    "rounded": "rounding",
    "imaginary": "a complex number",
    "where": "a comparison of positions",
}
MORE_AXES = "a tensor with more than two axes, other than an entry of one"

ATOM, POSTFIX, APPLIED, POWER, SIGN, PRODUCT, SUM = range(7)  # levels, from the tightest to the loosest


class Notation:
    """The translation of one claim, and what its file must declare.

    Subclasses change the notation for laws (`laws/notation.py`) and for derivatives (`reals/derivatives.py`).
    """

    prelude = PRELUDE_NAME
    scope = ""  # the scope of the theorems, if the structure does not give it
    opening: tuple[str, ...] = ()  # the lines that every proof begins with
    simplification = ""  # a line before the general tactic
    general_tactic = ""  # the general tactic, if it is neither `entrywise` nor `matrices`
    sizes_positive = False  # whether every size is assumed to be positive

    def __init__(self) -> None:
        self.level = RING  # the weakest sufficient structure so far, an index into STRUCTURES
        self.numeric_sizes: dict[str, Expr] = {}  # sizes that occur as numbers
        self.names: dict[str, Expr] = {}  # symbols by name
        self.first_places: dict[str, Expr] = {}  # symbolic sizes of axes whose first place occurs
        self.exponents: list[Expr] = []  # scalar arguments of exp
        self.written_as: dict[Expr, str] = {}  # symbols and entries that are written as another text
        self.uses_exp = False
        self.summation_indices: list[str] = []  # indices of the sums around the current tree

    def need(self, level: int) -> None:
        """Require at least this structure."""
        self.level = max(self.level, level)

    def need_division(self, by: Expr) -> None:
        """Require a field, or an ordered field if the divisor contains a number, a size or a function: order shows that they are nonzero."""
        ordered = ("const", "function", "softmax", "index")
        counted = any(n.op in ordered or n.op == "symbol" and n.data[1] == "size" for n in walk(by))
        self.need(REAL if counted else FIELD)

    def need_exp(self) -> None:
        """Require an exponential, over an ordered field."""
        self.need(REAL)
        self.uses_exp = True

    def declare_structure(self) -> list[str]:
        """Return the lines that declare the structure."""
        known = "Add Ring R_ring : (ring_of R)." if self.level < FIELD else "Add Field R_field : (field_of R)."
        return [f"Variable R : {STRUCTURES[self.level]}.", known]

    def declare_exponential(self, increasing: bool) -> list[str]:
        """Return the lines that declare the exponential and its properties."""
        return [
            "Variable exp : R -> R.",
            "Hypothesis exp_add : forall x y, exp (x + y) = exp x * exp y.",
            "Hypothesis exp_positive : forall x, 0 < exp x.",
            *(["Hypothesis exp_increasing : forall x y, x <= y -> exp x <= exp y."] if increasing else []),
        ]

    def preliminary_theorems(self, free: set[Expr]) -> list[tuple[str, str, str, list[str]]]:
        """Return (name, reason, statement, proof) of each theorem that comes before the claim's. The indices in `free` are declared."""
        return []

    def quantify_indices(self, e: Expr, declared: set[Expr]) -> str:
        """Return a quantifier for each free index of the tree that is not declared."""
        bound = sorted(free_indices(e) - declared, key=lambda i: i.data[0])
        return "".join(f"forall {self.name(i.data[0])} : 'I_{self.size(i.data[1])}, " for i in bound)

    def name(self, name: str) -> str:
        """Return the name of a symbol, size or index in Coq."""
        return name_in_coq(name)

    def size(self, e: Expr) -> str:
        """Return a size as a natural number in Coq."""
        return str(int(e.data)) if e.op == "const" else self.name(e.data[0])

    def type(self, shape: tuple[Expr, ...]) -> str:
        """Return the type of a tensor: a number, a column vector, a matrix or, with more than two axes, a function of its indices."""
        if not shape:
            return "R"
        if len(shape) > 2:
            return " -> ".join([*(f"'I_{self.size(s)}" for s in shape), "R"])
        rows, columns = self.size(shape[0]), self.size(shape[1]) if len(shape) == 2 else "1"
        return f"'M[R]_({rows}, {columns})"

    def symbol_type(self, e: Expr) -> str:
        """Return the type of a symbol."""
        return self.type(e.shape)

    def distribution(self, a: Assumption, claim: Claim) -> list[str]:
        """Return the statements of an assumption about a distribution: none here, because nothing is random."""
        return []

    def show(self, e: Expr, loosest: int = SUM) -> str:
        """Return the tree in Coq, in parentheses if it binds more loosely than `loosest`."""
        text, level = self.translate(e)
        return f"({text})" if level > loosest else text

    def translate(self, e: Expr) -> Text:
        """Return the tree in Coq and how tightly it binds. Raise NotForCoq if it has no translation."""
        if e.op in UNSUPPORTED:
            raise NotForCoq(f"{UNSUPPORTED[e.op]}, which MathComp's algebra does not have")
        rule = RULES.get(e.op)
        if rule is None:
            raise NotForCoq(f"'{e.op}', for which there is no translation")
        return rule(self, e)


def translate_paren(notation: Notation, e: Expr) -> Text:
    return notation.translate(e.args[0])


def translate_const(notation: Notation, e: Expr) -> Text:
    return number(notation, e.data)


def number(notation: Notation, q: Fraction) -> Text:
    if q.denominator != 1:
        notation.need(REAL)
        return f"{number(notation, Fraction(q.numerator))[0]} / {numeral(q.denominator)}", PRODUCT
    return (f"- {numeral(-q.numerator)}", SIGN) if q < 0 else (numeral(q.numerator), ATOM)


def numeral(n: int) -> str:
    """Return a natural number as a numeral of the structure."""
    if n < 2:
        return str(int(n))
    if n <= LARGEST:
        return f"{n}%:R"
    rest, last = divmod(n, LARGEST)
    return f"({numeral(rest)} * {LARGEST}%:R + {numeral(last)})"


def translate_symbol(notation: Notation, e: Expr) -> Text:
    if e in notation.written_as:
        return notation.written_as[e], ATOM
    if e.data[1] == "size":
        notation.numeric_sizes[e.data[0]] = e
        return f"{notation.name(e.data[0])}%:R", ATOM
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    return variable(notation, e), ATOM


def variable(notation: Notation, e: Expr) -> str:
    """Return the name of a symbol, and record that it must be declared."""
    name, kind = e.data
    if kind == "random":
        raise NotForCoq("what is random, outside of an expectation or with more than two axes")
    notation.names[name] = e
    return notation.name(name)


def translate_index(notation: Notation, e: Expr) -> Text:
    if e.data[0] in notation.summation_indices:
        notation.need(REAL)  # a sum of indices is n(n + 1)/2
    return f"{notation.name(e.data[0])}.+1%:R", ATOM


def translate_add(notation: Notation, e: Expr) -> Text:
    left, right = e.args
    sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
    return f"{notation.show(left)} {sign} {notation.show(right, PRODUCT)}", SUM


def translate_neg(notation: Notation, e: Expr) -> Text:
    return f"- {notation.show(e.args[0], POWER)}", SUM


def translate_mul(notation: Notation, e: Expr) -> Text:
    left, right = e.args
    if left.shape and right.shape:
        i, j = "row", "column"
        at = [entry_text(notation, x, i, j if len(x.shape) == 2 else "ord0") for x in e.args]
        rows, columns = notation.size(left.shape[0]), notation.size(left.shape[1]) if len(left.shape) == 2 else "1"
        return f"\\matrix_({i} < {rows}, {j} < {columns}) ({at[0]} * {at[1]})", SUM
    if left.shape or right.shape:
        factor, tensor = (left, right) if right.shape else (right, left)
        return f"{notation.show(factor, POWER)} *: {notation.show(tensor, POWER)}", PRODUCT
    return f"{notation.show(left, PRODUCT)} * {notation.show(right, POWER)}", PRODUCT


def translate_div(notation: Notation, e: Expr) -> Text:
    left, right = e.args
    notation.need_division(right)
    if left.shape:
        return f"{notation.show(right, ATOM)}^-1 *: {notation.show(left, POWER)}", PRODUCT
    return f"{notation.show(left, PRODUCT)} / {notation.show(right, POWER)}", PRODUCT


def translate_pow(notation: Notation, e: Expr) -> Text:
    base, exponent = e.args
    if exponent.op != "const":
        raise NotForCoq("a power with a symbolic exponent")
    q = exponent.data
    if q < 0:
        notation.need_division(base)
        text, level = power(notation, base, -q)
        return f"{text if level == ATOM else f'({text})'}^-1", POSTFIX
    return power(notation, base, q)


def power(notation: Notation, base: Expr, q: Fraction) -> Text:
    """Translate a positive power whose denominator is 1, 2 or 4."""
    depth = q.denominator.bit_length() - 1
    if q.denominator != 2**depth or depth > 2:
        raise NotForCoq(f"the power {q}: MathComp has square roots only")
    text = notation.show(base, ATOM)
    if depth:
        notation.need(ROOTS)
        for _ in range(depth):
            text = f"(Num.sqrt {text})"
    return (text, ATOM) if q.numerator == 1 else (f"{text} ^+ {q.numerator}", POWER)


def translate_matmul(notation: Notation, e: Expr) -> Text:
    left, right = e.args
    if len(left.shape) == 1 == len(right.shape):
        return f"({notation.show(left, ATOM)}^T *m {notation.show(right, POWER)}) ord0 ord0", APPLIED
    if len(left.shape) == 1:
        return f"{notation.show(right, ATOM)}^T *m {notation.show(left, POWER)}", PRODUCT
    return f"{notation.show(left, PRODUCT)} *m {notation.show(right, POWER)}", PRODUCT


def translate_transpose(notation: Notation, e: Expr) -> Text:
    return f"{notation.show(e.args[0], ATOM)}^T", POSTFIX


def translate_inverse(notation: Notation, e: Expr) -> Text:
    inside = e.args[0]
    while inside.op in ("transpose", "paren", "defined", "inverse"):
        inside = inside.args[0]
    if inside.op not in ("symbol", "eye"):
        raise NotForCoq("the inverse of something other than a named matrix or its transpose")
    notation.need(UNITS)
    return f"invmx {notation.show(e.args[0], ATOM)}", APPLIED


def translate_eye(notation: Notation, e: Expr) -> Text:
    return f"(1%:M : {notation.type(e.shape)})", ATOM


def translate_fill(notation: Notation, e: Expr) -> Text:
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    if not e.data:
        return f"(0 : {notation.type(e.shape)})", ATOM
    return f"(const_mx {notation.show(Expr('const', (), (), e.data), ATOM)} : {notation.type(e.shape)})", ATOM


def translate_array(notation: Notation, e: Expr) -> Text:
    if len(e.shape) > 2 or any(int(size.data) > LONGEST for size in e.shape):
        raise NotForCoq(f"{MORE_AXES}, or a long one written out")
    columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
    rows = [e.args[k : k + columns] for k in range(0, len(e.args), columns)]
    shown = "; ".join(f"[:: {'; '.join(notation.show(x) for x in row)}]" for row in rows)
    return f"(written {len(rows)} {columns} [:: {shown}] : {notation.type(e.shape)})", ATOM


def translate_sum(notation: Notation, e: Expr) -> Text:
    name, size = e.data
    notation.summation_indices.append(name)
    body = notation.show(e.args[0], PRODUCT)
    notation.summation_indices.pop()
    return f"\\sum_({notation.name(name)} < {notation.size(size)}) {body}", SUM


def translate_each(notation: Notation, e: Expr) -> Text:
    """Translate a tensor given by its entries: a column, or a matrix whose body is another `each` or a vector, its row."""
    if len(e.shape) > 2:
        raise NotForCoq(MORE_AXES)
    body, bound, column, matrix = e.args[0], e.data[0], "column", len(e.shape) == 2
    if body.op == "each" and body.data[0] != bound:
        column, text = notation.name(body.data[0]), notation.show(body.args[0])
    else:
        text = entry_text(notation, body, column, "ord0") if matrix else notation.show(body)
    places = f"{notation.name(bound)} < {notation.size(e.shape[0])}" + (f", {column} < {notation.size(e.shape[1])}" if matrix else "")
    return f"(\\{'matrix' if matrix else 'col'}_({places}) ({text}) : {notation.type(e.shape)})", ATOM


def translate_entry(notation: Notation, e: Expr) -> Text:
    if e in notation.written_as:
        return notation.written_as[e], ATOM
    base, *at = e.args
    places = [translate_place(notation, i, s) for i, s in zip(at, base.shape)]
    if len(places) > 2:
        return entry_of_more(notation, base, places), APPLIED
    return entry_text(notation, base, *(places if len(places) == 2 else [places[0], "ord0"])), APPLIED


def entry_of_more(notation: Notation, base: Expr, places: list) -> str:
    """Return an entry of a tensor with more than two axes: of a symbol, or of a softmax, which applies to each slice along the last two axes."""
    while base.op in TRANSPARENT:
        base = base.args[0]
    if base.op == "symbol":
        return f"{variable(notation, base)} {' '.join(places)}"
    if base.op != "softmax":
        raise NotForCoq(MORE_AXES)
    *slice_, i, j = places
    rows, columns = map(notation.size, base.shape[-2:])
    inside = entry_of_more(notation, base.args[0], [*slice_, "row", "column"])
    notation.need_exp()
    return f"softmax_rows exp (\\matrix_(row < {rows}, column < {columns}) {inside}) {i} {j}"


def entry_text(notation: Notation, base: Expr, row: str, column: str) -> str:
    return f"{notation.show(base, ATOM)} {row} {column}"


def translate_place(notation: Notation, i: Expr, size: Expr) -> str:
    """Return an index as an ordinal. Coq counts from 0, the language from 1."""
    if i.op == "index":
        return notation.name(i.data[0])
    if size.op != "const":  # the first place, as a variable: what holds at every place holds there
        notation.first_places[size.data[0]] = size
        return f"first_{size.data[0]}"
    return f"(@Ordinal {int(size.data)} {int(i.data) - 1} isT)"


def translate_function(notation: Notation, e: Expr) -> Text:
    (argument,) = e.args
    if e.data not in FUNCTIONS or e.data == "tanh" and argument.shape:
        raise NotForCoq(f"the function {e.data}, which MathComp's algebra does not have")
    return FUNCTIONS[e.data](notation, argument)


def translate_abs(notation: Notation, x: Expr) -> Text:
    notation.need(REAL)
    inside = notation.show(x)
    return (f"map_mx (fun x => `|x|) {notation.show(x, ATOM)}", APPLIED) if x.shape else (f"`|{inside}|", ATOM)


def translate_tanh(notation: Notation, x: Expr) -> Text:
    return notation.translate(1 - 2 / (1 + exp(2 * x)))


def translate_exp(notation: Notation, x: Expr) -> Text:
    notation.need_exp()
    if not x.shape:
        notation.exponents.append(x)
    return f"{'map_mx ' if x.shape else ''}exp {notation.show(x, ATOM)}", APPLIED


FUNCTIONS = {"abs": translate_abs, "exp": translate_exp, "tanh": translate_tanh}
UNSUPPORTED_FUNCTIONS = ("log", "cos", "sin", "norm", "largest")  # `reals/` can state most of them


def translate_softmax(notation: Notation, e: Expr) -> Text:
    notation.need_exp()
    return f"softmax_{'rows' if len(e.shape) == 2 else 'column'} exp {notation.show(e.args[0], ATOM)}", APPLIED


def translate_rank(notation: Notation, e: Expr) -> Text:
    notation.need(FIELD)
    raise NotForCoq("a rank outside a bound on it")


RULES = {
    "paren": translate_paren,
    "defined": translate_paren,
    "const": translate_const,
    "symbol": translate_symbol,
    "index": translate_index,
    "add": translate_add,
    "neg": translate_neg,
    "mul": translate_mul,
    "div": translate_div,
    "pow": translate_pow,
    "matmul": translate_matmul,
    "transpose": translate_transpose,
    "inverse": translate_inverse,
    "eye": translate_eye,
    "fill": translate_fill,
    "array": translate_array,
    "sum": translate_sum,
    "each": translate_each,
    "entry": translate_entry,
    "function": translate_function,
    "softmax": translate_softmax,
    "rank": translate_rank,
}
