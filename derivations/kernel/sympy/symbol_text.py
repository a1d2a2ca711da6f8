"""The names in the text of a SymPy program: its symbols, their signs, and the lines that define them.

Python's own numbers are marked as such in a Text, because a program must never divide one by another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from ..core.assumptions import is_random
from ..core.claims import Claim
from ..core.expr import Expr, contains_average, free_indices, show, strip_brackets, walk
from ..core.operators import AVERAGE_OPERATORS
from .errors import NotForSymPy
from .python_names import Names, quoted

SIGNS = ("positive", "nonnegative", "nonzero")
FREE = ("mean", "independent", "gaussian", "moment")  # assumptions that do not restrict the values of symbols
SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)  # how tightly a text binds


def masks_of(claim: Claim) -> dict[str, Expr]:
    """Return the zero_or_one symbols of a claim by name, except the random ones of a law."""
    law = contains_average(*claim.trees)
    return {a.args[0].data[0]: a.args[0] for a in claim.given if a.kind == "zero_or_one" and not (law and is_random(a.args[0]))}


class Text(NamedTuple):
    """Python source, how tightly it binds, and whether it is a Python number, which must not be combined with another one."""

    text: str
    level: int = ATOM
    plain: bool = False

    def within(self, level: int) -> str:
        """Return the text, in brackets if it binds less tightly than `level`."""
        return self.text if self.level >= level else f"({self.text})"

    def as_sympy(self) -> Text:
        """Return the text with a Python number as a SymPy one."""
        return Text(f"Integer({self.text})") if self.plain else self


def call(name: str, *arguments: str) -> Text:
    """Return the text of a call."""
    return Text(f"{name}({', '.join(arguments)})")


def number(q: Fraction) -> Text:
    """Return the text of a rational number."""
    if q.denominator == 1:
        return Text(integer(q.numerator), SIGN if q < 0 else ATOM, True)
    return call("Rational", integer(q.numerator), integer(q.denominator))


def integer(n: int) -> str:
    """Return the text of an integer, as a power if it is a large power of two."""
    power = abs(n).bit_length() - 1
    return str(n) if power < 40 or abs(n) != 2**power else f"{'-' * (n < 0)}2**{power}"


class SymbolWriter(ABC):
    """A writer for the trees of one claim. `lines` defines the symbols and the parts that the texts written so far use.

    symbolic: whether all sizes are symbols. moving: names of sizes that are symbols. values: the texts of values at which the trees are
    evaluated, by name.
    """

    def __init__(
        self, claim: Claim, symbolic: bool = False, moving: frozenset[str] = frozenset(), values: dict[str, str] | None = None
    ) -> None:
        self.names = Names()
        self.lines: dict[str, str] = {}
        self.line_names: dict[Any, str] = {}
        self.symbolic, self.moving = symbolic, moving
        self.values, self.evaluated = values or {}, values is not None
        self.given = claim.given
        self.bits = masks_of(claim)
        self.signs = [(a.kind, strip_brackets(a.args[0])) for a in claim.given if a.kind in SIGNS]
        self.towards = claim.towards
        if claim.towards and claim.towards[0].data[1] == "real" and claim.towards[0].data[0] not in self.bits:
            self.signs.append(("positive", claim.towards[0]))  # it is, near a limit at infinity or at 0 from above
        self.near: frozenset[str] = frozenset()  # the symbols by which enclosing derivatives are taken
        self.writing_signs = False  # whether the arguments of sign assumptions are being written
        self.limit_variable = claim.towards[0].data[0] if claim.towards else ""  # the name of the limit's variable, or ""

    @abstractmethod
    def write(self, e: Expr) -> Text:
        """Return the text of a tree."""

    def size(self, e: Expr) -> str:
        """Return the text of a length of an axis or a sum. Raise NotForSymPy if it is a symbol in the program."""
        if e.op == "const":
            return str(int(e.data))
        if self.symbolic or e.data[0] in self.moving:
            raise NotForSymPy(f"something of the size {show(e)}, which has no value here")
        return self.names.of("size", e.data[0])

    def index(self, name: str) -> str:
        """Return the identifier of an index."""
        return self.names.of("index", name)

    def add_line(self, thing: Any, name: str, text: str) -> str:
        """Add the line `name = text`, unless there is one for this thing. Return its name."""
        if thing not in self.line_names:
            self.line_names[thing] = name
            self.lines[name] = text
        return self.line_names[thing]

    def new_name(self, word: str) -> str:
        """Return an unused identifier that starts with `word`."""
        return self.names.of("part", f"{word}{sum(kind == 'part' for kind, _ in self.names.by_thing) + 1}")

    def symbol(self, e: Expr) -> str:
        """Return the identifier of a symbol, and add the line that makes it."""
        name, kind = e.data
        if name in self.near and self.known_only_at_point(name):
            return self.add_line(("near", name), self.names.of("near", name), self.symbol_value(e))
        identifier = self.names.of(kind, name)
        if kind == "size":
            if self.symbolic or name in self.moving:
                whole = ", integer=True" * (name not in self.moving)
                self.add_line((kind, name), identifier, f"Symbol({quoted(name)}, positive=True{whole})")
        elif (kind, name) not in self.line_names:
            self.add_line((kind, name), identifier, self.symbol_value(e))
        return identifier

    def symbol_value(self, e: Expr) -> str:
        """Return the text that makes a symbol, or its value."""
        name = e.data[0]
        if name in self.values and name not in self.near:
            return self.values[name]
        if name in self.bits and self.symbolic:
            raise NotForSymPy(f"{name}, which is 0 or 1, at every size")
        if name in self.bits and name not in self.near:  # its entries are a parameter
            given = self.names.of("entries", name)
            return f"Matrix({given})" if len(e.shape) in (1, 2) else f"Array({given})" if e.shape else f"Integer({given})"
        known = self.signs_of(name)
        if name in self.near and self.known_only_at_point(name):
            known.pop("nonnegative", None)
        signs = "".join(f", {kind}={where}" for kind, where in known.items())
        if not e.shape:
            return f"Symbol({quoted(name)}, real=True{signs})"
        return f"tensor({quoted(name)}, {', '.join(map(self.size, e.shape))}{signs})"

    def known_signs(self, near: bool = False) -> str:
        """Return the name of a line with the sign assumptions that SymPy's symbols cannot express, or "" if there are none.

        With `near`, use only assumptions that also hold near a point, where differentiation variables take other values.
        """
        if self.writing_signs or self.evaluated:
            return ""
        self.writing_signs = True
        lists = {kind: [self.sign_arguments(x) for a, x in self.signs if a == kind and self.is_extra_sign(a, x, near)] for kind in SIGNS}
        self.writing_signs = False
        whole = all(a.kind in SIGNS and not self.needs_signs(a.args[0]) or a.kind in FREE for a in self.given)
        if not any(lists.values()) and (whole or near):
            return ""
        moved = tuple(sorted(name for name in self.near if self.known_only_at_point(name)))
        texts = ", ".join(f"[{', '.join(x)}]" for x in lists.values()) + ", whole=False" * (not whole)
        return self.add_line(("signs", near, moved), self.names.of(f"signs {near} {' '.join(moved)}", "signs"), f"Signs({texts})")

    def is_extra_sign(self, kind: str, x: Expr, near: bool) -> bool:
        """Return whether a sign assumption is not one of SymPy's symbols and, with `near`, also holds near a point."""
        target = x.args[0] if x.op == "entry" else x
        if target.op == "symbol" and not (target.data[0] in self.near and self.known_only_at_point(target.data[0])):
            return False
        return not self.needs_signs(x) and not (near and kind == "nonnegative" and mentions(x, self.near))

    def needs_signs(self, x: Expr) -> bool:
        """Return whether an expression contains a node whose text needs signs itself, or that SymPy cannot evaluate here."""
        return any(n.op in ("rounded", "rank", *AVERAGE_OPERATORS) or n.data == "log" or is_root(n) for n in walk(x))

    def sign_arguments(self, x: Expr) -> str:
        """Return the text of the argument of a sign assumption, at each value of its open indices."""
        loops = " ".join(f"for {self.index(i.data[0])} in range({self.size(i.data[1])})" for i in indices_of(x))
        text = self.write(x).as_sympy().text
        return f"*({text} {loops})" if loops else text

    def limit_argument(self, e: Expr) -> str:
        """Return an argument that says where a limit is taken if `e` contains its variable: a sign then has to hold only near the limit."""
        if not self.limit_variable or not mentions(e, {self.limit_variable}):
            return ""
        variable, to = self.towards
        return f"goes=({self.symbol(variable)}, {to!r})"

    def known_only_at_point(self, name: str) -> bool:
        """Return whether something is known about a symbol at a point that need not hold near it: its value, or that it is nonnegative."""
        if name in self.values or name in self.bits:
            return True
        known = self.signs_of(name)
        return "nonnegative" in known and known["nonnegative"] not in (known.get("nonzero"), known.get("positive"))

    def replaced_names(self, e: Expr) -> tuple[str, ...]:
        """Return the names in `e` that inside the current derivative belong to symbols with fewer assumptions."""
        return tuple(
            sorted({n.data[0] for n in walk(e) if n.op == "symbol" and n.data[0] in self.near and self.known_only_at_point(n.data[0])})
        )

    def signs_of(self, name: str) -> dict[str, str]:
        """Return the assumed signs of a symbol, each with the text "True" or with patterns of the entries that have it."""
        found: dict[str, str] = {}
        for kind, x in self.signs:
            if x.op == "symbol" and x.data[0] == name:
                found[kind] = "True"
            elif x.op == "entry" and x.args[0].op == "symbol" and x.args[0].data[0] == name:
                pattern = [quoted(i.data[0]) if i.op == "index" else str(int(i.data)) for i in x.args[1:]]
                each = all(i.op == "index" for i in x.args[1:]) and len(set(pattern)) == len(pattern)
                places = f"({', '.join(pattern)},)"
                found[kind] = (
                    "True" if each or found.get(kind) == "True" else f"{found[kind][:-1]} {places},)" if kind in found else f"({places},)"
                )
        return found


def is_root(e: Expr) -> bool:
    """Return whether a node is a power whose exponent may not be an integer."""
    return e.op == "pow" and not (e.args[1].op == "const" and e.args[1].data.denominator == 1)


def mentions(e: Expr, names: Container[str]) -> bool:
    """Return whether a tree contains a symbol with one of these names."""
    return any(n.op == "symbol" and n.data[0] in names for n in walk(e))


def indices_of(*trees: Expr) -> list[Expr]:
    """Return the free indices of the trees, sorted by name."""
    return sorted(set(chain(*map(free_indices, trees))), key=lambda i: i.data[0])
