"""Tests of figures: the block and its errors, when a figure is drawn again, and every figure of the site."""

import ast
import importlib.util
import json
import math
import re
import sys
from math import inf, nan
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from bs4 import BeautifulSoup

from derivations.kernel.site import diagrams, figure_block, hardcoded_numbers, page_lint
from derivations.kernel.site import svg_picture as pictures_
from derivations.kernel.site.diagrams import (
    MAX_OPACITY,
    DrawingError,
    bars,
    below,
    beside,
    curves,
    heat_map,
    mask,
    operations,
    shapes,
    tokens,
)
from derivations.kernel.site.svg_picture import number, text, text_width
from derivations.kernel.site.weight_pictures import Column, head_grid, sentence_weights, token_columns
from derivations.kernel.snippet_source import parse
from derivations.kernel.store import dependencies, store

ROOT = Path(__file__).parents[2]
ABOUT = {"title": "A title", "description": "A description."}
SOURCE = """from derivations.kernel.site.diagrams import Picture, bars
from {package}.numbers import value


def one() -> Picture:
    return bars([("one", value())], title="One bar", description=f"Its number is {{value()}}.")


def _hidden() -> Picture:
    return one()
"""


@pytest.fixture
def site(page, refused, tmp_path, monkeypatch):
    """Return a site with one figure module and one snippet, which imports another."""
    package = f"snippets_{tmp_path.name.replace('-', '_').lower()}"
    files = {
        "docs/figures/notes/page.py": SOURCE.format(package=package),
        f"{package}/__init__.py": "",
        f"{package}/numbers.py": "from .deeper import base\n\n\ndef value():\n    return base()\n",
        f"{package}/deeper.py": "def base():\n    return 3\n",
        f"{package}/deeper.json": "{}",
        f"{package}/other.py": "",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(figure_block, "ROOT", tmp_path)
    monkeypatch.setattr(store, "FOLDER", tmp_path / ".certificates")
    monkeypatch.setattr(figure_block, "PACKAGE", package)
    monkeypatch.setattr(figure_block, "_LOADED", {str(ROOT / name): digest for name, digest in figure_block._LOADED.items()})
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    drawn, draw = [], figure_block._run_function
    monkeypatch.setattr(figure_block, "_run_function", lambda *what: drawn.append(what) or draw(*what))

    def show(name="notes/page:one", caption="A caption about $d_k$."):
        return BeautifulSoup(page(f"Text\n\n/// figure | {name}\n{caption}\n///\n"), "html.parser")

    def refuse(name="notes/page:one", caption="A caption."):
        return refused(f"Text\n\n/// figure | {name}\n{caption}\n///\n")

    def write(name, content):
        (tmp_path / name.replace("snippets", package)).write_text(content)

    def define(body):
        imported = "from derivations.kernel.site.diagrams import Picture, bars"
        write("docs/figures/notes/page.py", f"{imported}\n\n\ndef one():\n    {body}\n")

    return SimpleNamespace(
        show=show,
        refuse=refuse,
        write=write,
        define=define,
        drawn=drawn,
        root=tmp_path,
        page=page,
        stored=figure_block.STORE.path("notes/page.one"),
    )


# The block --------------------------------------------------------------------------------------------------------------


def test_figure_has_picture_description_and_caption(site):
    figure = site.show().figure
    svg = figure.svg
    assert figure["class"] == ["picture"] and svg["role"] == "img"
    assert figure.find(id=svg["aria-labelledby"]).text == "One bar"
    assert figure.find(id=svg["aria-describedby"]).text == "Its number is 3."
    assert "3.00" in [one.text for one in svg.find_all("text")]
    assert figure.figcaption.text.strip() == "A caption about dk." and figure.figcaption.find("msub")


def test_ids_are_unique_on_a_page(site):
    block = "/// figure | notes/page:one\nOnce.\n///\n"
    html = site.page(f"{block}\n{block}")
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 6


@pytest.mark.parametrize(
    "name",
    [
        "",
        "page",
        "notes/page",
        "notes/page:",
        "../notes/page:one",
        "notes/../../x/page:one",
        "notes/page.py:one",
        "/etc/passwd:one",
        "notes/page:_hidden",
        "notes/page:one()",
        "notes/page:one.__globals__",
        "Notes/Page:one",
        "notes\\page:one",
        "notes/page:one one",
        "notes//page:one",
        "notes/page:öne",
        "a/b/c:one",
        "~/page:one",
        "notes/page\u200b:one",
    ],
)
def test_invalid_name_is_rejected_and_nothing_runs(site, name):
    message = site.refuse(name)
    assert message.startswith("docs/notes/page.md:3: ") and "expected '/// figure | chapter/topic:function'" in message
    assert site.drawn == []


def test_unknown_file_is_rejected(site):
    assert site.refuse("notes/nothing:one") == (
        "docs/notes/page.md:3: the figure notes/nothing:one: there is no docs/figures/notes/nothing.py; "
        "create it, with a function 'one' that returns a Picture"
    )


def test_bar_shows_its_unit_after_its_number():
    drawn = bars([("a", 1), ("b", 12)], digits=0, unit="KiB", title="Sizes", description="Two sizes.")
    plain = bars([("a", 1), ("b", 12)], digits=0, title="Sizes", description="Two sizes.")
    said = [["".join(one.itertext()) for one in picture.elements] for picture in (drawn, plain)]
    assert {"1 KiB", "12 KiB"} < set(said[0]) and {"1", "12"} < set(said[1]) and drawn.width > plain.width


@pytest.mark.parametrize("name", ["two", "bars", "value"])
def test_function_not_defined_in_the_file_is_rejected(site, name):
    assert site.refuse(f"notes/page:{name}").endswith(f"docs/figures/notes/page.py has no function '{name}'; it has one")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no\\nnumbers')", "the function fails with ValueError: no numbers (docs/figures/notes/page.py:5)"),
        ("raise SystemExit(3)", "the function fails with SystemExit: 3 (docs/figures/notes/page.py:5)"),
        ("return 1 / 0", "the function fails with ZeroDivisionError: division by zero (docs/figures/notes/page.py:5)"),
        ("return", "one() returns NoneType; return a Picture, as the functions of diagrams.py do"),
        ("return '<svg></svg>'", "one() returns str; "),
        ("return bars([('a', 1)], title=' ', description='b')", "DrawingError: a picture needs a title and a description"),
        ("return bars([('a', 1)], title='a', description='')", "DrawingError: a picture needs a title and a description"),
        ("return bars([('a', 1)], title='a')", "TypeError: bars() missing 1 required keyword-only argument"),
        ("return Picture('a', 'b is ≤ c', 1, 1, ())", "DrawingError: 'b is ≤ c' states a relation (≤); only claims state relations"),
        ("return bars([('$QK = KQ$', 1)], title='a', description='b')", "states a relation (=)"),
        (
            "from xml.etree.ElementTree import XML\n    sign = XML('<text class=\"picture__sign\">P = NP</text>')\n"
            "    return Picture('a', 'b', 1, 1, (sign,))",
            "states a relation (=)",
        ),
        ("import nothing_of_this_name", "the function fails with ModuleNotFoundError: "),
    ],
)
def test_function_without_picture_stops_the_build_with_a_reason(site, body, said):
    site.define(body)
    message = site.refuse()
    assert message.startswith("docs/notes/page.md:3: the figure notes/page:one: ") and said in message
    assert not site.stored.exists()


