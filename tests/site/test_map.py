"""Tests of the map of claims: a dot for every claim, a curve for every use, a list of the same claims, and all ways to use it."""

import gzip
import json
import posixpath
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site import PageError, block_handlers, claim_graph, graph_svg
from derivations.kernel.store.certificates import STORE, topics

ROOT = Path(__file__).parents[2]
SCRIPTS = [ROOT / "docs/assets/js/map.js", *sorted((ROOT / "docs/assets/js/map").glob("*.js"))]
NAV = "nav: [{Home: index.md}, {Second: [{Of two: b/two.md}]}, {First: [{Of one: a/one.md}]}, {Map: map.md}]"
PAGES = {
    "index.md": "# Home\n\n/// theorem | a/one#p\n///\n",
    "map.md": "# Map\n\n/// map\n///\n",
    "a/one.md": "# One\n\n/// claim | a/one#p\n///\n\n/// routine | a/one#q\n///\n",
    "b/two.md": "# Two\n\n/// derivation | b/two\n///\n",
}


def claim(name, *uses, kind="identity"):
    witnesses = [{"name": "exact", "verdict": "proved"}, {"name": "torch", "verdict": "not applicable"}]
    return {"id": name, "title": f"{name} & so on", "kind": kind, "uses": list(uses), "witnesses": witnesses}


@pytest.fixture
def store():
    """Return the certificates of three topics; one of them has no page."""
    return {
        "a/one": {"claims": [claim("p"), claim("q", "p")]},
        "b/two": {"claims": [claim("name", kind="definition"), claim("r", "a/one#q"), claim("wrong", "r", kind="refutation")]},
        "c/three": {"claims": [claim("s")]},
    }


@pytest.fixture
def graph(store, tmp_path):
    for name, text in PAGES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return lambda: claim_graph.build_graph(tmp_path, store.__getitem__, sorted(store), NAV)


@pytest.fixture(scope="module")
def whole():
    """Return the map of the site, from its certificates."""
    read = {topic: STORE.require(topic) for topic in topics()}
    return claim_graph.build_graph(ROOT / "docs", read.__getitem__, topics())


def parsed(svg):
    return BeautifulSoup(svg, "html.parser")


# The graph ----------------------------------------------------------------------------------------------------------------------


def test_chapters_follow_the_navigation_and_claims_their_scripts(graph):
    names = [(chapter, [[node.id for node in topic.nodes] for topic in topics_]) for chapter, topics_ in graph().chapters]
    assert names == [("Second", [["b/two#name", "b/two#r", "b/two#wrong"]]), ("First", [["a/one#p", "a/one#q"]]), ("More", [["c/three#s"]])]


def test_chapter_may_be_inside_a_part():
    settings = "nav: [{Home: index.md}, {Part: [{Preface: a/preface.md}, {First: [{One: a/one.md}]}]}, {Second: [{Two: b/two.md}]}]"
    assert list(claim_graph.read_navigation(settings)) == [
        ("", "Home", "index.md"),
        ("Part", "Preface", "a/preface.md"),
        ("First", "One", "a/one.md"),
        ("Second", "Two", "b/two.md"),
    ]


def test_claim_links_to_its_topic_page_and_has_its_highest_rank(graph):
    nodes = graph().nodes
    p, q, s = nodes["a/one#p"], nodes["a/one#q"], nodes["c/three#s"]
    assert (p.page, p.anchor, p.number, p.rank) == ("a/one.md", "p", 1, "theorem")  # the same as on its topic's page
    assert (q.page, q.number, q.rank) == ("a/one.md", 2, "routine")
    assert (s.page, s.rank) == ("", "unshown")


def test_unused_claims_without_rank_are_idle(graph, store):
    assert [node.id for node in graph().find_unused_results()] == [
        "c/three#s"
    ]  # "wrong" is refuted, "name" a definition, p a theorem, q and r used
    store["b/two"]["claims"].pop()
    assert [node.id for node in graph().find_unused_results()] == ["b/two#r", "c/three#s"]
    store["a/one"]["claims"][1]["uses"].clear()
    assert [node.id for node in graph().find_unused_results()] == ["b/two#r", "c/three#s"]  # p is still a theorem


