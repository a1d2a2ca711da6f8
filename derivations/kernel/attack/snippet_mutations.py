"""Mutate the source of a snippet as its author might by mistake: one change at a time.

A mutation changes a sign, an operation, an axis, an index or a number; it drops a scale, a transpose, a mask or an argument; or it writes to
a tensor. Two more mutations are ones that a few numbers would miss: wrong where a size is large, and wrong at one point.
"""

from __future__ import annotations

import ast
import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

from ..errors import KernelError
from ..snippet_source import parse

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
IN_PLACE = {ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_"}
LARGE, POINT = 100, 0.3712  # the size above which, and the entry at which, the last two mutations are wrong


@dataclass(frozen=True)
class SnippetMutation:
    """A mutated function."""

    what: str  # which change, and where
    run: Callable


def mutate_snippet(run: FunctionType) -> Iterator[SnippetMutation]:
    """Yield all mutations of a snippet's function, which use the same globals."""
    run = inspect.unwrap(run)
    code = run.__code__
    function = parse("", Path(code.co_filename).read_text(encoding="utf-8")).function_at(code.co_name, code.co_firstlineno)
    if function is None:
        raise KernelError(f"{code.co_filename}:{code.co_firstlineno}: no function {code.co_name} is defined here", code="snippet-not-found")
    for what, changed in mutate_function(ast.Module([function], [])):
        yield SnippetMutation(f"{what}, line {changed.line}", compile_mutation(changed.tree, run))
    yield from mutate_results(run)


@dataclass(frozen=True)
class MutatedTree:
    """A mutated syntax tree, and the line of the change."""

    tree: ast.Module
    line: int


def compile_mutation(tree: ast.Module, run: FunctionType) -> Callable:
    """Compile a mutated tree, and return its function with the globals of the original one."""
    tree = ast.fix_missing_locations(copy.deepcopy(tree))
    found: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # mutated code may look odd to Python
        code = compile(tree, run.__code__.co_filename, "exec", flags=0, dont_inherit=True)
    exec(code, run.__globals__, found)
    return found[run.__name__]


def mutate_function(tree: ast.Module) -> Iterator[tuple[str, MutatedTree]]:
    """Yield (description, mutated tree) for each mutation of the function's body; the signature is not mutated."""
    body = nodes_of_body(tree)
    for k, node in enumerate(body):
        for what, new in mutate_node(node):
            other = copy.deepcopy(tree)
            target = nodes_of_body(other)[k]
            replace_node(other, target, new)
            yield what, MutatedTree(other, getattr(node, "lineno", 1))


def nodes_of_body(tree: ast.Module) -> list[ast.AST]:
    """Return the nodes in the body of the only function of a tree."""
    (function,) = tree.body
    assert isinstance(function, ast.FunctionDef)
    return [node for statement in function.body for node in ast.walk(statement)]


def replace_node(tree: ast.Module, target: ast.AST, new: ast.AST) -> None:
    """Replace a node of a tree in place."""
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is target:
                setattr(parent, field, new)
            elif isinstance(value, list):
                value[:] = [new if one is target else one for one in value]


def mutate_node(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield (description, new node) for each mutation of a node."""
    if isinstance(node, ast.BinOp):
        yield from mutate_operation(node)
    elif isinstance(node, (ast.Compare, ast.BoolOp)):
        op = node.ops[0] if isinstance(node, ast.Compare) else node.op
        if type(op) in SWAPS:
            swapped = copy.deepcopy(node)
            if isinstance(swapped, ast.Compare):
                swapped.ops[0] = SWAPS[type(op)]()
            else:
                swapped.op = SWAPS[type(op)]()
            yield "another comparison", swapped
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield "a sign is left out", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        yield "another number", ast.Constant(node.value + 1)
    elif isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield "a transpose is left out", node.value
    elif isinstance(node, ast.Call):
        yield from mutate_call(node)
    elif isinstance(node, ast.IfExp):
        yield "the other branch", ast.IfExp(node.test, node.orelse, node.body)


def mutate_operation(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    """Yield the mutations of a binary operation."""
    if type(node.op) in SWAPS:
        yield "another operation", ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
    yield "an operand is left out", node.left
    if isinstance(node.op, ast.MatMult):
        yield "a product the other way round", ast.BinOp(node.right, node.op, node.left)
        yield "a transpose put in", ast.BinOp(node.left, node.op, ast.Attribute(node.right, "mT", ast.Load()))
    if type(node.op) in IN_PLACE and isinstance(node.left, ast.Name):
        yield "written in place", ast.Call(ast.Attribute(node.left, IN_PLACE[type(node.op)], ast.Load()), [node.right], [])


def mutate_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    """Yield the mutations of a call."""
    if isinstance(node.func, ast.Attribute) and not (
        isinstance(node.func.value, ast.Name) and node.func.value.id in ("torch", "math", "F")
    ):
        yield f"{node.func.attr} is left out", node.func.value
    elif node.args and not isinstance(node.args[0], ast.Starred):
        yield "a function is left out", node.args[0]
    for k, keyword in enumerate(node.keywords):
        yield f"{keyword.arg} is forgotten", ast.Call(node.func, node.args, node.keywords[:k] + node.keywords[k + 1 :])
    if len(node.args) > 1 and not any(isinstance(one, ast.Starred) for one in node.args):
        yield "arguments the other way round", ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)


def mutate_results(run: FunctionType) -> Iterator[SnippetMutation]:
    """Yield two mutations of the result that a few random numbers do not show."""

    def over(change: Callable) -> Callable:
        def changed(*arguments, **keywords):
            return apply_to_results(run(*arguments, **keywords), change)

        changed.__signature__ = inspect.signature(run)  # type: ignore[attr-defined]  # read by inspect.signature
        return changed

    def large(x):
        sized = getattr(x, "shape", (x,))[-1:]
        return x + 1 if any(n > LARGE for n in sized) else x

    def at_a_point(x):
        return x.where(x != POINT, x + 1) if hasattr(x, "where") and x.is_floating_point() else x

    yield SnippetMutation(f"wrong where a size is more than {LARGE}", over(large))
    yield SnippetMutation(f"wrong where an entry is {POINT}", over(at_a_point))


def apply_to_results(result, change: Callable):
    """Apply a change to a result, or to each of several."""
    return tuple(apply_to_results(one, change) for one in result) if isinstance(result, tuple) else change(result)