def test_syntax_error_is_reported_with_file_and_line(site):
    site.write("docs/figures/notes/page.py", "x = 1\ny = = 2\n")
    assert site.refuse().endswith("docs/figures/notes/page.py:2 is not Python: invalid syntax")


def test_caption_is_required_and_checked_like_prose(site):
    said = ":3: the figure notes/page:one has no caption; write a sentence before the closing '///'"
    assert site.refuse(caption="").endswith(said)
    assert "states a relation in prose" in site.refuse(caption="So a = b.")
    assert "$a=b$ states a relation (=) by hand" in site.refuse(caption="So $a=b$.")


HOSTILE = """</title></svg><script>alert(1)</script><img src=x onerror=alert(1)> & "quoted" 'too' $x_1$ *a* `b` [c](d)"""


def test_hostile_text_is_escaped(site, monkeypatch):
    monkeypatch.setattr(pictures_, "find_text_fault", lambda said: "")  # otherwise the text is rejected for its < and =
    site.define(f"return bars([({HOSTILE!r}, 1)], title={HOSTILE!r}, description={HOSTILE!r})")
    html = site.show()
    assert html.find("script") is None and html.find("img") is None and len(html.find_all("svg")) == 1
    assert html.svg.find("title").text == html.svg.find("desc").text == HOSTILE
    assert html.svg.text.count("</title></svg><script>alert(1)</script>") == 3 and html.svg.find("em") is None


def test_placeholder_of_another_page_is_not_filled_in(site):
    site.define("return bars([('a', 1)], title='\\x02certified0\\x03', description='b')")
    assert "control character" in site.refuse()


# Kept pictures ----------------------------------------------------------------------------------------------------------


def test_unchanged_picture_is_not_drawn_again(site):
    assert site.show() == site.show() and len(site.drawn) == 1


@pytest.mark.parametrize(
    "name", ["snippets/numbers.py", "snippets/deeper.py", "snippets/__init__.py", "snippets/deeper.json", "docs/figures/notes/page.py"]
)
def test_changed_source_file_causes_redrawing(site, name):
    site.show()
    path = site.root / name.replace("snippets", figure_block.PACKAGE)
    path.write_text(path.read_text() + "\n# changed\n")
    site.show()
    site.show()
    assert len(site.drawn) == 2


READING = """from pathlib import Path
from derivations.kernel.site.diagrams import Picture, bars

READS = ("numbers.toml",)


def one():
    number = int(Path({path!r}).read_text())
    return bars([("bar", number)], title="One bar", description=f"Its number is {{number}}.")
"""


