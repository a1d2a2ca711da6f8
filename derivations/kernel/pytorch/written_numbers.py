"""Find sizes that the source of a claim's snippets makes worth trying.

They are at the numbers that the source writes out and next to them, where a branch or a block may end, and just beyond the whole numbers that a
format in the source holds.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from types import FunctionType

import torch

from ..core.claims import Claim
from .snippet_arguments import locate_snippet

METHODS = {"half": torch.float16, "bfloat16": torch.bfloat16, "short": torch.int16, "char": torch.int8, "byte": torch.uint8}
LEAST, MOST = 11, 100_000  # smaller numbers are tried anyway


def list_written_sizes(claim: Claim) -> list[int]:
    """Return these sizes for all snippets of a claim, in ascending order."""
    found = {size for name, *_ in claim.code for node in list_nodes(name) for size in read_sizes(node)}
    return sorted(size for size in found if LEAST <= size <= MOST)


@cache
def list_nodes(name: str) -> tuple[ast.AST, ...]:
    """Return the nodes of a snippet, given by its dotted name, and of all functions of snippets that it names, directly or not."""
    module, function, _ = locate_snippet(name)
    found: list[FunctionType] = []
    left = [inspect.unwrap(getattr(module, function))]
    while left:
        one = left.pop()
        if isinstance(one, FunctionType) and one.__module__.startswith("snippets.") and one not in found:
            found.append(one)
            left += [inspect.unwrap(one.__globals__[used]) for used in one.__code__.co_names if callable(one.__globals__.get(used))]
    return tuple(node for one in found for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(one)))))


def read_sizes(node: ast.AST) -> tuple[int, ...]:
    """Return the sizes that a node makes worth trying."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value - 1, node.value, node.value + 1, 2 * node.value
    dtype = METHODS.get(node.attr, getattr(torch, node.attr, None)) if isinstance(node, ast.Attribute) else None
    return (first_inexact(dtype),) if isinstance(dtype, torch.dtype) and dtype.itemsize < 4 and dtype != torch.bool else ()


def first_inexact(dtype: torch.dtype) -> int:
    """Return the smallest whole number that a format does not hold."""
    return round(2 / torch.finfo(dtype).eps) + 1 if dtype.is_floating_point else torch.iinfo(dtype).max + 1
