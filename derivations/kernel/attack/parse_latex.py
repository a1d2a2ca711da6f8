"""Parse the LaTeX of a tree, to test that a reader of a formula reads what was proved.

The grammar is that of `printing/latex.py`. Adjacent factors are a product, of numbers or of matrices according to their shapes. A formula
does not show the sizes of an identity matrix or of a vector of zeros or ones, so they are passed to the parser.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..core.constructors import E, I, array, diff, each, function, inverse, paren, rounded, sqrt, total, where
from ..core.expr import Condition, Expr, lift, strip_brackets
from ..printing.latex import FUNCTION_NAMES, WORDS
from ..printing.name_latex import GREEK
from .parse_plain import MADE, ParseError

TOKEN = re.compile(r"\s*(\\\\|\\[A-Za-z]+|\d+|\S)")
APPLIED: dict[str, Callable[[Expr], Expr]] = {"norm": partial(function, "norm"), **{word: MADE[op] for op, word in WORDS.items()}}
SHOWN = {r"\left|": "⟨", r"\right|": "⟩", r"\left": "", r"\right": "", r"\,": ""}  # the sizes of brackets and spaces have no meaning
END_OF_FACTORS = ("", "+", "-", ")", "]", "}", ",", "&", r"\\", "⟩", r"\rVert", r"\end", "/", "<", r"\le")


def parse_latex(text: str, names: Mapping[str, Expr], filled: Iterable[Expr] = ()) -> Expr:
    """Return the tree of a formula. `names` is as for `parse_plain`; `filled` are its identities, zeros and ones in their order."""
    for mark, shown in SHOWN.items():
        text = text.replace(mark, shown)
    reader = LatexParser(text, names, filled)
    tree = reader.sum()
    reader.expect("")
    return tree


class LatexParser:
    """A recursive-descent parser: a formula, a position in it, and a method for each level of the grammar."""

    def __init__(self, text: str, names: Mapping[str, Expr], filled: Iterable[Expr]):
        self.text, self.names, self.filled, self.at = text, names, iter(filled), 0

    def peek(self) -> str:
        """Return the next token, "" at the end."""
        found = TOKEN.match(self.text, self.at)
        return found[1] if found else ""

    def take(self) -> str:
        """Return the next token and move past it."""
        found = TOKEN.match(self.text, self.at)
        self.at = found.end() if found else len(self.text)
        return found[1] if found else ""

    def met(self, *tokens: str) -> bool:
        """Move past these tokens and return True if they are the next ones."""
        before = self.at
        for token in tokens:
            if self.take() != token:
                self.at = before
                return False
        return True

    def expect(self, *tokens: str) -> None:
        """Move past these tokens. Raise ParseError if they are not the next ones."""
        if not self.met(*tokens):
            raise ParseError(f"{' '.join(tokens) or 'the end'!r} is expected where {self.text[self.at :]!r} stands in {self.text!r}")

    def braces(self) -> str:
        """Return the text of a group in braces that contains no other group."""
        found = re.compile(r"\s*\{([^{}]*)\}").match(self.text, self.at)
        if not found:
            raise ParseError(f"a group is expected where {self.text[self.at :]!r} stands in {self.text!r}")
        self.at = found.end()
        return found[1]

    def closed(self, parse: Callable[[], Expr], end: str) -> Expr:
        """Return what `parse` returns, and move past the end token."""
        inside = parse()
        self.expect(end)
        return inside

    def group(self) -> Expr:
        self.expect("{")
        return self.closed(self.sum, "}")

    def sum(self) -> Expr:
        result = -self.term() if self.met("-") else self.term()
        while self.peek() in ("+", "-"):
            result = result + self.term() if self.take() == "+" else result - self.term()
        return result

    def term(self) -> Expr:
        return indexed_sum(self) if self.met(r"\sum") else self.product()

    def product(self) -> Expr:
        result = self.factor()
        if self.met("/"):  # in an exponent, where fractions are flat
            return result / self.factor()
        while self.peek() not in END_OF_FACTORS:
            sign = self.take() if self.peek() in (r"\cdot", r"\odot") else ""
            right = self.factor()
            entrywise = sign == r"\odot" or not (result.shape and right.shape)
            result = result * right if entrywise else result @ right
        return result

    def factor(self) -> Expr:
        """Parse a factor of a product: a base with its subscript and superscript."""
        base = self.base()
        if base.shape and self.met("_"):
            base = self.entry(base)
        if not self.met("^"):
            return base
        if self.met("{", r"\top", "}"):
            return base.T
        if self.met("{", "-", r"\top", "}"):
            return inverse(base.T)
        if base.shape:
            self.expect("{", "-", "1", "}")
            return inverse(base)
        return base ** self.group()

    def entry(self, base: Expr) -> Expr:
        """Parse the indices of an entry, either with commas or as one token each."""
        self.expect("{")
        depth, start = 1, self.at
        while depth:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if not token:
                raise ParseError(f"a group has no end in {self.text!r}")
        below = self.text[start : self.at - 1]
        places = below.split(",") if "," in below or len(base.shape) == 1 else below.replace(" ", "")
        return base[tuple(LatexParser(place, self.names, ()).sum() for place in places)]

    def name(self) -> str:
        """Parse a declared name, with its subscript if that belongs to the name."""
        token = self.take()
        name = self.braces() if token == r"\mathrm" else token.removeprefix("\\")
        if token.startswith("\\") and token != r"\mathrm" and name not in GREEK:
            raise ParseError(f"{token} is not known, in {self.text!r}")
        before = self.at
        if re.compile(r"_\{[A-Za-z0-9]+\}").match(self.text, self.at):
            self.take()
            whole = f"{name}_{self.braces()}"
            if whole in self.names:
                return whole
        self.at = before
        return name

    def base(self) -> Expr:
        token = self.peek()
        rule = BASES.get(token)
        if rule is not None:
            self.take()
            return rule(self)
        if token.isdigit():
            return lift(int(self.take()))
        if token == "e" and self.met("e", "^"):
            return function("exp", self.group())
        if self.met(r"\mathrm", "{", "i", "}"):
            return I
        name = self.name()
        if name == "I":
            return self.told("eye")
        if name not in self.names:
            raise ParseError(f"nothing is called {name!r} in {self.text!r}")
        return self.names[name]

    def told(self, op: str) -> Expr:
        """Return the next tree of `filled`. Raise ParseError if it has another operator."""
        tree = next(self.filled, None)
        if tree is None or tree.op != op:
            raise ParseError(f"no size is told for what is filled in {self.text!r}")
        return tree

    def bracket(self) -> Expr:
        """Parse brackets, an array, or a tensor given entry by entry; the opening bracket has been read."""
        inside = [self.sum()]
        if self.met(")"):
            indices = listed(self)
            return each(inside[0], *indices) if indices else paren(inside[0])
        while self.met(",") and self.peek() != ")":
            inside.append(self.sum())
        self.expect(")")
        return array(inside)

    def bound(self, name: str, size: Expr) -> Expr:
        """Return a bound index. Raise ParseError if this is not its size."""
        index_ = self.names.get(name)
        if index_ is None or index_.op != "index" or index_.data[1] != size:
            raise ParseError(f"what is bound is not an index that runs to {size}, in {self.text!r}")
        return index_

    def fraction(self) -> Expr:
        """Parse a quotient or a derivative, which are both written as fractions."""
        if not self.met("{", r"\partial"):
            above = self.group()
            return above / self.group()
        body = None if self.met("}") else self.closed(self.factor, "}")
        self.expect("{", r"\partial")
        by = self.closed(self.factor, "}")
        return diff(self.factor() if body is None else body, strip_brackets(by))  # the brackets of (b_K)_1

    def fill(self) -> Expr:
        """Parse a bold 0 or 1 with its shape, and return the tensor of `filled` that it stands for."""
        value, tree = self.braces(), self.told("fill")
        if str(tree.data) != value:
            raise ParseError(f"{value} is not what is told, in {self.text!r}")
        if len(tree.shape) > 1:
            self.expect("_", "{")
            rows = self.factor()
            self.expect(r"\times")
            if (rows, self.closed(self.sum, "}")) != tree.shape:
                raise ParseError(f"what is filled has another shape than is told, in {self.text!r}")
        return tree


def indexed_sum(reader: LatexParser) -> Expr:
    """Parse a sum; its sign has been read. An upper limit that is an index stands for the condition that the bound index is at most that."""
    reader.expect("_", "{")
    name = reader.name()
    reader.expect("=", "1")
    conditions = []
    while reader.met(","):
        conditions.append(comparison(reader))
    reader.expect("}", "^")
    last = reader.group()
    bound = reader.bound(name, last.data[1] if last.op == "index" else last)
    return total(reader.term(), bound, where=[bound <= last] * (last.op == "index") + conditions)


def comparison(reader: LatexParser) -> Condition:
    """Parse a comparison of positions."""
    left = reader.sum()
    if reader.met("<"):
        return Condition(left, "<", reader.sum())
    reader.expect(r"\le")
    return Condition(left, "<=", reader.sum())


def listed(reader: LatexParser) -> list[Expr]:
    """Parse the bound indices after a bracket: names below it, sizes above. Return [] if none follow, as after an entry."""
    before = reader.at
    found: list[str] = []
    while reader.met(",") if found else reader.met("_", "{"):
        name = reader.name()
        if not reader.met("=", "1"):
            reader.at = before
            return []
        found.append(name)
    if not found:
        return []
    reader.expect("}", "^", "{")
    sizes = [reader.sum()]
    while reader.met(","):
        sizes.append(reader.sum())
    reader.expect("}")
    if len(sizes) != len(found):
        raise ParseError(f"{len(found)} indices have {len(sizes)} sizes, in {reader.text!r}")
    return [reader.bound(name, size) for name, size in zip(found, sizes)]


def applied(reader: LatexParser, name: str) -> Expr:
    """Parse a function's argument, and check the mark: a function of a matrix's entries has one, and an absolute value of any tensor's."""
    marked = reader.met("_", "{", r"\odot", "}")
    reader.expect("(")
    inside = reader.closed(reader.sum, ")")
    if marked != (len(inside.shape) > 1 or name == "abs" and bool(inside.shape)):
        raise ParseError(f"{name} is {'' if marked else 'not '}marked as one of each entry, in {reader.text!r}")
    return function(name, inside)


