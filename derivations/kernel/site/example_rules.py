"""The examples in a file of code: what they may not do, so that what they show is what a reader takes it for.

Doctest runs them in one process with all tests, and asserts what they give. An example that sets something of PyTorch's changes what
every line after it means, a test's as well; one that calls another function `softmax` shows what softmax does not give. So an example
writes to nothing but what it made, and sets nothing for the whole process.

A name that PyTorch, mathematics or Python has for a function may name a value in it, as in `mean, variance = moments(x)`, but no other
function: it is not bound to one, and once it is a value's it is not called. `used.taken` asks that a snippet's function with such a name
be shown.
"""

import ast
import builtins
from collections.abc import Iterator
from functools import cache

from ..printing.name_latex import FUNCTIONS
from ..snippet_source import Snippet

SETTINGS = ("set_", "register_")  # how names of functions begin that change the whole process
HARMLESS = ("set_printoptions", "set_num_threads")  # which change no number
NOT_CALLED = ("dtype", "device", "layout")  # classes that PyTorch has, and that make nothing
KNOWN = (*dir(builtins), "torch", "nn", "F", "Tensor", "math", "np")  # names that every reader knows
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Said = tuple[int, str]  # a line of the file, and what is wrong there


@cache
def reserved() -> frozenset[str]:
    """Return the names that a reader takes for a function of PyTorch, of mathematics, of the claim language or of Python."""
    from ..pytorch.familiar_names import known  # PyTorch: a second, which most builds need not wait

    return frozenset([*known(), *KNOWN, *FUNCTIONS.split()]) - {*NOT_CALLED, "__doc__"}


def faults(snippet: Snippet) -> Iterator[Said]:
    """Yield what is wrong with the examples of a file, each on its line. Raises SyntaxError or ValueError where one cannot be read."""
    trees = [(one.line - 1, one.tree) for one in snippet.examples]
    functions: set[str] = set()
    called = {
        node.func.id for _, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    own = made([tree for _, tree in trees]) - {one.bound for example in snippet.examples for one in example.imports}
    for before, tree in trees:
        for line, said in [*written(tree, own), *setting(tree), *misnamed(tree, functions, called)]:
            yield before + line, said


# What is written ----------------------------------------------------------------------------------------------------------------


def written(tree: ast.Module, own: set[str]) -> Iterator[Said]:
    """Yield attributes and entries that an example writes, of what it did not make itself by a call of PyTorch's."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
            continue
        if root_of(node) not in own:
            yield (
                node.lineno,
                f"'{ast.unparse(node)}' is written in an example, and what is changed may be PyTorch's, for every test after it; write to "
                "nothing but what a call of torch made in these examples, or do it in a function of the snippet",
            )


def root_of(node: ast.expr) -> str | None:
    """Return the name that an attribute or an entry is reached from; None where that is something made on the spot."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def made(trees: list[ast.Module]) -> set[str]:
    """Return the names that examples give to nothing but what a call of torch or of nn makes: tensors and layers of their own."""
    found: dict[str, bool] = {}
    for tree in trees:
        for node in ast.walk(tree):
            for name, _, value in bindings(node):
                found[name] = found.get(name, True) and is_made(value)
    return {name for name, whole in found.items() if whole}


def is_made(value: ast.AST | None) -> bool:
    """Return whether a value is a call of torch or nn that is given no function: `torch.ones(3)`, `nn.Linear(2, 2).double()`."""
    if not isinstance(value, ast.Call) or is_function(value, set()):
        return False
    node: ast.AST = value
    while isinstance(node, (ast.Call, ast.Attribute)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in ("torch", "nn")


def setting(tree: ast.Module) -> Iterator[Said]:
    """Yield what changes the whole process."""
    for node in ast.walk(tree):
        names = [node.attr] if isinstance(node, ast.Attribute) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.startswith(SETTINGS) and name not in HARMLESS:
                yield node.lineno, f"'{name}' can change what the lines after this example mean; write an example without it"


# What is named ------------------------------------------------------------------------------------------------------------------


def misnamed(tree: ast.Module, functions: set[str], called: set[str]) -> Iterator[Said]:
    """Names that a reader takes for a function's, given to another one. `functions` are names that examples have for functions by then."""
    for node in ast.walk(tree):
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
    return node.attr in reserved() and root_of(node) is not None
