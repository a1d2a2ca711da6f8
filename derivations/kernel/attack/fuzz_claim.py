"""One random claim before the witnesses: what each says of it, what the judge says, and what follows.

The gate: no witness accepts what is false, none refuses what is true and of a kind that it promises to prove, none breaks, and what is
printed of a claim is that claim. Who drafts claims does not decide whether they are true, and neither does a witness.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from random import Random

from ..core.claims import Claim
from ..core.expr import Expr, walk
from ..errors import KernelError
from . import mutant_trials
from .claim_drafts import slips_here
from .claim_families import claim_of
from .claim_script import pasted
from .judge import judge
from .print_round_trip import misread
from .random_points import FEWEST, POINTS, has, laws
from .rewrite_rules import laws_at, places, put
from .shrink_claim import shrunk

# Of how many claims each is asked one: the exact witness is quick, the others cost some ten times as much.
SHARES = {"exact": 1, "sympy": 10, "torch": 10}
MANY, LONG = 400, 20  # points and seconds for the judge where it says that a witness is wrong to refuse
SECONDS = 2  # of the processor's time for one witness and one claim
SAID = ("accepted", "refused", "not applicable", "too slow", "broke")


@dataclass(frozen=True)
class Outcome:
    """What became of one claim."""

    family: str
    truth: str  # "true", "false" or "undecided"
    said: dict  # by witness
    faults: tuple  # what the gate does not pass: (witness or "print", what, a script to paste)
    refused: tuple = ()  # true, and refused where no promise was made: (witness, a script to paste)


def attempt(seed: int, number: int, witnesses: dict | None = None, family: str = "", shares: dict | None = None) -> Outcome:
    """What becomes of the claim with this number."""
    family, claim = claim_of(seed, number, family)
    return outcome(
        family, claim, witnesses or mutant_trials.WITNESSES, asked(number, shares or SHARES), where=f"seed {seed}, claim {number}"
    )


def asked(number: int, shares: dict) -> list:
    """The witnesses that this claim is put to."""
    return [name for at, (name, share) in enumerate(shares.items()) if (number + at) % share == 0]


def outcome(family: str, claim: Claim, witnesses: dict, names: list, where: str) -> Outcome:
    answers = {name: answer(witnesses[name], claim) for name in names}
    vouched = any(said == "accepted" for said, _ in answers.values())
    verdict, why = judged(claim, POINTS if vouched else FEWEST)
    faults, refused = [], []
    for name, (said, how) in answers.items():
        problem = fault(name, claim, verdict, why, said, how)
        if problem:
            small = shrunk(claim, lambda other: still_wrong(name, witnesses[name], other, said))
            faults.append((name, f"{problem} ({where})", pasted(small)))
        elif verdict == "true" and said == "refused":
            refused.append((name, f"{where}: {pasted(claim)}"))
    faults += [("print", f"{problem} ({where})", pasted(claim)) for problem in misread(claim, near(claim))]
    said = {name: word for name, (word, _) in answers.items()}
    return Outcome(family, "undecided" if verdict == "cannot tell" else verdict, said, tuple(faults), tuple(refused))


def fault(name: str, claim: Claim, verdict: str, why: str, said: str, how: str) -> str:
    """What the gate does not pass in what a witness said; "" where it passes."""
    if said == "broke":
        return f"{name} {how}"
    if said == "accepted" and verdict == "false" and truth_for(name, claim) == "false":
        return f"{name} accepts what is false: {why}"
    if (
        said == "refused"
        and verdict == "true"
        and promised(name, claim)
        and not idle(name, claim)
        and judged(claim, MANY, LONG)[0] != "false"
    ):
        return f"{name} refuses what is true, and of a kind that it promises to accept"
    return ""


def still_wrong(name: str, witness, claim: Claim, said: str) -> bool:
    """Is this claim answered wrongly, and in the same word?"""
    word, how = answer(witness, claim)
    return word == said and bool(fault(name, claim, *judged(claim), word, how))


def judged(claim: Claim, most: int = POINTS, seconds: float = SECONDS) -> tuple:
    return mutant_trials.within_limit(lambda c: judge(c, most=most), claim, ("cannot tell", "too slow"), seconds)


def answer(witness, claim: Claim) -> tuple:
    """(what a witness says, in one of five words; what it said)."""
    how = mutant_trials.within_limit(witness, claim, "too slow", SECONDS)
    return how.partition(":")[0], how


def truth_for(name: str, claim: Claim) -> str:
    """What a false claim is for this witness. Only the exact one asks where the two sides exist.

    SymPy is asked to look at derivatives where an assumption ends, for there it may take a fact about a point for one about a slope.
    """
    if name == "exact":
        return "false"
    ends = name == "sympy" and any(a.kind in ("nonnegative", "representable") for a in claim.given)
    return mutant_trials.within_limit(lambda c: judge(c, partial=True, slopes=ends), claim, ("cannot tell", ""), SECONDS)[0]


# The promise -------------------------------------------------------------------------------------------------------------------

POLYNOMIAL = frozenset(
    [
        "const",
        "symbol",
        "index",
        "add",
        "neg",
        "mul",
        "matmul",
        "transpose",
        "sum",
        "each",
        "entry",
        "eye",
        "fill",
        "array",
        "paren",
        "defined",
        "pow",
        "div",
    ]
)


def promised(name: str, claim: Claim) -> bool:
    """Is the claim of a kind that the witness promises to accept where it is true?

    Promised are identities between what is made of numbers, names, sizes and entries by sums, products, transposes, whole powers,
    and division by numbers, by sizes, and by a name of which it is assumed that it is not zero. PyTorch must refuse nothing that is true
    but limits, of which it sees numbers on the way, roundings that may overflow, derivatives of what may have a corner, since it looks for
    that corner and the judge may not have met it, and laws in which a size is a number: it looks at larger sizes than the judge can.
    """
    if name == "torch":
        return claim.kind != "limit" and not may_overflow(claim) and not may_have_corners(claim) and not (laws(claim) and counts(claim))
    nodes = [node for e in (claim.start, *(s.expr for s in claim.steps)) for node in walk(e)]
    return claim.kind == "identity" and all(node.op in POLYNOMIAL and in_promise(node, claim) for node in nodes) and minimal(claim)


def counts(claim: Claim) -> bool:
    """Is a size a number in it?"""
    return any(node.op == "symbol" and node.data[1] == "size" for tree in claim.trees for node in walk(tree))


def may_overflow(claim: Claim) -> bool:
    return has(claim, "rounded") and not any(a.kind == "in range" for a in claim.given)


def may_have_corners(claim: Claim) -> bool:
    inside = [x for tree in claim.trees for node in walk(tree) if node.op == "derivative" for x in walk(node.args[0])]
    return any(x.op == "rounded" or is_root(x) or x.op == "function" and x.data in ("abs", "largest") for x in inside)


def is_root(e: Expr) -> bool:
    return e.op == "pow" and (e.args[1].op != "const" or e.args[1].data.denominator != 1)


def idle(name: str, claim: Claim) -> bool:
    """Is it refused for an assumption that it does not need? That is no fault of the proof."""
    return name == "exact" and bool(claim.given) and mutant_trials.proof_alone(claim) == "accepted"


def in_promise(node: Expr, claim: Claim) -> bool:
    if node.op == "div":
        return cancels(node.args[1], claim)
    if node.op == "pow":
        power = node.args[1]
        whole = power.op == "const" and power.data.denominator == 1
        return whole and (power.data >= 0 or cancels(node.args[0], claim))
    return True


def cancels(divisor: Expr, claim: Claim) -> bool:
    """A number, a size, or a name that is stated not to be zero."""
    return (
        divisor.op == "const"
        and divisor.data != 0
        or divisor.op == "symbol"
        and divisor.data[1] == "size"
        or any(a.kind in ("nonzero", "positive") and a.args == (divisor,) for a in claim.given)
    )


def minimal(claim: Claim) -> bool:
    """Nothing is assumed but signs of names."""
    return all(a.kind in ("nonzero", "positive") and a.args[0].op == "symbol" for a in claim.given)


def near(claim: Claim) -> tuple:
    """What a slip, or a law, makes of each side at one of its nodes: a reader has to tell these from the side."""
    generator = Random(repr(claim.start))
    found = []
    for e in (claim.start, claim.steps[0].expr):
        path, node = generator.choice(list(places(e)))
        for new in (*slips_here(node), *laws_at(node)):
            with suppress(KernelError):  # ill typed there
                found.append(put(e, path, new))
    return tuple(found)
