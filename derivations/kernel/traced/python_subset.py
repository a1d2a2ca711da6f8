"""What code may be written in, to be read: a list of what is allowed, since one of what is not would have no end.

What it asks beside the operations that are met would be answered otherwise while it is read than with numbers, or leave no trace: how a
tensor lies, of what kind it is, whether gradients are kept, who calls. So a function that may be run is made of these statements; it has
names of its own, of other snippets, of numbers that its module writes out, and of those of Python and PyTorch that are listed; and of what
it has names of it takes the operations of PyTorch's that give tensors, and the attributes that are listed, or that its classes define.
Of what kind a tensor is, and where it lies, it may only hand on.
"""

from __future__ import annotations

import ast
import builtins
import math
import sys
from collections.abc import Iterator
from functools import cache
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensor

from .module_text import Text, annotations, is_annotation, run_at_once, stored, text_of

STATEMENTS = """FunctionDef ClassDef Return Assign AugAssign AnnAssign For While If Break Continue Pass Expr Raise With withitem Assert
    Lambda arguments arg keyword comprehension GeneratorExp ListComp DictComp IfExp BoolOp BinOp UnaryOp Compare Call Starred Attribute
    Subscript Slice Name NamedExpr Constant Tuple List Dict Load Store Is IsNot In NotIn And Or Not Invert UAdd USub Add Sub Mult Div
    FloorDiv Mod Pow MatMult BitAnd BitOr BitXor Eq NotEq Lt LtE Gt GtE"""
PYTHONS = """int float bool tuple list dict len range zip enumerate reversed map sum min max abs any all sorted super staticmethod classmethod
    property ValueError TypeError NotImplementedError"""
WITHIN = frozenset(["torch.no_grad()", "torch.enable_grad()"])  # what may stand around statements
RAISED = frozenset(
    ["ValueError", "TypeError", "NotImplementedError"]
)  # errors that code may raise: nothing that it may be written in stops one of these
ITS_OWN = frozenset(["__init__", "__post_init__"])  # what a class may define of what Python calls by itself
# Of modules, by what follows their names; and the modules of which anything may be named, as it is for the reader alone, or computes numbers.
TORCHS = """Tensor Generator inf pi dtype device promote_types nn functional linalg special func autograd grad jacrev jacobian no_grad
    enable_grad arange eye full ones zeros empty tensor as_tensor broadcast_shapes normalize Module Parameter"""
FREE = {  # what may be named of each; of `math`, all functions of numbers
    "math": frozenset(name for name in dir(math) if not name.startswith("_")),
    "jaxtyping": frozenset(["Float", "Int", "Bool", "Real", "Complex", "Num", "Shaped", "Integer"]),
    "typing": frozenset(["NamedTuple", "Any", "Literal", "Self"]),
    "dataclasses": frozenset(["dataclass", "astuple"]),
    "collections.abc": frozenset(["Callable", "Iterable", "Iterator", "Mapping", "Sequence"]),
}
TORCHES = frozenset(["torch", "torch.nn", "torch.nn.functional", "torch.linalg", "torch.special", "torch.func", "torch.autograd"])
OF_THINGS = "shape ndim T dim size numel item float double half long to append items keys values get parameters is_floating_point"
KINDS = frozenset(["dtype", "device"])  # which may only be handed on
WIDER = "promote_types"
HANDED_TO = frozenset(["to", WIDER, "new_full", "tensor", "as_tensor"])
MOST_TO_GRAD = 5  # arguments by their places, before those that say whether one is made of another
SAID = frozenset(
    ["allow_unused", "materialize_grads", "out"]
)  # to operations, by a keyword: whether one is made of another, and where to write
COPIES = "contiguous reshape reshape_as flatten ravel to type type_as as_tensor asarray cpu cuda float double half bfloat16 long int bool"
MAY_COPY = frozenset(COPIES.split())  # or give what it was given: what is written to the one shows in the other, or not
TURNED = frozenset(["T", "mT", "H", "mH", "real", "imag"])  # attributes that compute

MADE_OF = tuple(getattr(ast, name) for name in STATEMENTS.split())
BUILTINS, NAMED, TAKEN = (frozenset(names.split()) for names in (PYTHONS, TORCHS, OF_THINGS))


