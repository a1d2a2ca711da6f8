"""Check how a claim is printed: its script must parse back to its trees, and different trees must have different LaTeX."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import partial
from typing import Any

from ..core.claims import Claim
from ..core.constructors import (
    E,
    I,
    Var,
    absolute,
    array,
    diff,
    each,
    exp,
    eye,
    function,
    inverse,
    log,
    ones,
    rank,
    rounded,
    softmax,
    sqrt,
    total,
    where,
    zeros,
)
from ..core.expr import Expr, lift, named_nodes, strip_brackets
from ..core.number_formats import FORMATS
from ..core.operators import FUNCTIONS
from ..errors import KernelError
from ..printing import latex, plain_text, script_text

CALLS = {
    f.__name__: f
    for f in (
        E,
        Var,
        absolute,
        array,
        diff,
        each,
        exp,
        eye,
        inverse,
        log,
        ones,
        rank,
        rounded,
        softmax,
        sqrt,
        total,
        where,
        zeros,
        Fraction,
    )
}
CALLS |= {name: partial(function, name) for name in FUNCTIONS if name != "abs"}  # a script calls it absolute
BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
    ast.MatMult: lambda a, b: a @ b,
}


class Unreadable(Exception):
    """A text that is not a script's expression."""


def parse_script(text: str, names: dict) -> Expr:
    """Return the tree that a script would build from the text, without running it. Raise Unreadable if a script would fail."""
    try:
        return lift(build(ast.parse(text, mode="eval").body, names))
    except (SyntaxError, KernelError, TypeError, KeyError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def build(node: ast.AST, names: dict[str, Expr]) -> Any:
    """Return the tree of a syntax node, a list for a list, or the name of a format."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return lift(node.value)
    if isinstance(node, ast.Constant) and node.value in FORMATS:
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp):
        return BINARY[type(node.op)](build(node.left, names), build(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -build(node.operand, names)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return build(node.value, names).T
    if isinstance(node, ast.Subscript):
        at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return build(node.value, names)[tuple(build(i, names) for i in at)]
    if isinstance(node, ast.List):
        return [build(e, names) for e in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = [build(a, names) for a in node.args]
        if node.func.id == "Fraction":
            return lift(Fraction(*(number(a) for a in arguments)))
        return CALLS[node.func.id](*arguments, **{k.arg: build(k.value, names) for k in node.keywords if k.arg})
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = build(node.left, names), build(node.comparators[0], names)
        return left <= right if isinstance(node.ops[0], ast.LtE) else left < right
    raise Unreadable(ast.dump(node))


def number(e: Expr) -> Fraction:
    """Return the value of a constant, or of its negative."""
    return -number(e.args[0]) if e.op == "neg" else e.data


def normalize(e: Expr) -> Expr:
    """Return the tree without brackets, and with negated numbers and quotients of numbers as numbers: no print shows these."""
    e = strip_brackets(e)

    def fold(e: Expr) -> Expr:
        args = tuple(map(fold, e.args))
        if e.op == "neg" and args[0].op == "const":
            return lift(-args[0].data)
        if e.op == "div" and all(a.op == "const" for a in args) and args[1].data:
            return lift(args[0].data / args[1].data)
        return Expr(e.op, args, e.shape, e.data)

    return fold(e)


def find_print_errors(claim: Claim, others: tuple = ()) -> list[str]:
    """Return what is wrong with how the claim is printed, compared with itself and with other trees."""
    names = {s.data[0]: s for s in named_nodes(*claim.trees)} | {"I": I}
    found = []
    for e in claim.trees:
        text = script_text.script(e)
        try:
            back = parse_script(text, names)
        except Unreadable as error:
            found.append(f"{text} cannot be read back: {error}")
            continue
        if normalize(back) != normalize(e):
            found.append(f"{plain_text.plain(e)} is written as {text}, which reads as {plain_text.plain(back)}")
    return found + find_clashes((*claim.trees, *others))


def find_clashes(trees: tuple) -> list[str]:
    """Return a message for each two different trees with the same LaTeX."""
    seen: dict[str, Expr] = {}
    found = []
    for e in dict.fromkeys(map(normalize, trees)):
        other = seen.setdefault(latex.latex(e), e)
        if without_sizes(other) != without_sizes(e):
            found.append(f"two things are both printed {latex.latex(e)}: {script_text.script(e)} and {script_text.script(other)}")
    return found


def without_sizes(e: Expr) -> Expr:
    """Return the tree without shapes: identity matrices, zeros and ones are printed without their sizes, which follow from the context."""
    if e.op in ("eye", "fill"):
        return Expr(e.op, (), (), e.data)
    return Expr(e.op, tuple(map(without_sizes, e.args)), (), e.data)
