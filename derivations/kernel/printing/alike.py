"""No two things of a derivation are printed alike: not by their names, nor as the sides of its claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import KernelError
from .latex import Tree, latex
from .names import BIG
from .plain import plain

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

    def take(self, names: Iterable[Tree], sides: Iterable[Tree]) -> None:
        """Take in the sides of one more claim, without brackets, among all that is named so far; refuse what looks like something else."""
        things = {s.data[0]: s for s in names}
        refuse_entries(things)
        refuse_big(things)
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
    """z_1 beside a vector z, and d_k beside a vector d where k is an index, are read as entries."""
    indices = {name for name, thing in things.items() if thing.op == "index"}
    for name in things:
        base, _, below = name.partition("_")
        tensor = things.get(base)
        if below and tensor is not None and tensor.shape and is_place(below, len(tensor.shape), indices):
            raise KernelError(
                f"the name {name} is read as an entry of {base}, which has the shape{shown_shape(tensor).removeprefix(' of shape')}: "
                f"call one of the two something else"
            )


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
