"""State refutations over Coq's real numbers: the relation does not hold for all values, because it fails at the counterexample.

The theorem negates a statement about all values. Only its proof contains the counterexample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, symbols
from ...core.expr import show as shown
from ..algebraic_structures import NotForCoq
from ..theorem_files import escape_comment, write_header
from ..theorems import Source
from . import inverses
from .definedness import conditions
from .notation import ATOM, PLACES, SUM, name_of, show, show_entry, size_of, type_of, write_tensor
from .prelude import REALS_NAME, SCOPE
from .rounding import rounding_lines

MOST_PLACES = 16  # at most as many entries are tried in a proof
RANK = "A matrix has at most the rank r where it is a product through an axis of the size r, and the rank r where it has none below"


def state_refutation(claim: Claim, topic: str) -> Source:
    """Return the Coq file of a refutation without assumptions. Raise NotForCoq if it cannot be stated."""
    if claim.given:
        raise NotForCoq("a refutation under assumptions, which is stated of laws alone")
    left, right, inverted = inverses.replace_inverses(claim)
    given, by_name = dict(claim.at), symbols(claim.start, claim.steps[0].expr)
    sizes = sizes_at(by_name, given)
    tensors = [s for s in by_name.values() if s.data[1] != "size"]
    indices = sorted(free_indices(left) | free_indices(right), key=lambda i: i.data[0])
    if missing := [s.data[0] for s in (*tensors, *indices) if s.data[0] not in given]:
        raise NotForCoq(f"a counterexample that gives no value to {missing[0]}")
    given |= {symbol.data[0]: inverses.value(claim, matrix) for symbol, matrix in inverted.items()}
    tensors += inverted
    lines = quantifier(sizes, tensors, indices)
    premises = premises_of(left, right, sizes, indices, inverted)
    lines += [f"    {p} ->" for p in premises]
    lines += relation(left, right, claim.refuted)
    values = [f"{n}%nat" for n in sizes.values()]
    values += [value(given[s.data[0]]) for s in tensors] + [f"{int(given[i.data[0]].data) - 1}%nat" for i in indices]
    text = [
        write_header(claim, topic),
        f"From Derivations Require Import {REALS_NAME}.",
        "Local Open Scope R_scope.",
        "",
        "Section Claim.",
        "",
        f"(* {escape_comment(describe_counterexample(claim))} *)",
        *([f"(* {RANK} *)"] if left.op == "rank" else []),
        "Theorem claim :",
        "  ~ (" + "\n".join(lines).strip() + ").",
        "Proof.",
        "intros all.",
        *rounding_lines(claim),
        *([f"specialize (all {' '.join(values)})."] if values else []),
        *(["premises_settled all."] if premises else []),
        *(proof_of_rank(left, right, sizes) if left.op == "rank" else [proof(left.shape, sizes)]),
        "Qed.",
        "",
        "End Claim.",
        "",
        "Print Assumptions claim.",
    ]
    return Source("\n".join(text) + "\n", "", (1,), True, SCOPE)


def describe_counterexample(claim: Claim) -> str:
    """Return the claim's reason and the counterexample, for a comment."""
    reason = f"{claim.steps[0].reason}. " if claim.steps[0].reason else ""
    return f"{reason}At {', '.join(f'{name} = {show_value(v)}' for name, v in claim.at)}" if claim.at else f"{reason}It has no symbols"


def show_value(v: Any) -> str:
    """Return a value of the counterexample, nested tuples for a tensor, for a comment."""
    return f"[{', '.join(map(show_value, v))}]" if isinstance(v, tuple) else shown(v)


