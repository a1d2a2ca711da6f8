"""The graph of all claims and their uses, with the places where pages show them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from ..store.project_files import ROOT
from .page import Page, resolve_use
from .page_source import RANKS, Source

NO_CHAPTER = "More"  # the chapter of topics that are in no chapter of the navigation

Place = tuple[str, str, int, str]  # the page, anchor and number of a claim, and its highest rank on any page


@dataclass(frozen=True)
class Node:
    """One claim and its place: on the page of its topic, or on the first page that shows it. `page` is "" if no page does."""

    topic: str
    claim: dict
    page: str = ""
    anchor: str = ""
    number: int = 0
    rank: str = "unshown"  # the highest on any page

    @property
    def id(self) -> str:
        return f"{self.topic}#{self.claim['id']}"

    @property
    def uses(self) -> list[str]:
        """The ids of the claims that it uses. Raise ClaimError if one does not have the form of an id."""
        return ["#".join(resolve_use(self.topic, use)) for use in self.claim["uses"]]


@dataclass(frozen=True)
class Topic:
    """The claims of one script, in its order: a claim comes before those of the same script that use it."""

    name: str
    title: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class ClaimGraph:
    """The graph: chapters in the order of the navigation, each with its topics."""

    chapters: tuple[tuple[str, tuple[Topic, ...]], ...]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {node.id: node for _, topics in self.chapters for topic in topics for node in topic.nodes}

    @cached_property
    def edges(self) -> list[tuple[str, str]]:
        """Pairs of ids: a claim, and a claim that it uses."""
        return [(node.id, use) for node in self.nodes.values() for use in node.uses]

    @cached_property
    def linked(self) -> set[str]:
        """The ids of claims that use a claim or are used by one."""
        return {end for edge in self.edges for end in edge}

    def find_missing_uses(self) -> list[tuple[str, str]]:
        """Return the edges to claims that do not exist."""
        return [edge for edge in self.edges if edge[1] not in self.nodes]

    def find_unused_results(self) -> list[Node]:
        """Return the claims that no claim uses and no page shows as a theorem, except definitions and refutations, which are rarely used."""
        used = {use for _, use in self.edges}
        return [
            node
            for node in self.nodes.values()
            if node.id not in used and node.rank != "theorem" and node.claim["kind"] not in ("definition", "refutation")
        ]


def build_graph(docs: Path, load: Callable[[str], dict], names: list[str], settings: str | None = None) -> ClaimGraph:
    """Return the graph of the claims of the topics in `names`; `load` returns a topic's certificate, `settings` is the text of mkdocs.yml.

    Raise PageError, ClaimError or CertificateError if a page, a use or a certificate is wrong.
    """
    order = list(read_navigation(settings if settings is not None else (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {path: (chapter, title) for chapter, title, path in order}
    certificates = {name: load(name) for name in names}
    places = _find_places(docs, [path for _, _, path in order], certificates)
    chapters: dict[str, list[Topic]] = {chapter: [] for chapter, _, _ in order}
    positions = {path: at for at, path in enumerate(pages)}
    for name in sorted(names, key=lambda name: (positions.get(f"{name}.md", len(positions)), name)):
        chapter, title = pages.get(f"{name}.md", ("", name))
        nodes = tuple(Node(name, claim, *places.get(f"{name}#{claim['id']}", ())) for claim in certificates[name]["claims"])
        chapters.setdefault(chapter or NO_CHAPTER, []).append(Topic(name, title, nodes))
    return ClaimGraph(tuple((chapter, tuple(topics)) for chapter, topics in chapters.items() if topics))


def read_navigation(settings: str) -> Iterator[tuple[str, str, str]]:
    """Yield (chapter, title, page) in the order of mkdocs.yml; the chapter is the innermost around the page, "" if there is none."""
    yield from _read_entries(yaml.load(settings, yaml.BaseLoader).get("nav", []), "")


def _read_entries(nav: list[dict], chapter: str) -> Iterator[tuple[str, str, str]]:
    for entry in nav:
        ((title, content),) = entry.items()
        if isinstance(content, str):
            yield chapter, title, content
        else:
            yield from _read_entries(content, title)


def _find_places(docs: Path, order: list[str], certificates: dict[str, dict]) -> dict[str, Place]:
    """Return the place of each claim that a page shows, by its id. `order` lists pages as the navigation does."""
    places: dict[str, Place] = {}
    paths = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    for path in sorted(paths, key=lambda path: order.index(path) if path in order else len(order)):
        source = Source((docs / path).read_text(encoding="utf-8-sig"), docs, docs / path)
        for id_, here in _find_places_on_page(source, path, certificates):
            before = places.get(id_, here)
            home = here if path == f"{id_.partition('#')[0]}.md" else before
            places[id_] = (*home[:3], min(before[3], here[3], key=RANKS.index))
    return places


def _find_places_on_page(source: Source, path: str, certificates: dict[str, dict]) -> Iterator[tuple[str, Place]]:
    page = Page(source, certificates=certificates)
    numbers = page.number_claims()
    for opening, topic, claims in page.blocks:
        for claim in claims:
            rank = opening.name if opening.name in RANKS else "claim"
            yield f"{topic}#{claim['id']}", (path, page.anchor(topic, claim["id"]), numbers[topic, claim["id"]], rank)
