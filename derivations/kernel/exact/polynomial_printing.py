"""Converts a polynomial of the normal form back to a tree for messages, in which indices have the names that an author would give them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from itertools import count
from textwrap import shorten

from ..core.expr import Expr, walk
from ..core.operators import INDEXED
from ..printing.plain_text import plain
from .matrix_words import INVERSE
from .polynomials import MAXIMUM_INDEX, Polynomial
from .rational_numbers import Fraction

INDEX_NAMES = "ijklabc"
ONE = Expr("const", (), (), Fraction(1))


class IndexNames:
    """Names for the indices of a polynomial: the author's name if there is one, otherwise one that is not used nearby.

    `near` are trees shown next to it. An index that is summed over a size is named like the index that they sum over that size with, if
    there is one.
    """

    def __init__(self, p: Polynomial, near: tuple = ()):
        nodes = [n for tree in near for n in walk(tree)]
        self.summed = list(dict.fromkeys(n.data for n in nodes if n.op == "sum"))
        own = {author_name(i) for i in indices_in(p)} - {""}
        self.used = own | symbols_in(p) | {n.data[0] for n in nodes if n.op in ("symbol", "defined", *INDEXED)}
        self.free = own  # names that bound indices must not take
        self.given: dict[tuple, str] = {}
        for index in sorted(i for i in indices_in(p) if i[0] == "f"):  # rows before columns
            self.of(index)

    def of(self, index: tuple) -> Expr:
        """Return the index as a tree: a number, or a variable with its name."""
        if index[0] == "c":
            return Expr("const", (), (), Fraction(index[1]))
        if index not in self.given:
            self.given[index] = author_name(index) or self.unused()
        return index_tree(self.given[index])

    def unused(self) -> str:
        """Return a new name."""
        name = next(name for name in candidate_names() if name not in self.used)
        self.used.add(name)
        return name

    def bind(self, sizes: tuple, known: dict) -> list:
        """Return names for the bound indices of one sum over these sizes. `known` are the outer indices that occur in it."""
        taken, chosen = self.free | {i.data[0] for i in known.values() if i.op == "index"}, []
        for size in sizes:
            wanted = [name for name, over in self.summed if over == size and name not in taken]
            chosen.append(wanted[0] if wanted else self.unused())
            taken = taken | {chosen[-1]}
            self.summed.append((chosen[-1], size))  # another sum over this size may have the same name
        return chosen


def candidate_names() -> Iterator[str]:
    """Yield names for indices, without end."""
    yield from INDEX_NAMES
    yield from (f"i_{k}" for k in count(1))


def index_tree(name: str) -> Expr:
    """Return an index of this name as a tree."""
    return Expr("index", (), (), (name, None))


def author_name(index: tuple) -> str:
    """Return the name that an author gave an index, or ""."""
    if index[0] == "held":
        return index[2] if len(index) == 3 else author_name(index[1]) if isinstance(index[1], tuple) else ""
    return index[1] if index[0] == "f" and not index[1].startswith("axis ") else ""


def indices_in(p: Polynomial) -> set:
    """Return the indices of p that need a name: free and temporarily free ones."""
    return {i for _, factors in p for (_, indices), _ in factors for i in indices if i[0] not in "bcsm"}


def symbols_in(p: Polynomial) -> set:
    """Return all names that occur in the atoms of p, at any depth."""
    names = set()
    for _, factors in p:
        for (head, _), _ in factors:
            names |= symbols_in(dict(head[-1])) if isinstance(head[-1], tuple) else {head[1]} if len(head) > 1 else set()
    return names


def polynomial_to_tree(p: Polynomial, near: tuple = ()) -> Expr:
    """Return the polynomial as an expression for printing. Its nodes have no shapes, so nothing can be computed with it."""
    return sum_to_tree(p, IndexNames(p, near), {})


def sum_to_tree(p: Polynomial, names: IndexNames, known: dict) -> Expr:
    """Return the sum of all terms. `known` maps indices that are bound further out to their trees."""
    if not p:
        return Expr("const", (), (), Fraction(0))
    terms = sorted(p.items(), key=lambda item: (-total_degree(item[0]), repr(item)))
    first = next((k for k, (_, c) in enumerate(terms) if c > 0), 0)
    terms.insert(0, terms.pop(first))
    trees = []
    for (bound, factors), c in terms:
        term = term_to_tree(bound, factors, abs(c), names, known)
        trees.append(Expr("neg", (term,)) if c < 0 else term)
    return reduce(lambda left, right: Expr("add", (left, right)), trees)


def total_degree(term: tuple) -> Fraction:
    """Return the sum of the powers in a term."""
    return sum((power for _, power in term[1]), Fraction(0))


def term_to_tree(bound: tuple, factors: tuple, c: Fraction, names: IndexNames, known: dict) -> Expr:
    """Return one term, with coefficient c, as a tree."""
    chosen = names.bind(bound, known)
    known = known | {("b", k): index_tree(name) for k, name in enumerate(chosen)}
    numerator: list[Expr] = []
    denominator: list[Expr] = []
    for factor, power in factors:
        base = factor_to_tree(factor, names, known)
        shown = base if abs(power) == 1 else Expr("pow", (base, Expr("const", (), (), abs(power))))
        (numerator if power > 0 else denominator).append(shown)
    number = Expr("const", (), (), c)
    coefficient = [number] * (c != 1 or not numerator)
    if bound and c != 1:  # the number is written before the sum
        return product_tree([number, wrap_in_sums(quotient_tree(numerator, denominator), chosen, bound)])
    return wrap_in_sums(quotient_tree(coefficient + numerator, denominator), chosen, bound)


def wrap_in_sums(body: Expr, names: list, sizes: tuple) -> Expr:
    """Return the body summed over these indices."""
    for name, size in reversed(list(zip(names, sizes))):
        body = Expr("sum", (body,), (), (name, size))
    return body


def quotient_tree(numerator: list, denominator: list) -> Expr:
    """Return a quotient of products."""
    if not denominator:
        return product_tree(numerator)
    *others, last = numerator or [ONE]
    return product_tree([*others, Expr("div", (last, product_tree(denominator)))])


def product_tree(factors: list) -> Expr:
    """Return the product of factors, 1 if there are none."""
    result = factors[0] if factors else ONE
    for factor in factors[1:]:
        result = Expr("mul", (result, factor))
    return result


def factor_to_tree(factor: tuple, names: IndexNames, known: dict) -> Expr:
    """Return an atom as a tree."""
    head, indices = factor
    at = tuple(known[i] if i in known else names.of(i) for i in indices)
    if isinstance(head[-1], tuple):  # a function of a smaller polynomial
        outside = {("outside", i.data[0]): i for i in known.values() if i.op == "index"}  # their names are taken
        outside |= {("s", k): i for k, i in enumerate(at)}
        if head[0] in ("whole", "turn"):
            (((_, factors), _),) = head[-1]
            counts = {which: tuple(x for x in factors if (x[0][0][0] in ("size", "value")) is which) for which in (True, False)}
            base_, exponent = (sum_to_tree({((), counts[which]): Fraction(1)}, names, outside) for which in (False, True))
            return Expr("pow", (Expr("neg", (ONE,)) if head[0] == "turn" else base_, exponent))
        if head[0] == INVERSE:
            runs = [names.unused(), names.unused()]
            body = sum_to_tree(dict(head[-1]), names, outside | {("s", k): index_tree(name) for k, name in enumerate(runs)})
            for name in reversed(runs):
                body = Expr("each", (body,), (), (name, head[1]))
            return Expr("entry", (Expr("inverse", (body,)), *at))
        if head[0] == "largest":
            return Expr("function", (maximum_entries_to_tree(dict(head[-1]), head[1], names, outside),), (), "largest")
        inside = sum_to_tree(dict(head[-1]), names, outside)
        if head[0] == "sum":
            return inside if inside.op == "sum" else Expr("paren", (inside,))
        if head[0] == "joint":
            return Expr("expectation", (inside,))
        return Expr("rounded", (inside,), (), head[1]) if head[0] == "rounded" else Expr("function", (inside,), (), head[0])
    if head[0] == "value":
        return at[0]
    if head[0] == "moment":
        body = symbol_tree(head[1])
        return Expr("expectation", (body if head[2] == 1 else Expr("pow", (body, Expr("const", (), (), Fraction(head[2])))),))
    base = ATOM_TREES[head[0]](*head[1:])
    return Expr("entry", (base, *at)) if at else base


def maximum_entries_to_tree(p: Polynomial, size: int | str, names: IndexNames, known: dict) -> Expr:
    """Return the argument of a maximum: an array of its entries if its size is a number, and a vector without its index otherwise."""
    if not isinstance(size, int):
        runs = index_tree(names.unused())
        return strip_index(sum_to_tree(p, names, known | {MAXIMUM_INDEX: runs}), runs)
    places: list = [{} for _ in range(size)]
    for (bound, factors), c in p.items():
        place = next(head[1] for (head, _), _ in factors if head[0] == "place")
        places[place - 1][bound, tuple(x for x in factors if x[0][0][0] != "place")] = c
    return Expr("array", tuple(sum_to_tree(x, names, known) for x in places), (Expr("const", (), (), Fraction(size)),))


def strip_index(e: Expr, index: Expr) -> Expr:
    """Return the tree with each entry at this index replaced by its vector."""
    if e.op == "entry" and e.args[1:] == (index,):
        return e.args[0]
    return Expr(e.op, tuple(strip_index(x, index) for x in e.args), e.shape, e.data)


def symbol_tree(name: str) -> Expr:
    """Return a symbol of this name as a tree."""
    return Expr("symbol", (), (), (name, ""))


ATOM_TREES: dict[str, Callable[..., Expr]] = {
    "entry": symbol_tree,
    "random": symbol_tree,
    "size": symbol_tree,
    "inverse": lambda name: Expr("inverse", (symbol_tree(name),)),
    "delta": lambda: Expr("symbol", (), (), ("I", "")),
    "i": lambda: Expr("imaginary"),
    "prime": lambda number: Expr("const", (), (), Fraction(number)),
    "excess": lambda name: Expr("paren", (Expr("add", (symbol_tree(name), Expr("neg", (ONE,)))),)),
}


def show_polynomial(p: Polynomial, *near: Expr) -> str:
    """Return a polynomial as plain text.

    `near` are the trees that it came from, whose names of indices it uses; of a tensor it shows one entry.
    """
    names = IndexNames(p, near)
    shown = plain(sum_to_tree(p, names, {}))
    axes = [("f", f"axis {k}") for k in range(len(near[0].shape))] if near else []
    if not axes or any(size.op == "const" for size in near[0].shape):
        return shown
    return f"{shown}, in entry [{', '.join(plain(names.of(axis)) for axis in axes)}]"


def shorten_text(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with a sign that it was cut off."""
    return shorten(text, most, placeholder=" …")