# What Python makes on the way.
INNER = (
    FunctionType,
    MethodType,
    BuiltinFunctionType,
    ModuleType,
    GeneratorType,
    FrameType,
    CodeType,
    TracebackType,
    CellType,
    BaseException,
)


class Fault(NamedTuple):
    """What stands in code that is not allowed, and where."""

    said: str
    line: str


@cache
def first_fault(module: str, function: str, modules: tuple[ModuleType, ...]) -> Fault | None:
    """The first that is met in a function of a module of snippets, and in all of these that it may run; None where it is plain."""
    texts = {one.__name__: text_of(one) for one in modules}
    if found := next((text for text in texts.values() if text.fault), None):
        return Fault(found.fault[1], place(found.name, found.fault[0]))
    own = frozenset().union(*map(attributes_of, texts.values()))
    ahead, met = [(module, function), *((text.name, name) for text in texts.values() for name in run_at_once(text))], set()
    for here in ahead:  # which grows
        if here in met:
            continue
        met.add(here)
        text, name = texts.get(here[0]), here[1]
        if text and name in text.defined:
            for line, said in faults(text.defined[name], text, own):
                return Fault(said, place(text.name, line))
            ahead += used(text.defined[name], text)
        elif text and name in text.imported and text.imported[name][0].startswith("snippets"):
            ahead.append(text.imported[name])
        elif not (text and name in text.written and is_written_out(text.written[name])):
            return Fault(f"'{name}'", f"{here[0].removeprefix('snippets.').replace('.', '/')}.py")
    return None


def place(module: str, line: int) -> str:
    return f"{module.removeprefix('snippets.').replace('.', '/')}.py:{line}"


def used(node: ast.AST, text: Text) -> Iterator[tuple[str, str]]:
    """(module, name) of what a function has of its module and of other snippets."""
    for one, _ in pairs(node, None):
        if isinstance(one, ast.Name) and (one.id in text.defined or one.id in text.written):
            yield text.name, one.id
        elif isinstance(one, ast.Name) and text.imported.get(one.id, ("", ""))[0].startswith("snippets"):
            module, taken = text.imported[one.id]
            if f"{module}.{taken}" not in sys.modules:  # else its functions are named
                yield module, taken
        elif isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name):
            module = ".".join(filter(None, text.imported.get(one.value.id, ())))
            if module.startswith("snippets") and module in sys.modules:
                yield module, one.attr


def attributes_of(text: Text) -> frozenset[str]:
    """What the classes of a module define, and their methods write."""
    found: set[str] = set()
    for node in text.defined.values():
        if isinstance(node, ast.ClassDef):
            found |= {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
            found |= {one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}
            found |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)}
    return frozenset(found)


