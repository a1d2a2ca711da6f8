"""Assumptions in words, for messages and for pages."""

from __future__ import annotations

from collections.abc import Iterable

from .latex import Tree, latex
from .plain_text import plain


def assumption_words(kind: str, args: tuple[Tree, ...], open_: Iterable[Tree], latex_names: bool = False) -> str:
    """Return an assumption in words. With `latex_names`, as pages need it, its arguments are LaTeX between dollar signs."""

    def shown(x: Tree) -> str:
        return f"${latex(x)}$" if latex_names else plain(x)

    names = list(map(shown, args))
    text = {  # formatted once, below, because LaTeX names contain braces
        "positive": "{0} is positive",
        "nonnegative": "{0} is not negative",
        "nonzero": "{0} is not zero",
        "invertible": "{0} is invertible",
        "independent": "the entries of {all} are independent",
        "mean": "each entry of {0} has mean {1}",
        "moment": "each entry of {0} has a " + {"1": "mean", "2": "variance"}.get("".join(map(plain, args[1:])), "moment of order {1}"),
        "variance": "each entry of {0} has variance {1}",
        "gaussian": "{all} are Gaussian" if args[1:] else "{0} is Gaussian",
        "product": "the product of {0} and {1} is "
        + {"0": "zero", "1": "the identity"}.get("".join(map(plain, args[2:])), "{2} times the identity"),
        "representable": "{all} are numbers of fp32" if args[1:] else "{0} is a number of fp32",
        "zero_or_one": "each entry of " * bool(args and args[0].shape) + "{0} is 0 or 1",
        "in range": "no exponent leaves the format's range",
    }[kind].format(*names, all=" and ".join(names))
    return text + "".join(f", for every {shown(i)}" for i in open_)
