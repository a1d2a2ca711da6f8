"""Coq's notation: what a claim's trees and assumptions are in MathComp, and in which structure they can be written.

Nothing here is proved. A slip here would have Coq prove another claim than the page shows, so this is what has to be read.
"""

from __future__ import annotations

import re
from fractions import Fraction

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import NAME, Expr, free_indices, walk

STRUCTURES = ("comRingType", "comUnitRingType", "fieldType", "realFieldType", "rcfType")
RING, UNITS, FIELD, REAL, ROOTS = range(5)
LARGEST = 64  # numerals up to here are written as they are; Coq counts them out one by one
LONGEST = 16  # an axis up to here is written out, place by place
KEYWORDS = frozenset(
    [
        "as",
        "at",
        "by",
        "cofix",
        "do",
        "done",
        "else",
        "end",
        "exists",
        "exists2",
        "first",
        "fix",
        "for",
        "forall",
        "fun",
        "have",
        "if",
        "IF",
        "in",
        "is",
        "last",
        "let",
        "match",
        "mod",
        "of",
        "on",
        "over",
        "return",
        "Set",
        "SProp",
        "Prop",
        "Type",
        "suff",
        "then",
        "under",
        "using",
        "where",
        "with",
        "Theorem",
        "Proof",
        "Qed",
        "Section",
        "End",
        "Variable",
        "Variables",
        "Hypothesis",
        "Hypotheses",
        "Print",
        "Assumptions",
        "From",
        "Require",
        "Import",
        "Local",
        "Open",
        "Scope",
        "R",
        "nat",
        "exp",
        "Num",
        "sqrt",
        "isT",
        "ord0",
        "Ordinal",
        "row",
        "column",
        "place",
        "const_mx",
        "map_mx",
        "invmx",
        "unitmx",
        "etrans",
        "softmax_column",
        "softmax_rows",
        "divided",
        "ring_of",
        "field_of",
        "R_ring",
        "R_field",
    ]
)
OURS = re.compile(r"(step|claim|certificate|assumed|size|first|known|exp|exponent|part|whole|written|places)(_[A-Za-z0-9]*)?")
FORBIDDEN = re.compile(
    r"\b(Axioms?|Admitted|admit|give_up|Parameters?|Conjectures?|Abort|bypass_check|Unset|Declare|Load|Drop|"
    r"Redirect|Extraction|Cd|Add\s+(?:LoadPath|ML|Rec)|native_compute|vm_cast_no_check|Primitive|Register|"
    r"type_in_type)\b"
)
UNSUPPORTED = {
    "expectation": "an expectation",
    "variance": "a variance",
    "derivative": "a derivative",
    "rounded": "rounding",
    "imaginary": "a complex number",
}
MORE_AXES = "a tensor with more than two axes, other than an entry of one"
DISTRIBUTIONS = ("independent", "gaussian", "mean", "variance")


class NotForCoq(Exception):
    """The reason why a claim, or a step of it, has no theorem here."""


# Trees

ATOM, POSTFIX, APPLIED, POWER, SIGN, PRODUCT, SUM = range(7)  # what binds tighter comes first


