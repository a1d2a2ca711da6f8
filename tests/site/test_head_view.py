"""Tests of the view of attention heads: its content, invalid input, and the style sheet, which shows one head and one token at a time."""

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site.figure_block import render_figure
from derivations.kernel.site.head_view import MAX_HEADS, MIN_WEIGHT, head_view
from derivations.kernel.site.svg_picture import ID_PLACEHOLDER, DrawingError

ROOT = Path(__file__).parents[2]
CSS = ROOT / "docs/assets/css/heads.css"
ABOUT = {"title": "Two heads", "description": "They look about."}
FIRST = [[1.0, 0.0], [0.25, 0.75]]
SECOND = [[0.0, 1.0], [0.996, 0.004]]


def view(heads=(("first", FIRST), ("second", SECOND)), left=("a", "b"), right=("c", "d"), **more):
    return head_view(heads, left, right, **(ABOUT | more))


def soup(**more):
    return BeautifulSoup(view(**more).html, "html.parser")


def test_heads_and_tokens_are_radio_buttons_in_groups():
    found = soup()
    names = {name: [one for one in found.find_all("input") if one["name"] == f"{ID_PLACEHOLDER}-{name}"] for name in ("head", "token")}
    assert len(names["head"]) == 2 and len(names["token"]) == 3  # two tokens, and all
    assert all(one["type"] == "radio" for one in found.find_all("input")) and len(found.find_all("input")) == 5
    assert [one.has_attr("checked") for one in names["head"]] == [True, False]
    assert [one.has_attr("checked") for one in names["token"]] == [False, False, True]
    assert {one["aria-label"] for one in found.select("[role=radiogroup]")} == {"Head", "One query, or all"}
    checked = [one.has_attr("checked") for one in soup(shown=1).find_all("input")]
    assert checked == [True, False, False, True, False]


def test_buttons_have_names_and_token_names_say_where_it_looks():
    found = soup()
    labels = [one.get_text(" ", strip=True) for one in found.find_all("label")]
    assert labels[:2] == ["first", "second"] and labels[-1] == "all"
    assert labels[2] == "a , place 1; first: 1.00 on c at place 1; second: 1.00 on d at place 2"
    assert labels[3] == "b , place 2; first: 0.75 on d at place 2, 0.25 on c at place 1; second: 1.00 on c at place 1"


def test_title_and_description_are_accessible():
    group = soup().select_one(".heads")
    assert group["role"] == "group"
    assert group.find(id=group["aria-labelledby"]).text == "Two heads"
    assert group.find(id=group["aria-describedby"]).text == "They look about."


def test_lines_and_numbers_equal_the_weights():
    rows = soup().select(".heads__row")
    for row, of_first, of_second in zip(rows, FIRST, SECOND, strict=True):
        for order, weights in enumerate((of_first, of_second)):
            drawn = [weight for weight in weights if weight >= MIN_WEIGHT]
            lines = row.select(f".heads__lines.heads__of--{order} path")
            assert len(lines) == len(drawn)
            assert [float(line["stroke-opacity"]) for line in lines] == [pytest.approx(0.08 + 0.92 * w, abs=0.005) for w in drawn]
            assert [one.text for one in row.select(f".heads__numbers.heads__of--{order} span")] == [f"{w:.2f}" for w in drawn]
    crossing = rows[1].select(".heads__of--0 path")[0]["d"]
    assert crossing.startswith("M0 3C") and crossing.endswith("100 1")


def test_view_has_no_scripts_and_no_external_resources():
    found = soup()
    assert not found.find_all(["script", "iframe", "object", "img", "link", "style"])
    assert not [name for tag in found.find_all() for name in tag.attrs if name.startswith("on") or name in ("href", "src")]


