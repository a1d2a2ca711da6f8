"""The subset of Python that is read as mathematics, as a list of what is allowed.

A snippet is traced once, with symbols for sizes and tensors without numbers. The trace holds at every shape only if the code takes the same
path with real sizes and numbers. It may not where the code asks for something that a trace answers differently or does not record: the type
or the text of a size, a tensor's dtype, device or memory layout, whether gradients are recorded, whether an operation fails, or what an
earlier call left behind. So every function that a snippet can reach is made of the statements and names listed here. Other code is not
read; the claim is then compared with it in numbers alone.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import torch

from ..snippet_source import Library, Origin, Snippet, Statement

# fmt: off
SYNTAX = (
    ast.FunctionDef, ast.ClassDef, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.Break, ast.Continue,
    ast.Pass, ast.Expr, ast.With, ast.withitem, ast.Raise, ast.Assert, ast.Lambda, ast.arguments, ast.arg, ast.keyword, ast.comprehension,
    ast.GeneratorExp, ast.ListComp, ast.DictComp, ast.IfExp, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Starred,
    ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.NamedExpr, ast.Constant, ast.Tuple, ast.List, ast.Dict,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)
BUILTINS = {
    "int", "float", "bool", "tuple", "list", "dict", "len", "range", "zip", "enumerate", "reversed", "map", "sum", "min", "max", "abs", "any",
    "all", "sorted", "super", "staticmethod", "classmethod", "property",
}
TORCH = {
    "torch", "torch.nn", "torch.nn.functional", "torch.linalg", "torch.special", "torch.func", "torch.autograd", "torch.autograd.functional",
}
TORCH_NAMES = {  # and the operations that return tensors
    "Tensor", "Generator", "Parameter", "Module", "inf", "pi", "dtype", "device", "promote_types", "broadcast_shapes", "arange", "eye", "full",
    "ones", "zeros", "empty", "tensor", "as_tensor", "normalize", "grad", "jacrev", "jacobian", "no_grad", "enable_grad",
}
PYTHON_NAMES = {
    "math", "typing.NamedTuple", "dataclasses.dataclass", "dataclasses.astuple",
    *(f"builtins.{name}" for name in BUILTINS), *(f"math.{name}" for name in vars(math)),
}
ATTRIBUTES = {  # and the operations that return tensors, and what the classes of snippets define
    "shape", "ndim", "T", "dim", "size", "numel", "item", "float", "double", "long", "bool", "to", "is_floating_point",
    "append", "items", "keys", "values", "get", "parameters", "__init__",
}
MAY_COPY = {  # return a view or a copy, depending on the layout or the dtype: a write to the result may or may not reach the argument
    "contiguous", "reshape", "reshape_as", "flatten", "ravel", "to", "type_as", "as_tensor", "asarray", "cpu", "cuda", "float", "double",
    "half", "bfloat16", "long", "int", "bool",
}
# fmt: on
CONTEXTS = {"torch.no_grad()", "torch.enable_grad()"}
CONSTANT = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator, ast.expr_context)
MUTABLE = (ast.List, ast.Dict, ast.Call, ast.ListComp, ast.DictComp)
TAKE_DTYPES = {"to", "promote_types", "new_full", "tensor", "as_tensor"}  # by position
UPCAST = re.compile(r"(\w+)\.float\(\) if \1\.itemsize < 4 else \1")  # both branches give the same numbers
REJECTED_DTYPES = re.compile(r"if \w+\.dtype != \w+\.dtype:\s+raise [^\n]*")  # numbers are not affected
CONSTRUCTORS = ("__init__", "__post_init__")


Part = tuple[ast.AST, ast.AST | None]  # a node and its parent
Classes = dict[str, set[Origin]]  # the classes of snippets by the attributes that they define


class Violation(NamedTuple):
    """What is outside the subset, and where: the file and the line."""

    what: str
    line: str


@cache
def find_violation(module: ModuleType, function: str) -> Violation | None:
    """Return the first violation in a function of a module of snippets, or in the definitions that it can reach; None if there is none."""
    library = Library(Path(str(module.__file__)).parents[module.__name__.count(".")])
    classes = classes_by_attribute(library.closure([module.__name__]).values())
    origins = [Origin(module.__name__, function)]
    for origin in origins:  # the list grows
        statement = library.definition(origin)
        for line, what in violations(statement, classes) if statement else [(0, f"'{origin.name}'")]:
            file = f"{origin.module.removeprefix('snippets.').replace('.', '/')}.py"
            return Violation(what, f"{file}:{line}" if line else file)
        used = used_definitions(statement, classes) if statement else ()
        origins += [one for one in dict.fromkeys(used) if one not in origins]
    return None


def classes_by_attribute(snippets: Iterable[Snippet]) -> Classes:
    """Return the classes that define methods, fields and attributes, by their names. Attributes that tensors have are left out."""
    found: Classes = {}
    for snippet in snippets:
        for owner in snippet.definitions.values():
            for name in attributes_of(owner) if isinstance(owner, ast.ClassDef) else ():
                if not hasattr(torch.Tensor, name):
                    found.setdefault(name, set()).add(Origin(snippet.module, owner.name))
    return found


def attributes_of(owner: ast.ClassDef) -> Iterator[str]:
    """Yield the methods, fields and attributes of a class."""
    for node in ast.walk(owner):
        if isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def used_definitions(statement: Statement, classes: Classes) -> Iterator[Origin]:
    """Yield the definitions of snippets that a definition uses, and the classes whose attributes it may use."""
    for node, _ in nodes(statement.node):
        if isinstance(node, ast.Name) and node.id in statement.uses:
            yield statement.uses[node.id]
        elif isinstance(node, ast.Attribute):
            yield from sorted(classes.get(node.attr, ()), key=str)


def nodes(node: ast.AST, parent: ast.AST | None = None) -> Iterator[Part]:
    """Yield the nodes of a definition with their parents, without annotations, errors, upcasts, and checks that dtypes are the same."""
    yield node, parent
    if isinstance(node, ast.Raise) or isinstance(node, ast.IfExp) and UPCAST.fullmatch(ast.unparse(node)):
        return
    if isinstance(node, ast.If) and REJECTED_DTYPES.fullmatch(ast.unparse(node)):
        return
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "msg"):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST):
                    yield from nodes(one, node)


def violations(statement: Statement, classes: Classes) -> Iterator[tuple[int, str]]:
    """Yield the line and a description of all that is outside the subset in one definition or constant."""
    if not statement.is_definition:
        if not is_constant(statement.node):
            yield statement.line, f"the module variable '{', '.join(statement.binds)}'"
        return
    parts = list(nodes(statement.node))
    constructed = {id(node) for method, _ in parts if getattr(method, "name", "") in CONSTRUCTORS for node in ast.walk(method)}
    writes = any(is_write(node) for node, _ in parts)
    for node, parent in parts:
        what = ""
        if not isinstance(node, SYNTAX):
            what = "a formatted string" if isinstance(node, ast.JoinedStr) else f"'{type(node).__name__.lower()}'"
        elif isinstance(node, ast.Name) and not is_known_name(node.id, statement):
            what = f"'{node.id}'"
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            what = "" if id(node) in constructed else f"an assignment to '{ast.unparse(node)}'"
        elif isinstance(node, ast.Attribute) and is_dtype(node, statement):
            what = exact_range(node) or ("" if is_passed_on(node, parent) else f"'{ast.unparse(node)}' other than as an argument")
        elif isinstance(node, ast.Attribute) and not is_known_attribute(node, statement, classes):
            what = f"'.{node.attr}'"
        elif writes and called_name(node) in MAY_COPY:
            what = f"'{called_name(node)}', which may return a view, in a function that writes to tensors"
        if what := what or forbidden_form(node):
            yield getattr(node, "lineno", getattr(parent, "lineno", 0)), what


def forbidden_form(node: ast.AST) -> str:
    """Return a description of a node of an allowed kind that has a form outside the subset, else ""."""
    if isinstance(node, ast.Compare):
        operands = [ast.unparse(e) for op, e in zip(node.ops, node.comparators) if isinstance(op, (ast.Is, ast.IsNot))]
        return "'is' with an operand other than None" if set(operands) - {"None"} else ""
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return "a formatted string"
    if isinstance(node, ast.With) and not {ast.unparse(item) for item in node.items} <= CONTEXTS:
        return "'with'"
    if isinstance(node, ast.arguments):
        defaults = [part for e in (*node.defaults, *node.kw_defaults) if e for part in ast.walk(e)]
        return "a default value that a call can change" if any(isinstance(part, MUTABLE) for part in defaults) else ""
    if isinstance(node, ast.ClassDef):
        values = [one for one in node.body if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value]
        return "" if all(map(is_constant, values)) else "a class attribute that a call can change"
    return ""


def is_known_name(name: str, statement: Statement) -> bool:
    """Return whether a definition may use a name: a local one, one of the snippets, or a listed one."""
    return name not in statement.reads or name in statement.uses or is_in_library(full_name(ast.Name(name), statement))


def is_known_attribute(node: ast.Attribute, statement: Statement, classes: Classes) -> bool:
    """Return whether a definition may use an attribute: a listed one, an operation, or one that a class of snippets defines."""
    if origin := full_name(node, statement):
        return is_in_library(origin)
    return node.attr in ATTRIBUTES or node.attr in classes or returns_tensors(node.attr)


def full_name(e: ast.expr, statement: Statement) -> str:
    """Return the full name of an imported or built-in name, or of what is taken from an imported module; "" for all other nodes."""
    if isinstance(e, ast.Attribute):
        return f"{home}.{e.attr}" if (home := full_name(e.value, statement)) in sys.modules else ""
    origin = statement.reads.get(e.id) if isinstance(e, ast.Name) else None
    return f"{origin.module}.{origin.name}".strip(".") if isinstance(origin, Origin) else ""


def is_in_library(origin: str) -> bool:
    """Return whether code may use a name of PyTorch or Python."""
    home, _, name = origin.rpartition(".")
    if origin in TORCH or origin in PYTHON_NAMES or home not in TORCH:
        return origin in TORCH or origin in PYTHON_NAMES
    prefix = f"{home.removeprefix('torch.')}_"  # `linalg_` or `special_`, where it is one
    return name in TORCH_NAMES or returns_tensors(name) or returns_tensors(prefix + name)


@cache
def returns_tensors(name: str) -> bool:
    """Return whether PyTorch has an operation of this name that returns tensors whenever it takes any."""
    is_property = name not in ("T", "mT", "H", "mH", "real", "imag") and not callable(getattr(torch.Tensor, name, len))  # `grad`, `data`
    packet = None if name.startswith("_") or is_property else getattr(torch.ops.aten, name, None)
    schemas = [getattr(packet, one)._schema for one in packet.overloads()] if packet and hasattr(packet, "overloads") else []
    forms = [schema for schema in schemas if schema.returns and "Tensor" in str(schema)]
    return bool(forms) and all(any("Tensor" in str(one.type) for one in schema.returns) for schema in forms)


def is_dtype(node: ast.Attribute, statement: Statement) -> bool:
    """Return whether an attribute is a dtype or device: `x.dtype`, `x.device` or `torch.float32`."""
    if full_name(node, statement):
        return isinstance(getattr(torch, node.attr, None), torch.dtype)
    return node.attr in ("dtype", "device")


def exact_range(node: ast.Attribute) -> str:
    """Return a description of a dtype in which not all whole numbers up to millions are exact, such as torch.float16, "" for others."""
    dtype = getattr(torch, node.attr, None)
    if not isinstance(dtype, torch.dtype) or dtype == torch.bool or dtype.itemsize >= 4:
        return ""
    largest = round(2 / torch.finfo(dtype).eps) if dtype.is_floating_point else torch.iinfo(dtype).max
    return f"'{ast.unparse(node)}', in which whole numbers are exact only up to {largest}"


def is_passed_on(node: ast.Attribute, parent: ast.AST | None) -> bool:
    """Return whether a dtype or device is an argument or a default, or asks whether a tensor is of truth values."""
    if isinstance(parent, ast.Call):
        return called_name(parent) in TAKE_DTYPES and node is not parent.func
    is_boolean = isinstance(parent, ast.Compare) and re.search(r"\.dtype (==|!=) torch\.bool$", ast.unparse(parent))
    return bool(is_boolean) or isinstance(parent, ast.arguments) or isinstance(parent, ast.keyword) and parent.arg in ("dtype", "device")


def is_write(node: ast.AST) -> bool:
    """Return whether a node may write to a tensor: `x += y`, the target `x[i]` of `x[i] = y`, or `x.add_(y)`."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, ast.AugAssign) or called_name(node).endswith("_") and not called_name(node).startswith("_")


def called_name(node: ast.AST | None) -> str:
    """Return the name of the method or module's function that a node calls, or ""."""
    return node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""


def is_constant(node: ast.AST) -> bool:
    """Return whether a statement assigns numbers and texts that are written out, or computed from these."""
    value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
    return value is not None and all(isinstance(one, CONSTANT) for one in ast.walk(value))