def test_use_of_a_missing_claim_stops_the_page(page, certificates, monkeypatch, graph, store):
    monkeypatch.setattr(block_handlers, "topics", list)
    assert "map__picture" in page("/// map\n///\n")
    assert graph().find_missing_uses() == []
    store["a/one"]["claims"][1]["uses"] = ["a/one#gone"]
    assert graph().find_missing_uses() == [("a/one#q", "a/one#gone")]
    broken = graph()
    monkeypatch.setattr(claim_graph, "build_graph", lambda *_: broken)
    with pytest.raises(PageError, match=r"a/one#q uses 'a/one#gone', which is not a claim"):
        page("/// map\n///\n")


def test_second_map_is_rejected(refused):
    assert "leave out 'other'" in refused("/// map | other\n///\n")


# Layout -------------------------------------------------------------------------------------------------------------------------


def test_columns_are_filled_in_order_and_as_low_as_possible():
    assert graph_svg.assign_columns([3, 1, 1, 1, 3], 3) == [0, 1, 1, 1, 2]
    assert graph_svg.assign_columns([1, 9, 1], 3) == [0, 1, 2]
    assert graph_svg.assign_columns([1, 1, 1, 1], 2) == [0, 0, 1, 1]
    assert graph_svg.assign_columns([], 3) == []


def test_layout_is_deterministic(graph, store):
    once = graph_svg.draw_map(graph())
    again = dict(reversed(store.items()))
    store.clear()
    store.update(again)
    assert graph_svg.draw_map(graph()) == once


def test_every_claim_has_its_own_dot_inside_its_region(whole):
    corners, dots, (wide, tall) = graph_svg.lay_out(whole)
    assert set(dots) == set(whole.nodes) and len(set(dots.values())) == len(dots)
    for (_, topics_), (x, y) in zip(whole.chapters, corners):
        for node in (node for topic in topics_ for node in topic.nodes):
            a, b = dots[node.id]
            assert x < a < x + graph_svg.WIDTH <= wide and y + graph_svg.HEAD < b < y + graph_svg.region_height(topics_) <= tall


def test_used_claims_are_placed_before_the_claims_that_use_them(whole):
    for topic in (topic for _, topics_ in whole.chapters for topic in topics_):
        order = [node.id for node in topic.nodes]
        assert all(order.index(use) < order.index(node.id) for node in topic.nodes for use in node.uses if use in order)


def test_curves_are_exactly_the_uses(whole):
    picture = parsed(graph_svg.draw_map(whole))
    drawn = Counter((path["data-from"], path["data-to"]) for path in picture.select(".map__edges path"))
    assert drawn == Counter((graph_svg.entry_id(a), graph_svg.entry_id(b)) for a, b in whole.edges) and len(drawn) > 300
    assert [dot["href"][1:] for dot in picture.select(".map__dots a")] == list(map(graph_svg.entry_id, whole.nodes))


def test_names_are_drawn_above_curves_and_below_dots(graph):
    groups = [group["class"] for group in parsed(graph_svg.draw_map(graph())).select("svg > g")]
    assert groups == [["map__edges"], ["map__grounds"], ["map__names"], ["map__dots"]]


def test_long_name_is_wrapped_and_its_dots_move_down(graph, monkeypatch):
    title = "A name of a topic that no one line holds"
    before = graph_svg.lay_out(graph())[1]
    monkeypatch.setattr(claim_graph, "read_navigation", lambda settings: [("First", title, "a/one.md"), ("First", "Of two", "b/two.md")])
    picture, (_, after, _) = parsed(graph_svg.draw_map(graph())), graph_svg.lay_out(graph())
    long = picture.select_one(".map__topic")
    lines = [long.contents[0], *(span.text for span in long("tspan"))]
    assert " ".join(lines) == title and len(lines) == 2 and max(map(len, lines)) <= graph_svg.LINE_LENGTH
    assert after["a/one#p"][1] == min(y for _, y in before.values()) + graph_svg.LINE_HEIGHT


