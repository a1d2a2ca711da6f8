"""The map: every claim has its place and every use its curve, in the picture as in the list, and a reader gets about in it by any means."""

import gzip
import json
import posixpath
import re
from collections import Counter
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.pages import PageError, beside, charting, resting
from derivations.kernel.run.certificates import STORE, topics

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
    """Three topics, of which a page lacks one."""
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
    return lambda: resting.resting(tmp_path, store.__getitem__, sorted(store), NAV)


@pytest.fixture(scope="module")
def whole():
    """The map of the site, from the certificates as they are."""
    read = {topic: json.loads((STORE / f"{topic}.json").read_text(encoding="utf-8")) for topic in topics()}
    return resting.resting(ROOT / "docs", read.__getitem__, topics())


def parsed(svg):
    return BeautifulSoup(svg, "html.parser")


# What there is ------------------------------------------------------------------------------------------------------------------


def test_chapters_come_as_the_navigation_has_them_and_claims_as_their_scripts_do(graph):
    names = [(chapter, [[node.id for node in topic.nodes] for topic in topics_]) for chapter, topics_ in graph().chapters]
    assert names == [("Second", [["b/two#name", "b/two#r", "b/two#wrong"]]), ("First", [["a/one#p", "a/one#q"]]), ("More", [["c/three#s"]])]


def test_a_claim_stands_on_its_topics_page_and_has_the_highest_rank_of_any(graph):
    nodes = graph().nodes
    p, q, s = nodes["a/one#p"], nodes["a/one#q"], nodes["c/three#s"]
    assert (p.page, p.anchor, p.number, p.rank) == ("a/one.md", "p", 1, "theorem")  # as at home
    assert (q.page, q.number, q.rank) == ("a/one.md", 2, "routine")
    assert (s.page, s.rank) == ("", "unshown")


def test_what_nothing_uses_and_no_page_ranks_is_idle(graph, store):
    assert [node.id for node in graph().idle()] == ["c/three#s"]  # "wrong" is refuted, "name" a definition, p a theorem, q and r used
    store["b/two"]["claims"].pop()
    assert [node.id for node in graph().idle()] == ["b/two#r", "c/three#s"]
    store["a/one"]["claims"][1]["uses"].clear()
    assert [node.id for node in graph().idle()] == ["b/two#r", "c/three#s"]  # p is still a theorem


def test_a_use_of_what_is_not_there_stops_the_page(page, certificates, monkeypatch, graph, store):
    monkeypatch.setattr(beside, "topics", list)
    assert "map__picture" in page("/// map\n///\n")
    assert graph().missing() == []
    store["a/one"]["claims"][1]["uses"] = ["a/one#gone"]
    assert graph().missing() == [("a/one#q", "a/one#gone")]
    broken = graph()
    monkeypatch.setattr(resting, "resting", lambda *_: broken)
    with pytest.raises(PageError, match=r"a/one#q uses 'a/one#gone', and there is no such claim"):
        page("/// map\n///\n")


def test_there_is_one_map(refused):
    assert "leave out 'other'" in refused("/// map | other\n///\n")


# Where it stands ----------------------------------------------------------------------------------------------------------------


def test_columns_are_filled_in_order_and_as_low_as_can_be():
    assert charting.columns([3, 1, 1, 1, 3], 3) == [0, 1, 1, 1, 2]
    assert charting.columns([1, 9, 1], 3) == [0, 1, 2]
    assert charting.columns([1, 1, 1, 1], 2) == [0, 0, 1, 1]
    assert charting.columns([], 3) == []


def test_the_same_claims_lie_in_the_same_places(graph, store):
    once = charting.drawn(graph())
    again = dict(reversed(store.items()))
    store.clear()
    store.update(again)
    assert charting.drawn(graph()) == once


def test_every_claim_of_the_site_has_a_dot_of_its_own_within_its_region(whole):
    corners, dots, (wide, tall) = charting.laid(whole)
    assert set(dots) == set(whole.nodes) and len(set(dots.values())) == len(dots)
    for (_, topics_), (x, y) in zip(whole.chapters, corners):
        for node in (node for topic in topics_ for node in topic.nodes):
            a, b = dots[node.id]
            assert x < a < x + charting.WIDTH <= wide and y + charting.HEAD < b < y + charting.height(topics_) <= tall


def test_what_is_used_in_a_topic_stands_before_what_uses_it(whole):
    for topic in (topic for _, topics_ in whole.chapters for topic in topics_):
        order = [node.id for node in topic.nodes]
        assert all(order.index(use) < order.index(node.id) for node in topic.nodes for use in node.uses if use in order)