def test_changed_declared_input_causes_redrawing(site):
    path = site.root / "numbers.toml"
    site.write("docs/figures/notes/page.py", READING.format(path=str(path)))
    for shown_number in ("3", "3", "14"):
        path.write_text(shown_number)
        assert f"Its number is {shown_number}." in site.show().text
    assert len(site.drawn) == 2


def test_changed_observed_input_causes_redrawing(site):
    path = site.root / "numbers.toml"
    text = READING.replace('READS = ("numbers.toml",)\n', "").format(path=str(path))
    assert "READS" not in text
    site.write("docs/figures/notes/page.py", text)
    for shown_number in ("3", "3", "14"):
        path.write_text(shown_number)
        assert f"Its number is {shown_number}." in site.show().text
    assert len(site.drawn) == 2


@pytest.mark.parametrize("reads", ['("gone.toml",)', '["numbers.toml"]', '"numbers.toml"', "(3,)", "tuple(open('/etc/passwd'))"])
def test_declared_inputs_must_be_a_tuple_of_existing_files(site, reads):
    (site.root / "numbers.toml").write_text("3")
    site.write("docs/figures/notes/page.py", READING.replace('("numbers.toml",)', reads).format(path="numbers.toml"))
    assert "notes/page.py:4: READS must be a tuple of paths of existing files" in site.refuse() and not site.drawn


def test_running_server_sees_a_changed_number_at_once(site):
    assert "Its number is 3." in site.show().text
    site.write("snippets/deeper.py", "def base():\n    return 3 + 4\n")
    assert "Its number is 7." in site.show().text
    assert not any(name.startswith(figure_block.PACKAGE) for name in sys.modules)


def test_change_of_unrelated_file_causes_no_redrawing(site):
    site.show()
    site.write("snippets/other.py", "# changed\n")
    site.show()
    assert len(site.drawn) == 1


def test_new_torch_python_or_drawing_code_causes_redrawing(site, monkeypatch):
    site.show()
    now = dependencies.installed_version
    for key in ("python", "torch"):
        for home in (dependencies, figure_block):
            monkeypatch.setattr(home, "installed_version", lambda name, key=key: "other" if name == key else now(name))
        site.show()
    assert len(site.drawn) == 3
    content = figure_block.STORE.get("notes/page.one")
    assert {"diagrams.py", "svg_picture.py", "page.py", "numbers.py", "deeper.py"} < {
        Path(name).name for name in content["depends"]["inputs"]
    }
    assert figure_block._LOADED.items() <= content["depends"]["inputs"].items()
    monkeypatch.setattr(dependencies, "file_state", lambda name: "other")
    site.show()
    assert len(site.drawn) == 4


def test_edited_picture_is_drawn_again(site):
    site.show()
    site.stored.write_text(site.stored.read_text().replace("3.00", "4.00"))
    html = site.show()
    assert "3.00" in html.text and "Its number is 3." in html.text and len(site.drawn) == 2


def test_loaded_modules_are_restored():
    import snippets.scaling.variance as before

    with figure_block._forget_loaded_modules("snippets"):
        import snippets.scaling.variance as inside

        assert inside is not before and inside.dot is not before.dot
    assert sys.modules["snippets.scaling.variance"] is before


# What is drawn ----------------------------------------------------------------------------------------------------------


def words(picture):
    return ["".join(one.itertext()) for one in picture.every("text")]


def every(picture, tag):
    return list(picture.every(tag))


def test_heat_map_shows_numbers_in_place_on_matching_colours():
    values = torch.tensor([[0.0, -0.25], [1.0, 0.5]])
    picture = heat_map(values, ["a", "b"], ["c", "d"], across="key", down="query", marked=[(1, 0)], **ABOUT)
    assert words(picture) == ["key", "query", "a", "b", "c", "d", "0.00", "−0.25", "1.00", "0.50"]
    *cells, frame = every(picture, "rect")
    assert [float(cell.get("fill-opacity")) for cell in cells] == [0, 0.11, 0.43, 0.21]
    assert [("--minus" in cell.get("class")) for cell in cells] == [False, True, False, False]
    assert [(frame.get(key), cells[2].get(key)) for key in ("x", "y")] == [(cells[2].get(key),) * 2 for key in ("x", "y")]
    assert words(heat_map(torch.eye(2), numbers=False, **ABOUT)) == []
    assert words(heat_map([[1, -inf], [nan, 2]], **ABOUT)) == ["1", "−∞", "–", "2"]


def test_wrong_number_of_labels_is_rejected():
    with pytest.raises(DrawingError, match="there are 3 row labels and 0 column labels; the matrix is 2 by 2"):
        heat_map(torch.eye(2), ["a", "b", "c"], **ABOUT)
    with pytest.raises(DrawingError, match="2 and 3 tokens; the weights are 2 by 2"):
        tokens(torch.eye(2), ["a", "b"], ["a", "b", "c"], **ABOUT)


