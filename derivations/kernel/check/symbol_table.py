"""List the symbols of a claim with their kinds and shapes.

A formula alone does not say whether A and B in A B = B A are numbers or matrices.
"""

from __future__ import annotations

from ..core.claims import Claim
from ..core.expr import Expr, named_nodes
from ..printing.latex import latex
from ..printing.name_latex import name_latex

SHAPES = ("a number", "a vector", "a matrix", "a tensor")


def list_symbols(claim: Claim) -> list[dict]:
    """Return the LaTeX, kind and axis lengths of each symbol in a claim: tensors first, then numbers, indices and sizes."""
    found = {node.data[0]: node for node in named_nodes(*claim.trees)}
    return [describe_symbol(found[name]) for name in sorted(found, key=lambda name: (sort_key(found[name]), name))]


def sort_key(node: Expr) -> tuple:
    """Return the sort key of a symbol. Tensors with more axes come first."""
    return (node.op == "symbol" and node.data[1] == "size", node.op == "index", -len(node.shape))


def describe_symbol(node: Expr) -> dict:
    """Return the LaTeX, kind and axis lengths of a symbol."""
    axes = [node.data[1]] if node.op == "index" else node.shape
    return {"latex": name_latex(node.data[0]), "is": describe_kind(node), "axes": [latex(size) for size in axes]}


def describe_kind(node: Expr) -> str:
    """Return the kind of a symbol in words."""
    if node.op == "index":
        return "an index"
    if node.data[1] == "size":
        return "a size"
    words = SHAPES[min(len(node.shape), 3)]
    return words.replace("a ", "a random ", 1) if node.data[1] == "random" else words
