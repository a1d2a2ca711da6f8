"""The sources of one step of a claim: the lines of the script that state it, the lines and sizes of SymPy's program, and Coq's theorem.

All of them are excerpts of the files that were checked; nothing is written for the page.
"""

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent

MAX_LENGTH = 1000  # characters; longer excerpts are left out, since the page links to the file

SCRIPT = re.compile(r"derivations/[a-z0-9_-]+/[a-z0-9_-]+\.py")
_LINES_OF_STEP = re.compile(r"start|step_\d+")


@dataclass(frozen=True)
class Excerpt:
    """Lines of a file, counted from 1, and their text; "" if it is long."""

    first: int
    last: int
    text: str

    def describe_lines(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}–{self.last}"

    def fragment(self) -> str:
        """Return the fragment that leads to these lines, to append to the address of the file in a repository."""
        return f"#L{self.first}" if self.first == self.last else f"#L{self.first}-L{self.last}"


# The script ---------------------------------------------------------------------------------------------------------------------


def find_script_lines(text: str, claim: dict, step: int) -> Excerpt | None:
    """Return the lines of a script that state a claim, or one of its steps if it has several; None if there are none."""
    node: ast.stmt | ast.expr | None = find_statement(text, claim["line"])
    if node is None:
        return None
    if len(claim["steps"]) > 1:
        reasons = [each["reason"] for each in claim["steps"]]
        pairs = [pair for pair in ast.walk(node) if isinstance(pair, ast.Tuple) and _find_reason(pair) == reasons[step - 1]]
        before = reasons[: step - 1].count(reasons[step - 1])
        node = sorted(pairs, key=lambda pair: pair.lineno)[before] if before < len(pairs) else node
    return _make_excerpt(text, node)


def find_statement(text: str, line: int) -> ast.stmt | None:
    """Return the innermost statement of a script at a line; None if there is none."""
    around = (statement for statement in _parse_statements(text) if statement.lineno <= line <= (statement.end_lineno or 0))
    return max(around, key=lambda statement: statement.lineno, default=None)


@lru_cache(maxsize=8)
def _parse_statements(text: str) -> tuple[ast.stmt, ...]:
    try:
        return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    except (SyntaxError, ValueError):
        return ()  # not a script that was checked


def _find_reason(pair: ast.Tuple) -> object:
    """Return the reason of a step that is written as a tuple: its last constant."""
    last = pair.elts[-1] if pair.elts else None
    return last.value if isinstance(last, ast.Constant) else None


def _make_excerpt(text: str, node: ast.stmt | ast.expr) -> Excerpt:
    last = node.end_lineno or node.lineno
    return Excerpt(node.lineno, last, _unless_long(dedent("\n".join(text.split("\n")[node.lineno - 1 : last]))))


def _unless_long(text: str) -> str:
    return text if len(text) <= MAX_LENGTH else ""


# SymPy's program ----------------------------------------------------------------------------------------------------------------


def _find_part(program: str, start: str) -> str:
    """Return the statement of a program that begins with `start`, or "". Programs are long, so only this part is parsed."""
    match = re.search(rf"^{re.escape(start)}.*(?:\n(?![\w@#'\"]).*)*", program, flags=re.M)
    return match[0] if match else ""


def find_program_lines(program: str, step: int) -> str:
    """Return the lines of the program's function `claim` that check a step, without those of other steps."""
    text = _find_part(program, "def claim(")
    claim = next((statement for statement in _parse_statements(text) if isinstance(statement, ast.FunctionDef)), None)
    if claim is None:
        return ""
    others = {
        line
        for node in ast.walk(claim)
        if isinstance(node, ast.stmt) and _is_of_another_step(node, step)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    first, last = claim.body[1].lineno, claim.end_lineno or claim.lineno  # body[0] is the docstring
    lines = text.split("\n")
    return _unless_long(dedent("\n".join(lines[at - 1] for at in range(first, last + 1) if at not in others)))


def _is_of_another_step(node: ast.stmt, step: int) -> bool:
    """Return whether a statement computes a side that the step does not have, or yields another step."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _LINES_OF_STEP.fullmatch(node.targets[0].id):
        return node.targets[0].id not in ("start" if step == 1 else f"step_{step - 1}", f"step_{step}")
    yielded = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) else None
    if not isinstance(yielded, ast.Tuple) or len(yielded.elts) <= 2:
        return False
    number = yielded.elts[0]
    return isinstance(number, ast.Constant) and type(number.value) is int and number.value != step


def describe_sizes(program: str) -> str:
    """Return the sizes that the program tries, in words; "" if it has no list of sizes, or filters the list."""
    if "possible(SIZES" in program:
        return ""
    assigned = next(
        (statement.value for statement in _parse_statements(_find_part(program, "SIZES = ")) if isinstance(statement, ast.Assign)), None
    )
    choices = [choice for choice in getattr(assigned, "elts", []) if isinstance(choice, ast.Call) and choice.keywords]
    if not choices:
        return ""
    names = [word.arg or "" for word in choices[0].keywords]
    if len(names) == 1:
        return f"{names[0]} = {', '.join(ast.unparse(choice.keywords[0].value) for choice in choices)}"
    return f"{len(choices)} choices of {', '.join(names[:-1])} and {names[-1]}"


# Coq's file ---------------------------------------------------------------------------------------------------------------------


def find_prelude(source: str) -> str:
    """Return the name of the prelude that a Coq file imports."""
    match = re.search(r"^From Derivations Require Import (\w+)\.$", source, re.MULTILINE)
    return match[1] if match else "Prelude"


def find_theorem(source: str, step: int, single: bool) -> str:
    """Return the part of a Coq file about a step: the declarations, the theorem and its proof. `single` means that there is one step."""
    section = source.partition("Section Claim.\n")[2].partition("\nEnd Claim.")[0]
    parts = section.strip("\n").split("\n\n")
    theorems = [part for part in parts if "Theorem " in part]
    of_step = theorems if single else [part for part in theorems if f"Theorem step_{step} :" in part]
    declarations = [part for part in parts if part not in theorems]
    return _unless_long("\n\n".join([*declarations, *of_step])) if of_step else ""
