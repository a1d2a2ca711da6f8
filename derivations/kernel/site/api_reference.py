"""What the snippets of a chapter offer: each function with its signature and its docstring, read from the files and never imported."""

import posixpath
import re
from html import escape
from inspect import cleandoc
from pathlib import Path

import griffe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonConsoleLexer, PythonLexer

from ..printing.relation_signs import fault_of_text
from ..snippet_source import parse

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "snippets"
NAME = re.compile(r"[a-z0-9_-]+")


class ApiError(ValueError):
    """Snippets that cannot be shown: what was found and what to do, without a place."""


def api(docs: Path, chapter: str, folder: str, root: Path = ROOT) -> str:
    """HTML for a chapter of snippets; links lead from pages in `folder` to the pages that show them. Raises ApiError."""
    paths = sorted(p for p in (root / FOLDER / chapter).glob("*.py") if p.name != "__init__.py") if NAME.fullmatch(chapter) else []
    if not paths:
        chapters = sorted({p.parent.name for p in (root / FOLDER).glob("*/*.py")})
        raise ApiError(f"expected '/// api | CHAPTER' with a chapter of {', '.join(chapters)}, found {chapter!r}")
    return "".join(module(path, root, docs, folder) for path in paths)


def module(path: Path, root: Path, docs: Path, folder: str) -> str:
    """One file: what it is about, the page that shows it, and all that it offers."""
    source = path.read_text(encoding="utf-8")
    topic = path.relative_to(root / FOLDER).with_suffix("").as_posix()
    name = f"{FOLDER}.{topic.replace('/', '.')}"
    about = text(cleandoc(parse(path.relative_to(root).as_posix(), source).docstring).partition("\n\n")[0], name)
    title = f"<code>{escape(name)}</code>"
    if (docs / f"{topic}.md").is_file():
        title = f'<a href="{escape(posixpath.relpath(topic, folder))}/">{title}</a>'
    entries = "".join(entry(one, name) for one in offered(griffe.visit(name, path, source)))
    return f'<section class="api" id="{escape(name)}"><p class="api__module">{title}</p>{about}<dl>{entries}</dl></section>'


def offered(parent: griffe.Module | griffe.Class) -> list[griffe.Object]:
    """Functions, classes and their methods, in the order in which they stand, but for those of no concern to others."""
    found = []
    for one in parent.members.values():
        if one.is_alias or one.name.startswith("_") or not (one.is_function or one.is_class) or not one.docstring:
            continue
        found += [one, *(offered(one) if one.is_class else [])]
    return found


def entry(one: griffe.Object, module: str) -> str:
    """A signature, and below it what the docstring says."""
    name = one.path.removeprefix(f"{module}.")
    words, examples = divided(cleandoc(one.docstring.value))
    shown = coloured(examples, PythonConsoleLexer()) if examples else ""
    return f'<dt class="highlight" id="{escape(one.path)}"><code>{signature(one, name)}</code></dt><dd>{text(words, one.path)}{shown}</dd>'


def divided(docstring: str) -> tuple[str, str]:
    """Words, and the examples after them."""
    words, prompt, examples = docstring.partition(">>>")
    return words.strip(), (prompt + examples).strip()


def signature(one: griffe.Object, name: str) -> str:
    """As it would be written, in colour, on one line; of a class what makes one, where the class says so itself."""
    maker = one.members.get("__init__") if one.is_class else one
    written = " ".join(maker.signature(name=name, return_type=not one.is_class).split()) if maker else f"class {name}"
    return highlight(written, PythonLexer(), HtmlFormatter(nowrap=True)).strip()


def coloured(code: str, lexer) -> str:
    return f'<div class="highlight"><pre><code>{highlight(code, lexer, HtmlFormatter(nowrap=True)).strip()}</code></pre></div>'


def text(words: str, where: str) -> str:
    """Paragraphs, with code where backticks are. A relation outside of code is refused, as it is on any page."""
    return "".join(f"<p>{spans(' '.join(part.split()), where)}</p>" for part in re.split(r"\n\s*\n", words) if part.strip())


def spans(words: str, where: str) -> str:
    parts = words.split("`")
    if fault := fault_of_text("code".join(parts[::2])):  # what stands beside code is read as beside a word
        raise ApiError(f"the docstring of {where} {fault} outside of `backticks`; put code in backticks")
    return "".join(f"<code>{escape(part)}</code>" if k % 2 else escape(part) for k, part in enumerate(parts))
