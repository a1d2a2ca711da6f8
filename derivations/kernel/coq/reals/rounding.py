"""To what the roundings of a counterexample come, for the proof: Coq accepts each or not, so nothing here has to be trusted."""

from __future__ import annotations

from fractions import Fraction

from ...core.claims import Claim
from ...core.expr import Expr, symbols, walk
from ..algebraic_structures import NotForCoq

DIGITS, LOWEST = 24, -149


def nearby(claim: Claim) -> list:
    """A line for each number that something is rounded to at the counterexample."""
    trees = (claim.start, claim.steps[0].expr)
    if not any(n.op == "rounded" for t in trees for n in walk(t)):
        return []
    values = Values(claim)
    for tree in trees:
        values.at(tree, {})
    return [f"rounds_near ({m})%Z ({e})%Z ({2**e if e >= 0 else f'/ {2**-e}'})." for m, e in values.rounded]


class Values:
    """The values of trees at a counterexample, as fractions, and what is rounded on the way: (m, e) for m times 2^e."""

    def __init__(self, claim: Claim):
        self.given = dict(claim.at)
        self.sizes = {
            n: int(v.data) for n, v in self.given.items() if not isinstance(v, tuple) and v.op == "const" and v.data.denominator == 1
        }
        for name, s in symbols(claim.start, claim.steps[0].expr).items():
            v = self.given.get(name)
            for size in s.shape:
                self.sizes[size.data[0] if size.op == "symbol" else ""] = len(v)
                v = v[0]
        self.rounded = {}

    def at(self, e: Expr, places: dict):
        """A number, or nested lists; None of what is no fraction, under which nothing may be rounded."""
        args = [self.at(x, places) for x in e.args] if e.op != "sum" else []
        if e.op == "rounded":
            return self.round(args[0])
        if e.op in ("const", "index"):
            return e.data if e.op == "const" else Fraction(places[e.data[0]])
        if e.op == "symbol":
            return Fraction(self.sizes[e.data[0]]) if e.data[1] == "size" else fractions(self.given[e.data[0]])
        if e.op == "sum":
            name, size = e.data
            count = self.sizes[size.data[0]] if size.op == "symbol" else int(size.data)
            terms = [self.at(e.args[0], {**places, name: k}) for k in range(1, count + 1)]
            return None if None in terms else sum(terms, Fraction(0))
        return None if None in args or e.op not in OPERATIONS else OPERATIONS[e.op](*args)

    def round(self, x) -> Fraction:
        if x is None or isinstance(x, list):
            raise NotForCoq("rounding of what is no fraction at the counterexample")
        exponent = LOWEST
        while abs(x) >= Fraction(2) ** (exponent + DIGITS):
            exponent += 1
        m = round(x / Fraction(2) ** exponent)  # halves to even
        if x:
            self.rounded[m, exponent] = True
        return m * Fraction(2) ** exponent


def fractions(v):
    return [fractions(x) for x in v] if isinstance(v, tuple) else v.data if v.op == "const" else None


def equal_parts(z: list):
    """Softmax of equal numbers; of others it is no fraction."""
    return [Fraction(1, len(z))] * len(z) if not isinstance(z[0], list) and len(set(z)) == 1 else None


def entry(base, *places):
    for p in places:
        base = base[int(p) - 1]
    return base


def transposed(x):
    return [list(column) for column in zip(*x)] if is_matrix(x) else None


def multiplied(x, y):
    """Of two matrices."""
    if not (is_matrix(x) and is_matrix(y)):
        return None
    return [[sum((a * b for a, b in zip(row, column)), Fraction(0)) for column in zip(*y)] for row in x]


def is_matrix(x) -> bool:
    """Whether it is one, of fractions."""
    return isinstance(x, list) and all(isinstance(row, list) and all(isinstance(entry, Fraction) for entry in row) for row in x)


OPERATIONS = {
    "paren": lambda x: x,
    "defined": lambda x: x,
    "add": lambda x, y: x + y if isinstance(x, Fraction) and isinstance(y, Fraction) else None,
    "neg": lambda x: -x if isinstance(x, Fraction) else None,
    "mul": lambda x, y: x * y if isinstance(x, Fraction) and isinstance(y, Fraction) else None,
    "div": lambda x, y: x / y if isinstance(x, Fraction) and isinstance(y, Fraction) and y else None,
    "softmax": equal_parts,
    "entry": entry,
    "transpose": transposed,
    "matmul": multiplied,
}
