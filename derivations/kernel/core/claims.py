"""Claims, the verdicts of witnesses, and the derivations that collect claims."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import KernelError
from ..printing.print_collisions import PrintedForms
from .assumptions import Assumption
from .expr import Expr, Term, contains_average, free_indices, lift, named_nodes, record_name, show, strip_brackets, walk

Value = Term | Sequence["Value"]  # the value of a symbol in a counterexample: a number, or nested lists of numbers
EVERY_SHAPE = "every shape"  # the widest scope of a verdict
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
SNIPPET = re.compile(r"(snippets(?:\.\w+)+)\.(\w+)(?:\[(\d+)\])?")  # module, function, and the number of its result


@dataclass(frozen=True)
class Step:
    """The right side of one relation: how it relates to the expression before it, and the reason in words."""

    relation: str  # "=", "<=", "->" or ":="; in a refutation "!=" or "!<="
    expr: Expr
    reason: str = ""


@dataclass(frozen=True)
class Claim:
    """One relation, or a chain of equalities, under stated assumptions."""

    id: str
    kind: str
    start: Expr
    steps: tuple[Step, ...]
    file: str = ""
    line: int = 0
    given: tuple[Assumption, ...] = ()
    title: str = ""
    uses: tuple[str, ...] = ()
    because: tuple[
        Expr, ...
    ] = ()  # the nonnegative form of an inequality (an expression equal to right - left), or a factorisation that bounds a rank
    at: tuple = ()  # a refutation's counterexample: (name, value) pairs
    without: tuple = ()  # counterexamples that show that an assumption is needed: (assumption, at) pairs
    towards: tuple = ()  # a limit: (variable, "oo" or a number)
    code: tuple = ()  # snippets that compute the sides: (dotted name, arguments, keyword arguments)

    @property
    def refuted(self) -> str:
        """The relation that a refutation shows to be false."""
        return self.steps[0].relation.removeprefix("!")

    @property
    def trees(self) -> tuple[Expr, ...]:
        """All expressions of the claim: its sides, the arguments of its assumptions, and `because`."""
        return self.start, *(s.expr for s in self.steps), *(x for a in self.given for x in a.args), *self.because

    @property
    def free(self) -> list[Expr]:
        """The free indices of the sides, in order of first occurrence. The result of a snippet has one axis for each."""
        sides = (self.start, *(s.expr for s in self.steps))
        return list(dict.fromkeys(n for e in sides for free in [free_indices(e)] for n in walk(e) if n.op == "index" and n in free))


@dataclass(frozen=True)
class Verdict:
    """The result of one witness for a claim. `scope` says how far the check reaches and must never overstate it."""

    name: str
    verdict: str  # "proved", "refuted" (only for refutations), "agrees" (numbers only), or "not applicable"
    scope: str
    note: str
    seconds: float = 0.0
    needed: tuple = ()  # for each assumption, how the claim fails without it
    source: str = ""  # the program that the witness wrote and ran, if it writes one
    ran: tuple = ()  # the snippets that ran and agreed: (entry of `code`, number of shapes, number of points)


class Rejected(KernelError):
    """The rejection of a claim, with its file, line, id, the reason, and the code of the error behind it."""

    def __init__(self, file: str, line: int, claim: str, message: str, code: str):
        super().__init__(f"{file}:{line}: claim '{claim}': {message}", code)
        self.file, self.line, self.claim, self.message = file, line, claim, message


@dataclass
class Derivation:
    """A named sequence of claims: one script, one page.

    The methods that scripts call are in `language/derivation.py`. All of them create claims through `_add_claim`.
    """

    title: str
    claims: list[Claim] = field(default_factory=list)
    names: dict[str, Expr] = field(default_factory=dict)
    prints: PrintedForms = field(default_factory=PrintedForms)

    def __post_init__(self) -> None:
        self.file, self.line = calling_line()
        LOADED.append(self)

    def _add_claim(
        self,
        kind: str,
        id: str,
        start: Term,
        steps: Iterable[tuple[str, Term, str]],
        *,
        given: Sequence[Assumption] = (),
        uses: Sequence[str] = (),
        without: Mapping[Assumption, Mapping[Expr, Value]] | None = None,
        code: Sequence[tuple] = (),
        **more: Any,
    ) -> None:
        """Check the arguments of a claim and add it to the derivation. `more` holds further fields of Claim.

        Raise KernelError if an argument is malformed, if the sides differ in shape, or if a name or a printed form is ambiguous.
        """
        self._check_arguments(id, given, uses, without)
        start, stated = lift(start), tuple(Step(r, lift(e), reason) for r, e, reason in steps)
        if wrong := [s.expr for s in stated if s.expr.shape != start.shape]:
            raise KernelError(f"the two sides have different shapes: {show(start)} and {show(wrong[0])}", code="mismatched-sides")
        kind = "law" if contains_average(start, *(s.expr for s in stated)) and kind in ("identity", "chain") else kind
        needed = tuple((a, read_values(v)) for a, v in (without or {}).items())
        more |= {"given": tuple(given), "uses": tuple(uses), "without": needed, "code": snippets(code)}
        claim = self._complete(Claim(id, kind, start, stated, *calling_line(), **more))
        self._check_names(claim)
        self.claims.append(claim)

    def _check_arguments(self, id: Any, given: Any, uses: Any, without: Any) -> None:
        if not isinstance(id, str) or not IDENTIFIER.fullmatch(id):
            raise KernelError(f"an id is lower-case words joined by hyphens, not {id!r}", code="invalid-id")
        earlier = {c.id: c.kind for c in self.claims}
        if id in earlier:
            raise KernelError("this id is taken by an earlier claim of the derivation", code="id-taken")
        if not isinstance(given, (list, tuple)) or not all(isinstance(a, Assumption) for a in given):
            raise KernelError("given=[...] is a list of assumptions, such as nonzero(c)", code="invalid-argument")
        if not isinstance(uses, (list, tuple)) or not all(isinstance(u, str) for u in uses):
            raise KernelError("uses=[...] is a list of ids", code="invalid-argument")
        for used in uses:
            if "#" not in used and earlier.get(used, "refutation") == "refutation":
                raise KernelError(f"it uses '{used}', which is not an earlier claim of this derivation that holds", code="unknown-claim")
        if without is not None and (not isinstance(without, dict) or not all(isinstance(v, dict) for v in without.values())):
            raise KernelError("without={assumption: {symbol: value}} maps assumptions to counterexamples", code="invalid-argument")
        if any(a not in given for a in without or ()):
            raise KernelError("without={...} names an assumption that is not in given=[...]", code="without-unstated-assumption")

    def _complete(self, claim: Claim) -> Claim:
        """Return the claim with the assumptions that symbols of another system carry. Core knows no such system; the language overrides this."""
        return claim

    def _check_names(self, claim: Claim) -> None:
        """Raise KernelError if a name or a printed form has two meanings in the derivation, or if a definition comes too late."""
        for s in dict.fromkeys(named_nodes(*claim.trees)):
            record_name(self.names, s)
        self.prints.add(self.names.values(), [strip_brackets(e) for e in (claim.start, *(s.expr for s in claim.steps))], claim.trees)
        if claim.kind == "definition" and any(claim.start in set(walk(tree)) for c in self.claims for tree in c.trees):
            raise KernelError(f"{show(claim.start)} is defined already, or used before it is defined", code="late-definition")


LOADED: list[Derivation] = []  # the derivations that scripts of this process have made, in order


def read_values(at: Any) -> tuple:
    """Return the (name, value) pairs of {symbol: value}, with nested tuples of exact numbers as values. Raise KernelError for other keys."""

    def freeze(value: Any) -> Any:
        return tuple(map(freeze, value)) if isinstance(value, (list, tuple)) else lift(value)

    if not isinstance(at, dict):
        raise KernelError("a counterexample maps symbols to values: at={symbol: value}", code="invalid-argument")
    pairs = [(lift(s), freeze(v)) for s, v in at.items()]
    if wrong := [show(s) for s, _ in pairs if s.op not in ("symbol", "index")]:
        raise KernelError(f"a counterexample gives values to symbols and indices, not to {wrong[0]}", code="not-a-symbol")
    return tuple((s.data[0], v) for s, v in pairs)


def snippets(code: Any) -> tuple:
    """Return the entries of `code` as (name, arguments, sorted keyword arguments). Raise KernelError if an entry is malformed.

    A script writes code=[("snippets.chapter.topic.function", argument, ..., {keyword: value}), ...], where an argument is an expression or a
    plain Python value.
    """
    calls = []
    for entry in code:
        if not isinstance(entry, (tuple, list)) or not entry or not isinstance(entry[0], str) or not entry[0].startswith("snippets."):
            raise KernelError('code=[...] lists tuples ("snippets.chapter.topic.function", argument, ...)', code="invalid-argument")
        name, *arguments = entry
        keywords = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        calls.append((name, tuple(arguments), tuple(sorted(keywords.items()))))
    return tuple(calls)


def calling_line() -> tuple[str, int]:
    """Return the file and line of the script that states a claim: those of the innermost frame outside the kernel."""
    kernel = str(Path(__file__).parents[1])
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith((kernel, "<")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
