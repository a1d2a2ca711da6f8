"""The program of a claim: Python source that imports only SymPy, and proves each step or names the one that is false.

A program consists of the claim and of the part of the prelude that it needs. The claim is a function that states both sides of each step,
and a call that proves them. The claim's symbols are local to that function, so that its names cannot collide with those of the prelude.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.assumptions import Assumption
from ..core.claims import Claim
from ..core.expr import Expr, contains_average, free_indices, lift, matmul, show, symbols, walk
from ..core.operators import INDEXED
from . import counterexample_reading, laws
from .errors import Disagrees, NotForSymPy
from .program_text import Program, assemble, write_function, write_loops, write_reasons, write_sizes, write_steps, write_verdict
from .symbol_text import SIGNS, indices_of
from .tree_to_sympy import Translation
from .tried_sizes import size_names


def write_program(claim: Claim) -> Program:
    """Return the program of a claim. Raise NotForSymPy if SymPy cannot check it."""
    return KINDS[claim.kind](claim)


def is_law(claim: Claim) -> bool:
    """Return whether a side of the claim contains an expectation or a variance."""
    return contains_average(claim.start, *(s.expr for s in claim.steps))


def identity(claim: Claim) -> Program:
    """Return the program of an identity or a chain."""
    if is_law(claim):
        return law(claim)
    t = Translation(claim)
    parameters, sizes = write_sizes(claim, t)
    stated = write_function("claim", parameters, "Both sides of each step, at these sizes.", t, write_steps(t, claim))
    zero = [a for a in claim.given if a.kind == "product"]
    given = write_equations(claim, zero) if zero else ""
    assumed = write_signs(claim) if t.bits else ""
    call = write_verdict(f"identity(claim, {sizes_argument(t)}, REASONS{', given' * bool(zero)}, tell=tell)")
    return assemble(claim, sizes + "\n" + write_reasons(claim), given, assumed, stated, call)


def sizes_argument(t: Translation) -> str:
    """Return the expression for the sizes to try. With zero_or_one symbols, it filters out values that violate other assumptions."""
    return "possible(SIZES, assumed)" if t.bits else "SIZES"


def write_equations(claim: Claim, assumed: list[Assumption]) -> str:
    """Return a function of the sizes that lists the matrices that are 0 by assumption."""
    t = Translation(claim)
    parameters, _ = write_sizes(claim, t)
    texts = []
    for a in assumed:
        left, right, times = a.args
        product = matmul(left, right)
        text = t.write(product)
        if times.data:
            text = t.write(product - lift(times) * Expr("eye", (), product.shape))
        texts.append(text.text)
    return write_function("given", parameters, "What is 0 by assumption.", t, [f"return [{', '.join(texts)}]"])


def law(claim: Claim) -> Program:
    """Return the program of a law: for every size if possible, else entry by entry at small sizes."""
    try:
        return law_for_every_size(claim)
    except NotForSymPy:
        return law_at_sizes(claim)


def law_for_every_size(claim: Claim) -> Program:
    """Return a program that proves a law by induction on the sizes. Raise NotForSymPy if its sums are not of a suitable form."""
    t = laws.Sums(claim)
    known = laws.write_assumptions(t, claim)
    if indices_of(claim.start, *(s.expr for s in claim.steps)):
        raise NotForSymPy("a law with an open index")
    before, t.lines = t.lines, {}
    body = write_steps(t, claim, ", known")
    t.lines = before | {"known": f"Sums({known})"} | t.lines
    stated = write_function("claim", [], "Both sides of each step, with every size a symbol.", t, body)
    return assemble(claim, write_reasons(claim), stated, write_verdict("law(claim, REASONS, tell=tell)"))


def law_at_sizes(claim: Claim) -> Program:
    """Return a program that proves a law at small sizes."""
    t = laws.Moments(claim)
    parameters, sizes = write_sizes(claim, t)
    stated = write_function("claim", parameters, "Both sides of each step, at these sizes.", t, write_with_moments(t, claim, write_steps))
    call = write_verdict("identity(claim, SIZES, REASONS, tell=tell)")
    return assemble(claim, sizes + "\n" + write_reasons(claim), stated, call)


def write_with_moments(t: Translation, claim: Claim, write: Callable[[Translation, Claim], list[str]]) -> list[str]:
    """Return the lines that `write` returns. Add a line before them that states what is known about random numbers."""
    known = laws.write_assumptions(t, claim)
    before, t.lines = t.lines, {}
    body = write(t, claim)
    t.lines = before | {"known": f"Moments({known})"} | t.lines
    return body


def inequality(claim: Claim) -> Program:
    """Return the program of an inequality."""
    left, right = claim.start, claim.steps[0].expr
    if left.op == "rank":
        return rank_bound(claim, left.args[0], right)
    t = make_translation(claim)
    parameters, sizes = write_sizes(claim, t)
    body = with_moments(t, claim, write_sides_and_form)
    stated = write_function("claim", parameters, "The left side, the right side, and the certificate: what right - left is.", t, body)
    assumed = write_signs(claim)
    call = write_verdict("inequality(claim, SIZES, assumed, tell=tell)")
    return assemble(claim, sizes, assumed, stated, call)


def make_translation(claim: Claim) -> Translation:
    """Return a writer of the claim's trees, one for random numbers if the claim contains expectations or variances."""
    return laws.Moments(claim) if contains_average(*claim.trees) else Translation(claim)


