"""Render the API reference of a chapter's snippets: signatures and docstrings, read from the files without importing them."""

import posixpath
import re
from html import escape
from inspect import cleandoc
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import griffe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import PythonConsoleLexer, PythonLexer

from ..printing.handwritten_relations import find_text_fault
from ..snippet_source import parse
from ..store.project_files import ROOT

FOLDER = "snippets"
PAGES = "contributing/snippets"  # the folder with a page for each chapter
NAME = re.compile(r"[a-z0-9_-]+")


class ApiError(ValueError):
    """An error in the block or in a docstring. The message says what to do; the caller adds the place."""


def find_modules(chapter: str, root: Path = ROOT) -> list[Path]:
    """Return the files of a chapter's snippets. Raise ApiError if there are none."""
    paths = sorted(p for p in (root / FOLDER / chapter).glob("*.py") if p.name != "__init__.py") if NAME.fullmatch(chapter) else []
    if not paths:
        raise ApiError(f"expected '/// api | CHAPTER' with a chapter of {', '.join(find_chapters(root))}, found {chapter!r}")
    return paths


def find_chapters(root: Path = ROOT) -> list[str]:
    """Return the names of the folders of snippets."""
    return sorted({p.parent.name for p in (root / FOLDER).glob("*/*.py")})


def module_name(path: Path) -> str:
    """Return the name under which a file of snippets is imported."""
    return f"{FOLDER}.{path.parent.name}.{path.stem}"


def add_index(parent: Element, folder: str, root: Path = ROOT) -> Element:
    """Append a list of all chapters and their modules, with links to their pages from a page in `folder`, and return it."""
    index = SubElement(parent, "dl", {"class": "api-index"})
    for chapter in find_chapters(root):
        page = posixpath.relpath(f"{PAGES}/{chapter}.md", folder)
        _add_link(SubElement(index, "dt"), page, f"{FOLDER}.{chapter}")
        modules = SubElement(index, "dd")
        for path in find_modules(chapter, root):
            _add_link(modules, f"{page}#{module_name(path)}", path.stem).tail = " "
    return index


def add_heading(parent: Element, path: Path, docs: Path, folder: str) -> None:
    """Append a heading with the name of a module, which links to the page of its topic if there is one."""
    heading = SubElement(parent, "h2", {"id": module_name(path)})
    topic = f"{path.parent.name}/{path.stem}.md"
    if (docs / topic).is_file():
        _add_link(heading, posixpath.relpath(topic, folder), module_name(path))
    else:
        SubElement(heading, "code").text = module_name(path)


def _add_link(parent: Element, address: str, name: str) -> Element:
    link = SubElement(parent, "a", {"href": address})
    SubElement(link, "code").text = name
    return link


def render_module(path: Path) -> str:
    """Return the HTML for a file: the first paragraph of its docstring, and its public definitions."""
    source, name = path.read_text(encoding="utf-8"), module_name(path)
    about = render_text(cleandoc(parse(f"{name.replace('.', '/')}.py", source).docstring).partition("\n\n")[0], name)
    entries = "".join(render_entry(definition, name) for definition in find_public_definitions(griffe.visit(name, path, source)))
    return f'<section class="api">{about}<dl>{entries}</dl></section>'


def find_public_definitions(parent: griffe.Module | griffe.Class) -> list[griffe.Function | griffe.Class]:
    """Return the functions, classes and methods with a docstring and a public name, in the order of the file."""
    found: list[griffe.Function | griffe.Class] = []
    for member in parent.members.values():
        if member.name.startswith("_") or not isinstance(member, (griffe.Function, griffe.Class)) or not member.docstring:
            continue
        found += [member, *(find_public_definitions(member) if isinstance(member, griffe.Class) else [])]
    return found


def render_entry(definition: griffe.Function | griffe.Class, module: str) -> str:
    """Return the HTML for a definition: its signature, and below it its docstring."""
    name, address = definition.path.removeprefix(f"{module}."), escape(definition.path)
    words, examples = split_docstring(cleandoc(definition.docstring.value if definition.docstring else ""))
    shown = highlight_block(examples, PythonConsoleLexer()) if examples else ""
    description = render_text(words, definition.path)
    return f'<dt class="highlight" id="{address}"><code>{render_signature(definition, name)}</code></dt><dd>{description}{shown}</dd>'


def split_docstring(docstring: str) -> tuple[str, str]:
    """Return the text of a docstring, and the examples after it."""
    words, prompt, examples = docstring.partition(">>>")
    return words.strip(), (prompt + examples).strip()


def render_signature(definition: griffe.Function | griffe.Class, name: str) -> str:
    """Return the highlighted signature on one line. For a class, this is the signature of its own `__init__`, if it has one."""
    is_class = isinstance(definition, griffe.Class)
    function = definition.members.get("__init__") if is_class else definition
    assert function is None or isinstance(function, griffe.Function)
    written = " ".join(function.signature(name=name, return_type=not is_class).split()) if function else f"class {name}"
    return highlight(written, PythonLexer(), HtmlFormatter(nowrap=True)).strip()


def highlight_block(code: str, lexer: Lexer) -> str:
    """Return a highlighted block of code."""
    return f'<div class="highlight"><pre><code>{highlight(code, lexer, HtmlFormatter(nowrap=True)).strip()}</code></pre></div>'


def render_text(words: str, where: str) -> str:
    """Return paragraphs as HTML, with code spans. Raise ApiError if a relation is stated outside code, as on any page."""
    return "".join(f"<p>{render_spans(' '.join(part.split()), where)}</p>" for part in re.split(r"\n\s*\n", words) if part.strip())


def render_spans(words: str, where: str) -> str:
    """Return a paragraph as HTML; `where` names the definition in an error."""
    parts = words.split("`")
    if fault := find_text_fault("code".join(parts[::2])):  # a code span counts as a word
        raise ApiError(f"the docstring of {where} {fault} outside of `backticks`; put code in backticks")
    return "".join(f"<code>{escape(part)}</code>" if k % 2 else escape(part) for k, part in enumerate(parts))