def faults(node: ast.AST, text: Text, own: frozenset[str]) -> Iterator[tuple[int, str]]:
    """(line, what) of all that is not allowed in a function or a class."""
    bound = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    bound |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    bound |= {one.name for one in ast.walk(node) if isinstance(one, (ast.FunctionDef, ast.ClassDef))}
    handed = {id(kind) for one in ast.walk(node) if isinstance(one, ast.Call) for kind in handed_on(one, text, bound)}
    widened = {id(one.test.left) for one in ast.walk(node) if isinstance(one, ast.IfExp) and is_widened(one)}
    writing = {id(one) for one in written_where_made(node)}
    named = {one.targets[0].id for one in ast.walk(node) if isinstance(one, ast.Assign) and names_a_kind(one)}
    if (copied := calls_that_may_copy(node)) and any(map(is_write, ast.walk(node))):
        yield copied[0].lineno, f"'{called_name(copied[0])}', which may copy, beside what is written to"
    for one, above in pairs(node, None):
        line = getattr(one, "lineno", getattr(above, "lineno", 0))
        if isinstance(one, ast.JoinedStr):
            yield line, "a text that is made up"
        elif not isinstance(one, MADE_OF):
            yield line, f"'{type(one).__name__.lower()}'"
        elif isinstance(one, ast.Constant) and is_made_up(one.value):
            yield line, f"the text {one.value!r}, which others are put into"
        elif isinstance(one, ast.Raise) and not is_plainly_raised(one, bound):
            yield line, "an error of another kind, or one raised from another"
        elif isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Load) and is_loose(one, above, text, bound):
            yield line, f"'{ast.unparse(one)}' where it is not called"
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load):
            elsewhere = (
                one.id in text.imported or one.id in text.written or hasattr(builtins, one.id)
            )  # wherever in the function it is its own
            if (one.id not in bound or elsewhere) and not is_known(one.id, text):
                yield line, f"'{one.id}'"
            if one.id in KINDS | named and one.id in bound and not is_handed_on(one, above, handed):
                yield line, f"'{one.id}' where it is not only handed on"
        elif isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load) and id(one) not in writing:
            yield line, f"'{ast.unparse(one)} =', but where an object is made"
        elif (
            isinstance(one, ast.Call)
            and called_name(one) == "grad"
            and (len(one.args) > MOST_TO_GRAD or any(map(is_several, ast.walk(one))))
        ):
            yield line, "'grad' of more than it is told by name"
        elif isinstance(one, ast.keyword) and one.arg in SAID:
            yield line, f"'{one.arg}='"
        elif isinstance(one, ast.Attribute):
            if not is_allowed(one, text, own, bound) and id(one) not in widened:
                yield line, f"'.{one.attr}'"
            elif is_kind(one, text) and not is_handed_on(one, above, handed):
                yield line, f"'{ast.unparse(one)}' where it is not only handed on"
        elif isinstance(one, ast.Call) and called_name(one) == WIDER and not (is_handed_on(one, above, handed) or names_a_kind(above)):
            yield line, "'promote_types' where what it gives is not only handed on"
        elif isinstance(one, ast.arguments) and one.kwarg:
            yield line, f"'**{one.kwarg.arg}'"
        elif isinstance(one, ast.arguments) and not all(
            is_fixed(given, text, bound) for given in (*one.defaults, *filter(None, one.kw_defaults))
        ):
            yield getattr(above, "lineno", line), "what is taken where nothing is given, and may change"
        elif isinstance(one, ast.Compare) and any(isinstance(how, (ast.In, ast.NotIn)) for how in one.ops) and not is_number(one.left):
            yield line, "'in', but of a number that is written out"
        elif isinstance(one, ast.Compare) and any(map(is_which, one.ops, one.comparators)):
            yield line, "'is', but with None"
        elif isinstance(one, ast.With) and not (all(is_within(item) for item in one.items) and text.imported.get("torch") == ("torch", "")):
            yield line, "'with'"
        elif isinstance(one, ast.ClassDef):
            yield from ((line, said) for said in faults_of_class(one, above))
        elif isinstance(one, (ast.FunctionDef, ast.AnnAssign)) and not all(map(is_annotation, annotations(one))):
            yield line, "an annotation in which something is done"


def written_where_made(node: ast.AST) -> Iterator[ast.Attribute]:
    """What a class writes to its own object where that is made."""
    for method in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(method, ast.FunctionDef) and method.name in ITS_OWN and method.args.args:
            own = method.args.args[0].arg
            for one in ast.walk(method):
                if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store) and ast.unparse(one.value) == own:
                    yield one


def calls_that_may_copy(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call) and called_name(one) in MAY_COPY]


def is_write(e: ast.AST) -> bool:
    """Whether a tensor is written to, or may be."""
    if isinstance(e, ast.Call):
        name = called_name(e)
        return name.endswith("_") and not name.startswith("_")
    return isinstance(e, ast.AugAssign) or isinstance(e, ast.Subscript) and isinstance(e.ctx, ast.Store)


def is_several(e: ast.AST) -> bool:
    """Whether it is arguments that are named elsewhere."""
    return isinstance(e, ast.Starred) or isinstance(e, ast.keyword) and e.arg is None


def faults_of_class(one: ast.ClassDef, above: ast.AST | None) -> Iterator[str]:
    """What is not allowed in the body of a class, beside what is in its methods."""
    if above is not None:
        yield f"the class {one.name} within a function"
    if any(isinstance(x, (ast.Assign, ast.AnnAssign)) and x.value is not None and not is_written_out(x.value) for x in one.body):
        yield f"what the class {one.name} holds"
    methods = {x.name for x in one.body if isinstance(x, ast.FunctionDef)}
    held = {x.id for x in stored(one)} | {x.attr for x in written_where_made(one)}
    for name in sorted(methods | held):
        by_python = name in methods and name.startswith("__") and name not in ITS_OWN
        if by_python or name in HANDED_TO | KINDS:
            yield f"'{one.name}.{name}'"


