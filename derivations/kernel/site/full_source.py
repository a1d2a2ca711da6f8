"""Add to a page the parts of its snippets that it shows beyond the included regions.

Before Markdown is parsed: the imports of each code block (added_imports.py), the whole file in a folded block at the end of the page, and a
link to it below the first block of that file. In the finished HTML: the text that each block's copy button copies.
"""

import ast
import posixpath
import re
from html import escape, unescape
from itertools import count
from pathlib import Path
from typing import TypeGuard

from ..snippet_source import Snippet, doctest_examples
from . import page_dependencies
from .added_imports import CodeBlock, read_blocks
from .included_regions import RECIPES, code_path, read_snippet
from .page_source import Source

_CODE = re.compile(
    r'<details class="whole-file".*?</details>|'  # left as it is: readers copy it into a file
    r'<div class="language-(?P<kind>python|pycon) highlight">(?=<pre>.*?<code>(?P<code>.*?)</code></pre></div>)',
    re.DOTALL,
)
_MODULE = re.compile(r'<span class="nn">(snippets\.[\w.]+)</span>')
_TAG = re.compile(r"<[^>]*>")


def add_imports_and_sources(source: Source, root: Path) -> list[str]:
    """Return the page's lines with imports, links and whole files added. Raise PageError if a block lacks something it cannot import."""
    found = read_blocks(source, root)
    lines = [[line] for line in source.lines]
    linked: set[str] = set()  # topics whose file has a link already
    for block in found:
        place = block.place
        include = next(number for number in range(place.first, place.last) if "--8<--" in source.lines[number])
        lines[include][:0] = [(place.indent + line).rstrip() for line in block.head]
        if place.topic not in linked | {RECIPES}:
            lines[place.last - 1] += ["", f"{place.indent}{link_to_file(source, place.topic)}", ""]
        linked.add(place.topic)
    whole_files = [line for topic in find_topics_shown_whole(source, root, found) for line in fold_file(root, topic)]
    return [line for group in lines for line in group] + whole_files


def find_topics_shown_whole(source: Source, root: Path, found: list[CodeBlock]) -> list[str]:
    """Return the topics whose whole file the page shows: its own topic, and topics without a page whose regions it includes."""
    own = source.path_in_docs.removesuffix(".md")
    topics = dict.fromkeys([own, *(block.place.topic for block in found)])
    return [
        topic
        for topic in topics
        if topic != RECIPES and page_of(source, topic) in ("", f"{own}.md") and (root / code_path(topic)).is_file()
    ]


def page_of(source: Source, topic: str) -> str:
    """Return the path of a topic's page below docs/, or "" if the topic has no page."""
    return f"{topic}.md" if (source.docs / f"{topic}.md").is_file() else ""


def file_anchor(topic: str) -> str:
    """Return the HTML id of a topic's whole file."""
    return f"file-{topic.replace('/', '-')}"


def link_to_file(source: Source, topic: str) -> str:
    """Return a Markdown link to a topic's whole file, on this page or on the topic's own."""
    page, here = page_of(source, topic), source.path_in_docs
    path = posixpath.relpath(page, posixpath.dirname(here) or ".") if page and page != here else ""
    return f"[The whole file: `{code_path(topic)}`]({path}#{file_anchor(topic)}){{ .whole-file data-search-exclude='' }}"


def fold_file(root: Path, topic: str) -> list[str]:
    """Return the Markdown lines of a folded block with a topic's whole file, without the marks of its regions.

    The block is excluded from the search index, which has the regions where pages include them."""
    page_dependencies.note_files([root / code_path(topic)])
    text = read_snippet(root, topic).without_marks.rstrip("\n")
    attributes = f'attrs: {{id: {file_anchor(topic)}, class: whole-file, data-search-exclude: ""}}'
    return [
        "",
        f"/// details | The whole file: `{code_path(topic)}`",
        f"    {attributes}",
        "",
        "``````python",
        *text.split("\n"),
        "``````",
        "///",
        "",
    ]


# In the page's HTML ---------------------------------------------------------------------------------------------------------------


def finish_code_blocks(html: str, source: Source) -> str:
    """Return the page's HTML with the text that each code block's button copies, and with links from imports of the page's own module to its file."""
    numbers = count(1)
    html = _CODE.sub(lambda match: add_copied_text(match, next(numbers)) if match["kind"] else match[0], html)
    return _MODULE.sub(lambda match: link_module(match, source), html)


def add_copied_text(match: re.Match[str], number: int) -> str:
    """Return the opening tag of a code block, with the text that its button copies as an attribute.

    The theme's button finds its block by id. Without an id of their own, two blocks in an exercise would share the exercise's."""
    kind, shown = match["kind"], unescape(_TAG.sub("", match["code"]))
    copied = escape(find_copied_text(shown)).replace("\n", "&#10;")
    return f'<div class="language-{kind} highlight" id="block-{number}" data-copy="{copied}">'


def find_copied_text(shown: str) -> str:
    """Return the text that a block's button copies, ready for Python's prompt: of an example, only the code."""
    return fill_empty_lines(extract_typed_code(shown) if ">>>" in shown else shown)


def fill_empty_lines(code: str) -> str:
    """Return code with spaces on the empty lines inside its statements: at Python's prompt, an empty line ends a function or a class."""
    snippet = Snippet("", code)
    try:
        tree, nodes = snippet.tree, snippet.nodes
    except SyntaxError:  # an example may show a syntax error
        return code
    lines = code.split("\n")
    in_strings = {line for node in nodes if is_string(node) for line in range(node.lineno, node.end_lineno or node.lineno)}
    for node in tree.body:
        for line in range(node.lineno, node.end_lineno or node.lineno):
            if not lines[line] and line not in in_strings:
                lines[line] = "    "
    return "\n".join(lines)


def is_string(node: ast.AST) -> TypeGuard[ast.expr]:
    """Return whether a node is a string, an f-string or bytes."""
    return isinstance(node, ast.JoinedStr) or isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def extract_typed_code(example: str) -> str:
    """Return the code of examples, without prompts and output, and with an empty line after each compound statement, as at a prompt."""
    sources = (one.source for one in doctest_examples(example))
    return "".join(source + "\n" * is_compound(source) for source in sources)


def is_compound(source: str) -> bool:
    """Return whether code ends in a statement with a body, such as a loop or a function."""
    try:
        return any(hasattr(node, "body") for node in Snippet("", source).tree.body[-1:])
    except SyntaxError:  # an example may show a syntax error
        return False


def link_module(match: re.Match[str], source: Source) -> str:
    """Return an imported module's name as a link to its file, if this page shows that file, or the name unchanged.

    Links to other pages are not made: MkDocs and Zensical differ in whether they rewrite addresses in finished HTML."""
    topic = match[1].removeprefix("snippets.").replace(".", "/")
    return f'<span class="nn"><a href="#{file_anchor(topic)}">{match[1]}</a></span>' if source.path_in_docs == f"{topic}.md" else match[0]
