"""No two things of a derivation are printed alike: not by their names, nor as the sides of its claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import KernelError
from .latex import NAMED, Tree, latex
from .name_latex import BIG, IMAGINARY, RAISED
from .plain_text import plain

SIZES = (r"\left", r"\right", r"\,", " ")  # how large a bracket is, and how wide a space
WORDS = {r"\operatorname": r"\mathrm", r"\exp": r"\mathrm{exp}", r"\log": r"\mathrm{log}", r"\lVert": r"\Vert", r"\rVert": r"\Vert"}


def looks(text: str) -> str:
    """LaTeX as it looks: sizes and spaces do not count, and the bars of a norm are the same on both sides."""
    for mark in SIZES:
        text = text.replace(mark, "")
    for mark, same in WORDS.items():
        text = text.replace(mark, same)
    return text


def nodes(e: Tree) -> Iterator[Tree]:
    yield e
    for argument in e.args:
        yield from nodes(argument)


class Prints:
    """What a derivation has printed so far, and the tree that each print stands for."""

    def __init__(self) -> None:
        self.trees: dict[str, Tree] = {}
        self.averages = False

    def take(self, names: Iterable[Tree], sides: Iterable[Tree], beside: Iterable[Tree] = ()) -> None:
        """Take in the sides of one more claim, without brackets, among all that is named so far; refuse what looks like something else.

        names: of the derivation so far. beside: what else the claim prints, such as its assumptions.
        """
        things, sides = {s.data[0]: s for s in names}, list(sides)
        shown = [*sides, *beside]
        refuse_entries(things)
        refuse_big(things)
        refuse_subscripts(shown)
        for tree in shown:
            refuse_exponents(tree)
            refuse_turns(tree)
        for side in sides:
            self.averages = self.averages or any(node.op == "expectation" for node in nodes(side))
            self.take_side(side)
        if self.averages and "E" in things:
            raise KernelError("the name E is taken by the expectation, which this derivation uses; call it something else")

    def take_side(self, side: Tree) -> None:
        """A side and its two prints. What cannot be printed, or is nested too deeply, is refused when it is checked."""
        try:
            prints = (looks(latex(side)), plain(side))
        except (RecursionError, KernelError):
            return
        for kind, text in zip(("LaTeX", "plain text"), prints):
            other = self.trees.setdefault(f"{kind}: {text}", side)
            if other != side:
                raise KernelError(
                    f"two things are printed alike in {kind}, as {text}: {told_apart(other, side)}. Name one of them, or write it otherwise"
                )


def told_apart(one: Tree, other: Tree) -> str:
    """The first place in which two trees differ."""
    if one.op == other.op and len(one.args) == len(other.args):
        for a, b in zip(one.args, other.args):
            if a != b:
                return told_apart(a, b)
    return " and ".join(f"{plain(e)} ({e.op}{shown_shape(e)})" for e in (one, other))


def shown_shape(e: Tree) -> str:
    return f" of shape ({', '.join(map(plain, e.shape))})" if e.shape else ""


def refuse_entries(things: dict[str, Tree]) -> None:
    """z_1 beside a vector z, z_n where z has n entries, and d_k beside a vector d where k is an index, are read as entries."""
    indices = {name for name, thing in things.items() if thing.op == "index"}
    for name in things:
        base, _, below = name.partition("_")
        tensor = things.get(base)
        if below and tensor is not None and tensor.shape and is_place(below, len(tensor.shape), indices | sizes_of(tensor)):
            raise KernelError(
                f"the name {name} is read as an entry of {base}, which has the shape{shown_shape(tensor).removeprefix(' of shape')}: "
                f"call one of the two something else"
            )


def sizes_of(tensor: Tree) -> set[str]:
    """The names of how long a tensor's axes are: each is the last place along its axis."""
    return {size.data[0] for size in tensor.shape if size.op == "symbol"}


def refuse_subscripts(shown: list[Tree]) -> None:
    """In one claim x_i beside an index i, and W_ij beside i and j, are read as entries, be there a tensor x or none."""
    printed = [pair for tree in shown for node in nodes(tree) for pair in names_in(node)]
    indices = {name for name, op in printed if op == "index"}
    for name in dict.fromkeys(name for name, _ in printed):
        below = name.partition("_")[2]
        if below and (below in indices or indices & {*below} and is_place(below, len(below), indices)):
            raise KernelError(
                f"the name {name} is read as an entry that changes with the index {below if below in indices else ', '.join(below)}, which "
                f"stands in this claim too; call one of the two something else"
            )


def names_in(node: Tree) -> Iterator[tuple[str, str]]:
    """(name, what it is) for each name that a node prints by itself; of one that binds an index, that index and what is in its size."""
    if node.op in NAMED:
        yield node.data[0], node.op
    elif node.bound_index is not None:
        yield node.data[0], "index"
        yield from (pair for part in nodes(node.data[1]) for pair in names_in(part))


def refuse_exponents(tree: Tree) -> None:
    """A number to the power T is read as what is transposed, and to the power H as what is transposed and conjugated; 2 is neither."""
    for node in nodes(tree):
        if node.op == "pow" and unsigned(node.args[0]).op not in ("const", "imaginary"):
            exponent = unsigned(node.args[1])
            name = exponent.data[0] if exponent.op in NAMED else ""
            if name in RAISED:
                raise KernelError(f"{plain(node)}: the exponent {name} is read as {RAISED[name]}; call it something else")


def unsigned(e: Tree) -> Tree:
    """Without brackets and signs around it."""
    while e.op in ("paren", "neg"):
        e = e.args[0]
    return e


def refuse_turns(tree: Tree, bound: frozenset[str] = frozenset()) -> None:
    """In an exponent of e the letters i and j are read as the imaginary unit, but for the index of a sum around it, which is seen there."""
    bound |= set() if tree.bound_index is None else {tree.data[0]}
    if tree.op == "function" and tree.data == "exp":
        for name in terms_of(tree.args[0]):
            if name in IMAGINARY and name not in bound:
                raise KernelError(f"{plain(tree)}: in an exponent of e, {name} is read as the imaginary unit; call it something else")
    for argument in tree.args:
        refuse_turns(argument, bound)


def terms_of(e: Tree) -> Iterator[str]:
    """The names that an expression counts with: not those below a letter, and not what a function is of."""
    if e.op in NAMED:
        yield e.data[0]
    elif e.op in ("add", "neg", "mul", "div", "pow", "paren", "sum"):
        bound = "" if e.bound_index is None else e.data[0]
        yield from (name for argument in e.args for name in terms_of(argument) if name != bound)


def refuse_big(things: dict[str, Tree]) -> None:
    """A number Sigma before z_i is read as a sum of them; a matrix is known by where it stands."""
    for name in BIG.keys() & things.keys():
        if len(things[name].shape) != 2:
            raise KernelError(f"{name} is read as {BIG[name]} of what stands after it, where it is no matrix; call it something else")


def is_place(below: str, axes: int, indices: set[str]) -> bool:
    """Is a subscript printed as the place of an entry is? One index, or one letter or digit for every axis."""
    if axes == 1:
        return below.isdigit() or below in indices
    return len(below) == axes and all(c.isdigit() or c in indices for c in below)
