"""The map of all claims and their uses, as an SVG picture and as a list for those who cannot see the picture.

A chapter is a region, a topic in it a row of dots, and a dot a claim, in the order of the script: the claims that a claim uses are to its
left or in another row. A use is a curve. The layout is deterministic. A dot links to its entry in the list; where JavaScript runs,
docs/assets/js/map.js takes everything that it shows from the picture and the list.
"""

import re
from collections.abc import Callable
from html import escape
from math import hypot
from textwrap import wrap
from xml.etree.ElementTree import Element, SubElement

from ..errors import quantity
from ..printing.mathml import render_author_text
from .claim_details import WITNESSES as NAMES
from .claim_details import Stash
from .claim_graph import ClaimGraph, Node, Topic
from .claim_html import KINDS
from .svg_picture import Point, short

COLUMNS = 5
DOT_DISTANCE, TOPIC_HEIGHT = 14.0, 50.0  # the distance between dots, and the height of a topic with one row of dots
ROW_LENGTH = 20  # dots in a row
ROW_DISTANCE = 22.0  # between rows of dots of the same topic
MARGIN, HEAD, GAP = 16.0, 44.0, 22.0  # of a region: its margin, the height of its title, and the distance to the next region
WIDTH = 2 * MARGIN + ROW_LENGTH * DOT_DISTANCE
DOTS_TOP = 34.0  # from the top of a topic down to its dots
LINE_LENGTH, LINE_HEIGHT = 26, 21.0  # characters in a line of a topic's name at its largest size, and the distance between lines


# Layout ------------------------------------------------------------------------------------------------------------------------


def title_lines(topic: Topic) -> list[str]:
    """Return the title of a topic, broken into lines."""
    return wrap(topic.title, LINE_LENGTH) or [""]


def dots_offset(topic: Topic) -> float:
    """Return the distance from the top of a topic down to its first dots."""
    return DOTS_TOP + LINE_HEIGHT * (len(title_lines(topic)) - 1)


