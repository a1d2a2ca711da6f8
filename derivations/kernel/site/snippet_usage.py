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
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..run.as_shown import KEPT, is_command
from . import example_rules
from .code_regions import home, included, sections, text_of
from .python_scopes import DEFINES, Imported, bound, statement

LINK = re.compile(r"\]\(([^)#\s]+\.md)[^)]*\)")


@dataclass(frozen=True)
class Used:
    """A statement at the top level of a module of snippets: where it is, and what it reads of the snippets, now or later."""

    topic: str
    line: int
    last: int
    wants: dict[str, Imported]
    gives: frozenset[str]
    defines: bool  # a function or a class
    calls: str  # something that it calls while the module is loaded; "" where it calls nothing

    def __hash__(self):
        return hash((self.topic, self.line))


def statements(root: Path, topic: str) -> tuple[Used, ...]:
    """Those of a topic's file. Raises SyntaxError."""
    return _statements(topic, text_of(root / home(topic)))


@lru_cache(maxsize=128)
def _statements(topic: str, text: str) -> tuple[Used, ...]:
    module, tree = module_of(topic), ast.parse(text)
    meanings = {name: meaning for node in tree.body for name, meaning in bound(node, module).items()}
    found = []
    for node in tree.body:
        gives = bound(node, module)
        wants = {name: one for name, one in statement(node, node.lineno, meanings, gives).wants.items() if one}
        for inner in ast.walk(node):
            if inner is not node and isinstance(inner, (ast.Import, ast.ImportFrom)):
                wants |= bound(inner, module)
        ours = {name: one for name, one in wants.items() if one.module.partition(".")[0] == "snippets"}
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        given = frozenset(name for name, one in gives.items() if one == Imported(module, name))
        called = "" if is_command(node) else next(calls(node, meanings), "")
        found.append(Used(topic, first, node.end_lineno, ours, given, isinstance(node, DEFINES), called))
    return tuple(found)


def module_of(topic: str) -> str:
    return home(topic).removesuffix(".py").replace("/", ".")


def calls(node: ast.AST, meanings: dict) -> Iterator[str]:
    """What a statement calls while the module is loaded, but what only says where its file is."""
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


