"""What a page shows of its code's files beyond the regions that it includes: imports at the head of a region, the whole file, folded, at
the end of the page, a link to it below the file's first block, and what the copy buttons give."""

import ast
import posixpath
import re
from html import escape, unescape
from itertools import count
from pathlib import Path

from ..snippet_source import Snippet, doctest_examples
from . import page_dependencies
from .code_imports import Block, blocks
from .code_regions import RECIPES, home, snippet_of
from .page_source import Source

_CODE = re.compile(
    r'<details class="whole-file".*?</details>|'  # to be kept in a file, as it is
    r'<div class="language-(?P<kind>python|pycon) highlight">(?=<pre>.*?<code>(?P<code>.*?)</code></pre></div>)',
    re.DOTALL,
)
_MODULE = re.compile(r'<span class="nn">(snippets\.[\w.]+)</span>')
_TAG = re.compile(r"<[^>]*>")


def completed(source: Source, root: Path) -> list[str]:
    """The page's lines with all that. Raises PageError where a block cannot stand on its own."""
    found = blocks(source, root)
    lines = [[line] for line in source.lines]
    linked: set[str] = set()
    for block in found:
        place = block.place
        include = next(at for at in range(place.first, place.last) if "--8<--" in source.lines[at])
        lines[include][:0] = [(place.indent + line).rstrip() for line in block.head]
        if place.topic not in linked | {RECIPES}:
            lines[place.last - 1] += ["", f"{place.indent}{link(source, place.topic)}", ""]
        linked.add(place.topic)
    ends = [line for topic in files(source, root, found) for line in folded(root, topic)]
    return [line for several in lines for line in several] + ends


def files(source: Source, root: Path, found: list[Block]) -> list[str]:
    """The topics whose files a page shows whole: its own, and those included that have no page."""
    own = address(source).removesuffix(".md")
    named = dict.fromkeys([own, *(block.place.topic for block in found)])
    return [topic for topic in named if topic != RECIPES and page_of(source, topic) in ("", f"{own}.md") and (root / home(topic)).is_file()]


def address(source: Source) -> str:
    """The page's path below that of all pages; "" where no file holds it."""
    path, _ = source.file()
    return path.relative_to(source.docs).as_posix() if path else ""


def page_of(source: Source, topic: str) -> str:
    """The page that shows a topic's file whole, if the topic has a page of its own."""
    return f"{topic}.md" if (source.docs / f"{topic}.md").is_file() else ""


def anchor(topic: str) -> str:
    return f"file-{topic.replace('/', '-')}"


def link(source: Source, topic: str) -> str:
    page, here = page_of(source, topic), address(source)
    way = posixpath.relpath(page, posixpath.dirname(here) or ".") if page and page != here else ""
    return f"[The whole file: `{home(topic)}`]({way}#{anchor(topic)}){{ .whole-file data-search-exclude='' }}"


def folded(root: Path, topic: str) -> list[str]:
    """Markdown of a whole file that opens on a click, without the marks of its regions. Search finds its regions where they stand."""
    page_dependencies.note_files([root / home(topic)])
    text = snippet_of(root, topic).without_marks.rstrip("\n")
    attributes = f'attrs: {{id: {anchor(topic)}, class: whole-file, data-search-exclude: ""}}'
    return [
        "",
        f"/// details | The whole file: `{home(topic)}`",
        f"    {attributes}",
        "",
        "``````python",
        *text.split("\n"),
        "``````",
        "///",
        "",
    ]


# In the page's HTML ---------------------------------------------------------------------------------------------------------------


def touched(html: str, source: Source) -> str:
    """Code is copied so that it can be typed at a prompt; the page's own module, imported, is a link to its file."""
    numbers = count(1)
    html = _CODE.sub(lambda match: with_copy(match, next(numbers)) if match["kind"] else match[0], html)
    return _MODULE.sub(lambda match: linked(match, source), html)


def with_copy(match: re.Match, number: int) -> str:
    """The opening tag of code, with what its button copies as the value of an attribute. By its id the theme's button finds it: two
    pieces in one exercise would go by the exercise's."""
    kind, shown = match["kind"], unescape(_TAG.sub("", match["code"]))
    copied = escape(copied_of(shown)).replace("\n", "&#10;")
    return f'<div class="language-{kind} highlight" id="block-{number}" data-copy="{copied}">'


def copied_of(shown: str) -> str:
    """What the button of a block copies: of an example what is typed, and always so that a prompt takes it."""
    return unbroken(statements(shown) if ">>>" in shown else shown)


def unbroken(code: str) -> str:
    """The code with its empty lines inside of a function or a class filled with spaces: at a plain prompt an empty line would end it."""
    snippet = Snippet("", code)
    try:
        tree, nodes = snippet.tree, snippet.nodes
    except SyntaxError:  # an example of that
        return code
    lines = code.split("\n")
    texts = {line for node in nodes if is_text(node) for line in range(node.lineno, node.end_lineno)}
    for node in tree.body:
        for line in range(node.lineno, node.end_lineno):
            if not lines[line] and line not in texts:
                lines[line] = "    "
    return "\n".join(lines)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def statements(example: str) -> str:
    """The code of an example, without prompts and output. After a loop or a function comes an empty line, as at a prompt."""
    sources = (one.source for one in doctest_examples(example))
    return "".join(source + "\n" * is_compound(source) for source in sources)


def is_compound(source: str) -> bool:
    try:
        return any(hasattr(node, "body") for node in Snippet("", source).tree.body[-1:])
    except SyntaxError:  # an example of that
        return False


def linked(match: re.Match, source: Source) -> str:
    """A link within the page alone: of what is finished HTML, one generator rewrites addresses and the other does not."""
    topic = match[1].removeprefix("snippets.").replace(".", "/")
    return f'<span class="nn"><a href="#{anchor(topic)}">{match[1]}</a></span>' if address(source) == f"{topic}.md" else match[0]
