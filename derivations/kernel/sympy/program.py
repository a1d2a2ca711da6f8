"""A claim as a program: a text that imports SymPy, and nothing of ours, and proves each step or says which one is false.

A program is what is carried from the prelude, and then the claim: a function that states both sides of each step, and one line that proves
them. The claim's symbols are local to that function, so that no name of a claim meets one of the program's.
"""

from __future__ import annotations

from collections.abc import Callable

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, lift, matmul, show, symbols, takes_average, walk
from ..core.operators import INDEXED
from . import counterexamples, laws
from .errors import Disagrees, NotForSymPy
from .program_text import Program, assembled, function, looped, reasons, steps_text, tried, verdict
from .tree_to_sympy import SIGNS, Translation, indices_of
from .tried_sizes import size_names


def program(claim: Claim) -> Program:
    """The program of a claim; NotForSymPy says why there is none."""
    return KINDS[claim.kind](claim)


def is_law(claim: Claim) -> bool:
    return takes_average(claim.start, *(s.expr for s in claim.steps))


def identity(claim: Claim) -> Program:
    if is_law(claim):
        return law(claim)
    t = Translation(claim)
    parameters, sizes = tried(claim, t)
    stated = function("claim", parameters, "Both sides of each step, at these sizes.", t, steps_text(t, claim))
    zero = [a for a in claim.given if a.kind == "product"]
    given = relations(claim, zero) if zero else ""
    assumed = signs_assumed(claim) if t.bits else ""
    call = verdict(f"identity(claim, {at_sizes(t)}, REASONS{', given' * bool(zero)}, tell=tell)")
    return assembled(claim, sizes + "\n" + reasons(claim), given, assumed, stated, call)


def at_sizes(t: Translation) -> str:
    """The sizes; with what is 0 or 1 among them, those at which the other assumptions may hold."""
    return "possible(SIZES, assumed)" if t.bits else "SIZES"


def relations(claim: Claim, assumed: list) -> str:
    """What vanishes by assumption, as a function of the sizes."""
    t = Translation(claim)
    parameters, _ = tried(claim, t)
    texts = []
    for a in assumed:
        left, right, times = a.args
        product_ = matmul(left, right)
        text = t.write(product_)
        if times.data:
            text = t.write(product_ - lift(times) * Expr("eye", (), product_.shape))
        texts.append(text.text)
    return function("given", parameters, "What is 0 by assumption.", t, [f"return [{', '.join(texts)}]"])


def law(claim: Claim) -> Program:
    """For every size at once where that can be said, else at small sizes, entry by entry."""
    try:
        return law_for_every_size(claim)
    except NotForSymPy:
        return law_at_sizes(claim)


def law_for_every_size(claim: Claim) -> Program:
    t = laws.Sums(claim)
    known = laws.stated(t, claim)
    if indices_of(claim.start, *(s.expr for s in claim.steps)):
        raise NotForSymPy("a law with an open index")
    before, t.lines = t.lines, {}
    body = steps_text(t, claim, ", known")
    t.lines = before | {"known": f"Sums({known})"} | t.lines
    stated = function("claim", [], "Both sides of each step, with every size a symbol.", t, body)
    return assembled(claim, reasons(claim), stated, verdict("law(claim, REASONS, tell=tell)"))


def law_at_sizes(claim: Claim) -> Program:
    t = laws.Moments(claim)
    parameters, sizes = tried(claim, t)
    stated = function("claim", parameters, "Both sides of each step, at these sizes.", t, moments_text(t, claim, steps_text))
    call = verdict("identity(claim, SIZES, REASONS, tell=tell)")
    return assembled(claim, sizes + "\n" + reasons(claim), stated, call)


def moments_text(t: laws.Moments, claim: Claim, text: Callable) -> list:
    """The lines that text writes, with what is known of random numbers before them."""
    known = laws.stated(t, claim)
    before, t.lines = t.lines, {}
    body = text(t, claim)
    t.lines = before | {"known": f"Moments({known})"} | t.lines
    return body


