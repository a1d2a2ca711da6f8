"""Fill the blocks that show something other than claims: trust tables, stages of a claim, the map, sources, snippets and figures.

Each function appends the content of a block to `parent`, or raises PageError with the line of the block. It also records what the page
then depends on (page_dependencies.py).
"""

import posixpath
from collections.abc import Callable
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..check import coq_open_claims
from ..printing.mathml import MathsError
from ..store import complete_run_counts, fuzz_results, mutant_results
from ..store.certificates import CertificateError, topics
from ..store.project_files import ROOT
from . import api_reference, claim_graph, figure_widgets, graph_svg, model_files, page_dependencies
from .claim_html import ClaimError
from .claim_journey import JourneyError, render_stage
from .figure_block import FigureError, render_figure
from .page import TOPIC, Page
from .sources_table import RowsError, add_table, read_rows
from .trust_counts import LISTS, TABLES, render_table


def add_trust_table(page: Page, parent: Element, name: str) -> Element:
    """Append a table of the trust page with the command that reproduces its numbers, or a list of claims."""
    page_dependencies.note("all", *(f"within:{stored.path('')}" for stored in (mutant_results.SURVEYS, fuzz_results.STORE)))
    line = page.source.line_of(f"/// trust | {name}")
    if name not in (*TABLES, *LISTS):
        raise page.source.error(line, f"expected '/// trust | NAME' with a name of {', '.join((*TABLES, *LISTS))}, found {name!r}")
    try:
        if name in LISTS:
            page_dependencies.note_files([coq_open_claims.FILE])
            return _add_claims(page, parent, *LISTS[name])
        if name == "runs":
            page_dependencies.note_files([complete_run_counts.FILE])
        html = render_table(name)
    except CertificateError as error:
        raise page.source.error(line, f"the claims cannot be counted: {' '.join(str(error).split())}") from None
    return _append_html(page, parent, html, "trust")


def _append_html(page: Page, parent: Element, html: str, css: str = "") -> Element:
    """Append a box with finished HTML, and return it."""
    box = SubElement(parent, "div", {"class": css} if css else {})
    box.text = page.stash(html)
    return box


def _add_claims(page: Page, parent: Element, find: Callable[[], list[tuple[str, str]]], if_none: str) -> Element:
    """Append a list of claims, each a link followed by its note; the text `if_none` if there are no claims."""
    claims = find()
    if not claims:
        paragraph = SubElement(parent, "p")
        paragraph.text = if_none
        return paragraph
    entries = SubElement(parent, "ul", {"class": "trust__claims"})
    for key, note in claims:
        topic, _, name = key.partition("#")
        address = posixpath.relpath(f"{topic}.md", _folder_of(page))
        link = SubElement(SubElement(entries, "li"), "a", {"href": f"{address}#{name}"})
        link.text, link.tail = key, f": {page.stash(escape(note))}" if note else ""  # a note is data, not Markdown
    return entries


def _folder_of(page: Page) -> str:
    """Return the folder of a page, relative to the folder of all pages."""
    return posixpath.dirname(page.source.path_in_docs) or "."


def add_journey(page: Page, parent: Element, argument: str) -> Element:
    """Append the data of a claim at one stage between its script and its page."""
    page_dependencies.note("all")
    try:
        html = render_stage(argument, page.load_certificate, page.repository)
    except (JourneyError, CertificateError) as error:
        line = page.source.line_of(f"/// journey | {argument}")
        raise page.source.error(line, " ".join(str(error).split())) from None
    return _append_html(page, parent, html, "trust")


def add_map(page: Page, parent: Element, argument: str) -> Element:
    """Append the map of all claims, as a picture and as a list."""
    page_dependencies.note("all", f"file:{ROOT / 'mkdocs.yml'}")
    page_dependencies.note_files(page.source.docs.rglob("*.md"))  # pages determine which claims are theorems
    line = page.source.line_of("/// map")
    if argument:
        raise page.source.error(line, f"there is one map, '/// map'; leave out {argument!r}")
    try:
        graph = claim_graph.build_graph(page.source.docs, page.load_certificate, topics())
        if missing := graph.find_missing_uses():
            raise ClaimError(f"{missing[0][0]} uses {missing[0][1]!r}, which is not a claim")
        box = SubElement(parent, "div", {"class": "map"})
        SubElement(box, "div", {"class": "map__bar"})
        frame = SubElement(box, "div", {"class": "map__frame"})
        picture = graph_svg.draw_map(graph)
        ratio = page.stash(f"aspect-ratio: {graph_svg.aspect_ratio(picture)}")
        # Where scripts run, map.js inserts the picture after the theme's scripts: each of these has the browser compute all styles anew.
        SubElement(frame, "div", {"class": "map__stage", "style": ratio}).text = page.stash(f"<noscript>{picture}</noscript>")
        graph_svg.add_list(graph, box, page.stash, lambda path: posixpath.relpath(path, _folder_of(page)))
    except (ClaimError, CertificateError, MathsError) as error:
        raise page.source.error(line, f"the map cannot be drawn: {' '.join(str(error).split())}") from None
    return box