class Notation:
    """Coq's notation for the trees of one claim, and what must be declared for it."""

    def __init__(self):
        self.level = RING  # the structure needed so far
        self.numbers = {}  # sizes that stand as numbers
        self.names = {}  # the symbols, by name
        self.firsts = {}  # symbolic sizes of which the first place is spoken of
        self.exponents = []  # arguments of exp that no sum binds
        self.parts = {}  # numbers written as multiples of a part of theirs
        self.uses_exp = False

    def need(self, level: int):
        self.level = max(self.level, level)

    def need_division(self, by: Expr):
        """Numbers and sizes are known not to be zero where numbers are ordered."""
        ordered = ("const", "function", "softmax", "index")
        counted = any(n.op in ordered or n.op == "symbol" and n.data[1] == "size" for n in walk(by))
        self.need(REAL if counted else FIELD)

    def name(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise NotForCoq(f"the name {name!r} cannot be written in Coq")
        return name + "_" if name in KEYWORDS or OURS.fullmatch(name) or FORBIDDEN.fullmatch(name) else name

    def size(self, e: Expr) -> str:
        return str(int(e.data)) if e.op == "const" else self.name(e.data[0])

    def type(self, shape: tuple) -> str:
        if not shape:
            return "R"
        if len(shape) > 2:  # a function of its indices
            return " -> ".join([*(f"'I_{self.size(s)}" for s in shape), "R"])
        rows, columns = self.size(shape[0]), self.size(shape[1]) if len(shape) == 2 else "1"
        return f"'M[R]_({rows}, {columns})"

    def show(self, e: Expr, most: int = SUM) -> str:
        """The tree in Coq, in brackets if it binds more loosely than `most`."""
        text, level = self.translate(e)
        return f"({text})" if level > most else text

    def translate(self, e: Expr) -> tuple:
        if e.op in UNSUPPORTED:
            raise NotForCoq(f"{UNSUPPORTED[e.op]}, which MathComp's algebra does not have")
        rule = getattr(self, "of_" + e.op, None)
        if rule is None:
            raise NotForCoq(f"'{e.op}', for which there is no translation")
        return rule(e)

    def of_paren(self, e):
        return self.translate(e.args[0])

    of_defined = of_paren

    def of_const(self, e):
        return self.number(e.data)

    def number(self, q: Fraction):
        if q.denominator != 1:
            self.need(REAL)
            return f"{self.number(Fraction(q.numerator))[0]} / {self.whole(q.denominator)}", PRODUCT
        return (f"- {self.whole(-q.numerator)}", SIGN) if q < 0 else (self.whole(q.numerator), ATOM)

    def whole(self, n: int) -> str:
        if n < 2:
            return str(int(n))
        if n <= LARGEST:
            return f"{n}%:R"
        rest, last = divmod(n, LARGEST)
        return f"({self.whole(rest)} * {LARGEST}%:R + {self.whole(last)})"

    def of_symbol(self, e):
        if e in self.parts:
            return self.parts[e], ATOM
        if e.data[1] == "size":
            self.numbers[e.data[0]] = e
            return f"{self.name(e.data[0])}%:R", ATOM
        if len(e.shape) > 2:
            raise NotForCoq(MORE_AXES)
        return self.variable(e), ATOM

    def variable(self, e):
        name, kind = e.data
        if kind == "random":
            raise NotForCoq("a random variable, which MathComp's algebra does not have")
        self.names[name] = e
        return self.name(name)

    def of_index(self, e):
        return f"{self.name(e.data[0])}.+1%:R", ATOM

    def of_add(self, e):
        left, right = e.args
        sign, right = ("-", right.args[0]) if right.op == "neg" else ("+", right)
        return f"{self.show(left)} {sign} {self.show(right, PRODUCT)}", SUM

    def of_neg(self, e):
        return f"- {self.show(e.args[0], POWER)}", SUM

    def of_mul(self, e):
        left, right = e.args
        if left.shape and right.shape:
            i, j = "row", "column"
            at = [self.entry_text(x, i, j if len(x.shape) == 2 else "ord0") for x in e.args]
            rows, columns = self.size(left.shape[0]), self.size(left.shape[1]) if len(left.shape) == 2 else "1"
            return f"\\matrix_({i} < {rows}, {j} < {columns}) ({at[0]} * {at[1]})", SUM
        if left.shape or right.shape:
            factor, tensor = (left, right) if right.shape else (right, left)
            return f"{self.show(factor, POWER)} *: {self.show(tensor, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} * {self.show(right, POWER)}", PRODUCT

    def of_div(self, e):
        left, right = e.args
        self.need_division(right)
        if left.shape:
            return f"{self.show(right, ATOM)}^-1 *: {self.show(left, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} / {self.show(right, POWER)}", PRODUCT

    def of_pow(self, e):
        base, exponent = e.args
        if exponent.op != "const":
            raise NotForCoq("a power with a symbolic exponent")
        q = exponent.data
        if q < 0:
            self.need_division(base)
            text, level = self.power(base, -q)
            return f"{text if level == ATOM else f'({text})'}^-1", POSTFIX
        return self.power(base, q)

    def power(self, base: Expr, q: Fraction) -> tuple:
        depth = q.denominator.bit_length() - 1
        if q.denominator != 2**depth or depth > 2:
            raise NotForCoq(f"the power {q}: MathComp has square roots only")
        text = self.show(base, ATOM)
        if depth:
            self.need(ROOTS)
            for _ in range(depth):
                text = f"(Num.sqrt {text})"
        return (text, ATOM) if q.numerator == 1 else (f"{text} ^+ {q.numerator}", POWER)

    def of_matmul(self, e):
        left, right = e.args
        if len(left.shape) == 1 == len(right.shape):
            return f"({self.show(left, ATOM)}^T *m {self.show(right, POWER)}) ord0 ord0", APPLIED
        if len(left.shape) == 1:
            return f"{self.show(right, ATOM)}^T *m {self.show(left, POWER)}", PRODUCT
        return f"{self.show(left, PRODUCT)} *m {self.show(right, POWER)}", PRODUCT

    def of_transpose(self, e):
        return f"{self.show(e.args[0], ATOM)}^T", POSTFIX

    def of_inverse(self, e):
        inside = e.args[0]
        while inside.op in ("transpose", "paren", "defined", "inverse"):
            inside = inside.args[0]
        if inside.op not in ("symbol", "eye"):
            raise NotForCoq("the inverse of something other than a named matrix or its transpose")
        self.need(UNITS)
        return f"invmx {self.show(e.args[0], ATOM)}", APPLIED

    def of_eye(self, e):
        return f"(1%:M : {self.type(e.shape)})", ATOM

    def of_fill(self, e):
        if len(e.shape) > 2:
            raise NotForCoq(MORE_AXES)
        if not e.data:
            return f"(0 : {self.type(e.shape)})", ATOM
        return f"(const_mx {self.show(Expr('const', (), (), e.data), ATOM)} : {self.type(e.shape)})", ATOM

    def of_array(self, e):
        if len(e.shape) > 2 or any(int(size.data) > LONGEST for size in e.shape):
            raise NotForCoq(f"{MORE_AXES}, or a long one written out")
        columns = int(e.shape[1].data) if len(e.shape) == 2 else 1
        rows = [e.args[k : k + columns] for k in range(0, len(e.args), columns)]
        shown = "; ".join(f"[:: {'; '.join(self.show(x) for x in row)}]" for row in rows)
        return f"(written {len(rows)} {columns} [:: {shown}] : {self.type(e.shape)})", ATOM

    def of_sum(self, e):
        name, size = e.data
        return f"\\sum_({self.name(name)} < {self.size(size)}) {self.show(e.args[0], PRODUCT)}", SUM

    def of_entry(self, e):
        if e in self.parts:
            return self.parts[e], ATOM
        base, *at = e.args
        places = [self.place(i, s) for i, s in zip(at, base.shape)]
        if len(places) > 2:
            return self.entry_of_more(base, places), APPLIED
        return self.entry_text(base, *(places if len(places) == 2 else [places[0], "ord0"])), APPLIED

    def entry_of_more(self, base, places: list) -> str:
        """An entry of a tensor with more than two axes: of a symbol, or of a softmax, which is taken slice by slice."""
        while base.op in ("paren", "defined"):
            base = base.args[0]
        if base.op == "symbol":
            return f"{self.variable(base)} {' '.join(places)}"
        if base.op != "softmax":
            raise NotForCoq(MORE_AXES)
        *slice_, i, j = places
        rows, columns = map(self.size, base.shape[-2:])
        inside = self.entry_of_more(base.args[0], [*slice_, "row", "column"])
        self.exponential()
        return f"softmax_rows exp (\\matrix_(row < {rows}, column < {columns}) {inside}) {i} {j}"

    def entry_text(self, base, row, column):
        return f"{self.show(base, ATOM)} {row} {column}"

    def place(self, i: Expr, size: Expr) -> str:
        """An index, counted from 0 where Coq is concerned."""
        if i.op == "index":
            return self.name(i.data[0])
        if size.op != "const":  # the first; what holds at any place holds there
            self.firsts[size.data[0]] = size
            return f"first_{size.data[0]}"
        return f"(@Ordinal {int(size.data)} {int(i.data) - 1} isT)"

    def of_function(self, e):
        (argument,) = e.args
        if e.data == "abs":
            self.need(REAL)
            inside = self.show(argument)
            return (f"map_mx (fun x => `|x|) {self.show(argument, ATOM)}", APPLIED) if argument.shape else (f"`|{inside}|", ATOM)
        if e.data == "exp":
            self.exponential()
            if not argument.shape:
                self.exponents.append(argument)
            return f"{'map_mx ' if argument.shape else ''}exp {self.show(argument, ATOM)}", APPLIED
        raise NotForCoq(f"the function {e.data}, which MathComp's algebra does not have")

    def of_softmax(self, e):
        self.exponential()
        return f"softmax_{'rows' if len(e.shape) == 2 else 'column'} exp {self.show(e.args[0], ATOM)}", APPLIED

    def exponential(self):
        self.need(REAL)
        self.uses_exp = True

    def of_rank(self, e):
        self.need(FIELD)
        raise NotForCoq("a rank outside a bound on it")


# Assumptions


def hypotheses(notation: Notation, claim: Claim, free: set) -> list:
    """(name, statement) for what the claim assumes. What is assumed of distributions is left out: no theorem here needs it."""
    return [(f"assumed_{k}", assumption(notation, a, free)) for k, a in enumerate(claim.given, 1) if a.kind not in DISTRIBUTIONS]


def assumption(notation: Notation, a: Assumption, free: set) -> str:
    if a.kind in ("positive", "nonnegative", "nonzero"):
        notation.need(FIELD if a.kind == "nonzero" else REAL)
        (x,) = a.args
        text = {"positive": "0 < {} :> R", "nonnegative": "0 <= {} :> R", "nonzero": "{} != 0 :> R"}[a.kind]
        bound = sorted(free_indices(x) - free, key=lambda i: i.data[0])
        every = "".join(f"forall {notation.name(i.data[0])} : 'I_{notation.size(i.data[1])}, " for i in bound)
        return every + text.format(notation.show(x))
    if a.kind == "invertible":
        notation.need(UNITS)
        return f"{notation.show(a.args[0], ATOM)} \\in unitmx"
    if a.kind == "product":
        left, right, times = a.args
        product = Expr("matmul", (left, right), left.shape[:-1] + right.shape[1:])
        value = "0" if not times.data else f"{notation.show(times, ATOM)}%:M"
        return f"{notation.show(product)} = {value}"
    raise NotForCoq(f"it assumes what has no counterpart: '{a.kind}'")
