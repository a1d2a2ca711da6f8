"""The examples in a file of code: what they may not do, so that what they show is what a reader takes it for.

Doctest runs them in one process with all tests, and asserts what they give. An example that changes PyTorch changes what every line
after it means, a test's as well; one that calls another function `softmax` shows what softmax does not give. So an example writes to no
attribute and to no entry, but to numbers and weights of a tensor or a layer that it made, reaches into nothing by which it could, and
imports as a snippet does.

A name that PyTorch, mathematics or Python has for a function may name a value in it, as in `mean, variance = moments(x)`, but no other
function: it is not bound to one, and once it is a value's it is not called. Of a snippet's function with such a name, `used.taken` asks
that it be shown.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from doctest import DocTestParser
from functools import cache, lru_cache

from ..printing.name_latex import FUNCTIONS
from ..run import as_shown

# Beside what no snippet does either: ways to write to what an example did not make.
MAKERS = ("namedtuple", "make_dataclass", "ModuleDict", "add_module")  # of what has a part by a name that is given as a text
WRITES = ("__setitem__", "__delitem__", "__delattr__", "setitem", "delitem", "wraps", "update_wrapper")
WRITES += ("__torch_function__", "__torch_dispatch__", "library", "swap_tensors")
BEGINS = ("set_", "register_", "_")  # of a name that is imported or an attribute, and a setting of the whole process, or an inside
# A setting of no number, and names of no inside.
KEEPS = ("set_printoptions", "set_num_threads", "__name__", "_asdict", "_replace", "_fields")
TEXTS = ("__doc__", "__test__")  # by which doctest would find examples that the text does not show
NOT_CALLED = ("dtype", "device", "layout")  # classes that PyTorch has, and that make nothing
STATE = ("grad", "requires_grad", "data")  # what a tensor has to be written to; reading one, nobody takes it for a function
METHODS = ("forward", "T", "mT", "H", "mH", "shape", "dtype", "device")  # beside what is reserved: how a layer or a tensor is read
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Said = tuple[int, str]  # a line of the file, and what is wrong there


@cache
def reserved() -> frozenset[str]:
    """Names that a reader takes for a function of PyTorch, of mathematics, of the claim language or of Python."""
    from ..pytorch.familiar_names import known  # PyTorch: a second, which most builds need not wait

    return frozenset([*known(), *as_shown.KNOWN, *FUNCTIONS.split()]) - {*NOT_CALLED, "__doc__"}


@lru_cache(maxsize=256)
def trees(text: str) -> tuple[tuple[int, ast.Module], ...]:
    """All examples of a file, wherever in it they stand, each with the line before its own. Raises SyntaxError, or ValueError."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and ">>>" in node.value:
            for one in DocTestParser().get_examples(node.value):
                found.append((node.lineno + one.lineno - 1, ast.parse(one.source)))
    return tuple(sorted(found, key=lambda one: one[0]))


def faults(text: str) -> Iterator[Said]:
    """What is wrong with the examples of a file, each on its line."""
    examples = trees(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and node.id in TEXTS and not isinstance(node.ctx, ast.Load):
            yield node.lineno, f"'{node.id}' is made while the module is loaded, and examples may stand in it; write them into a docstring"
    functions: set[str] = set()
    called = {node.func.id for _, tree in examples for node in ast.walk(tree) if isinstance(node, ast.Call) and is_name(node.func)}
    own = made([tree for _, tree in examples])
    for before, tree in examples:
        for line, said in [*written(tree, own), *reaching(tree), *misnamed(tree, functions, called)]:
            yield before + line, said


def is_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name)


# What is written ----------------------------------------------------------------------------------------------------------------


