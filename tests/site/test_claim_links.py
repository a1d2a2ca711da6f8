"""Tests of links between claims: a claim links to the claims and the code that it depends on, a preview shows the target of a link, and a
claim can be copied as LaTeX and as a link.

A browser runs the scripts on two small pages under the site's content security policy.
"""

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[2]
CLAIM = "/// claim | scaling/variance#{}\n///\n"
SCRIPTS = ("preview.js", "clipboard.js", "copy.js", "target.js")


def used(html, name):
    section = BeautifulSoup(html, "html.parser").find(id=name)
    return [link.text for link in section.select(".claim__uses a")]


# The claims that a claim uses-----------------------------------------------------------------------------------------------------------


def test_used_claim_on_the_same_page_is_named_by_number_and_title(page):
    html = page("/// derivation | scaling/variance\n///\n", name="scaling/variance.md")
    assert used(html, "mean") == ["(1) A score"]
    assert used(html, "variance") == ["(2) The mean is zero", "The scores are a bilinear form"]


def test_claims_are_numbered_in_the_order_of_the_page(page):
    html = page(CLAIM.format("variance") + "\n" + CLAIM.format("bound") + "\n" + CLAIM.format("mean"), name="scaling/variance.md")
    assert used(html, "variance")[0] == "(3) The mean is zero"
    shown = BeautifulSoup(html, "html.parser").find(id="mean")
    assert shown.select_one(".claim__number").text == "(3)"


def test_used_claim_on_another_page_is_named_by_both_titles(page, tmp_path):
    other = tmp_path / "docs/simplify/bilinear.md"
    other.parent.mkdir(parents=True)
    other.write_text("# Circuits of $Q$ & <b>more</b>\n\nText.\n")
    html = page(CLAIM.format("variance"), name="scaling/variance.md")
    assert used(html, "variance") == ["The mean is zero", "Circuits of Q & <b>more</b> · The scores are a bilinear form"]


def test_used_claim_without_certificate_is_shown_by_its_id(page, certificates):
    del certificates["simplify/bilinear"]
    assert used(page(CLAIM.format("variance"), name="scaling/variance.md"), "variance")[1] == "merged"


def test_claim_names_its_code_and_links_to_the_page_that_shows_it(page, certificates, tmp_path):
    one = certificates["scaling/variance"]["claims"][1]
    one["code"] = ["snippets.scaling.variance.dot", "snippets.simplify.bilinear.merged", "snippets.chapter.none.f<"]
    (tmp_path / "docs/simplify").mkdir(parents=True)
    (tmp_path / "docs/simplify/bilinear.md").write_text("# Circuits\n")
    html = BeautifulSoup(page(CLAIM.format("mean"), name="scaling/variance.md"), "html.parser")
    links = [(link.text.strip(), link.get("href")) for link in html.select(".claim__code li > *")]
    assert links == [
        ("dot", "#file-scaling-variance"),
        ("merged", "../simplify/bilinear.md#file-simplify-bilinear"),
        ("f<", None),
    ]


def test_claim_has_its_latex_as_data_attribute(page, certificates):
    claim = certificates["scaling/variance"]["claims"][3]
    claim["steps"][0]["latex"] = r'\frac{1}{4} \text{"<b>"}'
    html = BeautifulSoup(page("/// derivation | scaling/variance\n///\n"), "html.parser")
    found = {section["id"]: section.select_one(".claim__base")["data-latex"] for section in html.select("section.claim")}
    assert found["bound"] == r'p(1-p) \le \frac{1}{4} \text{"<b>"}'
    assert found["mean"].split("\n")[2] == r"&= 0" and found["mean"].startswith("\\begin{aligned}\n\\operatorname{E}[q\\cdot k] &= ")


def test_definition_terms_get_unique_ids():
    import markdown

    from derivations.kernel import site

    text = "# Softmax\n\nsoftmax\n:   One.\n\nKV cache (cache)\n:   Two.\n\nother { #mine }\n:   Three.\n"
    html = BeautifulSoup(markdown.markdown(text, extensions=["attr_list", "def_list", "toc", site.makeExtension()]), "html.parser")
    assert [term.get("id") for term in html.select("dt")] == [None, "kv-cache", "mine"]  # a heading already has the first id


