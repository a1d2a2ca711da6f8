"""Generate mutants: claims with one small mistake, of a kind that people make.

A mutant is well typed: a claim that the language rejects is not a mutant. Mutants that differ only in brackets count as one. Some mutants
happen to be true; judge.py decides which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..core.assumptions import Assumption, mean, variance
from ..core.claims import Claim
from ..core.constructors import ones
from ..core.expr import Expr, lift, node_sizes, symbols, walk
from ..errors import KernelError
from .rebuild_trees import mutate_nodes, rebuild, transform_tree, unfold_definitions
from .tree_mutations import mutate_whole_side, negate, node_mutator

Mutations = Iterator[tuple[str, tuple, Claim]]  # operator, path, mutated claim


@dataclass(frozen=True)
class Mutant:
    """A mutated claim, with the operator that mutated it and the path to the mutation: a part of the claim, then argument positions."""

    claim: str
    operator: str
    path: tuple
    mutated: Claim


class Context:
    """The sizes, names and indices of a claim, each of which may be mistaken for another."""

    def __init__(self, claim: Claim):
        named = symbols(*claim.trees).values()
        self.sizes = [s for s in named if s.data[1] == "size"]
        self.names = [s for s in named if s.data[1] != "size"]
        nodes = [n for tree in claim.trees for n in walk(tree)]
        bound = [index for n in nodes if (index := n.bound_index) is not None]
        self.indices = list(dict.fromkeys([*(n for n in nodes if n.op == "index"), *bound]))

    def open_for(self, *sizes: Expr) -> list:
        """Return the claim's indices that range over one of these sizes; if there are none, a new index over the first size."""
        taken = {s.data[0] for s in (*self.sizes, *self.names, *self.indices)}
        free = next(name for name in ("i", "j", "l", "i_1", "j_1", "l_1") if name not in taken)
        return [i for i in self.indices if i.data[1] in sizes] or [Expr("index", (), (), (free, s)) for s in sizes[:1]]


def make_mutants(claim: Claim) -> list:
    """Return all mutants of a claim, each once. In a definition, the defined expression is mutated: a snippet may compute it."""
    seen = TreeCache()
    known, found = {mutant_key(claim, seen)}, []
    generators = (
        (mutate_definitions,)
        if claim.kind == "definition"
        else (
            mutate_sides,
            mutate_at_large_sizes,
            mutate_definitions,
            mutate_nonnegative_form,
            mutate_assumptions,
            mutate_counterexample,
            mutate_relation,
        )
    )
    for generate in generators:
        for operator, path, mutated in generate(claim):
            if is_well_typed(mutated, seen) and (key := mutant_key(mutated, seen)) not in known:
                known.add(key)
                found.append(Mutant(claim.id, operator, path, mutated))
    return found


