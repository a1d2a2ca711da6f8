"""Claims with one human slip in them, and controls in which nothing that matters has changed.

A mutant is well typed: what the language itself refuses is no mutant. Two mutants that differ in brackets only are one.
Whether a mutant is false is not decided here: some slips happen to give another true claim (see judge.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from ..core.assumptions import Assumption
from ..core.claims import Claim, Step
from ..core.expr import (
    E,
    Expr,
    Var,
    diff,
    elementwise,
    function,
    inverse,
    lift,
    ones,
    paren,
    rank,
    rounded,
    scalar_of,
    softmax,
    strip,
    symbols,
    walk,
    zeros,
)
from ..errors import KernelError

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Mutant:
    """One slip: which operator made it, where (which part of the claim, and the way down its tree), and the claim with it."""

    claim: str
    operator: str
    path: tuple
    mutated: Claim


# Trees, rebuilt by the language's own constructors, so that shapes are checked again

REBUILD = {
    "add": lambda e, a, b: elementwise("add", a, b),
    "mul": lambda e, a, b: a * b,
    "div": lambda e, a, b: a / b,
    "neg": lambda e, a: -a,
    "pow": lambda e, a, b: a**b,
    "matmul": lambda e, a, b: a @ b,
    "transpose": lambda e, a: a.T,
    "inverse": lambda e, a: inverse(a),
    "sum": lambda e, a: Expr("sum", (scalar_of(a),), (), e.data),
    "entry": lambda e, a, *indices: a[indices],
    "function": lambda e, a: function(e.data, a),
    "softmax": lambda e, a: softmax(a),
    "expectation": lambda e, a: E(a),
    "variance": lambda e, a: Var(a),
    "derivative": lambda e, a, by: diff(a, by),
    "rounded": lambda e, a: rounded(a, e.data),
    "rank": lambda e, a: rank(a),
    "paren": lambda e, a: paren(a),
    "defined": lambda e, a: Expr("defined", (a,), a.shape, e.data),
    "array": lambda e, *entries: Expr("array", tuple(map(scalar_of, entries)), e.shape),
}


def rebuild(e: Expr, args: tuple) -> Expr:
    return REBUILD[e.op](e, *args) if e.args else e


def everywhere(e: Expr, change) -> Expr:
    """The tree with change(node) in place of each node, from the leaves up. None leaves a node as it is."""
    e = rebuild(e, tuple(everywhere(a, change) for a in e.args))
    changed = change(e)
    return e if changed is None else changed


def unfolded(e: Expr) -> Expr:
    """The tree with what is defined in place of its name."""
    return everywhere(e, lambda n: n.args[0] if n.op == "defined" else None)


def slips_in(tree: Expr, slips, path: tuple = ()):
    """(operator, path, tree with one slip). Definitions are not entered: a slip in one is a slip wherever its name stands."""
    yield from ((operator, path, new) for operator, new in slips(tree))
    for k, argument in enumerate(() if tree.op == "defined" else tree.args):
        for operator, where, new in slips_in(argument, slips, path + (k,)):
            try:
                yield operator, where, rebuild(tree, tree.args[:k] + (new,) + tree.args[k + 1 :])
            except KernelError:  # ill typed
                continue


# Slips at one node. Each operator yields what may stand there in its place.


def slips_at(context):
    def slips(e: Expr):
        for name, operator in OPERATORS.items():
            made = operator(e, context)
            while True:
                try:
                    yield name, lift(next(made))
                except StopIteration:
                    break
                except KernelError:  # ill typed
                    break

    return slips


def attempts(*makers):
    """What the makers make, without what is ill typed."""
    for make in makers:
        try:
            yield make()
        except KernelError:
            continue


def negated(e: Expr) -> Expr:
    return e.args[0] if e.op == "neg" else -e


def plus(a: Expr, b: Expr) -> Expr:
    return elementwise("add", a, b)


def is_root(e: Expr) -> bool:
    """A power with a fraction as its exponent."""
    return e.op == "defined" and is_root(e.args[0]) or e.op == "pow" and e.args[1].op == "const" and e.args[1].data.denominator > 1


def sign(e, context):
    if e.op == "neg":
        yield e.args[0]
    elif e.op == "add":
        yield plus(negated(e.args[0]), e.args[1])
        yield plus(e.args[0], negated(e.args[1]))
    elif e.op in ("function", "softmax"):
        yield rebuild(e, (negated(e.args[0]),))


def factor(e, context):
    for times in (lambda x: 2 * x, lambda x: x / 2):
        if e.op == "add":
            yield plus(times(e.args[0]), e.args[1])
            yield plus(e.args[0], times(e.args[1]))
        elif e.op in ("function", "softmax"):
            yield rebuild(e, (times(e.args[0]),))


def exponent(e, context):
    if e.op == "pow":
        base, power = e.args
        yield from attempts(
            lambda: base ** (power + 1 if power.op != "const" else power.data + 1),
            lambda: base ** (power - 1 if power.op != "const" else power.data - 1),
            lambda: base ** (negated(power) if power.op != "const" else -power.data),
            lambda: base,
        )


def transpose(e, context):
    if e.op == "transpose":
        yield e.args[0]
    elif len(e.shape) == 2:
        yield e.T


def swap(e, context):
    a, b = (*e.args, None, None)[:2]
    if e.op == "matmul":
        yield from attempts(lambda: b @ a)
    elif e.op == "div":
        yield from attempts(lambda: b / a)
    elif e.op == "add" and b.op == "neg":
        yield b.args[0] - a


def index_replaced(e, context):
    if e.op == "index":
        yield from (i for i in context.indices if i != e and i.data[1] == e.data[1])
    elif e.op == "entry" and len(e.args) == 3:
        yield from attempts(lambda: e.args[0][e.args[2], e.args[1]])


def bound(e, context):
    """A sum that starts at its second term, or counts its first term twice; and the same at its end where that has a number."""
    if e.op == "sum":
        size = e.data[1]
        ends = {1} | ({int(size.data)} if size.op == "const" else set())
        variable = Expr("index", (), (), e.data)
        for end in sorted(ends):
            term = everywhere(e.args[0], lambda n: lift(end) if n == variable else None)
            yield e - term
            yield e + term
    elif e.op == "matmul" and not e.shape:
        yield e - e.args[0][1] * e.args[1][1]


def term_dropped(e, context):
    if e.op == "add":
        yield from e.args


def term_added(e, context):
    if e.op == "add":
        yield e + (ones(*e.shape) if e.shape else 1)


def factor_dropped(e, context):
    if e.op in ("mul", "matmul"):
        yield from (a for a in e.args if a.shape == e.shape)
    elif e.op == "eye":
        yield ones(*e.shape)
        yield zeros(*e.shape)


def scale_dropped(e, context):
    if e.op == "div":
        yield e.args[0]
        yield e.args[0] * e.args[1]
        if is_root(e.args[1]):  # divided by d_k instead of its root
            yield e.args[0] / (e.args[1].args[0])


def operation_dropped(e, context):
    if e.op in ("function", "softmax", "sum", "derivative", "rounded", "expectation", "variance"):
        yield e.args[0]


def inverse_dropped(e, context):
    if e.op == "inverse":
        yield e.args[0]


def size_changed(e, context):
    if e.op == "symbol" and e.data[1] == "size":
        yield from (s for s in context.sizes if s != e)
        yield e + 1
        yield e - 1


def name_changed(e, context):
    if e.op == "symbol" and e.data[1] != "size":
        yield from (s for s in context.names if s != e and (s.shape, s.data[1]) == (e.shape, e.data[1]))


def wrong_axis(e, context):
    if e.op == "softmax" and len(e.shape) == 2:
        yield softmax(e.args[0].T).T


def moment_confused(e, context):
    if e.op == "expectation":
        yield Var(e.args[0])
    elif e.op == "variance":
        yield E(e.args[0])
        yield E(e.args[0] * e.args[0])


def constant_off(e, context):
    if e.op == "const":
        yield e.data + 1
        yield e.data - 1
    elif e.op == "fill":
        yield zeros(*e.shape) if e.data else ones(*e.shape)


def product_confused(e, context):
    """Entry by entry instead of a matrix product, and the other way round."""
    if e.op == "matmul" and len(e.args[0].shape) == 2 and len(e.args[1].shape) == 2:
        yield from attempts(lambda: e.args[0] * e.args[1])
    elif e.op == "mul" and all(len(a.shape) == 2 for a in e.args):
        yield from attempts(lambda: e.args[0] @ e.args[1])


OPERATORS = {
    "sign": sign,
    "factor": factor,
    "exponent": exponent,
    "transpose": transpose,
    "operands swapped": swap,
    "index replaced": index_replaced,
    "bound off by one": bound,
    "term dropped": term_dropped,
    "term added": term_added,
    "factor dropped": factor_dropped,
    "scale dropped": scale_dropped,
    "operation dropped": operation_dropped,
    "inverse dropped": inverse_dropped,
    "size changed": size_changed,
    "name changed": name_changed,
    "wrong axis": wrong_axis,
    "moment confused": moment_confused,
    "constant off by one": constant_off,
    "product confused": product_confused,
}


def slips_of_a_side(e: Expr):
    """A whole side that is off by a sign, a factor or one."""
    zero = e.op == "const" and not e.data
    yield "term added", e + (ones(*e.shape) if e.shape else 1)
    if not zero:
        yield "sign", negated(e)
        yield "factor", 2 * e
        yield "factor", e / 2


# Claims


class Context:
    """What else the claim speaks of, and so what may be mistaken for what."""

    def __init__(self, claim: Claim):
        named = symbols(*claim.trees).values()
        self.sizes = [s for s in named if s.data[1] == "size"]
        self.names = [s for s in named if s.data[1] != "size"]
        nodes = [n for tree in claim.trees for n in walk(tree)]
        self.indices = list(
            dict.fromkeys([n for n in nodes if n.op == "index"] + [Expr("index", (), (), n.data) for n in nodes if n.op == "sum"])
        )


def mutants(claim: Claim) -> list:
    """Every mutant of a claim, once. Of a definition, what is defined is mutated: a snippet may be said to compute it."""
    seen, found = {meaning(claim)}, []
    makers = (
        (of_definitions,)
        if claim.kind == "definition"
        else (of_sides, of_definitions, of_certificate, of_assumptions, of_counterexample, of_relation)
    )
    for maker in makers:
        for operator, path, mutated in maker(claim):
            if well_typed(mutated) and (said := meaning(mutated)) not in seen:
                seen.add(said)
                found.append(Mutant(claim.id, operator, path, mutated))
    return found


def meaning(claim: Claim) -> tuple:
    """What two claims must share to be one mutant."""
    return (
        strip(claim.start),
        tuple((s.relation, strip(s.expr)) for s in claim.steps),
        tuple(map(strip, claim.because)),
        claim.given,
        claim.at,
        claim.towards,
    )


def well_typed(claim: Claim) -> bool:
    shape = claim.start.shape
    try:
        symbols(*claim.trees)
        if claim.start.op == "rank" and len(claim.because) == 2:
            return bool((claim.because[0] @ claim.because[1]).shape)  # of whatever shape: that is for the witnesses to notice
    except KernelError:
        return False
    scalar = claim.kind != "inequality" or not any(e.shape for e in claim.because)
    return scalar and all(s.expr.shape == shape for s in claim.steps)


def side_slips(tree: Expr, context: Context):
    yield from ((operator, (), new) for operator, new in slips_of_a_side(tree))
    yield from slips_in(tree, slips_at(context))


def with_side(claim: Claim, k: int, new: Expr) -> Claim:
    if k == 0:
        return replace(claim, start=new)
    return replace(claim, steps=claim.steps[: k - 1] + (replace(claim.steps[k - 1], expr=new),) + claim.steps[k:])


def of_sides(claim: Claim):
    context = Context(claim)
    for k, side in enumerate((claim.start, *(s.expr for s in claim.steps))):
        for operator, path, new in side_slips(side, context):
            yield operator, (f"side {k}", *path), with_side(claim, k, new)


def of_definitions(claim: Claim):
    """A slip in a definition that the claim speaks of: the same wherever the name stands."""
    context = Context(claim)
    for name in dict.fromkeys(n for tree in claim.trees for n in walk(tree) if n.op == "defined"):
        for operator, path, body in side_slips(name.args[0], context):
            if body.shape == name.shape:
                new = rebuild(name, (body,))
                mutated = on_trees(claim, lambda n: new if n == name else None)
                if name == claim.start and claim.kind == "definition":
                    mutated = with_side(mutated, 1, body)
                yield operator, (name.data[0], *path), mutated


def on_trees(claim: Claim, change) -> Claim:
    """The claim with a change made in every tree."""

    def changed(e):
        return everywhere(e, change)

    def assumption(a):
        return replace(a, args=tuple(map(changed, a.args)))

    def argument(x):  # what a snippet is given stays as it was: a slip is in the claim, not in both
        return unfolded(x) if isinstance(x, Expr) else x

    return replace(
        claim,
        start=changed(claim.start),
        steps=tuple(replace(s, expr=changed(s.expr)) for s in claim.steps),
        because=tuple(map(changed, claim.because)),
        given=tuple(map(assumption, claim.given)),
        without=tuple((assumption(a), at) for a, at in claim.without),
        code=tuple((name, tuple(map(argument, args)), tuple((k, argument(v)) for k, v in keywords)) for name, args, keywords in claim.code),
    )


def of_certificate(claim: Claim):
    context = Context(claim)
    for k, tree in enumerate(claim.because):
        for operator, path, new in side_slips(tree, context):
            yield (
                "certificate: " + operator,
                (f"because {k}", *path),
                replace(claim, because=claim.because[:k] + (new,) + claim.because[k + 1 :]),
            )
    if len(claim.because) == 2:
        yield "certificate: operands swapped", ("because",), replace(claim, because=claim.because[::-1])


WEAKER = {"positive": ("nonnegative", "nonzero")}


def of_assumptions(claim: Claim):
    context = Context(claim)
    for k, a in enumerate(claim.given):

        def instead(*new):
            return replace(claim, given=claim.given[:k] + new + claim.given[k + 1 :])

        path = (f"given {k}",)
        yield "assumption dropped", path, instead()
        for kind in WEAKER.get(a.kind, ()):
            yield "assumption weakened", path, instead(Assumption(kind, a.args))
        if a.kind in ("independent", "gaussian", "representable") and len(a.args) > 1:
            for j in range(len(a.args)):
                yield "assumption weakened", (*path, j), instead(Assumption(a.kind, a.args[:j] + a.args[j + 1 :]))
        if a.kind == "independent" and len(a.args) > 1:  # each by itself, and not of one another
            yield "assumption weakened", path, instead(*(Assumption(a.kind, (x,)) for x in a.args))
        if a.kind in ("mean", "variance"):
            for _, where, new in side_slips(a.args[1], context):
                yield "assumption changed", (*path, *where), instead(Assumption(a.kind, (a.args[0], new)))
            other = "mean" if a.kind == "variance" else "variance"
            if not any(b.kind == other and b.args[0] == a.args[0] for b in claim.given):
                yield "assumption changed", path, instead(Assumption(other, a.args))
        if a.kind in ("positive", "nonnegative", "nonzero") and a.args[0].op != "symbol":
            for _, where, new in side_slips(a.args[0], context):
                yield "assumption changed", (*path, *where), instead(Assumption(a.kind, (new,)))
        if a.kind == "product":
            left, right, times = a.args
            if left.shape[0] == right.shape[1]:
                yield "assumption changed", path, instead(Assumption(a.kind, (left, right, lift(1 - times.data))))
            if left.shape[0] == right.shape[1]:
                yield "assumption changed", path, instead(Assumption(a.kind, (right, left, times)))


def of_counterexample(claim: Claim):
    """Values that are replaced by others; many of these are no counterexample."""

    def filled(value, new):
        return tuple(filled(v, new) for v in value) if isinstance(value, tuple) else lift(new)

    def nudged(value):
        """One entry at a time set to 0 or increased by 1."""
        if not isinstance(value, tuple):
            yield from (lift(0), value + 1) if value.op != "const" else (lift(0), lift(value.data + 1))
            return
        for k, v in enumerate(value):
            yield from (value[:k] + (new,) + value[k + 1 :] for new in nudged(v))

    for new in (0, 1):
        yield "counterexample replaced", ("at",), replace(claim, at=tuple((n, filled(v, new)) for n, v in claim.at))
    for k, (name, value) in enumerate(claim.at):
        for new in (filled(value, 0), filled(value, 1), *nudged(value)):
            yield "counterexample replaced", ("at", k), replace(claim, at=claim.at[:k] + ((name, new),) + claim.at[k + 1 :])


def of_relation(claim: Claim):
    last = claim.steps[-1].expr
    if claim.kind == "refutation" and claim.refuted == "<=":
        yield "relation turned", ("side 0", "side 1"), with_side(with_side(claim, 0, last), 1, claim.start)
    if claim.kind == "refutation":  # what holds is refuted
        for equal in (claim.start + 0 * claim.start, claim.start * 1):
            yield "a truth refuted", ("side 1",), with_side(claim, 1, equal)
        yield "a truth refuted", ("side 0",), with_side(claim, 0, last + 0 * last)
    if claim.kind == "inequality" and claim.start.op != "rank":
        yield "relation turned", ("side 0", "side 1"), with_side(with_side(claim, 0, last), 1, claim.start)
        yield (
            "relation turned",
            ("side 0", "side 1", "because"),
            replace(with_side(with_side(claim, 0, last), 1, claim.start), because=tuple(map(negated, claim.because))),
        )
    if claim.kind == "limit":
        variable, to = claim.towards
        yield "limit's direction", ("towards",), replace(claim, towards=(variable, 0 if to == "oo" else "oo"))


# Controls: nothing that matters has changed


def controls(claim: Claim) -> list:
    """(name, claim): each must still be accepted. A chain is also split into its steps, and cut short to its ends."""
    if claim.kind == "definition":
        return []
    made = [
        ("brackets", bracketed(claim)),
        ("renamed dummies", renamed(claim)),
        ("reordered sums", reordered(claim)),
        ("a comment", replace(claim, title="Something else", steps=tuple(replace(s, reason="said otherwise") for s in claim.steps))),
    ]
    found = [(name, new) for name, new in made if replace(new, title="") != replace(claim, title="")]
    if len(claim.steps) > 1:
        previous = claim.start
        for k, step in enumerate(claim.steps, 1):
            found.append((f"step {k} on its own", replace(claim, start=previous, steps=(step,))))
            previous = step.expr
        found.append(("first and last", replace(claim, steps=(Step("=", previous),))))
    return found


BRACKETED = ("add", "mul", "div", "neg", "matmul", "transpose", "function", "softmax", "expectation", "variance", "sum")


def bracketed(claim: Claim) -> Claim:
    """Brackets around every argument that can have them."""
    return in_formulas(claim, lambda e: rebuild(e, tuple(map(paren, e.args))) if e.op in BRACKETED else None)


def in_formulas(claim: Claim, change) -> Claim:
    """A change in every tree but the assumptions, of which some are about symbols only."""
    return replace(on_trees(claim, change), given=claim.given, without=claim.without)


def renamed(claim: Claim) -> Claim:
    """Every index variable under another name."""

    def other(e):  # not by rebuilding: an entry would be checked against indices of which some are renamed and some not yet
        data = ("dummy" + e.data[0], e.data[1]) if e.op in ("index", "sum") else e.data
        return Expr(e.op, tuple(map(other, e.args)), e.shape, data)

    def in_code(x):
        if isinstance(x, dict):
            return {k: in_code(y) for k, y in x.items()}
        if isinstance(x, tuple):
            return tuple(map(in_code, x))
        return other(x) if isinstance(x, Expr) else x

    return replace(
        claim,
        start=other(claim.start),
        steps=tuple(replace(s, expr=other(s.expr)) for s in claim.steps),
        because=tuple(map(other, claim.because)),
        code=in_code(claim.code),
        given=tuple(replace(a, args=tuple(map(other, a.args))) for a in claim.given),
    )


def reordered(claim: Claim) -> Claim:
    """a + b as b + a, and a double sum over its indices in the other order."""

    def change(e):
        if e.op == "add":
            return plus(e.args[1], e.args[0])
        if e.op == "sum" and e.args[0].op == "sum":
            inner = e.args[0]
            return Expr("sum", (Expr("sum", inner.args, (), e.data),), (), inner.data)

    return in_formulas(claim, change)
