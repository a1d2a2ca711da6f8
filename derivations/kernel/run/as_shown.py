"""What `code=` names is what a reader sees: the very `def` of that name in its file, with nothing put in its place or around it.

A page shows lines of a file; a witness calls what a module holds under a name. The two are one if the module binds each name once,
by a `def` or a `class` at its top level, and holds what these lines compile to. So both are asked, of the module that is named and of
all modules of snippets that it imports, since what a function calls is shown under its name as well:

  the text      each name is bound once, in a class too; names are ASCII, and no character is there that is not seen; nothing is decorated
                but by `KEPT`, which run what they decorate as it stands; nothing is written to what lies outside of a function, and an
                attribute of nothing but `self`, whereby a name could come to mean something else, or a call leave something behind;
                no statement calls while the module is loaded; an import does not give a thing another thing's name, and is of a library,
                or of another snippet
  the module    what it holds under a name is compiled anew from the text, from the lines that define this name, and is the same code

That a page shows these lines is asked where pages are looked at, in `site/page_lint.py`. Not seen: what is changed in PyTorch or in Python
itself by somebody else than snippets.
"""

from __future__ import annotations

import ast
import builtins
import io
import sys
import tokenize
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from ..core.claims import Claim, Refused
from ..errors import KernelError

# Decorators that run what they decorate as it stands, or leave it as it is; annotations of shapes, as jaxtyping's, decorate nothing.
KEPT = ("torch.no_grad()", "dataclass", "dataclass(frozen=True)", "staticmethod", "classmethod", "property")
CONTEXT = "/torch/utils/_contextlib.py"  # where PyTorch makes the function that runs another one without gradients
USUAL = {"numpy": "np", "torch.nn.functional": "F"}  # what everybody calls them
# What could bind a name, or change what one means, in a way that the text does not show.
HIDDEN = ("exec", "eval", "compile", "setattr", "delattr", "globals", "locals", "vars", "__import__", "__builtins__")
# Methods by which a class decides what another one means, or what an entry of a class is.
HOOKS = ("__init_subclass__", "__set_name__", "__class_getitem__", "__mro_entries__", "__prepare__", "__getattribute__")
INSIDES = ("__dict__", "__code__", "__globals__", "__defaults__", "__kwdefaults__", "__class__", "__setattr__", "__wrapped__", "modules")
# What tells a snippet who calls it, and with what, beside the values of its arguments.
CALLERS = ("id", "__debug__", "_getframe", "_current_frames", "ps1", "exc_info", "getrecursionlimit", "data_ptr", "is_leaf")
# Names that every reader knows: they come from where everybody has them from.
KNOWN = (*dir(builtins), "torch", "nn", "F", "Tensor", "math", "np")
REACHING = ("builtins", "traceback", "importlib", "ctypes", "gc", "inspect", "posix", "marshal", "pickle", "runpy", "types", "unittest")
LIBRARIES = ("torch", "jaxtyping", "numpy", "snippets")  # and Python's own
Bound = tuple[str, int]  # a name, and the line that binds it


class NotAsShown(KernelError):
    """A reader would see something else than what is run; the message names file and line."""


def require_as_shown(claim: Claim) -> None:
    """Refused where what the claim's `code=` names is not what its lines say."""
    try:
        for name in named(claim):
            refuse_unlike(name)
    except NotAsShown as error:
        raise Refused(claim.file, claim.line, claim.id, str(error)) from None


def named(claim: Claim) -> list[str]:
    """The functions that a claim's `code=` names, those among the arguments of others too, each once."""
    from ..pytorch.snippet_arguments import names

    return list(dict.fromkeys(name.partition("[")[0] for name in names(claim.code))) if claim.code else []


def refuse_unlike(name: str) -> None:
    """NotAsShown unless `snippets.chapter.topic.function` is a function that its module defines, and all it may call is what it says."""
    from ..pytorch.errors import Disagrees
    from ..pytorch.snippet_arguments import home

    try:
        module, function, _ = home(name)
    except Disagrees as error:
        raise NotAsShown(f"{error}; name it as snippets.chapter.topic.function") from None
    if function not in definitions(tree_of(module)):
        found = "there is none" if not hasattr(module, function) else "its module has it from elsewhere"
        raise NotAsShown(
            f"there is no function {name}: {file_of(module)} is to define it at its top level, and {found}; name the module that does"
        )
    for one in reached(module):
        refuse_text(file_of(one), text_of(one))
        refuse_held(one)