def written(tree: ast.Module, own: set[str]) -> Iterator[Said]:
    """Attributes and entries, but of what an example made itself by a call of PyTorch's."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
            continue
        if not (isinstance(node.value, ast.Name) and node.value.id in own):
            yield (
                node.lineno,
                f"'{ast.unparse(node)}' is written in an example, and what is changed may be PyTorch's, for every test after it; write to "
                "nothing but what a call of torch made in these examples, or do it in a function of the snippet",
            )
        elif isinstance(node, ast.Attribute) and not is_state(node, assigned(tree).get(node)):
            yield (
                node.lineno,
                f"'{ast.unparse(node)}' is written in an example, after which it is not what a reader takes it for; of what a call made, "
                f"write {', '.join(STATE)}, entries, or a weight that a call of torch makes, as in layer.weight = torch.nn.Parameter(...)",
            )


def assigned(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """What is written, by itself, with its value."""
    return {node.targets[0]: node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and len(node.targets) == 1}


def is_state(written: ast.Attribute, value: ast.AST | None) -> bool:
    """Is what is written a number's or a weight's, so that no name of a function means something else after it?"""
    if value is None or is_function(value, set()):
        return False
    nothing = isinstance(value, ast.Constant) and value.value is None
    return written.attr in STATE or written.attr not in {*reserved(), *METHODS} and (nothing or is_made(value))


def made(trees: list[ast.Module]) -> set[str]:
    """The names that examples give to nothing but what a call of torch or of nn makes: tensors and layers of their own."""
    found: dict[str, bool] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {name: False for name, _ in as_shown.bound([node])}
            for name, _, value in bindings(node):
                found[name] = found.get(name, True) and is_made(value)
    return {name for name, whole in found.items() if whole}


def is_made(value: ast.AST | None) -> bool:
    """`torch.ones(3)`, `nn.Linear(2, 2).double()`: a call, and nothing that a function is given to."""
    if not isinstance(value, ast.Call) or is_function(value, set()):
        return False
    node: ast.AST = value
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "nn")


def reaching(tree: ast.Module) -> Iterator[Said]:
    """What no snippet does, and what changes the whole process."""
    for node in ast.walk(tree):
        yield from [*as_shown.hidden(node), *as_shown.renamed(node), *as_shown.deciding(node), *as_shown.decorated(node, set())]
        for name in names_of(node):
            if (name in WRITES or name.startswith(BEGINS)) and name not in KEEPS and name != "_":
                yield node.lineno, f"'{name}' can change what the lines after this example mean; write an example without it"  # type: ignore[attr-defined]


def names_of(node: ast.AST) -> list[str]:
    """The names that a node has from others, or gives to a method."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.ImportFrom):
        return [*(node.module or "").split("."), *(alias.name for alias in node.names)]
    if isinstance(node, ast.Import):
        return [part for alias in node.names for part in alias.name.split(".")]
    return [node.name] if isinstance(node, FUNCTION) else []


# What is named ------------------------------------------------------------------------------------------------------------------


def misnamed(tree: ast.Module, functions: set[str], called: set[str]) -> Iterator[Said]:
    """Names that a reader takes for a function's, given to another one. `functions` are names that examples have for functions by then."""
    for node in ast.walk(tree):
        for name, line in held(node):
            yield line, f"'{name}' is a function to every reader; give what is called so here a name of its own"
        for name, line, value in bindings(node):
            if is_function(value, functions):
                functions.add(name)
            if name not in reserved():
                continue
            if isinstance(value, FUNCTION) or is_function(value, functions - {name}):
                yield line, f"'{name}' is another function to every reader; give this one a name of its own"
            elif name in called:
                yield (
                    line,
                    f"'{name}' is a function to every reader, and called in these examples; give what is meant here a name of its own",
                )


def held(node: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of known functions' names that a class gives to its fields, or that are given as texts to what makes such a class."""
    if isinstance(node, ast.ClassDef):
        fields = [one.target for one in node.body if isinstance(one, ast.AnnAssign)]
        yield from ((one.id, one.lineno) for one in fields if isinstance(one, ast.Name) and one.id in reserved())
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in MAKERS:
        texts = [one for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        yield from ((name, one.lineno) for one in texts for name in re.findall(r"\w+", one.value) if name in reserved())


def bindings(node: ast.AST) -> Iterator[tuple[str, int, ast.AST | None]]:
    """(name, line, what it is bound to, as far as the text says) for what a node binds; an import says what it binds by itself."""
    if isinstance(node, FUNCTION):
        yield node.name, node.lineno, node
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno, None
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, node.lineno, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, node.lineno, None
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from paired(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        yield from paired(node.target, node.value)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from paired(node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from paired(node.optional_vars, node.context_expr)


def paired(target: ast.AST, value: ast.AST | None) -> Iterator[tuple[str, int, ast.AST | None]]:
    """Each name of a target with its own value where both are written out; with all of it where they are not."""
    both = isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List))
    if both and len(target.elts) == len(value.elts) and not any(isinstance(one, ast.Starred) for one in [*target.elts, *value.elts]):
        for one, given in zip(target.elts, value.elts):
            yield from paired(one, given)
        return
    for one in ast.walk(target):
        if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
            yield one.id, one.lineno, value


def is_function(value: ast.AST | None, functions: set[str]) -> bool:
    """Whether a value may be a function, or hold one: by its form, by names that are known for functions, or through a call with one."""
    if value is None:
        return False
    if isinstance(value, (*FUNCTION, ast.Lambda)):
        return True
    if isinstance(value, ast.Name):
        return value.id in functions or callable(getattr(builtins, value.id, None))
    if isinstance(value, ast.Attribute):
        return is_torchs(value) or is_function(value.value, functions)
    if isinstance(value, ast.Call):
        given = [*value.args, *(one.value for one in value.keywords)]
        return (
            is_function(value.func, functions) and isinstance(value.func, ast.Lambda) or any(is_function(one, functions) for one in given)
        )
    if isinstance(value, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
        return is_function(value.elt, functions)
    return any(is_function(one, functions) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))


def is_torchs(node: ast.Attribute) -> bool:
    """Whether it is a function by its name, `torch.relu` or `z.relu`; `torch.finfo(dtype).max` is a number."""
    return node.attr in reserved() and as_shown.root_of(node) is not None