class TreeCache:
    """A cache of the numbers and names of trees. The mutants of a claim share most of their subtrees."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[int, frozenset, Expr]] = {}  # by id: number, names, and the tree, so that its id is not reused
        self.numbers: dict[tuple, int] = {}

    def number(self, e: Expr) -> int:
        """Return a number that two trees share if and only if they are equal without their brackets."""
        return self.look_up(e)[0]

    def names(self, *trees: Expr) -> frozenset:
        """Return the symbols and definitions in the trees, including the sizes in shapes and in the ranges of indices."""
        return frozenset().union(*(self.look_up(e)[1] for e in trees))

    def look_up(self, e: Expr) -> tuple[int, frozenset, Expr]:
        if id(e) not in self.found:
            parts = [self.look_up(a) for a in e.args]
            key = (e.op, e.data, e.shape, *(number for number, _, _ in parts))
            number = parts[0][0] if e.op == "paren" else self.numbers.setdefault(key, len(self.numbers))
            own = (e, *node_sizes(e))
            names = frozenset(s for s in own if s.op in ("symbol", "defined"))
            self.found[id(e)] = number, names.union(*(names for _, names, _ in parts)), e
        return self.found[id(e)]


def mutant_key(claim: Claim, seen: TreeCache) -> tuple:
    """Return a key that two claims share if they count as one mutant."""
    return (
        seen.number(claim.start),
        tuple((s.relation, seen.number(s.expr)) for s in claim.steps),
        tuple(map(seen.number, claim.because)),
        claim.given,
        claim.at,
        claim.towards,
    )


def is_well_typed(claim: Claim, seen: TreeCache | None = None) -> bool:
    """Return whether the shapes of a mutated claim fit together, and each name stands for one thing."""
    shape, names = claim.start.shape, (seen or TreeCache()).names(*claim.trees)
    if len({s.data[0] for s in names}) < len(names):  # one name for two things
        return False
    if claim.start.op == "rank" and len(claim.because) == 2:
        try:
            return bool((claim.because[0] @ claim.because[1]).shape)  # a wrong shape is for the witnesses to notice
        except KernelError:
            return False
    scalar = claim.kind != "inequality" or not any(e.shape for e in claim.because)
    return scalar and all(s.expr.shape == shape for s in claim.steps)


def mutate_tree(tree: Expr, context: Context) -> Iterator[tuple[str, tuple, Expr]]:
    """Yield (operator, path, mutated tree) for each mutation of a whole tree or of one of its nodes."""
    yield from ((operator, (), new) for operator, new in mutate_whole_side(tree))
    yield from mutate_nodes(tree, node_mutator(context))


def with_side(claim: Claim, k: int, new: Expr) -> Claim:
    """Return the claim with side k, counted from 0, replaced."""
    if k == 0:
        return replace(claim, start=new)
    return replace(claim, steps=claim.steps[: k - 1] + (replace(claim.steps[k - 1], expr=new),) + claim.steps[k:])


VANISHES_UP_TO = 4


def mutate_at_large_sizes(claim: Claim) -> Mutations:
    """Add a term to the first side that is 0 at every size up to VANISHES_UP_TO."""
    for size in Context(claim).sizes:
        if claim.towards and claim.towards[0] == size:  # the witnesses of a limit need not try small sizes
            continue
        term = size - 1
        for small in range(2, VANISHES_UP_TO + 1):
            term = term * (size - small)
        shape = claim.start.shape
        yield "large sizes", ("side 0", size.data[0]), with_side(claim, 0, claim.start + (term * ones(*shape) if shape else term))


def mutate_sides(claim: Claim) -> Mutations:
    """Mutate each side."""
    context = Context(claim)
    for k, side in enumerate((claim.start, *(s.expr for s in claim.steps))):
        for operator, path, new in mutate_tree(side, context):
            yield operator, (f"side {k}", *path), with_side(claim, k, new)


def mutate_definitions(claim: Claim) -> Mutations:
    """Yield a mutant of the claim for each mutation of one definition that it uses.

    The definition changes in the same way wherever the claim uses it. Mutations that change its shape are left out.
    """
    context = Context(claim)
    for name in dict.fromkeys(n for tree in claim.trees for n in walk(tree) if n.op == "defined"):
        for operator, path, body in mutate_tree(name.args[0], context):
            if body.shape == name.shape:
                new = rebuild(name, (body,))
                mutated = transform_claim(claim, lambda n: new if n == name else None)
                if name == claim.start and claim.kind == "definition":
                    mutated = with_side(mutated, 1, body)
                yield operator, (name.data[0], *path), mutated


def transform_claim(claim: Claim, change: Callable[[Expr], Expr | None]) -> Claim:
    """Return the claim with `everywhere(tree, change)` in place of every tree."""

    def changed(e: Expr) -> Expr:
        return transform_tree(e, change)

    def assumption(a: Assumption) -> Assumption:
        return replace(a, args=tuple(map(changed, a.args)))

    def argument(x: Any) -> Any:  # not changed: the snippet's arguments are the original ones, and only the claim is mutated
        return unfold_definitions(x) if isinstance(x, Expr) else x

    return replace(
        claim,
        start=changed(claim.start),
        steps=tuple(replace(s, expr=changed(s.expr)) for s in claim.steps),
        because=tuple(map(changed, claim.because)),
        given=tuple(map(assumption, claim.given)),
        without=tuple((assumption(a), at) for a, at in claim.without),
        code=tuple((name, tuple(map(argument, args)), tuple((k, argument(v)) for k, v in keywords)) for name, args, keywords in claim.code),
    )


def free_an_index(tree: Expr, context: Context) -> Iterator[tuple[str, tuple, Expr]]:
    """Yield the trees in which an index of an entry is replaced by a free one, or a sum is replaced by its body."""

    def node_mutations(e: Expr) -> Iterator[tuple[str, Expr]]:
        for at, place in enumerate(e.args[1:] if e.op == "entry" else (), 1):
            size = e.args[0].shape[at - 1]
            for new in (i for i in context.open_for(size) if i != place):
                yield "index left open", Expr(e.op, (*e.args[:at], new, *e.args[at + 1 :]))
        if e.op == "sum":
            yield "index left open", e.args[0]

    return mutate_nodes(tree, node_mutations)


def mutate_nonnegative_form(claim: Claim) -> Mutations:
    """Mutate the expressions of `because`: the nonnegative form of an inequality, or the factors of a matrix."""
    context = Context(claim)
    for k, tree in enumerate(claim.because):
        for operator, path, new in free_an_index(tree, context):
            yield operator, (f"because {k}", *path), replace(claim, because=claim.because[:k] + (new,) + claim.because[k + 1 :])
        for operator, path, new in mutate_tree(tree, context):
            yield (
                "certificate: " + operator,
                (f"because {k}", *path),
                replace(claim, because=claim.because[:k] + (new,) + claim.because[k + 1 :]),
            )
    if len(claim.because) == 2:
        yield "certificate: operands swapped", ("because",), replace(claim, because=claim.because[::-1])


WEAKER = {"positive": ("nonnegative", "nonzero")}


def mutate_assumptions(claim: Claim) -> Mutations:
    """Drop, weaken or change each assumption."""
    context = Context(claim)
    for k, a in enumerate(claim.given):

        def instead(*new: Assumption) -> Claim:
            return replace(claim, given=claim.given[:k] + new + claim.given[k + 1 :])

        path = (f"given {k}",)
        yield "assumption dropped", path, instead()
        for kind in WEAKER.get(a.kind, ()):
            yield "assumption weakened", path, instead(Assumption(kind, a.args))
        if a.kind in ("independent", "gaussian", "representable") and len(a.args) > 1:
            for j in range(len(a.args)):
                yield "assumption weakened", (*path, j), instead(Assumption(a.kind, a.args[:j] + a.args[j + 1 :]))
        if a.kind == "independent" and len(a.args) > 1:  # the entries of each variable, but not the variables
            yield "assumption weakened", path, instead(*(Assumption(a.kind, (x,)) for x in a.args))
        if a.kind == "moment":
            for order in {max(1, a.args[1].data - 1), a.args[1].data + 1} - {a.args[1].data}:
                yield "assumption changed", path, instead(Assumption(a.kind, (a.args[0], lift(order))))
        if a.kind in ("mean", "variance"):
            for i in context.open_for(*a.args[0].shape):
                with suppress(KernelError):  # every entry has the same mean and variance, so the language may reject an index here
                    yield "index left open", path, instead({"mean": mean, "variance": variance}[a.kind](a.args[0], i))
        if a.kind in ("positive", "nonnegative", "nonzero"):
            for operator, where, new in free_an_index(a.args[0], context):
                yield operator, (*path, *where), instead(Assumption(a.kind, (new,)))
        if a.kind in ("mean", "variance"):
            for _, where, new in mutate_tree(a.args[1], context):
                yield "assumption changed", (*path, *where), instead(Assumption(a.kind, (a.args[0], new)))
            other = "mean" if a.kind == "variance" else "variance"
            if not any(b.kind == other and b.args[0] == a.args[0] for b in claim.given):
                yield "assumption changed", path, instead(Assumption(other, a.args))
        if a.kind in ("positive", "nonnegative", "nonzero") and a.args[0].op != "symbol":
            for _, where, new in mutate_tree(a.args[0], context):
                yield "assumption changed", (*path, *where), instead(Assumption(a.kind, (new,)))
        if a.kind == "product":
            left, right, times = a.args
            if left.shape[0] == right.shape[1]:
                yield "assumption changed", path, instead(Assumption(a.kind, (left, right, lift(1 - times.data))))
                yield "assumption changed", path, instead(Assumption(a.kind, (right, left, times)))


def mutate_counterexample(claim: Claim) -> Mutations:
    """Replace values of a counterexample; many of the results are not counterexamples."""

    def filled(value: Any, new: int) -> Any:
        return tuple(filled(v, new) for v in value) if isinstance(value, tuple) else lift(new)

    def nudged(value: Any) -> Iterator[Any]:
        """Yield the values in which one entry is set to 0 or increased by 1."""
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


def mutate_relation(claim: Claim) -> Mutations:
    """Reverse an inequality, refute a true equality, or move a limit's variable to the other end."""
    last = claim.steps[-1].expr
    if claim.kind == "refutation" and claim.refuted == "<=":
        yield "relation turned", ("side 0", "side 1"), with_side(with_side(claim, 0, last), 1, claim.start)
    if claim.kind == "refutation":
        for equal in (claim.start + 0 * claim.start, claim.start * 1):
            yield "a truth refuted", ("side 1",), with_side(claim, 1, equal)
        yield "a truth refuted", ("side 0",), with_side(claim, 0, last + 0 * last)
    if claim.kind == "inequality" and claim.start.op != "rank":
        yield "relation turned", ("side 0", "side 1"), with_side(with_side(claim, 0, last), 1, claim.start)
        yield (
            "relation turned",
            ("side 0", "side 1", "because"),
            replace(with_side(with_side(claim, 0, last), 1, claim.start), because=tuple(map(negate, claim.because))),
        )
    if claim.kind == "limit":
        variable, to = claim.towards
        yield "limit's direction", ("towards",), replace(claim, towards=(variable, 0 if to == "oo" else "oo"))
