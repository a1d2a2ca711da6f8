"""MkDocs hook for labs, the notebooks that mkdocs-jupyter executes: run them only when needed, and reduce their pages to plain HTML.

The content of a lab is stored with a digest of everything that it depends on: its source, every project module that it imports directly
or indirectly, data files named like such a module, and the pinned versions. Other files that a notebook reads are not tracked: put a data
file next to the module that reads it, under the same name.
"""

import re
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from tokenize import TokenError
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Tag
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink, get_toc
from nbclient.exceptions import CellExecutionError

from derivations.kernel.printing.handwritten_relations import find_text_fault
from derivations.kernel.printing.mathml import MathsError, render_notation
from derivations.kernel.site import PageError, ProseChecker, Source, page_errors, snippet_text_lint
from derivations.kernel.site.extension import HIDDEN_HEADING_LINK
from derivations.kernel.site.imported_files import find_data_files, find_imported_files
from derivations.kernel.snippet_source import parse
from derivations.kernel.store.project_files import ROOT, file_hash
from derivations.kernel.store.store import Store, digest

STORE = Store("labs")

# The parts of JupyterLab's page that a reader needs: text, code and output. The rest is 590 kB of styles for the whole
# application, a second copy of the code for a button, and MathJax from another host.
_SHOWN_PARTS = ".jp-RenderedMarkdown, .highlight-ipynb, .jp-OutputArea-output"

# The elements and attributes of SVG that Matplotlib uses, in the lower case of an HTML parser.
_SVG_TAGS = frozenset(
    ["svg", "g", "path", "defs", "clippath", "rect", "circle", "line", "polygon", "polyline", "use", "text", "tspan", "title", "desc"]
)
_SVG_ATTRIBUTES = frozenset(
    [
        "class",
        "clip-path",
        "cx",
        "cy",
        "d",
        "height",
        "href",
        "id",
        "points",
        "preserveaspectratio",
        "r",
        "role",
        "rx",
        "ry",
        "style",
        "transform",
        "version",
        "viewbox",
        "width",
        "x",
        "x1",
        "x2",
        "xlink:href",
        "xmlns",
        "xmlns:xlink",
        "y",
        "y1",
        "y2",
    ]
)


def on_pre_page(page: Page, **_: Any) -> Page:
    """Replace mkdocs-jupyter's `render` by one that stores its result."""
    if page.file.src_uri.startswith("labs/") and page.file.src_uri.endswith(".py"):
        execute = page.render

        def render_or_reuse(config: MkDocsConfig, files: Files) -> None:
            render_or_show_error(page, lambda: execute(config, files))

        page.render = render_or_reuse  # type: ignore[method-assign]  # MkDocs has no event for it
    return page


def render_or_show_error(page: Page, execute: Callable[[], None]) -> None:
    """Render the page. If a mistake prevents that and mistakes are shown on pages, show the mistake instead."""
    try:
        render(page, execute)
    except PageError as error:
        page_errors.raise_or_report(error)
        page.content, page.toc = page_errors.render_box(error.format_message()), get_toc([])


def render(page: Page, execute: Callable[[], None]) -> None:
    """Set the content, title and table of contents of the page, from the store or from a new run. Raise PageError if a cell fails."""
    assert page.file.abs_src_path  # labs are files, none is generated
    notebook = Path(page.file.abs_src_path)
    depends = digest_dependencies(notebook)

    def compute() -> dict:
        try:
            execute()
        except CellExecutionError as error:
            raise PageError(f"docs/labs/{notebook.name}: a cell fails with {error.ename}: {error.evalue}") from None
        content = to_plain_html(page.content or "", notebook)
        return {"depends": depends, "title": page.title, "toc": toc_to_json(page.toc), "content": content}

    lab = STORE.reuse(notebook.stem, compute, lambda lab: lab["depends"] == depends)
    page.content, page.title, page.toc = lab["content"], lab["title"], get_toc(lab["toc"])


def digest_dependencies(notebook: Path) -> str:
    """Return a digest of everything that the lab's content depends on."""
    return digest(sys.version, [[path.name, file_hash(path)] for path in find_dependencies(notebook)])


def find_dependencies(notebook: Path) -> list[Path]:
    """Return the files that a lab depends on: the notebook, all that it imports, their data, the pinned versions, and this hook.

    Raise PageError if the notebook is not Python.
    """
    try:
        imported = find_imported_files(notebook, ROOT)
    except SyntaxError as error:
        raise PageError(f"docs/labs/{notebook.name}:{error.lineno}: not Python: {error.msg}") from None
    return sorted(imported | find_data_files(imported) | {notebook, Path(__file__)} | set(ROOT.glob("requirements*.txt")))


def to_plain_html(content: str, notebook: Path) -> str:
    """Return the output of mkdocs-jupyter as plain sections, without styles and scripts, with formulas in MathML and inline figures.

    Raise PageError if the prose, the comments or docstrings of a visible cell, or the output of a cell state a relation, or if an output is
    neither text nor a figure.
    """
    source = Source(notebook.read_text(encoding="utf-8"), notebook.parents[1], notebook)
    _reject_stated_relations(source)
    parts = BeautifulSoup(content, "html.parser").select(_SHOWN_PARTS)
    return "\n".join(_render_part(part, source, number) for number, part in enumerate(parts, start=1))


