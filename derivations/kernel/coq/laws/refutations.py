"""State refuted laws: a law does not hold for all random variables that satisfy the claim's assumptions.

The theorem is about all random variables and all sizes. Its proof takes the sizes of the counterexample and normal variables with the
stated means and variances, which exist by `prelude_laws.v`, and computes both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.claims import Claim
from ...core.expr import Expr, free_indices, symbols
from ..algebraic_structures import SCOPES, NotForCoq
from ..assumptions import DISTRIBUTIONS, state_hypotheses
from ..theorem_files import escape_comment, sizes_of, write_header
from ..theorems import Source, state_equation
from .notation import Laws, is_surely_nonnegative, require_consistent
from .prelude import LAWS_NAME

LINEAR = "(mean_add known_mean) (mean_scaled known_mean) (mean_one known_mean)"


class Denied(Laws):
    """The notation of a refuted law, where independence covers all powers: with a stronger assumption, the refutation is stronger."""

    all_powers = True


def state_refutation(claim: Claim, topic: str) -> Source:
    """Return the Coq file of a refuted law. Raise NotForCoq if it cannot be stated."""
    require_statable(claim)
    left, right = claim.start, claim.steps[0].expr
    notation = Denied()
    text = state_equation(notation, left, right)
    if notation.random_exponentials:
        raise NotForCoq("a refuted law with exponentials of what is random")
    assumed = state_hypotheses(notation, claim, set())
    if notation.first_places:
        raise NotForCoq("a refuted law that speaks of one entry by its number")
    sizes = sizes_of(notation, [left, right])
    at = dict(claim.at)
    if missing := [n for n in sizes if n not in at]:
        raise NotForCoq(f"a counterexample that does not say what the size {missing[0]} is")
    randoms = list(notation.names.values())
    bound = [f"({notation.name(e.data[0])} : {notation.symbol_type(e)})" for e in randoms]
    bound = [*([f"({' '.join(map(notation.name, sizes))} : nat)"] if sizes else []), *bound]
    premises = [f"(0 < {notation.name(n)})%N" for n in sizes] + [f"({statement})" for _, statement in assumed]
    structure, quantified, linear = split_declarations(notation)
    lines = [
        write_header(claim, topic),
        f"From Derivations Require Import {LAWS_NAME}.",
        "Local Open Scope ring_scope.",
        "",
        "Section Claim.",
        *structure,
        "",
        f"(* {escape_comment(reason(claim, sizes, at))} *)",
        "Theorem claim :",
        f"  ~ (forall {' '.join(quantified)},",
        *(f"    ({statement}) ->" for statement in linear),
        f"    forall {' '.join(bound)},",
        *(f"    {p} ->" for p in premises),
        f"    {text}).",
        "Proof.",
        *proof(notation, claim, randoms, {n: int(at[n].data) for n in sizes}),
        "Qed.",
        "",
        "End Claim.",
        "",
        "Print Assumptions claim.",
    ]
    return Source("\n".join(lines) + "\n", "", (1,), True, SCOPES[notation.level])


def require_statable(claim: Claim) -> None:
    """Raise NotForCoq unless the claim refutes an equality of numbers under assumptions about distributions that can hold."""
    left, right = claim.start, claim.steps[0].expr
    if claim.refuted != "=" or left.shape or any(s.data[1] not in ("size", "random") for s in symbols(left, right).values()):
        raise NotForCoq("a refuted law that is no equality of numbers made of sizes and of what is random")
    if others := [a.kind for a in claim.given if a.kind not in DISTRIBUTIONS]:
        raise NotForCoq(f"a refuted law that assumes more than distributions: '{others[0]}'")
    if free_indices(left) | free_indices(right):
        raise NotForCoq("a refuted law of one entry by its index")
    if any(a.kind == "variance" and not is_surely_nonnegative(a.args[1]) for a in claim.given):
        raise NotForCoq("a refuted law with a variance that is not seen to be none below zero")
    require_consistent(claim)


def reason(claim: Claim, sizes: Sequence[str], at: Mapping[str, Expr]) -> str:
    """Return the claim's reason and the sizes of the counterexample, for a comment."""
    text = f"{claim.steps[0].reason}. " if claim.steps[0].reason else ""
    return text + (f"At {', '.join(f'{n} = {int(at[n].data)}' for n in sizes)}" if sizes else "It has no sizes")


