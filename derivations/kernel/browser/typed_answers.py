"""Judge the formula that a reader types as the answer to an exercise.

An exercise names a claim, and one of its expressions is the answer. What the reader types becomes a line at the end of the claim's script, so
it may use the script's names and those that its symbols have on the page, and the exact witness decides whether it equals the answer. It may
be typed as a script writes it, or as one types mathematics: `d*sigma^2`, `2 d`, `p_i (delta_ij - p_j)`, `W_Q W_K^T`, `|v_k|`, `0.25`.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..core import claims
from ..core.claims import Claim, Rejected, Step
from ..core.expr import Expr, symbols, walk
from ..core.operators import AVERAGE_OPERATORS
from ..errors import KernelError
from ..printing.latex import latex
from ..script.claim_latex import claim_latex
from ..script.loading import load_script
from . import answer_names
from .prover import TOO_DEEP

TYPED = "typed-answer"  # the id of the claim that holds what was typed
PROVED = frozenset({"assumption-not-needed", "assumption-too-strong", "need-not-shown"})  # why a claim is rejected that was proved
# The question itself must not be the answer: these operators may be in an answer only if they are in the expected one.
QUESTIONS = frozenset({*AVERAGE_OPERATORS, "softmax", "derivative", "rank", "inverse", "rounded"})
SIGNS = {
    "½": "(1/2)",
    "−": "-",
    "·": "*",
    "×": "*",
    "÷": "/",
    "²": "**2",
    "³": "**3",
    "^": "**",
    "√": "sqrt",
    "∑": "sum",
    "Σ": "sum",
    "∞": "oo",
}
# The words that are not taken for a product of letters, and the functions whose argument needs no brackets.
WORDS = frozenset(name for name in vars(answer_names) if not name.startswith("_"))
_FUNCTION = r"\b(sqrt|log|ln|exp|sin|cos|tanh)\s+(\w+)\b(?!\s*[\[(])"
# The calls that give a symbol its name on the page, or several their names, in one string.
NAMERS = frozenset(
    {"vector", "matrix", "random", "scalars", "sizes", "index", "symbol", "symbols", "Symbol", "Idx", "IndexedBase", "define"}
)
_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w*)|(?P<sign>\*\*|[-+*/@()\[\],.=<>]))")


class Unreadable(Exception):
    """An answer that cannot be read; the message says why."""


MOST = 200  # the largest power of a number that is worked out

# Reading what was typed -------------------------------------------------------------------------------------------------------


def read_typed(typed: str, names: dict[str, str]) -> str:
    """Return what was typed as Python, given the names that it may use. Raise Unreadable if a sign has no meaning in a formula.

    A product without a sign becomes `%`, which has the same precedence as `*`; `write_python` decides which product it is.
    """
    typed = spell_signs(typed, has_t="T" in names)
    parts: list[str] = []
    before, at = "", 0
    while at < len(typed.rstrip()):
        found = _TOKEN.match(typed, at)
        if not found:
            raise Unreadable(f"{typed[at:].strip()[0]!r} has no meaning in a formula here")
        at = found.end()
        kind = found.lastgroup or ""
        part = found[kind]
        if kind == "name" and not (parts and parts[-1] == "."):
            part = read_name(part, names, is_call=typed[at:].lstrip().startswith("("))
            part = f"({part})" if " % " in part and parts and parts[-1] == "/" else part  # 1/nd, but nd^2 is n times d^2
        elif "." in part and kind == "number":
            part = f"({part.replace('.', '').lstrip('0') or '0'}/{10 ** len(part.partition('.')[2])})"
        if is_product(before, parts[-1] if parts else "", kind, part, names):
            parts.append("%")
        parts.append(part)
        before = kind
    return " ".join(parts).replace(" . ", ".")


def spell_signs(typed: str, *, has_t: bool) -> str:
    """Return a formula in the signs of Python. `has_t` says that the script has the name `T`, so that `^T` is no transpose."""
    typed = read_latex(typed)
    typed = re.sub(r"\^\s*\(?⊤\)?|ᵀ", ".T", typed)
    if not has_t:
        typed = re.sub(r"\^\s*(?:T\b|\(\s*T\s*\))", ".T", typed)
    typed = re.sub(r"\|\|([^|]+)\|\||‖([^‖]+)‖", lambda found: f" norm({found[1] or found[2]})", typed)
    typed = re.sub(r"\|([^|]+)\|", r" absolute(\1)", typed)
    typed = "".join(SIGNS.get(sign) or spell_greek(sign) for sign in typed)
    typed = re.sub(r"\bsqrt\s*(\w+)", r"sqrt(\1)", typed)  # √d
    typed = re.sub(r"\)_(\w+)", lambda found: f")[{', '.join(found[1])}]", typed)  # softmax(z)_i
    typed = re.sub(r"\blambda\b", "lambda_", typed)
    return re.sub(_FUNCTION, r"\1(\2)", typed)


def read_latex(typed: str) -> str:
    """Return a formula without the commands and braces of LaTeX, such as `\\frac{1}{d}` and `x_{ij}`."""
    typed = re.sub(r"\\(?:left|right|,|;|!)", "", typed).replace("\\cdot", "*").replace("\\times", "*").replace("\\top", "⊤")
    for _ in range(10):  # from the inside out
        typed, count = re.subn(r"\\frac\s*{([^{}]*)}\s*{([^{}]*)}", r"((\1)/(\2))", typed)
        typed, more = re.subn(r"_{([^{}]*)}", lambda found: "_" + re.sub(r"[\s,]", "", found[1]), typed)
        typed, others = re.subn(r"(?<!})(\^|\\[a-z]+)\s*{([^{}]*)}(?!\s*{)", r"\1(\2)", typed)
        if not count + more + others:
            break
    return re.sub(r"\\([A-Za-z]+)", r" \1", typed)


def spell_greek(sign: str) -> str:
    """Return the English name of a Greek letter, and any other character as it is."""
    _, is_greek, name = unicodedata.name(sign, "").partition("GREEK SMALL LETTER ")
    return (f"{name.lower()}_" if name == "LAMBDA" else name.lower()) if is_greek else sign


def read_name(name: str, names: dict[str, str], *, is_call: bool = False) -> str:
    """Return a name as the script writes it: `p_i` is the entry `p[i]`, unless the script has the name `p_i`, and `nd` is `n % d`."""
    if names.get(name) or (name in names and is_call):
        return names[name] or name
    if name == "e" and not is_call:
        return "exp(1)"  # the script may have another `e`, which has another name on the page
    head, _, letters = name.partition("_")
    if letters and (names.get(head) or head == "delta"):
        indices = [letters] if letters in names else list(letters)
        if all(index in names or index.isdigit() for index in indices):
            places = ", ".join(names.get(index, index) for index in indices)
            return f"{names[head]}[{places}]" if names.get(head) else f"delta({places})"
    if name not in WORDS and (split := split_name(name, names)):
        return " % ".join(names[part] for part in split)
    return name


def split_name(name: str, names: dict[str, str]) -> list[str]:
    """Return the names that a word consists of, such as `n` and `d` for `nd`; no names if it consists of none."""
    if not name:
        return []
    for end in range(len(name), 0, -1):
        if names.get(name[:end]) and (end == len(name) or split_name(name[end:], names)):
            return [name[:end], *split_name(name[end:], names)]
    return []


def is_product(before: str, last: str, kind: str, part: str, names: dict[str, str]) -> bool:
    """Return whether a product is meant between two parts without a sign, as in `2 d`, `d (a + b)` and `(a + b) c`."""
    ends = before in ("number", "name") or last in (")", "]")
    is_call = part == "(" and last.isidentifier() and last not in names.values()  # not so of the last name in `n % d`
    return ends and (kind in ("number", "name") or part == "(") and not is_call


def list_names(text: str) -> dict[str, str]:
    """Return the names that an answer may use, each with the script's name for it: those that the script defines, and those of its symbols.

    A symbol may have another name on the page than in the script, as in `pair = vector("s", 2)`. The script's own names come first. A function
    has the name "", because it is no factor of a product.
    """
    found: dict[str, str] = {}
    functions: dict[str, str] = {}
    shown: dict[str, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = node.id
        elif isinstance(node, ast.Assign):
            shown.update(list_symbols(node))
        elif isinstance(node, ast.FunctionDef):
            functions[node.name] = ""
        elif isinstance(node, ast.ImportFrom):
            functions.update((one.asname or one.name, "") for one in node.names)
    if "e" in shown.values() and "e" not in shown:
        found.pop("e")  # it is Euler's number on the page
    return functions | shown | found


def list_symbols(node: ast.Assign) -> dict[str, str]:
    """Return the names on the page of the symbols that an assignment makes, each with the script's name."""
    target, value = node.targets[0], node.value
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    found: dict[str, str] = {}
    for variable, call in zip(targets, values if len(values) == len(targets) else values * len(targets), strict=False):
        if not (isinstance(variable, ast.Name) and isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)):
            continue
        maker = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        written = str(call.args[0].value).split()
        if maker in NAMERS and written:
            at = targets.index(variable) if len(values) < len(targets) else 0
            if at < len(written) and written[at].isidentifier():
                found[written[at]] = variable.id
    return found