def topic_height(topic: Topic) -> float:
    """Return the height of a topic."""
    return TOPIC_HEIGHT - DOTS_TOP + dots_offset(topic) + ROW_DISTANCE * ((max(len(topic.nodes), 1) - 1) // ROW_LENGTH)


def region_height(topics: tuple[Topic, ...]) -> float:
    """Return the height of the region of a chapter."""
    return HEAD + sum(map(topic_height, topics)) + MARGIN / 2


def assign_columns(heights: list[float], count: int = COLUMNS) -> list[int]:
    """Return the column of each region: regions stay in order, and the tallest column is as low as possible.

    >>> assign_columns([3, 1, 1, 1, 3], 3)
    [0, 1, 1, 1, 2]
    """
    limits = sorted({sum(heights[i:j]) for i in range(len(heights)) for j in range(i + 1, len(heights) + 1)})
    return next(filled for limit in limits if max(filled := fill_columns(heights, limit), default=0) < count) if heights else []


def fill_columns(heights: list[float], limit: float) -> list[int]:
    """Return the columns of regions that fill one column after another up to the limit; a column that does not exist if one is taller."""
    filled, column, room = [], 0, limit
    for height in heights:
        if height > room:
            column, room = column + 1, limit
        room = room - height if height <= limit else float("-inf")
        filled.append(column if height <= limit else len(heights) + COLUMNS)
    return filled


def lay_out(graph: ClaimGraph) -> tuple[list[Point], dict[str, Point], Point]:
    """Return the corners of the regions, the positions of the dots by id, and the width and height of the picture."""
    heights = [region_height(topics) + GAP for _, topics in graph.chapters]
    corners: list[Point] = []
    dots: dict[str, Point] = {}
    tops: dict[int, float] = {}
    for (_, topics), column, height in zip(graph.chapters, assign_columns(heights), heights):
        x, y = column * (WIDTH + GAP), tops.get(column, 0.0)
        tops[column] = y + height
        corners.append((x, y))
        y += HEAD
        for topic in topics:
            for at, node in enumerate(topic.nodes):
                dot_x = x + MARGIN + (at % ROW_LENGTH + 0.5) * DOT_DISTANCE
                dots[node.id] = (dot_x, y + dots_offset(topic) + ROW_DISTANCE * (at // ROW_LENGTH))
            y += topic_height(topic)
    size = (WIDTH * len(tops) + GAP * (len(tops) - 1), max(tops.values()) - GAP) if tops else (0.0, 0.0)
    return corners, dots, size


# Picture -----------------------------------------------------------------------------------------------------------------------


def entry_id(id_: str) -> str:
    """Return the id of a claim's entry in the list."""
    return id_.replace("#", "--")


def draw_map(graph: ClaimGraph) -> str:
    """Return the picture as SVG. It is hidden from screen readers, which have the list, until map.js makes it interactive."""
    corners, dots, (width, height) = lay_out(graph)
    parts = [
        f'<svg class="map__picture" viewBox="0 0 {short(width)} {short(height)}" aria-hidden="true" data-search-exclude>',
    ]
    placed = list(zip(graph.chapters, corners))
    parts += [draw_region(topics, x, y) for (_, topics), (x, y) in placed]
    parts.append('<g class="map__edges">')
    parts += [draw_edge(graph.nodes[start], graph.nodes[end], dots) for start, end in graph.edges if end in dots]
    names = [name for (title, topics), (x, y) in placed for name in draw_names(title, topics, x, y)]
    # Above the curves, which would strike them through: first the ground of all names, then the names.
    parts += ['</g><g class="map__grounds" aria-hidden="true">', *names, '</g><g class="map__names">', *names]
    parts.append('</g><g class="map__dots">')
    parts += [draw_dot(node, *dots[node.id], node.id in graph.linked) for node in graph.nodes.values()]
    return "\n".join([*parts, "</g></svg>"])


def draw_region(topics: tuple[Topic, ...], x: float, y: float) -> str:
    return (
        f'<rect class="map__region" x="{short(x)}" y="{short(y)}" width="{short(WIDTH)}" height="{short(region_height(topics))}" rx="6"/>'
    )


def draw_names(title: str, topics: tuple[Topic, ...], x: float, y: float) -> list[str]:
    """Return the names of a chapter and of its topics; long names take several lines."""
    at = short(x + MARGIN)
    parts = [f'<text class="map__chapter" x="{at}" y="{short(y + 27)}">{escape(title)}</text>']
    y += HEAD
    for topic in topics:
        spans = "".join(f'<tspan x="{at}" dy="{short(LINE_HEIGHT)}">{escape(line)}</tspan>' for line in title_lines(topic)[1:])
        parts.append(f'<text class="map__topic" x="{at}" y="{short(y + 10)}">{escape(title_lines(topic)[0])}{spans}</text>')
        y += topic_height(topic)
    return parts


def draw_edge(start: Node, end: Node, dots: dict[str, Point]) -> str:
    """Return a use: an arc above the dots within a row, else a curve that bends to one side."""
    (a, b), (c, d) = dots[start.id], dots[end.id]
    if start.topic == end.topic and b == d:
        lift = min(5 + abs(a - c) * 0.14, 17)
        curve = f"M{short(a)} {short(b)}C{short(a)} {short(b - lift)} {short(c)} {short(d - lift)} {short(c)} {short(d)}"
    else:
        distance = hypot(c - a, d - b)
        bend = min(0.16 * distance, 60) / (distance or 1)
        x, y = (a + c) / 2 - (d - b) * bend, (b + d) / 2 + (c - a) * bend
        curve = f"M{short(a)} {short(b)}Q{short(x)} {short(y)} {short(c)} {short(d)}"
    across = "" if start.topic == end.topic else ' class="map__across"'
    return f'<path{across} d="{curve}" data-from="{entry_id(start.id)}" data-to="{entry_id(end.id)}"/>'


def draw_dot(node: Node, x: float, y: float, linked: bool) -> str:
    """Return a claim: large for a page's result, small without uses; a diamond for a refutation, a ring for a definition."""
    size = 5.6 if node.rank == "theorem" else 4.0 if linked else 2.6
    kind = node.claim["kind"]
    if kind == "refutation":
        size += 0.6
        shape = f'<path d="M{short(x - size)} {short(y)}l{short(size)} {short(-size)} {short(size)} {short(size)}{short(-size)} {short(size)}z"/>'
    else:
        shape = f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(size)}"/>'
    css = {"refutation": ' class="map__refuted"', "definition": ' class="map__name"'}.get(kind, "")
    return f'<a{css} href="#{entry_id(node.id)}" tabindex="-1">{shape}</a>'


def aspect_ratio(picture: str) -> str:
    """Return the aspect ratio of a picture as CSS writes it."""
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    assert match, "every picture has a viewBox"
    return f"{match[1]} / {match[2]}"


# List --------------------------------------------------------------------------------------------------------------------------


def add_list(graph: ClaimGraph, parent: Element, stash: Stash, link: Callable[[str], str]) -> Element:
    """Append every claim with its uses, by chapter and topic. `link` returns the link to a page, given by its path below docs/.

    Raise MathsError if a title contains a formula that cannot be shown.
    """
    box = SubElement(parent, "div", {"class": "map__list", "data-search-exclude": ""})
    for title, topics in graph.chapters:
        chapter = SubElement(box, "details")
        count = sum(len(topic.nodes) for topic in topics)
        SubElement(chapter, "summary").text = stash(f"{escape(title)} <span class='map__said'>{quantity(count, 'claim')}</span>")
        for topic in topics:
            head = SubElement(chapter, "p")
            SubElement(head, "a", {"href": link(f"{topic.name}.md")}).text = stash(escape(topic.title))
            entries = SubElement(chapter, "ul", {"data-topic": stash(escape(topic.title))})
            for node in topic.nodes:
                _add_entry(graph, node, entries, stash, link)
    return box


def _add_entry(graph: ClaimGraph, node: Node, parent: Element, stash: Stash, link: Callable[[str], str]) -> None:
    item = SubElement(parent, "li", {"id": entry_id(node.id), "data-rank": stash(node.rank)})
    if node.page:
        address = f"{link(node.page)}#{node.anchor}"
        SubElement(item, "a", {"href": address}).text = stash(f"({node.number}) {_title(node)}")
    else:
        SubElement(item, "span").text = stash(_title(node))
    SubElement(item, "span", {"class": "map__said"}).text = stash(escape(_summary(node)))
    if node.uses:
        uses = SubElement(item, "span", {"class": "map__uses"})
        uses.text = stash("uses ")
        for use in node.uses:
            anchor = SubElement(uses, "a", {"href": f"#{entry_id(use)}"})
            anchor.text, anchor.tail = stash(_title(graph.nodes[use])), stash(", ") if use != node.uses[-1] else None


def _title(node: Node) -> str:
    """Return the title of a claim as HTML, or its id."""
    return render_author_text(node.claim["title"]) if node.claim["title"] else escape(node.claim["id"])


def _summary(node: Node) -> str:
    """Return the kind of a claim, and the witnesses that vouch for it."""
    kind = KINDS[node.claim["kind"]].lower()
    names = [NAMES.get(one["name"], one["name"]) for one in node.claim["witnesses"] if one["verdict"] != "not applicable"]
    rank = f"{kind}, a page’s result" if node.rank == "theorem" else kind
    return f"{rank}; {', '.join(names)}" if names and node.claim["kind"] != "definition" else rank
