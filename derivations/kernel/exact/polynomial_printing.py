"""A polynomial of the normal form as a tree again, for messages: in it indices have the names that an author would give them."""

from __future__ import annotations

from itertools import count
from textwrap import shorten

from ..core.expr import Expr, walk
from ..core.operators import INDEXED
from ..printing.plain_text import plain
from .fractions import Fraction
from .polynomials import RUNS

INDEX_NAMES = "ijklabc"
ONE = Expr("const", (), (), Fraction(1))


class IndexNames:
    """A name for each index of a polynomial: its own where it has one, else one that nothing near is called by.

    near: trees that are read beside it. A sum over a size is over the index that they sum over that size with, if they do.
    """

    def __init__(self, p: dict, near: tuple = ()):
        nodes = [n for tree in near for n in walk(tree)]
        self.summed = list(dict.fromkeys(n.data for n in nodes if n.op == "sum"))
        own = {author_name(i) for i in indices_in(p)} - {""}
        self.used = own | symbols_in(p) | {n.data[0] for n in nodes if n.op in ("symbol", "defined", *INDEXED)}
        self.free = own  # what no index that is summed over may be called
        self.given = {}
        for index in sorted(i for i in indices_in(p) if i[0] == "f"):  # rows before columns
            self.of(index)

    def of(self, index: tuple) -> Expr:
        """The index as a tree: a number, or a variable with its name."""
        if index[0] == "c":
            return Expr("const", (), (), Fraction(index[1]))
        if index not in self.given:
            self.given[index] = author_name(index) or self.unused()
        return index_tree(self.given[index])

    def unused(self) -> str:
        name = next(name for name in candidate_names() if name not in self.used)
        self.used.add(name)
        return name

    def bind(self, sizes: tuple, known: dict) -> list:
        """Names for the indices of one sum over these sizes. known: the indices that stand in it and are bound outside."""
        taken, chosen = self.free | {i.data[0] for i in known.values() if i.op == "index"}, []
        for size in sizes:
            wanted = [name for name, over in self.summed if over == size and name not in taken]
            chosen.append(wanted[0] if wanted else self.unused())
            taken = taken | {chosen[-1]}
            self.summed.append((chosen[-1], size))  # another sum over this size may have the same name
        return chosen


def candidate_names():
    yield from INDEX_NAMES
    yield from (f"i_{k}" for k in count(1))


def index_tree(name: str) -> Expr:
    return Expr("index", (), (), (name, None))


def author_name(index: tuple) -> str:
    """The name that an author gave an index, if one did."""
    if index[0] == "held":
        return index[2] if len(index) == 3 else author_name(index[1]) if isinstance(index[1], tuple) else ""
    return index[1] if index[0] == "f" and not index[1].startswith("axis ") else ""


def indices_in(p: dict) -> set:
    return {i for _, factors in p for (_, indices), _ in factors for i in indices if i[0] not in "bcsm"}


def symbols_in(p: dict) -> set:
    """All that the atoms name, those inside of others included."""
    found = set()
    for _, factors in p:
        for (head, _), _ in factors:
            found |= symbols_in(dict(head[-1])) if isinstance(head[-1], tuple) else {head[1]} if len(head) > 1 else set()
    return found


def tree(p: dict, near: tuple = ()) -> Expr:
    """The polynomial as an expression to print. Shapes are left out: nothing is computed with it."""
    return sum_to_tree(p, IndexNames(p, near), {})


def sum_to_tree(p: dict, names: IndexNames, known: dict) -> Expr:
    """The sum of all terms. known: what indices that are bound outside are called."""
    if not p:
        return Expr("const", (), (), Fraction(0))
    terms = sorted(p.items(), key=lambda item: (-total_degree(item[0]), repr(item)))
    first = next((k for k, (_, c) in enumerate(terms) if c > 0), 0)
    terms.insert(0, terms.pop(first))
    result = None
    for (bound, factors), c in terms:
        term = term_to_tree(bound, factors, abs(c), names, known)
        signed = Expr("neg", (term,)) if c < 0 else term
        result = signed if result is None else Expr("add", (result, signed))
    return result


def total_degree(term: tuple) -> Fraction:
    return sum((power for _, power in term[1]), Fraction(0))


