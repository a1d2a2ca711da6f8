"""Claims with one human slip in them, and controls in which nothing that matters has changed.

A mutant is well typed: what the language itself refuses is no mutant. Two mutants that differ in brackets only are one.
Whether a mutant is false is not decided here: some slips happen to give another true claim (see judge.py).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from ..core.assumptions import Assumption, mean, variance
from ..core.claims import Claim
from ..core.expr import Expr, lift, ones, own_sizes, symbols, walk
from ..core.operators import BINDERS
from ..errors import KernelError
from .rebuild_trees import everywhere, rebuild, slips_in, unfolded
from .tree_mutations import negated, slips_at, slips_of_a_side


@dataclass(frozen=True)
class Mutant:
    """One slip: which operator made it, where (which part of the claim, and the way down its tree), and the claim with it."""

    claim: str
    operator: str
    path: tuple
    mutated: Claim


class Context:
    """What else the claim speaks of, and so what may be mistaken for what."""

    def __init__(self, claim: Claim):
        named = symbols(*claim.trees).values()
        self.sizes = [s for s in named if s.data[1] == "size"]
        self.names = [s for s in named if s.data[1] != "size"]
        nodes = [n for tree in claim.trees for n in walk(tree)]
        self.indices = list(dict.fromkeys([n for n in nodes if n.op == "index"] + [n.bound_index for n in nodes if n.op in BINDERS]))

    def open_for(self, *sizes: Expr) -> list:
        """An index that runs along an axis of one of these sizes: one of the claim's, or else a new one."""
        taken = {s.data[0] for s in (*self.sizes, *self.names, *self.indices)}
        free = next(name for name in ("i", "j", "l", "i_1", "j_1", "l_1") if name not in taken)
        return [i for i in self.indices if i.data[1] in sizes] or [Expr("index", (), (), (free, s)) for s in sizes[:1]]


def mutants(claim: Claim) -> list:
    """Every mutant of a claim, once. Of a definition, what is defined is mutated: a snippet may be said to compute it."""
    seen = Seen()
    met, found = {meaning(claim, seen)}, []
    makers = (
        (of_definitions,)
        if claim.kind == "definition"
        else (of_sides, of_large_sizes, of_definitions, of_certificate, of_assumptions, of_counterexample, of_relation)
    )
    for maker in makers:
        for operator, path, mutated in maker(claim):
            if well_typed(mutated, seen) and (said := meaning(mutated, seen)) not in met:
                met.add(said)
                found.append(Mutant(claim.id, operator, path, mutated))
    return found


class Seen:
    """What is known of trees. The mutants of a claim share most of theirs, and each part is looked at once."""

    def __init__(self):
        self.found: dict = {}  # by which object a tree is: its number, its names, and the tree, so that no other takes its place
        self.numbers: dict = {}

    def number(self, e: Expr) -> int:
        """Of two trees the same if they are alike without their brackets."""
        return self.of(e)[0]

    def names(self, *trees: Expr) -> frozenset:
        """The symbols and definitions in them, with the sizes in shapes and in indices."""
        return frozenset().union(*(self.of(e)[1] for e in trees))

    def of(self, e: Expr) -> tuple:
        if id(e) not in self.found:
            parts = [self.of(a) for a in e.args]
            key = (e.op, e.data, e.shape, *(number for number, _, _ in parts))
            number = parts[0][0] if e.op == "paren" else self.numbers.setdefault(key, len(self.numbers))
            own = (e, *own_sizes(e))
            names = frozenset(s for s in own if s.op in ("symbol", "defined"))
            self.found[id(e)] = number, names.union(*(names for _, names, _ in parts)), e
        return self.found[id(e)]


def meaning(claim: Claim, seen: Seen) -> tuple:
    """What two claims must share to be one mutant."""
    return (
        seen.number(claim.start),
        tuple((s.relation, seen.number(s.expr)) for s in claim.steps),
        tuple(map(seen.number, claim.because)),
        claim.given,
        claim.at,
        claim.towards,
    )


def well_typed(claim: Claim, seen: Seen | None = None) -> bool:
    shape, names = claim.start.shape, (seen or Seen()).names(*claim.trees)
    if len({s.data[0] for s in names}) < len(names):  # one name for two things
        return False
    if claim.start.op == "rank" and len(claim.because) == 2:
        try:
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


VANISHES_UP_TO = 4


def of_large_sizes(claim: Claim):
    """A side with a term more that is 0 at every small size."""
    for size in Context(claim).sizes:
        if claim.towards and claim.towards[0] == size:  # where only what is large counts
            continue
        term = size - 1
        for small in range(2, VANISHES_UP_TO + 1):
            term = term * (size - small)
        shape = claim.start.shape
        yield "large sizes", ("side 0", size.data[0]), with_side(claim, 0, claim.start + (term * ones(*shape) if shape else term))


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


def index_opened(tree: Expr, context: Context):
    """A number in the place of an index becomes an index that nothing binds."""

    def slips(e):
        for at, place in enumerate(e.args[1:] if e.op == "entry" else (), 1):
            size = e.args[0].shape[at - 1]
            for new in (i for i in context.open_for(size) if i != place):
                yield "index left open", Expr(e.op, (*e.args[:at], new, *e.args[at + 1 :]))
        if e.op == "sum":
            yield "index left open", e.args[0]

    return slips_in(tree, slips)


def of_certificate(claim: Claim):
    context = Context(claim)
    for k, tree in enumerate(claim.because):
        for operator, path, new in index_opened(tree, context):
            yield operator, (f"because {k}", *path), replace(claim, because=claim.because[:k] + (new,) + claim.because[k + 1 :])
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
        if a.kind == "moment":
            for order in {max(1, a.args[1].data - 1), a.args[1].data + 1} - {a.args[1].data}:
                yield "assumption changed", path, instead(Assumption(a.kind, (a.args[0], lift(order))))
        if a.kind in ("mean", "variance"):
            for i in context.open_for(*a.args[0].shape):  # every entry has the same one: the language may refuse this itself
                with suppress(KernelError):
                    yield "index left open", path, instead({"mean": mean, "variance": variance}[a.kind](a.args[0], i))
        if a.kind in ("positive", "nonnegative", "nonzero"):
            for operator, where, new in index_opened(a.args[0], context):
                yield operator, (*path, *where), instead(Assumption(a.kind, (new,)))
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
