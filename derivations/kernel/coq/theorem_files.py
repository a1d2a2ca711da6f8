"""A Coq file of theorems: what it imports and declares, what it assumes, each theorem with its proof, and what Coq is asked of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.claims import Claim
from ..core.expr import free_indices, own_sizes, walk
from .algebraic_structures import REAL
from .assumptions import DISTRIBUTIONS, hypotheses
from .notation import Notation


@dataclass(frozen=True)
class Theorem:
    name: str
    reason: str  # in words
    statement: str
    proof: list


def comment(text: str) -> str:
    """Text inside a comment of Coq, whatever it holds: it neither ends the comment nor opens a string or another one."""
    return "".join(c if c.isprintable() and c not in '"' else " " for c in str(text)).replace("(*", "( *").replace("*)", "* )")


def header(claim: Claim, topic: str) -> str:
    title = f": {comment(claim.title)}" if claim.title else ""
    return f"(* {comment(topic + '#' + claim.id if topic else claim.id)}{title} *)\n"


def file(claim: Claim, topic: str, notation: Notation, trees: list, theorems: list) -> str:
    """The theorems about these trees, under the claim's assumptions, and the question what they assume."""
    free = set().union(*map(free_indices, trees))
    assumed = hypotheses(notation, claim, free)
    trees = [*trees, *(x for a in claim.given if a.kind not in DISTRIBUTIONS for x in a.args)]
    parts = [
        header(claim, topic),
        f"From Derivations Require Import {notation.prelude}.",
        "Local Open Scope ring_scope.",
        "",
        "Section Claim.",
        *context(claim, notation, free, trees, assumed),
        "",
    ]
    for t in theorems:
        parts += [f"(* {comment(t.reason)} *)"] if t.reason else []
        parts += [f"Theorem {t.name} :", f"  {t.statement}.", *qed(t.proof), ""]
    parts += ["End Claim.", "", *(f"Print Assumptions {t.name}." for t in theorems)]
    return "\n".join(parts) + "\n"


def qed(proof: list) -> list:
    return [f"Proof. {proof[0]} Qed."] if len(proof) == 1 else ["Proof.", *proof, "Qed."]


def context(claim: Claim, notation: Notation, free: set, trees: list, assumed: list) -> list:
    """The section's structure, sizes, symbols and assumptions."""
    sizes = sizes_of(notation, trees)
    lines = [*notation.declared(), *variables(map(notation.name, sizes), "nat")]
    by_type = {}
    for name, e in notation.names.items():
        by_type.setdefault(notation.symbol_type(e), []).append(notation.name(name))
    lines += [line for type_, names in by_type.items() for line in variables(names, type_)]
    for i in sorted(free, key=lambda i: i.data[0]):
        lines += variables([notation.name(i.data[0])], f"'I_{notation.size(i.data[1])}")
    lines += [f"Variable first_{n} : 'I_{notation.size(size)}." for n, size in notation.firsts.items()]
    if notation.uses_exp:
        lines += notation.exponential(increasing=claim.kind == "inequality")
    if notation.level >= REAL:  # a sum of exponentials is positive where there is one to add
        positive = sizes if notation.uses_exp or notation.every_size else notation.numbers
        lines += [f"Hypothesis size_{s} : (0 < {notation.name(s)})%N." for s in positive]
    return lines + [f"Hypothesis {name} : {statement}." for name, statement in assumed]


def sizes_of(notation: Notation, trees: list) -> list:
    """The names of the sizes: of axes, of indices, and those that stand as numbers."""
    found = [s for t in trees for n in walk(t) for s in own_sizes(n)]
    return list(dict.fromkeys([s.data[0] for s in found if s.op == "symbol"] + list(notation.numbers)))


def variables(names, type_: str) -> list:
    names = list(names)
    return [f"Variable{'s' if len(names) > 1 else ''} {' '.join(names)} : {type_}."] if names else []
