"""State limits over Coq's real numbers: a number tends to infinity or to zero from above, or a size tends to infinity.

The statement uses Coquelicot's limits, and the proof a lemma for each operation of the tree (`growth_proofs.py`). A condition under which
the tree has a value is a premise if it does not contain the variable; otherwise a separate theorem states that it holds near the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from ...core.assumptions import Assumption
from ...core.claims import Claim
from ...core.expr import Expr, free_indices, node_sizes, symbols, walk
from ..algebraic_structures import NotForCoq
from ..assumptions import DISTRIBUTIONS
from ..theorem_files import Theorem, declare_variables, escape_comment, wrap_proof, write_header
from ..theorems import Source
from .definedness import SIGNS, Need, find_needs
from .growth_proofs import Growth
from .notation import ATOM, name_of, show, size_of, type_of
from .prelude import LIMITS_NAME, SCOPE

WIDTH = 140


class Approach(NamedTuple):
    """How the variable tends to its limit, in Coq."""

    type: str  # of the variable
    near: str  # the statement that a predicate holds near the limit
    limit: str  # the statement that a function has a limit
    tactic: str  # the first tactic of a proof


GROWING = Approach("R", "Rbar_locally p_infty {}", "is_lim {} p_infty {}", "growing")
COUNTING = Approach("nat", "eventually {}", "is_lim_seq {} {}", "counting")
DECREASING = Approach("R", "at_right 0 {}", "filterlim {} (at_right 0) (locally {})", "coming_down")


def state_limit(claim: Claim, topic: str) -> Source:
    """Return the Coq file of a limit. Raise NotForCoq if it cannot be stated or no lemma proves it."""
    variable, approach = approach_of(claim)
    (step,) = claim.steps
    function = f"fun {name_of(variable.data[0])} : {approach.type} => "
    growth = Growth(variable, claim.towards[1], function, claim.given)
    needed = list(dict.fromkeys(without_unused_indices(need) for need in (*find_needs(claim.start), *find_needs(step.expr))))
    near_limit = [need for need in needed if growth.depends(need.tree)]
    theorems = []
    for k, need in enumerate(near_limit, 1):
        if need.bound:
            raise NotForCoq("a limit of what must not be zero at each of many places")
        name = f"defined_{k}" if len(near_limit) > 1 else "defined"
        statement = approach.near.format(f"({function}{need.shown()})")
        proof = proof_lines(approach, growth.sign(need.sign, need.tree))
        theorems.append(Theorem(name, "What has to hold near the limit", statement, proof))
    statement = approach.limit.format(f"({function}{show(claim.start)})", show(step.expr, ATOM))
    theorems.append(Theorem("claim", step.reason, statement, proof_lines(approach, growth.limit(claim.start))))
    lines = [
        write_header(claim, topic),
        f"From Derivations Require Import {LIMITS_NAME}.",
        "Local Open Scope R_scope.",
        "",
        "Section Claim.",
    ]
    lines += [*context(claim, variable, [need for need in needed if need not in near_limit]), ""]
    for t in theorems:
        lines += [f"(* {escape_comment(t.reason)} *)"] if t.reason else []
        lines += [f"Theorem {t.name} :", f"  {t.statement}.", *wrap_proof(t.proof), ""]
    lines += ["End Claim.", "", *(f"Print Assumptions {t.name}." for t in theorems)]
    return Source("\n".join(lines) + "\n", "", (1,), True, SCOPE)


def approach_of(claim: Claim) -> tuple[Expr, Approach]:
    """Return a limit's variable and how it tends to its limit. Raise NotForCoq if the claim cannot be stated."""
    if len(claim.steps) != 1 or claim.start.shape:
        raise NotForCoq("a limit of a tensor, or in several steps")
    (step,), (variable, to) = claim.steps, claim.towards
    if any(variable in node_sizes(n) for t in claim.trees for n in walk(t)):
        raise NotForCoq("a limit in the length of an axis")
    if to != "oo" and (to != 0 or variable.data[1] == "size"):
        raise NotForCoq("a limit elsewhere than at zero or beyond all bounds")
    if variable in set(walk(step.expr)) or any(variable in set(walk(x)) for a in claim.given if a.args != (variable,) for x in a.args):
        raise NotForCoq("a limit that names what moves in its value, or in an assumption beside its sign")
    return variable, COUNTING if variable.data[1] == "size" else GROWING if to == "oo" else DECREASING


def without_unused_indices(need: Need) -> Need:
    """Return the condition without bound indices that it does not contain. Each has at least one value, so nothing is lost."""
    named = {i.data[0] for i in free_indices(need.tree)}
    return need._replace(bound=tuple((name, size) for name, size in need.bound if name in named))


def proof_lines(approach: Approach, tactics: Sequence[str]) -> list[str]:
    """Return the lines of a proof: the tactic of the approach, then the given tactics."""
    return [f"{approach.tactic}.", *wrap(" ".join(f"{t}." for t in tactics), WIDTH)]


def context(claim: Claim, variable: Expr, premises: Sequence[Need]) -> list[str]:
    """Return the lines that declare sizes, symbols, indices and hypotheses, all except the variable."""
    given = [a for a in claim.given if a.kind not in DISTRIBUTIONS and a.args != (variable,)]
    trees = [claim.start, claim.steps[0].expr, *(x for a in given for x in a.args)]
    fixed = [s for s in symbols(*trees).values() if s != variable]
    sizes = [s for s in fixed if s.data[1] == "size"]
    free = sorted(set().union(*map(free_indices, trees[:2])), key=lambda i: i.data[0])
    by_type: dict[str, list[str]] = {}
    for s in fixed:
        if s not in sizes:
            by_type.setdefault(type_of(s.shape), []).append(name_of(s.data[0]))
    lines = declare_variables([name_of(s.data[0]) for s in sizes], "nat")
    lines += [line for type_, names in by_type.items() for line in declare_variables(names, type_)]
    lines += declare_variables([name_of(i.data[0]) for i in free], "nat")
    facts = [(f"size_{s.data[0]}", f"(0 < {name_of(s.data[0])})%nat") for s in sizes]
    facts += [(f"place_{i.data[0]}", f"({name_of(i.data[0])} < {size_of(i.data[1])})%nat") for i in free]
    facts += [(f"assumed_{k}", state_assumption(a, free)) for k, a in enumerate(given, 1)]
    stated = {text for _, text in facts}
    facts += [(f"needed_{k}", text) for k, text in enumerate((need.shown() for need in premises if need.shown() not in stated), 1)]
    return lines + [f"Hypothesis {name} : {statement}." for name, statement in facts]


def state_assumption(a: Assumption, free: Sequence[Expr]) -> str:
    """Return an assumption in Coq. Raise NotForCoq if it cannot be stated."""
    x = a.args[0]
    if a.kind == "zero_or_one" and len(x.shape) < 2:
        at = f"{show(x, ATOM)} place" if x.shape else show(x, ATOM)
        text = f"{at} = 0 \\/ {at} = 1"
        return f"forall place, (place < {size_of(x.shape[0])})%nat -> {text}" if x.shape else text
    if a.kind not in SIGNS or x.shape:
        raise NotForCoq(f"a limit that assumes '{a.kind}', which is not stated over the reals yet")
    bound = sorted(free_indices(x) - set(free), key=lambda i: i.data[0])
    return Need(a.kind, x, tuple(i.data for i in bound)).shown()