def test_mask_strikes_out_blocked_cells():
    picture = mask(torch.ones(3, 3).tril(), **ABOUT)
    assert [cell.get("fill-opacity") for cell in every(picture, "rect")].count("0") == len(every(picture, "path")) == 3


def test_threads_are_as_strong_as_weights_and_omitted_for_zero():
    threads = every(tokens([[1.0, 0.0], [0.25, 0.75]], ["a", "b"], ["a", "b"], **ABOUT), "path")
    assert [float(thread.get("stroke-opacity")) for thread in threads] == [1, 0.31, 0.77]
    widths = [float(thread.get("stroke-width")) for thread in threads]
    assert widths[1] < widths[2] < widths[0]


def test_bar_lengths_are_proportional_to_numbers():
    picture = bars([("a", 1), None, ("b", 4)], **ABOUT)
    assert [float(bar.get("width")) for bar in every(picture, "rect")] == [47.5, 190]
    assert words(picture) == ["a", "1.00", "b", "4.00"]
    with pytest.raises(DrawingError, match="must not be negative"):
        bars([("a", -1)], **ABOUT)


def points(path):
    return [tuple(map(float, point.split())) for point in path.get("d")[1:].split("L")]


def test_curves_pass_through_their_points():
    picture = curves([("line", [0, 1, 2], [0, 1, 2])], across="x", **ABOUT)
    (start, middle, end), sample = (points(path) for path in every(picture, "path") if "curve" in path.get("class"))
    assert middle == pytest.approx([(a + b) / 2 for a, b in zip(start, end)]) and end[1] < start[1] and len(sample) == 2
    log = curves([("", [1, 10, 100], [1, 1e4, 1e8])], across="x", log="xy", **ABOUT)
    ((start, middle, end),) = (points(path) for path in every(log, "path") if "curve" in path.get("class"))
    assert middle == pytest.approx([(a + b) / 2 for a, b in zip(start, end)], abs=0.01)
    assert {"100", "108"} < set(words(log)) and {"1", "10", "100"} < set(words(log))


def test_nonpositive_values_are_omitted_on_log_axes():
    picture = curves([("a", [1, 2, 4], [0, 1, 2], True)], across="x", log="y", **ABOUT)
    assert len(every(picture, "circle")) == 2 + 1
    with pytest.raises(DrawingError, match="no number to show that is positive"):
        curves([("a", [1, 2], [0, -1])], across="x", log="y", **ABOUT)


def test_chart_with_long_labels_is_legible_on_a_phone():
    long, level = "a label of many words for a curve", [1, 1]
    wide = curves([(long, [0, 1], level), (f"{long}, again", [0, 1], level)], across="x", **ABOUT)
    labels = {"".join(one.itertext()): y for _, y, one in placed(wide) if long in "".join(one.itertext())}
    assert labels[f"{long}, again"] - labels[long] >= 18 and min(labels.values()) > max(y for _, y, one in placed(wide) if one.text == "x")
    for picture in (wide, bars([(f"{long}, at most", 10.0), ("b", 5.0)], **ABOUT)):
        assert "picture__svg--wide" not in figure_block._to_html(figure_block._to_json(picture), "x")


def test_curves_are_distinguishable_without_colour():
    css = (ROOT / "docs/assets/css/site.css").read_text()
    dashes = [re.search(rf"\.picture__curve--{order} {{ stroke-dasharray: ([^;]*)", css) for order in range(4)]
    assert len({match and match[1] for match in dashes}) == 4
    with pytest.raises(DrawingError, match="5 curves are too many; draw at most four"):
        curves([("a", [1], [1])] * 5, across="x", **ABOUT)


def test_labels_do_not_overlap():
    picture = curves([(name, [0, 1], [0, end]) for name, end in zip("abcd", (0, 0.01, 1, 1))], across="x", **ABOUT)
    heights = sorted(float(one.get("y")) for one in picture.every("text") if one.text in set("abcd"))
    assert all(b - a >= 17.9 for a, b in zip(heights, heights[1:]))


def test_shapes_are_drawn_in_proportion_and_must_fit():
    sizes = {"n": 20, "d": 60, "d_k": 10}
    picture = shapes([("$X$", "n", "d"), ("$W$", "d", "d_k")], ("$Q$", "n", "d_k"), sizes, **ABOUT)
    drawn = [(float(one.get("width")), float(one.get("height"))) for one in every(picture, "rect")]
    assert drawn == [(60, 20), (10, 60), (10, 20)]
    assert words(picture).count("=") == 1
    with pytest.raises(DrawingError, match="has columns d and .* has rows d_k"):
        shapes([("X", "n", "d"), ("W", "d_k", "d")], ("Q", "n", "d"), sizes, **ABOUT)
    with pytest.raises(DrawingError, match="Q is d by n; the product is n by d_k"):
        shapes([("X", "n", "d"), ("W", "d", "d_k")], ("Q", "d", "n"), sizes, **ABOUT)


