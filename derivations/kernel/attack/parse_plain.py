"""What is printed as plain text, read back as a tree: one text is one tree.

The grammar is what `printing/plain_text.py` writes. A sum is made of products, a product of quotients, a quotient of powers; each is taken from
the left, and what stands otherwise stands in brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial

from ..core.expr import (
    E,
    Expr,
    I,
    Var,
    array,
    diff,
    each,
    eye,
    function,
    inverse,
    lift,
    ones,
    paren,
    rank,
    rounded,
    softmax,
    sqrt,
    total,
    zeros,
)
from ..core.operators import FUNCTIONS
from ..errors import KernelError
from ..printing.latex import WORDS

TOKEN = re.compile(r"\s*(\d+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)?|\.\.|⁻¹|[-+*@/^ᵀ()\[\],=])")
MADE: dict[str, Callable[[Expr], Expr]] = {
    "softmax": softmax,
    "variance": Var,
    "rounded": rounded,
    "rank": rank,
}  # what is printed as a word
OF_ONE: dict[str, Callable[[Expr], Expr]] = {
    **{name: partial(function, name) for name in FUNCTIONS},
    **{word: MADE[op] for op, word in WORDS.items()},
    "sqrt": sqrt,
}
BOUND: dict[str, Callable[..., Expr]] = {"sum": total, "each": each}
OF_SIZES: dict[str, Callable[..., Expr]] = {"eye": eye, "ones": ones, "zeros": zeros}


class NotReadable(KernelError):
    """A text that is no print of a tree."""


def read_plain(text: str, names: Mapping[str, Expr]) -> Expr:
    """The tree of a plain text. names: what the script declares: symbols, definitions, and indices, those of sums included.

    Brackets of the text are brackets of the tree, so that `strip` is needed to compare it with the one that was printed.
    """
    reader = Reader(text, names)
    tree = reader.sum()
    reader.expect("")
    return tree


class Reader:
    """The text, and the place up to which it has been read. A method for each level of the grammar."""

    def __init__(self, text: str, names: Mapping[str, Expr]):
        self.text, self.names, self.at = text, names, 0

    def peek(self) -> str:
        found = TOKEN.match(self.text, self.at)
        if found is None and self.text[self.at :].strip():
            raise NotReadable(f"{self.text[self.at :]!r} is not understood")
        return found[1] if found else ""

    def take(self) -> str:
        token = self.peek()
        found = TOKEN.match(self.text, self.at)
        self.at = found.end() if found else len(self.text)
        return token

    def met(self, token: str) -> bool:
        """Take the token, if it is the next one."""
        if self.peek() != token:
            return False
        self.take()
        return True

    def expect(self, token: str) -> None:
        if not self.met(token):
            raise NotReadable(f"{token or 'the end'!r} is expected where {self.text[self.at :]!r} stands in {self.text!r}")

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

    def listed(self, one: Callable, end: str) -> list:
        found = [one()]
        while self.met(","):
            found.append(one())
        self.expect(end)
        return found

    def atom(self) -> Expr:
        token = self.take()
        if token.isdigit():
            return lift(int(token))
        if token == "(":
            return self.closed(paren)
        if token == "[":
            return array([x.args if x.shape else x for x in self.listed(self.sum, "]")])
        if token == "E" and token not in self.names:
            self.expect("[")
            return self.closed(E, "]")
        if self.met("("):
            return self.applied(token)
        if token == "I":
            return I
        if token not in self.names:
            raise NotReadable(f"nothing is called {token!r} in {self.text!r}")
        return self.names[token]

    def closed(self, make: Callable[[Expr], Expr], end: str = ")") -> Expr:
        inside = self.sum()
        self.expect(end)
        return make(inside)

    def applied(self, word: str) -> Expr:
        """What stands before a bracket is a word, and no factor."""
        if word in OF_ONE:
            return self.closed(OF_ONE[word])
        if word in OF_SIZES:
            return OF_SIZES[word](*self.listed(self.sum, ")"))
        if word == "d":
            body = self.closed(lambda x: x)
            for token in ("/", "d", "("):
                self.expect(token)
            return self.closed(lambda by: diff(body, by))
        if word in BOUND:
            return self.bound(BOUND[word])
        raise NotReadable(f"{word!r} is no function, in {self.text!r}")

    def bound(self, make: Callable[..., Expr]) -> Expr:
        body = self.sum()
        self.expect(",")
        return make(body, *self.listed(self.running, ")"))

    def running(self) -> Expr:
        """An index that is bound, with its size, which has to be its own."""
        index_ = self.names.get(self.take())
        for token in ("=", "1", ".."):
            self.expect(token)
        size = self.sum()
        if index_ is None or index_.op != "index" or index_.data[1] != size:
            raise NotReadable(f"what is bound is not an index that runs to {size}, in {self.text!r}")
        return index_
