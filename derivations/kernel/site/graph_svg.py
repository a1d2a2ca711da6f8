"""The map: how results rest on one another, as one picture, and as a list for those who do not see it.

A chapter is a region, and a topic in it a row of dots, one for each claim, in the order of its script: so what a claim rests on stands to
its left or in another row. A use is a curve. The same claims always lie in the same places. What a dot's address leads to is its entry in
the list; where JavaScript runs, docs/assets/js/map.js reads all that it shows from the two.
"""

import re
from collections.abc import Callable
from html import escape
from math import hypot
from textwrap import wrap
from xml.etree.ElementTree import Element, SubElement

from ..errors import quantity
from ..printing.mathml import authored
from .claim_details import WITNESSES as NAMES
from .claim_graph import Node, Resting, Topic
from .claim_html import KINDS
from .svg_picture import Point, short

COLUMNS = 5
STEP, ROW = 14.0, 46.0  # from dot to dot, and from a topic's name to the next
MOST = 20  # dots beside one another
MORE = 22.0  # how far down the next row of the same topic stands
EDGE, HEAD, GAP = 16.0, 44.0, 22.0  # of a region: its margin, its title's room, and the distance to the next
WIDTH = 2 * EDGE + MOST * STEP
DOTS = 34.0  # from the top of a topic down to its dots
NAME, LINE = 30, 18.0  # characters of a topic's name in a line, as large as it gets, and from one line to the next

Parts = list[str]


# Where everything stands -------------------------------------------------------------------------------------------------------


def lines(topic: Topic) -> list[str]:
    return wrap(topic.title, NAME) or [""]


def head_of(topic: Topic) -> float:
    """From the top of a topic down to its first dots."""
    return DOTS + LINE * (len(lines(topic)) - 1)