def _render_part(part: Tag, source: Source, number: int) -> str:
    for unwanted in part.select("style, script"):
        unwanted.decompose()
    if "highlight-ipynb" in part["class"]:
        assert part.pre, "mkdocs-jupyter puts code in <pre>"
        return f'<div class="lab__code highlight"><pre><code>{part.pre.decode_contents()}</code></pre></div>'
    figure = part.find("img", src=re.compile("^data:image/svg"))
    if figure:
        drawing = _use_page_colors(b64decode(str(figure["src"]).partition(",")[2]).decode())
        _check_figure(drawing, source)
        return f'<figure class="lab__figure">{_prefix_ids(drawing, f"lab-{number}-")}</figure>'
    if "jp-RenderedMarkdown" not in part["class"]:
        return f'<div class="lab__output"><pre>{escape(_read_output(part, source), quote=False)}</pre></div>'
    return _render_prose(part, source)


def _render_prose(part: Tag, source: Source) -> str:
    """Return a Markdown cell as HTML. Raise PageError if it breaks the rules for prose."""
    for link in part.select("a.anchor-link"):
        link["class"], link["title"] = "headerlink", "Permanent link"
    prose = ProseChecker(source)
    prose.feed(part.decode_contents())
    if prose.mistakes:  # `mkdocs serve` only collects mistakes; raise, so that this content is not stored for a build
        raise prose.mistakes[0][1]
    for text in part.find_all(string=re.compile(r"\$")):
        if not text.find_parent(["code", "pre"]):
            text.replace_with(BeautifulSoup(_render_notation(text, source), "html.parser"))
    return part.decode_contents().strip().replace(*HIDDEN_HEADING_LINK)


def _reject_stated_relations(source: Source) -> None:
    """Raise PageError if a comment or docstring of a visible cell states a relation."""
    shown, hidden = set(), False
    for number, line in enumerate(source.lines, start=1):
        if line.startswith("# %%"):
            hidden = "[markdown]" in line or "hide" in line
        elif not hidden:
            shown.add(number)
    code = parse("", source.text)
    try:
        texts = [*snippet_text_lint.check_comments(code), *snippet_text_lint.check_docstrings(code)]
    except (SyntaxError, TokenError, ValueError):
        return  # running the notebook reports it
    for line_number, words, fault in texts:
        if fault and line_number in shown:
            raise source.error(line_number, f"{words.strip()!r} {fault}; show it as a claim on a page, or say it in words")


def _read_output(part: Tag, source: Source) -> str:
    """Return the text output of a cell. Raise PageError if it is not text, or if it states a relation."""
    children = [child for child in part.children if isinstance(child, Tag) or str(child).strip()]
    block = children[0] if len(children) == 1 else None
    if not isinstance(block, Tag) or block.name != "pre" or block.find(["pre", "section", "div", "table", "img", "svg"]):
        raise source.error(0, "an output of a cell is neither text nor a figure in SVG; print text, or display a figure")
    text = block.get_text()
    for line in text.split("\n"):
        if fault := find_text_fault(line):
            raise source.error(0, f"an output of a cell, {line.strip()!r}, {fault}; print numbers, and words beside them")
    return text


def _check_figure(drawing: str, source: Source) -> None:
    """Raise PageError if a figure contains elements or attributes that Matplotlib does not use, or if its text states a relation."""
    svg = BeautifulSoup(drawing, "html.parser")
    for element in svg.find_all(True):
        address = str(element.get("xlink:href") or element.get("href") or "#")
        unknown = [name for name in element.attrs if name not in _SVG_ATTRIBUTES]
        if element.name not in _SVG_TAGS or unknown or not address.startswith("#"):
            found = " ".join([element.name, *unknown, address.strip("#")]).strip()
            raise source.error(0, f"a figure contains <{found}>, which Matplotlib does not draw; display the figure unchanged")
    for text in svg.find_all(string=True):
        if fault := find_text_fault(str(text)):
            raise source.error(0, f"a figure says {text.strip()!r}, which {fault}; say it in words")


def _render_notation(text: str, source: Source) -> str:
    """Return text as HTML, with the formulas between dollars in MathML. Raise PageError if one cannot be shown."""
    try:
        parts = re.split(r"\$([^$]+)\$", text)
        return "".join(render_notation(part) if i % 2 else escape(part) for i, part in enumerate(parts))
    except MathsError as error:
        raise source.error(source.line_of(text.split("\n")[0]), str(error)) from None


def _use_page_colors(figure: str) -> str:
    """Return a Matplotlib figure with the text color of the page and no background, so that it suits light and dark themes."""
    figure = figure[figure.index("<svg") :].replace("<svg", '<svg role="img"', 1)
    figure = re.sub(r"<style\b.*?</style>|<metadata\b.*?</metadata>|<!--.*?-->", "", figure, flags=re.DOTALL)
    figure = re.sub(r"font-family: ?[^;\"]*;? ?", "", figure)  # use the font of the page
    return re.sub(r"fill: ?#ffffff\b", "fill: none", figure).replace("#000000", "currentColor")


def _prefix_ids(figure: str, prefix: str) -> str:
    """Return a figure with a prefix on its ids, since Matplotlib uses the same ids in every figure. Remove ids that nothing refers to."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', figure))
    figure = re.sub(r' id="([^"]*)"', lambda match: f' id="{prefix}{match[1]}"' if match[1] in used else "", figure)
    return re.sub(r'(href="|url\()#', rf"\1#{prefix}", figure)


def toc_to_json(toc: Iterable[AnchorLink]) -> list[dict]:
    """Return a table of contents as JSON values, in the form that `get_toc` takes."""
    return [{"name": item.title, "id": item.id, "level": item.level, "children": toc_to_json(item.children)} for item in toc]
