"""Tests of how pages load: the fonts have every character, their fallbacks have the same size, and pages request only needed style sheets."""

import base64
import importlib.util
import re
from html import unescape
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FONT = ROOT / "docs/assets/fonts/stix-two-math.woff2"
PAGE = "softmax/temperature/"  # formulas, code, a widget and exercises
LOOKS = [{"width": 1300}, {"width": 390, "phone": True}]


def script():
    spec = importlib.util.spec_from_file_location("ci_fonts", ROOT / ".ci/fonts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fonts = script()

# The font of formulas -------------------------------------------------------------------------------------------------------


def test_formula_font_has_every_character_of_the_formulas(built):
    """The browser would draw a missing character in any other font that the visitor has."""
    missing = {}
    for path in built.rglob("*.html"):
        for formula in re.findall(r"<math.*?</math>", path.read_text(), re.S):
            for sign in set(unescape(re.sub(r"<[^>]*>", "", formula))) - set(fonts.SIGNS) - set("\n"):
                missing.setdefault(f"{sign} (U+{ord(sign):04X})", str(path.relative_to(built)))
    assert missing == {}, "add these to SIGNS in .ci/fonts.py, and run it as its first lines say"


def test_letters_are_also_drawn_in_italics():
    assert (
        fonts.drawn_forms("x") == {"x", "𝑥"}
        and fonts.drawn_forms("h") == {"h", "ℎ"}
        and fonts.drawn_forms("β") == {"β", "𝛽"}
        and fonts.drawn_forms("1") == {"1"}
    )
    alone = [sign for sign in fonts.SIGNS if sign.isalpha() and len(fonts.drawn_forms(sign)) == 1]
    assert alone == ["ℓ"]  # it is italic already


@pytest.fixture
def shown_in_font(browse):
    """Return a function that shows HTML in the font of the formulas and returns the browser."""
    one = browse(PAGE)
    data = base64.b64encode(FONT.read_bytes()).decode()

    def show(body):
        one.page.goto("about:blank")
        style = f"@font-face {{ font-family: F; src: url(data:font/woff2;base64,{data}) }} body, math {{ font: 100px F }}"
        one.page.set_content(f"<!doctype html><style>{style}</style>{body}")
        one.run("document.fonts.ready.then(() => 0)")
        return one

    return show


def families(one, selectors):
    """Return the set of fonts in which the text of each element is drawn."""
    session = one.page.context.new_cdp_session(one.page)
    session.send("DOM.enable")
    session.send("CSS.enable")
    root = session.send("DOM.getDocument")["root"]["nodeId"]
    nodes = (session.send("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"] for selector in selectors)
    return [{font["familyName"] for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]} for node in nodes]


def test_font_contains_the_characters_listed_in_its_script(shown_in_font):
    signs = [
        *sorted({shape for sign in fonts.SIGNS for shape in fonts.drawn_forms(sign)} - set(" \u2061")),
        "Ж",
    ]  # the last one is not listed
    one = shown_in_font("".join(f"<p id=p{ord(sign)}>&#{ord(sign)};</p>" for sign in signs))
    drawn = zip(signs, families(one, [f"#p{ord(sign)}" for sign in signs]), strict=True)
    elsewhere = [sign for sign, found in drawn if found != {"STIX Two Math"}]
    assert elsewhere == ["Ж"], "the font is not what .ci/fonts.py makes: run it as its first lines say"


@pytest.mark.parametrize("element", ["msub", "msup"])
def test_scripts_are_aligned(shown_in_font, element):
    """The positions of all subscripts, and of all superscripts, differ by at most four hundredths of the font size."""
    shown = "".join(f"<math><{element}><mi>{base}</mi><mn>1</mn></{element}></math>" for base in "dhkpqxyzKQXβρ")
    one = shown_in_font(f"<p style='white-space: nowrap'>{shown}</p>")
    tops = one.run("[...document.querySelectorAll('mn')].map((script) => script.getBoundingClientRect().top)")
    assert len(tops) == 13 and max(tops) - min(tops) <= 4


# Layout shifts ---------------------------------------------------------------------------------------------------------------

SHIFTED = """new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; }).observe({ type: "layout-shift", buffered: true });
  const frames = (count) => (count ? requestAnimationFrame(() => frames(count - 1)) : done(sum));
  document.fonts.ready.then(() => frames(5));
})"""


