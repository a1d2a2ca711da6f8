"""Try the mutants and the controls of one claim: check them with the witnesses, and judge the mutants that a witness accepts."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import zip_longest
from types import FrameType
from typing import Any

from ..core.assumptions import Assumption, describe_assumption
from ..core.claims import Claim, Rejected
from ..core.expr import Expr, walk
from ..errors import KernelError
from ..exact.assumption_facts import collect_facts
from ..exact.assumption_needs import is_proved_under
from ..exact.proofs import prove_refutation
from ..exact.witness import exact
from ..printing.latex import latex, value_latex
from ..printing.plain_text import plain
from ..pytorch import witness as pytorch_witness
from ..sympy import witness as sympy_witness
from .claim_mutants import Mutant
from .equivalent_rewrites import make_controls
from .judge import judge
from .rebuild_trees import unfold_definitions

LIMIT = 60  # seconds that a witness has for one mutant; of processor time, so that a busy machine changes nothing

Check = Callable[[Claim], str]  # returns a witness's answer


class OutOfTime(BaseException):
    """Raised in a witness, or in the judge, that has taken too long."""


def run_with_limit(check: Callable[[Claim], Any], claim: Claim, too_slow: Any = "too slow", limit: float = LIMIT) -> Any:
    """Return `check(claim)`, or `too_slow` if it takes more than `limit` seconds of processor time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return check(claim)
    except OutOfTime:
        return too_slow
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# A witness's answer is "accepted", "refused", "not applicable", or "broke: ..." with the type of an error of its own.


def ask_exact(claim: Claim) -> str:
    """Return the exact witness's answer. Try the proof alone first, which is quick, and the whole witness only if the proof succeeds."""
    try:
        if claim.kind == "definition":
            proved = True  # there is nothing to prove
        elif claim.kind == "refutation":
            proved = not prove_refutation(claim, claim.start, claim.steps[0].expr, collect_facts(claim.given))
        else:
            proved = is_proved_under(claim, claim.given)
        if not proved:
            return "refused"
        verdict = exact(claim).verdict
    except KernelError:
        return "refused"
    except Exception as error:
        return f"broke: {type(error).__name__}"
    return "not applicable" if verdict == "not applicable" else "accepted"


def make_check(witness: Callable[[Claim], tuple]) -> Check:
    """Return a function that returns this witness's answer to a claim."""

    def check(claim: Claim) -> str:
        try:
            verdict = witness(claim)[0]
        except Rejected:
            return "refused"
        except Exception as error:
            return f"broke: {type(error).__name__}"
        return "not applicable" if verdict == "not applicable" else "accepted"

    return check


def ask_exact_proof(claim: Claim) -> str:
    """Return the answer of the exact witness's proof to a control, whether or not all assumptions are needed.

    A part of a chain may need fewer assumptions than the whole chain.
    """
    if claim.kind == "refutation":
        return ask_exact(claim)
    try:
        return "accepted" if is_proved_under(claim, claim.given) else "refused"
    except KernelError as error:
        return f"refused: {error}"


WITNESSES: dict[str, Check] = {"exact": ask_exact, "sympy": make_check(sympy_witness.witness), "torch": make_check(pytorch_witness.witness)}


def try_controls(claim: Claim, found: list[Mutant], names: list[str], known: dict[str, str]) -> dict:
    """Return whether each witness covers the claim and which controls it rejects, and which mutants are printed like the claim.

    `found` are the claim's mutants. `known` maps some of the witnesses to their answers to the claim itself.
    """
    result = {}
    for name in names:
        check = WITNESSES[name]
        said = known.get(name) or run_with_limit(check, claim)
        failed = [] if said in ("accepted", "not applicable") else [f"the claim itself: {said}"]
        covers = said == "accepted"
        check = ask_exact_proof if name == "exact" else check
        made = make_controls(claim) if covers else []
        failed += [f"{what}: {said}" for what, control in made if (said := run_with_limit(check, control)) != "accepted"]
        result[name] = {"covers": covers, "controls": len(made), "failed": failed}
    return {"witnesses": result, "alike": find_printed_alike(claim, found)}


def find_printed_alike(claim: Claim, found: list[Mutant]) -> list[str]:
    """Return the mutants that are printed like the claim.

    Mutants of a definition that the claim uses are left out: the page prints them where the name is defined.
    """
    names = {n.data[0] for tree in claim.trees for n in walk(tree) if n.op == "defined"}
    names -= {claim.start.data[0]} if claim.kind == "definition" else set()
    return [describe(m)["mutant"] for m in found if not names & set(m.path[:1]) and prints_alike(m.mutated, claim)]