def test_dots_show_the_kind_of_claim(graph):
    dots = {dot["href"]: dot for dot in parsed(graph_svg.draw_map(graph())).select(".map__dots a")}
    assert dots["#b/two--wrong"]["class"] == ["map__refuted"] and dots["#b/two--wrong"].path
    assert dots["#b/two--name"]["class"] == ["map__name"]
    sizes = [float(dots[name].circle["r"]) for name in ("#a/one--p", "#a/one--q", "#c/three--s")]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_text_from_settings_and_certificates_is_escaped(graph, monkeypatch):
    monkeypatch.setattr(claim_graph, "read_navigation", lambda settings: [("<b>Bold", "<i>", "a/one.md")])
    assert "<b>" not in graph_svg.draw_map(graph()) and "&lt;i&gt;" in graph_svg.draw_map(graph())


# On the site --------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def html(built):
    return (built / "map/index.html").read_text(encoding="utf-8")


def test_list_links_to_every_claim_and_to_its_uses(html, whole):
    listed = BeautifulSoup(html, "html.parser").select(".map__list li")
    assert [item["id"] for item in listed] == list(map(graph_svg.entry_id, whole.nodes))
    for item, node in zip(listed, whole.nodes.values()):
        assert posixpath.normpath(f"map/{item.a['href']}") == f"{node.page.removesuffix('.md')}/#{node.anchor}"
        assert [link["href"] for link in item.select(".map__uses a")] == [f"#{graph_svg.entry_id(use)}" for use in node.uses]


def test_page_and_scripts_are_small(html, whole):
    claims = len(whole.nodes)
    assert len(html) < 560 * claims and len(gzip.compress(html.encode())) < 75 * claims
    assert len(gzip.compress(b"".join(path.read_bytes() for path in SCRIPTS))) < 7_800


def test_no_other_page_loads_the_map(built):
    others = [path for path in built.rglob("*.html") if path.parent.name != "map"]
    assert others and not any("assets/js/map.js" in path.read_text(encoding="utf-8") for path in others)


# In a browser -------------------------------------------------------------------------------------------------------------------

USED, USING = "scaling/variance--variance", "scaling/variance--scaled"
PANEL = "document.querySelector('.map__panel')"
ALIVE = "document.querySelector('.map.is-alive')"
LINKS = f"[...{PANEL}.querySelectorAll('li a')].map((link) => link.getAttribute('href').slice(1))"
VIEW = "document.querySelector('.map__picture').getAttribute('viewBox')"
CHOSEN = "document.querySelector('.map__dots .is-chosen')?.getAttribute('href').slice(1)"


def shown_at(tab, key):
    tab.until(f"{CHOSEN} === {json.dumps(key)} && !{PANEL}.hidden")


@pytest.fixture
def chart(browse):
    tab = browse("map/")
    tab.until(ALIVE)
    return tab


def test_address_selects_a_claim_and_panel_shows_its_uses(browse, whole):
    tab = browse(f"map/#{USED}")
    shown_at(tab, USED)
    text = tab.run(f"{PANEL}.textContent")
    assert "The variance is the width" in text and "law" in text and "exact" in text and "Variance of the scores" in text
    assert tab.run(f"{PANEL}.querySelector('.map__title a').getAttribute('href')") == "../scaling/variance/#variance"
    above, left = set(), [USED.replace("--", "#")]
    while left:
        one = left.pop()
        new = {a for a, b in whole.edges if b == one} - above
        above |= new
        left += new
    assert set(tab.run(LINKS)) == set(map(graph_svg.entry_id, above)) and USING in tab.run(LINKS)
    lit = "[...document.querySelectorAll('.map__edges .is-above')].map((edge) => edge.dataset.from)"
    assert set(tab.run(lit)) == set(map(graph_svg.entry_id, above))
    assert not tab.run("document.querySelector('.map__edges .is-below')")


