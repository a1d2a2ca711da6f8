"""Write a Coq file of theorems: imports, declarations, hypotheses, each theorem with its proof, and a `Print Assumptions` for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.claims import Claim
from ..core.expr import Expr, free_indices, node_sizes, walk
from .algebraic_structures import REAL
from .assumptions import DISTRIBUTIONS, state_hypotheses
from .notation import Notation


@dataclass(frozen=True)
class Theorem:
    """A theorem with its proof."""

    name: str
    reason: str  # a comment for the reader, or ""
    statement: str
    proof: list[str]  # lines


def escape_comment(text: str) -> str:
    """Return the text with everything removed that would end a Coq comment, or open a string or another comment."""
    return "".join(c if c.isprintable() and c not in '"' else " " for c in str(text)).replace("(*", "( *").replace("*)", "* )")


def write_header(claim: Claim, topic: str) -> str:
    """Return the comment that names the claim."""
    title = f": {escape_comment(claim.title)}" if claim.title else ""
    return f"(* {escape_comment(topic + '#' + claim.id if topic else claim.id)}{title} *)\n"


def write_file(claim: Claim, topic: str, notation: Notation, trees: Sequence[Expr], theorems: Sequence[Theorem]) -> str:
    """Return a file with theorems about these trees, under the claim's assumptions."""
    free: set[Expr] = set().union(*map(free_indices, trees))
    assumed = state_hypotheses(notation, claim, free)
    trees = [*trees, *(x for a in claim.given if a.kind not in DISTRIBUTIONS for x in a.args)]
    parts = [
        write_header(claim, topic),
        f"From Derivations Require Import {notation.prelude}.",
        "Local Open Scope ring_scope.",
        "",
        "Section Claim.",
        *context(claim, notation, free, trees, assumed),
        "",
    ]
    for t in theorems:
        parts += [f"(* {escape_comment(t.reason)} *)"] if t.reason else []
        parts += [f"Theorem {t.name} :", f"  {t.statement}.", *wrap_proof(t.proof), ""]
    parts += ["End Claim.", "", *(f"Print Assumptions {t.name}." for t in theorems)]
    return "\n".join(parts) + "\n"


def wrap_proof(proof: list[str]) -> list[str]:
    """Return the lines of a proof between `Proof.` and `Qed.`."""
    return [f"Proof. {proof[0]} Qed."] if len(proof) == 1 else ["Proof.", *proof, "Qed."]


def context(claim: Claim, notation: Notation, free: set[Expr], trees: Sequence[Expr], assumed: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines that declare the structure, the sizes, the symbols, the free indices and the hypotheses."""
    sizes = sizes_of(notation, trees)
    lines = [*notation.declare_structure(), *declare_variables(map(notation.name, sizes), "nat")]
    by_type: dict[str, list[str]] = {}
    for name, e in notation.names.items():
        by_type.setdefault(notation.symbol_type(e), []).append(notation.name(name))
    lines += [line for type_, names in by_type.items() for line in declare_variables(names, type_)]
    for i in sorted(free, key=lambda i: i.data[0]):
        lines += declare_variables([notation.name(i.data[0])], f"'I_{notation.size(i.data[1])}")
    lines += [f"Variable first_{n} : 'I_{notation.size(size)}." for n, size in notation.first_places.items()]
    if notation.uses_exp:
        lines += notation.declare_exponential(increasing=claim.kind == "inequality")
    if notation.level >= REAL:  # a sum of exponentials is positive only if it has a term
        positive = sizes if notation.uses_exp or notation.sizes_positive else notation.numeric_sizes
        lines += [f"Hypothesis size_{s} : (0 < {notation.name(s)})%N." for s in positive]
    return lines + [f"Hypothesis {name} : {statement}." for name, statement in assumed]


def sizes_of(notation: Notation, trees: Sequence[Expr]) -> list[str]:
    """Return the names of the sizes of axes and of indices, and of the sizes that occur as numbers."""
    found = [s for t in trees for n in walk(t) for s in node_sizes(n)]
    return list(dict.fromkeys([s.data[0] for s in found if s.op == "symbol"] + list(notation.numeric_sizes)))


def declare_variables(names: Iterable[str], type_: str) -> list[str]:
    """Return the line that declares variables of one type, or [] if there are no names."""
    names = list(names)
    return [f"Variable{'s' if len(names) > 1 else ''} {' '.join(names)} : {type_}."] if names else []
