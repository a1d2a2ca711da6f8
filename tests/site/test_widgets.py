"""Tests of the interactive figures: how a page requests a widget, and each widget operated by keyboard and compared with its snippet."""

import json
import re
from itertools import pairwise
from math import isfinite, pi
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from derivations.kernel.printing.handwritten_relations import find_text_fault
from derivations.kernel.site import figure_widgets
from derivations.kernel.site.diagrams import DrawingError, bars
from derivations.kernel.site.svg_picture import number
from snippets.attention.formula import attention, attention_steps, attention_weights, scores
from snippets.attention.masks import lower_right, mask_scores, masked_softmax, padding_mask
from snippets.attention.packing import count_blocks
from snippets.blocks.merge import attention_state, merge_states, state_output
from snippets.bounds.gated import gate_output
from snippets.bounds.qknorm import bounded_weights
from snippets.bounds.softcap import capped_weights, soft_cap
from snippets.example.integers import project_tokens
from snippets.heads.nothing import softmax_plus_one
from snippets.heads.split import split_heads
from snippets.inference.cache import attend
from snippets.inference.memory import bytes_per_token
from snippets.io.flash import SlowMemory, flash_tile, plain_moved, tiled_moved
from snippets.io.ring import contiguous, step_pairs, zigzag
from snippets.io.ulysses import gather_bytes, ring_bytes, ulysses_bytes_with_copies
from snippets.layers.routing import balance_by_bias
from snippets.linear.attention import masked_product, positive_features, running_state
from snippets.linear.chunks import chunked_delta_multiplications, chunked_steps, delta_multiplications
from snippets.linear.delta import additive_step, delta_step
from snippets.linear.hybrids import full_bytes, hybrid_bytes
from snippets.order.cost import pair_operations, projection_operations
from snippets.order.permutation import reorder
from snippets.order.positions import frequencies
from snippets.order.rotary import rotated_score
from snippets.positions.alibi import alibi_weights, decay, slopes
from snippets.positions.images import grid_positions, grid_score
from snippets.positions.interpolation import ntk_base
from snippets.positions.nope import counting_errors, start_signal
from snippets.positions.scaled import count_pairs, llama3_frequencies
from snippets.positions.yarn import yarn_frequencies
from snippets.scaling.saturation import entropy
from snippets.scaling.variance import draw, predicted_moments, sample_moments
from snippets.seeing.atlas import stored_atlas
from snippets.serving.invariance import last_bits, sum_in_parts
from snippets.serving.models import cache_bytes_per_token, fitting_sequences, models, reading_time
from snippets.serving.paged import PagedCache
from snippets.serving.quantized import hadamard_rotation, quantize_channels, quantize_tokens, score_error
from snippets.serving.roofline import MACHINES, model_intensity, ridge_point
from snippets.serving.speculative import expected_tokens, speed
from snippets.softmax.dilution import most_weight, needed_gap
from snippets.softmax.entmax import entmax, relu_weights, sigmoid_weights, sparsemax
from snippets.softmax.jacobian import softmax_jacobian
from snippets.softmax.temperature import softmax_with_temperature
from snippets.sparse.learned import missed_weight, selection_error
from snippets.sparse.patterns import top_k_mask
from snippets.sparse.window import distance_shares, tokens_within_reach
from snippets.together.block import model_parts

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "docs/assets/js/play"
MOST = 60_000  # the most bytes of script that a page loads before a reader does anything

PAGES = {
    "alibi": "positions/alibi/",
    "atlas": "seeing/atlas/",
    "blend": "positions/scaled/",
    "block": "together/block/",
    "bytes": "inference/groups/",
    "cache": "inference/cache/",
    "causal": "order/causal/",
    "chunks": "linear/chunks/",
    "cost": "order/cost/",
    "delta": "linear/delta/",
    "dilution": "softmax/dilution/",
    "entmax": "softmax/entmax/",
    "exchange": "io/ulysses/",
    "fit": "serving/models/",
    "flash": "io/flash/",
    "gated": "bounds/gated/",
    "grid": "positions/images/",
    "guesses": "serving/speculative/",
    "heads": "heads/split/",
    "hybrid": "linear/hybrids/",
    "integers": "example/integers/",
    "interpolation": "positions/interpolation/",
    "jacobian": "softmax/jacobian/",
    "levels": "serving/quantized/",
    "loads": "layers/routing/",
    "masks": "attention/masks/",
    "merge": "blocks/merge/",
    "nope": "positions/nope/",
    "nothing": "heads/nothing/",
    "pages": "serving/paged/",
    "permutation": "order/permutation/",
    "ring": "io/ring/",
    "roofline": "serving/roofline/",
    "rotary": "order/rotary/",
    "scale": "scaling/saturation/",
    "selection": "sparse/learned/",
    "softcap": "bounds/softcap/",
    "splits": "serving/invariance/",
    "state": "linear/attention/",
    "symbols": "attention/formula/",
    "temperature": "softmax/temperature/",
    "tiles": "attention/packing/",
    "variance": "scaling/variance/",
    "window": "sparse/window/",
}


# How a page requests one ------------------------------------------------------------------------------------------------


@pytest.fixture
def figure(page, monkeypatch):
    """Return a function that renders a page with one figure and returns the data of its element."""
    from derivations.kernel.site import figure_block

    picture = bars([("one", 1.0)], title="A title", description="A description.")
    monkeypatch.setattr(
        figure_block,
        "_draw_or_reuse",
        lambda *_: figure_block._to_json(figure_widgets.played(picture, scores=[3, -0.5], names=['a "b"', "b & c"])),
    )
    monkeypatch.setattr(Path, "is_file", lambda _: True)
    return lambda asks: BeautifulSoup(page(f"/// figure | notes/page:one{asks}\nA caption.\n///\n"), "html.parser").figure


def test_interactive_figure_names_its_widget_and_numbers(figure):
    element = figure(" play=temperature")
    assert element["data-play"] == "temperature"
    assert json.loads(element["data-numbers"]) == {"scores": [3, -0.5], "names": ['a "b"', "b & c"]}
    assert element.div["class"] == ["play__stage"] and element.svg and element.figcaption


def test_a_drawn_and_a_stored_picture_give_the_same_attributes():
    drawn, stored = {"scores": [3], "names": ["a"]}, {"names": ["a"], "scores": [3]}  # the store sorts names
    assert figure_widgets.make_data_attributes("masks", drawn) == figure_widgets.make_data_attributes("masks", stored)


def test_static_figure_names_no_widget(figure):
    element = figure("")
    assert not {"data-play", "data-numbers"} & set(element.attrs) and not element.select(".play__stage")


@pytest.mark.parametrize("widget", ["temprature", "", "temperature masks", "../play", "Temperature"])
def test_unknown_widget_is_rejected(refused, widget):
    message = refused(f"Text\n\n/// figure | notes/page:one play={widget}\nA caption.\n///\n")
    assert message.startswith("docs/notes/page.md:3: ")
    # Markdown itself strips line endings.
    assert f"there is no widget {widget!r}; the widgets are alibi, atlas, blend, " in message or not widget


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, {}, [1, [None]], "a = b", ["a", "b ≤ c"]])
def test_invalid_numbers_are_rejected(value):
    with pytest.raises(DrawingError):
        figure_widgets.played(bars([("one", 1.0)], title="A title", description="A description."), scores=value)


def test_widgets_are_small_modules_each_used_by_one_page():
    modules = {path.stem: path for path in MODULES.glob("*.js")}
    listed = re.findall(r'^  (\w+): \(\) => import\("\./(\w+)\.js"\),$', modules["play"].read_text(encoding="utf-8"), flags=re.M)
    assert [one for one, _ in listed] == [other for _, other in listed] == sorted(figure_widgets.WIDGETS) == list(figure_widgets.WIDGETS)
    assert set(modules) == {*figure_widgets.WIDGETS, "head_grid", "parts", "play"} and set(PAGES) == set(figure_widgets.WIDGETS)
    size = {path.stem: path.stat().st_size for path in (*modules.values(), *MODULES.parent.glob("*.js")) if path.stem != "map"}
    everywhere = sum(size.values()) - sum(size[one] for one in figure_widgets.WIDGETS)
    assert everywhere + max(size[one] for one in figure_widgets.WIDGETS) <= MOST
    tried = (ROOT / "docs/try.md").read_text(encoding="utf-8")
    for widget, page in PAGES.items():
        text = (ROOT / "docs" / f"{page.rstrip('/')}.md").read_text(encoding="utf-8")
        (name,) = re.findall(rf"^/// figure \| [\w/]+:(\w+) play={widget}$", text, flags=re.M)
        assert text.count(" play=") == 1
        assert f"]({page.rstrip('/')}.md#picture-{name})" in tried, widget


# In a browser -----------------------------------------------------------------------------------------------------------


class Widget:
    """A widget on its page, in a browser that reaches it by keyboard."""

    def __init__(self, browse, name, **look):
        self.name, self.inside = name, f"document.querySelector('[data-play={name}] .play')"
        self.browser = browse(PAGES[name], **look)
        self.browser.until(f"{self.inside} && document.querySelector('[data-play={name}][data-played]')")
        self.browser.run("document.fonts.ready.then(() => 0)")
        self.numbers = json.loads(self.run(f"document.querySelector('[data-play={name}]').dataset.numbers"))
        # The next press of the Tab key starts here, at the text that a reader is reading.
        self.run(f"location.hash = document.querySelector('[data-play={name}]').id")
        self.press("Tab")
        assert self.run(f"{self.inside}.contains(document.activeElement)")

    def run(self, script):
        return self.browser.run(script)

    def press(self, *keys):
        for key in keys:
            self.browser.press(key)

    def texts(self, selector):
        """Return the texts of the elements, and assert that there is at least one."""
        found = self.run(f"[...{self.inside}.querySelectorAll({json.dumps(selector)})].map(one => one.textContent)")
        assert found, selector
        return found

    def rows(self, label):
        """Return the texts of a matrix's cells, row by row."""
        matrix = f"{self.inside}.querySelector({json.dumps(f'[role=table][aria-label={json.dumps(label)}]')})"
        cells = (
            "[...row.querySelectorAll('[role=cell]:not(.play__head)')].map((one) => one.querySelector('input')?.value ?? one.textContent)"
        )
        return self.run(f"[...{matrix}.children].map((row) => {cells}).filter((row) => row.length)")

    @property
    def heard(self):
        """Return what the figure announces, once it has paused."""
        status = f"{self.inside}.querySelector('[role=status]')"
        return self.run(
            f"new Promise((done) => new MutationObserver(() => done({status}.textContent)).observe({status}, {{childList: true}}))"
        )

    @property
    def said(self):
        (said,) = self.texts(".play__readout")
        return said