def test_panel_links_select_other_claims_and_history_goes_back(browse):
    tab = browse(f"map/#{USED}")
    shown_at(tab, USED)
    tab.run(f"[...{PANEL}.querySelectorAll('li a')].find((link) => link.hash === '#{USING}').focus()")
    tab.press("Enter")
    shown_at(tab, USING)
    assert tab.run(f"document.activeElement === {PANEL}") and USED in tab.run(LINKS)
    tab.page.go_back()
    shown_at(tab, USED)


def test_map_is_usable_by_keyboard(chart):
    chart.run("document.querySelector('.map__picture').focus()")
    before = chart.run(VIEW)
    chart.press("+")
    near = chart.run(VIEW)
    chart.press("ArrowRight")
    assert before != near != chart.run(VIEW) and not chart.run(CHOSEN)
    chart.press("0")
    assert chart.run(VIEW) == before
    chart.press("Tab")
    first = chart.run("document.activeElement.getAttribute('href').slice(1)")
    chart.press("Enter")
    shown_at(chart, first)
    chart.press("ArrowRight")
    second = chart.run("document.activeElement.getAttribute('href').slice(1)")
    shown_at(chart, second)
    chart.press("ArrowLeft")
    shown_at(chart, first)
    assert first != second and chart.run("location.hash.slice(1)") == first
    assert chart.run("document.querySelectorAll('.map__dots a[tabindex=\"0\"]').length") == 1
    chart.press("Escape")
    assert chart.run(f"{PANEL}.hidden && !location.hash && !document.querySelector('.is-chosen')")


def test_search_highlights_and_selects_claims(chart):
    chart.run("document.querySelector('.map__finder input').focus()")
    chart.type("variance width")
    count = int(re.match(r"\d+", chart.run("document.querySelector('.map__status').textContent"))[0])
    assert count == chart.run("document.querySelectorAll('.map__dots .is-hit').length") > 1
    first = chart.run("document.querySelector('.map__hits a').getAttribute('href').slice(1)")
    chart.press("Enter")
    shown_at(chart, first)
    assert not chart.run("document.querySelector('.map__hits a, .has-hits')")
    chart.run("document.querySelector('.map__finder input').focus()")
    chart.type("<img src=x>")
    assert chart.run("document.querySelector('.map__status').textContent") == "0 claims" and not chart.run(
        "document.querySelector('.map img')"
    )


def test_pointer_selects_and_drags_and_wheel_needs_focus(chart):
    place = "(() => { const box = document.querySelector('.map__dots a:nth-child(20)').getBoundingClientRect(); return [box.x + box.width / 2 + 3, box.y + box.height / 2]; })()"
    chart.run("document.querySelector('.map__bar').scrollIntoView()")
    x, y = chart.run(place)
    before = chart.run(VIEW)
    chart.page.mouse.move(x, y)
    chart.page.mouse.wheel(0, -1)
    assert chart.run(VIEW) == before
    chart.page.mouse.click(x, y)
    shown_at(chart, chart.run("document.querySelector('.map__dots a:nth-child(20)').getAttribute('href').slice(1)"))
    chosen, before = chart.run(CHOSEN), chart.run(VIEW)
    chart.page.mouse.wheel(0, -100)
    chart.until(f"{VIEW} !== {json.dumps(before)}")
    before = chart.run(VIEW)
    x, y = chart.run(place)
    chart.page.mouse.move(x, y)
    chart.page.mouse.down()
    chart.page.mouse.move(x + 30, y + 20, steps=3)
    chart.page.mouse.up()
    assert chart.run(VIEW) != before and chart.run(CHOSEN) == chosen


def test_focusable_dots_have_accessible_names(chart):
    names = chart.run("[...document.querySelectorAll('.map__dots a')].map((dot) => dot.getAttribute('aria-label'))")
    assert all(names) and not chart.run("document.querySelector('.map__picture').hasAttribute('aria-hidden')")


def box(tab, css):
    """Return the position of an element in the window."""
    return tab.run(f"document.querySelector({json.dumps(css)}).getBoundingClientRect().toJSON()")