class Numbers(ast.NodeTransformer):
    """Compute with numbers exactly, so that `1/4` is no float, make arrays of lists, and write the products that have no sign."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return a number for an operation on two numbers, and a call of `product` for a product without a sign."""
        self.generic_visit(node)
        left, right = read_number(node.left), read_number(node.right)
        if left is not None and right is not None:
            value = compute(node.op, left, right)
            return node if value is None else write_number(value)
        if isinstance(node.op, ast.Mod):
            return ast.Call(ast.Name("product", ast.Load()), [node.left, node.right], [])
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        """Return a negative number as a number."""
        self.generic_visit(node)
        value = read_number(node.operand)
        return write_number(-value) if value is not None and isinstance(node.op, ast.USub) else node

    def visit_List(self, node: ast.List) -> ast.expr:
        """Return an array for a list of numbers or of rows."""
        rows = [[self.visit(one) for one in row.elts] if isinstance(row, ast.List) else self.visit(row) for row in node.elts]
        inner: list[ast.expr] = [ast.List(row, ast.Load()) if isinstance(row, list) else row for row in rows]
        return ast.Call(ast.Name("array", ast.Load()), [ast.List(inner, ast.Load())], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Leave the list in `array([...])` as it is."""
        is_array = (
            isinstance(node.func, ast.Name) and node.func.id == "array" and len(node.args) == 1 and isinstance(node.args[0], ast.List)
        )
        return self.visit(node.args[0]) if is_array else self.generic_visit(node)  # type: ignore[return-value]


def read_number(node: ast.expr) -> Fraction | None:
    """Return the number that an expression is, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return Fraction(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = read_number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "fraction":
        parts = [read_number(one) for one in node.args]
        return None if None in parts or len(parts) != 2 else parts[0] / parts[1]  # type: ignore[operator]
    return None


def write_number(value: Fraction) -> ast.expr:
    """Return a number as Python."""
    if value.denominator == 1:
        return ast.Constant(int(value))
    return ast.Call(ast.Name("fraction", ast.Load()), [ast.Constant(value.numerator), ast.Constant(value.denominator)], [])


def compute(operator: ast.operator, left: Fraction, right: Fraction) -> Fraction | None:
    """Return the result of an operation on two numbers, or None if it is no small fraction."""
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult() | ast.Mod():
            return left * right
        case ast.Div() if right:
            return left / right
        case ast.Pow() if right.denominator == 1 and abs(right) <= MOST and (left or right > 0):
            return left ** int(right)
    return None


def write_python(typed: str, names: dict[str, str]) -> str:
    """Return what was typed as Python that computes exactly. Raise Unreadable if it is no formula."""
    try:
        tree = ast.parse(f"({read_typed(typed, names)})", mode="eval")
    except SyntaxError:
        raise Unreadable("The formula is not complete: look for a missing operand or bracket.") from None
    return ast.unparse(ast.fix_missing_locations(Numbers().visit(tree)))


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
    answer = write_python(typed, list_names(text))
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
    return re.sub(r"(name '\w+' is not defined).*", r"\1; this exercise has no such name", message, flags=re.DOTALL)


def choose_part(claim: Claim, part: str) -> Expr:
    """Return the expression of a claim that an exercise asks for."""
    if part == "left":
        return claim.start
    step = int(part.removeprefix("step ")) if part else len(claim.steps)
    return claim.steps[step - 1].expr


def compare(claim: Claim, expected: Expr, answer: Claim) -> dict[str, Any]:
    """Return whether an answer equals the expected expression, with the exact witness's message if it does not."""
    from ..exact.witness import check

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
        check(stated)
    except KernelError as error:
        return judge_rejection(stated, error)
    return {"verdict": "right", "message": ""}


def judge_rejection(stated: Claim, error: KernelError) -> dict[str, Any]:
    """Return "wrong" with the counterexample, or "unread" if the witness found none.

    The answer is right if the equality was proved and only an assumption of the exercise was not needed for it, or if it is proved as soon as
    nothing is divided by zero: an answer need not equal the expression where it has no value.
    """
    from ..exact.given_values import ProofFailed
    from ..exact.sufficient_assumptions import explain_failure, find_sufficient
    from ..exact.witness import check

    remaining: KernelError | None = error
    if isinstance(error, ProofFailed) and error.code == "assumption-missing":
        added, rest = find_sufficient(stated, error, check)
        if all(one.startswith("nonzero(") for one in added):
            remaining = rest
    if remaining is None or remaining.code in PROVED:
        return {"verdict": "right", "message": ""}
    message, code = explain_failure(stated, error, check)
    return {"verdict": "wrong" if code == "false-claim" else "unread", "message": message}


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
        values = ", ".join(f"{read_typed(name, names)}: {write_values(value, names)}" for name, _, value in pairs)
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
            message = error.message if isinstance(error, Rejected) else str(error)
            is_open = error.code == "not-settled" and "no counterexample" not in message
            return {"verdict": "unread" if is_open else "wrong", "message": message, "latex": shown}
        return {"verdict": "right", "message": "", "latex": shown}
    except Unreadable as error:
        return {"verdict": "unread", "message": str(error), "latex": ""}


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