def with_moments(t: Translation, claim: Claim, write: Callable[[Translation, Claim], list[str]]) -> list[str]:
    """Return the lines that `write` returns, after a line about random numbers if the writer needs one."""
    return write_with_moments(t, claim, write) if isinstance(t, laws.Moments) else write(t, claim)


def write_sides_and_form(t: Translation, claim: Claim) -> list[str]:
    """Return the lines that state both sides of an inequality and its nonnegative form."""
    left, right = claim.start, claim.steps[0].expr
    texts = [t.write(e).text for e in (left, right, claim.because[0])]
    names = [t.names.of("part", name) for name in ("left", "right", "certificate")]
    sides = [f"{name} = {text}" for name, text in zip(names, texts)]
    open_ = indices_of(left, right)
    if stray := [i.data[0] for i in indices_of(claim.because[0]) if i not in open_]:
        raise Disagrees(f"the certificate has the index {stray[0]}, which neither side has", code="wrong-certificate")
    return write_loops(t, open_, lambda place: [*sides, f"yield {', '.join(names)}{place}"])


def write_signs(claim: Claim, moving: frozenset[str] = frozenset()) -> str:
    """Return a function of the sizes that lists what is positive, nonnegative and nonzero by assumption. Variances are nonnegative."""
    t = make_translation(claim)
    parameters, _ = write_sizes(claim, t, moving)
    lists = {kind: t.names.of("part", kind) for kind in ("positive", "nonnegative", "nonzero")}

    def write_lists(t: Translation, claim: Claim) -> list[str]:
        signs = [(a.kind, a.args[0]) for a in claim.given if a.kind in lists]
        signs += [("nonnegative", n) for n in (walk(claim.because[0]) if claim.because else ()) if n.op == "variance"]
        lines: list[str] = []
        for kind, x in signs:
            text = t.write(x).as_sympy().text
            lines += write_loops(t, indices_of(x), lambda place: [f"{lists[kind]}.append({text})"])
        return lines

    names = ", ".join(lists.values())
    body = [f"{names} = [], [], []", *with_moments(t, claim, write_lists), f"return {names}"]
    return write_function("assumed", parameters, "What is positive, not negative, not zero by assumption.", t, body)


def rank_bound(claim: Claim, matrix: Expr, bound: Expr) -> Program:
    """Return a program that proves a bound on a rank: all minors that are one larger than the bound vanish."""
    if bound.op not in ("symbol", "const"):
        raise NotForSymPy(f"a rank bounded by {show(bound)}")
    t = Translation(claim)
    if t.bits:
        raise NotForSymPy("a rank of what is 0 or 1")
    parameters, _ = write_sizes(claim, t)
    stated = write_function("claim", parameters, "The matrix, at these sizes.", t, [f"return {t.write(matrix).text}"])
    bounds = []
    for r in (1, 2) if bound.op == "symbol" else (int(bound.data),):
        varied = bound.data[0] if bound.op == "symbol" else None
        sizes = ", ".join(f"{p}={r if n == varied else r + 1}" for p, n in zip(parameters, size_names(claim)))
        bounds.append(f"    ({r}, dict({sizes})),\n")
    call = write_verdict("rank_bound(claim, BOUNDS, tell=tell)")
    return assemble(claim, f"BOUNDS = [\n{''.join(bounds)}]", stated, call)