def add_sources(page: Page, parent: Element, group: str) -> Element:
    """Append the table of a group of sources, each with links to the claims that support it."""
    line = page.source.line_of(f"/// sources | {group}".rstrip())
    page_dependencies.note("all", f"file:{page.source.docs / 'sources.toml'}")
    page_dependencies.note_files(page.source.docs.rglob("*.md"))  # the links show their titles
    try:
        rows = read_rows(page.source.docs, group)
        for row in rows:
            _check_claims(page, row)
        return add_table(parent, rows, page.source.docs, _folder_of(page))
    except (RowsError, CertificateError) as error:
        raise page.source.error(line, " ".join(str(error).split())) from None


def _check_claims(page: Page, row: dict) -> None:
    """Raise RowsError if a row of sources names a claim that does not exist."""
    for claim in row["claims"]:
        match = TOPIC.fullmatch(claim)
        if not match or not match[2] or match[2] not in (other["id"] for other in page.load_certificate(match[1])["claims"]):
            raise RowsError(f"row {row['id']} names {claim!r}, which is not a claim")


def add_api(page: Page, parent: Element, chapter: str) -> Element:
    """Append the reference of a chapter's snippets, with a heading for each module; without a chapter, a list of all chapters."""
    page_dependencies.note_files((ROOT / "snippets").rglob("*.py"))
    if not chapter:
        return api_reference.add_index(parent, _folder_of(page))
    try:
        for path in api_reference.find_modules(chapter):
            api_reference.add_heading(parent, path, page.source.docs, _folder_of(page))
            box = _append_html(page, parent, api_reference.render_module(path))
    except api_reference.ApiError as error:
        raise page.source.error(page.source.line_of(f"/// api | {chapter}"), str(error)) from None
    return box


def add_figure(page: Page, parent: Element, argument: str) -> Element:
    """Append a figure, and return the element for its caption. A figure with a widget also gets the widget's name and numbers."""
    try:
        name, widget = figure_widgets.parse_argument(argument)
        page.figures.append(name.rpartition(":")[2])
        times = page.figures.count(page.figures[-1])
        identifier = f"picture-{page.figures[-1]}" + (f"-{times}" if times > 1 else "")  # a name, so that links to the figure last
        html, numbers = render_figure(name, page.source.docs, identifier)
    except (FigureError, figure_widgets.PlayError) as error:
        about = f"the figure {argument}: " if argument else ""
        raise page.source.error(_find_figure_line(page, argument), about + str(error)) from None
    data = {key: page.stash(value) for key, value in figure_widgets.make_data_attributes(widget, numbers).items()}
    box = SubElement(parent, "figure", {"class": "picture", "id": identifier} | data)
    SubElement(box, "div", {"class": "play__stage"} if widget else {}).text = page.stash(html)
    return SubElement(box, "figcaption")


def check_caption(page: Page, argument: str, caption: Element) -> Element:
    """Return the caption of a figure. Raise PageError if it is empty."""
    if not "".join(caption.itertext()).strip():
        line = _find_figure_line(page, argument)
        raise page.source.error(line, f"the figure {argument} has no caption; write a sentence before the closing '///'")
    return caption


def _find_figure_line(page: Page, argument: str) -> int:
    return next((opening.line for opening in page.source.openings() if (opening.name, opening.argument) == ("figure", argument)), 0)


def add_sentence(page: Page, parent: Element, argument: str) -> Element:
    """Append a box for the author's text about the form in which readers type a sentence, and return it."""
    if argument:
        raise page.source.error(page.source.line_of(f"/// sentence | {argument}"), f"the form has no name; leave out {argument!r}")
    return SubElement(parent, "div", {"class": "own"})


def finish_sentence(page: Page, box: Element) -> Element:
    """Append the form, which docs/assets/js/sentence fills. If the build lacks the model, replace the author's text by a sentence about that."""
    if model_files.describe_missing():
        box[:] = []
        paragraph = SubElement(box, "p")
        paragraph.text = "This copy of the site was built without the model, so the form for a sentence of your own is left out. "
        paragraph.text += "To add it, run "
        SubElement(paragraph, "code").text = page.stash("make models")
        paragraph[0].tail = " and build the site again."
        return box
    shared, embeddings = model_files.sum_sizes(model_files.read_index())
    data = {"data-version": model_files.find_version(), "data-shared": str(shared), "data-embeddings": str(embeddings)}
    form = SubElement(box, "div", {"class": "sentence"} | {name: page.stash(value) for name, value in data.items()})
    SubElement(form, "p").text = "The form needs JavaScript."
    return box