def split_declarations(notation: Laws) -> tuple[list[str], list[str], list[str]]:
    """Return the lines that declare the structure of numbers, the binders of the other variables, and the statements of the hypotheses."""
    lines = [line.removesuffix(".") for line in notation.declare_structure()]
    quantified = [f"({line.removeprefix('Variable ')})" for line in lines[2:] if line.startswith("Variable ")]
    linear = [line.partition(" : ")[2] for line in lines if line.startswith("Hypothesis ")]
    return [f"{line}." for line in lines[:2]], quantified, linear


def proof(notation: Laws, claim: Claim, randoms: Sequence[Expr], sizes: Mapping[str, int]) -> list[str]:
    """Return the lines of the proof: take normal variables, prove the hypotheses for them, and compute both sides."""
    at = FixedSizes(notation, sizes)
    families = list(dict.fromkeys([*(x for a in claim.given if a.kind == "independent" for x in a.args), *randoms]))
    means, variances = (cases([at.parameter(claim, kind, x) for x in families]) for kind in ("mean", "variance"))
    family = " + ".join(f"({at.places(x)})" for x in families)
    lines = [
        "move=> all.",
        "have [Random [constant [expectation [drawn [known_mean ind means variances normals]]]]] :=",
        f"  @normal_exist R [finType of {family}] {means} {variances}.",
    ]
    for k, x in enumerate(families):
        made = (
            f"\\matrix_(i, j) drawn ({injection(k, len(families), '(i, j)')})"
            if x.shape
            else f"drawn ({injection(k, len(families), 'tt')})"
        )
        lines.append(f"pose {notation.name(x.data[0])} : {at.given(notation.symbol_type(x))} := {made}.")
    names = []
    tactics = {
        "independent": "independent_as_made ind",
        "mean": "as_made means",
        "variance": "as_made variances",
        "gaussian": "as_made normals",
    }
    kinds = [a.kind for a in claim.given for _ in notation.distribution(a, claim)]
    for (name, statement), kind in zip(state_hypotheses(notation, claim, set()), kinds):
        lines.append(f"have {name} : {at.given(statement)} by {tactics[kind]}.")
        names.append(name)
    arguments = [*(f"{n}%N" for n in sizes.values()), *(notation.name(x.data[0]) for x in randoms), *("isT" for _ in sizes), *names]
    return [
        *lines,
        f"have := all Random constant expectation {LINEAR} {' '.join(arguments)}.",
        f"clearbody {' '.join(notation.name(x.data[0]) for x in families)}; clear all drawn ind means variances normals.",
        "false_law R.",
    ]


class FixedSizes:
    """Coq text with the sizes of the counterexample in place of symbolic sizes."""

    def __init__(self, notation: Laws, sizes: Mapping[str, int]) -> None:
        self.notation, self.sizes = notation, {notation.name(n): v for n, v in sizes.items()}

    def given(self, text: str) -> str:
        """Return a type or a statement at these sizes."""
        for name, value in self.sizes.items():
            text = text.replace(f"'I_{name},", f"'I_{value},").replace(f"_({name},", f"_({value},").replace(f", {name})", f", {value})")
        return text

    def places(self, x: Expr) -> str:
        """Return the finite type of the places of a tensor."""
        if not x.shape:
            return "unit"
        rows, columns = (self.sizes.get(s, s) for s in [*map(self.notation.size, x.shape), "1"][:2])
        return f"'I_{rows} * 'I_{columns}"

    def parameter(self, claim: Claim, kind: str, x: Expr) -> str:
        """Return the mean or the variance that the claim states for x; the default is mean 0 and variance 1."""
        for a in claim.given:
            if a.kind == kind and a.args[0] == x:
                return self.notation.show(a.args[1])
        return "0" if kind == "mean" else "1"


def injection(k: int, count: int, place: str) -> str:
    """Return a place of the k-th of `count` families as an element of the disjoint union of all their places, nested to the left."""
    text = place if k == 0 else f"inr {place}"
    for _ in range(count - 1 - max(k, 1) if k else count - 1):
        text = f"inl {text}" if " " not in text or text.startswith("(") else f"inl ({text})"
    return text


def cases(values: Sequence[str]) -> str:
    """Return the function on the disjoint union of places that has the k-th value on the k-th family."""
    if len(values) == 1:
        return f"(fun _ => {values[0]})"
    branches = " | ".join(f"{injection(k, len(values), '_')} => {v}" for k, v in enumerate(values))
    return f"(fun p => match p with {branches} end)"
