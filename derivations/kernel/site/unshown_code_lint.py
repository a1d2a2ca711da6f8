"""Check that pages show all snippet code that their code uses, directly or through other functions.

Readers can only judge a function if they can see what it calls. The rules:

- Everything that a function named by a claim uses (functions, classes, constants) must be shown in a region on some page.
- The functions and classes that other code on pages uses, or that examples import, must be shown; constants need not be.
- A definition with the name of something in PyTorch or mathematics must be shown on each page that uses it, or on a page
  that it links to, because readers would take it for the usual function.
- A call that runs while a module is imported must be shown, because it could change what the code on the page does.
"""

import ast
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from ..snippet_source import Meaning, Origin, Statement
from .findings import Fault
from .included_regions import code_path, find_includes, read_snippet, snippet_library

LINK = re.compile(r"\]\(([^)#\s]+\.md)[^)]*\)")
# Decorators that leave the behaviour of what they decorate as a reader expects it.
USUAL_DECORATORS = ("torch.no_grad()", "dataclass", "dataclass(frozen=True)", "staticmethod", "classmethod", "property")


def find_import_calls(node: ast.AST, meanings: dict[str, Meaning]) -> Iterator[str]:
    """Yield the calls, as text, that a statement makes while its module is imported, except `Path(__file__)`."""
    if isinstance(node, ast.Lambda):
        return
    evaluated: list[ast.AST]  # the parts that are evaluated on import
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        evaluated = [*node.args.defaults, *(default for default in node.args.kw_defaults if default), *find_unusual_decorators(node)]
    elif isinstance(node, ast.ClassDef):
        evaluated = [*node.bases, *node.keywords, *node.body, *find_unusual_decorators(node)]
    else:
        evaluated = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call) and not is_path_of_file(node, meanings):
        yield ast.unparse(node)
    for part in evaluated:
        yield from find_import_calls(part, meanings)