def test_names_are_escaped():
    assert "<span>R&amp;D</span>" in view(left=("R&D", "b")).html


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": ()}, "a view shows 1 to 4 heads, not 0"),
        ({"heads": [("one", FIRST)] * (MAX_HEADS + 1)}, "4 heads, not 5"),
        ({"left": ("a", "b", "c")}, "3 and 2 tokens; the weights of the first are 2 by 2"),
        ({"right": ("a",)}, "2 and 1 tokens; the weights of the first are 2 by 2"),
        ({"right": ("a", "P = NP")}, "states a relation"),
        ({"title": " "}, "needs a title and a description"),
        ({"description": "b is ≤ c"}, "states a relation"),
    ],
)
def test_invalid_input_is_rejected(change, message):
    with pytest.raises(DrawingError, match=message):
        view(**change)


def test_weights_may_have_more_columns_than_rows():
    found = BeautifulSoup(head_view([("one", [[0.2, 0.3, 0.5]])], ["a"], ["c", "d", "e"], **ABOUT).html, "html.parser")
    assert len(found.select("path")) == 3 and found.svg["viewbox"] == "0 0 100 6"


def test_style_sheet_has_rules_for_each_head():
    css = CSS.read_text(encoding="utf-8")
    for order in range(MAX_HEADS):
        assert len(re.findall(rf"heads__head--{order} :checked.*heads__of--{order}\b", css)) == 3
    assert f"heads__head--{MAX_HEADS}" not in css


def test_view_on_the_site_has_unique_ids():
    html = "".join(render_figure("seeing/heads:view", ROOT / "docs", name)[0] for name in ("picture-1", "picture-2"))
    assert ID_PLACEHOLDER not in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 4
    groups = {one["name"] for one in BeautifulSoup(html, "html.parser").find_all("input")}
    assert groups == {"picture-1-head", "picture-1-token", "picture-2-head", "picture-2-token"}


# In a browser: what each choice shows ------- -----------------------------------------------------------------------------

PAGE = """<!doctype html><meta name=viewport content="width=device-width">
<style>.md-typeset svg { height: auto; max-width: 100% } * { transition: none !important }</style>
<link rel=stylesheet href=site.css><link rel=stylesheet href=heads.css>
<body data-md-color-scheme=default class=md-typeset><figure class=picture>VIEW</figure>"""
LOOK = """(() => {
  const shown = css => [...document.querySelectorAll(css)].filter(one => getComputedStyle(one).display !== 'none');
  return [
    shown('.heads__lines.heads__of--0').length, shown('.heads__lines.heads__of--1').length,
    shown('.heads__lines').filter(one => getComputedStyle(one).opacity === '1').length,
    Math.round(shown('.heads__lines')[0].getBoundingClientRect().height / document.querySelector('.heads__row').offsetHeight),
    shown('.heads__numbers').map(one => one.innerText.trim()).join('|'), document.documentElement.scrollWidth > innerWidth];
})()"""


def test_keyboard_shows_one_head_and_one_token_at_a_time(chromium, crawler, tmp_path):
    (tmp_path / "page.html").write_text(PAGE.replace("VIEW", view().html.replace(ID_PLACEHOLDER, "x")))
    for sheet in (CSS, ROOT / "docs/assets/css/site.css"):
        shutil.copy(sheet, tmp_path)
    with crawler.served(tmp_path) as site, chromium() as browser:
        browser.look(width=390, height=800)
        browser.open(f"{site}page.html")
        found = [browser.run(LOOK)]
        # Go past the first group to the second, whose third button, "all", is checked. From there an arrow key goes up.
        for keys in (["Tab", "ArrowRight"], ["Tab", "ArrowUp"], ["ArrowDown"]):
            for key in keys:
                browser.press(key)
            found.append(browser.run(LOOK))
    all_of_first, all_of_second, one_of_second, again = found
    assert all_of_first == [2, 0, 2, 2, "", False]
    assert all_of_second == again == [0, 2, 2, 2, "", False]
    assert one_of_second == [0, 2, 1, 2, "1.00", False]