def height_of(topic: Topic) -> float:
    return ROW - DOTS + head_of(topic) + MORE * ((max(len(topic.nodes), 1) - 1) // MOST)


def height(topics: tuple[Topic, ...]) -> float:
    return HEAD + sum(map(height_of, topics)) + EDGE / 2


def columns(heights: list[float], count: int = COLUMNS) -> list[int]:
    """For each region its column: in order, with the tallest column as low as can be.

    >>> columns([3, 1, 1, 1, 3], 3)
    [0, 1, 1, 1, 2]
    """
    limits = sorted({sum(heights[i:j]) for i in range(len(heights)) for j in range(i + 1, len(heights) + 1)})
    return next(found for limit in limits if max(found := filled(heights, limit), default=0) < count) if heights else []


def filled(heights: list[float], limit: float) -> list[int]:
    """The columns that are filled one after another, none beyond the limit; a column too many where one region is taller."""
    found, column, room = [], 0, limit
    for one in heights:
        if one > room:
            column, room = column + 1, limit
        room = room - one if one <= limit else float("-inf")
        found.append(column if one <= limit else len(heights) + COLUMNS)
    return found


def laid(graph: Resting) -> tuple[list[Point], dict[str, Point], Point]:
    """The corners of the regions, where each claim's dot is, and how large the whole is."""
    heights = [height(topics) + GAP for _, topics in graph.chapters]
    corners, dots, tops = [], {}, {}
    for (_, topics), column, tall in zip(graph.chapters, columns(heights), heights):
        x, y = column * (WIDTH + GAP), tops.get(column, 0.0)
        tops[column] = y + tall
        corners.append((x, y))
        y += HEAD
        for topic in topics:
            for at, node in enumerate(topic.nodes):
                dots[node.id] = (x + EDGE + (at % MOST + 0.5) * STEP, y + head_of(topic) + MORE * (at // MOST))
            y += height_of(topic)
    size = (WIDTH * len(tops) + GAP * (len(tops) - 1), max(tops.values()) - GAP) if tops else (0.0, 0.0)
    return corners, dots, size


# How it looks ------------------------------------------------------------------------------------------------------------------


def key(id_: str) -> str:
    """A claim's name in an address of the map."""
    return id_.replace("#", "--")


def drawn(graph: Resting) -> str:
    """The picture. Who cannot see it has the list, so that nothing here is read aloud until a script makes it work."""
    corners, dots, (wide, tall) = laid(graph)
    parts = [
        f'<svg class="map__picture" viewBox="0 0 {short(wide)} {short(tall)}" aria-hidden="true" data-search-exclude>',
    ]
    placed = list(zip(graph.chapters, corners))
    parts += [region(topics, x, y) for (_, topics), (x, y) in placed]
    parts.append('<g class="map__edges">')
    parts += [edge(graph.nodes[start], graph.nodes[end], dots) for start, end in graph.edges if end in dots]
    parts.append('</g><g class="map__names">')  # above the curves, which would strike them through
    for (title, topics), (x, y) in placed:
        parts += names(title, topics, x, y)
    parts.append('</g><g class="map__dots">')
    parts += [dot(node, *dots[node.id], node.id in graph.linked) for node in graph.nodes.values()]
    return "\n".join([*parts, "</g></svg>"])


def region(topics: tuple[Topic, ...], x: float, y: float) -> str:
    return f'<rect class="map__region" x="{short(x)}" y="{short(y)}" width="{short(WIDTH)}" height="{short(height(topics))}" rx="6"/>'


def names(title: str, topics: tuple[Topic, ...], x: float, y: float) -> Parts:
    """The name of a chapter and of its topics, a long one in more than one line."""
    at = short(x + EDGE)
    parts = [f'<text class="map__chapter" x="{at}" y="{short(y + 27)}">{escape(title)}</text>']
    y += HEAD
    for topic in topics:
        spans = "".join(f'<tspan x="{at}" dy="{short(LINE)}">{escape(line)}</tspan>' for line in lines(topic)[1:])
        parts.append(f'<text class="map__topic" x="{at}" y="{short(y + 10)}">{escape(lines(topic)[0])}{spans}</text>')
        y += height_of(topic)
    return parts


def edge(start: Node, end: Node, dots: dict[str, Point]) -> str:
    """An arc above the dots within a topic; a curve that leans to one side between topics."""
    (a, b), (c, d) = dots[start.id], dots[end.id]
    if start.topic == end.topic and b == d:
        lift = min(5 + abs(a - c) * 0.14, 17)
        curve = f"M{short(a)} {short(b)}C{short(a)} {short(b - lift)} {short(c)} {short(d - lift)} {short(c)} {short(d)}"
    else:
        far = hypot(c - a, d - b)
        lean = min(0.16 * far, 60) / (far or 1)
        x, y = (a + c) / 2 - (d - b) * lean, (b + d) / 2 + (c - a) * lean
        curve = f"M{short(a)} {short(b)}Q{short(x)} {short(y)} {short(c)} {short(d)}"
    across = "" if start.topic == end.topic else ' class="map__across"'
    return f'<path{across} d="{curve}" data-from="{key(start.id)}" data-to="{key(end.id)}"/>'


def dot(node: Node, x: float, y: float, linked: bool) -> str:
    """Large if it is a page's result, small if nothing uses it and it uses nothing; a diamond if it is refuted, a ring if it is a name."""
    size = 5.6 if node.rank == "theorem" else 4.0 if linked else 2.6
    kind = node.claim["kind"]
    if kind == "refutation":
        size += 0.6
        shape = f'<path d="M{short(x - size)} {short(y)}l{short(size)} {short(-size)} {short(size)} {short(size)}{short(-size)} {short(size)}z"/>'
    else:
        shape = f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(size)}"/>'
    css = {"refutation": ' class="map__refuted"', "definition": ' class="map__name"'}.get(kind, "")
    return f'<a{css} href="#{key(node.id)}" tabindex="-1">{shape}</a>'


def proportion(picture: str) -> str:
    """The breadth and the height of a picture, as a style says them."""
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert found, "what was drawn has a viewBox"
    return f"{found[1]} / {found[2]}"


# As a list ---------------------------------------------------------------------------------------------------------------------


def listed(graph: Resting, parent: Element, stash: Callable[[str], str], way: Callable[[str], str]) -> Element:
    """Append every claim with what it uses, by chapter and topic. `way` turns a page into the way there. Raises MathsError."""
    box = SubElement(parent, "div", {"class": "map__list", "data-search-exclude": ""})
    for title, topics in graph.chapters:
        chapter = SubElement(box, "details")
        count = sum(len(topic.nodes) for topic in topics)
        SubElement(chapter, "summary").text = stash(f"{escape(title)} <span class='map__said'>{quantity(count, 'claim')}</span>")
        for topic in topics:
            head = SubElement(chapter, "p")
            SubElement(head, "a", {"href": way(f"{topic.name}.md")}).text = stash(escape(topic.title))
            entries = SubElement(chapter, "ul", {"data-topic": stash(escape(topic.title))})
            for node in topic.nodes:
                entry(graph, node, entries, stash, way)
    return box


def entry(graph: Resting, node: Node, parent: Element, stash: Callable[[str], str], way: Callable[[str], str]) -> None:
    item = SubElement(parent, "li", {"id": key(node.id), "data-rank": stash(node.rank)})
    if node.page:
        address = f"{way(node.page)}#{node.anchor}"
        SubElement(item, "a", {"href": address}).text = stash(f"({node.number}) {called(node)}")
    else:
        SubElement(item, "span").text = stash(called(node))
    SubElement(item, "span", {"class": "map__said"}).text = stash(escape(said(node)))
    if node.uses:
        rests = SubElement(item, "span", {"class": "map__uses"})
        rests.text = stash("uses ")
        for use in node.uses:
            link = SubElement(rests, "a", {"href": f"#{key(use)}"})
            link.text, link.tail = stash(called(graph.nodes[use])), stash(", ") if use != node.uses[-1] else None


def called(node: Node) -> str:
    return authored(node.claim["title"]) if node.claim["title"] else escape(node.claim["id"])


def said(node: Node) -> str:
    """Its kind, and who vouches for it."""
    kind = KINDS[node.claim["kind"]].lower()
    names = [NAMES.get(one["name"], one["name"]) for one in node.claim["witnesses"] if one["verdict"] != "not applicable"]
    rank = f"{kind}, a page’s result" if node.rank == "theorem" else kind
    return f"{rank}; {', '.join(names)}" if names and node.claim["kind"] != "definition" else rank