def find_unusual_decorators(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> list[ast.expr]:
    return [one for one in node.decorator_list if ast.unparse(one) not in USUAL_DECORATORS]


def is_path_of_file(node: ast.Call, meanings: dict[str, Meaning]) -> bool:
    """Return whether a call is `Path(__file__)` with pathlib's class."""
    return ast.unparse(node) == "Path(__file__)" and meanings.get("Path") == Origin("pathlib", "Path")


def is_main_block(node: ast.stmt) -> bool:
    """Return whether a statement is `if __name__ == '__main__'`, which does not run on import."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'" and not node.orelse


# What pages show ----------------------------------------------------------------------------------------------------------------


def find_shown_statements(root: Path, pages: dict[Path, str]) -> dict[Statement, list[str]]:
    """Return the statements that pages show completely, each with the paths of these pages below docs/.

    `pages` maps the files of the pages to their texts."""
    found: dict[Statement, list[str]] = {}
    for path, text in pages.items():
        page = path.relative_to(root / "docs").as_posix()
        for place in find_includes(text):
            for statement in find_region_statements(root, place.topic, place.section):
                found.setdefault(statement, []).append(page)
    return found


def find_region_statements(root: Path, topic: str, name: str) -> list[Statement]:
    """Return the statements that a region of code shows completely; none for a region of examples."""
    snippet = read_snippet(root, topic)
    region = snippet.regions.get(name)
    if region is None or region.is_example:
        return []
    try:
        return [one for one in snippet.statements if one.first in region.lines and one.last in region.lines]
    except SyntaxError:
        return []  # reported when the tests import the module


# What is rejected ---------------------------------------------------------------------------------------------------------------


def find_unshown_uses(root: Path, start: Statement | None, shown: dict[Statement, list[str]], constants: bool = True) -> list[str]:
    """Return a message for each definition that a statement uses, directly or through others, and that no page shows.

    `shown` is what `find_shown_statements` returns. Without `constants`, only functions and classes are considered."""
    messages = []
    for one, used, _, other in snippet_library(root).reachable(start) if start else ():
        place = f"{one.file}:{one.first} uses {used!r}"
        if other is None:
            messages.append(f"{place}, which no module of snippets defines; import each function from the module that defines it")
        elif other not in shown and (constants or other.is_definition):
            messages.append(f"{place}, and no page shows its definition at {other.file}:{other.first}; show it in a fence")
    return messages


def find_misleading_names(root: Path, page: str, text: str, shown: dict[Statement, list[str]]) -> Iterator[Fault]:
    """Yield (line, message) for each use on a page of a snippet definition that has the name of something in PyTorch or mathematics.

    A use is accepted if the page, or a page that it links to, shows the definition. `page` is its path below docs/, `text` its Markdown."""
    from ..pytorch.familiar_names import find_familiar_names  # as in example_rules.py

    page_and_links = {page, *(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in LINK.findall(text))}
    for place in find_includes(text):
        statements = find_region_statements(root, place.topic, place.section)
        uses = [(statement.first, *use) for statement in statements for use in statement.uses.items()]
        for line, used, meaning in [*uses, *find_uses_in_examples(root, place.topic, place.section)]:
            other = snippet_library(root).definition(meaning)
            if {used, meaning.name} & find_familiar_names() and not (other and page_and_links & set(shown.get(other, ()))):
                yield (
                    place.first,
                    f"{code_path(place.topic)}:{line} uses the snippets' own {used!r}, whose name readers know from PyTorch or mathematics; "
                    "show its definition on this page, link the page that shows it, or rename it",
                )


def find_unshown_in_examples(root: Path, topic: str, shown: dict[Statement, list[str]]) -> Iterator[Fault]:
    """Yield (line, message) for the functions and classes of snippets that a topic's examples use and no page shows."""
    for line, used, meaning in find_uses_in_examples(root, topic):
        other = snippet_library(root).definition(meaning)
        if other is None:
            yield line, f"no module of snippets defines {used!r}; import each function from the module that defines it"
        elif other.is_definition and other not in shown:
            yield line, f"an example uses {used!r}, and no page shows its definition at {other.file}:{other.first}; show it in a fence"


def find_uses_in_examples(root: Path, topic: str, name: str | None = None) -> list[tuple[int, str, Origin]]:
    """Return (line, name, origin) for the snippet definitions that the examples of a file use, or those of its region `name`.

    A definition that is read as an attribute of an imported module has its name in that module."""
    snippet = read_snippet(root, topic)
    region = snippet.regions.get(name) if name else None
    found: list[tuple[int, str, Origin]] = []
    modules: dict[str, str] = {}
    try:
        for example in snippet.examples:
            for one in example.imports:
                if one.origin.module.partition(".")[0] == "snippets":
                    full_name = f"{one.origin.module}.{one.origin.name}".rstrip(".")
                    if one.origin.name and not is_module(root, full_name):
                        found.append((example.line - 1 + one.line, one.bound, one.origin))
                    else:
                        modules[one.bound] = full_name
            found += find_module_attributes(root, example.tree, example.line - 1, modules)
    except (SyntaxError, ValueError):
        return []  # reported when doctest runs the examples
    return [one for one in found if name is None or region and one[0] in region.lines]


def find_module_attributes(root: Path, tree: ast.Module, before: int, modules: dict[str, str]) -> Iterator[tuple[int, str, Origin]]:
    """Yield (line, name, origin) for the attributes `module.name` that an example reads of imported snippet modules.

    `before` is the number of lines in the file before the example; `modules` maps bound names to full names of modules."""
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
    """Return whether a full name is that of a module below `root`."""
    return (root / f"{name.replace('.', '/')}.py").is_file()


def find_unshown_calls(root: Path, topic: str, shown: dict[Statement, list[str]]) -> Iterator[Fault]:
    """Yield (line, message) for the statements of a topic's module that call something on import and that no page shows."""
    snippet = read_snippet(root, topic)
    for statement in snippet.statements:
        called = "" if is_main_block(statement.node) else next(find_import_calls(statement.node, snippet.meanings), "")
        if called and statement not in shown:
            yield (
                statement.first,
                f"{called!r} is called when the module is imported, and no page shows these lines; show them, or call it in a function",
            )