def test_every_use_is_a_curve_and_nothing_else_is(whole):
    picture = parsed(charting.drawn(whole))
    drawn = Counter((path["data-from"], path["data-to"]) for path in picture.select(".map__edges path"))
    assert drawn == Counter((charting.key(a), charting.key(b)) for a, b in whole.edges) and len(drawn) > 300
    assert [dot["href"][1:] for dot in picture.select(".map__dots a")] == list(map(charting.key, whole.nodes))


def test_marks_say_what_a_claim_is(graph):
    dots = {dot["href"]: dot for dot in parsed(charting.drawn(graph())).select(".map__dots a")}
    assert dots["#b/two--wrong"]["class"] == ["map__refuted"] and dots["#b/two--wrong"].path
    assert dots["#b/two--name"]["class"] == ["map__name"]
    sizes = [float(dots[name].circle["r"]) for name in ("#a/one--p", "#a/one--q", "#c/three--s")]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 3


def test_text_from_settings_and_certificates_is_text(graph, monkeypatch):
    monkeypatch.setattr(resting, "navigation", lambda settings: [("<b>Bold", "<i>", "a/one.md")])
    assert "<b>" not in charting.drawn(graph()) and "&lt;i&gt;" in charting.drawn(graph())


# On the site --------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def html(built):
    return (built / "map/index.html").read_text(encoding="utf-8")


def test_the_list_holds_every_claim_and_leads_to_it_and_to_what_it_uses(html, whole):
    listed = BeautifulSoup(html, "html.parser").select(".map__list li")
    assert [item["id"] for item in listed] == list(map(charting.key, whole.nodes))
    for item, node in zip(listed, whole.nodes.values()):
        assert posixpath.normpath(f"map/{item.a['href']}") == f"{node.page.removesuffix('.md')}/#{node.anchor}"
        assert [link["href"] for link in item.select(".map__uses a")] == [f"#{charting.key(use)}" for use in node.uses]


def test_the_page_and_its_scripts_are_light(html):
    assert len(html) < 500_000 and len(gzip.compress(html.encode())) < 90_000
    assert len(gzip.compress(b"".join(path.read_bytes() for path in SCRIPTS))) < 6_000


def test_no_other_page_asks_for_the_map(built):
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


def test_an_address_chooses_and_the_panel_says_what_rests_on_what(browse, whole):
    tab = browse(f"map/#{USED}")
    shown_at(tab, USED)
    text = tab.run(f"{PANEL}.textContent")
    assert "The variance is the width" in text and "law" in text and "exact" in text and "Mean and variance" in text
    assert tab.run(f"{PANEL}.querySelector('.map__title a').getAttribute('href')") == "../scaling/variance/#variance"
    above, left = set(), [USED.replace("--", "#")]
    while left:
        one = left.pop()
        new = {a for a, b in whole.edges if b == one} - above
        above |= new
        left += new
    assert set(tab.run(LINKS)) == set(map(charting.key, above)) and USING in tab.run(LINKS)
    lit = "[...document.querySelectorAll('.map__edges .is-above')].map((edge) => edge.dataset.from)"
    assert set(tab.run(lit)) == set(map(charting.key, above))
    assert not tab.run("document.querySelector('.map__edges .is-below')")


def test_a_link_in_the_panel_goes_on_from_there_and_back(browse):
    tab = browse(f"map/#{USED}")
    shown_at(tab, USED)
    tab.run(f"[...{PANEL}.querySelectorAll('li a')].find((link) => link.hash === '#{USING}').focus()")
    tab.press("Enter")
    shown_at(tab, USING)
    assert tab.run(f"document.activeElement === {PANEL}") and USED in tab.run(LINKS)
    tab.page.go_back()
    shown_at(tab, USED)


def test_keys_alone_lead_through_it(chart):
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


def test_the_search_marks_and_chooses(chart):
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


def test_a_pointer_chooses_and_drags_and_the_wheel_waits_for_the_focus(chart):
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


def test_every_dot_that_can_be_reached_has_a_name(chart):
    names = chart.run("[...document.querySelectorAll('.map__dots a')].map((dot) => dot.getAttribute('aria-label'))")
    assert all(names) and not chart.run("document.querySelector('.map__picture').hasAttribute('aria-hidden')")


def test_it_fits_a_phone(browse):
    phone = browse(f"map/#{USED}", width=390, height=844, phone=True)
    shown_at(phone, USED)
    assert phone.run("document.documentElement.scrollWidth") <= 390
    stage, panel = (
        phone.run(f"document.querySelector('{css}').getBoundingClientRect().toJSON()") for css in (".map__stage", ".map__panel")
    )
    assert stage["bottom"] <= panel["top"] and panel["width"] > 300


def test_without_javascript_a_dot_leads_to_its_entry(browse):
    tab = browse(f"map/#{USED}", script=False)
    item = tab.page.locator(f"[id='{USED}']")
    assert item.count() == 1 and "The variance is the width" in item.inner_text()
    assert tab.page.locator(".map__picture").get_attribute("aria-hidden") == "true"
