"""Judge the formula that a reader types as the answer to an exercise.

An exercise names a claim, and one of its expressions is the answer. What the reader types becomes a line at the end of the claim's script, so
it may use the script's names, and the exact witness decides whether it equals the answer. It may be typed as a script writes it, or as one
types mathematics: `d*sigma^2`, `2 d`, `p_i (delta_ij - p_j)`.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..core import claims
from ..core.claim_latex import claim_latex
from ..core.claims import Claim, Rejected, Step
from ..core.expr import Expr, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from ..core.script_loading import load_script
from ..errors import KernelError
from ..printing.latex import latex
from .prover import TOO_DEEP

TYPED = "typed-answer"  # the id of the claim that holds what was typed
# The question itself must not be the answer: these operators may be in an answer only if they are in the expected one.
QUESTIONS = frozenset({*AVERAGE_OPERATORS, "softmax", "derivative", "rank", "inverse", "rounded"})
SIGNS = {"−": "-", "·": "*", "×": "*", "÷": "/", "²": "**2", "³": "**3", "^": "**", "√": "sqrt", "∑": "sum", "Σ": "sum", "∞": "oo"}
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w*)|(?P<sign>\*\*|[-+*/@()\[\],.=<>]))")


class Unreadable(Exception):
    """An answer that cannot be read; the message says why."""


# Reading what was typed -------------------------------------------------------------------------------------------------------


def read_typed(typed: str, names: set[str]) -> str:
    """Return what was typed as Python, given the names that the script defines. Raise Unreadable if a sign has no meaning in a formula."""
    typed = "".join(SIGNS.get(sign) or spell_greek(sign) for sign in typed)
    typed = re.sub(r"\bsqrt\s*(\w+)", r"sqrt(\1)", typed)  # √d
    parts: list[str] = []
    before, at = "", 0
    while at < len(typed.rstrip()):
        found = _TOKEN.match(typed, at)
        if not found:
            raise Unreadable(f"{typed[at:].strip()[0]!r} has no meaning in a formula here")
        at = found.end()
        kind = found.lastgroup or ""
        part = found[kind] if kind != "name" else read_name(found[kind], names)
        if is_product(before, parts[-1] if parts else "", kind, part, names):
            parts.append("*")
        parts.append(part)
        before = kind
    return " ".join(parts).replace(" . ", ".")


def spell_greek(sign: str) -> str:
    """Return the English name of a Greek letter, and any other character as it is."""
    _, is_greek, name = unicodedata.name(sign, "").partition("GREEK SMALL LETTER ")
    return (f"{name.lower()}_" if name == "LAMBDA" else name.lower()) if is_greek else sign


def read_name(name: str, names: set[str]) -> str:
    """Return a name as the script writes it: `p_i` is the entry `p[i]`, unless the script has the name `p_i`."""
    if name in names:
        return name
    head, _, letters = name.partition("_")
    if letters and (head in names or head == "delta") and (letters in names or all(letter in names for letter in letters)):
        indices = [letters] if letters in names else list(letters)
        return f"delta({', '.join(indices)})" if head == "delta" and head not in names else f"{head}[{', '.join(indices)}]"
    return name


def is_product(before: str, last: str, kind: str, part: str, names: set[str]) -> bool:
    """Return whether a product is meant between two parts without a sign, as in `2 d`, `d (a + b)` and `(a + b) c`."""
    ends = before in ("number", "name") or last in (")", "]")
    is_call = part == "(" and last.isidentifier() and last not in names
    return ends and (kind in ("number", "name") or part == "(") and not is_call


def list_names(text: str) -> set[str]:
    """Return the names that a script defines or imports, by reading it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


# Judging it -------------------------------------------------------------------------------------------------------------------

# What an answer may use beside the script's own names. `sum` and `delta` are written as in a formula.
PRELUDE = "from derivations.kernel.browser.answer_names import *; "


def judge_answer(path: str, text: str, id: str, typed: str, part: str = "") -> dict[str, Any]:
    """Return what the exact witness says of an answer: "right", "wrong", or "unread" if it cannot be read or compared, with a message.

    `part` names the expression of the claim that is asked for: "" is the last, "left" the first, and "step 2" that of the second step.
    """
    try:
        claim, answer = load_answer(Path(path), text, id, typed)
        expected = choose_part(claim, part)
        return compare(claim, expected, answer) | {"latex": latex(answer.start)}
    except Unreadable as error:
        return {"verdict": "unread", "message": str(error), "latex": ""}
    except RecursionError:
        return {"verdict": "unread", "message": TOO_DEEP, "latex": ""}


def preview_answer(path: str, text: str, id: str, typed: str) -> dict[str, Any]:
    """Return the LaTeX of an answer, or why it cannot be read."""
    try:
        return {"latex": latex(load_answer(Path(path), text, id, typed)[1].start), "message": ""}
    except Unreadable as error:
        return {"latex": "", "message": str(error)}
    except RecursionError:
        return {"latex": "", "message": TOO_DEEP}


