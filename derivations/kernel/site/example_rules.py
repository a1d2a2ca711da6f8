"""Check that docstring examples change nothing outside themselves and use well-known names in their usual meaning.

Doctest runs all examples in one process together with the tests. An example that changes a setting or an attribute of PyTorch would
change the meaning of everything that runs after it. So an example may write only to tensors and layers that the examples of its file
made, and may not change settings of the process.

A function that is called `softmax` but is not softmax would mislead readers. So an example may give the name of a function of PyTorch,
mathematics or Python to a value, as in `mean, variance = moments(x)`, but not to another function, and it may not call such a value. (`unshown_code_lint.find_misleading_names` checks that snippets' own functions with such names are shown.)
"""

import ast
import builtins
from collections.abc import Iterator
from functools import cache

from ..printing.name_latex import FUNCTIONS
from ..snippet_source import Snippet
from .findings import Fault

SETTERS = ("set_", "register_")  # prefixes of functions that change the whole process
HARMLESS_SETTERS = ("set_printoptions", "set_num_threads")  # these change no number
NOT_CALLED = ("dtype", "device", "layout")  # classes of PyTorch that are also usual names of values
KNOWN = (*dir(builtins), "torch", "nn", "F", "Tensor", "math", "np")  # names that every reader recognizes
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@cache
def find_reserved_names() -> frozenset[str]:
    """Return the names that readers know as functions of PyTorch, mathematics, the claim language or Python."""
    from ..pytorch.familiar_names import find_familiar_names  # importing PyTorch takes a second, and most builds do not need it

    return frozenset([*find_familiar_names(), *KNOWN, *FUNCTIONS.split()]) - {*NOT_CALLED, "__doc__"}


def find_example_faults(snippet: Snippet) -> Iterator[Fault]:
    """Yield (line of the file, message) for each fault of the examples. Raise SyntaxError or ValueError if one cannot be parsed."""
    trees = [(example.line - 1, example.tree) for example in snippet.examples]
    functions: set[str] = set()
    called = {
        node.func.id for _, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = find_created_names([tree for _, tree in trees]) - {one.bound for example in snippet.examples for one in example.imports}
    for before, tree in trees:
        for line, message in [*find_writes(tree, own), *find_setters(tree), *find_misused_names(tree, functions, called)]:
            yield before + line, message


# Side effects -------------------------------------------------------------------------------------------------------------------


def find_writes(tree: ast.Module, own: set[str]) -> Iterator[Fault]:
    """Yield faults for attributes and entries that an example assigns or deletes, unless they belong to a name in `own`."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
            continue
        if find_root_name(node) not in own:
            yield (
                node.lineno,
                f"an example assigns '{ast.unparse(node)}', which may change PyTorch for every later test; assign only to tensors and "
                "layers that these examples created with torch, or move this into a function of the snippet",
            )


def find_root_name(node: ast.expr) -> str | None:
    """Return the first name of `name.attribute[entry]`; None if the expression does not begin with a name."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def find_created_names(trees: list[ast.Module]) -> set[str]:
    """Return the names that examples bind only to results of calls of torch or nn: tensors and layers that the examples created."""
    found: dict[str, bool] = {}
    for tree in trees:
        for node in ast.walk(tree):
            for name, _, value in find_bindings(node):
                found[name] = found.get(name, True) and is_created(value)
    return {name for name, created in found.items() if created}


def is_created(value: ast.AST | None) -> bool:
    """Return whether a value is a call of torch or nn without functions as arguments: `torch.ones(3)`, `nn.Linear(2, 2).double()`."""
    if not isinstance(value, ast.Call) or is_function(value, set()):
        return False
    node: ast.AST = value
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "nn")


def find_setters(tree: ast.Module) -> Iterator[Fault]:
    """Yield faults for functions that change settings of the whole process."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Attribute, ast.ImportFrom)):
            continue
        for name in [node.attr] if isinstance(node, ast.Attribute) else [alias.name for alias in node.names]:
            if name.startswith(SETTERS) and name not in HARMLESS_SETTERS:
                yield node.lineno, f"'{name}' may change the results of every later test; write an example without it"


# Names --------------------------------------------------------------------------------------------------------------------------


def find_misused_names(tree: ast.Module, functions: set[str], called: set[str]) -> Iterator[Fault]:
    """Yield faults for names of well-known functions that an example binds to another function, or binds to a value and calls.

    `functions` are the names bound to functions so far, to which this call adds; `called` are all names that the examples call."""
    for node in ast.walk(tree):
        for name, line, value in find_bindings(node):
            if is_function(value, functions):
                functions.add(name)
            if name not in find_reserved_names():
                continue
            if isinstance(value, DEFINITIONS) or is_function(value, functions - {name}):
                yield line, f"readers know '{name}' as another function; give this one another name"
            elif name in called:
                yield line, f"readers know '{name}' as a function, and these examples call it; give this value another name"


def find_bindings(node: ast.AST) -> Iterator[tuple[str, int, ast.AST | None]]:
    """Yield (name, line, value) for the names that a node binds, other than by an import; the value is None if the text does not show it."""
    if isinstance(node, DEFINITIONS):
        yield node.name, node.lineno, node
    elif isinstance(node, ast.arg):
        yield node.arg, node.lineno, None
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, node.lineno, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, node.lineno, None
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from pair_names_with_values(target, node.value)
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        yield from pair_names_with_values(node.target, node.value)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from pair_names_with_values(node.target, node.iter)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from pair_names_with_values(node.optional_vars, node.context_expr)


def pair_names_with_values(target: ast.AST, value: ast.AST | None) -> Iterator[tuple[str, int, ast.AST | None]]:
    """Yield (name, line, value) for the names of a target.

    The names of a tuple are paired with the elements of a tuple of the same length; otherwise each name gets the whole value."""
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        starred = any(isinstance(element, ast.Starred) for element in [*target.elts, *value.elts])
        if len(target.elts) == len(value.elts) and not starred:
            for part, part_value in zip(target.elts, value.elts):
                yield from pair_names_with_values(part, part_value)
            return
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id, node.lineno, value


def is_function(value: ast.AST | None, functions: set[str]) -> bool:
    """Return whether a value may be a function or contain one.

    That is judged by its form, by names of functions (builtins, and those in `functions`), and by functions among the arguments of a call."""
    if value is None:
        return False
    if isinstance(value, (*DEFINITIONS, ast.Lambda)):
        return True
    if isinstance(value, ast.Name):
        return value.id in functions or callable(getattr(builtins, value.id, None))
    if isinstance(value, ast.Attribute):
        return is_reserved_attribute(value) or is_function(value.value, functions)
    if isinstance(value, ast.Call):
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        return isinstance(value.func, ast.Lambda) or any(is_function(argument, functions) for argument in arguments)
    if isinstance(value, (ast.GeneratorExp, ast.ListComp, ast.SetComp)):
        return is_function(value.elt, functions)
    return any(is_function(one, functions) for one in ast.iter_child_nodes(value) if isinstance(one, ast.expr))


def is_reserved_attribute(node: ast.Attribute) -> bool:
    """Return whether an attribute of a name is a well-known function, as in `torch.relu` or `z.relu`; `torch.finfo(dtype).max` is a number."""
    return node.attr in find_reserved_names() and find_root_name(node) is not None