def sizes_at(by_name: Mapping[str, Expr], given: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes by name, from the counterexample or from the lengths of its tensors. Raise NotForCoq if one is missing."""
    found = {n: int(given[n].data) for n, s in by_name.items() if s.data[1] == "size" and n in given}
    for name, s in by_name.items():
        v = given.get(name)
        for size in s.shape:
            if not isinstance(v, tuple) or not v:
                raise NotForCoq(f"a counterexample that gives no tensor for {name}")
            if size.op == "symbol" and found.setdefault(size.data[0], len(v)) != len(v):
                raise NotForCoq(f"a counterexample with two lengths for {size.data[0]}")
            v = v[0]
    if missing := [n for n, s in by_name.items() if s.data[1] == "size" and n not in found]:
        raise NotForCoq(f"a counterexample that does not say what the size {missing[0]} is")
    return found


def quantifier(sizes: Mapping[str, int], tensors: list[Expr], indices: Sequence[Expr]) -> list[str]:
    """Return the line that quantifies over sizes, tensors and indices, or [] if there are none. Sort the tensors by type in place."""
    bound = [f"({' '.join(map(name_of, sizes))} : nat)"] if sizes else []
    by_type: dict[str, list[str]] = {}
    for s in tensors:
        by_type.setdefault(type_of(s.shape), []).append(name_of(s.data[0]))
    bound += [f"({' '.join(names)} : {type_})" for type_, names in by_type.items()]
    tensors.sort(key=lambda s: list(by_type).index(type_of(s.shape)))
    bound += [f"({' '.join(name_of(i.data[0]) for i in indices)} : nat)"] if indices else []
    return [f"forall {' '.join(bound)},"] if bound else []


def premises_of(left: Expr, right: Expr, sizes: Iterable[str], indices: Sequence[Expr], inverted: Mapping[Expr, Expr]) -> list[str]:
    """Return the premises: sizes are positive, indices are in range, inverses are inverses, and both sides have a value."""
    premises = [f"(0 < {name_of(n)})%nat" for n in sizes]
    premises += [f"({name_of(i.data[0])} < {size_of(i.data[1])})%nat" for i in indices]
    for symbol, matrix in inverted.items():
        premises += conditions(matrix) + inverses.premises(symbol, matrix)
    return premises + list(dict.fromkeys(conditions(left) + conditions(right)))


def relation(left: Expr, right: Expr, sign: str) -> list[str]:
    """Return the lines of the refuted relation, for all entries if it compares tensors."""
    if left.op == "rank":
        if not is_size(right):
            raise NotForCoq("a rank beside what is no size")
        (matrix,) = left.args
        predicate = "rank_at_most" if sign == "<=" else "rank_is"
        return [f"    {predicate} {' '.join(map(size_of, matrix.shape))} {show(matrix, ATOM)} {size_of(right)}"]
    if not left.shape:
        return [f"    {show(left)} {sign}", f"    {show(right)}"]
    places = list(PLACES[: len(left.shape)])
    below = " -> ".join(f"({p} < {size_of(s)})%nat" for p, s in zip(places, left.shape))
    return [f"    forall {' '.join(places)}, {below} ->", f"    {show_entry(left, places)} {sign}", f"    {show_entry(right, places)}"]


def is_size(e: Expr) -> bool:
    """Return whether a tree is a natural number or a symbolic size."""
    return e.op == "const" and e.data.denominator == 1 and e.data >= 0 or e.op == "symbol" and e.data[1] == "size"


def length(size: Expr, sizes: Mapping[str, int]) -> int:
    return int(size.data) if size.op == "const" else sizes[size.data[0]]


def places_of(shape: tuple[Expr, ...], sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    """Return the first places of a tensor, counted from 0, at most MOST_PLACES."""
    return list(product(*(range(length(s, sizes)) for s in shape)))[:MOST_PLACES]


def proof(shape: tuple[Expr, ...], sizes: Mapping[str, int]) -> str:
    """Return the tactic that finds an entry at which the relation is false."""
    return first_of(f"false_at (all {' '.join(f'{k}%nat' for k in p)})" if p else "false_at all" for p in places_of(shape, sizes))


def proof_of_rank(left: Expr, right: Expr, sizes: Mapping[str, int]) -> list[str]:
    """Return the proof that a rank exceeds its bound: after as many steps of elimination as the bound says, a nonzero entry is left."""
    steps = length(right, sizes)
    places = places_of(left.args[0].shape, sizes)

    def try_places(k: int, tactic: str) -> str:  # last come the rows and columns that k steps have probably cleared
        return first_of(f"{tactic} all {i}%nat {j}%nat" for i, j in sorted(places, key=lambda p: min(p) < k))

    return ["rank_bounded all.", *(try_places(k, "pivot_at") for k in range(steps)), try_places(steps, "not_zero_at")]


def first_of(tactics: Iterable[str]) -> str:
    """Return the tactic that uses the first of these tactics that succeeds."""
    tactics = list(tactics)
    return f"first [{' | '.join(tactics)}]." if len(tactics) > 1 else f"{tactics[0]}."


def value(v: Any) -> str:
    """Return a value of the counterexample in Coq. Raise NotForCoq if it has more than two axes."""
    if not isinstance(v, tuple):
        return show(v, ATOM)
    if not isinstance(v[0], tuple):
        return f"({write_tensor([[show(x, SUM) for x in v]], 1)[0]})"
    if isinstance(v[0][0], tuple):
        raise NotForCoq("a counterexample with more than two axes")
    return f"({write_tensor([[show(x, SUM) for x in row] for row in v], 2)[0]})"