def within(inner, outer):
    return all(outer[low] <= inner[low] and inner[high] <= outer[high] for low, high in (("left", "right"), ("top", "bottom")))


def apart(one, other):
    return one["right"] <= other["left"] or other["right"] <= one["left"] or one["bottom"] <= other["top"] or other["bottom"] <= one["top"]


def dot_of(key):
    return f".map__dots a[href='#{key}']"


def middle_of(key):
    return f"(() => {{ const at = document.querySelector({json.dumps(dot_of(key))}).getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]; }})()"


FIRST = "document.querySelector('.map__dots a').getAttribute('href').slice(1)"
LAST = "together/gpt--tied"  # at the right end of the map; USED is at its left end


def test_going_back_clears_the_selection(chart):
    chart.run(f"location.hash = '{USED}'")
    shown_at(chart, USED)
    chart.page.go_back()
    chart.until(f"{PANEL}.hidden && !document.querySelector('.has-choice, .is-chosen, .is-above')")
    chart.page.go_forward()
    shown_at(chart, USED)
    chart.run("document.querySelector('.map__panel li a').click()")  # one press closes a choice that was made from another choice
    chart.until(f"{CHOSEN} !== '{USED}'")
    chart.run("document.querySelector('.map__close').click()")
    assert chart.run(f"{PANEL}.hidden && !location.hash")


@pytest.mark.parametrize("key", [USED, LAST])
def test_selection_and_neighbours_fill_the_space_beside_the_panel(browse, whole, key):
    tab = browse(f"map/#{key}")
    shown_at(tab, key)
    tab.settle()
    stage, panel = box(tab, ".map__stage"), box(tab, ".map__panel")
    assert within(panel, stage) and apart(panel, box(tab, ".map__ring")) and apart(panel, box(tab, ".map__label"))
    ring, dot = box(tab, ".map__ring"), box(tab, dot_of(key))
    assert within(dot, ring) and within(ring, stage) and ring["width"] < 40
    name = tab.run("document.querySelector('.map__label').textContent")
    assert name == tab.run(f"{PANEL}.querySelector('.map__title').textContent.trim()")


def test_selection_with_near_neighbours_is_enlarged(browse, whole):
    tab = browse(f"map/#{LAST}")
    shown_at(tab, LAST)
    tab.settle()
    ends = [a if graph_svg.entry_id(b) == LAST else b for a, b in whole.edges if LAST in (graph_svg.entry_id(a), graph_svg.entry_id(b))]
    stage, panel = box(tab, ".map__stage"), box(tab, ".map__panel")
    dots = [box(tab, dot_of(graph_svg.entry_id(end))) for end in ends]
    assert dots and all(within(dot, stage) and apart(dot, panel) for dot in dots)
    near = float(tab.run(VIEW).split()[2])
    tab.run("document.querySelector('[aria-label=\"Show all\"]').click()")
    assert near < 0.5 * float(tab.run(VIEW).split()[2])


@pytest.mark.parametrize("key", [None, USED, LAST], ids=["first", "left", "right"])
def test_selection_shows_no_area_outside_the_map(browse, key):
    tab = browse("map/")
    tab.until(ALIVE)
    key = key or tab.run(FIRST)
    tab.run(f"location.hash = {json.dumps(key)}")
    shown_at(tab, key)
    tab.settle()
    stage, panel = box(tab, ".map__stage"), box(tab, ".map__panel")
    regions = tab.run("[...document.querySelectorAll('.map__region')].map((one) => one.getBoundingClientRect().toJSON())")
    assert min(one["top"] for one in regions) - stage["top"] < 30
    if panel["left"] - stage["left"] > 30:
        assert min(one["left"] for one in regions) - stage["left"] < 30
    else:
        assert stage["right"] - max(one["right"] for one in regions) < 30