@pytest.mark.parametrize("look", LOOKS, ids=["desktop", "phone"])
@pytest.mark.parametrize("page", ["", PAGE, "scaling/variance/"])
def test_layout_does_not_shift_when_fonts_load(browse, page, look):
    """Preloaded fonts arrive before the first text is shown, which waits here for the style sheets; the other fonts arrive after it."""
    one = browse(page, **look)
    early = set(one.run("[...document.querySelectorAll('link[rel=preload]')].map((link) => link.href)"))
    assert early
    awaited, sheets, held, may_come = set(early), [], [], False

    def come(request):
        awaited.discard(request.url)
        while sheets and not awaited:
            sheets.pop().continue_()

    one.page.on("requestfinished", come)
    one.page.route("**/*.css", lambda route: sheets.append(route) if awaited else route.continue_())
    one.page.route("**/*.woff2", lambda route: route.continue_() if may_come or route.request.url in early else held.append(route))
    one.page.goto(one.page.url + "?anew", wait_until="domcontentloaded")
    one.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert held and not awaited
    may_come = True
    for route in held:
        route.continue_()
    assert one.run(SHIFTED) <= 0.02


# What a page requests --------------------------------------------------------------------------------------------------------

SHEETS = {  # each with what a page contains that needs it
    "heads.css": r'<[^>]+ class="heads',
    "play.css": r'<figure[^>]+ data-play=|<div class="sentence"',
    "sources.css": r'<[^>]+ class="rows',
    "reference.css": r'<[^>]+ class="(?:api["-]|doc )',
    "_mkdocstrings.css": r'<[^>]+ class="(?:api["-]|doc )',
}


def test_style_sheets_are_requested_only_where_needed(built):
    wrong = []
    for path in built.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        for sheet, needs in SHEETS.items():
            if (f"/{sheet}" in html.partition("</head>")[0]) != bool(re.search(needs, html)):
                wrong.append((sheet, str(path.relative_to(built))))
    assert wrong == []


def test_no_script_blocks_rendering(built):
    html = (built / PAGE / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script\b[^>]*\bsrc=[^>]*>", html)
    assert scripts and all(re.search(r'\bdefer\b|type="module"', tag) for tag in scripts), scripts


def test_each_script_that_a_script_imports_is_in_the_site(built):
    imported = {
        (script.parent / name).resolve()
        for script in (built / "assets/js").rglob("*.js")
        for name in re.findall(r"""(?:from |import\()"(\.{1,2}/[^"]+)\"""", script.read_text(encoding="utf-8"))
    }
    assert len(imported) > 30 and [path for path in sorted(imported) if not path.is_file()] == []


def test_preloaded_fonts_are_used(built):
    html = (built / PAGE / "index.html").read_text(encoding="utf-8")
    css = (built / "assets/css/site.css").read_text(encoding="utf-8")
    early = re.findall(r'<link rel="preload" href="([^"]*)" as="font"', html)
    assert early
    for href in early:
        assert (built / PAGE / href).resolve().is_file() and f"../fonts/{Path(href).name}" in css


# Appearance -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", LOOKS, ids=["desktop", "phone"])
def test_copy_button_covers_no_code(browse, look):
    one = browse(PAGE, **look)
    one.run("document.querySelectorAll('.md-content details').forEach((fold) => (fold.open = true))")  # code is folded,
    one.run("document.querySelector('.highlight pre').scrollIntoView()")  # and Material adds a button when its code comes into view
    one.until("document.querySelector('.md-code__button')")
    found = one.run("""[...document.querySelectorAll(".highlight pre")].filter((pre) => pre.querySelector(".md-code__button") && pre.offsetHeight)
      .map((pre) => [pre.querySelector(".md-code__button").getBoundingClientRect(), pre.querySelector("code").getBoundingClientRect()])
      .map(([button, code]) => [button.bottom <= code.top, button.width >= 24 && button.height >= 24])""")
    assert found and all(above and large for above, large in found)


def test_relation_sign_has_equal_space_on_both_sides(browse):
    one = browse("scaling/variance/")
    rooms = one.run("""[...document.querySelectorAll(".claim__steps--chain")].filter((steps) => steps.checkVisibility()).map((steps) => {
      const left = steps.querySelector(".claim__left math").lastElementChild, sign = steps.querySelector(".claim__right math > mo");
      const cell = steps.querySelector(".claim__left"), box = (element) => element.getBoundingClientRect();
      return [box(sign).left - box(left).right, box(sign.nextElementSibling).left - box(sign).right, cell.scrollWidth - cell.clientWidth];
    })""")
    assert rooms
    for before, after, hidden in rooms:
        assert before == pytest.approx(after, abs=1) and hidden == 0