def test_arrows_end_at_box_edges():
    nodes = {"a": ("$A$", 0, 0, "$n$"), "b": ("add", 0, 1), "c": ("times", 1, 1)}
    picture = operations(nodes, [("a", "b", "a label"), ("c", "b")], **ABOUT)
    down, across = (path.get("d") for path in every(picture, "path"))
    (a, b, c) = ({key: float(box.get(key)) for key in ("x", "y", "width", "height")} for box in every(picture, "rect"))
    assert f"{a['y'] + a['height']:g}" in down and f"{b['y']:g}" in down
    assert across.startswith(f"M{c['x']:g} ") and f"{b['x'] + b['width']:g} " in across and "a label" in words(picture)
    with pytest.raises(DrawingError, match="an arrow names 'd'; the nodes are a, b, c"):
        operations(nodes, [("a", "d")], **ABOUT)


def test_combined_pictures_keep_their_texts():
    parts = [bars([(name, 1)], title=f"Bar {name}", description=f"About {name}.") for name in "ab"]
    for together in (beside, below):
        picture = together(*parts, title="Both")
        assert picture.description == "Bar a: About a. Bar b: About b."
        assert words(picture) == ["Bar a", "a", "1.00", "Bar b", "b", "1.00"]
    assert beside(*parts, title="Both").width > parts[0].width * 2
    assert below(*parts, title="Both").height > parts[0].height * 2


def test_text_between_dollars_is_set_as_mathematics():
    spans = list(text(0, 0, "the $W_Q^{⊤}$ of $softmax$ 2"))
    assert [(one.text, one.get("class")) for one in spans] == [
        ("the ", None),
        ("W", "picture__letter"),
        ("Q", "picture__letter picture__script"),
        ("⊤", "picture__name picture__script"),
        (" of ", None),
        ("softmax", "picture__name"),
        (" 2", None),
    ]
    shifts = [float(one.get("dy", 0)) for one in spans]
    assert sum(shifts[:4]) < 0 < shifts[2] and sum(shifts) == pytest.approx(0)
    assert text(0, 0, "plain").text == "plain" and text_width("$d_k$") < text_width("$dk$") < text_width("wide word")


def test_number_formatting():
    numbers = (1, -0.001, -2.5, 12345.678, inf, -inf, nan)
    assert [number(x) for x in numbers] == ["1.00", "0.00", "−2.50", "12,345.68", "∞", "−∞", "–"]
    assert number(3.7, 0) == "4"


# Every picture of the site ----------------------------------------------------------------------------------------------

BLOCK = re.compile(r"^/{3,} figure \| (\S+)(?: play=\w+)?$", re.M)


def shown():
    pages = {path: BLOCK.findall(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "docs").rglob("*.md"))}
    return sorted({name for names in pages.values() for name in names})


@pytest.fixture(scope="module")
def pictures():
    """Return every figure on a page, drawn anew."""
    drawn = {}
    for name in shown():
        topic, function = name.split(":")
        drawn[name] = figure_block._run_function(ROOT / f"docs/figures/{topic}.py", function)
    return drawn


def imports(tree):
    nodes = list(ast.walk(tree))
    direct = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return direct | {"." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)}


def test_figure_functions_are_shown_and_import_only_allowed_modules():
    allowed = {
        "json",
        "math",
        "torch",
        "derivations.kernel.site.diagrams",
        "derivations.kernel.site.head_view",
        "derivations.kernel.site.table_figure",
        "derivations.kernel.site.figure_widgets",
        "derivations.kernel.site.weight_pictures",
    }
    for path in sorted((ROOT / "docs/figures").rglob("*.py")):
        topic = path.relative_to(ROOT / "docs/figures").with_suffix("").as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        reading = {"pathlib", "tomllib"} if figure_block._read_declared_files(path) else set()
        assert {name for name in imports(tree) - allowed - reading if not name.startswith(("snippets.", "torch."))} == set(), path
        assert page_lint.find_figures(ROOT, topic), path
        assert page_lint.check_figures_shown(ROOT, topic) == []


def test_topics_of_the_first_chapters_have_a_figure():
    topics = {
        "scaling/variance",
        "scaling/normal",
        "scaling/saturation",
        "associativity/products",
        "associativity/rounding",
        "simplify/attempts",
        "simplify/bilinear",
        "simplify/softmax",
    }
    assert topics <= {name.partition(":")[0] for name in shown()}


def test_drawing_is_deterministic_in_any_order(pictures):
    for name in reversed(shown()):
        topic, function = name.split(":")
        again = figure_block._run_function(ROOT / f"docs/figures/{topic}.py", function)
        assert figure_block._to_json(again) == figure_block._to_json(pictures[name]), name