@pytest.mark.parametrize("look", [{}, {"width": 390, "height": 844, "phone": True}], ids=["desk", "phone"])
def test_closing_the_panel_restores_the_view(browse, look):
    tab = browse("map/", **look)
    tab.until(ALIVE)
    tab.run("document.querySelector('[aria-label=\"Zoom in\"]').click()")
    before = tab.run(VIEW)
    for key in (USED, LAST):
        tab.run(f"location.hash = '{key}'")
        shown_at(tab, key)
        assert tab.run(VIEW) != before
    tab.press("Escape")
    assert tab.run(f"{PANEL}.hidden") and tab.run(VIEW) == before
    tab.run("document.querySelector('.map__finder input').focus()")
    tab.type("variance")
    assert tab.run(VIEW) != before
    tab.press("Escape")
    assert tab.run(VIEW) == before


def test_closing_the_panel_keeps_a_view_chosen_by_the_reader(chart):
    before = chart.run(VIEW)
    chart.run(f"location.hash = '{USED}'")
    shown_at(chart, USED)
    chart.run("document.querySelector('.map__picture').focus()")
    chart.press("+")
    gone = chart.run(VIEW)
    chart.press("Escape")
    assert chart.run(VIEW) == gone != before


def test_whole_map_starts_at_the_top_with_readable_names(browse):
    tab = browse("map/", width=1280)
    tab.until(ALIVE)
    tab.settle()
    assert box(tab, ".map__region")["top"] - box(tab, ".map__stage")["top"] < 12
    across = float(tab.run(VIEW).split()[2]) / box(tab, ".map__stage")["width"]
    size = tab.run("parseFloat(getComputedStyle(document.querySelector('.map__topic')).fontSize)")
    assert size / across >= 11
    name, ground = (f"getComputedStyle(document.querySelector('.map__{group} .map__topic'))" for group in ("names", "grounds"))
    assert tab.run(f"{name}.stroke") == "none" and tab.run(f"{name}.pointerEvents") == tab.run(f"{ground}.pointerEvents") == "none"
    assert tab.run(f"{ground}.stroke") == tab.run("getComputedStyle(document.querySelector('.map__region')).fill")
    assert tab.run(f"parseFloat({ground}.strokeWidth)") / across >= 6  # a space is about half as wide
    regions, names = (
        tab.run(f"[...document.querySelectorAll('{css}')].map((one) => one.getBoundingClientRect().toJSON())")
        for css in (".map__region", ".map__names text")
    )
    assert all(any(within(name, region) for region in regions) for name in names)


def test_name_of_the_selection_is_readable_above_others(chart):
    chart.run(f"location.hash = '{USED}'")
    shown_at(chart, USED)
    across = float(chart.run(VIEW).split()[2]) / box(chart, ".map__stage")["width"]
    assert chart.run("parseFloat(getComputedStyle(document.querySelector('.map__label')).strokeWidth)") / across >= 5


LEFT = "((one) => { const text = document.createRange(); text.selectNodeContents(one); return text.getBoundingClientRect().left; })"


def test_panel_and_list_are_aligned_on_the_left(browse):
    for look in ({}, {"width": 390, "height": 844, "phone": True}):
        tab = browse(f"map/#{USED}", **look)
        shown_at(tab, USED)
        lefts = tab.run(
            f"[...{PANEL}.querySelectorAll('.map__title, h2, li a, summary')].filter((one) => one.checkVisibility()).map({LEFT})"
        )
        assert tab.run(f"{PANEL}.querySelector('summary').checkVisibility()") and max(lefts) - min(lefts) < 1
        listed = tab.run(f"[...document.querySelectorAll('.map__list > details > summary')].map({LEFT})")
        assert {round(left) for left in listed} == {round(box(tab, ".map__list")["left"])}


def test_panel_keeps_away_from_the_dot(browse):
    for key, side in ((USED, "right"), (LAST, "left")):
        tab = browse(f"map/#{key}")
        shown_at(tab, key)
        panel, stage = box(tab, ".map__panel"), box(tab, ".map__stage")
        assert abs(panel[side] - stage[side]) < 20


def test_panel_shows_the_statement_of_the_claim(browse):
    tab = browse(f"map/#{USED}")
    shown_at(tab, USED)
    tab.until(f"{PANEL}.querySelector('.map__formula math')")
    formula = "document.querySelector('.map__formula')"
    assert "Var" in tab.run(f"{formula}.textContent") and not tab.run(f"{formula}.querySelector('[id], a, button')")
    assert box(tab, ".map__formula")["height"] <= 150
    assert within(box(tab, ".map__formula"), box(tab, ".map__panel"))


