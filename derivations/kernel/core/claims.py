"""Claims, the assumptions they are made under, and the derivations that chain them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import KernelError
from ..printing.print_collisions import Prints
from .assumptions import Assumption
from .expr import Expr, Term, free_indices, lift, named, show, strip, take_name, takes_average, walk

Value = Term | Sequence["Value"]  # what a counterexample gives a symbol: a number, or nested lists of numbers
EVERY = "every shape"  # the widest scope of a verdict
IDENTIFIER = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
SNIPPET = re.compile(r"(snippets(?:\.\w+)+)\.(\w+)(?:\[(\d+)\])?")  # a module, its function, and which of its results is meant


@dataclass(frozen=True)
class Step:
    relation: str  # "=", "<=", "->" or ":="; of what is refuted "!=" or "!<="
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
    because: tuple[Expr, ...] = ()  # an inequality's certificate: what right - left is; or a factorisation that bounds a rank
    at: tuple = ()  # a refutation's counterexample: (name, value) pairs
    without: tuple = ()  # for an assumption, a counterexample that shows that it is needed: (assumption, at) pairs
    towards: tuple = ()  # a limit: (variable, "oo" or a number)
    code: tuple = ()  # snippets that compute the claim's expressions: (dotted name, arguments, keyword arguments)

    @property
    def refuted(self) -> str:
        """The relation that a refutation denies."""
        return self.steps[0].relation.removeprefix("!")

    @property
    def trees(self) -> tuple[Expr, ...]:
        return self.start, *(s.expr for s in self.steps), *(x for a in self.given for x in a.args), *self.because

    @property
    def free(self) -> list[Expr]:
        """The free indices in the order in which the claim first has them; what a snippet gives has an axis for each."""
        sides = (self.start, *(s.expr for s in self.steps))
        return list(dict.fromkeys(n for e in sides for free in [free_indices(e)] for n in walk(e) if n.op == "index" and n in free))


@dataclass(frozen=True)
class Verdict:
    """What one witness says of a claim. scope is how far its check reaches, never rounded up."""

    name: str
    verdict: str  # "proved", "refuted" (for refutations: the equality is), "agrees" (numbers alone), or "not applicable"
    scope: str
    note: str
    seconds: float = 0.0
    needed: tuple = ()  # for each assumption, how the claim fails without it
    source: str = ""  # the program whose run it was, where a witness writes one
    ran: tuple = ()  # of the claim's snippets that ran and agreed: (the entry of its code, at how many shapes, at how many points)


class Refused(KernelError):
    """A claim that is refused: where it stands, which it is, and why."""

    def __init__(self, file: str, line: int, claim: str, message: str):
        super().__init__(f"{file}:{line}: claim '{claim}': {message}")
        self.file, self.line, self.claim, self.message = file, line, claim, message


@dataclass
class Derivation:
    """A named chain of claims; one script, one page. What a script calls stands in `language/derivation.py`; all of it comes in by `_state`."""

    title: str
    claims: list[Claim] = field(default_factory=list)
    names: dict[str, Expr] = field(default_factory=dict)
    prints: Prints = field(default_factory=Prints)

    def __post_init__(self) -> None:
        self.file, self.line = caller()
        LOADED.append(self)

    def _state(
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
        """The one door by which a claim is made: what it is told is checked, and kept as it was told; `more` are other fields of a claim."""
        self._check_arguments(id, given, uses, without)
        start, stated = lift(start), tuple(Step(r, lift(e), reason) for r, e, reason in steps)
        if wrong := [s.expr for s in stated if s.expr.shape != start.shape]:
            raise KernelError(f"the two sides have different shapes: {show(start)} and {show(wrong[0])}")
        kind = "law" if takes_average(start, *(s.expr for s in stated)) and kind in ("identity", "chain") else kind
        hints = tuple((a, bindings(v)) for a, v in (without or {}).items())
        more |= {"given": tuple(given), "uses": tuple(uses), "without": hints, "code": snippets(code)}
        claim = self._settled(Claim(id, kind, start, stated, *caller(), **more))
        self._check_names(claim)
        self.claims.append(claim)

    def _check_arguments(self, id: Any, given: Any, uses: Any, without: Any) -> None:
        if not isinstance(id, str) or not IDENTIFIER.fullmatch(id):
            raise KernelError(f"an id is lower-case words joined by hyphens, not {id!r}")
        earlier = {c.id: c.kind for c in self.claims}
        if id in earlier:
            raise KernelError("this id is taken by an earlier claim of the derivation")
        if not isinstance(given, (list, tuple)) or not all(isinstance(a, Assumption) for a in given):
            raise KernelError("given=[...] is a list of assumptions, such as nonzero(c)")
        if not isinstance(uses, (list, tuple)) or not all(isinstance(u, str) for u in uses):
            raise KernelError("uses=[...] is a list of ids")
        for used in uses:
            if "#" not in used and earlier.get(used, "refutation") == "refutation":
                raise KernelError(f"it uses '{used}', which is not an earlier claim of this derivation that holds")
        if without is not None and (not isinstance(without, dict) or not all(isinstance(v, dict) for v in without.values())):
            raise KernelError("without={assumption: {symbol: value}} maps assumptions to counterexamples")
        if any(a not in given for a in without or ()):
            raise KernelError("without={...} names an assumption that is not in given=[...]")

    def _settled(self, claim: Claim) -> Claim:
        """Where the language adds what symbols of another system bring along."""
        return claim

    def _check_names(self, claim: Claim) -> None:
        """One name is one thing throughout a derivation, and so is one print."""
        for s in dict.fromkeys(named(*claim.trees)):
            take_name(self.names, s)
        self.prints.take(self.names.values(), [strip(e) for e in (claim.start, *(s.expr for s in claim.steps))], claim.trees)
        if claim.kind == "definition" and any(claim.start in set(walk(tree)) for c in self.claims for tree in c.trees):
            raise KernelError(f"{show(claim.start)} is defined already, or used before it is defined")


LOADED: list[Derivation] = []  # the derivations made by the scripts of this process, in order


def bindings(at: Any) -> tuple:
    """{symbol: value} with values as nested tuples of exact numbers."""

    def freeze(value: Any) -> Any:
        return tuple(map(freeze, value)) if isinstance(value, (list, tuple)) else lift(value)

    if not isinstance(at, dict):
        raise KernelError("a counterexample maps symbols to values: at={symbol: value}")
    found = [(lift(s), freeze(v)) for s, v in at.items()]
    if wrong := [show(s) for s, _ in found if s.op not in ("symbol", "index")]:
        raise KernelError(f"a counterexample gives values to symbols and indices, not to {wrong[0]}")
    return tuple((s.data[0], v) for s, v in found)


def snippets(code: Any) -> tuple:
    """code=[("snippets.chapter.topic.function", argument, ..., {keyword: value}), ...], arguments being expressions or plain values."""
    found = []
    for entry in code:
        if not isinstance(entry, (tuple, list)) or not entry or not isinstance(entry[0], str) or not entry[0].startswith("snippets."):
            raise KernelError('code=[...] lists tuples ("snippets.chapter.topic.function", argument, ...)')
        name, *arguments = entry
        keywords = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        found.append((name, tuple(arguments), tuple(sorted(keywords.items()))))
    return tuple(found)


def caller() -> tuple[str, int]:
    """File and line of the script that states a claim: the first frame outside the kernel."""
    kernel = str(Path(__file__).parents[1])
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith((kernel, "<")):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
