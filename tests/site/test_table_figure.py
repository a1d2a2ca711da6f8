"""Tests of figures that are tables: headings, links, and input that is rejected."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site.figure_block import render_figure
from derivations.kernel.site.svg_picture import DrawingError
from derivations.kernel.site.table_figure import table
from snippets.serving.models import cache_bytes_per_token, models

ROOT = Path(__file__).parents[2]
ABOUT = {"title": "Two rows", "description": "A table."}


def test_each_row_and_column_has_a_heading_and_links_have_addresses():
    made = table(("name", "size", "source"), [("a", "12", [("paper", "https://a.b/c")]), ("b", "wide", [])], **ABOUT)
    found = BeautifulSoup(made.html, "html.parser")
    assert [one.text for one in found.select("thead th[scope=col]")] == ["name", "size", "source"]
    assert [one.text for one in found.select("tbody th[scope=row]")] == ["a", "b"]
    assert [(one.text, one["href"]) for one in found.find_all("a")] == [("paper", "https://a.b/c")]
    scroller = found.select_one(".table-figure__scroll")
    assert found.find(id=scroller["aria-labelledby"]).text == "Two rows" and scroller["tabindex"] == "0"


@pytest.mark.parametrize(
    ("rows", "said"),
    [([("a", "1"), ("b",)], "the row 'b' has 1 cells, but there are 2 columns"), ([("a", "n = 1")], "only claims state relations")],
)
def test_a_wrong_row_is_rejected(rows, said):
    with pytest.raises(DrawingError, match=said):
        table(("name", "size"), rows, **ABOUT)


def test_the_models_of_the_page_are_those_of_the_file():
    html, _ = render_figure("serving/models:sizes", ROOT / "docs", "picture-sizes")
    rows = BeautifulSoup(html, "html.parser").select("tbody tr")
    assert [row.th.text for row in rows] == [*models()]
    for row, model in zip(rows, models().values(), strict=True):
        size = cache_bytes_per_token(model, tokens=32_768, itemsize=2) / 1024
        assert [cell.text for cell in row.find_all("td")[:3]] == [f"{size:,.1f}", str(model.layers), f"{model.width:,}"]


def test_a_column_is_marked_if_all_its_cells_are_numbers():
    html = "".join(table(("name", "size", "what"), [("a", "1,024.5", "2 of 3"), ("b", "7", "4")], **ABOUT).html)
    marked = [cell.text for cell in BeautifulSoup(html, "html.parser").select(".table-figure__number")]
    assert marked == ["size", "1,024.5", "7"]