def term_to_tree(bound: tuple, factors: tuple, c: Fraction, names: IndexNames, known: dict) -> Expr:
    chosen = names.bind(bound, known)
    known = known | {("b", k): index_tree(name) for k, name in enumerate(chosen)}
    above, below = [], []
    for factor, power in factors:
        base = factor_to_tree(factor, names, known)
        shown = base if abs(power) == 1 else Expr("pow", (base, Expr("const", (), (), abs(power))))
        (above if power > 0 else below).append(shown)
    number = Expr("const", (), (), c)
    coefficient = [number] * (c != 1 or not above)
    if bound and c != 1:  # the number stands before the sum
        return product_tree([number, wrap_in_sums(quotient_tree(above, below), chosen, bound)])
    return wrap_in_sums(quotient_tree(coefficient + above, below), chosen, bound)


def wrap_in_sums(body: Expr, names: list, sizes: tuple) -> Expr:
    for name, size in reversed(list(zip(names, sizes))):
        body = Expr("sum", (body,), (), (name, size))
    return body


def quotient_tree(above: list, below: list) -> Expr:
    if not below:
        return product_tree(above)
    *before, last = above or [ONE]
    return product_tree([*before, Expr("div", (last, product_tree(below)))])


def product_tree(factors: list) -> Expr:
    result = factors[0] if factors else ONE
    for factor in factors[1:]:
        result = Expr("mul", (result, factor))
    return result


def factor_to_tree(factor: tuple, names: IndexNames, known: dict) -> Expr:
    head, indices = factor
    at = tuple(known[i] if i in known else names.of(i) for i in indices)
    if isinstance(head[-1], tuple):  # a function of a smaller polynomial
        outside = {("outside", i.data[0]): i for i in known.values() if i.op == "index"}  # whose names are taken
        outside |= {("s", k): i for k, i in enumerate(at)}
        if head[0] in ("whole", "turn"):
            (((_, factors), _),) = head[-1]
            counts = {which: tuple(x for x in factors if (x[0][0][0] in ("size", "value")) is which) for which in (True, False)}
            below, above = (sum_to_tree({((), counts[which]): Fraction(1)}, names, outside) for which in (False, True))
            return Expr("pow", (Expr("neg", (ONE,)) if head[0] == "turn" else below, above))
        if head[0] == "largest":
            return Expr("function", (entries(dict(head[-1]), head[1], names, outside),), (), "largest")
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


def entries(p: dict, size, names: IndexNames, known: dict) -> Expr:
    """What the largest is taken of: written out where there are so many, or a vector, in which what runs stands without its index."""
    if not isinstance(size, int):
        runs = index_tree(names.unused())
        return strip_index(sum_to_tree(p, names, known | {RUNS: runs}), runs)
    places: list = [{} for _ in range(size)]
    for (bound, factors), c in p.items():
        place = next(head[1] for (head, _), _ in factors if head[0] == "place")
        places[place - 1][bound, tuple(x for x in factors if x[0][0][0] != "place")] = c
    return Expr("array", tuple(sum_to_tree(x, names, known) for x in places), (Expr("const", (), (), Fraction(size)),))


def strip_index(e: Expr, index: Expr) -> Expr:
    if e.op == "entry" and e.args[1:] == (index,):
        return e.args[0]
    return Expr(e.op, tuple(strip_index(x, index) for x in e.args), e.shape, e.data)


def symbol_tree(name: str) -> Expr:
    return Expr("symbol", (), (), (name, ""))


ATOM_TREES = {
    "entry": symbol_tree,
    "random": symbol_tree,
    "size": symbol_tree,
    "inverse": lambda name: Expr("inverse", (symbol_tree(name),)),
    "delta": lambda: Expr("symbol", (), (), ("I", "")),
    "i": lambda: Expr("imaginary"),
    "prime": lambda number: Expr("const", (), (), Fraction(number)),
    "excess": lambda name: Expr("paren", (Expr("add", (symbol_tree(name), Expr("neg", (ONE,)))),)),
}


def show_polynomial(p: dict, *near: Expr) -> str:
    """Plain text for messages. near: the trees that it came from, whose names for indices it takes; of tensors it is one entry."""
    names = IndexNames(p, near)
    shown = plain(sum_to_tree(p, names, {}))
    axes = [("f", f"axis {k}") for k in range(len(near[0].shape))] if near else []
    if not axes or any(size.op == "const" for size in near[0].shape):
        return shown
    return f"{shown}, in entry [{', '.join(plain(names.of(axis)) for axis in axes)}]"


def in_short(text: str, most: int) -> str:
    """A text as far as its first so many characters go, and a sign that it goes on."""
    return shorten(text, most, placeholder=" …")