@pytest.fixture
def widget(browse):
    return lambda name, **look: Widget(browse, name, **look)


def printed(x, digits=2):
    """Format numbers as pictures and widgets do."""
    return [printed(one, digits) for one in x] if isinstance(x, list) else number(x, digits)


def exact(x):
    return torch.tensor(x, dtype=torch.float64)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1300, 390])
def test_starting_widget_does_not_shift_or_widen_the_page(widget, name, width):
    one = widget(name, width=width)
    height = f"document.querySelector('[data-play={name}]').offsetHeight"
    played = one.run(height)
    assert one.run("document.documentElement.scrollWidth") <= width
    assert one.run(f"{one.inside}.scrollWidth <= {one.inside}.clientWidth")
    one.run(f"delete document.querySelector('[data-play={name}]').dataset.played; {one.inside}.remove()")
    assert one.run(height) == played


@pytest.mark.parametrize("name", PAGES)
def test_widget_and_its_page_fit_a_small_phone(widget, name):
    one = widget(name, width=320, height=568, phone=True)
    assert one.run("document.documentElement.scrollWidth") <= 320
    assert one.run(f"{one.inside}.scrollWidth <= {one.inside}.clientWidth")


@pytest.mark.parametrize("name", PAGES)
def test_widget_replaces_the_picture_and_states_no_relation(widget, name):
    one = widget(name)
    assert one.run(f"getComputedStyle(document.querySelector('[data-play={name}] .picture__box')).visibility") == "hidden"
    texts = one.run(
        f"(() => {{ const walk = document.createTreeWalker({one.inside}, NodeFilter.SHOW_TEXT), found = []; "
        "while (walk.nextNode()) if (!walk.currentNode.parentElement.closest('code, math')) found.push(walk.currentNode.data); return found; })()"
    )
    labels = one.run(f"[...{one.inside}.querySelectorAll('[aria-label]')].map(each => each.getAttribute('aria-label'))")
    assert texts
    assert [words for words in (*texts, *labels) if find_text_fault(words)] == []


@pytest.mark.parametrize("name", PAGES)
def test_picture_remains_without_javascript(browse, name):
    browser = browse(PAGES[name], script=False)
    assert browser.run(f"getComputedStyle(document.querySelector('[data-play={name}] .picture__box')).visibility") == "visible"
    assert browser.run("document.querySelectorAll('.play').length") == 0
    assert browser.run(f"getComputedStyle(document.querySelector('[data-play={name}] .play__stage')).minHeight") in ("0px", "auto")


def test_page_loads_only_its_own_widget(browse):
    for page, modules in ((PAGES["masks"], ["masks", "parts", "play"]), ("softmax/axes/", ["play"])):
        browser = browse(page)
        browser.until(f"document.querySelectorAll('[data-played]').length == {len(modules) > 1:d}")
        loaded = browser.run("performance.getEntriesByType('resource').map(one => one.name).filter(name => name.includes('/js/play/'))")
        assert sorted(re.fullmatch(r".*/js/play/(\w+)\.js", name)[1] for name in loaded) == modules


def test_picture_remains_if_the_widget_fails(browse):
    browser = browse(PAGES["masks"])
    browser.until("document.querySelector('[data-played]')")
    browser.run("""(async () => {
        const figure = document.querySelector('[data-play]'), again = figure.cloneNode(true);
        again.querySelector('.play').remove();
        delete again.dataset.played;
        again.dataset.numbers = '{"scores": null}';
        figure.replaceWith(again);
        const script = document.querySelector('script[src$="play/play.js"]').src;
        await import(script + '?again');
    })()""")
    browser.run("import(document.querySelector('script[src$=\"play/play.js\"]').src.replace('play.js', 'masks.js'))")
    assert browser.run("getComputedStyle(document.querySelector('[data-play] .picture__box')).visibility") == "visible"
    assert browser.run("document.querySelectorAll('.play, [data-played]').length") == 0


def test_temperature(widget):
    one = widget("temperature")
    scores, temperature = exact(one.numbers["scores"]), 1.0

    def shows():
        weights = softmax_with_temperature(scores, tau=temperature)
        assert one.texts(".play__value") == [f"{temperature:g}"]
        assert one.texts(".play__number") == printed(weights.tolist())
        assert one.said == f"entropy {number(entropy(weights).item())} · mean score {number((weights @ scores).item())}"

    shows()
    one.press(*["ArrowLeft"] * 5)
    temperature = 0.3
    shows()
    one.press("End")
    temperature = 100.0
    shows()
    one.press("Home", "Tab", "Tab", "ArrowUp", "ArrowUp")
    temperature, scores[1] = 0.1, 5
    shows()
    one.press("Tab", "-", "7")  # replace the number
    scores[2] = -7
    shows()
    one.press("9", "Tab")  # beyond the range of the cell: the cell takes its largest value
    scores[2] = -9
    shows()
    assert one.run(f"{one.inside}.querySelectorAll('.play__integer')[2].value") == "-9"


@pytest.mark.parametrize("name", ["temperature", "integers"])
def test_cell_announces_its_range_and_its_value(widget, name):
    one = widget(name)
    cell = f"{one.inside}.querySelector('.play__integer')"
    assert any("−9 to 9" in text for text in one.texts(".play__heads, .play__title"))
    assert one.run(f"{cell}.title") == "a whole number, −9 to 9" and one.run(f"{cell}.getAttribute('aria-label')")

    def leaves(typed):
        one.run(f"{cell}.focus(); {cell}.select()")
        one.press(*(typed or ["Delete"]))
        while_typed = one.run(f"{cell}.matches(':invalid')")
        one.press("Enter")
        return one.run(f"{cell}.value"), while_typed, one.texts(".play__number, .play__cell")

    assert leaves("5")[:2] == ("5", False)
    nine = leaves("9")[2]
    assert leaves("-99999")[:2] == ("-9", True)
    assert leaves("57") == ("9", True, nine)  # and not the 5 that was typed on the way
    assert leaves("") == ("9", False, nine)
    assert leaves("-0.4")[0] == "0"


@pytest.mark.parametrize("name", PAGES)
def test_starting_widget_does_not_shift_the_page_under_a_finger(widget, name):
    one = widget(name, width=390, height=844, phone=True)
    height = f"document.querySelector('[data-play={name}]').offsetHeight"
    played = one.run(height)
    one.run(f"delete document.querySelector('[data-play={name}]').dataset.played; {one.inside}.remove()")
    assert one.run(height) == played


def test_adjacent_numbers_do_not_touch_on_a_phone(widget):
    one = widget("cache", width=390, height=844, phone=True)
    room = (
        f"[...{one.inside}.querySelectorAll('.play__cell')].filter((cell) => cell.textContent).map((cell) => {{ const text = document.createRange(); "
        "text.selectNodeContents(cell); return cell.getBoundingClientRect().width - text.getBoundingClientRect().width; })"
    )
    assert min(one.run(room)) >= 5


@pytest.mark.parametrize("name", ["bytes", "cost", "flash", "nothing", "temperature"])
def test_names_do_not_touch_bars_on_a_small_phone(widget, name):
    one = widget(name, width=320, height=700, phone=True)
    words = "((one) => { const range = document.createRange(); range.selectNodeContents(one); return range.getBoundingClientRect(); })"
    beside, above = one.run(
        f"(() => {{ const words = {words}, rows = [...{one.inside}.querySelectorAll('.play__row:has(.play__track)')]; "
        "const beside = rows.map((row) => { const first = row.firstElementChild; "
        "return row.querySelector('.play__track').getBoundingClientRect().left - (first.matches('input') ? first.getBoundingClientRect() : words(first)).right; }); "
        f"const heads = [...{one.inside}.querySelectorAll('.play__heads > *')].filter((head) => head.textContent); "
        "return [beside, heads.map((head) => rows[0].querySelector('.play__bar').getBoundingClientRect().top - words(head).bottom)]; })()"
    )
    assert min(beside) >= 5 and min(above) >= 4


def test_hyphen_in_a_label_is_no_wider_than_in_words(widget):
    one = widget("bytes")
    label = f"{one.inside}.querySelector('.play__slider > span')"
    assert one.run(f"{label}.textContent") == "key-value heads"
    assert one.run(f"getComputedStyle({label}).fontVariantNumeric") == "normal"
    assert one.run(f"getComputedStyle({one.inside}.querySelector('.play__number')).fontVariantNumeric") == "tabular-nums"