def load_answer(script: Path, text: str, id: str, typed: str) -> tuple[Claim, Claim]:
    """Return the claim and, as a claim, the answer. Raise Unreadable if the answer is no expression."""
    if not typed.strip():
        raise Unreadable("Type a formula.")
    answer = read_typed(typed, list_names(text))
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"{PRELUDE}{text}\nderivation.identity({TYPED!r}, ({answer}), ({answer}))\n", encoding="utf-8")
    problem = load_script(script)
    stated = {claim.id: claim for claim in (claims.LOADED[0].claims if claims.LOADED else [])}
    if problem or TYPED not in stated:
        raise Unreadable(explain(problem.message if problem else "it is no expression"))
    return stated[id], stated[TYPED]


def explain(message: str) -> str:
    """Return the message of an answer that cannot be read, without what is said only to authors of scripts."""
    message = re.sub(r"^the script stopped with \w+: ", "", message)
    if "this is not Python" in message:
        return "The formula is not complete: look for a missing operand or bracket."
    return re.sub(r"; it is used before anything has this name$", "; this exercise has no such name", message)


def choose_part(claim: Claim, part: str) -> Expr:
    """Return the expression of a claim that an exercise asks for."""
    if part == "left":
        return claim.start
    step = int(part.removeprefix("step ")) if part else len(claim.steps)
    return claim.steps[step - 1].expr


def compare(claim: Claim, expected: Expr, answer: Claim) -> dict[str, Any]:
    """Return whether an answer equals the expected expression, with the exact witness's message if it does not."""
    from ..exact.witness import exact

    typed = answer.start
    if asked := sorted({node.op for node in walk(typed)} & QUESTIONS - {node.op for node in walk(expected)}):
        return {"verdict": "unread", "message": f"The answer should not contain {describe_operator(asked[0])}: work it out."}
    if typed == expected:
        return {"verdict": "right", "message": ""}
    if typed.shape != expected.shape:
        return {"verdict": "wrong", "message": "The answer has another shape than the expression that is asked for."}
    names = {name for tree in (expected, typed) for name in symbols(tree)}
    given = tuple(one for one in (*claim.given, *answer.given) if {name for x in one.args for name in symbols(x)} <= names)
    kind = "law" if any(node.op in AVERAGE_OPERATORS for tree in (expected, typed) for node in walk(tree)) else "identity"
    stated = replace(
        claim,
        kind=kind,
        start=expected,
        steps=(Step("=", typed),),
        given=tuple(dict.fromkeys(given)),
        because=(),
        at=(),
        without=(),
        towards=(),
    )
    try:
        exact(stated)
    except (Rejected, KernelError) as error:
        return judge_rejection(error)
    return {"verdict": "right", "message": ""}


def judge_rejection(error: Rejected | KernelError) -> dict[str, Any]:
    """Return "wrong" with the counterexample, or "unread" if the witness found none."""
    message = error.message if isinstance(error, Rejected) else str(error)
    return {"verdict": "wrong" if error.code == "false-claim" else "unread", "message": message}


def describe_operator(name: str) -> str:
    """Return an operator in words."""
    words = {"expectation": "an expectation", "variance": "a variance", "derivative": "a derivative", "inverse": "an inverse"}
    return words.get(name, name)


# A counterexample as an answer --------------------------------------------------------------------------------------------------


def judge_counterexample(path: str, text: str, id: str, typed: str) -> dict[str, Any]:
    """Return whether values, typed as `q = [1, 2], d = 3`, refute the relation of a refutation: "right", "wrong" or "unread", with a message."""
    from ..exact.witness import exact
    from .text_edits import find_claims, replace_keyword

    call = find_claims(text).get(id)
    if call is None:
        return {"verdict": "unread", "message": "this exercise cannot be judged here", "latex": ""}
    try:
        names = list_names(text)
        pairs = [part.partition("=") for part in split_pairs(typed)]
        if not pairs or not all(sign for _, sign, _ in pairs):
            raise Unreadable("Write each value as a name, an equals sign and a number or a list, such as q = [1, 2].")
        values = ", ".join(f"{read_typed(name, names)}: {read_typed(value, names)}" for name, _, value in pairs)
        script = Path(path)
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(PRELUDE + replace_keyword(text, call, "at", f"{{{values}}}"), encoding="utf-8")
        problem = load_script(script)
        stated = {claim.id: claim for claim in (claims.LOADED[0].claims if claims.LOADED else [])}
        if id not in stated:
            raise Unreadable(explain(problem.message if problem else "these are no values"))
        shown = claim_latex(stated[id])
        try:
            exact(stated[id])
        except (Rejected, KernelError) as error:
            return {"verdict": "wrong", "message": error.message if isinstance(error, Rejected) else str(error), "latex": shown}
        return {"verdict": "right", "message": "", "latex": shown}
    except Unreadable as error:
        return {"verdict": "unread", "message": str(error), "latex": ""}


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