def inequality(claim: Claim) -> Program:
    left, right = claim.start, claim.steps[0].expr
    if left.op == "rank":
        return rank_bound(claim, left.args[0], right)
    t = translation(claim)
    parameters, sizes = tried(claim, t)
    body = with_moments(t, claim, compared)
    stated = function("claim", parameters, "The left side, the right side, and the certificate: what right - left is.", t, body)
    assumed = signs_assumed(claim)
    call = verdict("inequality(claim, SIZES, assumed, tell=tell)")
    return assembled(claim, sizes, assumed, stated, call)


def translation(claim: Claim) -> Translation:
    """One that knows of moments, where the claim speaks of them."""
    return laws.Moments(claim) if takes_average(*claim.trees) else Translation(claim)


def with_moments(t: Translation, claim: Claim, text: Callable) -> list:
    return moments_text(t, claim, text) if isinstance(t, laws.Moments) else text(t, claim)


def compared(t: Translation, claim: Claim) -> list:
    """The lines that state the two sides and the certificate."""
    left, right = claim.start, claim.steps[0].expr
    texts = [t.write(e).text for e in (left, right, claim.because[0])]
    names = [t.names.of("part", name) for name in ("left", "right", "certificate")]
    sides = [f"{name} = {text}" for name, text in zip(names, texts)]
    open_ = indices_of(left, right)
    if stray := [i.data[0] for i in indices_of(claim.because[0]) if i not in open_]:
        raise Disagrees(f"the certificate has the index {stray[0]}, which neither side has")
    return looped(t, open_, lambda place: [*sides, f"yield {', '.join(names)}{place}"])


def signs_assumed(claim: Claim, moving: frozenset = frozenset()) -> str:
    """What is positive, what is not negative and what is not zero by assumption, as a function of the sizes; no variance is negative."""
    t = translation(claim)
    parameters, _ = tried(claim, t, moving)
    lists = {kind: t.names.of("part", kind) for kind in ("positive", "nonnegative", "nonzero")}

    def listed(t, claim):
        signs = [(a.kind, a.args[0]) for a in claim.given if a.kind in lists]
        signs += [("nonnegative", n) for n in (walk(claim.because[0]) if claim.because else ()) if n.op == "variance"]
        lines = []
        for kind, x in signs:
            text = t.write(x).sympys().text
            lines += looped(t, indices_of(x), lambda place: [f"{lists[kind]}.append({text})"])
        return lines

    names = ", ".join(lists.values())
    body = [f"{names} = [], [], []", *with_moments(t, claim, listed), f"return {names}"]
    return function("assumed", parameters, "What is positive, not negative, not zero by assumption.", t, body)


def rank_bound(claim: Claim, matrix: Expr, bound: Expr) -> Program:
    """All minors one larger than the bound vanish."""
    if bound.op not in ("symbol", "const"):
        raise NotForSymPy(f"a rank bounded by {show(bound)}")
    t = Translation(claim)
    if t.bits:
        raise NotForSymPy("a rank of what is 0 or 1")
    parameters, _ = tried(claim, t)
    stated = function("claim", parameters, "The matrix, at these sizes.", t, [f"return {t.write(matrix).text}"])
    bounds = []
    for r in (1, 2) if bound.op == "symbol" else (int(bound.data),):
        own = bound.data[0] if bound.op == "symbol" else None
        sizes = ", ".join(f"{p}={r if n == own else r + 1}" for p, n in zip(parameters, size_names(claim)))
        bounds.append(f"    ({r}, dict({sizes})),\n")
    call = verdict("rank_bound(claim, BOUNDS, tell=tell)")
    return assembled(claim, f"BOUNDS = [\n{''.join(bounds)}]", stated, call)