# For those who hear the page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_grid_of_numbers_is_a_table_whose_rows_and_columns_have_names(widget, name):
    one = widget(name)
    outside = f"[...{one.inside}.querySelectorAll('.play__cell, .play__integer, .play__entry')].filter((one) => !one.closest('[role=table] > [role=row] > [role=cell]'))"
    assert one.run(f"{outside}.map((one) => one.className)") == ["play__integer"] * {"temperature": 4, "delta": 2}.get(name, 0)
    tables = one.run(
        f"[...{one.inside}.querySelectorAll('[role=table]')].map((table) => [table.ariaLabel, [...table.children].map((row) => "
        "[...row.children].map((one) => [one.role, one.ariaLabel || one.textContent]))])"
    )
    for label, rows in tables:
        assert label and len({len(row) for row in rows}) == 1, label
        assert all(words for row in rows for role, words in row if role != "cell"), label
        columns, heads = [role for role, _ in rows[0]], [row[0][0] for row in rows]
        assert "columnheader" not in columns[1:] or set(columns[1:]) == {"columnheader"}, label
        assert "rowheader" not in heads or heads == [
            *(["cell"] if "columnheader" in columns else []),
            *["rowheader"] * (len(rows) - ("columnheader" in columns)),
        ]
    assert one.browser.audit() == []


SETTLED = """(inside) => new Promise((done) => {
  const stage = document.querySelector(inside), heard = [], status = stage.querySelector("[role=status]");
  const before = status.textContent;
  const hear = (changes) => changes.forEach(({addedNodes: [words]}) => heard.push(words.data));
  new MutationObserver((changes) => { hear(changes); setTimeout(() => done([before, heard]), 50); }).observe(status, {childList: true});
  const range = stage.querySelector("input[type=range]");
  for (let step = 0; step < 5; step++) { range.stepUp(); range.dispatchEvent(new Event("input", {bubbles: true})); }
})"""


@pytest.mark.parametrize("name", ["dilution", "temperature", "scale"])
def test_only_the_last_step_of_a_slider_is_announced(widget, name):
    one = widget(name)
    first = one.run(f"{one.inside}.querySelector('[role=status]').textContent")
    before, heard = one.browser.page.evaluate(SETTLED, f"[data-play={name}] .play")
    assert first and before == first and len(heard) == 1 and heard[0] != first
    assert name == "scale" or heard[0].endswith(one.said)


