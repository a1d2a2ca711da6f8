"""Judge the formula that a reader types as the answer to an exercise.

An exercise names a claim, and one of its expressions is the answer. What the reader types becomes a line at the end of the claim's script, so
it may use the script's names (typed_formula.py), and the exact witness decides whether it equals the answer.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from ..core.claims import Claim, Rejected
from ..core.expr import Expr, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from ..errors import KernelError
from ..exact.witness import exact
from ..printing.latex import latex
from ..script.claim_latex import claim_latex
from ..script.loading import TOO_DEEP
from .expression_comparison import compare
from .prover import load_text
from .text_edits import find_claims, replace_keyword
from .typed_formula import Unreadable, list_names, read_typed, write_python

TYPED = "typed-answer"  # the id of the claim that holds what was typed
# The question itself must not be the answer: these operators may be in an answer only if they are in the expected one.
QUESTIONS = frozenset({*AVERAGE_OPERATORS, "softmax", "derivative", "rank", "inverse", "rounded"})
# What an answer may use beside the script's own names. `sum` and `delta` are written as in a formula.
PRELUDE = "from derivations.kernel.browser.answer_names import *; "


def judge_answer(path: str, text: str, id: str, typed: str, part: str = "") -> dict[str, Any]:
    """Return what the exact witness says of an answer: "right", "wrong", or "unread" if it cannot be read or compared, with a message.

    `part` names the expression of the claim that is asked for: "" is the last, "left" the first, and "step 2" that of the second step.
    """
    try:
        claim, answer = load_answer(path, text, id, typed)
        expected = choose_part(claim, part)
        refuse_question(expected, answer.start)
        found = compare(claim, expected, answer.start, answer.given)
        if part.startswith("step") and found["verdict"] == "right":
            refuse_other_lines(claim, expected, answer.start)
        return found | {"latex": latex(answer.start)}
    except Unreadable as error:
        return {"verdict": "unread", "message": str(error), "latex": ""}
    except RecursionError:
        return {"verdict": "unread", "message": TOO_DEEP, "latex": ""}


def preview_answer(path: str, text: str, id: str, typed: str) -> dict[str, Any]:
    """Return the LaTeX of an answer, or why it cannot be read."""
    try:
        return {"latex": latex(load_answer(path, text, id, typed)[1].start), "message": ""}
    except Unreadable as error:
        return {"latex": "", "message": str(error)}
    except RecursionError:
        return {"latex": "", "message": TOO_DEEP}


def load_answer(path: str, text: str, id: str, typed: str) -> tuple[Claim, Claim]:
    """Return the claim and, as a claim, the answer. Raise Unreadable if the answer is no expression."""
    if not typed.strip():
        raise Unreadable("Type a formula.")
    answer = write_python(typed, list_names(text))
    problem, loaded = load_text(path, f"{PRELUDE}{text}\nderivation.identity({TYPED!r}, ({answer}), ({answer}))\n")
    stated = {claim.id: claim for claim in loaded}
    if problem or TYPED not in stated:
        raise Unreadable(explain(problem.message if problem else "it is no expression"))
    return stated[id], stated[TYPED]


def explain(message: str) -> str:
    """Return the message of an answer that cannot be read, without what is said only to authors of scripts."""
    message = re.sub(r"^the script stopped with \w+: ", "", message)
    if "this is not Python" in message:
        return "The formula is not complete: look for a missing operand or bracket."
    if "IndexedBase" in message:
        return "Here, vectors are written by their entries, such as x_i."
    return re.sub(r"(name '\w+' is not defined).*", r"\1; this exercise has no such name", message, flags=re.DOTALL)


def choose_part(claim: Claim, part: str) -> Expr:
    """Return the expression of a claim that an exercise asks for."""
    if part == "left":
        return claim.start
    step = int(part.removeprefix("step ")) if part else len(claim.steps)
    return claim.steps[step - 1].expr


def refuse_question(expected: Expr, typed: Expr) -> None:
    """Raise Unreadable if an answer contains an operator that the reader should have worked out, such as a derivative."""
    if asked := sorted({node.op for node in walk(typed)} & QUESTIONS - {node.op for node in walk(expected)}):
        raise Unreadable(f"The answer should not contain {describe_operator(asked[0])}: work it out.")


def refuse_other_lines(claim: Claim, expected: Expr, typed: Expr) -> None:
    """Raise Unreadable if an equal expression reads as another line of the claim does, or has other letters than the missing line."""
    lines = {latex(line) for line in (claim.start, *(step.expr for step in claim.steps))}
    if latex(typed) in lines - {latex(expected)}:
        raise Unreadable("This is another line of the claim. Write the line that is asked for.")
    own, asked = symbols(typed).keys(), symbols(expected).keys()
    for name in sorted(own ^ asked):
        raise Unreadable(f"The missing line contains {'the letter' if name in asked else 'no'} {name}.")


def describe_operator(name: str) -> str:
    """Return an operator in words."""
    words = {"expectation": "an expectation", "variance": "a variance", "derivative": "a derivative", "inverse": "an inverse"}
    return words.get(name, name)


# An assumption as an answer ------------------------------------------------------------------------------------------------------


def judge_assumption(path: str, text: str, id: str, chosen: int, asked: int) -> dict[str, Any]:
    """Return whether a claim fails without the chosen assumption where it fails without the one that is asked for: "right" or "wrong".

    Assumptions are counted from 1. The message says where the claim fails without the chosen one.
    """
    problem, loaded = load_text(path, text)
    stated = {claim.id: claim for claim in loaded}
    if id not in stated:
        return {"verdict": "unread", "message": problem.message if problem else "this exercise cannot be judged here", "latex": ""}
    needed = exact(stated[id]).needed
    verdict = "right" if needed[chosen - 1] == needed[asked - 1] else "wrong"
    return {"verdict": verdict, "message": needed[chosen - 1], "latex": ""}


# A counterexample as an answer --------------------------------------------------------------------------------------------------


def judge_counterexample(path: str, text: str, id: str, typed: str) -> dict[str, Any]:
    """Return whether values, typed as `q = [1, 2], d = 3`, refute the relation of a refutation: "right", "wrong" or "unread", with a message."""
    call = find_claims(text).get(id)
    if call is None:
        return {"verdict": "unread", "message": "this exercise cannot be judged here", "latex": ""}
    try:
        names = list_names(text)
        parts = split_pairs(typed)
        if len(parts) == 1 and "=" not in parts[0] and (only := find_only_unknown(call)):
            parts = [f"{only} = {parts[0]}"]
        pairs = [part.partition("=") for part in parts]
        if not pairs or not all(sign for _, sign, _ in pairs):
            raise Unreadable("Write each value as a name, an equals sign and a number or a list, such as q = [1, 2].")
        values = ", ".join(f"{read_typed(name, names)}: {write_values(value, names)}" for name, _, value in pairs)
        problem, loaded = load_text(path, PRELUDE + replace_keyword(text, call, "at", f"{{{values}}}"))
        stated = {claim.id: claim for claim in loaded}
        if id not in stated:
            raise Unreadable(explain(problem.message if problem else "these are no values"))
        shown = claim_latex(stated[id])
        try:
            exact(stated[id])
        except (Rejected, KernelError) as error:
            message = error.message if isinstance(error, Rejected) else str(error)
            is_open = error.code == "not-settled" and "no counterexample" not in message
            return {"verdict": "unread" if is_open else "wrong", "message": message, "latex": shown}
        return {"verdict": "right", "message": "", "latex": shown}
    except Unreadable as error:
        return {"verdict": "unread", "message": str(error), "latex": ""}


def find_only_unknown(call: ast.Call) -> str:
    """Return the name in a counterexample, or "" if the counterexample has values for several names."""
    given = next((one.value for one in call.keywords if one.arg == "at"), None)
    return ast.unparse(given.keys[0]) if isinstance(given, ast.Dict) and len(given.keys) == 1 and given.keys[0] else ""


def write_values(typed: str, names: dict[str, str]) -> str:
    """Return a number or a list of numbers as Python that computes exactly."""
    return re.sub(r"\barray\(", "(", write_python(typed, names))


def split_pairs(typed: str) -> list[str]:
    """Return the parts of a text between the commas and line ends that are in no brackets."""
    parts, depth = [""], 0
    for sign in typed:
        depth += (sign in "[(") - (sign in "])")
        if sign in ",;\n" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]
