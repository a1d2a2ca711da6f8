"""Write proof scripts: lines that make the known facts available, then one general tactic of prelude.v.

Nothing here has to be trusted: Coq either accepts a script or rejects it.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, walk
from ..core.operators import BINDERS, TRANSPARENT
from .notation import ATOM, LONGEST, Notation, numeral

SUMS = ("sum", "each", "entry", "softmax", "function", "array")


def write_script(notation: Notation, claim: Claim) -> list[str]:
    """Return the lines of a proof that works for every equality of the claim."""
    nodes = [n for t in (claim.start, *(s.expr for s in claim.steps), *claim.because) for n in walk(t)]
    by_entries = any(n.op in SUMS or n.op == "matmul" and not n.shape for n in nodes)
    facts = known_facts(notation, claim, by_entries)
    general = notation.general_tactic or ("entrywise R." if by_entries else "matrices R.")
    first = [*notation.opening, *expand_short_axes(nodes), *facts, *split_exponents(notation)]
    return [*first, *([notation.simplification] if notation.simplification else []), general]


def expand_short_axes(nodes: list[Expr]) -> list[str]:
    """Return lines that expand sums along axes of 2 to LONGEST places."""
    sizes = {int(s.data) for n in nodes for s in (*n.shape, *([n.data[1]] if n.op in BINDERS else [])) if s.op == "const"}
    arrays = any(n.op == "array" for n in nodes)
    return [line for n in sorted(sizes) if 1 < n <= LONGEST for line in expand_axis(n, arrays)]


def expand_axis(n: int, places: bool) -> list[str]:
    """Return a line that states a sum over n places term by term and, if `places`, one that states that there are no other places."""
    ordinals = [f"(@Ordinal {n} {k} isT)" for k in range(n)]
    terms = " + ".join(f"f {k}" for k in ordinals)
    lines = [f"have written_{n} : forall f : 'I_{n} -> R, \\sum_(i < {n}) f i = {terms} by write_out."]
    if places:
        cases = " -> ".join(f"P {k}" for k in ordinals)
        lines.append(f"have places_{n} : forall P : 'I_{n} -> Prop, {cases} -> forall i, P i by every_place.")
    return lines


def known_facts(notation: Notation, claim: Claim, by_entries: bool) -> list[str]:
    """Return lines that bring assumed signs into normal form and apply assumed products and inverses of matrices."""
    lines: list[str] = []
    products: list[str] = []
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


def known_sums(notation: Notation, product: Assumption, k: int) -> list[str]:
    """Return a line that states an assumed product of matrices entry by entry, as a sum over the inner axis."""
    left, right, times = product.args
    if len(left.shape) < 2 or len(right.shape) < 2 or times.data not in (0, 1):
        return []

    def entry(e: Expr, i: str, j: str) -> str:
        return entry(e.args[0], j, i) if e.op == "transpose" else f"{notation.show(e, ATOM)} {i} {j}"

    total = f"\\sum_(place < {notation.size(left.shape[1])}) {entry(left, 'row', 'place')} * {entry(right, 'place', 'column')}"
    value = "(row == column)%:R" if times.data else "0"
    return [f"have known_{k} : forall row column, {total} = {value} :> R by entry_of_product assumed_{k}."]


def split_exponents(notation: Notation) -> list[str]:
    """Return lines that write every exponent as a sum of integer multiples of new variables, or [] if an exponent is not linear.

    The general tactics do not see that exp(x) is the square of exp(x/2). So x becomes 2 y, and x/2 becomes y.
    """
    combinations: list[dict[Expr, Fraction]] = []
    for e in notation.exponents:
        combination = linear(e)
        if combination is None:
            return []
        combinations.append(combination)
    denominators: dict[Expr, int] = {}
    for atom, c in ((atom, c) for combination in combinations for atom, c in combination.items()):
        denominators[atom] = lcm(denominators.get(atom, 1), c.denominator)
    if max(denominators.values(), default=1) == 1:
        return []
    parts: dict[Expr, str] = {}
    lines: list[str] = []
    for k, (atom, d) in enumerate(denominators.items(), 1):
        parts[atom] = f"part_{k}" if d > 1 else notation.show(atom, ATOM)
        if d > 1:
            lines.append(f"have [part_{k} whole_{k}] := divided {notation.show(atom, ATOM)} (n := {d}) isT. rewrite whole_{k}.")
    notation.written_as = {atom: f"({d}%:R * {parts[atom]})" for atom, d in denominators.items() if d > 1}
    for e, combination in dict(zip(notation.exponents, combinations)).items():
        terms = [multiple(int(c * denominators[atom]), parts[atom]) for atom, c in combination.items()]
        rewritten = " + ".join(terms) or "0"
        shown, name = notation.show(e), f"exponent_{len(lines)}"
        if shown != rewritten:
            lines.append(f"have {name} : {shown} = {rewritten} :> R by compare R. try rewrite {name}. clear {name}.")
    notation.written_as = {}
    return lines


def multiple(count: int, part: str) -> str:
    """Return an integer multiple of a part in Coq."""
    text = part if abs(count) == 1 else f"({numeral(abs(count))} * {part})"
    return f"- {text}" if count < 0 else text


def linear(e: Expr) -> dict[Expr, Fraction] | None:
    """Return a linear combination of symbols and entries as {atom: coefficient}, or None for any other tree."""
    if e.op in TRANSPARENT:
        return linear(e.args[0])
    if e.op in ("symbol", "entry"):
        return {e: Fraction(1)} if not free_indices(e) else None
    if e.op == "neg":
        inside = linear(e.args[0])
        return inside and {a: -c for a, c in inside.items()}
    if e.op == "add":
        left, right = map(linear, e.args)
        if left is None or right is None:
            return None
        return {a: left.get(a, Fraction(0)) + right.get(a, Fraction(0)) for a in {**left, **right}}
    if e.op in ("mul", "div"):
        body, factor = e.args if e.args[1].op == "const" else e.args[::-1]
        if factor.op != "const" or not factor.data or e.op == "div" and factor is e.args[0]:
            return None
        inside = linear(body)
        return inside and {a: c * factor.data if e.op == "mul" else c / factor.data for a, c in inside.items()}
    return None
