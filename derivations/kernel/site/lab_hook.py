"""MkDocs hook for labs, the notebooks that mkdocs-jupyter executes: run them only when needed, and reduce their pages to plain HTML.

The content of a lab is stored with a digest of everything that it depends on: its source, every project module that it imports directly
or indirectly, data files named like such a module, and the pinned versions. Other files that a notebook reads are not tracked: put a data
file next to the module that reads it, under the same name.
"""

import re
import sys
from base64 import b64decode
from html import escape
from modulefinder import ModuleFinder
from pathlib import Path
from tokenize import TokenError

from bs4 import BeautifulSoup
from mkdocs.structure.toc import get_toc
from nbclient.exceptions import CellExecutionError

from derivations.kernel.printing.mathml import MathsError, render_notation
from derivations.kernel.printing.relation_signs import find_text_fault
from derivations.kernel.site import PageError, Prose, Source, page_errors, page_lint
from derivations.kernel.snippet_source import parse
from derivations.kernel.store.project_files import file_hash
from derivations.kernel.store.store import Store, digest

ROOT = Path(__file__).resolve().parents[3]
STORE = Store("labs")

# The parts of JupyterLab's page that a reader needs: text, code and output. The rest is 590 kB of styles for the whole
# application, a second copy of the code for a button, and MathJax from another host.
_NEEDED = ".jp-RenderedMarkdown, .highlight-ipynb, .jp-OutputArea-output"

# The elements and attributes of SVG that Matplotlib uses, in the lower case of an HTML parser.
_ELEMENTS = "svg g path defs clippath rect circle line polygon polyline use text tspan title desc"
_ATTRIBUTES = """class clip-path cx cy d height href id points preserveaspectratio r role rx ry style transform version viewbox width x x1
x2 xlink:href xmlns xmlns:xlink y y1 y2"""
_DRAWN, _DRAWN_WITH = frozenset(_ELEMENTS.split()), frozenset(_ATTRIBUTES.split())


def on_pre_page(page, **_):
    """Replace mkdocs-jupyter's render by one that stores its result."""
    if page.file.src_uri.startswith("labs/") and page.file.src_uri.endswith(".py"):
        execute = page.render
        page.render = lambda config, files: render_or_say(page, lambda: execute(config, files))
    return page


def render_or_say(page, execute) -> None:
    """Render the page. If a mistake prevents that and mistakes are shown on pages, show the mistake instead."""
    try:
        render(page, execute)
    except PageError as error:
        page_errors.tolerate(error)
        page.content, page.toc = page_errors.box(error.format_message()), get_toc([])


def render(page, execute) -> None:
    """Set the content, title and table of contents of the page, from the store or from a new run. Raise PageError if a cell fails."""
    notebook = Path(page.file.abs_src_path)
    depends = depends_on(notebook)

    def compute() -> dict:
        try:
            execute()
        except CellExecutionError as error:
            raise PageError(f"docs/labs/{notebook.name}: a cell fails with {error.ename}: {error.evalue}") from None
        return {"depends": depends, "title": page.title, "toc": tokens(page.toc), "content": light(page.content, notebook)}

    lab = STORE.reuse(notebook.stem, compute, lambda lab: lab["depends"] == depends)
    page.content, page.title, page.toc = lab["content"], lab["title"], get_toc(lab["toc"])


def depends_on(notebook: Path) -> str:
    """Return a digest of everything that the lab's content depends on."""
    return digest(sys.version, [[path.name, file_hash(path)] for path in dependencies(notebook)])


def dependencies(notebook: Path) -> list[Path]:
    """Return the files that a lab depends on: the notebook, all that it imports, their data, the pinned versions, and this hook.

    Raise PageError if the notebook is not Python.
    """
    finder = ModuleFinder(path=[str(ROOT)])
    try:
        finder.run_script(str(notebook))
    except SyntaxError as error:
        raise PageError(f"docs/labs/{notebook.name}:{error.lineno}: not Python: {error.msg}") from None
    imported = {Path(module.__file__) for module in finder.modules.values() if module.__file__}
    imported |= {data for one in imported for data in one.parent.glob(f"{one.stem}.*") if data.is_file()}
    return sorted(imported | {notebook, Path(__file__)} | set(ROOT.glob("requirements*.txt")))


def light(content: str, notebook: Path) -> str:
    """Return the output of mkdocs-jupyter as plain sections, without styles and scripts, with formulas in MathML and inline figures.

    Raise PageError if the prose, the comments or docstrings of a visible cell, or the output of a cell state a relation, or if an output is
    neither text nor a figure.
    """
    source = Source(notebook.read_text(encoding="utf-8"), notebook.parents[1], notebook)
    _refuse_words(source)
    parts = BeautifulSoup(content, "html.parser").select(_NEEDED)
    return "\n".join(_section(part, source, number) for number, part in enumerate(parts, start=1))