def limit(claim: Claim) -> Program:
    """Return the program of a limit: with symbols for sizes if nothing has a shape or an index, else entry by entry at small sizes."""
    left, right = claim.start, claim.steps[0].expr
    if claim.towards[1] == 0 and claim.towards[0].data[1] == "size":
        raise Disagrees(f"{show(claim.towards[0])} is a size, and goes to no 0", code="unknown-limit")
    counted = any(n.shape or n.op in INDEXED for t in (left, right) for n in walk(t))
    goes = {s.data[0] for s in claim.towards[:1] if s.data[1] == "size"}  # it may occur in neither side
    sizes_named = frozenset({*size_names(claim), *goes})
    moving = sizes_named & {claim.towards[0].data[0]} if counted else sizes_named
    t = Translation(claim, moving=moving)
    parameters, sizes = write_sizes(claim, t, moving)
    texts = [t.write(e).text for e in (claim.towards[0], left, right)]
    body = write_loops(t, indices_of(left, right), lambda place: [f"yield {', '.join(texts)}"])
    stated = write_function("claim", parameters, "What moves, the expression, and its limit.", t, body)
    assumed = write_signs(claim, moving) if t.bits else ""
    of_names = all(a.kind in SIGNS and a.args[0].op == "symbol" for a in claim.given)  # so that SymPy's symbols have these assumptions
    call = write_verdict(f"limit(claim, {sizes_argument(t)}, {claim.towards[1]!r}, at_zero={of_names}, tell=tell)")
    return assemble(claim, sizes, assumed, stated, call)


def refutation(claim: Claim) -> Program:
    """Return the program of a refutation. It evaluates both sides at the counterexample, those of a law for every size if possible."""
    sizes, texts = counterexample_reading.read_counterexample(claim)
    claim = counterexample_reading.substitute_indices(claim, sizes)
    if is_law(claim):
        try:
            return refutation_for_every_size(claim, sizes, texts)
        except NotForSymPy:
            pass
    t: Translation = laws.Moments(claim, values=texts) if is_law(claim) else Translation(claim, values=texts)
    body = write_with_moments(t, claim, write_both_sides) if is_law(claim) else add_parts(t, claim, write_both_sides(t, claim))
    lines = [f"{t.names.of('size', n)} = Integer({k})" for n, k in sizes.items()]
    stated = write_function("claim", [], "Both sides at the counterexample.", t, body, lines)
    call = write_verdict(f"refutation(claim, {claim.refuted!r}, tell=tell)")
    return assemble(claim, stated, call)


def write_both_sides(t: Translation, claim: Claim) -> list[str]:
    """Return the lines that state both sides of a refutation."""
    left, right = (t.write(e).as_sympy().text for e in (claim.start, claim.steps[0].expr))
    return [f"left = {left}", f"right = {right}", "return left, right"]


def add_parts(t: Translation, claim: Claim, body: list[str]) -> list[str]:
    """Return the lines with a list of the parts that may be infinite. The program checks them, since to SymPy one over infinity is 0."""
    nodes = [n for e in (claim.start, claim.steps[0].expr) for n in walk(e) if may_be_infinite(n) and not n.shape and not free_indices(n)]
    texts = [t.write(n).as_sympy().text for n in dict.fromkeys(nodes)]
    return [*body[:-1], f"parts = [{', '.join(texts)}]", "return left, right, *parts"] if texts else body


def may_be_infinite(e: Expr) -> bool:
    """Return whether SymPy may evaluate a node to infinity: a quotient, a logarithm, or a power that may be one over zero."""
    positive = e.op == "pow" and e.args[1].op == "const" and e.args[1].data > 0
    return e.op in ("div", "pow") and not positive or (e.op, e.data) == ("function", "log")


def refutation_for_every_size(claim: Claim, sizes: dict[str, int], texts: dict[str, str]) -> Program:
    """Return a program that computes both sides of a law with symbols for sizes and parameters, and then substitutes the counterexample."""
    t, named = laws.Sums(claim), symbols(*claim.trees)
    if any(named[n].shape or named[n].data[1] == "random" for n in texts):
        raise NotForSymPy("a law at the values of a tensor")
    known = laws.write_assumptions(t, claim)
    before, t.lines = t.lines, {}
    body = write_both_sides(t, claim)[:2]
    values = {n: str(k) for n, k in sizes.items()} | texts
    numbers = ", ".join(f"{t.symbol(named[n])}: {text}" for n, text in values.items())
    t.lines = before | {"known": f"Sums({known})"} | t.lines
    stated = write_function(
        "claim", [], "Both sides, with every size a symbol, and the counterexample.", t, [*body, f"return left, right, {{{numbers}}}"]
    )
    call = write_verdict(f"refutation_of_law(claim, {claim.refuted!r}, tell=tell)")
    return assemble(claim, stated, call)


def definition(claim: Claim) -> Program:
    """Raise NotForSymPy."""
    raise NotForSymPy("a definition has nothing to prove")


KINDS = {
    "identity": identity,
    "chain": identity,
    "law": law,
    "inequality": inequality,
    "limit": limit,
    "refutation": refutation,
    "definition": definition,
}
