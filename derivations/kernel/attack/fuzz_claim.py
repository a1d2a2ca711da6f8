"""Put one random claim before the witnesses and the judge, and report the faults.

A fault is: a witness accepts a false claim; a witness rejects a true claim of a kind that it promises to accept; a witness or the judge
raises an error of its own; the text of a claim does not parse back to the claim. Only the judge decides whether a claim is true.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from ..core.claims import Claim
from ..core.expr import Expr, walk
from ..errors import KernelError
from . import mutant_trials
from .claim_drafts import list_node_mutations
from .claim_families import draw_claim
from .claim_script import claim_to_script
from .judge import judge
from .print_round_trip import find_print_errors
from .random_points import MIN_POINTS, POINTS, has_expectation, uses_operator
from .rewrite_rules import list_rewrites, replace_node, rewritable_nodes
from .shrink_claim import shrink

# Each witness checks one claim in this many: the exact witness is quick, the others take about ten times as long.
SHARES = {"exact": 1, "sympy": 10, "torch": 10}
MANY, LONG = 400, 20  # points and seconds that the judge has before a witness is reported for rejecting a true claim
SECONDS = 2  # of processor time for one witness and one claim
ANSWERS = ("accepted", "refused", "not applicable", "too slow", "broke")


@dataclass(frozen=True)
class Outcome:
    """What became of one claim."""

    family: str
    truth: str  # "true", "false" or "undecided"
    said: dict  # the answer of each witness that checked the claim, one of SAID
    faults: tuple  # (witness, "judge" or "print", description, a script that states the claim)
    refused: tuple = ()  # true claims that a witness rejected without having promised to accept them: (witness, a script)


def fuzz_one(seed: int, number: int, witnesses: dict | None = None, family: str = "", shares: dict | None = None) -> Outcome:
    """Draw the claim with this number, check and judge it, and return what became of it."""
    family, claim = draw_claim(seed, number, family)
    names = select_witnesses(number, shares or SHARES)
    return try_claim(family, claim, witnesses or mutant_trials.WITNESSES, names, where=f"seed {seed}, claim {number}")


def select_witnesses(number: int, shares: dict) -> list[str]:
    """Return the names of the witnesses that check the claim with this number."""
    return [name for at, (name, share) in enumerate(shares.items()) if (number + at) % share == 0]


def try_claim(family: str, claim: Claim, witnesses: dict, names: list[str], where: str) -> Outcome:
    """Check a claim with the witnesses named, and judge it; `where` tells in a report which claim it is."""
    answers = {name: ask_witness(witnesses[name], claim) for name in names}
    accepted = any(answer == "accepted" for answer, _ in answers.values())
    verdict, why = ask_judge(claim, POINTS if accepted else MIN_POINTS)
    faults, refused = [], []
    if verdict == "broke":
        small = shrink(claim, lambda other: ask_judge(other)[0] == "broke")
        faults.append(("judge", f"the judge broke: {why} ({where})", claim_to_script(small)))
    for name, (answer, how) in answers.items():
        problem = find_fault(name, claim, verdict, why, answer, how)
        if problem:
            small = shrink(claim, lambda other: has_same_fault(name, witnesses[name], other, answer))
            faults.append((name, f"{problem} ({where})", claim_to_script(small)))
        elif verdict == "true" and answer == "refused":
            refused.append((name, f"{where}: {claim_to_script(claim)}"))
    faults += [("print", f"{problem} ({where})", claim_to_script(claim)) for problem in find_print_errors(claim, near_misses(claim))]
    said = {name: answer for name, (answer, _) in answers.items()}
    return Outcome(family, verdict if verdict in ("true", "false") else "undecided", said, tuple(faults), tuple(refused))


def find_fault(name: str, claim: Claim, verdict: str, why: str, said: str, how: str) -> str:
    """Describe the fault in a witness's answer, given the judge's verdict; return "" if there is none."""
    if said == "broke":
        return f"{name} {how}"
    if said == "accepted" and verdict == "false" and truth_for(name, claim) == "false":
        return f"{name} accepts what is false: {why}"
    if (
        said == "refused"
        and verdict == "true"
        and is_promised(name, claim)
        and not has_unneeded_assumption(name, claim)
        and ask_judge(claim, MANY, LONG)[0] != "false"
    ):
        return f"{name} refuses what is true, and of a kind that it promises to accept"
    return ""


def has_same_fault(name: str, witness: Callable[[Claim], str], claim: Claim, said: str) -> bool:
    """Return whether a witness gives this answer to the claim, and the answer is a fault."""
    answer, how = ask_witness(witness, claim)
    return answer == said and bool(find_fault(name, claim, *ask_judge(claim), answer, how))


def ask_judge(claim: Claim, most: int = POINTS, seconds: float = SECONDS, **options: bool) -> tuple[str, str]:
    """Return the judge's verdict and reason; the verdict is "broke" if the judge raises an error, which is a fault of its own."""

    def run(claim: Claim) -> tuple[str, str]:
        try:
            return judge(claim, most=most, **options)
        except Exception as error:  # reported as a fault with the claim, so that the other results of a long run are not lost
            return "broke", f"{type(error).__name__}: {error}"

    return mutant_trials.run_with_limit(run, claim, ("cannot tell", "too slow"), seconds)