def _section(part, source: Source, number: int) -> str:
    for unwanted in part.select("style, script"):
        unwanted.decompose()
    if "highlight-ipynb" in part["class"]:
        return f'<div class="lab__code highlight"><pre><code>{part.pre.decode_contents()}</code></pre></div>'
    figure = part.find("img", src=re.compile("^data:image/svg"))
    if figure:
        drawn = _in_ink(b64decode(figure["src"].partition(",")[2]).decode())
        _refuse_drawn(drawn, source)
        return f'<figure class="lab__figure">{_named(drawn, f"lab-{number}-")}</figure>'
    if "jp-RenderedMarkdown" not in part["class"]:
        return f'<div class="lab__output"><pre>{escape(_printed(part, source), quote=False)}</pre></div>'
    for link in part.select("a.anchor-link"):
        link["class"], link["title"] = "headerlink", "Permanent link"
    prose = Prose(source)
    prose.feed(part.decode_contents())
    if prose.mistakes:  # `mkdocs serve` only collects mistakes; raise, so that this content is not stored for a build
        raise prose.mistakes[0][1]
    for text in part.find_all(string=re.compile(r"\$")):
        if not text.find_parent(["code", "pre"]):
            text.replace_with(BeautifulSoup(_with_notation(text, source), "html.parser"))
    return part.decode_contents().strip()


def _refuse_words(source: Source) -> None:
    """Raise PageError if a comment or docstring of a visible cell states a relation."""
    shown, hidden = set(), False
    for number, line in enumerate(source.lines, start=1):
        if line.startswith("# %%"):
            hidden = "[markdown]" in line or "hide" in line
        elif not hidden:
            shown.add(number)
    try:
        told = [*page_lint.comments(parse("", source.text)), *page_lint.docstrings(parse("", source.text))]
    except (SyntaxError, TokenError, ValueError):
        return  # running the notebook reports it
    for line, words, fault in told:
        if fault and line in shown:
            raise source.error(line, f"{words.strip()!r} {fault}; show a claim of it on a page, or say it in words")


def _printed(part, source: Source) -> str:
    """Return the text output of a cell. Raise PageError if it is not text, or if it states a relation."""
    inside = [child for child in part.children if getattr(child, "name", None) or str(child).strip()]
    if [child.name for child in inside] != ["pre"] or inside[0].find(["pre", "section", "div", "table", "img", "svg"]):
        raise source.error(0, "an output of a cell is neither text nor a figure in SVG; print text, or display a figure")
    text = inside[0].get_text()
    for line in text.split("\n"):
        if fault := find_text_fault(line):
            raise source.error(0, f"an output of a cell, {line.strip()!r}, {fault}; print numbers, and words beside them")
    return text


def _refuse_drawn(drawn: str, source: Source) -> None:
    """Raise PageError if a figure contains elements or attributes that Matplotlib does not use, or if its text states a relation."""
    read = BeautifulSoup(drawn, "html.parser")
    for element in read.find_all(True):
        address = element.get("xlink:href") or element.get("href") or "#"
        more = [name for name in element.attrs if name not in _DRAWN_WITH]
        if element.name not in _DRAWN or more or not address.startswith("#"):
            what = " ".join([element.name, *more, address.strip("#")]).strip()
            raise source.error(0, f"a figure holds <{what}>, which Matplotlib does not draw; save the figure as it is")
    for text in read.find_all(string=True):
        if fault := find_text_fault(str(text)):
            raise source.error(0, f"a figure says {text.strip()!r}, which {fault}; say it in words")


def _with_notation(text: str, source: Source) -> str:
    try:
        parts = re.split(r"\$([^$]+)\$", text)
        return "".join(render_notation(part) if i % 2 else escape(part) for i, part in enumerate(parts))
    except MathsError as error:
        raise source.error(source.line_of(text.split("\n")[0]), str(error)) from None


def _in_ink(figure: str) -> str:
    """Return a Matplotlib figure with the text color of the page and no background, so that it suits light and dark themes."""
    figure = figure[figure.index("<svg") :].replace("<svg", '<svg role="img"', 1)
    figure = re.sub(r"<style\b.*?</style>|<metadata\b.*?</metadata>|<!--.*?-->", "", figure, flags=re.DOTALL)
    figure = re.sub(r"font-family: ?[^;\"]*;? ?", "", figure)  # use the font of the page
    return re.sub(r"fill: ?#ffffff\b", "fill: none", figure).replace("#000000", "currentColor")


def _named(figure: str, prefix: str) -> str:
    """Return a figure with a prefix on its ids, since Matplotlib uses the same ids in every figure. Remove ids that nothing refers to."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', figure))
    figure = re.sub(r' id="([^"]*)"', lambda one: f' id="{prefix}{one[1]}"' if one[1] in used else "", figure)
    return re.sub(r'(href="|url\()#', rf"\1#{prefix}", figure)


def tokens(toc) -> list[dict]:
    """Return a table of contents as JSON values, in the form that `get_toc` takes."""
    return [{"name": item.title, "id": item.id, "level": item.level, "children": tokens(item.children)} for item in toc]
