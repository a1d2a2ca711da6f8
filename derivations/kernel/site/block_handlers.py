"""What a page shows beside its claims: tables that count them, stations on a claim's way, sources, and figures."""

import posixpath
from collections.abc import Callable
from html import escape
from xml.etree.ElementTree import Element, SubElement

from ..check import coq_exceptions
from ..printing.mathml import MathsError
from ..store import full_runs, fuzz_results, mutant_results
from ..store.certificates import CertificateError, topics
from ..store.project_files import ROOT
from . import claim_graph, graph_svg, page_dependencies, widgets
from .api_reference import ApiError, api
from .claim_html import ClaimError
from .claim_journey import JourneyError, told
from .figure_block import FigureError, figure
from .page import TOPIC, Page
from .sources_table import RowsError, rows, table
from .trust_counts import LISTS, TABLES, counted


def count(page: Page, parent: Element, name: str) -> Element:
    """Append one of the trust page's tables, with the command that makes its numbers again."""
    page_dependencies.note("all", *(f"within:{stored.path('')}" for stored in (mutant_results.SURVEYS, fuzz_results.STORE)))
    line = page.source.line_of(f"/// trust | {name}")
    if name not in (*TABLES, *LISTS):
        raise page.source.error(line, f"expected '/// trust | NAME' with a name of {', '.join((*TABLES, *LISTS))}, found {name!r}")
    try:
        if name in LISTS:
            page_dependencies.note_files([coq_exceptions.FILE])
            return list_claims(page, parent, *LISTS[name])
        if name == "runs":
            page_dependencies.note_files([full_runs.FILE])
        html = counted(name)
    except CertificateError as error:
        raise page.source.error(line, f"the claims cannot be counted: {' '.join(str(error).split())}") from None
    box = SubElement(parent, "div", {"class": "trust"})
    box.text = page.stash(html)
    return box


def list_claims(page: Page, parent: Element, found: Callable[[], list[tuple[str, str]]], without: str) -> Element:
    """Append a list of claims, each a link to it and what is said of it; and where there is none, that."""
    claims = found()
    if not claims:
        none = SubElement(parent, "p")
        none.text = without
        return none
    listed = SubElement(parent, "ul", {"class": "trust__claims"})
    for key, said in claims:
        topic, _, name = key.partition("#")
        address = posixpath.relpath(f"{topic}.md", folder_of(page))
        link = SubElement(SubElement(listed, "li"), "a", {"href": f"{address}#{name}"})
        link.text, link.tail = key, f": {page.stash(escape(said))}" if said else ""  # what is said is data, and no Markdown
    return listed


def folder_of(page: Page) -> str:
    """The folder of a page, below that of all pages."""
    path, _ = page.source.file()
    return (posixpath.dirname(path.relative_to(page.source.docs).as_posix()) if path else "") or "."


def follow(page: Page, parent: Element, argument: str) -> Element:
    """Append what one station made of a claim."""
    page_dependencies.note("all")
    try:
        html = told(argument, page.certificate, page.repository)
    except (JourneyError, CertificateError) as error:
        line = page.source.line_of(f"/// journey | {argument}")
        raise page.source.error(line, " ".join(str(error).split())) from None
    box = SubElement(parent, "div", {"class": "trust"})
    box.text = page.stash(html)
    return box


def chart(page: Page, parent: Element, argument: str) -> Element:
    """Append the map of all claims, and the same as a list."""
    page_dependencies.note("all", f"file:{ROOT / 'mkdocs.yml'}")
    page_dependencies.note_files(page.source.docs.rglob("*.md"))  # they say what is a page's result
    line = page.source.line_of("/// map")
    if argument:
        raise page.source.error(line, f"there is one map, '/// map'; leave out {argument!r}")
    try:
        graph = claim_graph.resting(page.source.docs, page.certificate, topics())
        if missing := graph.missing():
            raise ClaimError(f"{missing[0][0]} uses {missing[0][1]!r}, and there is no such claim")
        box = SubElement(parent, "div", {"class": "map"})
        SubElement(box, "div", {"class": "map__bar"})
        frame = SubElement(box, "div", {"class": "map__frame"})
        picture = graph_svg.drawn(graph)
        room = f"aspect-ratio: {graph_svg.proportion(picture)}"
        # Where scripts run, map.js puts the picture there once the theme's are done: each of these has the browser compute all styles anew.
        SubElement(frame, "div", {"class": "map__stage", "style": page.stash(room)}).text = page.stash(f"<noscript>{picture}</noscript>")
        graph_svg.listed(graph, box, page.stash, lambda path: posixpath.relpath(path, folder_of(page)))
    except (ClaimError, CertificateError, MathsError) as error:
        raise page.source.error(line, f"the map cannot be drawn: {' '.join(str(error).split())}") from None
    return box


def list_sources(page: Page, parent: Element, group: str) -> Element:
    """Append the table of a group of rows, each with links to the claims that hold it."""
    line = page.source.line_of(f"/// sources | {group}".rstrip())
    page_dependencies.note("all", f"file:{page.source.docs / 'sources.toml'}")
    page_dependencies.note_files(page.source.docs.rglob("*.md"))  # whose titles its links have
    try:
        chosen = rows(page.source.docs, group)
        for row in chosen:
            refuse_unknown(page, row)
        return table(parent, chosen, page.source.docs, folder_of(page))
    except (RowsError, CertificateError) as error:
        raise page.source.error(line, " ".join(str(error).split())) from None


def refuse_unknown(page: Page, row: dict) -> None:
    for claim in row["claims"]:
        match = TOPIC.fullmatch(claim)
        if not match or not match[2] or match[2] not in (one["id"] for one in page.certificate(match[1])["claims"]):
            raise RowsError(f"row {row['id']} names {claim!r}, and there is no such claim")


def list_snippets(page: Page, parent: Element, chapter: str) -> Element:
    """Append what the snippets of a chapter offer."""
    page_dependencies.note_files((ROOT / "snippets").rglob("*.py"))
    path, _ = page.source.file()
    here = path.relative_to(page.source.docs).with_suffix("").as_posix() if path else "."
    try:
        html = api(page.source.docs, chapter, here)
    except ApiError as error:
        raise page.source.error(page.source.line_of(f"/// api | {chapter}", "/// api"), str(error)) from None
    box = SubElement(parent, "div")
    box.text = page.stash(html)
    return box


def draw(page: Page, parent: Element, argument: str) -> Element:
    """Append a figure: its picture, and a place for its caption; and for the script that plays it, where one does, its name and numbers."""
    page.figures += 1
    try:
        name, widget = widgets.asked(argument)
        html, identifier, numbers = figure(name, page.source.docs, page.figures)
    except (FigureError, widgets.PlayError) as error:
        about = f"the figure {argument}: " if argument else ""
        raise page.source.error(line_of_figure(page, argument), about + str(error)) from None
    data = {key: page.stash(value) for key, value in widgets.attributes(widget, numbers).items()}
    box = SubElement(parent, "figure", {"class": "picture", "id": identifier} | data)
    SubElement(box, "div", {"class": "play__stage"} if widget else {}).text = page.stash(html)
    return SubElement(box, "figcaption")


def refuse_without_caption(page: Page, name: str, caption: Element) -> None:
    if not "".join(caption.itertext()).strip():
        line = line_of_figure(page, name)
        raise page.source.error(line, f"the figure {name} has no caption; write a sentence before the closing '///'")


def line_of_figure(page: Page, name: str) -> int:
    return next((one.line for one in page.source.openings() if (one.name, one.argument) == ("figure", name)), 0)