def limit(claim: Claim) -> Program:
    """With every size a symbol where none is counted to; else at small sizes, entry by entry."""
    left, right = claim.start, claim.steps[0].expr
    if claim.towards[1] == 0 and claim.towards[0].data[1] == "size":
        raise Disagrees(f"{show(claim.towards[0])} is a size, and goes to no 0")
    counted = any(n.shape or n.op in INDEXED for t in (left, right) for n in walk(t))
    goes = {s.data[0] for s in claim.towards[:1] if s.data[1] == "size"}  # it may stand in neither side
    sizes_named = frozenset({*size_names(claim), *goes})
    moving = sizes_named & {claim.towards[0].data[0]} if counted else sizes_named
    t = Translation(claim, moving=moving)
    parameters, sizes = tried(claim, t, moving)
    texts = [t.write(e).text for e in (claim.towards[0], left, right)]
    body = looped(t, indices_of(left, right), lambda place: [f"yield {', '.join(texts)}"])
    stated = function("claim", parameters, "What moves, the expression, and its limit.", t, body)
    assumed = signs_assumed(claim, moving) if t.bits else ""
    of_names = all(a.kind in SIGNS and a.args[0].op == "symbol" for a in claim.given)  # of which SymPy's symbols know
    call = verdict(f"limit(claim, {at_sizes(t)}, {claim.towards[1]!r}, at_zero={of_names}, tell=tell)")
    return assembled(claim, sizes, assumed, stated, call)


def refutation(claim: Claim) -> Program:
    """Of a law for every size where that can be said; else both sides at the sizes of the counterexample."""
    sizes, texts = counterexamples.counterexample(claim)
    claim = counterexamples.placed(claim, sizes)
    if is_law(claim):
        try:
            return refutation_for_every_size(claim, sizes, texts)
        except NotForSymPy:
            pass
    t = laws.Moments(claim, values=texts) if is_law(claim) else Translation(claim, values=texts)
    body = moments_text(t, claim, sides_text) if is_law(claim) else with_parts(t, claim, sides_text(t, claim))
    lines = [f"{t.names.of('size', n)} = Integer({k})" for n, k in sizes.items()]
    stated = function("claim", [], "Both sides at the counterexample.", t, body, lines)
    call = verdict(f"refutation(claim, {claim.refuted!r}, tell=tell)")
    return assembled(claim, stated, call)


def sides_text(t: Translation, claim: Claim) -> list:
    left, right = (t.write(e).sympys().text for e in (claim.start, claim.steps[0].expr))
    return [f"left = {left}", f"right = {right}", "return left, right"]


def with_parts(t: Translation, claim: Claim, body: list) -> list:
    """The same, and what in the sides may have no value at the numbers: SymPy takes one over infinity for 0."""
    nodes = [n for e in (claim.start, claim.steps[0].expr) for n in walk(e) if may_be_infinite(n) and not n.shape and not free_indices(n)]
    texts = [t.write(n).sympys().text for n in dict.fromkeys(nodes)]
    return [*body[:-1], f"parts = [{', '.join(texts)}]", "return left, right, *parts"] if texts else body


def may_be_infinite(e: Expr) -> bool:
    positive = e.op == "pow" and e.args[1].op == "const" and e.args[1].data > 0
    return e.op in ("div", "pow") and not positive or (e.op, e.data) == ("function", "log")


def refutation_for_every_size(claim: Claim, sizes: dict, texts: dict) -> Program:
    """Both sides from the moments, with every size and every parameter a symbol; then at the numbers."""
    t, named = laws.Sums(claim), symbols(*claim.trees)
    if any(named[n].shape or named[n].data[1] == "random" for n in texts):
        raise NotForSymPy("a law at the values of a tensor")
    known = laws.stated(t, claim)
    before, t.lines = t.lines, {}
    body = sides_text(t, claim)[:2]
    values = {n: str(k) for n, k in sizes.items()} | texts
    numbers = ", ".join(f"{t.symbol(named[n])}: {text}" for n, text in values.items())
    t.lines = before | {"known": f"Sums({known})"} | t.lines
    stated = function(
        "claim", [], "Both sides, with every size a symbol, and the counterexample.", t, [*body, f"return left, right, {{{numbers}}}"]
    )
    call = verdict(f"refutation_of_law(claim, {claim.refuted!r}, tell=tell)")
    return assembled(claim, stated, call)


def definition(claim: Claim) -> Program:
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