WEIGHTS = {
    "temperature": lambda one: [one.texts(".play__number")],
    "masks": lambda one: one.rows("weights"),
    "jacobian": lambda one: [[row[0] for row in one.rows("weights")], [row[0] for row in one.rows("derivatives of the weights")]],
    "softcap": lambda one: one.rows("scores and weights")[1:3],
    "nothing": lambda one: one.rows("scores and weights")[1:],
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_are_announced(widget, name):
    one = widget(name)
    one.press("ArrowRight")
    heard = one.heard
    assert [row for row in WEIGHTS[name](one) if ", ".join(row) not in heard] == []


@pytest.mark.parametrize("name", PAGES)
def test_one_part_of_a_figure_announces_changes(widget, name):
    one = widget(name)
    assert one.run(f"[...{one.inside}.querySelectorAll('output, [aria-live], [role=status]')].map((part) => part.className)") == [
        "play__heard"
    ]


def test_plane_has_only_the_margin_that_its_names_need(widget):
    one = widget("rotary", width=390, height=844, phone=True, dark=True)
    plane = f"{one.inside}.querySelector('.play__plane')"
    circle, whole = one.run(f"[{plane}.querySelector('circle'), {plane}].map((part) => part.getBoundingClientRect().toJSON())")
    assert 0 < circle["top"] - whole["top"] < 20 and 0 < whole["bottom"] - circle["bottom"] < 20
    grid = "getComputedStyle({}).stroke"
    hairline = one.run(
        f"(() => {{ const line = {plane}.cloneNode(true); line.classList.remove('play__plane'); {plane}.after(line); "
        "const is = getComputedStyle(line.querySelector('circle')).stroke; line.remove(); return is; })()"
    )
    assert one.run(grid.format(f"{plane}.querySelector('circle')")) != hairline


def test_heads_can_be_chosen_by_touch(browse):
    for look, least in (({"width": 390, "height": 844, "phone": True}, 40), ({}, 24)):
        tab = browse("seeing/heads/", **look)
        sizes = tab.run("[...document.querySelectorAll('.heads__head')].map((one) => one.getBoundingClientRect().height)")
        assert sizes and min(sizes) >= least


def test_integers(widget):
    one = widget("integers")
    X, projections = exact(one.numbers["tokens"]), exact(one.numbers["projections"])

    def shows():
        Q, K, V = (project_tokens(X, W) for W in projections)
        assert one.rows("tokens") == [[f"{x:.0f}" for x in row] for row in X.tolist()]
        for name, expected in (("queries", Q), ("keys", K), ("values", V), ("scores", scores(Q, K, scale=1.0))):
            assert one.rows(name) == printed(expected.tolist(), 0), name

    shows()
    assert one.said == "query 3, feature 3: 1·1 + 1·0 + 1·1 + 1·1 is 3"
    one.press("Tab", *["ArrowDown"] * 3, "Tab", "ArrowUp", "ArrowUp")
    X[0, 0], X[0, 1] = -2, 2
    shows()
    assert one.heard == f"query 1: {', '.join(one.rows('queries')[0])}; scores of query 1: {', '.join(one.rows('scores')[0])}"
    one.press(*["Tab"] * 11, "ArrowUp")  # past the other tokens, to the matrix
    projections[0][0, 0] = 2
    shows()
    feature = ", ".join(row[0] for row in one.rows("queries"))
    rows = [f"scores of query {i}: {', '.join(row)}" for i, row in enumerate(one.rows("scores"), start=1)]
    assert one.heard == "; ".join((f"feature 1 of the queries: {feature}", *rows))
    before = one.said
    one.press("Control+a", "7", "7")  # 77 is refused in words, and the tables stay those of 7
    projections[0][0, 0] = 7
    shows()
    assert "a whole number, −9 to 9" in one.said
    one.press("Control+a", "2")
    projections[0][0, 0] = 2
    shows()
    assert one.said == before
    # Go to the queries, which are one tab stop, then to their second row and their last column.
    one.press(*["Tab"] * 12, "ArrowDown", "ArrowRight", "ArrowRight")
    assert one.said == "query 2, feature 3: 0·1 + 2·0 + 0·1 + 2·1 is 2"
    one.press("Tab", "Tab", "Tab", "ArrowRight")
    assert one.said == "score of query 1 with key 2: (−2)·4 + 0·4 + (−1)·0 is −8"


def test_scale(widget):
    one = widget("scale")
    for press, width in (([], 64), (["Home"], 1), (["ArrowRight"] * 3, 8), (["End"], 1024)):
        one.press(*press)
        generator = torch.Generator().manual_seed(0)
        query, key = (torch.randn(tokens, 1024, generator=generator, dtype=torch.float64)[:, :width] for tokens in (1, 16))
        sides = [attention_weights(query, key, scale=scale)[0] for scale in (None, 1.0)]
        assert one.texts(".play__says") == [f"largest weight {number(w.max().item())}, entropy {number(entropy(w).item())}" for w in sides]
        drawn = one.run(f"[...{one.inside}.querySelectorAll('.play__column')].map(one => +one.style.getPropertyValue('--strength'))")
        torch.testing.assert_close(exact(drawn), torch.cat(sides), atol=1e-3, rtol=0)


def test_symbols(widget):
    one = widget("symbols")
    query, key = exact([[2, 0, 0, 0]]), exact([[1, 0, 0, 0], [1, 1, 0, 0], [0, 3, 0, 0]])
    value = exact([[10], [20], [30]])
    found = attention_steps(query, key, value, attn_mask=exact([[0, 0, -torch.inf]]))
    expected = [step[0].tolist() for step in found[:4]] + [(found.weights[0] * value[:, 0]).tolist()]
    assert one.rows("numbers") == [[number(x, 0 if not isfinite(x) or x.is_integer() else 1) for x in row] for row in expected]

    def lit():
        """Return the parts of the formula that are lit, the cells, and the statement."""
        in_formula = one.texts(".play__formula .play__lit")
        cells, statements = one.texts(".play__cell.play__lit"), one.texts(".play__statement.play__lit")
        return in_formula, cells, [said.split(" = ")[0] for said in statements]

    assert lit() == (["Q", "K"], one.rows("numbers")[0], ["products"])
    one.press("ArrowRight")
    assert lit() == (["dk"], one.rows("numbers")[1], ["scaled"]) and "divide by 2" in one.said
    one.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert lit() == (["V"], one.rows("numbers")[4], ["output"]) and one.said.endswith("output, 15")
    for event, selector, name in (("pointerenter", "mi.role--key", "products"), ("click", ".play__cell", "output")):
        one.run(f"[...{one.inside}.querySelectorAll('{selector}')].at(-1).dispatchEvent(new Event('{event}'))")
        assert lit()[2] == [name]
    source = "".join((ROOT / "snippets/attention/formula.py").read_text(encoding="utf-8").split())
    assert all("".join(said.split()) in source for said in one.texts(".play__statement"))
    assert one.texts(".play__statement")[1].endswith("else scale\n)")  # the whole statement, up to its last bracket


def test_masks(widget):
    one = widget("masks")
    given = exact(one.numbers["scores"])
    kept = torch.ones(2, 4, dtype=torch.bool).tril()

    def shows():
        assert one.rows("weights") == printed(masked_softmax(mask_scores(given, attn_mask=kept)).tolist())

    shows()
    one.press("ArrowRight")
    kept = lower_right(2, 4)
    shows()
    one.press("Tab", "ArrowDown", "ArrowRight", "Space")
    kept[1, 1] = False
    shows()
    assert one.said == "query 2 sees keys 1, 3, 4"
    one.press("ArrowUp", "Space", "ArrowLeft", "Space", "ArrowRight", "ArrowRight", "Space")
    kept[0] = False
    shows()
    names = one.run(
        f"[...{one.inside}.querySelectorAll('[aria-pressed]')].map((square) => [square.ariaLabel.split('; ')[1], square.ariaPressed])"
    )
    assert names == [["seen", "true"] if keep else ["not seen", "false"] for keep in kept.flatten().tolist()]
    assert one.said == "query 1 sees no key" and one.rows("weights")[0] == ["0.00"] * 4


@pytest.mark.parametrize("phone", [False, True])
def test_a_drag_paints_the_mask(widget, phone):
    one = widget("masks", width=390, height=844, phone=phone)
    pressed = f"[...{one.inside}.querySelectorAll('.play__square')].map((square) => square.ariaPressed === 'true')"
    drag(one, phone, (0, 0), (0, 1), (0, 3))
    assert one.run(pressed) == [False] * 4 + [True, True, False, False]
    drag(one, phone, (1, 2))  # a tap
    drag(one, phone, (0, 3), (1, 3), (1, 0))
    assert one.run(pressed) == [False, False, False, True] + [True] * 4


def drag(one, phone, *squares):
    """Press at the first square, given by row and column, and pass through the others, with a finger or with the mouse."""
    one.run(f"{one.inside}.scrollIntoView({{ block: 'center' }})")
    boxes = f"[...{one.inside}.querySelectorAll('.play__square')].map((square) => square.getBoundingClientRect())"
    middles = one.run(f"{boxes}.map((box) => [box.x + box.width / 2, box.y + box.height / 2])")
    stops = [middles[4 * i + j] for i, j in squares]
    way = stops[:1] + [(x + k / 9 * (to_x - x), y + k / 9 * (to_y - y)) for (x, y), (to_x, to_y) in pairwise(stops) for k in range(1, 10)]
    page = one.browser.page
    if phone:
        fingers = page.context.new_cdp_session(page)
        for step, (x, y) in enumerate(way):
            fingers.send("Input.dispatchTouchEvent", {"type": "touchMove" if step else "touchStart", "touchPoints": [{"x": x, "y": y}]})
        fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        return
    for step, (x, y) in enumerate(way):
        page.mouse.move(x, y)
        if step == 0:
            page.mouse.down()
    page.mouse.up()


def test_rotary(widget):
    one = widget("rotary")
    query, key = (exact(one.numbers[name]).reshape(2, 1) for name in ("query", "key"))
    omega = exact([one.numbers["omega"]])

    def shows(s, t):
        score = rotated_score(*query, *key, torch.tensor(s), torch.tensor(t), omega).item()
        assert one.texts(".play__value") == [str(s), str(t)]
        assert one.said == f"distance {number(t - s, 0)} · score {number(score, 4)}"

    shows(1, 4)  # the start moves by the same distance, so the score stays
    before = one.said
    one.press(*["ArrowRight"] * 5)
    shows(6, 9)
    assert one.said == before
    one.press("Tab", "Home")  # the key moves as far as the query can follow
    shows(0, 3)
    assert one.said == before
    one.press("End")
    shows(17, 20)
    one.press("Tab", "Space")
    one.browser.press("Tab", shift=True)
    one.press("ArrowLeft", "ArrowLeft")
    shows(17, 18)
    one.browser.press("Tab", shift=True)
    one.press("Home")
    shows(0, 18)


def test_merge(widget):
    one = widget("merge")
    given, values = exact(one.numbers["scores"]), exact(one.numbers["values"])
    everything = number((torch.softmax(given, -1) @ values).item(), 3)

    def entries(kept):
        return [number(kept.reference.item(), 0), number(kept.total.item(), 3), number(kept.mixed.item(), 3)]

    def shows(size, done):
        parts = [attention_state(x, v[:, None]) for x, v in zip(given.split(size), values.split(size))]
        before = parts[0]
        for part in parts[1:done]:
            before = merge_states(before, part)
        rows = one.rows("states")
        assert rows[0][:3] == entries(before)
        if done < len(parts):
            after = merge_states(before, parts[done])
            assert [row[:3] for row in rows[1:]] == [entries(parts[done]), entries(after)]
            assert [row[3] for row in rows[:2]] == [
                number(torch.exp(part.reference - after.reference).item()) for part in (before, parts[done])
            ]
        seen = min(done * size, len(given))
        assert one.said == f"output after {seen} of 12 keys {number(state_output(before).item(), 3)} · all at once {everything}"

    shows(3, 1)
    one.press("Tab", "Space")
    shows(3, 2)
    one.press("Enter", "Enter")
    shows(3, 4)
    one.run("new Promise(requestAnimationFrame)")
    assert one.said.count(everything) == 2


def test_dilution(widget):
    one = widget("dilution")

    def shows(n, gap):
        assert one.said == f"largest weight {number(most_weight(gap, n), 4)} · for half the weight, a gap of {number(needed_gap(0.5, n))}"

    shows(32, 4.0)
    one.press("ArrowRight", "ArrowRight", "ArrowRight")
    shows(256, 4.0)
    one.press("End", "Tab", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    shows(131072, 2.5)


def test_atlas(widget):
    one, atlas = widget("atlas"), stored_atlas()
    names, pair = one.numbers["names"], (atlas.tokens.index("it"), atlas.tokens.index("animal"))

    def shows(layer, head):
        told = number(atlas.weights[layer, head][pair].item())
        assert one.texts(".play__heading") == [f"layer {layer}, head {head} · {' to '.join(atlas.tokens[place] for place in pair)}: {told}"]
        weights = one.run(f"[...{one.inside}.querySelectorAll('.play__cell')].map(cell => cell.ariaLabel)")
        percent = (100 * atlas.weights[layer, head]).round() / 100
        assert weights == printed(percent.flatten().tolist())
        values = [atlas.measures[name][layer, head].item() for name in names]
        shown, digits = one.texts("dd"), [3 if value < 0.1 else 2 for value in values]
        assert one.texts("dt") == names and [len(x.partition(".")[2]) for x in shown] == digits
        # A value such as 0.125 is halfway between two printed numbers.
        assert all(abs(float(x) - value) <= 0.5 / 10**places + 1e-9 for x, value, places in zip(shown, values, digits, strict=True))

    shows(3, 1)
    one.press("ArrowDown")  # sort by the weight of "it" on "animal"
    weights = atlas.weights[(..., *pair)]
    assert divmod(weights.argmax().item(), 12) == (3, 1) and one.said.startswith(f"layer 3, head 1: {number(weights.max().item())} ")
    one.press(*["ArrowDown"] * (1 + names.index("previous token")))
    values = atlas.measures["previous token"]
    layer, head = divmod(values.argmax().item(), 12)
    least = divmod(values.argmin().item(), 12)
    assert one.said == (
        f"layer {layer}, head {head}: {number(values.max().item())} · layer {least[0]}, head {least[1]}: {number(values.min().item())}"
    )
    one.press("Tab", "Enter")  # the first head of the order
    shows(layer, head)
    ranking = [divmod(head, 12) for head in values.flatten().argsort(descending=True, stable=True).tolist()]
    one.press("ArrowRight", "ArrowRight", "Space")
    shows(*ranking[2])
    one.press("ArrowDown", "Enter")  # there are twelve heads in a row
    shows(*ranking[14])
    one.press("End", "Enter")
    shows(*ranking[71])
    one.press("ArrowRight", "ArrowDown", "Home", "ArrowLeft", "ArrowUp", "Enter")  # nothing lies beyond the ends
    shows(*ranking[0])


def test_heads_of_the_atlas_are_a_list_with_one_stop_of_the_tab_key(widget):
    one = widget("atlas", width=390)
    heads = f"[...{one.inside}.querySelectorAll('[role=listbox] > [role=option]')]"
    assert one.run(f"{heads}.map((head) => head.ariaLabel)") == [f"layer {layer}, head {head}" for layer in range(6) for head in range(12)]
    stops, chosen = (
        f"{heads}.flatMap((head, k) => head.tabIndex ? [] : [k])",
        f"{heads}.flatMap((head, k) => head.ariaSelected === 'true' ? [k] : [])",
    )
    assert one.run(stops) == one.run(chosen) == [3 * 12 + 1]
    one.press("Tab", "ArrowDown", "ArrowLeft")  # there are six heads in a row
    assert one.run(stops) == [3 * 12 + 6] and one.run(f"document.activeElement === {heads}[{3 * 12 + 6}]")
    assert one.run(chosen) == [3 * 12 + 1]
    one.press("Tab")
    assert one.run("document.activeElement.closest('dl') !== null")
    one.browser.press("Tab", shift=True)
    one.press("Enter")
    assert one.run(stops) == one.run(chosen) == [3 * 12 + 6]


def test_permutation(widget):
    one = widget("permutation")
    X, names, order = exact(one.numbers["tokens"]), one.numbers["names"], one.numbers["order"]

    def shows():
        moved = reorder(torch.eye(3, dtype=torch.float64)[order], X)
        assert one.rows("weights in this order") == printed(attention_weights(moved, moved).tolist())
        assert one.rows("weights as they come") == printed(attention_weights(X, X).tolist())
        assert one.rows("outputs in this order") == printed(attention(moved, moved, moved).tolist())
        assert one.rows("outputs as they come") == printed(attention(X, X, X).tolist())
        assert one.said.startswith(f"order {', '.join(names[token] for token in order)} ")

    shows()
    one.press("ArrowRight")
    order[0], order[1] = order[1], order[0]
    shows()
    one.press("ArrowRight", "ArrowRight")
    order[1], order[2] = order[2], order[1]
    shows()


def test_cache(widget):
    one = widget("cache")
    X, W = exact(one.numbers["tokens"]), exact(one.numbers["projections"])
    output, cache = attend(X[:4], *W)
    for n in range(4, 7):
        if n > 4:
            one.press("ArrowRight")
            output, cache = attend(X[n - 1 : n], *W, cache=cache)
        assert one.said.endswith(f"last output {', '.join(printed(output[-1].tolist()))}")
        for name, kept in (("keys", cache.key), ("values", cache.value)):
            shown = one.rows(name)
            # Entries such as 1.55 are halfway between two printed numbers, and the order of a sum decides which one is printed.
            assert exact([[float(entry.replace("−", "-")) for entry in row] for row in shown[:n]]) == pytest.approx(kept, abs=0.05 + 1e-9)
            assert shown[n:] == [["", ""]] * (6 - n)
        weights = attention_weights(X[:n] @ W[0], cache.key, is_causal=True)
        assert one.rows("weights")[n - 1] == [*printed(weights[-1].tolist()), *[""] * (6 - n)]


def test_cost(widget):
    one = widget("cost")

    def shows(n, d):
        counts = projection_operations(n, d), pair_operations(n, d)
        assert one.texts(".play__number") == [number(count / 1e9, 3) for count in counts]
        assert one.said == f"pairs take {number(100 * counts[1] / sum(counts), 1)} percent of all operations"

    shows(1024, 512)
    one.press("ArrowRight", "ArrowRight")
    shows(4096, 512)
    one.press("Tab", "ArrowRight", "ArrowRight", "ArrowRight")
    shows(4096, 4096)


def test_variance(widget):
    one = widget("variance")
    generator = torch.Generator().manual_seed(0)
    pairs = {d: draw(2, 2000, d, generator=generator) for d in one.numbers["widths"]}

    def shows(d, *, divided=False):
        scale = d**-0.5 if divided else 1.0
        q, k = pairs[d][:, :200]
        measured = sample_moments(q, k)[1].sqrt().item() * scale
        predicted = predicted_moments(d)[1] ** 0.5 * scale
        assert one.said == f"standard deviation of these 200 scores {number(measured)} · in theory {number(predicted)}"
        dots = exact(one.run(f"[...{one.inside}.querySelectorAll('circle')].map(dot => dot.cx.baseVal.value)"))
        band = one.run(f"{one.inside}.querySelector('.play__band').width.baseVal.value")
        assert len(dots) == 200 and dots.std().item() / (band / 2) == pytest.approx(
            measured / predicted, rel=0.02
        )  # scores have two digits

    shows(64)
    one.press("ArrowLeft", "ArrowLeft")
    shows(16)
    one.press("Tab", "ArrowRight")
    shows(16, divided=True)
    one.browser.press("Tab", shift=True)
    one.press("End")
    shows(1024, divided=True)
    one.press("Home", "Tab", "ArrowLeft")
    shows(1)


def test_jacobian(widget):
    one = widget("jacobian")
    given = exact(one.numbers["scores"])

    def shows(moved):
        weights = torch.softmax(given, -1)
        # Entries such as 0.1875 are halfway between two printed numbers.
        for label, expected in (("weights", weights[:, None]), ("derivatives of the weights", softmax_jacobian(weights))):
            shown = [[float(entry.replace("−", "-")) for entry in row] for row in one.rows(label)]
            assert exact(shown) == pytest.approx(expected, abs=0.0005 + 1e-9), label
        trace = softmax_jacobian(weights).trace().item()
        assert one.said == f"largest weight {number(weights.max().item(), 3)} · trace {number(trace, 3)}"
        cells = f"[...{one.inside}.querySelectorAll('[aria-label=\"derivatives of the weights\"] .play__cell')]"
        assert one.run(f"{cells}.map((cell, place) => cell.hasAttribute('data-marked') ? place % 3 : -1)") == [
            column if column == moved else -1 for _ in range(3) for column in range(3)
        ]

    shows(2)
    assert one.rows("weights") == [["0.125"], ["0.250"], ["0.625"]]
    one.press("ArrowRight", "ArrowRight", "ArrowRight")
    given[0] += 0.75
    shows(0)
    one.press("Tab", "ArrowLeft")
    given[1] -= 0.25
    shows(1)
    one.press("Tab", "End")  # one weight is close to one, and all derivatives are small
    given[2] += 4
    shows(2)


def test_heads(widget):
    one = widget("heads")
    names = one.numbers["names"]
    Q, K = (exact(one.numbers[what]) for what in ("queries", "keys"))

    def shows(word, width):
        query = names.index(word)
        parts = ((slice(None, width)), slice(width, None), slice(None))
        rows = torch.stack([attention_weights(Q[:, part], K[:, part])[query] for part in parts])
        if width == 2:
            torch.testing.assert_close(rows[:2], attention_weights(*(split_heads(x, num_heads=2) for x in (Q, K)))[:, query])
        assert one.rows("weights") == printed(rows.tolist())
        assert one.texts(".play__head--row > span") == [f"head 1, width {width}", f"head 2, width {4 - width}", "one head, width 4"]

    shows("her", 2)
    assert one.said == "head 1: largest for Anna · head 2: largest for book · one head: largest for Anna"
    one.press("ArrowLeft", "ArrowLeft")
    shows("gave", 2)
    assert one.said.startswith("head 1: largest for Anna and Ben · head 2: largest for book · ")
    one.press("Tab", "ArrowRight")
    shows("gave", 3)
    one.press("ArrowLeft", "ArrowLeft")
    shows("gave", 1)
    one.browser.press("Tab", shift=True)
    one.press("ArrowLeft", "Tab", "ArrowRight", "ArrowRight")
    shows("Anna", 3)
    assert " · head 2: equal weights · " in one.said


def test_nothing(widget):
    one = widget("nothing")
    given, shift = exact(one.numbers["scores"]), 0

    def shows():
        weights = torch.stack([torch.softmax(given + shift, -1), softmax_plus_one(given + shift)])
        total = weights.sum(-1).tolist()
        assert one.rows("scores and weights")[1:] == printed(weights.tolist(), 4)
        assert one.texts(".play__number") == printed(total, 4)
        assert one.said == f"plus one: {number(total[1], 4)} of the weight goes to keys, {number(1 - total[1], 4)} to nothing"
        drawn = one.run(f"[...{one.inside}.querySelectorAll('.play__bar')].map(bar => +bar.style.getPropertyValue('--strength'))")
        torch.testing.assert_close(exact(drawn), weights.flatten(), atol=1e-6, rtol=0)

    shows()
    one.press("ArrowLeft", "ArrowLeft")
    shift = -2
    shows()
    one.press("Home")
    shift = -20
    shows()
    assert one.texts(".play__number") == ["1.0000", "0.0000"]
    one.press("End", "Tab", "-", "9", "Tab", "ArrowUp")
    shift, given[0], given[1] = 20, -9, 1
    shows()


def test_softcap(widget):
    one = widget("softcap")
    given, cap = exact(one.numbers["scores"]), float(one.numbers["cap"])

    def shows():
        rows = one.rows("scores and weights")
        weights = capped_weights(given[None], cap=cap)[0]
        assert rows[0] == [f"{score:.0f}" for score in given.tolist()]
        capped = soft_cap(given, cap=cap)
        assert rows[1] == printed(capped.tolist())
        dots = exact(one.run(f"[...{one.inside}.querySelectorAll('circle')].map(dot => dot.cy.baseVal.value)"))
        assert (dots - dots[0]) / (dots[-1] - dots[0]) == pytest.approx((capped - capped[0]) / (capped[-1] - capped[0]), abs=1e-5)
        assert rows[2:] == [printed(row.tolist(), 3) for row in (weights, torch.softmax(given, -1))]
        ceiling = bounded_weights(cap, len(given))[1]
        assert one.said == f"largest weight {number(weights.max().item(), 4)} · ceiling for this cap {number(ceiling, 4)}"

    shows()
    one.press("ArrowLeft", "ArrowLeft", "ArrowLeft")
    cap = 4.0
    shows()
    one.press("Home", "Tab", "ArrowDown", "ArrowDown", "Tab", "-", "1", "2")
    cap, given[0], given[1] = 1.0, -2, -12
    shows()
    one.browser.press("Tab", shift=True)
    one.browser.press("Tab", shift=True)
    one.press("End")
    cap = 100.0
    shows()


def test_alibi(widget):
    one = widget("alibi")
    distance, of_heads = torch.arange(32, -1, -1), slopes(8, dtype=torch.float64).tolist()
    assert one.texts(".play__choice label") == [f"1/{1 / slope:.0f}" for slope in of_heads]

    def shows(head, lead):
        content = torch.zeros(33, dtype=torch.float64)
        content[0] = lead
        weights = alibi_weights(content, distance, slope=of_heads[head])
        step = decay(torch.tensor(1.0, dtype=torch.float64), slope=of_heads[head]).item()
        assert one.said == (
            f"farthest key {number(weights[0].item(), 4)} · own key {number(weights[-1].item(), 4)} · "
            f"one step back multiplies a weight by {number(step, 3)}"
        )
        # The highest of the three lines of the drawing has the weight that is printed beside it.
        heights = exact(one.run(f"[...{one.inside}.querySelectorAll('rect')].map(bar => bar.height.baseVal.value)"))
        whole = one.run(
            f"(() => {{ const lines = [...{one.inside}.querySelectorAll('.picture__grid')].map(line => line.getBBox().y); return Math.max(...lines) - Math.min(...lines); }})()"
        )
        most = max(float(said) for said in one.texts("svg text") if "." in said)
        torch.testing.assert_close(heights / whole * most, weights, atol=1e-4, rtol=0)

    shows(2, 0.0)
    one.press("ArrowRight", "ArrowRight")
    shows(4, 0.0)
    one.press("ArrowLeft", "ArrowLeft", "Tab", *["ArrowRight"] * 10)
    shows(2, 5.0)
    one.browser.press("Tab", shift=True)
    one.press(*["ArrowLeft"] * 2, "Tab", "End")
    shows(0, 10.0)


def test_interpolation(widget):
    one = widget("interpolation")
    trained, plain = 2048, frequencies(128, dtype=torch.float64)

    def shows(s, pair, inside):
        scaled = frequencies(128, base=ntk_base(10000.0, s, d_k=128), dtype=torch.float64)
        ends = [omega[pair - 1].item() * 4 * trained for omega in (plain, scaled, plain / s)]
        assert one.texts(".play__number") == [number(angle, 2 if angle < 100 else 0) for angle in ends]
        reach = plain[pair - 1].item() * trained
        turns = int(reach / (2 * pi))
        if turns:
            assert one.said == f"this pair made {number(turns, 0)} whole rotations in training, so that all angles of the circle occurred"
        else:
            assert one.said == f"in training the angle reached {number(reach, 2 if reach < 100 else 0)} · within this range: {inside}"
        assert [name for name, angle in zip(("unchanged", "NTK-aware", "PI"), ends) if angle < reach * (1 + 1e-12)] == (
            inside.split(" and ") if inside != "none" else []
        )
        lines = one.run(f"[...{one.inside}.querySelectorAll('.play__plot > .picture__curve')].map(line => line.getBBox().height)")
        assert exact(lines) / lines[0] == pytest.approx(exact(ends) / ends[0], abs=1e-3)

    shows(4.0, 48, "PI")
    one.press("ArrowRight", "ArrowRight", "ArrowRight")
    shows(7.0, 48, "NTK-aware and PI")
    one.press("Tab", *["ArrowLeft"] * 8)
    shows(7.0, 40, "PI")
    one.press("Home")
    shows(7.0, 1, "PI")
    one.browser.press("Tab", shift=True)
    one.press("Home", "ArrowRight")
    shows(1.5, 1, "none")


def test_flash(widget):
    one = widget("flash")
    given, values, width = exact(one.numbers["scores"]), exact(one.numbers["values"]), one.numbers["width"]
    n = len(given)
    rows = torch.zeros(n, width)

    def shows(size, step):
        tiles = n // size
        query, done = divmod(step - 1, tiles)
        first, last = done * size, (done + 1) * size
        memory = SlowMemory()
        for seen in (*[n] * query, last):
            flash_tile(rows[:size], rows[:seen], rows[:seen], first=0, block_size=size, is_causal=False, memory=memory)
        written = (step // tiles) * size * width
        read = memory.moved - (query + 1) * size * width  # the snippet has written a tile of outputs for each tile of queries
        whole, plain = tiled_moved(n, width, size), plain_moved(n, width, size)
        did = f"FlashAttention has read {read} numbers and written {written}, together {read + written} of {whole}"
        assert one.said == f"step {step} of {tiles**2}: {did}"
        assert one.texts(".play__number") == printed([whole, plain], 0)
        bars = one.run(f"[...{one.inside}.querySelectorAll('.play__bar')].map(bar => +bar.style.getPropertyValue('--strength'))")
        assert bars == pytest.approx([(read + written) / plain, (whole - read - written) / plain, 1])
        slow, fast, *squares = one.rows("tiles")
        assert slow == printed(values.tolist(), 0)
        assert fast == [text if first <= j < last else "" for j, text in enumerate(slow)]
        for i, (row, state) in enumerate(zip(squares, one.rows("states"), strict=True)):
            here = i // size == query
            assert row == [number(x, 0) if here and first <= j < last else "" for j, x in enumerate(given[i].tolist())]
            kept = attention_state(given[i, :last], values[:last, None]) if here else attention_state(given[i], values[:, None])
            entries = [number(kept.reference.item(), 0), number(kept.total.item(), 3), number(kept.mixed.item())]
            output = number(state_output(kept).item()) if i // size < query or (here and last == n) else ""
            assert state == [*(entries if here else ["", "", ""]), output]

    shows(2, 1)
    one.press("Tab", "Space")
    assert one.said == "step 0 of 4: FlashAttention has read 0 numbers and written 0, together 0 of 48"
    assert {text for row in one.rows("states") for text in row} == {""}
    one.press("Space", "Space")
    shows(2, 2)
    one.press("Enter")
    shows(2, 3)
    one.browser.press("Tab", shift=True)
    one.browser.press("Tab", shift=True)
    one.press("ArrowLeft", "Tab", "Tab", *["Space"] * 9)
    shows(1, 10)
    one.browser.press("Tab", shift=True)
    one.press("Space")
    shows(1, 9)
    one.browser.press("Tab", shift=True)
    one.press("ArrowRight", "ArrowRight")
    shows(4, 1)


def test_ring(widget):
    one = widget("ring")
    causal, fair = step_pairs(contiguous(24, 4)), step_pairs(zigzag(24, 4))

    def shows(pairs, step):
        held = torch.stack([torch.arange(4).roll(s) for s in range(step + 1)])  # the piece on each device in each step
        assert one.texts("svg .role--key") == printed((held[step] + 1).tolist(), 0)
        expected = [[""] * 4 for _ in range(4)]
        for s in range(step + 1):
            for device in range(4):
                expected[device][held[s, device]] = number(pairs[s, device].item(), 0)
        assert one.rows("pairs") == expected
        slowest = pairs[: step + 1].amax(1)
        assert (
            one.said
            == f"step {step + 1}: the slowest device computes {slowest[-1]} pairs; the slowest of each step so far, {slowest.sum()} in all"
        )

    shows(torch.full((4, 4), 6**2), 0)
    one.press("ArrowRight")
    shows(causal, 0)
    one.press("Tab", "Space", "Space")
    shows(causal, 2)
    one.press("Space")
    shows(causal, 3)
    one.press("Space")  # at the last step the focus has moved to the other button
    shows(causal, 2)
    one.run(f"{one.inside}.querySelector(':checked').focus()")
    one.press("ArrowRight", "Tab", "Enter")
    shows(fair, 1)


def test_bytes(widget):
    one = widget("bytes")
    model = models()["Llama 2 7B"]

    def shows(name, heads, latent, tokens):
        cache = bytes_per_token(model.layers, heads, model.head_width, 2)
        row = bytes_per_token(model.layers, 1, latent, 2) / 2  # one row in place of a key and a value
        assert one.texts(".play__number") == [number(size / 2**10, 0) for size in (cache, row)]
        assert one.run(f"[...{one.inside}.querySelectorAll('.play__strip')].map(one => one.childElementCount)") == [32, heads]
        whole = [number(size * tokens / 2**30) for size in (cache, row)]
        assert one.said == f"after {number(tokens, 0)} tokens: {name} {whole[0]} GiB · MLA {whole[1]} GiB"

    shows("GQA", 8, 576, 4096)
    one.press("End")
    shows("MHA", 32, 576, 4096)
    one.press("Tab", "ArrowLeft", "ArrowLeft", "Tab", "End")
    shows("MHA", 32, 128, 65536)
    one.browser.press("Tab", shift=True)
    one.browser.press("Tab", shift=True)
    one.press("Home")
    shows("MQA", 1, 128, 65536)


def test_entmax(widget):
    one = widget("entmax")
    scores, choices = exact(one.numbers["scores"]), one.numbers["choices"]
    ways = [torch.nn.Softmax(-1), lambda z: entmax(z, alpha=1.5), sparsemax, sigmoid_weights, relu_weights]

    def shows():
        rows = [way(scores) for way in ways]
        assert one.rows("weights") == [[number(w, 2 if w else 0) for w in (*row.tolist(), row.sum().item())] for row in rows]
        kept = [(row > 0).sum().item() for row in rows]
        assert one.said == f"keys that keep a weight: softmax {kept[0]} · entmax {kept[1]} · sparsemax {kept[2]}"

    shows()
    one.press("End")
    scores[0] = choices[-1]
    shows()
    one.press("Tab", "ArrowRight", "ArrowRight", "Tab", *["ArrowRight"] * 11)
    scores[1:] = exact([1.7, 1.1])
    shows()


def test_nope(widget):
    one = widget("nope")

    def shows(position, dtype):
        stored = start_signal(position + 1).to(dtype)
        signal, recovered = stored.double()[-2:].tolist(), counting_errors(stored)[-2].item() + position
        assert one.said == f"signal {number(signal[0], 6)} · next {number(signal[1], 6)} · recovered position {number(recovered, 1)}"

    shows(190, torch.bfloat16)
    one.press("ArrowUp")
    shows(190, torch.float16)
    one.press("ArrowUp", "Tab", "End")
    shows(300, torch.float32)
    one.press("Home")
    shows(1, torch.float32)


def test_gated(widget):
    one = widget("gated")
    values, row = exact(one.numbers["values"]), exact(one.numbers["scores"])

    def shows(tau, logit):
        weights = softmax_with_temperature(row, tau=tau)
        output = gate_output((weights @ values).unsqueeze(0), exact([[logit]]))[0]
        assert one.said == (
            f"weights {', '.join(printed(weights.tolist()))} · without the gate {', '.join(printed((weights @ values).tolist()))}"
            f" · with it {', '.join(printed(output.tolist()))}"
        )

    shows(1, -1)
    one.press("Home")
    shows(1, -8)
    one.press("ArrowRight", "Tab", "End")
    shows(20, -7)
    one.press("Home")
    shows(0.1, -7)


def test_blend(widget):
    one = widget("blend")
    omega = frequencies(128, base=500_000.0, dtype=torch.float64)

    def shows(factor, low, high):
        kept, blended, divided = count_pairs(omega, trained=8192, low=low, high=high)
        assert one.said == f"kept {kept} · blended {blended} · divided by {factor}: {divided}"
        ways = yarn_frequencies(omega, s=factor, trained=8192), llama3_frequencies(omega, s=factor, trained=8192, low=low, high=high)
        drawn = one.run(f"[...{one.inside}.querySelectorAll('.picture__curve')].map((path) => path.getAttribute('d'))")
        for path, scaled in zip(drawn, ways, strict=True):
            heights = [float(point.split()[1]) for point in path[1:].split("L")]
            assert heights == pytest.approx((8 + 130 * (1 - scaled / omega)).tolist())

    shows(8, 1.0, 4.0)
    one.press("ArrowLeft")
    shows(4, 1.0, 4.0)
    one.press("Tab", "Home")
    shows(4, 0.5, 4.0)
    one.press("Tab", "End")
    shows(4, 0.5, 64.0)


def test_grid(widget):
    one = widget("grid")
    side, query = one.numbers["side"], exact(one.numbers["query"])

    def shows(at, to, kind=0):
        key, W = exact(one.numbers["keys"][kind]), exact(one.numbers["frequencies"][kind])
        at, to = torch.tensor(at), torch.tensor(to)
        scores = grid_score(*query, *key, at, grid_positions(side, side), W).view(side, side)
        assert one.rows("scores") == printed(scores.tolist(), 1)
        rows, columns = (number(x, 0) for x in (to - at).tolist())
        assert one.said == f"rows {rows} · columns {columns} · score {number(scores[*to].item(), 3)}"

    shows((3, 3), (4, 1))
    one.press("Tab", "Tab", "End", "Enter")  # the last cell: the query goes as far as the key can follow
    shows((5, 6), (6, 4))
    one.press("Home", "ArrowDown", "Enter")
    shows((1, 2), (2, 0))
    one.browser.press("Tab", shift=True)
    one.press("ArrowDown", "ArrowDown", "Tab", "ArrowRight", "Enter")  # the key alone
    shows((1, 2), (1, 1))
    one.browser.press("Tab", shift=True)
    one.browser.press("Tab", shift=True)
    one.press("ArrowDown")
    shows((1, 2), (1, 1), kind=1)


def test_chunks(widget):
    one = widget("chunks")

    def shows(chunk, tokens):
        counts = chunked_steps(tokens, chunk=chunk), chunked_delta_multiplications(tokens, 128, 128, chunk=chunk)
        assert one.said == (
            f"{chunk - 1} steps for systems, then {tokens // chunk} for states: {counts[0]:.0f}"
            f" · {number(counts[1] / delta_multiplications(tokens, 128, 128))} times the multiplications"
        )

    shows(8, 64)
    one.press("End")
    shows(16, 64)
    one.press("Tab", "End")
    shows(16, 256)
    one.press("Shift+Tab", "Home")
    shows(1, 256)


def test_hybrid(widget):
    one = widget("hybrid")

    def shows(tokens, linear, state):
        share = hybrid_bytes(tokens, 1, linear, 1, state) / full_bytes(tokens, 1, linear, 1)
        assert one.said == f"{number(share, 3)} times the bytes of full attention everywhere · as many at {state:,} tokens"

    shows(2048, 3, 512)
    one.press("Home")
    shows(64, 3, 512)
    one.press("Tab", "End")
    shows(64, 7, 512)
    one.press("Tab", "Home")
    shows(64, 7, 64)


def test_guesses(widget):
    one = widget("guesses")

    def shows(rate, guesses, cost):
        tokens, faster = expected_tokens(rate, guesses + 1), speed(rate, guesses, cost)
        assert one.said == f"{number(tokens)} tokens in a step · {number(faster)} times as fast as without guesses"

    shows(0.7, 4, 0.1)
    one.press("ArrowRight")
    shows(0.75, 4, 0.1)
    one.press("Tab", "End")
    shows(0.75, 12, 0.1)
    one.press("Tab", "Home")
    shows(0.75, 12, 0.0)


def test_loads(widget):
    one = widget("loads")
    affinity, steps = exact(one.numbers["affinity"]), one.numbers["steps"]

    def shows(rate, step, k):
        loads, biases = balance_by_bias(affinity, k=k, rate=rate, steps=steps)
        assert one.said == f"tokens {', '.join(printed(loads[step].tolist(), 0))} · biases {', '.join(printed(biases[step].tolist(), 3))}"

    shows(0.005, 30, 1)
    one.press("Home")
    shows(0.001, 30, 1)
    one.press("End", "Tab", "End")
    shows(0.05, 150, 1)
    one.press("ArrowLeft", "Tab", "ArrowRight")
    shows(0.05, 149, 2)


def test_block(widget):
    one = widget("block")

    def shows(name, saved=0):
        parts = model_parts(name)
        everything = sum(parts.values()) - saved
        assert one.said == f"{number(everything, 0)} parameters · {number(parts['norms'], 0)} of them in norms"

    def each_head(name):
        model = models()[name]
        return model.layers * 2 * model.width * model.head_width

    shows("Qwen3-8B")
    one.run(f"{one.inside}.querySelector('[type=range]').focus()")
    one.press("Home")
    shows("Qwen3-8B", 7 * each_head("Qwen3-8B"))
    one.press("End")
    shows("Qwen3-8B", -8 * each_head("Qwen3-8B"))
    one.run(f"{one.inside}.querySelector('select').focus()")
    one.press("End")
    shows("Gemma 2 27B")


def test_tiles(widget):
    one = widget("tiles")
    masks = dict(zip(one.numbers["names"], exact(one.numbers["masks"]).bool()))

    def shows(name, size):
        skipped, partial, full = count_blocks(masks[name], block_size=size)
        pairs = f"pairs: {(partial + full) * size**2} computed, {int(masks[name].sum())} allowed"
        assert one.said == f"blocks: {skipped} skipped, {partial} partial, {full} full · {pairs}"

    shows("documents", 3)
    one.press("ArrowLeft")
    shows("causal", 3)
    one.press("ArrowLeft")  # from the first to the last
    shows("every third", 3)
    one.press("Tab", "ArrowRight")
    shows("every third", 4)
    one.press("Home")
    shows("every third", 1)


def test_selection(widget):
    one = widget("selection")
    scores, values = exact(one.numbers["scores"]), exact(one.numbers["values"])

    def shows(size, kept):
        keep = top_k_mask(scores.unflatten(0, (-1, size)).mean(-1), k=kept // size).repeat_interleave(size)
        missed = missed_weight(scores[keep], scores[~keep]).item()
        error = selection_error(scores[keep], values[keep], scores[~keep], values[~keep]).abs().item()
        most = 2 * values.abs().max().item() * missed
        assert one.said == f"missed weight {number(missed)} · error {number(error)}, at most {number(most)}"

    shows(1, 4)
    one.press("ArrowRight")
    shows(2, 4)
    one.press("ArrowRight")
    shows(4, 4)
    one.press("Tab", "ArrowRight")
    shows(4, 8)
    one.press("End")
    shows(4, 16)


def test_fit(widget):
    one = widget("fit")

    def shows(model, machine, machines, memory, tokens, stored=2):
        weights = models()[model].billions * stored * 1e9
        cache = tokens * cache_bytes_per_token(models()[model], tokens=tokens, itemsize=2)
        count = fitting_sequences(machines * memory * 1e9, weights, cache)
        time = reading_time(weights, cache, sequences=count, bandwidth=machines * MACHINES[machine].bandwidth)
        size = number(cache / 1e9, 3 if cache < 1e9 else 1)
        assert one.said == f"{size} GB for a sequence: {number(count, 0)} fit · everything is read in {number(1000 * time, 1)} ms"

    shows("Llama 3.1 70B", 1, 8, 80, 32_768)
    one.run(f"{one.inside}.querySelectorAll('[type=range]')[1].focus()")
    one.press("Home")
    shows("Llama 3.1 70B", 1, 8, 80, 512)
    one.run(f"{one.inside}.querySelector('select').focus()")
    names = [*models()]
    one.press(*["ArrowDown"] * (names.index("Gemma 3 27B") - names.index("Llama 3.1 70B")))
    shows("Gemma 3 27B", 1, 8, 80, 512)
    one.run(f"{one.inside}.querySelectorAll('[type=range]')[1].focus()")
    one.press("End")
    shows("Gemma 3 27B", 1, 8, 80, 2**20)
    one.run(f"{one.inside}.querySelectorAll('select')[1].focus()")
    one.press("ArrowDown")
    shows("Gemma 3 27B", 2, 8, 141, 2**20)
    one.run(f"{one.inside}.querySelectorAll('[type=range]')[0].focus()")
    one.press("Home", "Shift+Tab", "Shift+Tab", "ArrowRight")
    shows("Gemma 3 27B", 2, 8, 24, 2**20, stored=1)
    one.run(f"{one.inside}.querySelector('select').focus()")
    one.press("End")
    assert one.said == "The weights take 744 GB, and there are 192 GB."


def test_pages(widget):
    one = widget("pages")

    def shows(size, written, did):
        cache = PagedCache(6, size)
        for token in range(5):
            cache.append(*torch.full((2, 1), float(token + 1)), name="A")
        cache.share("A", "B", tokens=5)
        for name in written:
            place = cache.lengths[name]
            cache.append(*torch.full((2, 1), (100.0 if name == "A" else 200.0) + place + 1), name=name)
        used = [page for page, use in enumerate(cache.uses) if use]
        assert one.rows("tables") == [
            [str(table[k] + 1) if k < len(table) else "" for k in range(-(-8 // size))] for table in cache.tables.values()
        ]
        names = {0: "", 1: "A", 2: "B"}
        held = [[f"{names[int(x) // 100]}{int(x) % 100}" if x else "" for x in page] for page in cache.key[..., 0].tolist()]
        pool = one.rows("pool")
        assert pool == held[: len(pool)] and not any(cache.uses[len(pool) :])
        empty = sum(not held[page][place] for page in used for place in range(size))
        apart = sum(map(len, cache.tables.values()))
        assert one.said == f"{did}: {len(used)} pages, {apart} without sharing · {empty} empty places"

    shows(4, "", "A and B share 5 tokens")
    one.press("Tab", "Tab", "Enter")  # past the choice, and the button of A
    shows(4, "B", "B copies a token and writes token 6")
    one.browser.press("Tab", shift=True)
    one.press("Enter", "Enter", "Enter")
    shows(4, "BAAA", "A writes token 8")
    one.browser.press("Tab", shift=True)
    one.press("ArrowLeft")
    shows(2, "", "A and B share 5 tokens")
    one.press("Tab", "Enter", "Enter")
    shows(2, "AA", "A writes token 7")
    one.press("Tab", "Enter", "Enter", "Enter")
    shows(2, "AABBB", "B writes token 8")


def test_exchange(widget):
    one = widget("exchange")

    def shows(devices, kept):
        sizes = devices, 131072 // devices, 128
        ring, gather = (count(*sizes, kept, 2) for count in (ring_bytes, gather_bytes))
        ulysses = ulysses_bytes_with_copies(*sizes, 32, kept, 2)
        assert one.texts(".play__number") == [number(sent / 1e6, 0) for sent in (ring, gather, ulysses)]
        fewest = "Ulysses sends the fewest bytes" if ulysses < ring else "a ring and an all-gather send fewer bytes than Ulysses"
        least = "all send the same" if ulysses == ring else fewest
        copies = f"each key-value head is on {devices // kept} devices" if kept < devices else "no head is copied"
        assert one.said == f"{least} · {copies} · an all-gather holds {devices // 2} times as many keys and values as a ring"

    shows(8, 8)
    one.press("ArrowLeft")
    shows(4, 8)
    one.press("Home", "Tab", "End")
    shows(2, 32)
    one.press("Home")
    shows(2, 1)


def test_splits(widget):
    one = widget("splits")
    terms = torch.tensor(one.numbers["terms"])

    def shows(batch, rule):
        many = {"workers": max(1, 16 // batch), "size": 8}[rule]
        found, alone = (
            sum_in_parts(terms, parts=parts) if rule == "workers" else sum_in_parts(terms, size=8)
            for parts in (many, 16 if rule == "workers" else 8)
        )
        bits = ["".join(map(str, last_bits(x, count=8).tolist())) for x in (alone, found)]
        assert ["".join(row) for row in one.rows("last bits")] == bits
        other = sum(x != y for x, y in zip(*bits))
        assert one.run(f"{one.inside}.querySelectorAll('[data-marked]').length") == other
        same = f"{other} bits differ from those alone" if other else "the same bits as alone"
        name = "parts" if many > 1 else "part"
        summed = f"{found.item():#.9g}".replace("-", "−")
        assert one.said == f"{many} {name} of {64 // many} terms · sum {summed} · {same}"
        assert one.run(f"[...{one.inside}.querySelectorAll('.play__bar--part')].filter((bar) => !bar.hidden).length") == many

    shows(4, "workers")
    one.press("Tab", "ArrowLeft")
    shows(2, "workers")
    one.press("End")
    shows(16, "workers")
    one.browser.press("Tab", shift=True)
    one.press("ArrowRight")
    shows(16, "size")
    one.press("Tab", "ArrowLeft")
    shows(8, "size")


def test_levels(widget):
    one = widget("levels")
    query, given = exact(one.numbers["query"]), exact(one.numbers["key"])
    rotation = hadamard_rotation(32).double()

    def shows(bits, offset, quantize, rotated=False):
        key = given.clone()
        key[:, one.numbers["channel"]] += offset
        stored = quantize(key @ rotation, bits=bits) @ rotation.mT if rotated else quantize(key, bits=bits)
        change = (attention_weights(query, stored) - attention_weights(query, key)).abs().max().item()
        error = score_error(query, key, stored).item()
        assert one.said == f"error of a score {number(error, 4)} · largest change of a weight {number(change, 4)}"

    shows(4, 20, quantize_channels)
    one.press("ArrowLeft")
    shows(3, 20, quantize_channels)
    one.press("Tab", "End")
    shows(3, 40, quantize_channels)
    one.press("Tab", "ArrowLeft")
    shows(3, 40, quantize_tokens)
    one.press("Tab", "ArrowRight")
    shows(3, 40, quantize_tokens, rotated=True)


def test_roofline(widget):
    one = widget("roofline")

    def shows(model, machine, new, cached, itemsize=2):
        rho = model_intensity(models()[model], new=new, cached=cached, itemsize=itemsize)
        needed = ridge_point(MACHINES[machine].flops, MACHINES[machine].bandwidth)
        bound = (
            f"reading takes longer: {number(100 * rho / needed, 1)} percent of the peak at most"
            if rho < needed
            else "computing takes longer"
        )
        assert one.said == f"{number(rho, 1)} operations for each byte, {number(needed, 0)} needed: {bound}"

    shows("Llama 3.1 8B", 1, 1, 32_768)
    one.run(f"{one.inside}.querySelectorAll('[type=range]')[0].focus()")
    one.press("ArrowRight")
    shows("Llama 3.1 8B", 1, 2, 32_768)
    one.press("Tab", "Home")
    shows("Llama 3.1 8B", 1, 2, 128)
    one.run(f"{one.inside}.querySelector('select').focus()")
    one.press("ArrowDown")
    shows([*models()][[*models()].index("Llama 3.1 8B") + 1], 1, 2, 128)
    one.press("Tab", "ArrowUp", "Tab", "ArrowRight")
    shows([*models()][[*models()].index("Llama 3.1 8B") + 1], 0, 2, 128, 1)


def test_delta(widget):
    one = widget("delta")
    keys, value = exact(one.numbers["keys"]), exact([one.numbers["values"]])
    states = {name: torch.zeros(2, 2, dtype=torch.float64) for name in ("delta rule", "plain addition")}

    def wrote(key, value, beta=1.0):
        for (name, state), step in zip(states.items(), (delta_step, additive_step), strict=True):
            states[name] = step(state, keys[key : key + 1], value, beta=beta)

    def shows(key, did):
        for name, state in states.items():
            assert one.rows(f"state, {name}") == printed(state.tolist())
            assert one.rows(f"reads, {name}") == printed((keys @ state).tolist())
        read = [", ".join(printed((keys[key] @ state).tolist())) for state in states.values()]
        assert one.said == f"{did}: {'abc'[key]} reads {read[0]} by the delta rule · {read[1]} by plain addition"

    wrote(0, value)
    shows(0, "wrote 3, 5 under a")
    one.press("ArrowRight", "ArrowRight", "Tab", "-", "7", "Tab", "Tab", "Tab", "Space")
    value = exact([[-7, 5]])
    wrote(2, value)
    shows(2, "wrote −7, 5 under c")
    one.browser.press("Tab", shift=True)
    one.press("ArrowLeft", "Tab", "Enter")  # the rate is 0.75
    wrote(2, value, beta=0.75)
    shows(2, "wrote −7, 5 under c")
    one.press("Tab", "Space")
    wrote(2, 0 * value, beta=0.75)
    shows(2, "wrote 0, 0 under c")
    one.press("Tab", "Space")
    states |= {name: torch.zeros(2, 2, dtype=torch.float64) for name in states}
    shows(2, "empty")


def test_window(widget):
    one = widget("window")

    def shows(window, layers):
        weights = one.rows("weights")
        for depth, row in enumerate(weights):
            shares = distance_shares(layers=depth, window=window).flip(0) if depth <= layers else exact([])
            assert row[: len(row) - len(shares)] == [""] * (len(row) - len(shares))
            # A weight such as 12.5 is halfway between two printed numbers.
            assert exact([float(x) for x in row[len(row) - len(shares) :]]) == pytest.approx(100 * shares, abs=0.5 + 1e-9)
        reach = tokens_within_reach(layers=layers, window=window)
        far = number(100 * distance_shares(layers=layers, window=window)[-1].item())
        assert one.said == f"tokens within reach {reach} · the farthest is {reach - 1} back and has {far} percent of the weight"

    shows(3, 2)
    one.press("ArrowLeft", "Tab", "ArrowRight")
    shows(2, 3)
    one.press("End")
    shows(2, 4)
    one.browser.press("Tab", shift=True)
    one.press("End")
    shows(4, 4)
    one.press("Home")
    shows(1, 4)


def test_state(widget):
    one = widget("state")
    queries, keys, values = (exact(one.numbers[name]) for name in ("queries", "keys", "values"))

    def shows(n, features=lambda x: x):
        F, G = features(queries), features(keys)
        expected = [[number(x, 1) if j <= i < n else "" for j, x in enumerate(row)] for i, row in enumerate((F @ G.mT).tolist())]
        assert one.rows("scores") == expected
        outputs, state = running_state(F[:n], G[:n], values[:n])
        assert one.rows("state") == printed(state.tolist())
        both = [", ".join(printed(x[-1].tolist())) for x in (masked_product(F[:n], G[:n], values[:n]), outputs)]
        assert both[0] == both[1] and one.said == f"output {n}: from its scores {both[0]} · from the state {both[1]}"

    shows(3)
    one.press("ArrowRight", "ArrowRight")
    shows(5)
    one.press("Tab", "ArrowRight")
    shows(5, positive_features)
    one.browser.press("Tab", shift=True)
    one.press("End")
    shows(6, positive_features)


def test_causal(widget):
    one = widget("causal")
    given = exact(one.numbers["scores"])
    n = given.shape[-1]

    def shows(lengths, left=False):
        own = padding_mask(torch.tensor(lengths), m=n)[:, 0]  # (2, 1, n)
        own = own.flip(-1) if left else own
        kept = own & torch.ones(n, n, dtype=torch.bool).tril()
        weights = masked_softmax(mask_scores(given, attn_mask=kept))
        for text in (0, 1):
            expected = [[number(x) if keep else "" for x, keep in zip(*rows)] for rows in zip(weights[text].tolist(), kept[text].tolist())]
            assert one.rows(f"weights in text {text + 1}") == expected
        pairs = (kept & own.mT).sum((1, 2)).tolist()
        assert one.said == f"text 1 keeps {pairs[0]} pairs of its own tokens · text 2 keeps {pairs[1]} pairs of its own tokens"

    shows([5, 3])
    one.press("ArrowLeft", "Tab", "ArrowLeft", "ArrowLeft")
    shows([4, 1])
    one.press("Tab", "ArrowRight")
    shows([4, 1], left=True)
    one.browser.press("Tab", shift=True)
    one.press("End")
    shows([4, 5], left=True)