def unusual(node: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    return [one for one in node.decorator_list if ast.unparse(one) not in KEPT]


def is_place(node: ast.Call, meanings: dict) -> bool:
    """`Path(__file__)`, by the class that everybody has."""
    return ast.unparse(node) == "Path(__file__)" and meanings.get("Path") == Imported("pathlib", "Path")


# Where they are shown -----------------------------------------------------------------------------------------------------------


def shown(root: Path, pages: dict[Path, str]) -> dict[Used, list[str]]:
    """The statements that sections show whole, and the pages, by their paths below docs/."""
    found: dict[Used, list[str]] = {}
    for path, text in pages.items():
        page = path.relative_to(root / "docs").as_posix()
        for place in included(text):
            for one in of_section(root, place.topic, place.section):
                found.setdefault(one, []).append(page)
    return found


def of_section(root: Path, topic: str, name: str) -> list[Used]:
    """The statements of a file that one of its sections shows, if that is code."""
    section = sections(text_of(root / home(topic))).get(name)
    if section is None or section.example:
        return []
    try:
        return [one for one in statements(root, topic) if one.line in section.lines and one.last in section.lines]
    except SyntaxError:
        return []  # that is said of its own


def defined(root: Path, module: str, name: str) -> Used | None:
    """The statement that gives a module its name."""
    topic = module.removeprefix("snippets.").replace(".", "/")
    try:
        return next((one for one in statements(root, topic) if name in one.gives), None)
    except SyntaxError:
        return None


# What is refused ----------------------------------------------------------------------------------------------------------------


def unshown(root: Path, start: Used | None, where: dict[Used, list[str]], constants: bool = True) -> list[str]:
    """What a statement uses, itself and through others, that no page shows: each with what to do."""
    wrong, seen, left = [], {start}, [start] if start else []
    while left:
        one = left.pop()
        for used, meaning in one.wants.items():
            place, other = f"{home(one.topic)}:{one.line} uses {used!r}", defined(root, meaning.module, meaning.name)
            if other is None:
                wrong.append(f"{place}, which no module of snippets defines by that name; import functions, each from where it is defined")
            elif other not in seen:
                seen.add(other)
                left.append(other)
                if other not in where and (constants or other.defines):
                    wrong.append(
                        f"{place}, and no page shows {home(other.topic)}:{other.line}, which defines it; show these lines in a fence"
                    )
    return wrong


def taken(root: Path, page: str, text: str, where: dict[Used, list[str]]) -> Iterator[tuple[int, str]]:
    """Uses on a page of names that a reader takes for another's, where nothing on it or on a page that it links says what they are."""
    from ..pytorch.familiar_names import known  # as in example_rules.py

    near = {page, *(posixpath.normpath(posixpath.join(posixpath.dirname(page), link)) for link in LINK.findall(text))}
    for place in included(text):
        wants = [(one.line, *want) for one in of_section(root, place.topic, place.section) for want in one.wants.items()]
        for line, used, meaning in [*wants, *of_examples(root, place.topic, place.section)]:
            other = defined(root, meaning.module, meaning.name)
            if {used, meaning.name} & known() and not (other and near & set(where.get(other, ()))):
                yield (
                    place.first,
                    f"{home(place.topic)}:{line} uses the name {used!r} for something of the snippets, and PyTorch or mathematics has it; "
                    "show its lines on this page, link the page that shows them, or give it another name",
                )


def unshown_in_examples(root: Path, topic: str, where: dict[Used, list[str]]) -> Iterator[tuple[int, str]]:
    """What the examples of a topic have from the snippets, and no page shows; a constant is what it is."""
    for line, used, meaning in of_examples(root, topic):
        other = defined(root, meaning.module, meaning.name)
        if other is None:
            yield line, f"{used!r} is defined by no module of snippets under that name; import functions, each from where it is defined"
        elif other.defines and other not in where:
            yield line, f"an example uses {used!r}, and no page shows {home(other.topic)}:{other.line}, which defines it; show these lines"


def of_examples(root: Path, topic: str, name: str | None = None) -> list[tuple[int, str, Imported]]:
    """(line, name, what it is) of what the examples of a file, or of one section of it, import from the snippets; what they have from a
    module that they import whole is named as there."""
    text = text_of(root / home(topic))
    section = sections(text).get(name) if name else None
    found, modules = [], {}
    try:
        trees = example_rules.trees(text)
    except (SyntaxError, ValueError):
        return []  # that is said of its own
    for before, tree in trees:
        for node in ast.walk(tree):
            meant = bound(node, None) if isinstance(node, (ast.Import, ast.ImportFrom)) else {}
            for used, one in meant.items():
                if one.module.partition(".")[0] == "snippets":
                    inner = f"{one.module}.{one.name}".rstrip(".")
                    if one.name and not (root / f"{inner.replace('.', '/')}.py").is_file():
                        found.append((before + node.lineno, used, one))
                    else:
                        modules[used] = inner
        for node in ast.walk(tree):
            by_name = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id != "snippets"
            if by_name and node.value.id in modules:
                found.append((before + node.lineno, node.attr, Imported(modules[node.value.id], node.attr)))
            elif isinstance(node, ast.Attribute) and (whole := ast.unparse(node)).startswith("snippets.") and "snippets" in modules:
                module, _, last = whole.rpartition(".")
                if (root / f"{module.replace('.', '/')}.py").is_file():
                    found.append((before + node.lineno, last, Imported(module, last)))
    return [one for one in found if name is None or section and one[0] in section.lines]


def loaded(root: Path, topic: str, where: dict[Used, list[str]]) -> Iterator[tuple[int, str]]:
    """Lines that call something while a module is loaded, and that no page shows."""
    for one in statements(root, topic):
        if one.calls and one not in where:
            yield (
                one.line,
                f"{one.calls!r} is called while the module is loaded, and no page shows these lines; show them, or call it in a function",
            )
