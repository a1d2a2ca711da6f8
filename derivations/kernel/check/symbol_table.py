"""List the symbols of a claim with their kinds and shapes.

A formula alone does not say whether the letters in A B = B A are numbers or matrices.
"""

from __future__ import annotations

from ..core.claims import Claim
from ..core.expr import Expr, named_nodes
from ..printing.latex import latex
from ..printing.name_latex import name_latex

SHAPES = ("a number", "a vector", "a matrix", "a tensor")


def list_symbols(claim: Claim) -> list:
    """Return the LaTeX, kind and axis lengths of each symbol in a claim: tensors first, then numbers, indices and sizes."""
    found = {one.data[0]: one for one in named_nodes(*claim.trees)}
    return [describe_symbol(found[name]) for name in sorted(found, key=lambda name: (sort_key(found[name]), name))]


def sort_key(one: Expr) -> tuple:
    """Return the sort key of a symbol. Tensors with more axes come first."""
    return (one.op == "symbol" and one.data[1] == "size", one.op == "index", -len(one.shape))


def describe_symbol(one: Expr) -> dict:
    """Return the LaTeX, kind and axis lengths of a symbol."""
    axes = [one.data[1]] if one.op == "index" else one.shape
    return {"latex": name_latex(one.data[0]), "is": describe_kind(one), "axes": [latex(size) for size in axes]}


def describe_kind(one: Expr) -> str:
    """Return the kind of a symbol in words."""
    if one.op == "index":
        return "an index"
    if one.data[1] == "size":
        return "a size"
    words = SHAPES[min(len(one.shape), 3)]
    return words.replace("a ", "a random ", 1) if one.data[1] == "random" else words
