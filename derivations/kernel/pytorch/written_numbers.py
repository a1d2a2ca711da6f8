"""Find sizes that the source of a claim's snippets makes worth trying.

They are at the numbers that the source writes out and next to them, where a branch or a block may end, and just beyond the whole numbers that a
format in the source holds.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import torch

from ..core.claims import Claim
from ..snippet_source import Library, Origin

METHODS = {"half": torch.float16, "bfloat16": torch.bfloat16, "short": torch.int16, "char": torch.int8, "byte": torch.uint8}
LEAST, MOST = 11, 100_000  # smaller numbers are tried anyway


def list_written_sizes(claim: Claim) -> list[int]:
    """Return these sizes for all snippets of a claim, in ascending order."""
    found = {size for name, *_ in claim.code for node in list_nodes(name) for size in read_sizes(node)}
    return sorted(size for size in found if LEAST <= size <= MOST)


@cache
def list_nodes(name: str) -> tuple[ast.AST, ...]:
    """Return the nodes of a snippet, given by its dotted name, and of all snippets that it can reach."""
    home, _, function = name.rpartition(".")
    library = Library(Path(str(import_module(home).__file__)).parents[home.count(".")])
    start = library.definition(Origin(home, function))
    reached = [start, *(definition for *_, definition in library.reachable(start))] if start else []
    return tuple(node for one in reached if one and one.is_definition for node in ast.walk(one.node))


def read_sizes(node: ast.AST) -> tuple[int, ...]:
    """Return the sizes that a node makes worth trying."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value - 1, node.value, node.value + 1, 2 * node.value
    dtype = METHODS.get(node.attr, getattr(torch, node.attr, None)) if isinstance(node, ast.Attribute) else None
    return (first_inexact(dtype),) if isinstance(dtype, torch.dtype) and dtype.itemsize < 4 and dtype != torch.bool else ()


def first_inexact(dtype: torch.dtype) -> int:
    """Return the smallest whole number that a format does not hold."""
    return round(2 / torch.finfo(dtype).eps) + 1 if dtype.is_floating_point else torch.iinfo(dtype).max + 1