def prints_alike(mutated: Claim, claim: Claim) -> bool:
    """Return whether a page would print the two claims alike. Parts that are equal need not be printed."""
    return all(new == old or show_part(new) == show_part(old) for new, old in zip_longest(printed_parts(mutated), printed_parts(claim)))


def printed_parts(claim: Claim) -> list:
    """Return all parts of a claim that a page prints."""
    return [
        claim.start,
        *(part for s in claim.steps for part in (s.relation, s.expr)),
        *claim.because,
        *claim.given,
        *claim.at,
        claim.towards,
    ]


def show_part(part: Any) -> str:
    """Return a part of a claim as a page prints it."""
    if isinstance(part, Assumption):
        return describe_assumption(part)
    if isinstance(part, Expr):
        return latex(part)
    if isinstance(part, tuple) and part:  # a name and its value in a counterexample, or a variable and what it tends to
        first, second = part
        return f"{show_part(first)} = {value_latex(second)}" if isinstance(first, str) else f"{show_part(first)} -> {second}"
    return repr(part)


def try_mutant_with_witnesses(mutant: Mutant, original: Claim, names: list[str]) -> Iterator[dict]:
    """Yield what became of a mutant for each witness: "killed", "survived", "equivalent" or "unclassified", and how."""
    judged: dict = {}
    for name in names:
        try:
            result, how = try_mutant(mutant, original, name, judged)
        except Exception as error:  # the gate fails for this mutant; the other results of a long run are not lost
            result, how = "unclassified", f"trying it broke: {type(error).__name__}: {error}"
        yield {"witness": name, "operator": mutant.operator, "outcome": result, "how": how} | (
            describe(mutant) if result != "killed" else {}
        )


def try_mutant(mutant: Mutant, original: Claim, name: str, judged: dict[bool, tuple[str, str]]) -> tuple[str, str]:
    """Return what became of a mutant for one witness, and how.

    A witness that breaks has not rejected the mutant: it is unclassified. A mutant that the judge has found true is not checked: the
    witness may accept it.
    """
    if how := found_true(name, judged):
        return "equivalent", how
    how = run_with_limit(WITNESSES[name], mutant.mutated)
    if how == "too slow" or how.startswith("broke"):
        return "unclassified", how
    if how != "accepted":
        return "killed", how
    verdict, how = judge_once(mutant, original, name != "exact", judged)
    return {"true": "equivalent", "false": "survived"}.get(verdict, "unclassified"), how


def found_true(name: str, judged: dict[bool, tuple[str, str]]) -> str:
    """Return the judge's reason if it has found a mutant true as far as this witness checks it; "" otherwise.

    `judged` maps `partial` to the judge's verdict. A mutant that is true as a whole is true in part as well.
    """
    sufficient = (False,) if name == "exact" else (False, True)
    return next((how for partial in sufficient for verdict, how in [judged.get(partial, ("", ""))] if verdict == "true"), "")


def judge_once(mutant: Mutant, original: Claim, partial: bool, judged: dict[bool, tuple[str, str]]) -> tuple[str, str]:
    """Return the judge's verdict on a mutant, and store it in `judged` for the other witnesses."""
    if partial not in judged:
        claim = claim_to_judge(mutant.mutated, original)
        judged[partial] = run_with_limit(lambda c: judge(c, partial=partial), claim, ("cannot tell", "too slow"))
    return judged[partial]


def claim_to_judge(mutated: Claim, original: Claim) -> Claim:
    """Return the mutant; for a definition, the identity between the original and the mutated value, with all definitions unfolded."""
    if original.kind != "definition":
        return mutated
    new = replace(mutated.steps[0], relation="=", expr=unfold_definitions(mutated.steps[0].expr))
    return replace(mutated, kind="identity", start=unfold_definitions(original.steps[0].expr), steps=(new,), code=())


def describe(mutant: Mutant) -> dict[str, str]:
    """Return the place of a mutation and the mutated claim as text."""
    claim = mutant.mutated
    said = plain(claim.start) + "".join(f" {s.relation} {plain(s.expr)}" for s in claim.steps)
    said += "".join(f"; because {plain(e)}" for e in claim.because) + "".join(f"; {describe_assumption(a)}" for a in claim.given)
    said += f"; {plain(claim.towards[0])} -> {claim.towards[1]}" if claim.towards else ""
    said += "".join(f"; {n} = {value_text(v)}" for n, v in claim.at)
    return {"path": "/".join(map(str, mutant.path)), "mutant": said}


def value_text(value: Any) -> str:
    """Return the value of a counterexample as text."""
    return "[" + ", ".join(map(value_text, value)) + "]" if isinstance(value, tuple) else plain(value)
