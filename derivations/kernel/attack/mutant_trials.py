"""One claim and its mutants before the witnesses: what each says, and what the judge says of what it accepts."""

from __future__ import annotations

import signal
from dataclasses import replace
from itertools import zip_longest

from ..core.assumptions import Assumption, assumption_text
from ..core.claims import Refused
from ..core.expr import Expr, walk
from ..errors import KernelError
from ..exact.assumption_facts import facts_of
from ..exact.assumption_needs import still_proved
from ..exact.proofs import prove_refutation
from ..exact.witness import exact
from ..printing.latex import latex, value_latex
from ..printing.plain_text import plain
from ..pytorch import witness as pytorch_witness
from ..sympy import witness as sympy_witness
from .equivalent_rewrites import controls
from .judge import judge
from .rebuild_trees import unfolded

LIMIT = 60  # seconds of the processor's time that a witness has for one mutant, so that a busy machine changes nothing


class Late(BaseException):
    """A witness has taken too long."""


def within_limit(witness, claim, too_slow="too slow", limit=LIMIT):
    """What the witness, or the judge, says of the claim; or that it took longer than it may."""

    def late(number, frame):
        raise Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        return witness(claim)
    except Late:
        return too_slow
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# A witness says "accepted", or how it rejects: "refused", "not applicable", or "broke: ..."


def by_exact(claim) -> str:
    """The proof alone first, for that is quick; all the rest of the witness only where the proof goes through."""
    try:
        if claim.kind == "definition":
            proved = True  # there is nothing to prove
        elif claim.kind == "refutation":
            proved = not prove_refutation(claim, claim.start, claim.steps[0].expr, facts_of(claim.given))
        else:
            proved = still_proved(claim, claim.given)
        if not proved:
            return "refused"
        verdict = exact(claim).verdict
    except (Refused, KernelError):
        return "refused"
    except Exception as error:  # the checker refuses a claim on which a witness breaks, too
        return f"broke: {type(error).__name__}"
    return "not applicable" if verdict == "not applicable" else "accepted"


def by_witness(witness):
    def accepts(claim) -> str:
        try:
            verdict = witness(claim)[0]
        except Refused:
            return "refused"
        except Exception as error:
            return f"broke: {type(error).__name__}"
        return "not applicable" if verdict == "not applicable" else "accepted"

    return accepts


def proof_alone(claim) -> str:
    """For a control: a part of a chain may need fewer assumptions than the whole, and that is no fault of the proof."""
    if claim.kind == "refutation":
        return by_exact(claim)
    try:
        return "accepted" if still_proved(claim, claim.given) else "refused"
    except KernelError as error:
        return f"refused: {error}"


WITNESSES = {"exact": by_exact, "sympy": by_witness(sympy_witness.witness), "torch": by_witness(pytorch_witness.witness)}


def try_controls(claim, found: list, names: list, known: dict) -> dict:
    """For each witness whether it covers the claim, and which controls it does not accept; and which mutants are printed as the claim is.

    known: what some of the witnesses said of the claim itself.
    """
    result = {}
    for name in names:
        accepts = WITNESSES[name]
        said = known.get(name) or within_limit(accepts, claim)
        failed = [] if said in ("accepted", "not applicable") else [f"the claim itself: {said}"]
        covers = said == "accepted"
        accepts = proof_alone if name == "exact" else accepts
        made = controls(claim) if covers else []
        failed += [f"{what}: {said}" for what, control in made if (said := within_limit(accepts, control)) != "accepted"]
        result[name] = {"covers": covers, "controls": len(made), "failed": failed}
    return {"witnesses": result, "alike": printed_alike(claim, found)}


def printed_alike(claim, found: list) -> list:
    """The mutants that a reader could not tell from the claim. What a name stands for is printed where it is defined."""
    names = {n.data[0] for tree in claim.trees for n in walk(tree) if n.op == "defined"}
    names -= {claim.start.data[0]} if claim.kind == "definition" else set()
    return [described(m)["mutant"] for m in found if not names & set(m.path[:1]) and alike(m.mutated, claim)]