def test_colours_are_defined_in_the_style_sheet(pictures):
    css = (ROOT / "docs/assets/css/site.css").read_text(encoding="utf-8")
    rules = css.partition("/* Pictures")[2]
    assert rules and not re.search(r"#[0-9a-f]{3}|(rgb|hsl|lab|lch)a?\(", rules)
    for name, picture in pictures.items():
        for element in picture.every():
            assert not {"style", "fill", "stroke", "color", "onload", "href", "id"} & set(element.keys()), name
            assert all(css_class in css for css_class in element.get("class", "").split()), (name, element.get("class"))
        assert len(picture.description) > 30 and picture.title != picture.description, name


def test_numbers_of_a_picture_are_a_table_for_those_who_hear_the_page():
    weights = heat_map([[0.5, -0.25]], ["$W_Q$"], ["a", "b"], across="key", down="query", title="Weights", description="A row.")
    means = token_columns(["it"], [Column("mean", [1234.5], digits=1)], title="Means", description="A token.")
    html = figure_block._to_html(figure_block._to_json(below(weights, means, title="Both")), "x")
    tables = BeautifulSoup(html, "html.parser").select(".heads__hidden > table")
    cells = [[[cell.text for cell in row.find_all(["th", "td"])] for row in table.select("tr")] for table in tables]
    assert [table.caption.text for table in tables] == ["Weights", "Means"]
    assert cells == [[["", "key a", "key b"], ["query WQ", "0.50", "−0.25"]], [["", "mean"], ["it", "1,234.5"]]]
    scopes = [[head["scope"] for head in table.select("th")] for table in tables]
    assert scopes == [["col", "col", "row"], ["col", "row"]]


def test_wide_picture_keeps_its_size_and_scrolls_on_a_phone():
    for columns, wide in ((4, False), (20, True)):
        html = figure_block._to_html(figure_block._to_json(heat_map(torch.ones(1, columns), **ABOUT)), "x")
        assert ("picture__svg--wide" in html) == ('tabindex="0"' in html) == wide


def test_text_is_large_enough_on_a_phone(pictures):
    for name, picture in pictures.items():
        html = figure_block._to_html(figure_block._to_json(picture), "x")
        share = 1 if "picture__svg--wide" in html else min(1, pictures_.PHONE_WIDTH / picture.width)
        assert picture.smallest() * share >= pictures_.MIN_FONT_SIZE, name


@pytest.mark.parametrize("page", ["layers/experts/#picture-layer", "sparse/local/#picture-doubled", "together/gpt/#picture-block"])
def test_wide_picture_is_as_large_on_a_phone_as_it_is_drawn(browse, page):
    browser = browse(page, width=390, height=844, phone=True)
    box = "document.querySelector(':target .picture__box')"
    assert browser.run(f"{box}.scrollWidth > {box}.clientWidth && document.documentElement.scrollWidth <= 390")
    drawn = f"[...{box}.querySelectorAll('text')].map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    assert min(browser.run(drawn)) >= pictures_.MIN_FONT_SIZE


def test_drawings_stay_inside_their_picture(pictures):
    for name, picture in pictures.items():
        for x, y, one in placed(picture):
            half = text_width("".join(one.itertext()), float(one.get("font-size"))) * 0.9
            left, right = {"start": (0, half), "middle": (half / 2, half / 2), "end": (half, 0)}[one.get("text-anchor")]
            if not one.get("transform"):
                assert x - left > -12 and x + right < picture.width + 12, (name, "".join(one.itertext()))
            assert 0 <= y <= picture.height, (name, "".join(one.itertext()))


def placed(picture):
    """Return the texts of a picture, each with its position."""

    def walk(element, x, y):
        if element.tag == "g":
            dx, dy = map(float, re.findall(r"-?[\d.]+", element.get("transform")))
            for child in element:
                yield from walk(child, x + dx, y + dy)
        elif element.tag == "text":
            yield x + float(element.get("x")), y + float(element.get("y")), element

    for element in picture.elements:
        yield from walk(element, 0.0, 0.0)


def test_heat_maps_show_the_numbers_of_the_snippets(pictures):
    from snippets.simplify.attempts import solve_for_scores
    from snippets.simplify.softmax import rank_one_scores

    scores = rank_one_scores(torch.tensor([0.0, 1, 2]).double(), torch.tensor([1.0, 2, 3]).double().log())
    expected = [number(x) for M in (scores, scores.softmax(-1)) for x in M.flatten().tolist()]
    assert cells(pictures["simplify/softmax:ranks"]) == expected
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(2, 3, 3, generator=generator, dtype=torch.float64)
    Q, K = torch.randn(2, 3, 2, generator=generator, dtype=torch.float64)
    expected = [number(x, 1) for A in inputs for x in solve_for_scores(A, Q, K).flatten().tolist()]
    assert cells(pictures["simplify/attempts:solutions"]) == expected


def cells(picture):
    return ["".join(one.itertext()) for one in picture.every("text") if one.get("class") == "picture__number"]


