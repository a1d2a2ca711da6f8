"""Tries the assumptions that a rejected claim seems to lack, so that a message proposes only those with which the claim is accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time

from ..core import assumptions, constructors
from ..core.claims import Claim
from ..core.expr import named_nodes
from ..errors import KernelError
from ..printing.script_text import script
from .assumption_needs import is_sufficient
from .given_values import ProofFailed
from .polynomial_printing import INDEX_NAMES
from .rational_numbers import Fraction

SECONDS = 1  # after which no further assumptions are tried
VOCABULARY = vars(constructors) | vars(assumptions) | {"Fraction": Fraction}


def explain_failure(claim: Claim, failure: KernelError, check: Callable[[Claim], object]) -> tuple[str, str]:
    """Return the message of a failure, and its code.

    The message ends with assumptions with which `check` accepts the claim, or says why it rejects it even with these. If the claim is false even
    then, the message says so alone.
    """
    message, code = str(failure), failure.code
    if not isinstance(failure, ProofFailed) or not failure.proposed:
        return message, code
    added, remaining = find_sufficient(claim, failure, check)
    is_missing, given = code == "assumption-missing", f"given=[{', '.join(added)}]{define_indices(claim, added)}"
    if remaining and remaining.code == "false-claim":
        return str(remaining), remaining.code
    if not remaining:
        return message + (f" State it with {given}, or avoid needing it" if is_missing else f". It is accepted with {given}"), code
    return message + f" Even with {given} it is rejected: {remaining}" * (is_missing and remaining != failure), code


def find_sufficient(claim: Claim, failure: ProofFailed, check: Callable[[Claim], object]) -> tuple[list[str], KernelError | None]:
    """Add what is proposed to the assumptions until the claim is accepted. Return what was added, and why it is still rejected, if it is."""
    added: list[str] = []
    remaining: KernelError | None = failure
    start = process_time()
    while isinstance(remaining, ProofFailed) and set(remaining.proposed) - set(added) and process_time() - start < SECONDS:
        try:
            some = list(dict.fromkeys([*added, *remaining.proposed]))
            stronger = [x.replace("nonnegative(", "positive(", 1) for x in some]
            added = min(weaken(claim, some), weaken(claim, stronger), key=len)
            check(assume(claim, added))
            remaining = None
        except (SyntaxError, NameError):  # not readable, as with a name of the claim that is none in Python
            break
        except KernelError as error:
            remaining = error
    return added, remaining


def assume(claim: Claim, added: list[str]) -> Claim:
    """Return the claim with more assumptions, read as in a script that uses the claim's names. Their text is written by the exact witness."""
    named = {n.data[0]: n for n in named_nodes(*claim.trees)}
    sizes = [n for n in named.values() if n.op == "symbol" and n.data[1] == "size"]
    indices = {name: constructors.index(name, size) for size in sizes[:1] for name in INDEX_NAMES}  # a message may need a new one
    names = VOCABULARY | indices | named | {"__builtins__": {}}
    return replace(claim, given=(*claim.given, *(eval(text, dict(names)) for text in added)))


def define_indices(claim: Claim, added: list[str]) -> str:
    """Return what defines the indices that assumptions use and the claim does not name, such as ', where i = index("i", n)'."""
    try:
        given = assume(claim, added).given
    except (KernelError, SyntaxError, NameError):  # the message quotes what cannot be read here, see find_sufficient
        return ""
    known = {node.data[0] for node in named_nodes(*claim.trees)}
    trees = [tree for assumption in given for tree in assumption.args]
    new = {node.data[0]: node.data[1] for node in named_nodes(*trees) if node.op == "index" and node.data[0] not in known}
    return "".join(f', where {name} = index("{name}", {script(size)})' for name, size in new.items())


def weaken(claim: Claim, added: list[str]) -> list[str]:
    """Return the assumptions without those that the others make superfluous, long ones first, and with moments of as low an order as is enough."""
    for one in sorted(added, key=len, reverse=True):
        about, _, order = one.removesuffix(")").rpartition(", ")
        lower = [f"{about}, {k})" for k in range(1, int(order))] if one.startswith("has_moment") else []
        for weaker in ([], *([x] for x in lower)):
            fewer = [y for x in added for y in (weaker if x == one else [x])]
            if is_sufficient(assumed := assume(claim, fewer), assumed.given):
                added = fewer
                break
    return added
