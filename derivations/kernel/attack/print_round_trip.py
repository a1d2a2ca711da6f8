"""A tree from what was printed of it, and two trees that are printed alike: what is read must be what was meant."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import partial

from ..core.claims import Claim
from ..core.expr import (
    E,
    Expr,
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
    lift,
    log,
    named,
    ones,
    rank,
    rounded,
    softmax,
    sqrt,
    strip,
    total,
    zeros,
)
from ..core.operators import FUNCTIONS
from ..errors import KernelError
from ..printing import latex, plain_text, script_text

CALLS = {
    f.__name__: f
    for f in (E, Var, absolute, array, diff, each, exp, eye, inverse, log, ones, rank, rounded, softmax, sqrt, total, zeros, Fraction)
}
CALLS |= {name: partial(function, name) for name in FUNCTIONS if name != "abs"}  # which a script calls absolute
BINARY = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
    ast.MatMult: lambda a, b: a @ b,
}


class Unreadable(Exception):
    """Text in which something stands that no script would say."""


def read_back(text: str, names: dict) -> Expr:
    """The tree that a script would make of the text. Nothing is run: the nodes of the syntax are gone through one by one."""
    try:
        return lift(meant(ast.parse(text, mode="eval").body, names))
    except (SyntaxError, KernelError, TypeError, KeyError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from None


def meant(node: ast.AST, names: dict):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return lift(node.value)
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp):
        return BINARY[type(node.op)](meant(node.left, names), meant(node.right, names))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -meant(node.operand, names)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return meant(node.value, names).T
    if isinstance(node, ast.Subscript):
        at = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return meant(node.value, names)[tuple(meant(i, names) for i in at)]
    if isinstance(node, ast.List):
        return [meant(e, names) for e in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = [meant(a, names) for a in node.args]
        if node.func.id == "Fraction":
            return lift(Fraction(*(number(a) for a in arguments)))
        return CALLS[node.func.id](*arguments)
    raise Unreadable(ast.dump(node))


def number(e: Expr) -> Fraction:
    return -number(e.args[0]) if e.op == "neg" else e.data


def alike(e: Expr) -> Expr:
    """The tree without what no print shows, and need not: brackets, and whether a minus is a number's own."""
    e = strip(e)

    def told(e: Expr) -> Expr:
        args = tuple(map(told, e.args))
        if e.op == "neg" and args[0].op == "const":
            return lift(-args[0].data)
        if e.op == "div" and all(a.op == "const" for a in args) and args[1].data:
            return lift(args[0].data / args[1].data)
        return Expr(e.op, args, e.shape, e.data)

    return told(e)


def misread(claim: Claim, others: tuple = ()) -> list:
    """What is wrong with how the claim is printed: a script that reads otherwise, or two things that look alike."""
    names = {s.data[0]: s for s in named(*claim.trees)} | {"I": I}
    found = []
    for e in claim.trees:
        text = script_text.script(e)
        try:
            back = read_back(text, names)
        except Unreadable as error:
            found.append(f"{text} cannot be read back: {error}")
            continue
        if alike(back) != alike(e):
            found.append(f"{plain_text.plain(e)} is written as {text}, which reads as {plain_text.plain(back)}")
    return found + clashes((*claim.trees, *others))


def clashes(trees: tuple) -> list:
    """Trees that differ, and are printed alike on a page."""
    seen: dict = {}
    found = []
    for e in dict.fromkeys(map(alike, trees)):
        other = seen.setdefault(latex.latex(e), e)
        if sizes_unsaid(other) != sizes_unsaid(e):
            found.append(f"two things are both printed {latex.latex(e)}: {script_text.script(e)} and {script_text.script(other)}")
    return found


def sizes_unsaid(e: Expr) -> Expr:
    """What is told apart by where it stands: an identity matrix and a tensor of ones or zeros are printed without their sizes."""
    if e.op in ("eye", "fill"):
        return Expr(e.op, (), (), e.data)
    return Expr(e.op, tuple(map(sizes_unsaid, e.args)), (), e.data)