def pairs(node: ast.AST, above: ast.AST | None) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    """What a function is made of, each with what it stands in; but for annotations, and what is raised."""
    yield node, above
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment") or isinstance(node, ast.Raise):
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.AST):
                yield from pairs(one, node)


def is_known(name: str, text: Text) -> bool:
    """Whether a name that is not a function's own is a snippet, a number that the module writes out, or listed."""
    if name in text.defined:
        return True
    if name in text.written:
        return is_written_out(text.written[name])
    if name in text.imported:
        module, taken = text.imported[name]
        free = module in FREE and (not taken or is_offered(taken, module))
        return module.startswith("snippets") or free or module in TORCHES and (not taken or is_listed(taken, module))
    return name in BUILTINS


def is_written_out(value: ast.expr) -> bool:
    """Numbers and texts, alone or several, and what is computed of them."""
    return all(
        isinstance(one, (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator, ast.expr_context))
        and not (isinstance(one, ast.Constant) and is_made_up(one.value))
        for one in ast.walk(value)
    )


def is_allowed(e: ast.Attribute, text: Text, own: frozenset[str], bound: set[str]) -> bool:
    if e.attr.startswith("_"):
        return e.attr == "__init__" and isinstance(e.value, ast.Call) and ast.unparse(e.value) == "super()"
    root = e.value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id not in bound and root.id in text.imported:
        module, taken = text.imported[root.id]
        return (
            module.startswith("snippets")
            and root is e.value
            or module in FREE
            and not taken
            and root is e.value
            and is_offered(e.attr, module)
            or module in TORCHES
            and is_listed(e.attr, ".".join(ast.unparse(e).split(".")[:-1]))
        )
    if isinstance(root, ast.Name) and root.id not in bound and root.id in BUILTINS:
        return False
    return e.attr in TAKEN or e.attr in KINDS or gives_tensors(e.attr) or e.attr in own and e.attr not in of_tensors()


def is_offered(name: str, module: str) -> bool:
    """Whether code may name it of one of Python's modules."""
    return name in FREE[module]


def is_loose(e: ast.Name | ast.Attribute, above: ast.AST | None, text: Text, bound: set[str]) -> bool:
    """Whether a module is named without what follows, or a function of a module of Python's, which may be another while code is read, and is
    not called."""
    thing = of_a_module(e, text, bound)
    if isinstance(thing, ModuleType):
        return not isinstance(above, ast.Attribute)
    home = getattr(thing, "__module__", None)
    called = isinstance(above, ast.Call) and above.func is e or isinstance(above, ast.Attribute)
    decorates = isinstance(above, (ast.FunctionDef, ast.ClassDef))
    watched = home in FREE or home is None or thing is torch.autograd.grad
    return callable(thing) and watched and not (called or decorates)


def of_a_module(e: ast.expr, text: Text, bound: set[str]) -> object:
    """What an imported name is, or what follows it; None of any other."""
    if isinstance(e, ast.Attribute):
        return getattr(home, e.attr, None) if isinstance(home := of_a_module(e.value, text, bound), ModuleType) else None
    if not isinstance(e, ast.Name) or e.id in bound or e.id not in text.imported:
        return None
    module, taken = text.imported[e.id]
    if taken and f"{module}.{taken}" in sys.modules:
        return sys.modules[f"{module}.{taken}"]
    return getattr(sys.modules.get(module), taken, None) if taken else sys.modules.get(module)


def is_made_up(value: object) -> bool:
    """Whether others are put into a text, by `%`: so it would say what they look like."""
    return isinstance(value, str) and "%" in value or isinstance(value, bytes)


def is_plainly_raised(e: ast.Raise, bound: set[str]) -> bool:
    """A call of an error that is listed: what stands in it is told, and nothing runs afterwards."""
    named = e.exc.func if isinstance(e.exc, ast.Call) else None
    return e.cause is None and isinstance(named, ast.Name) and named.id in RAISED - bound


def is_fixed(e: ast.expr, text: Text, bound: set[str]) -> bool:
    """Whether what is taken where nothing is given is the same at each call: written out, or of a module."""
    if isinstance(e, ast.Name) and e.id not in bound and e.id in text.written:
        return is_written_out(text.written[e.id])
    return is_written_out(e) or of_a_module(e, text, bound) is not None


def is_number(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, (int, float))


