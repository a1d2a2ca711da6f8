"""What the code on the pages uses of the snippets, directly or through others: a page shows that as well.

A function may be shown to its last letter and still do anything, if what it calls is not. So from each function that a claim names, all
is followed that it reads: functions, classes, constants. Each is to be shown in a section on some page. Of code that no claim names, the
functions and classes are, and so are those that examples import. One that has a name of PyTorch's or of mathematics' would be taken for theirs: it is to be shown on every page
that shows its use, or on one that this page links.

What runs while a module is loaded could change what is shown. So a line that calls something then is to be shown, too.
"""

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from ..snippet_source import Meaning, Origin, Statement
from .code_regions import home, included, library, snippet_of

LINK = re.compile(r"\]\(([^)#\s]+\.md)[^)]*\)")
# Decorators that run what they decorate as it stands.
USUAL_DECORATORS = ("torch.no_grad()", "dataclass", "dataclass(frozen=True)", "staticmethod", "classmethod", "property")


def calls(node: ast.AST, meanings: dict[str, Meaning]) -> Iterator[str]:
    """Yield what a statement calls while the module is loaded, except for what only says where its file is."""
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        within = [*node.args.defaults, *(one for one in node.args.kw_defaults if one), *unusual(node)]
    elif isinstance(node, ast.ClassDef):
        within = [*node.bases, *node.keywords, *node.body, *unusual(node)]
    else:
        within = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and not is_place(node, meanings):
        yield ast.unparse(node)
    for one in within:
        yield from calls(one, meanings)


def unusual(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    return [one for one in node.decorator_list if ast.unparse(one) not in USUAL_DECORATORS]


def is_place(node: ast.Call, meanings: dict[str, Meaning]) -> bool:
    """Return whether a call is `Path(__file__)`, of the class in pathlib."""
    return ast.unparse(node) == "Path(__file__)" and meanings.get("Path") == Origin("pathlib", "Path")


def is_command(node: ast.stmt) -> bool:
    """Return whether a statement runs where the file is run, and not where it is imported."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse


# Where they are shown -----------------------------------------------------------------------------------------------------------


def shown(root: Path, pages: dict[Path, str]) -> dict[Statement, list[str]]:
    """Return the statements that pages show whole, each with the pages, by their paths below docs/."""
    found: dict[Statement, list[str]] = {}
    for path, text in pages.items():
        page = path.relative_to(root / "docs").as_posix()
        for place in included(text):
            for one in of_region(root, place.topic, place.section):
                found.setdefault(one, []).append(page)
    return found


def of_region(root: Path, topic: str, name: str) -> list[Statement]:
    """Return the statements of a file that one of its regions shows whole, if that is code."""
    snippet = snippet_of(root, topic)
    region = snippet.regions.get(name)
    if region is None or region.is_example:
        return []
    try:
        return [one for one in snippet.statements if one.first in region.lines and one.last in region.lines]
    except SyntaxError:
        return []  # reported where the tests import it


# What is refused ----------------------------------------------------------------------------------------------------------------


def unshown(root: Path, start: Statement | None, where: dict[Statement, list[str]], constants: bool = True) -> list[str]:
    """Return what a statement uses, itself and through others, that no page shows: each with what to do."""
    wrong = []
    for one, used, _, other in library(root).reachable(start) if start else ():
        place = f"{one.file}:{one.first} uses {used!r}"
        if other is None:
            wrong.append(f"{place}, which no module of snippets defines by that name; import functions, each from where it is defined")
        elif other not in where and (constants or other.is_definition):
            wrong.append(f"{place}, and no page shows {other.file}:{other.first}, which defines it; show these lines in a fence")
    return wrong


def taken(root: Path, page: str, text: str, where: dict[Statement, list[str]]) -> Iterator[tuple[int, str]]:
    """Uses on a page of names that a reader takes for another's, where nothing on it or on a page that it links says what they are."""
    from ..pytorch.familiar_names import known  # as in example_rules.py

    near = {page, *(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in LINK.findall(text))}
    for place in included(text):
        uses = [(one.first, *use) for one in of_region(root, place.topic, place.section) for use in one.uses.items()]
        for line, used, meaning in [*uses, *of_examples(root, place.topic, place.section)]:
            other = library(root).definition(meaning)
            if {used, meaning.name} & known() and not (other and near & set(where.get(other, ()))):
                yield (
                    place.first,
                    f"{home(place.topic)}:{line} uses the name {used!r} for something of the snippets, and PyTorch or mathematics has it; "
                    "show its lines on this page, link the page that shows them, or give it another name",
                )


def unshown_in_examples(root: Path, topic: str, where: dict[Statement, list[str]]) -> Iterator[tuple[int, str]]:
    """What the examples of a topic have from the snippets, and no page shows; a constant is what it is."""
    for line, used, meaning in of_examples(root, topic):
        other = library(root).definition(meaning)
        if other is None:
            yield line, f"{used!r} is defined by no module of snippets under that name; import functions, each from where it is defined"
        elif other.is_definition and other not in where:
            yield line, f"an example uses {used!r}, and no page shows {other.file}:{other.first}, which defines it; show these lines"


def of_examples(root: Path, topic: str, name: str | None = None) -> list[tuple[int, str, Origin]]:
    """Return (line, name, what it is) of what the examples of a file, or of one region of it, import from the snippets. What they have
    from a module that they import whole is named as there."""
    snippet = snippet_of(root, topic)
    region = snippet.regions.get(name) if name else None
    found: list[tuple[int, str, Origin]] = []
    modules: dict[str, str] = {}
    try:
        for example in snippet.examples:
            for one in example.imports:
                if one.origin.module.partition(".")[0] == "snippets":
                    inner = f"{one.origin.module}.{one.origin.name}".rstrip(".")
                    if one.origin.name and not is_module(root, inner):
                        found.append((example.line - 1 + one.line, one.bound, one.origin))
                    else:
                        modules[one.bound] = inner
            found += [(line, used, origin) for line, used, origin in of_modules(root, example.tree, example.line - 1, modules)]
    except (SyntaxError, ValueError):
        return []  # reported where doctest runs them
    return [one for one in found if name is None or region and one[0] in region.lines]


def of_modules(root: Path, tree: ast.Module, before: int, modules: dict[str, str]) -> Iterator[tuple[int, str, Origin]]:
    """Yield (line, name, what it is) of the attributes that an example reads of modules that it imported, `module.name`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        if isinstance(node.value, ast.Name) and node.value.id in modules and node.value.id != "snippets":
            yield before + node.lineno, node.attr, Origin(modules[node.value.id], node.attr)
        elif (whole := ast.unparse(node)).startswith("snippets.") and "snippets" in modules:
            module, _, last = whole.rpartition(".")
            if is_module(root, module):
                yield before + node.lineno, last, Origin(module, last)


def is_module(root: Path, name: str) -> bool:
    return (root / f"{name.replace('.', '/')}.py").is_file()


def loaded(root: Path, topic: str, where: dict[Statement, list[str]]) -> Iterator[tuple[int, str]]:
    """Lines that call something while a module is loaded, and that no page shows."""
    snippet = snippet_of(root, topic)
    for one in snippet.statements:
        called = "" if is_command(one.node) else next(calls(one.node, snippet.meanings), "")
        if called and one not in where:
            yield (
                one.first,
                f"{called!r} is called while the module is loaded, and no page shows these lines; show them, or call it in a function",
            )