def alike(mutated, claim) -> bool:
    """Would a page show the two alike? Only what differs is printed."""
    return all(new == old or shown(new) == shown(old) for new, old in zip_longest(parts(mutated), parts(claim)))


def parts(claim) -> list:
    """All that a page shows of what is claimed."""
    return [
        claim.start,
        *(part for s in claim.steps for part in (s.relation, s.expr)),
        *claim.because,
        *claim.given,
        *claim.at,
        claim.towards,
    ]


def shown(part) -> str:
    if isinstance(part, Assumption):
        return assumption_text(part)
    if isinstance(part, Expr):
        return latex(part)
    if isinstance(part, tuple) and part:  # the value of a name in a counterexample, or where a number goes in a limit
        first, second = part
        return f"{shown(first)} = {value_latex(second)}" if isinstance(first, str) else f"{shown(first)} -> {second}"
    return repr(part)


def outcomes(mutant, original, names: list):
    judged: dict = {}
    for name in names:
        try:
            result, how = outcome(mutant, original, name, judged)
        except Exception as error:  # whatever breaks is told of this mutant, and the gate fails: an hour's other results are not lost
            result, how = "unclassified", f"trying it broke: {type(error).__name__}: {error}"
        yield {"witness": name, "operator": mutant.operator, "outcome": result, "how": how} | (
            described(mutant) if result != "killed" else {}
        )


def outcome(mutant, original, name: str, judged: dict) -> tuple:
    """What became of a mutant before a witness, and how. None is asked of one that the judge has found true: it may accept it."""
    if how := found_true(name, judged):
        return "equivalent", how
    how = within_limit(WITNESSES[name], mutant.mutated)
    if how != "accepted":
        return "unclassified" if how == "too slow" else "killed", how
    verdict, how = judgement(mutant, original, name != "exact", judged)
    return {"true": "equivalent", "false": "survived"}.get(verdict, "unclassified"), how


def found_true(name: str, judged: dict) -> str:
    """Why a mutant is true, if the judge has said so in as much as this witness looks at. What is true in all its parts is true in some."""
    parts_ = (False,) if name == "exact" else (False, True)
    return next((how for partial in parts_ for verdict, how in [judged.get(partial, ("", ""))] if verdict == "true"), "")


def judgement(mutant, original, partial: bool, judged: dict) -> tuple:
    """What the judge says, asked once for all witnesses."""
    if partial not in judged:
        judged[partial] = within_limit(lambda c: judge(c, partial=partial), to_judge(mutant.mutated, original), ("cannot tell", "too slow"))
    return judged[partial]


def to_judge(mutated, original):
    """The mutant; of a definition, that what it defines is what was defined, names by the same name unfolded."""
    if original.kind != "definition":
        return mutated
    new = replace(mutated.steps[0], relation="=", expr=unfolded(mutated.steps[0].expr))
    return replace(mutated, kind="identity", start=unfolded(original.steps[0].expr), steps=(new,), code=())


def described(mutant) -> dict:
    claim = mutant.mutated
    said = plain(claim.start) + "".join(f" {s.relation} {plain(s.expr)}" for s in claim.steps)
    said += "".join(f"; because {plain(e)}" for e in claim.because) + "".join(f"; {assumption_text(a)}" for a in claim.given)
    said += f"; {plain(claim.towards[0])} -> {claim.towards[1]}" if claim.towards else ""
    said += "".join(f"; {n} = {value_text(v)}" for n, v in claim.at)
    return {"path": "/".join(map(str, mutant.path)), "mutant": said}


def value_text(value) -> str:
    return "[" + ", ".join(map(value_text, value)) + "]" if isinstance(value, tuple) else plain(value)
