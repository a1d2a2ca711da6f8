"""Parse the plain text of a tree, to test that each text stands for one tree.

The grammar is that of `printing/plain_text.py`. A sum consists of products, a product of quotients, a quotient of powers. All of them
associate to the left; anything else is in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from ..core.constructors import (
    E,
    I,
    Var,
    array,
    diff,
    each,
    eye,
    function,
    inverse,
    ones,
    paren,
    rank,
    restrict,
    rounded,
    softmax,
    sqrt,
    total,
    where,
    zeros,
)
from ..core.expr import Condition, Expr, lift
from ..core.number_formats import FORMATS
from ..core.operators import FUNCTIONS
from ..errors import KernelError
from ..printing.latex import WORDS

TOKEN = re.compile(r"\s*(\d+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)?|\.\.|⁻¹|<=|[-+*@/^ᵀ()\[\],=<])")
MADE: dict[str, Callable[[Expr], Expr]] = {  # operators that are printed as words
    "softmax": softmax,
    "variance": Var,
    "rounded": rounded,
    "rank": rank,
}
OF_ONE: dict[str, Callable[[Expr], Expr]] = {
    **{name: partial(function, name) for name in FUNCTIONS},
    **{word: MADE[op] for op, word in WORDS.items()},
    **{f"{WORDS['rounded']}_{name}": partial(rounded, format_=name) for name in FORMATS},
    "sqrt": sqrt,
}
BOUND: dict[str, Callable[..., Expr]] = {"sum": total, "each": each}
OF_SIZES: dict[str, Callable[..., Expr]] = {"eye": eye, "ones": ones, "zeros": zeros}


class ParseError(KernelError):
    """A text that does not stand for a tree."""

    code = "not-parsed"


def parse_plain(text: str, names: Mapping[str, Expr]) -> Expr:
    """Return the tree of a plain text. `names` maps names to symbols, definitions and indices, bound ones included.

    Brackets of the text become brackets of the tree, so use `strip` to compare it with the printed tree.
    """
    reader = PlainParser(text, names)
    tree = reader.sum()
    reader.expect("")
    return tree


class PlainParser:
    """A recursive-descent parser: a text, a position in it, and a method for each level of the grammar."""

    def __init__(self, text: str, names: Mapping[str, Expr]):
        self.text, self.names, self.at = text, names, 0

    def peek(self) -> str:
        """Return the next token, "" at the end."""
        found = TOKEN.match(self.text, self.at)
        if found is None and self.text[self.at :].strip():
            raise ParseError(f"{self.text[self.at :]!r} is not understood")
        return found[1] if found else ""

    def take(self) -> str:
        """Return the next token and move past it."""
        token = self.peek()
        found = TOKEN.match(self.text, self.at)
        self.at = found.end() if found else len(self.text)
        return token

    def met(self, token: str) -> bool:
        """Move past the token and return True if it is the next one."""
        if self.peek() != token:
            return False
        self.take()
        return True

    def expect(self, token: str) -> None:
        """Move past the token. Raise ParseError if it is not the next one."""
        if not self.met(token):
            raise ParseError(f"{token or 'the end'!r} is expected where {self.text[self.at :]!r} stands in {self.text!r}")

    def sum(self) -> Expr:
        if self.met("-"):
            result = -self.product()
        else:
            result = self.product()
        while self.peek() in ("+", "-"):
            result = result + self.product() if self.take() == "+" else result - self.product()
        return result

    def product(self) -> Expr:
        result = self.quotient()
        while self.peek() in ("*", "@"):
            result = result * self.quotient() if self.take() == "*" else result @ self.quotient()
        return result

    def quotient(self) -> Expr:
        result = self.power()
        while self.met("/"):
            result = result / self.power()
        return result

    def power(self) -> Expr:
        base = self.entry()
        if self.met("^"):
            return base ** self.entry()
        if self.met("ᵀ"):
            return base.T
        return inverse(base) if self.met("⁻¹") else base

    def entry(self) -> Expr:
        base = self.atom()
        if not base.shape or not self.met("["):
            return base
        return base[tuple(self.listed(self.sum, "]"))]

    def listed(self, parse: Callable, end: str) -> list:
        """Parse a list with commas, up to the end token."""
        found = [parse()]
        while self.met(","):
            found.append(parse())
        self.expect(end)
        return found

    def atom(self) -> Expr:
        token = self.take()
        if token.isdigit():
            return lift(int(token))
        if token == "(":
            return self.closed(paren)
        if token == "[":
            if (condition := self.condition()) is not None:
                self.expect("]")
                return where(1, condition)
            return array([x.args if x.shape else x for x in self.listed(self.sum, "]")])
        if token == "E" and token not in self.names:
            self.expect("[")
            return self.closed(E, "]")
        if self.met("("):
            return self.applied(token)
        if token == "I":
            return I
        if token not in self.names:
            raise ParseError(f"nothing is called {token!r} in {self.text!r}")
        return self.names[token]

    def closed(self, make: Callable[[Expr], Expr], end: str = ")") -> Expr:
        """Parse a sum up to the end token, and return what `make` makes of it."""
        inside = self.sum()
        self.expect(end)
        return make(inside)

    def applied(self, word: str) -> Expr:
        """Parse the arguments of a word that is followed by a bracket."""
        if word in OF_ONE:
            return self.closed(OF_ONE[word])
        if word in OF_SIZES:
            return OF_SIZES[word](*self.listed(self.sum, ")"))
        if word == "d":
            body = self.closed(lambda x: x)
            for token in ("/", "d", "("):
                self.expect(token)
            return self.closed(lambda by: diff(body, by))
        if word == "where":
            body = self.sum()
            self.expect(",")
            return restrict(body, [x for x in self.listed(self.condition, ")") if x is not None])
        if word in BOUND:
            return self.bound(BOUND[word])
        raise ParseError(f"{word!r} is no function, in {self.text!r}")

    def bound(self, make: Callable[..., Expr]) -> Expr:
        """Parse the body and the bound indices of a sum, or of a tensor given entry by entry, and the conditions of a sum."""
        body = self.sum()
        self.expect(",")
        found = self.listed(self.running_or_condition, ")")
        conditions = [x for x in found if isinstance(x, Condition)]
        return make(restrict(body, conditions), *found[: len(found) - len(conditions)])

    def running_or_condition(self) -> Expr | Condition:
        """Parse a bound index with its range, or a condition of a sum."""
        condition = self.condition()
        return self.running() if condition is None else condition

    def condition(self) -> Condition | None:
        """Parse a comparison and return it. Return None, and do not move, if what follows is none."""
        before = self.at
        try:
            left = self.sum()
            if self.peek() in ("<=", "<"):
                relation = self.take()
                return Condition(left, relation, self.sum())
        except KernelError:
            pass
        self.at = before
        return None

    def running(self) -> Expr:
        """Parse a bound index with its range, and check that the range is the index's own."""
        index_ = self.names.get(self.take())
        for token in ("=", "1", ".."):
            self.expect(token)
        size = self.sum()
        if index_ is None or index_.op != "index" or index_.data[1] != size:
            raise ParseError(f"what is bound is not an index that runs to {size}, in {self.text!r}")
        return index_
