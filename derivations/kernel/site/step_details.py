"""What stands behind one step of a claim: the lines of its script that state it, those of SymPy's program that check it and at which sizes,
and the theorem that Coq proved. All of it is cut from what was checked, and nothing is made for the page."""

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent

LONGEST = 1000  # characters: what is longer is read in its file

SCRIPT = re.compile(r"derivations/[a-z0-9_-]+/[a-z0-9_-]+\.py")
_LINES_OF_STEP = re.compile(r"start|step_\d+")


@dataclass(frozen=True)
class Place:
    """Lines of a file, counted from 1, and what stands there; "" where that is long."""

    first: int
    last: int
    text: str

    def named(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}–{self.last}"

    def fragment(self) -> str:
        """What leads to these lines, behind the address of the file in a repository."""
        return f"#L{self.first}" if self.first == self.last else f"#L{self.first}-L{self.last}"


# The script ---------------------------------------------------------------------------------------------------------------------


def stated(text: str, claim: dict, step: int) -> Place | None:
    """Where a script states a claim, and of several steps the one that is meant."""
    around = [one for one in _statements(text) if one.lineno <= claim["line"] <= (one.end_lineno or 0)]
    if not around:
        return None
    node: ast.AST = max(around, key=lambda one: one.lineno)
    if len(claim["steps"]) > 1:
        reasons = [one["reason"] for one in claim["steps"]]
        same = [one for one in ast.walk(node) if isinstance(one, ast.Tuple) and _reason(one) == reasons[step - 1]]
        before = reasons[: step - 1].count(reasons[step - 1])
        node = sorted(same, key=lambda one: one.lineno)[before] if before < len(same) else node
    return _place(text, node)


@lru_cache(maxsize=8)
def _statements(text: str) -> tuple[ast.stmt, ...]:
    try:
        return tuple(node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    except (SyntaxError, ValueError):
        return ()  # a script that was checked is none such


def _reason(pair: ast.Tuple) -> object:
    last = pair.elts[-1] if pair.elts else None
    return last.value if isinstance(last, ast.Constant) else None


def _place(text: str, node: ast.AST) -> Place:
    lines = dedent("\n".join(text.split("\n")[node.lineno - 1 : node.end_lineno]))  # type: ignore[attr-defined]
    return Place(node.lineno, node.end_lineno, _short(lines))  # type: ignore[attr-defined]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else ""


# SymPy's program ----------------------------------------------------------------------------------------------------------------


def _part(program: str, start: str) -> str:
    """The statement of a program that begins like this, up to the next one; "" if there is none. Only this is parsed: programs are long."""
    found = re.search(rf"^{re.escape(start)}.*(?:\n(?![\w@#'\"]).*)*", program, flags=re.M)
    return found[0] if found else ""


def checked(program: str, step: int) -> str:
    """What the program computes for a step: the lines of its `claim`, without those of other steps."""
    text = _part(program, "def claim(")
    claim = next((one for one in _statements(text) if isinstance(one, ast.FunctionDef)), None)
    if claim is None:
        return ""
    others = {line for one in ast.walk(claim) if _of_another(one, step) for line in range(one.lineno, one.end_lineno + 1)}
    body = [line for at, line in enumerate(text.split("\n"), start=1) if claim.body[1].lineno <= at <= claim.end_lineno]
    kept = [line for at, line in enumerate(body, start=claim.body[1].lineno) if at not in others]
    return _short(dedent("\n".join(kept)))


def _of_another(node: ast.AST, step: int) -> bool:
    """Is this a line for another step: a side that is none of this one's, or what hands such a step over?"""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _LINES_OF_STEP.fullmatch(node.targets[0].id):
        return node.targets[0].id not in ("start" if step == 1 else f"step_{step - 1}", f"step_{step}")
    handed = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) else None
    first = handed.elts[0] if isinstance(handed, ast.Tuple) and handed.elts else None
    return isinstance(first, ast.Constant) and type(first.value) is int and len(handed.elts) > 2 and first.value != step


def sizes(program: str) -> str:
    """The sizes that the program writes out, in words; "" where it has none, or leaves some out."""
    if "possible(SIZES" in program:
        return ""
    found = next((one.value for one in _statements(_part(program, "SIZES = ")) if isinstance(one, ast.Assign)), None)
    tried = [one for one in getattr(found, "elts", []) if isinstance(one, ast.Call) and one.keywords]
    if not tried:
        return ""
    names = [word.arg or "" for word in tried[0].keywords]
    if len(names) == 1:
        return f"{names[0]} = {', '.join(ast.unparse(one.keywords[0].value) for one in tried)}"
    return f"{len(tried)} choices of {', '.join(names[:-1])} and {names[-1]}"


# Coq's file ---------------------------------------------------------------------------------------------------------------------


def imported(source: str) -> str:
    """What a file of Coq imports: what such files share."""
    found = re.search(r"^From Derivations Require Import (\w+)\.$", source, re.MULTILINE)
    return found[1] if found else "Prelude"


def theorem(source: str, step: int, single: bool) -> str:
    """What Coq was given for a step: what is declared and assumed, the theorem, which is the goal of its proof, and the proof."""
    section = source.partition("Section Claim.\n")[2].partition("\nEnd Claim.")[0]
    parts = section.strip("\n").split("\n\n")
    theorems = [one for one in parts if "Theorem " in one]
    of_step = theorems if single else [one for one in theorems if f"Theorem step_{step} :" in one]
    declared = [one for one in parts if one not in theorems]
    return _short("\n\n".join([*declared, *of_step])) if of_step else ""
