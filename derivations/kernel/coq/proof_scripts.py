"""Proof scripts: what is known is brought to bear, then one general tactic of prelude.v.

Nothing here has to be trusted. Coq accepts a script or it does not.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, walk
from ..core.operators import BINDERS, STAND_INS
from .notation import ATOM, LONGEST, Notation, whole

SUMS = ("sum", "each", "entry", "softmax", "function", "array")


def script(notation: Notation, claim: Claim) -> list:
    """The proof of an equality of the claim: what is known is brought to bear, then the general tactic."""
    nodes = [n for t in (claim.start, *(s.expr for s in claim.steps), *claim.because) for n in walk(t)]
    by_entries = any(n.op in SUMS or n.op == "matmul" and not n.shape for n in nodes)
    known = what_is_known(notation, claim, by_entries)
    general = notation.general or ("entrywise R." if by_entries else "matrices R.")
    first = [*notation.before, *short_axes(nodes), *known, *parts_of_exponents(notation)]
    return [*first, *([notation.simplified] if notation.simplified else []), general]


def short_axes(nodes: list) -> list:
    """Sums along an axis of a known size are written out."""
    sizes = {int(s.data) for n in nodes for s in (*n.shape, *([n.data[1]] if n.op in BINDERS else [])) if s.op == "const"}
    arrays = any(n.op == "array" for n in nodes)
    return [line for n in sorted(sizes) if 1 < n <= LONGEST for line in written_out(n, arrays)]


def written_out(n: int, places: bool) -> list:
    """A sum over a known number of places, term by term; and, where wanted, that these are all the places."""
    ordinals = [f"(@Ordinal {n} {k} isT)" for k in range(n)]
    terms = " + ".join(f"f {k}" for k in ordinals)
    lines = [f"have written_{n} : forall f : 'I_{n} -> R, \\sum_(i < {n}) f i = {terms} by write_out."]
    if places:
        cases = " -> ".join(f"P {k}" for k in ordinals)
        lines.append(f"have places_{n} : forall P : 'I_{n} -> Prop, {cases} -> forall i, P i by every_place.")
    return lines


def what_is_known(notation: Notation, claim: Claim, by_entries: bool) -> list:
    """Signs in the normal form that their numbers will have; and known products of matrices, wherever they stand."""
    lines, products = [], []
    free = set().union(*map(free_indices, (claim.start, *(s.expr for s in claim.steps))))
    for k, a in enumerate(claim.given, 1):
        if a.kind in ("positive", "nonzero") and a.args[0].op not in ("symbol", "const") and free_indices(a.args[0]) <= free:
            lines.append(f"normal_fact assumed_{k}.")
        if a.kind == "product":
            products.append(f"apply_product assumed_{k}.")
            lines += known_sums(notation, a, k) if by_entries else []
        if a.kind == "invertible":
            products.append(f"apply_inverse assumed_{k}.")
    return lines + (["multiply_out.", *products] if products else [])


def known_sums(notation: Notation, product: Assumption, k: int) -> list:
    """A known product of matrices, entry by entry: a sum over the inner axis."""
    left, right, times = product.args
    if len(left.shape) < 2 or len(right.shape) < 2 or times.data not in (0, 1):
        return []

    def at(e, i, j):
        return at(e.args[0], j, i) if e.op == "transpose" else f"{notation.show(e, ATOM)} {i} {j}"

    summed = f"\\sum_(place < {notation.size(left.shape[1])}) {at(left, 'row', 'place')} * {at(right, 'place', 'column')}"
    value = "(row == column)%:R" if times.data else "0"
    return [f"have known_{k} : forall row column, {summed} = {value} :> R by entry_of_product assumed_{k}."]


def parts_of_exponents(notation: Notation) -> list:
    """exp(x/2) is no power of exp(x): write x as 2y, and every exponent as a whole multiple of y."""
    combinations = [linear(e) for e in notation.exponents]
    if None in combinations:
        return []
    denominators = {}
    for atom, c in ((atom, c) for combination in combinations for atom, c in combination.items()):
        denominators[atom] = lcm(denominators.get(atom, 1), c.denominator)
    if max(denominators.values(), default=1) == 1:
        return []
    parts, lines = {}, []
    for k, (atom, d) in enumerate(denominators.items(), 1):
        parts[atom] = f"part_{k}" if d > 1 else notation.show(atom, ATOM)
        if d > 1:
            lines.append(f"have [part_{k} whole_{k}] := divided {notation.show(atom, ATOM)} (n := {d}) isT. rewrite whole_{k}.")
    notation.parts = {atom: f"({d}%:R * {parts[atom]})" for atom, d in denominators.items() if d > 1}
    for e, combination in dict(zip(notation.exponents, combinations)).items():
        terms = [multiple(int(c * denominators[atom]), parts[atom]) for atom, c in combination.items()]
        counted = " + ".join(terms) or "0"
        shown, name = notation.show(e), f"exponent_{len(lines)}"
        if shown != counted:
            lines.append(f"have {name} : {shown} = {counted} :> R by compare R. try rewrite {name}. clear {name}.")
    notation.parts = {}
    return lines


def multiple(count: int, part: str) -> str:
    text = part if abs(count) == 1 else f"({whole(abs(count))} * {part})"
    return f"- {text}" if count < 0 else text


def linear(e: Expr) -> dict | None:
    """A tree as rational multiples of symbols and entries, or None."""
    if e.op in STAND_INS:
        return linear(e.args[0])
    if e.op in ("symbol", "entry"):
        return {e: Fraction(1)} if not free_indices(e) else None
    if e.op == "neg":
        inside = linear(e.args[0])
        return inside and {a: -c for a, c in inside.items()}
    if e.op == "add":
        left, right = map(linear, e.args)
        return None if left is None or right is None else {a: left.get(a, 0) + right.get(a, 0) for a in {**left, **right}}
    if e.op in ("mul", "div"):
        body, factor = e.args if e.args[1].op == "const" else e.args[::-1]
        if factor.op != "const" or not factor.data or e.op == "div" and factor is e.args[0]:
            return None
        inside = linear(body)
        return inside and {a: c * factor.data if e.op == "mul" else c / factor.data for a, c in inside.items()}
    return None
