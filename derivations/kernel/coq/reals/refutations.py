"""A refutation: what it denies does not hold for all values, since it does not at those of the counterexample.

The theorem speaks of all values; the counterexample stands in its proof alone.
"""

from __future__ import annotations

from itertools import product

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, symbols
from ...core.expr import show as shown
from ..algebraic_structures import NotForCoq
from ..theorem_files import comment, header
from ..theorems import Source
from . import inverses
from .definedness import conditions
from .notation import ATOM, PLACES, SUM, at, name_of, show, size_of, type_of, written
from .prelude import REALS_NAME, SCOPE
from .rounding import nearby

MOST_PLACES = 16
RANK = "A matrix has at most the rank r where it is a product through an axis of the size r, and the rank r where it has none below"


def refutation(claim: Claim, topic: str) -> Source:
    if claim.given:
        raise NotForCoq("a refutation under assumptions, which is stated of laws alone")
    left, right, inverted = inverses.replaced(claim)
    given, by_name = dict(claim.at), symbols(claim.start, claim.steps[0].expr)
    sizes = sizes_at(by_name, given)
    tensors = [s for s in by_name.values() if s.data[1] != "size"]
    indices = sorted(free_indices(left) | free_indices(right), key=lambda i: i.data[0])
    if missing := [s.data[0] for s in (*tensors, *indices) if s.data[0] not in given]:
        raise NotForCoq(f"a counterexample that gives no value to {missing[0]}")
    given |= {symbol.data[0]: inverses.value(claim, matrix) for symbol, matrix in inverted.items()}
    tensors += inverted
    lines = quantified(sizes, tensors, indices)
    premises = [f"(0 < {name_of(n)})%nat" for n in sizes]
    premises += [f"({name_of(i.data[0])} < {size_of(i.data[1])})%nat" for i in indices]
    for symbol, matrix in inverted.items():
        premises += conditions(matrix) + inverses.premises(symbol, matrix)
    premises += dict.fromkeys(conditions(left) + conditions(right))
    lines += [f"    {p} ->" for p in premises]
    lines += relation(left, right, claim.refuted)
    values = [f"{n}%nat" for n in sizes.values()]
    values += [value(given[s.data[0]]) for s in tensors] + [f"{int(given[i.data[0]].data) - 1}%nat" for i in indices]
    text = [
        header(claim, topic),
        f"From Derivations Require Import {REALS_NAME}.",
        "Local Open Scope R_scope.",
        "",
        "Section Claim.",
        "",
        f"(* {comment(of_counterexample(claim))} *)",
        *([f"(* {RANK} *)"] if left.op == "rank" else []),
        "Theorem claim :",
        "  ~ (" + "\n".join(lines).strip() + ").",
        "Proof.",
        "intros all.",
        *nearby(claim),
        *([f"specialize (all {' '.join(values)})."] if values else []),
        *(["premises_settled all."] if premises else []),
        *(of_rank(left, right, sizes) if left.op == "rank" else [proof(left.shape, sizes)]),
        "Qed.",
        "",
        "End Claim.",
        "",
        "Print Assumptions claim.",
    ]
    return Source("\n".join(text) + "\n", "", (1,), True, SCOPE)


def of_counterexample(claim: Claim) -> str:
    reason = f"{claim.steps[0].reason}. " if claim.steps[0].reason else ""
    return f"{reason}At {', '.join(f'{name} = {in_brackets(v)}' for name, v in claim.at)}" if claim.at else f"{reason}It has no symbols"


def in_brackets(v) -> str:
    return f"[{', '.join(map(in_brackets, v))}]" if isinstance(v, tuple) else shown(v)


def sizes_at(by_name: dict, given: dict) -> dict:
    """The sizes by name, as the counterexample or the lengths of its tensors have them."""
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


def quantified(sizes: dict, tensors: list, indices: list) -> list:
    """For all of these, line by line."""
    bound = [f"({' '.join(map(name_of, sizes))} : nat)"] if sizes else []
    by_type = {}
    for s in tensors:
        by_type.setdefault(type_of(s.shape), []).append(name_of(s.data[0]))
    bound += [f"({' '.join(names)} : {type_})" for type_, names in by_type.items()]
    tensors.sort(key=lambda s: list(by_type).index(type_of(s.shape)))
    bound += [f"({' '.join(name_of(i.data[0]) for i in indices)} : nat)"] if indices else []
    return [f"forall {' '.join(bound)},"] if bound else []


def relation(left: Expr, right: Expr, sign: str) -> list:
    if left.op == "rank":
        if not is_size(right):
            raise NotForCoq("a rank beside what is no size")
        (matrix,) = left.args
        return [
            f"    rank_{'at_most' if sign == '<=' else 'is'} {' '.join(map(size_of, matrix.shape))} {show(matrix, ATOM)} {size_of(right)}"
        ]
    if not left.shape:
        return [f"    {show(left)} {sign}", f"    {show(right)}"]
    places = list(PLACES[: len(left.shape)])
    below = " -> ".join(f"({p} < {size_of(s)})%nat" for p, s in zip(places, left.shape))
    return [f"    forall {' '.join(places)}, {below} ->", f"    {at(left, places)} {sign}", f"    {at(right, places)}"]


def is_size(e: Expr) -> bool:
    return e.op == "const" and e.data.denominator == 1 and e.data >= 0 or e.op == "symbol" and e.data[1] == "size"


def length(size: Expr, sizes: dict) -> int:
    return int(size.data) if size.op == "const" else sizes[size.data[0]]


def places_of(shape: tuple, sizes: dict) -> list:
    return list(product(*(range(length(s, sizes)) for s in shape)))[:MOST_PLACES]


def proof(shape: tuple, sizes: dict) -> str:
    """At one of the places it is false; Coq tries one after the other."""
    return one_of(f"false_at (all {' '.join(f'{k}%nat' for k in p)})" if p else "false_at all" for p in places_of(shape, sizes))


def of_rank(left: Expr, right: Expr, sizes: dict) -> list:
    """It is larger: after as many steps of elimination as the bound on the rank says, an entry is left that is not zero."""
    steps = length(right, sizes)
    places = places_of(left.args[0].shape, sizes)

    def tried(k: int, tactic: str) -> str:  # where the steps before have left nothing comes last
        return one_of(f"{tactic} all {i}%nat {j}%nat" for i, j in sorted(places, key=lambda p: min(p) < k))

    return ["rank_bounded all.", *(tried(k, "pivot_at") for k in range(steps)), tried(steps, "not_zero_at")]


def one_of(tactics) -> str:
    tactics = list(tactics)
    return f"first [{' | '.join(tactics)}]." if len(tactics) > 1 else f"{tactics[0]}."


def value(v) -> str:
    """A value of the counterexample in Coq."""
    if not isinstance(v, tuple):
        return show(v, ATOM)
    if not isinstance(v[0], tuple):
        return f"({written([[show(x, SUM) for x in v]], (0,))[0]})"
    if isinstance(v[0][0], tuple):
        raise NotForCoq("a counterexample with more than two axes")
    return f"({written([[show(x, SUM) for x in row] for row in v], (0, 0))[0]})"
