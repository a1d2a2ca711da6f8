"""The text of a module of snippets: what it defines, and that it does nothing else where it is imported.

A name of a module is what its text says only where it is brought once, and where nothing that runs at once puts something else in its place,
or in the place of what Python or PyTorch has.
"""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator
from functools import cache
from types import FunctionType, ModuleType

IN_CLASS = (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Pass)
DECORATORS = frozenset(["torch.no_grad()", "dataclass(frozen=True)", "dataclass", "staticmethod", "classmethod", "property"])
MAKES = frozenset(f"torch.{name}" for name in ("tensor", "arange", "eye", "zeros", "ones", "full"))  # numbers of a module
VALUES = "Name Attribute Subscript Constant Tuple List Dict BinOp UnaryOp Starred Call keyword operator unaryop expr_context"
COMPUTED = tuple(getattr(ast, name) for name in VALUES.split())  # what a value is made of
RUN = "__name__ == '__main__'"


class Text:
    """A module's text, what its top level defines, and what its names come from."""

    def __init__(self, module: ModuleType) -> None:
        self.name = module.__name__
        own = (x.__code__.co_filename for x in vars(module).values() if isinstance(x, FunctionType) and x.__module__ == module.__name__)
        file = getattr(module, "__file__", None) or next(own, "")
        linecache.checkcache(file)
        self.tree = ast.parse("".join(linecache.getlines(file)))
        self.defined = {node.name: node for node in self.tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.written = {
            target.id: node.value
            for node in self.tree.body
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None
            for target in ast.walk(node)
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)
        }
        self.imported = dict(origins(self.tree))
        self.fault = next(faults_of_module(self), None)


@cache
def text_of(module: ModuleType) -> Text:
    return Text(module)


def origins(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    """(name, (module, what is taken of it, or nothing)) of all that a text imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (alias.asname or alias.name.partition(".")[0], (alias.name if alias.asname else alias.name.partition(".")[0], ""))
                for alias in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, (node.module or "", alias.name)) for alias in node.names)


def faults_of_module(text: Text) -> Iterator[tuple[int, str]]:
    """(line, what) of all that a module does where it is imported, beside bringing names, each of which is to be one thing."""
    brought: set[tuple[str, object]] = set(origins(text.tree))
    for node in text.tree.body:
        brought |= {(name, node) for name in names_of(node)}
        if any(times > 1 for times in Counter(name for name, _ in brought).values()):
            yield node.lineno, "a name that is two things in its module"
        elif said := done_by(node):
            yield node.lineno, said


def done_by(node: ast.stmt) -> str:
    """What a statement of a module does that it may not; '' where that is nothing."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == RUN or is_text(node):
        return ""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return next(done_at_once(node), "")
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return "" if is_plainly_assigned(node) else "a value of a module in which more is done than to compute"
    return "" if isinstance(node, (ast.Import, ast.ImportFrom)) else "what a module does where it is imported"


def is_text(node: ast.stmt) -> bool:
    """Whether it says something, and does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def stored(node: ast.AST) -> Iterator[ast.Name]:
    yield from (one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))


def targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def is_plainly_assigned(node: ast.Assign | ast.AnnAssign) -> bool:
    """Whether it gives names a value, and does nothing else."""
    said = isinstance(node, ast.Assign) or is_annotation(node.annotation)
    return said and all(map(is_named, targets(node))) and is_value(node.value)


def is_named(e: ast.expr) -> bool:
    """Whether what is written to is names alone."""
    return isinstance(e, ast.Name) or isinstance(e, ast.Tuple) and all(isinstance(one, ast.Name) for one in e.elts)


def names_of(node: ast.stmt) -> set[str]:
    """The names that a statement of a module brings, but for imports."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    return {one.id for one in stored(node)} if isinstance(node, (ast.Assign, ast.AnnAssign)) else set()


def is_value(e: ast.expr | None) -> bool:
    """Whether it is made of names, numbers and texts, and of calls by a name, or of what makes tensors."""
    parts = list(ast.walk(e)) if e else []
    called = [one.func for one in parts if isinstance(one, ast.Call)]
    by_name = all(isinstance(one, ast.Name) or ast.unparse(one) in MAKES for one in called)
    return by_name and all(isinstance(one, COMPUTED) for one in parts)


def run_at_once(text: Text) -> Iterator[str]:
    """The functions of a module that run where it is imported."""
    for node in text.tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            called = (one.func.id for one in ast.walk(node.value) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name))
            yield from (name for name in called if name != "Path")


def done_at_once(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """What is done where a function or a class is defined."""
    if not all(ast.unparse(one) in DECORATORS for one in node.decorator_list):
        yield f"what stands before {node.name}"
    if isinstance(node, ast.FunctionDef):
        given = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        if not all(is_annotation(one) or is_value(one) and not any(isinstance(x, ast.Call) for x in ast.walk(one)) for one in given):
            yield f"what {node.name} takes where nothing is given"
        if not all(map(is_annotation, annotations(node))):
            yield "an annotation in which something is done"
        return
    if not all(map(is_annotation, node.bases)) or node.keywords:
        yield f"what {node.name} is made from"
    for one in node.body:
        if not (is_text(one) or isinstance(one, IN_CLASS)):
            yield f"what the class {node.name} does"
        elif isinstance(one, (ast.Assign, ast.AnnAssign)) and not is_plainly_assigned(one):
            yield f"what the class {node.name} holds"
        elif isinstance(one, ast.FunctionDef):
            yield from done_at_once(one)


def annotations(node: ast.FunctionDef | ast.AnnAssign) -> Iterator[ast.expr]:
    """What is said of the kinds of things; of a function within another that is evaluated where the other runs."""
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    else:
        every = (one.annotation for one in ast.walk(node.args) if isinstance(one, ast.arg))
        yield from filter(None, (*every, node.returns))


def is_annotation(e: ast.expr) -> bool:
    """Whether it is names, and what stands in brackets behind them."""
    of = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.BinOp, ast.BitOr, ast.expr_context)
    return all(isinstance(one, of) for one in ast.walk(e))