# The modules ------------------------------------------------------------------------------------------------------------------


def file_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if not isinstance(file, str) or not file.endswith(".py"):
        raise NotAsShown(f"the module {module.__name__} has no text that a page could show; write it as a .py file")
    return file


def text_of(module: ModuleType) -> str:
    return Path(file_of(module)).read_text(encoding="utf-8")


def tree_of(module: ModuleType) -> ast.Module:
    return parsed(file_of(module), text_of(module))


@lru_cache(maxsize=256)
def parsed(file: str, text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise NotAsShown(f"{file}:{error.lineno}: this is not Python: {error.msg}") from None


def reached(module: ModuleType) -> list[ModuleType]:
    """The module, and all modules of snippets that it imports, or that these import, and the packages that they stand in."""
    found, left = {}, [module]
    while left:
        one = left.pop()
        if one.__name__ not in found:
            found[one.__name__] = one
            names = (name for name in imports(tree_of(one), one.__name__) if name.startswith("snippets."))
            left += [sys.modules[name] for name in names if has_a_text(sys.modules.get(name))]
    return list(found.values())


def has_a_text(module: ModuleType | None) -> bool:
    """Whether it is there, and is no package that is a folder alone."""
    return module is not None and isinstance(getattr(module, "__file__", None), str)


@lru_cache(maxsize=256)
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All that a text is made of. Each claim asks it anew of the same files."""
    return tuple(ast.walk(tree))


@lru_cache(maxsize=256)
def imports(tree: ast.Module, of: str = "") -> tuple[str, ...]:
    """What may be modules among what a module imports anywhere, by absolute names, and the packages that these and it stand in. What is
    imported from a place beside it is refused."""
    found = [of.rpartition(".")[0]]
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    parts = [name.split(".") for name in found]
    return tuple(dict.fromkeys(".".join(own[:k]) for own in parts for k in range(1, len(own) + 1)))


# The text ---------------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """What stands at the top level as a function or a class, by name."""
    return {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


@lru_cache(maxsize=256)
def refuse_text(file: str, text: str) -> None:
    """NotAsShown where a name could mean something else than its lines say."""
    tree = parsed(file, text)
    for line, said in [*unseen(text), *foreign(text)]:
        raise NotAsShown(f"{file}:{line}: {said}")
    refuse_twice(file, tree)
    refuse_known(file, tree)
    known = setters(tree)
    for node in nodes(tree):
        for line, said in [*hidden(node), *renamed(node), *decorated(node, known), *deciding(node)]:
            raise NotAsShown(f"{file}:{line}: {said}")
    for line, said in [*outward(tree), *called(tree)]:
        raise NotAsShown(f"{file}:{line}: {said}")


def unseen(text: str) -> Iterator[tuple[int, str]]:
    """Characters that a page does not show, or that change the order in which it shows others; an encoding that is not the page's."""
    for number, line in enumerate(text.split("\n"), start=1):
        for one in line:
            if not one.isprintable() and one != "\t":
                yield number, f"a character that is not seen, U+{ord(one):04X} ({unicodedata.name(one, 'a control')}); take it away"
    encoding = tokenize.detect_encoding(io.BytesIO(text.encode("utf-8")).readline)[0]
    if encoding != "utf-8":
        yield 1, f"this file is read as {encoding!r} where it is run, and a page reads it as UTF-8; take its line on the encoding away"


def foreign(text: str) -> Iterator[tuple[int, str]]:
    """Names that look like others."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and not token.string.isascii():
            yield token.start[0], f"'{token.string}' has letters that are not ASCII, and may look like another name; write it in ASCII"


def refuse_twice(file: str, tree: ast.Module) -> None:
    refuse_bound_twice(file, bound(tree.body), "a module")
    known = setters(tree)
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef):
            refuse_bound_twice(file, bound([one for one in node.body if one not in known]), "a class")


def refuse_bound_twice(file: str, names: Iterator[Bound], where: str) -> None:
    first: dict[str, int] = {}
    for name, line in sorted(names, key=lambda one: one[1]):
        if name in first:
            raise NotAsShown(
                f"{file}:{line}: '{name}' is bound here and on line {first[name]}, so a page would show one thing and another one be run; "
                f"bind each name of {where} once"
            )
        first[name] = line


def setters(tree: ast.Module) -> set[ast.stmt]:
    """The methods that say what writing to a property of their class does, by the property's own setter."""
    found: set[ast.stmt] = set()
    for node in nodes(tree):
        if isinstance(node, ast.ClassDef):
            properties: set[str] = set()
            for one in node.body:
                said = [ast.unparse(decorator) for decorator in getattr(one, "decorator_list", ())]
                if said == ["property"]:
                    properties.add(one.name)  # type: ignore[attr-defined]
                elif isinstance(one, ast.FunctionDef) and one.name in properties and said == [f"{one.name}.setter"]:
                    found.add(one)
    return found


def refuse_known(file: str, tree: ast.Module) -> None:
    """NotAsShown where a name that every reader knows is given to something of the module's own."""
    for node in tree.body:
        imported = (
            isinstance(node, ast.Import) or isinstance(node, ast.ImportFrom) and not (node.module or "snippets").startswith("snippets")
        )
        for name, line in () if imported else bound([node]):
            if name in KNOWN and name != "__doc__":
                raise NotAsShown(f"{file}:{line}: '{name}' is something else to every reader; give what is meant here a name of its own")


def bound(nodes: list) -> Iterator[Bound]:
    """The names that statements bind in their module, those included that a function declares to be global."""
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node.lineno
            yield from declared_global(node)
        elif isinstance(node, ast.Lambda):
            continue
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.comprehension):
            yield from bound([node.iter, *node.ifs])
        else:
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                yield node.id, node.lineno
            caught = getattr(node, "name", None) if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) else None
            if caught or isinstance(node, ast.MatchMapping) and node.rest:
                yield caught or node.rest, node.lineno
            yield from bound(list(ast.iter_child_nodes(node)))


