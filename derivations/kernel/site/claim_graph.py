"""How results rest on one another: the claims of all topics, where the pages show them, and the uses that scripts record."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from ..store.project_files import ROOT
from .page import Page, used_by
from .page_source import RANKS, Source

ALONE = "More"  # the chapter of what the navigation leads to from no chapter


@dataclass(frozen=True)
class Node:
    """One claim, and where a reader finds it: on the page of its topic, or on the first one that shows it; "" where no page does."""

    topic: str
    claim: dict
    page: str = ""
    anchor: str = ""
    number: int = 0
    rank: str = "unshown"  # the highest that any page gives it

    @property
    def id(self) -> str:
        return f"{self.topic}#{self.claim['id']}"

    @property
    def uses(self) -> list[str]:
        """The ids of what it uses. Raises ClaimError where one names no claim."""
        return ["#".join(used_by(self.topic, use)) for use in self.claim["uses"]]


@dataclass(frozen=True)
class Topic:
    name: str
    title: str
    nodes: tuple[Node, ...]  # as the script states them: what is used comes before what uses it


@dataclass(frozen=True)
class Resting:
    """Chapters in the order of the navigation, each with its topics."""

    chapters: tuple[tuple[str, tuple[Topic, ...]], ...]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return {node.id: node for _, topics in self.chapters for topic in topics for node in topic.nodes}

    @cached_property
    def edges(self) -> list[tuple[str, str]]:
        """Each use: what uses, and what is used."""
        return [(node.id, use) for node in self.nodes.values() for use in node.uses]

    @cached_property
    def linked(self) -> set[str]:
        """What uses something, or is used."""
        return {end for edge in self.edges for end in edge}

    def missing(self) -> list[tuple[str, str]]:
        """Uses of what is no claim."""
        return [edge for edge in self.edges if edge[1] not in self.nodes]

    def idle(self) -> list[Node]:
        """Results that nothing uses and that are the result of no page. A definition names something, and what is refuted holds nothing
        up: neither could be used as a result is."""
        used = {use for _, use in self.edges}
        return [
            node
            for node in self.nodes.values()
            if node.id not in used and node.rank != "theorem" and node.claim["kind"] not in ("definition", "refutation")
        ]


def resting(docs: Path, load: Callable[[str], dict], names: list[str], settings: str | None = None) -> Resting:
    """What there is, with what `load` says of each of the topics named. Raises PageError, ClaimError, CertificateError."""
    order = list(navigation(settings if settings is not None else (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    listed = {path: (chapter, title) for chapter, title, path in order}
    kept = {name: load(name) for name in names}
    shown = places(docs, [path for _, _, path in order], kept)
    found: dict[str, list[Topic]] = {chapter: [] for chapter, _, _ in order}
    places_of = {path: at for at, path in enumerate(listed)}
    for name in sorted(names, key=lambda name: (places_of.get(f"{name}.md", len(places_of)), name)):
        chapter, title = listed.get(f"{name}.md", ("", name))
        nodes = tuple(Node(name, claim, *shown.get(f"{name}#{claim['id']}", ())) for claim in kept[name]["claims"])
        found.setdefault(chapter or ALONE, []).append(Topic(name, title, nodes))
    return Resting(tuple((chapter, tuple(topics)) for chapter, topics in found.items() if topics))


def navigation(settings: str) -> Iterator[tuple[str, str, str]]:
    """(chapter, title, page) in the order of mkdocs.yml; the chapter is the nearest one around the page, and "" of what stands alone."""
    yield from entries(yaml.load(settings, yaml.BaseLoader).get("nav", []), "")


def entries(listed: list[dict], chapter: str) -> Iterator[tuple[str, str, str]]:
    for entry in listed:
        ((title, within),) = entry.items()
        if isinstance(within, str):
            yield chapter, title, within
        else:
            yield from entries(within, title)


def places(docs: Path, order: list[str], kept: dict[str, dict]) -> dict[str, tuple[str, str, int, str]]:
    """Where each claim is shown: the page, its anchor and its number there, and the highest rank that any page gives it."""
    found: dict[str, tuple[str, str, int, str]] = {}
    paths = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    for path in sorted(paths, key=lambda path: order.index(path) if path in order else len(order)):
        for id_, here in on_page(Source((docs / path).read_text(encoding="utf-8-sig"), docs, docs / path), path, kept):
            before = found.get(id_, here)
            home = here if path == f"{id_.partition('#')[0]}.md" else before
            found[id_] = (*home[:3], min(before[3], here[3], key=RANKS.index))
    return found


def on_page(source: Source, path: str, kept: dict[str, dict]) -> Iterator[tuple[str, tuple[str, str, int, str]]]:
    page = Page(source, certificates=kept)
    numbers = page.numbers()
    for opening, topic, claims in page.blocks:
        for claim in claims:
            rank = opening.name if opening.name in RANKS else "claim"
            yield f"{topic}#{claim['id']}", (path, page.anchor(topic, claim["id"]), numbers[topic, claim["id"]], rank)


def counted(graph: Resting) -> Counter:
    """How many claims, uses, linked claims and idle results there are."""
    return Counter(claims=len(graph.nodes), uses=len(graph.edges), linked=len(graph.linked), idle=len(graph.idle()))
