"""The rejection of ambiguous print: within a derivation, different things must not be printed alike, and names must not be misread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import KernelError
from .latex import NAMED, Tree, latex
from .name_latex import BIG, IMAGINARY, RAISED
from .plain_text import plain

SIZES = (r"\left", r"\right", r"\,", " ")  # sizes of brackets and widths of spaces
WORDS = {r"\operatorname": r"\mathrm", r"\exp": r"\mathrm{exp}", r"\log": r"\mathrm{log}", r"\lVert": r"\Vert", r"\rVert": r"\Vert"}


def visible_form(text: str) -> str:
    """Return LaTeX without differences that a reader does not see, such as the sizes of brackets and spaces."""
    for mark in SIZES:
        text = text.replace(mark, "")
    for mark, same in WORDS.items():
        text = text.replace(mark, same)
    return text


def nodes(e: Tree) -> Iterator[Tree]:
    """Yield every node of the tree, parents first."""
    yield e
    for argument in e.args:
        yield from nodes(argument)


class PrintedForms:
    """The printed forms of the claims of a derivation so far, each with its tree."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {}
        self.averages = False

    def add(self, names: Iterable[Tree], sides: Iterable[Tree], beside: Iterable[Tree] = ()) -> None:
        """Add the sides of a claim. Raise KernelError if a side is printed like an earlier one, or if a name would be misread.

        names: all names of the derivation so far. sides: the sides without brackets. beside: everything else that the claim prints, such as
        its assumptions.
        """
        things, sides = {s.data[0]: s for s in names}, list(sides)
        shown = [*sides, *beside]
        check_entries(things)
        check_operator_names(things)
        check_subscripts(shown)
        for tree in shown:
            check_exponents(tree)
            check_imaginary_names(tree)
        for side in sides:
            self.averages = self.averages or any(node.op == "expectation" for node in nodes(side))
            self.add_side(side)
        if self.averages and "E" in things:
            raise KernelError(
                "the name E is taken by the expectation, which this derivation uses; call it something else", code="reserved-name"
            )

    def add_side(self, side: Tree) -> None:
        """Add the printed forms of a side. A side that cannot be printed or is nested too deeply is rejected later, when it is checked."""
        try:
            prints = (visible_form(latex(side)), plain(side))
        except (RecursionError, KernelError):
            return
        for kind, text in zip(("LaTeX", "plain text"), prints):
            other = self.trees.setdefault(f"{kind}: {text}", side)
            if other != side:
                raise KernelError(
                    f"two things are printed alike in {kind}, as {text}: {describe_difference(other, side)}. Name one of them, or write it otherwise",
                    code="printed-alike",
                )


def describe_difference(left: Tree, right: Tree) -> str:
    """Return the first nodes in which two trees differ, in words."""
    if left.op == right.op and len(left.args) == len(right.args):
        for a, b in zip(left.args, right.args):
            if a != b:
                return describe_difference(a, b)
    return " and ".join(f"{plain(e)} ({e.op}{shown_shape(e)})" for e in (left, right))


def shown_shape(e: Tree) -> str:
    return f" of shape ({', '.join(map(plain, e.shape))})" if e.shape else ""


def check_entries(things: dict[str, Tree]) -> None:
    """Raise KernelError if a name looks like an entry of a tensor: z_1 next to a vector z, or d_k next to a vector d and an index k."""
    indices = {name for name, thing in things.items() if thing.op == "index"}
    for name in things:
        base, _, below = name.partition("_")
        tensor = things.get(base)
        if below and tensor is not None and tensor.shape and looks_like_entry(below, len(tensor.shape), indices | sizes_of(tensor)):
            raise KernelError(
                f"the name {name} is read as an entry of {base}, which has the shape{shown_shape(tensor).removeprefix(' of shape')}: "
                f"call one of the two something else",
                code="reads-as-entry",
            )


def sizes_of(tensor: Tree) -> set[str]:
    """Return the names of the sizes of a tensor's axes. A subscript with such a name looks like the last entry."""
    return {size.data[0] for size in tensor.shape if size.op == "symbol"}


def check_subscripts(shown: list[Tree]) -> None:
    """Raise KernelError if a subscript of a name contains an index of the same claim, as x_i or W_ij next to the index i."""
    printed = [pair for tree in shown for node in nodes(tree) for pair in names_in(node)]
    indices = {name for name, op in printed if op == "index"}
    for name in dict.fromkeys(name for name, _ in printed):
        below = name.partition("_")[2]
        if below and (below in indices or indices & {*below} and looks_like_entry(below, len(below), indices)):
            raise KernelError(
                f"the name {name} is read as an entry that changes with the index {below if below in indices else ', '.join(below)}, which "
                f"stands in this claim too; call one of the two something else",
                code="reads-as-entry",
            )


def names_in(node: Tree) -> Iterator[tuple[str, str]]:
    """Yield (name, operator) for each name that the node itself prints, including a bound index and the names in its size."""
    if node.op in NAMED:
        yield node.data[0], node.op
    elif node.bound_index is not None:
        yield node.data[0], "index"
        yield from (pair for part in nodes(node.data[1]) for pair in names_in(part))


def check_exponents(tree: Tree) -> None:
    """Raise KernelError for a power with the exponent T or H, which looks like a transpose."""
    for node in nodes(tree):
        if node.op == "pow" and unsigned(node.args[0]).op not in ("const", "imaginary"):
            exponent = unsigned(node.args[1])
            name = exponent.data[0] if exponent.op in NAMED else ""
            if name in RAISED:
                raise KernelError(
                    f"{plain(node)}: the exponent {name} is read as {RAISED[name]}; call it something else", code="reads-as-transpose"
                )


def unsigned(e: Tree) -> Tree:
    """Return the tree without outer brackets and minus signs."""
    while e.op in ("paren", "neg"):
        e = e.args[0]
    return e


def check_imaginary_names(tree: Tree, bound: frozenset[str] = frozenset()) -> None:
    """Raise KernelError for i or j in an exponent of e, where they look like the imaginary unit. Indices bound around it are allowed."""
    bound |= set() if tree.bound_index is None else {tree.data[0]}
    if tree.op == "function" and tree.data == "exp":
        for name in terms_of(tree.args[0]):
            if name in IMAGINARY and name not in bound:
                raise KernelError(
                    f"{plain(tree)}: in an exponent of e, {name} is read as the imaginary unit; call it something else",
                    code="reads-as-imaginary-unit",
                )
    for argument in tree.args:
        check_imaginary_names(argument, bound)


def terms_of(e: Tree) -> Iterator[str]:
    """Yield the names that are terms or factors of the expression: not subscripts and not arguments of functions."""
    if e.op in NAMED:
        yield e.data[0]
    elif e.op in ("add", "neg", "mul", "div", "pow", "paren", "sum"):
        bound = "" if e.bound_index is None else e.data[0]
        yield from (name for argument in e.args for name in terms_of(argument) if name != bound)


def check_operator_names(things: dict[str, Tree]) -> None:
    """Raise KernelError if Sigma or Pi names anything but a matrix, since it would look like a sum or a product."""
    for name in BIG.keys() & things.keys():
        if len(things[name].shape) != 2:
            raise KernelError(
                f"{name} is read as {BIG[name]} of what stands after it, where it is no matrix; call it something else",
                code="reads-as-sum-or-product",
            )


def looks_like_entry(below: str, axes: int, indices: set[str]) -> bool:
    """Return whether a subscript looks like the indices of an entry: one index, or one letter or digit for every axis."""
    if axes == 1:
        return below.isdigit() or below in indices
    return len(below) == axes and all(c.isdigit() or c in indices for c in below)