def test_panel_links_to_the_formula(browse):
    tab = browse("map/#blocks/merge--log-sum")
    shown_at(tab, "blocks/merge--log-sum")
    tab.run(f"{PANEL}.querySelector('.map__title a').click()")
    tab.until_at("/blocks/merge/#log-sum")
    tab.until("document.querySelector('#log-sum > .claim__folded')?.open")


@pytest.mark.parametrize("look", [{}, {"width": 390, "height": 844, "phone": True}], ids=["desk", "phone"])
def test_search_hits_leave_the_map_visible(browse, look):
    tab = browse(f"map/#{LAST}", **look)
    shown_at(tab, LAST)
    tab.run("document.querySelector('.map__finder input').focus()")
    tab.type("variance")
    stage, hits = box(tab, ".map__stage"), box(tab, ".map__hits")
    first = tab.run("document.querySelector('.map__hits a').getAttribute('href').slice(1)")
    dot = box(tab, dot_of(first))
    assert within(dot, stage) and apart(dot, hits) and not tab.run(f"{PANEL}.checkVisibility()")
    covered = (hits["right"] - hits["left"]) * (hits["bottom"] - hits["top"])
    assert covered < 0.4 * stage["width"] * stage["height"]
    tab.press("Escape")
    assert tab.run(f"{PANEL}.checkVisibility() && !document.querySelector('.map__hits').checkVisibility()")


def test_search_lists_theorems_first_and_routine_claims_last(chart, whole):
    chart.run("document.querySelector('.map__finder input').focus()")
    chart.type("variance")
    found = chart.run("[...document.querySelectorAll('.map__hits a')].map((link) => link.getAttribute('href').slice(1))")
    ranks = {graph_svg.entry_id(name): node.rank for name, node in whole.nodes.items()}
    order = [("theorem", "claim", "routine").index(ranks[key]) for key in found]
    assert USED in found and order == sorted(order) and order[0] == 0


def test_panel_is_a_sheet_inside_the_window_on_a_phone(browse):
    key = "simplify/bilinear--rank"
    phone = browse(f"map/#{key}", width=390, height=844, phone=True)
    shown_at(phone, key)
    phone.until(f"{PANEL}.querySelector('.map__formula math')")
    assert phone.run("document.documentElement.scrollWidth") <= 390
    sheet, ring, stage = (box(phone, css) for css in (".map__panel", ".map__ring", ".map__stage"))
    assert sheet["width"] > 300 and sheet["height"] <= 0.45 * 844 + 1 and sheet["bottom"] <= 844
    assert within(ring, stage) and ring["bottom"] < sheet["top"] and ring["top"] > box(phone, ".md-header")["bottom"]
    phone.run(f"{PANEL}.scrollTop = 1000")
    assert phone.run(f"{PANEL}.scrollTop") > 0 and within(box(phone, ".map__close"), sheet)
    phone.page.tap(".map__close")
    assert phone.run(f"{PANEL}.hidden && !location.hash")


def test_tap_selects_and_shows_a_claim_on_a_phone(browse):
    phone = browse("map/", width=390, height=844, phone=True)
    phone.until(ALIVE)
    phone.run(SCROLL_TO_MAP)
    key = phone.run("document.querySelector('.map__dots a').getAttribute('href').slice(1)")
    phone.page.touchscreen.tap(*phone.run(middle_of(key)))
    shown_at(phone, key)
    sheet = box(phone, ".map__panel")
    assert sheet["bottom"] <= 844 and box(phone, ".map__ring")["bottom"] < sheet["top"]


SCROLL_TO_MAP = "(document.querySelector('.map__bar').scrollIntoView(), scrollBy(0, -60))"


