"""Limits, over Coq's real numbers: where a number grows or comes down to zero, or a size grows.

The statement is Coquelicot's. The proof names for each operation of the tree the lemma by which it grows or vanishes (`growth_proofs.py`). What
must not be zero is a premise where it stands still; where it moves, that it is not zero near the limit is a theorem of its own.
"""

from __future__ import annotations

from textwrap import wrap
from typing import NamedTuple

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, own_sizes, symbols, walk
from ..algebraic_structures import NotForCoq
from ..assumptions import DISTRIBUTIONS
from ..theorem_files import Theorem, comment, header, qed, variables
from ..theorems import Source
from .definedness import SIGNS, Need, needs
from .growth_proofs import Growth
from .notation import ATOM, name_of, show, size_of, type_of
from .prelude import LIMITS_NAME, SCOPE

WIDTH = 140


class Way(NamedTuple):
    """How what moves goes to its limit, in Coq: what it is, where a thing holds near the limit, the limit of a function, the first tactic."""

    type: str
    near: str
    limit: str
    tactic: str


GROWING = Way("R", "Rbar_locally p_infty {}", "is_lim {} p_infty {}", "growing")
COUNTING = Way("nat", "eventually {}", "is_lim_seq {} {}", "counting")
COMING_DOWN = Way("R", "at_right 0 {}", "filterlim {} (at_right 0) (locally {})", "coming_down")


def limit(claim: Claim, topic: str) -> Source:
    if len(claim.steps) != 1 or claim.start.shape:
        raise NotForCoq("a limit of a tensor, or in several steps")
    (step,), (variable, to) = claim.steps, claim.towards
    if any(variable in own_sizes(n) for t in claim.trees for n in walk(t)):
        raise NotForCoq("a limit in the length of an axis")
    if to != "oo" and (to != 0 or variable.data[1] == "size"):
        raise NotForCoq("a limit elsewhere than at zero or beyond all bounds")
    if variable in set(walk(step.expr)) or any(variable in set(walk(x)) for a in claim.given if a.args != (variable,) for x in a.args):
        raise NotForCoq("a limit that names what moves in its value, or in an assumption beside its sign")
    way = COUNTING if variable.data[1] == "size" else GROWING if to == "oo" else COMING_DOWN
    moving = f"fun {name_of(variable.data[0])} : {way.type} => "
    growth = Growth(variable, to, moving, claim.given)
    wanted = list(dict.fromkeys(of_its_places(need) for need in (*needs(claim.start), *needs(step.expr))))
    on_the_way = [need for need in wanted if growth.moves(need.tree)]
    theorems = []
    for k, need in enumerate(on_the_way, 1):
        if need.bound:
            raise NotForCoq("a limit of what must not be zero at each of many places")
        name = f"defined_{k}" if len(on_the_way) > 1 else "defined"
        statement = way.near.format(f"({moving}{need.shown()})")
        theorems.append(Theorem(name, "What has to hold near the limit", statement, scripted(way, growth.sign(need.sign, need.tree))))
    statement = way.limit.format(f"({moving}{show(claim.start)})", show(step.expr, ATOM))
    theorems.append(Theorem("claim", step.reason, statement, scripted(way, growth.limit(claim.start))))
    lines = [header(claim, topic), f"From Derivations Require Import {LIMITS_NAME}.", "Local Open Scope R_scope.", "", "Section Claim."]
    lines += [*context(claim, variable, [need for need in wanted if need not in on_the_way]), ""]
    for t in theorems:
        lines += [f"(* {comment(t.reason)} *)"] if t.reason else []
        lines += [f"Theorem {t.name} :", f"  {t.statement}.", *qed(t.proof), ""]
    lines += ["End Claim.", "", *(f"Print Assumptions {t.name}." for t in theorems)]
    return Source("\n".join(lines) + "\n", "", (1,), True, SCOPE)


def of_its_places(need: Need) -> Need:
    """Without the places that it does not speak of: of each there is one at least."""
    named = {i.data[0] for i in free_indices(need.tree)}
    return need._replace(bound=tuple((name, size) for name, size in need.bound if name in named))


def scripted(way: Way, tactics: list) -> list:
    """The tactics one after the other, in lines; the first line says how what moves goes to its limit."""
    return [f"{way.tactic}.", *wrap(" ".join(f"{t}." for t in tactics), WIDTH)]


def context(claim: Claim, variable: Expr, wanted: list) -> list:
    """Sizes, symbols and what is assumed of them, all but what moves."""
    given = [a for a in claim.given if a.kind not in DISTRIBUTIONS and a.args != (variable,)]
    trees = [claim.start, claim.steps[0].expr, *(x for a in given for x in a.args)]
    still = [s for s in symbols(*trees).values() if s != variable]
    sizes = [s for s in still if s.data[1] == "size"]
    free = sorted(set().union(*map(free_indices, trees[:2])), key=lambda i: i.data[0])
    by_type = {}
    for s in still:
        if s not in sizes:
            by_type.setdefault(type_of(s.shape), []).append(name_of(s.data[0]))
    lines = variables([name_of(s.data[0]) for s in sizes], "nat")
    lines += [line for type_, names in by_type.items() for line in variables(names, type_)]
    lines += variables([name_of(i.data[0]) for i in free], "nat")
    facts = [(f"size_{s.data[0]}", f"(0 < {name_of(s.data[0])})%nat") for s in sizes]
    facts += [(f"place_{i.data[0]}", f"({name_of(i.data[0])} < {size_of(i.data[1])})%nat") for i in free]
    facts += [(f"assumed_{k}", assumed(a, free)) for k, a in enumerate(given, 1)]
    said = {text for _, text in facts}
    facts += [(f"needed_{k}", text) for k, text in enumerate((need.shown() for need in wanted if need.shown() not in said), 1)]
    return lines + [f"Hypothesis {name} : {statement}." for name, statement in facts]


def assumed(a, free: list) -> str:
    (x,) = a.args if len(a.args) == 1 else (None,)
    if a.kind == "zero_or_one" and len(x.shape) < 2:
        at = f"{show(x, ATOM)} place" if x.shape else show(x, ATOM)
        text = f"{at} = 0 \\/ {at} = 1"
        return f"forall place, (place < {size_of(x.shape[0])})%nat -> {text}" if x.shape else text
    if a.kind not in SIGNS or x.shape:
        raise NotForCoq(f"a limit that assumes '{a.kind}', which is not stated over the reals yet")
    bound = sorted(free_indices(x) - set(free), key=lambda i: i.data[0])
    return Need(a.kind, x, tuple(i.data for i in bound)).shown()