def cases(reader: LatexParser) -> Expr:
    """Parse what holds under a condition and is 0 otherwise; its name has been read."""
    body = reader.closed(reader.sum, "&")
    condition = comparison(reader)
    reader.expect(r"\\", "0", "&", r"\text", "{", *"otherwise", "}", r"\end", "{", *"cases", "}")
    return where(body, condition)


def indicator(reader: LatexParser) -> Expr:
    """Parse an Iverson bracket; the opening bracket has been read."""
    condition = comparison(reader)
    reader.expect("]")
    return where(1, condition)


def environment(reader: LatexParser) -> Expr:
    """Parse a case distinction, or the rows of a pmatrix."""
    if reader.met("{", *"cases", "}"):
        return cases(reader)
    reader.expect("{", *"pmatrix", "}")
    rows = [[reader.sum()]]
    while not reader.met(r"\end"):
        if reader.take() == "&":
            rows[-1].append(reader.sum())
        else:
            rows.append([reader.sum()])
    reader.expect("{", *"pmatrix", "}")
    return array(rows)


def word_applied(reader: LatexParser) -> Expr:
    """Parse an operator that is written as a word, with its argument."""
    word = reader.braces()
    if word == "E":
        reader.expect("[")
        return E(reader.closed(reader.sum, "]"))
    if word == "abs":
        return applied(reader, word)
    if word == WORDS["rounded"] and reader.met("_", "{", r"\mathrm"):
        format_ = reader.braces()
        reader.expect("}", "(")
        return rounded(reader.closed(reader.sum, ")"), format_)
    reader.expect("(")
    if word not in APPLIED:
        raise ParseError(f"{word!r} is no function, in {reader.text!r}")
    return APPLIED[word](reader.closed(reader.sum, ")"))


BASES: dict[str, Callable[[LatexParser], Expr]] = {
    "(": LatexParser.bracket,
    "⟨": lambda reader: function("abs", reader.closed(reader.sum, "⟩")),
    r"\frac": LatexParser.fraction,
    r"\sqrt": lambda reader: sqrt(reader.group()),
    r"\begin": environment,
    "[": indicator,
    r"\operatorname": word_applied,
    r"\mathbf": LatexParser.fill,
    r"\lVert": lambda reader: function("norm", reader.closed(reader.sum, r"\rVert")),
    **{word: partial(applied, name=name) for name, word in FUNCTION_NAMES.items() if "operatorname" not in word},
}