def ask_witness(witness: Callable[[Claim], str], claim: Claim) -> tuple[str, str]:
    """Return a witness's answer as one of SAID, and in full."""
    how = mutant_trials.run_with_limit(witness, claim, "too slow", SECONDS)
    return how.partition(":")[0], how


def truth_for(name: str, claim: Claim) -> str:
    """Return the judge's verdict on what this witness checks of a claim. Only the exact one checks where the two sides are defined.

    SymPy also has to notice a derivative that does not exist at the boundary of an assumption, where it might use a fact about one point
    for a derivative. PyTorch computes in fp64, and cannot see that a limit is off by one part in a billion.
    """
    if name == "exact":
        return "false"
    ends = name == "sympy" and any(a.kind in ("nonnegative", "representable") for a in claim.given)
    return ask_judge(claim, partial=True, derivatives=ends, coarse=name == "torch")[0]


# What the witnesses promise to accept ------------------------------------------------------------------------------------------

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


def is_promised(name: str, claim: Claim) -> bool:
    """Return whether the claim is of a kind that the witness promises to accept if it is true.

    The exact witness and SymPy promise identities between expressions made of numbers, names, sizes and entries by sums, products,
    transposes, integer powers, and division by numbers, sizes and names that are assumed to be nonzero.

    PyTorch promises everything except limits, which it sees only as numbers on the way; roundings that may overflow; derivatives of
    functions that may have a corner, which the judge may have missed; and expectations with a size as a number, because PyTorch tries
    larger sizes than the judge can.
    """
    if name == "torch":
        has_size_in_expectation = has_expectation(claim) and has_size_as_number(claim)
        return not (claim.kind == "limit" or may_overflow(claim) or may_have_corners(claim) or has_size_in_expectation)
    nodes = [node for e in (claim.start, *(s.expr for s in claim.steps)) for node in walk(e)]
    return (
        claim.kind == "identity"
        and all(node.op in POLYNOMIAL and is_division_promised(node, claim) for node in nodes)
        and assumes_signs_only(claim)
    )


def has_size_as_number(claim: Claim) -> bool:
    """Return whether a size occurs as a number in the claim."""
    return any(node.op == "symbol" and node.data[1] == "size" for tree in claim.trees for node in walk(tree))


def may_overflow(claim: Claim) -> bool:
    """Return whether a rounding may overflow: nothing says that its values are in range."""
    return uses_operator(claim, "rounded") and not any(a.kind == "in range" for a in claim.given)


def may_have_corners(claim: Claim) -> bool:
    """Return whether a derivative is taken of a rounding, a root, an absolute value or a largest entry."""
    inside = [x for tree in claim.trees for node in walk(tree) if node.op == "derivative" for x in walk(node.args[0])]
    return any(x.op == "rounded" or is_root(x) or x.op == "function" and x.data in ("abs", "largest") for x in inside)


def is_root(e: Expr) -> bool:
    """Return whether a tree is a power with an exponent that is not an integer constant."""
    return e.op == "pow" and (e.args[1].op != "const" or e.args[1].data.denominator != 1)


def has_unneeded_assumption(name: str, claim: Claim) -> bool:
    """Return whether the exact witness can prove the claim, and so rejects it only for an assumption that is not needed."""
    return name == "exact" and bool(claim.given) and mutant_trials.ask_exact_proof(claim) == "accepted"


def is_division_promised(node: Expr, claim: Claim) -> bool:
    """Return whether a node is neither a division nor a power, or is one that the promise covers."""
    if node.op == "div":
        return is_known_nonzero(node.args[1], claim)
    if node.op == "pow":
        power = node.args[1]
        is_integer = power.op == "const" and power.data.denominator == 1
        return is_integer and (power.data >= 0 or is_known_nonzero(node.args[0], claim))
    return True


def is_known_nonzero(divisor: Expr, claim: Claim) -> bool:
    """Return whether a divisor is a nonzero number, a size, or assumed to be nonzero or positive."""
    return (
        divisor.op == "const"
        and divisor.data != 0
        or divisor.op == "symbol"
        and divisor.data[1] == "size"
        or any(a.kind in ("nonzero", "positive") and a.args == (divisor,) for a in claim.given)
    )


def assumes_signs_only(claim: Claim) -> bool:
    """Return whether all assumptions say that a name is nonzero or positive."""
    return all(a.kind in ("nonzero", "positive") and a.args[0].op == "symbol" for a in claim.given)


def near_misses(claim: Claim) -> tuple[Expr, ...]:
    """Return all mutations and rewrites of each side at one random node. A reader must be able to tell them from the side."""
    generator = Random(repr(claim.start))
    found = []
    for e in (claim.start, claim.steps[0].expr):
        path, node = generator.choice(list(rewritable_nodes(e)))
        for new in (*list_node_mutations(node), *list_rewrites(node)):
            with suppress(KernelError):  # the new node does not fit the shapes or indices around it
                found.append(replace_node(e, path, new))
    return tuple(found)