def is_listed(name: str, module: str) -> bool:
    """Whether PyTorch's functions have one of that name that the reading meets, or it is listed."""
    if name in NAMED or isinstance(getattr(torch, name, None), torch.dtype):
        return True
    return any(gives_tensors(f"{first}{name}") for first in ("", *(f"{part}_" for part in ("linalg", "special") if part in module)))


@cache
def gives_tensors(name: str) -> bool:
    """Whether it is an operation of PyTorch's which gives tensors wherever it takes or gives anything of them."""
    kept = not callable(getattr(torch.Tensor, name, len)) and name not in TURNED  # `grad`, and what else a tensor has without a call
    packet = getattr(torch.ops.aten, name, None) if not name.startswith("_") and name != "from_file" and not kept else None
    if packet is None or not hasattr(packet, "overloads"):
        return False
    forms = [form for one in packet.overloads() for form in [getattr(packet, one)._schema] if form.returns and "Tensor" in str(form)]
    return bool(forms) and all(any("Tensor" in str(one.type) for one in form.returns) for form in forms)


@cache
def of_tensors() -> frozenset[str]:
    """What a tensor or a size has, while code is read, and what else has that code may have."""
    others = (torch.SymInt, int, float, str, tuple, list, dict, type, property, torch, torch.Generator, torch.dtype, torch.device, *INNER)
    return frozenset({*dir(FakeTensor), *FakeTensor.__annotations__, *(name for one in others for name in dir(one))})


def is_kind(e: ast.Attribute, text: Text) -> bool:
    """Of what kind a tensor is, or the name of a kind."""
    named = isinstance(e.value, ast.Name) and text.imported.get(e.value.id, ("", ""))[0] == "torch"
    return e.attr in KINDS if not named else isinstance(getattr(torch, e.attr, None), torch.dtype)


def handed_on(call: ast.Call, text: Text, bound: set[str]) -> Iterator[ast.expr]:
    """What a call is given as a kind: by the keyword that is named so, or by its place. A function of one's own hands it on in its turn; a
    class or a table would keep it."""
    func = call.func
    own = isinstance(func, ast.Name) and func.id not in BUILTINS and func.id not in bound
    if isinstance(func, ast.Attribute) or own and not isinstance(text.defined.get(func.id), ast.ClassDef):
        yield from (one.value for one in call.keywords if one.arg in KINDS)
    if called_name(call) in HANDED_TO and not is_of_snippets(func, text, bound):
        yield from call.args


def is_of_snippets(func: ast.expr, text: Text, bound: set[str]) -> bool:
    """Whether it is a function of a module of snippets."""
    return getattr(of_a_module(func, text, bound), "__module__", "").startswith("snippets")


def names_a_kind(node: ast.AST | None) -> bool:
    """`wide = torch.promote_types(...)`: the name may be handed on in its turn."""
    named = isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return named and isinstance(node.value, ast.Call) and called_name(node.value) == WIDER


def called_name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def is_handed_on(e: ast.AST, above: ast.AST | None, handed: set[int]) -> bool:
    """To a call, or as what is taken where none is given. Whether something is a truth value may be asked: that is the same in each format."""
    if isinstance(above, ast.Compare):
        asked = above.comparators[0]
        return len(above.comparators) == 1 and isinstance(above.ops[0], (ast.Eq, ast.NotEq)) and ast.unparse(asked) == "torch.bool"
    return id(e) in handed or isinstance(above, ast.arguments)


def is_which(how: ast.cmpop, other: ast.expr) -> bool:
    """Whether it is asked which thing something is."""
    return isinstance(how, (ast.Is, ast.IsNot)) and not (isinstance(other, ast.Constant) and other.value is None)


def is_widened(e: ast.IfExp) -> bool:
    """`x.float() if x.itemsize < 4 else x`: the same numbers, whichever it is."""
    asked = e.test.left if isinstance(e.test, ast.Compare) else None
    if not isinstance(asked, ast.Attribute) or asked.attr != "itemsize" or not isinstance(e.test.comparators[0], ast.Constant):
        return False
    x = ast.unparse(asked.value)
    return isinstance(asked.value, ast.Name) and (ast.unparse(e.body), ast.unparse(e.orelse)) == (f"{x}.float()", x)


def is_within(item: ast.withitem) -> bool:
    return ast.unparse(item) in WITHIN