# In a browser -------------------------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head>{policy}<link rel="stylesheet" href="site.css"><link rel="stylesheet" href="following.css"></head>
<body data-md-color-scheme="default"><article class="md-content md-typeset">{html}</article>{scripts}</body></html>"""
LINKS = (
    "[far](two.html#far) [mean](#mean) [folded](#variance) [heading](#heading) [term](two.html#term)\n\n# Heading\n\n".replace(
        "#variance", "two.html#folded"
    )
    + "/// derivation | scaling/variance\n///\n"
)
TWO = """<article><dl><dt id="far">Far (2020)</dt><dd><p id="x">Who <a href="y">wrote</a> it.</p><script>window.ran = 1</script></dd><dd>What it says.</dd>
<dt id="term">a term</dt><dd>Its words.</dd></dl><section class="claim claim--routine" id="folded"><details class="claim__folded">
<summary class="claim__head"><span class="claim__title">Folded</span></summary><div class="claim__right">a</div><div class="claim__base">b</div>
</details></section></article>"""


@pytest.fixture
def one(page, tmp_path, chromium, crawler):
    """Yield a browser on the first of two small pages; its links lead to the second."""
    site = tmp_path / "site"
    site.mkdir()
    policy = re.search(r"<meta http-equiv[^>]*>", (ROOT / "derivations/kernel/site/theme/main.html").read_text())[0].replace(
        " 'unsafe-inline'; style", "; style"
    )
    scripts = "".join(f'<script type="module" src="{name}"></script>' for name in SCRIPTS)
    html = page(LINKS, name="scaling/variance.md")
    (site / "one.html").write_text(PAGE.format(policy=policy, html=html, scripts=scripts), encoding="utf-8")
    (site / "two.html").write_text(
        PAGE.format(policy=policy, html=TWO, scripts='<script type="module" src="target.js"></script>'), encoding="utf-8"
    )
    for name in (*(f"js/{one}" for one in SCRIPTS), "css/site.css", "css/following.css"):
        (site / Path(name).name).write_bytes((ROOT / "docs/assets" / name).read_bytes())
    with crawler.served(site) as address, chromium() as browser:
        browser.open(f"{address}one.html")
        browser.until("document.querySelector('.preview') && document.querySelector('.take__button')")
        yield browser


BOX = "document.querySelector('.preview')"
TEXT = f"{BOX}.textContent.replace(/\\s+/g, ' ').trim()"


def link(name):
    return f"article p a[href$='#{name}']"


def fetched(browser):
    """Return how often the second page was requested."""
    return sum(address.endswith("two.html") for address in browser.requested)


def focus(browser, name, shows=True):
    """Move the focus to a link as the Tab key does, and wait until a preview is shown."""
    browser.run(f'document.querySelector("{link(name)}").focus()')
    browser.until(f"{BOX}.hidden === {str(not shows).lower()}")


def test_link_to_a_folded_claim_unfolds_it(one):
    is_open = "document.querySelector('.claim__folded')?.open"
    one.run(f'document.querySelector("{link("folded")}").click()')
    one.until_at("/two.html#folded")
    one.until(is_open)
    one.page.goto(one.page.url.split("#")[0])
    assert one.run(f"{is_open} === false")
    one.run("location.hash = 'far'")
    one.run("location.hash = 'folded'")
    one.until(is_open)


def test_hovering_over_a_link_previews_its_target(one):
    assert fetched(one) == 0 and one.run(f"{BOX}.hidden")
    one.page.hover(link("far"))
    one.until(f"!{BOX}.hidden")
    assert one.run(TEXT) == "Far (2020)Who wrote it.What it says." and fetched(one) == 1
    one.page.hover(".preview")
    one.press("Escape")
    assert one.run(f"{BOX}.hidden")


def test_tapping_a_link_follows_it_without_preview(one):
    planned = """(type) => {
        const later = window.setTimeout;
        let planned = 0;
        window.setTimeout = () => ++planned;
        document.querySelector("article p a").dispatchEvent(new PointerEvent("pointerover", {bubbles: true, pointerType: type}));
        window.setTimeout = later;
        return planned;
    }"""
    assert [one.page.evaluate(planned, pointer) for pointer in ("touch", "mouse")] == [0, 1]


def test_focused_link_previews_the_claim_without_its_witnesses(one):
    focus(one, "mean")
    count = lambda css: one.run(f'{BOX}.querySelectorAll("{css}").length')
    assert one.run(f"{BOX}.querySelector('.claim__title').textContent.trim()") == "The mean is zero"
    assert count("math") > 3
    assert (count("[id]"), count("a, button, details, summary, script, .claim__base, .claim__uses")) == (0, 0)
    assert one.run("document.querySelectorAll('#mean').length") == 1
    assert (
        one.run(f"{BOX}.querySelector('.claim__assumptions li').textContent.trim()")
        == "the entries of q and k are independent of one another"
    )
    one.run("document.activeElement.blur()")
    assert one.run(f"{BOX}.hidden")


def test_folded_claims_and_terms_are_previewed_but_headings_are_not(one):
    focus(one, "folded")
    assert one.run(f"{BOX}.querySelectorAll('.claim__right').length") == 1
    focus(one, "heading", shows=False)
    focus(one, "term")
    assert one.run(TEXT) == "a termIts words." and fetched(one) == 1  # one request for both


def styled(one, css):
    one.run(f"document.adoptedStyleSheets.push(new CSSStyleSheet()) && document.adoptedStyleSheets.at(-1).replaceSync(`{css}`)")


@pytest.mark.parametrize("above", [200, 500])
def test_preview_neither_covers_its_link_nor_leaves_the_window(one, above):
    """The preview is longer than the space beside the link."""
    styled(one, f".preview::after {{ content: ''; display: block; height: 300vh }} body {{ padding: {above}px 0 150vh }}")
    focus(one, "far")
    sides = "(({ top, bottom }) => [top, bottom])(%s.getBoundingClientRect())"
    top, bottom = one.run(sides % BOX)
    start, end = one.run(sides % f'document.querySelector("{link("far")}")')
    assert 0 <= top < bottom <= one.run("innerHeight")
    assert bottom <= start or end <= top


def test_long_preview_is_scrolled_from_its_link_and_is_no_stop_of_the_tab_key(one):
    styled(one, ".preview { max-height: 2rem !important }")
    focus(one, "far")
    far, box = f'document.querySelector("{link("far")}")', f"{BOX}.scrollTop"
    one.press("ArrowDown")
    assert one.run(f"{box} > 0 && scrollY === 0 && document.activeElement === {far}")
    one.press("ArrowUp")
    assert one.run(box) == 0
    one.press("Escape")
    assert one.run(f"{BOX}.hidden && document.activeElement === {far}")
    focus(one, "term")
    focus(one, "far")
    one.run(f"{far}.after({BOX})")
    one.press("Tab")
    assert one.run(f'document.activeElement === document.querySelector("{link("mean")}")')


def test_preview_is_not_read_out(one):
    """The link leads to what it shows; as a description, a claim would be read with flattened formulas at each link."""
    focus(one, "mean")
    assert one.run(f"{BOX}.ariaHidden") == "true"
    assert one.run(f'document.querySelector("{link("mean")}").getAttribute("aria-describedby")') is None


def test_claim_is_copied_as_latex_and_as_link_and_this_is_announced(one):
    one.run("""(() => {
        const writeText = async (text) => { if (text === window.refused) throw 1; window.copied = text; };
        Object.defineProperty(navigator, "clipboard", {value: {writeText}});
    })()""")
    latex, address = (f"document.querySelectorAll('#mean button.take__button')[{number}]" for number in (0, 1))
    names = [one.run(f"{button}.getAttribute('aria-label')") for button in (latex, address)]
    assert names == ["Copy LaTeX of claim (2)", "Copy link to claim (2)"]
    said, given = "document.querySelector('[role=status]').textContent", "document.querySelector('#mean .claim__base').dataset.latex"

    def press(button, shown):
        one.run(f"{button}.click()")
        one.until(f"{button}.textContent !== {json.dumps(shown)}")
        return one.run(f"{button}.textContent"), one.run(said)

    assert press(latex, "Copy LaTeX") == ("Copied", "Copy LaTeX: copied") and one.run(f"copied === {given}")
    assert press(address, "Copy link") == ("Copied", "Copy link: copied")
    assert one.run("copied").endswith("/one.html#mean") and one.page.url == one.run("copied")
    one.until(f"{latex}.textContent === 'Copy LaTeX'")
    one.run(f"window.refused = {given}")
    assert press(latex, "Copy LaTeX") == ("Not copied", "Copy LaTeX: not copied")


def test_claim_links_to_its_dot_on_the_map(one):
    there = "document.querySelector('#mean a.take__button')"
    assert one.run(f"{there}.hash") == one.run("`#${document.querySelector('#mean .claim__base').dataset.claim.replace('#', '--')}`")
    assert one.run(f"{there}.pathname").endswith("map/")


def test_scripts_are_small_and_do_not_write_html():
    for name in SCRIPTS:
        text = (ROOT / "docs/assets/js" / name).read_text(encoding="utf-8")
        assert len(text) < 8000 and not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name


# On paper -------------------------------------------------------------------------------------------------------------------------------


def test_dark_colours_have_counterparts_in_print():
    css = {name: (ROOT / f"docs/assets/css/{name}.css").read_text(encoding="utf-8") for name in ("site", "following")}
    dark = re.search(r'\[data-md-color-scheme="slate"\] \{(.*?)\}', css["site"], flags=re.S)[1]
    paper = re.search(r"@media print \{.*?\[data-md-color-scheme\] \{(.*?)\}", css["following"], flags=re.S)[1]
    assert set(re.findall(r"--([\w-]+):", dark)) - set(re.findall(r"--([\w-]+):", paper)) == set()