@pytest.fixture
def fingers(browse):
    """Return a phone that shows the map, and a function that moves fingers by a distance over it."""
    phone = browse("map/", width=390, height=844, phone=True)
    phone.until(ALIVE)
    phone.run(SCROLL_TO_MAP)
    devtools = phone.page.context.new_cdp_session(phone.page)

    def move(*points, by=lambda k: (0, 0)):
        touches = [[{"x": x + k * by(n)[0], "y": y + k * by(n)[1], "id": n} for n, (x, y) in enumerate(points)] for k in range(11)]
        for k, touch in enumerate(touches):
            devtools.send("Input.dispatchTouchEvent", {"type": "touchMove" if k else "touchStart", "touchPoints": touch})
        devtools.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        return phone.run("scrollY"), [float(number) for number in phone.run(VIEW).split()]

    return phone, move


def test_one_finger_scrolls_the_page_and_two_move_and_enlarge_the_map(fingers):
    phone, move = fingers
    top, seen = phone.run("scrollY"), [float(number) for number in phone.run(VIEW).split()]
    scrolled, after = move((200, 500), by=lambda _: (0, -15))
    assert scrolled > top + 50 and after == seen and phone.run("document.querySelector('.map__stage').classList.contains('is-passed')")
    phone.until("!document.querySelector('.map__stage.is-passed')")
    phone.run(SCROLL_TO_MAP)
    top = phone.run("scrollY")
    scrolled, left = move((300, 300), by=lambda _: (-10, 0))
    assert scrolled == top and left[0] > seen[0] + 50 and left[2] == seen[2]
    scrolled, up = move((150, 300), (220, 300), by=lambda _: (0, -10))
    assert scrolled == top and up[1] > left[1] + 50 and abs(up[2] - left[2]) < 1
    scrolled, near = move((150, 250), (220, 250), by=lambda n: (0, 10 * n))
    assert scrolled == top and near[2] < up[2] - 50


def test_buttons_of_the_map_are_beside_its_search_field_on_a_phone(browse):
    phone = browse("map/", width=390, height=844, phone=True)
    phone.until(ALIVE)
    assert apart(box(phone, ".map__finder input"), box(phone, "[aria-label='Zoom in']"))


def test_tap_near_a_dot_selects_it_on_a_phone(browse):
    phone = browse("map/", width=390, height=844, phone=True)
    phone.until(ALIVE)
    phone.run(SCROLL_TO_MAP)
    key = phone.run(FIRST)
    x, y = phone.run(middle_of(key))
    phone.page.touchscreen.tap(x - 20, y)
    assert phone.run("location.hash") == f"#{key}"


def test_four_hits_and_their_count_fit_on_a_phone(browse):
    phone = browse("map/", width=390, height=844, phone=True)
    phone.until(ALIVE)
    wide = box(phone, ".map__finder input")["width"]
    phone.run("document.querySelector('.map__finder input').focus()")
    phone.type("variance")
    hits, field, count = (box(phone, css) for css in (".map__hits", ".map__finder input", ".map__status"))
    seen = phone.run("[...document.querySelectorAll('.map__hits a')].map((one) => one.getBoundingClientRect().toJSON())")
    assert sum(within(one, hits) for one in seen) >= 4 and hits["right"] <= 390
    assert field["width"] == wide > 200 and within(count, field) and count["height"] < 25
    assert field["right"] - count["right"] >= 8


def test_overflowing_formula_has_a_shadow_at_its_edge(browse):
    phone = browse(f"map/#{USED}", width=390, height=844, phone=True)
    shown_at(phone, USED)
    phone.until(f"{PANEL}.querySelector('.map__formula math')")
    attached = phone.run("getComputedStyle(document.querySelector('.map__formula')).backgroundAttachment").split(", ")
    assert attached == ["local"] * 4 + ["scroll"] * 4


def test_dot_links_to_its_list_entry_without_javascript(browse):
    tab = browse(f"map/#{USED}", script=False)
    item = tab.page.locator(f"[id='{USED}']")
    assert item.count() == 1 and "The variance is the width" in item.inner_text()
    assert tab.page.locator(".map__picture").get_attribute("aria-hidden") == "true"