def declared_global(node: ast.AST) -> Iterator[Bound]:
    return ((name, inner.lineno) for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names)


def hidden(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Ways to bind a name, or to change what one means, that the text does not show."""
    name = node.id if isinstance(node, ast.Name) and node.id in HIDDEN else ""
    name = node.attr if isinstance(node, ast.Attribute) and node.attr in (*INSIDES, *HIDDEN[:2]) and not is_evaluation(node) else name
    asked = getattr(node, {ast.Name: "id", ast.Attribute: "attr", ast.Constant: "value"}.get(type(node), ""), "")
    if asked in CALLERS and not (asked == "id" and isinstance(node, ast.Constant)):
        yield node.lineno, f"'{asked}' tells a snippet more than the values that it is given; write it without"
    if name:
        yield node.lineno, f"'{name}' can make a name mean something else than its lines say; write a snippet without it"
    roots = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    roots += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    for root in roots:
        if root.partition(".")[0] in REACHING:
            yield node.lineno, f"the module '{root}' can make a name mean something else than its lines say; write a snippet without it"


def is_evaluation(node: ast.Attribute) -> bool:
    """`layer.eval()` is PyTorch's own."""
    return node.attr == "eval"


def renamed(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Imports that give a thing a name that begins with another word."""
    if not isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    for alias in node.names:
        if alias.name == "*":
            yield node.lineno, "'*' binds names that the text does not show; import each by its name"
        root = node.module if isinstance(node, ast.ImportFrom) else alias.name
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "write where it is imported from in full, from 'snippets' on"
        elif root.partition(".")[0] not in (*LIBRARIES, *sys.stdlib_module_names):
            yield node.lineno, f"'{root}' is no module that a reader has with the snippets; import {', '.join(LIBRARIES)} or Python's own"
        whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        own = alias.name.rpartition(".")[2]
        if alias.asname and alias.asname != own and not alias.asname.startswith(f"{own}_") and USUAL.get(whole) != alias.asname:
            yield node.lineno, f"'{whole}' is called '{alias.asname}' here, which a page does not show; give it its own name"


def decorated(node: ast.AST, known: set[ast.stmt]) -> Iterator[tuple[int, str]]:
    for decorator in getattr(node, "decorator_list", ()):
        if (text := ast.unparse(decorator)) not in KEPT and node not in known:
            yield (
                decorator.lineno,
                f"'@{text}' may put another function in the place of '{node.name}', which a page shows; write what it does into it",  # type: ignore[attr-defined]
            )


def deciding(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Classes and methods that decide what other classes mean."""
    if isinstance(node, ast.ClassDef) and (node.keywords or any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases)):
        yield (
            node.lineno,
            f"'{node.name}' is a kind of classes, or asks for one, which can make a name mean something else; write a plain class",
        )
    names = [(node.name, node.lineno)] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    names += [(node.id, node.lineno)] if isinstance(node, ast.Name) else []
    names += [(node.attr, node.lineno)] if isinstance(node, ast.Attribute) else []
    yield from (
        (line, f"'{name}' can make a name mean something else than its lines say; write a snippet without it")
        for name, line in names
        if name in HOOKS
    )


def called(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Statements that do nothing but call, while the module is loaded: what they leave behind no name shows."""
    left = [node for node in tree.body if not is_command(node)]
    while left:
        node = left.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.Expr) and any(isinstance(one, (ast.Call, ast.Await)) for one in ast.walk(node)):
            yield (
                node.lineno,
                f"'{ast.unparse(node)}' is called while the module is loaded, and may change what a name means; call it in a function",
            )
        left += [one for one in ast.iter_child_nodes(node) if isinstance(one, (ast.stmt, ast.ExceptHandler, ast.match_case))]


def is_command(node: ast.stmt) -> bool:
    """What runs where the file is run, and not where it is imported."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse


def outward(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Where something is written to what lies outside of the function that writes, or by a module to anything but its own names."""
    yield from written(tree.body, set(), of_self(tree), at_top=True)


def written(nodes: list, own: set, selves: set, at_top: bool = False) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            inner = node.body if isinstance(node.body, list) else [node.body]
            yield from written(inner, own | locals_of(node), selves)
        elif isinstance(node, ast.ClassDef):
            yield from written(node.body, own, selves, at_top)
        else:
            if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
                root = root_of(node)
                if root is not None and root not in own:
                    where = "while the module is loaded" if at_top else "by a function that it outlives"
                    yield node.lineno, f"'{ast.unparse(node)}' is written {where}, so another call may find something else; keep it local"
                elif isinstance(node, ast.Attribute) and node not in selves:
                    yield (
                        node.lineno,
                        f"'{ast.unparse(node)}' is written, and what is meant may be a library's; an attribute is a method's to write, of its 'self'",
                    )
            yield from written(list(ast.iter_child_nodes(node)), own, selves, at_top)


def of_self(tree: ast.Module) -> set[ast.AST]:
    """`self.name`, in methods whose own `self` it is."""
    found: set[ast.AST] = set()
    known = setters(tree)
    for node in nodes(tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            plain = isinstance(method, ast.FunctionDef) and (not method.decorator_list or method in known)
            if plain and [one.arg for one in method.args.args][:1] == ["self"]:
                within = list(ast.walk(method))
                again = [one for one in within if isinstance(one, ast.Name) and one.id == "self" and not isinstance(one.ctx, ast.Load)]
                given = [one for one in within if isinstance(one, ast.arg) and one.arg == "self"]
                if not again and len(given) == 1:
                    reached = (one for one in within if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name))
                    found |= {one for one in reached if one.value.id == "self"}
    return found


def root_of(node: ast.expr) -> str | None:
    """The name that an attribute or an entry is reached from; None where that is something made on the spot."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def locals_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set:
    """The names that are a function's own: its parameters, and what it binds without calling it global."""
    own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return own - {name for name, _ in declared_global(node)}


# The module as it is ----------------------------------------------------------------------------------------------------------


def refuse_held(module: ModuleType) -> None:
    """NotAsShown where a module holds something else under a name than what its lines define."""
    file, tree = file_of(module), tree_of(module)
    codes = compiled(file, text_of(module))
    for name, node in definitions(tree).items():
        held = vars(module).get(name)
        if isinstance(node, ast.ClassDef):
            good = isinstance(held, type) and all(
                is_code(vars(held).get(one), lines, codes, module) for one, lines in methods(node).items()
            )
        else:
            good = is_code(held, {begins(node)}, codes, module)
        if not good:
            raise NotAsShown(
                f"{file}:{node.lineno}: what is run as '{name}' is not what these lines define; let nothing be put in its place or around it"
            )
    for name, line in used_by_value(tree):
        held = vars(module).get(name)
        if callable(held):
            raise NotAsShown(f"{file}:{line}: '{name}' is called like a function, and no 'def {name}' shows what it does; define it")


def methods(node: ast.ClassDef) -> dict[str, set[Bound]]:
    """A class's methods by name, and where each begins; a property has one for reading and one for writing."""
    found: dict[str, set[Bound]] = {}
    for one in node.body:
        if isinstance(one, ast.FunctionDef):
            found.setdefault(one.name, set()).add(begins(one))
    return found


def begins(node: ast.FunctionDef) -> Bound:
    """What a function's code says of where it is from: its name, and its first line, that of its first decorator."""
    return node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])


def is_code(held: object, lines: set[Bound], codes: dict, module: ModuleType) -> bool:
    """Whether a function is what these lines define, in its module, bare or within a decorator that is `KEPT`."""
    if isinstance(held, (staticmethod, classmethod)):
        held = held.__func__
    parts = [held.fget, held.fset, held.fdel] if isinstance(held, property) else [held]
    return all(is_function(part, lines, codes, module) for part in parts if part is not None) and held is not None


def is_function(held: object, lines: set[Bound], codes: dict, module: ModuleType) -> bool:
    if isinstance(held, FunctionType) and held.__code__.co_filename.endswith(CONTEXT):
        held = getattr(held, "__wrapped__", None)
    if not isinstance(held, FunctionType) or hasattr(held, "__wrapped__") or held.__globals__ is not vars(module):
        return False
    where = held.__code__.co_name, held.__code__.co_firstlineno
    wanted = codes.get(where)
    return where in lines and wanted is not None and alike(wanted, held.__code__) and held.__code__.co_filename == file_of(module)


@lru_cache(maxsize=256)
def compiled(file: str, text: str) -> dict[Bound, CodeType]:
    """Every function that a text defines, by its name and the line where it begins."""
    found, left = {}, [compile(text, file, "exec", dont_inherit=True)]
    while left:
        for one in left.pop().co_consts:
            if isinstance(one, CodeType):
                found[one.co_name, one.co_firstlineno] = one
                left.append(one)
    return found


def alike(a: CodeType, b: CodeType) -> bool:
    """Whether two functions do the same because they were made from the same text."""
    parts = ("co_name", "co_code", "co_names", "co_varnames", "co_cellvars", "co_freevars", "co_flags", "co_argcount", "co_kwonlyargcount")
    return all(getattr(a, part) == getattr(b, part) for part in parts) and constants(a.co_consts, b.co_consts)


def constants(a: tuple, b: tuple) -> bool:
    return len(a) == len(b) and all(
        alike(one, other) if isinstance(one, CodeType) and isinstance(other, CodeType) else type(one) is type(other) and one == other
        for one, other in zip(a, b)
    )


@lru_cache(maxsize=256)
def used_by_value(tree: ast.Module) -> tuple[Bound, ...]:
    """Names that a module binds by a value, and a function of it calls."""
    assigned = dict(bound([node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign))]))
    functions = (node for node in nodes(tree) if isinstance(node, ast.FunctionDef)) if assigned else ()
    calls = (node.func for function in functions for node in ast.walk(function) if isinstance(node, ast.Call))
    return tuple((name.id, assigned[name.id]) for name in calls if isinstance(name, ast.Name) and name.id in assigned)