def test_numbers_contrast_with_their_cells():
    """The ink contrasts with the strongest colour of a cell in both colour schemes."""
    spec = importlib.util.spec_from_file_location("looks", Path(__file__).with_name("test_contrast_and_width.py"))
    looks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(looks)
    for scheme in ("default", "slate"):
        colours = looks.palette(scheme)
        for name in ("link", "refuted", "query", "key", "value", "output"):
            channels = ([int(colours[one][i : i + 2], 16) for one in (name, "paper")] for i in (1, 3, 5))
            mixed = (round(diagrams.MAX_OPACITY * cell + (1 - diagrams.MAX_OPACITY) * paper) for cell, paper in channels)
            assert looks.contrast(colours["ink"], "#" + "".join(f"{channel:02x}" for channel in mixed)) >= 4.5, (scheme, name)


# On the finished site ---------------------------------------------------------------------------------------------------


FIGURE = re.compile(r"<figure\b.*?</figure>", re.S)  # parse a page only if it has a figure


def test_site_shows_every_figure_with_description_and_without_source(built):
    assert not (built / "figures").exists()
    found = 0
    for page in built.rglob("*.html"):
        for figure in BeautifulSoup("".join(FIGURE.findall(page.read_text(encoding="utf-8"))), "html.parser").select("figure.picture"):
            found += 1
            drawn = figure.select("svg:not([aria-hidden])")
            assert drawn or figure.select_one("[role=group][aria-labelledby]"), page  # the head view has tests of its own
            assert all(svg.title.text and svg.desc.text and not svg.find_all(style=True) for svg in drawn), page
    assert found >= len(shown())


PICTURE = re.compile(r'<svg class="picture__svg.*?</svg>', re.S)


def test_text_inside_pictures_is_not_indexed(built):
    pages = json.loads((built / "search/index.json").read_text(encoding="utf-8"))["pages"]
    home = (built / f"search/pages/{pages.index('')}.json").read_text(encoding="utf-8")
    title = "Attention, operation by operation"
    assert title in (built / "index.html").read_text(encoding="utf-8")
    assert "queries are compared with keys" in home.lower() and title not in home


def test_figures_are_on_the_zensical_site(built, zensical):
    assert not (zensical / "figures").exists()
    for page in built.rglob("*.html"):
        theirs = zensical / page.relative_to(built)
        if theirs.exists():
            ours, their = (PICTURE.findall(one.read_text(encoding="utf-8")) for one in (page, theirs))
            assert ours == their, page


TYPED = {
    "a matrix": 'heat_map([[0.9, 0.1], [0.7, 0.3]], title="Softmax of two rows of equal scores", description="d")',
    "under a name": "heat_map(ROWS, title='t', description='d')",
    "as a tensor": "heat_map(torch.tensor(ROWS).double(), title='t', description='d')",
    "by a keyword": "heat_map(values=[[1, 2]], title='t', description='d')",
    "a number after a label": "bars([('a', 0.9), ('b', 0.1)], title='t', description='d')",
    "labels of a dictionary": "bars({'a': 0.9, 'b': 0.1}.items(), title='t', description='d')",
    "taken from a list": "bars([(name, one) for name, one in [('a', 0.9)]], title='t', description='d')",
    "the heights of a curve": "curves([('c', [0, 1], [3, 4])], title='t', description='d', across='a')",
    "threads": "tokens([[0.5, 0.5]], ['a'], ['b', 'c'], title='t', description='d')",
    "what is kept": "mask([[True, False]], title='t', description='d')",
    "an expression of numbers": "bars([('a', 9 / 10)], title='t', description='d')",
    "as the length of a text": "heat_map([[9 / TEN, 1 / TEN]], title='t', description='d')",
    "through what leaves them": "heat_map(torch.relu(torch.tensor([[0.9, 0.1]])), title='t', description='d')",
    "through a method that leaves them": "heat_map(torch.tensor([[0.9, 0.1]]).abs().clone(), title='t', description='d')",
    "through a function of PyTorch's others": "heat_map(F.relu(torch.tensor(ROWS)), title='t', description='d')",
    "as a text that is read": "heat_map(json.loads('[[0.9, 0.1]]'), title='t', description='d')",
    "as texts that are read": "bars([('a', float('0.9'))], title='t', description='d')",
    "rounded": "bars([('a', round(0.91, 1))], title='t', description='d')",
    "put together": "heat_map(torch.stack([torch.tensor([0.9, 0.1])]), title='t', description='d')",
    "of which something was counted": "heat_map([ROWS, torch.numel(torch.relu(torch.tensor(ROWS)))][0], title='t', description='d')",
    "from its module": "drawing.heat_map([[1, 2]], title='t', description='d')",
}
FIGURES = """import torch
from derivations.kernel.site.diagrams import Picture, bars, curves, heat_map, mask, tokens
from snippets.notes.numbers import softmax

ROWS = [[0.9, 0.1], [0.7, 0.3]]
TEN = len("a" * 10)


def one() -> Picture:
    return {}
"""


@pytest.mark.parametrize("shown", TYPED.values(), ids=TYPED)
def test_handwritten_result_numbers_are_found(shown):
    ((line, said),) = hardcoded_numbers.find_typed_numbers(parse("", FIGURES.format(shown)))
    assert "shows numbers that are typed here, as if they were results; compute them" in said
    assert line == 10


@pytest.mark.parametrize(
    "shown",
    ["heat_map(softmax(torch.tensor([[0.9, 0.1]])), title='t', description='d')", "bars([('a', softmax(2.5))], title='t', description='d')",
     "below(heat_map(ROWS, title='t', description='d'), heat_map(softmax(ROWS), title='t', description='d'))",
     "bars([('a', len(softmax(ROWS)))], title='t', description='d')",
     "heat_map(torch.relu(torch.softmax(torch.tensor(ROWS), -1)), title='t', description='d')",
     "bars([('a', round(softmax(0.91), 1))], title='t', description='d')",
     "curves([('c', [0, 1], softmax(ROWS))], title='t', description='d', across='a', y_ticks=(0, 0.5, 1))"],
)  # fmt: skip
def test_handwritten_input_numbers_pass(shown):
    assert list(hardcoded_numbers.find_typed_numbers(parse("", FIGURES.format(shown)))) == []


def test_figures_and_mkdocs_yml_of_the_site_have_no_fault():
    topics = [path.relative_to(ROOT / "docs/figures").with_suffix("").as_posix() for path in (ROOT / "docs/figures").rglob("*.py")]
    assert len(topics) > 30
    assert [one for topic in topics for one in page_lint.check_typed_numbers(ROOT, topic)] + page_lint.check_settings(ROOT) == []


def test_a_sentence_shows_the_weights_of_one_token():
    tokens, weights = ["a", "b", "'", "s", "c"], [0.5, 0.003, 0.03, 0.007, 0.46]
    picture = sentence_weights(tokens, weights, 4, 3, **ABOUT)
    assert [one.text for one in picture.every("text") if one.text not in tokens] == [number(weight) for weight in (0.5, 0.03, 0.46)]
    (table,) = picture.tables
    assert (table.rows, table.entries) == (tokens, [["0.50"], ["0.00"], ["0.03"], ["0.01"], ["0.46"]])
    assert len([one for one in picture.every("path")]) == 3  # not to the token itself, nor below half a percent
    assert min(float(one.get("stroke-opacity")) for one in picture.every("path")) >= 0.4  # visible in dark mode
    assert [float(one.get("fill-opacity", 0)) for one in picture.every("rect")] == [
        pytest.approx(MAX_OPACITY * w, abs=0.01) for w in (*weights[:4], 0)
    ]
    with pytest.raises(DrawingError, match="5 tokens, 4 weights"):
        sentence_weights(tokens, weights[:4], 4, 3, **ABOUT)
    with pytest.raises(DrawingError, match="token 1 of a line that begins with 3"):
        sentence_weights(tokens, weights, 1, 3, **ABOUT)


def test_the_squares_of_heads_have_a_path_for_each_step_of_strength():
    weights = [[1.0, 0.0], [0.7, 0.3]]
    picture = head_grid([[weights, weights]], **ABOUT)
    paths = [one for one in picture.every("path") if one.get("class") == "picture__spots"]
    assert [one.get("fill-opacity") for one in paths] == ["0.75", "1"] * 2
    assert [one.get("d").count("M") for one in paths] == [1, 2] * 2


def test_columns_of_numbers_stand_beside_the_tokens():
    columns = [Column("label", [7, 8], 0, labels=True), Column("score", [-2.0, 1.0])]
    picture = token_columns(["a", "it"], columns, query=1, **ABOUT)
    assert [one.text for one in picture.every("text")] == ["a", "it", "label", "7", "8", "score", number(-2.0, 2), number(1.0, 2)]
    cells = [one for one in picture.every("rect") if "picture__cell" in one.get("class")]
    assert [float(one.get("fill-opacity")) for one in cells] == [0, 0, MAX_OPACITY, pytest.approx(MAX_OPACITY / 2, abs=0.01)]
    assert ["minus" in one.get("class") for one in cells] == [False, False, True, False]
    assert [one.get("class") for one in picture.every("rect")][-1] == "picture__mark"
    roles = token_columns(["a"], [Column("key", [1.0]), Column("key", [-1.0]), Column("other", [1.0])], **ABOUT)
    assert [one.get("class") for one in roles.every("rect")] == [
        "picture__cell role--key",
        "picture__cell picture__cell--minus",
        "picture__cell",
    ]
    with pytest.raises(DrawingError, match="2 tokens; the columns score have another number"):
        token_columns(["a", "it"], [Column("score", [1.0])], **ABOUT)


def test_a_column_has_empty_cells_for_numbers_that_are_missing():
    picture = token_columns(["a", "it"], [Column("weight", [0.5, math.nan])], **ABOUT)
    assert [one.text for one in picture.every("text")] == ["a", "it", "weight", number(0.5)]
    assert [float(one.get("fill-opacity")) for one in picture.every("rect")] == [MAX_OPACITY]
