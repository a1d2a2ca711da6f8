"""Tests of the site as MkDocs builds it: no external resources, nothing broken, and small labs that do not run twice."""

import posixpath
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from derivations.kernel.site.course_boxes import find_reading_order

ROOT = Path(__file__).parents[2]

# What a browser fetches by itself. Only a reader follows a link in <a href>.
FETCHED = {"src", "srcset", "data", "poster", "action", "background", "formaction", "xlink:href"}


class Fetches(HTMLParser):
    """Collects the addresses that a page makes a browser fetch."""

    def __init__(self):
        super().__init__()
        self.found = []
        self.style = False

    def handle_starttag(self, tag, attrs):
        self.style = tag == "style"
        attrs = dict(attrs)
        fetched = [value for name, value in attrs.items() if name in FETCHED]
        if tag in ("link", "use", "image", "base") and attrs.get("rel") != "canonical":
            fetched.append(attrs.get("href"))
        if attrs.get("http-equiv", "").lower() == "refresh":
            fetched.append(attrs.get("content", "").partition("=")[2])
        self.found += [value for value in fetched if value] + in_css(attrs.get("style") or "")

    def handle_data(self, data):
        if self.style:
            self.found += in_css(data)


def in_css(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    quoted = re.findall(r"""@import\s+["']([^"']+)""", text)
    return quoted + [address.strip("\"' ") for address in re.findall(r"url\(([^)]*)\)", text)]


def fetched(text):
    reader = Fetches()
    reader.feed(text)
    return reader.found


def outside(addresses):
    return [a for a in addresses if urlsplit(a.strip()).netloc or urlsplit(a.strip()).scheme not in ("", "data")]


@pytest.mark.parametrize(
    "planted",
    [
        '<img src="https://example.org/x.png">',
        '<link rel="stylesheet" href="//example.org/x.css">',
        '<script src="http://example.org/x.js"></script>',
        '<style>@import "https://example.org/x.css";</style>',
        '<p style="background: url(https://example.org/x.png)">',
        "<style>a { background: url('//example.org/x.png') }</style>",
        '<meta http-equiv="refresh" content="0; url=https://example.org">',
        '<svg><use href="https://example.org/x.svg#a"/></svg>',
    ],
)
def test_external_resource_is_found(planted):
    assert outside(fetched(planted))
    assert not outside(fetched('<a href="https://example.org">x</a><img src="../x.png"><img src="data:image/png;base64,AA">'))


def test_site_has_no_external_resources(built):
    pages, styles = sorted(built.rglob("*.html")), sorted(built.rglob("*.css"))
    assert len(pages) >= 10 and styles
    for page in pages:
        assert outside(fetched(page.read_text(encoding="utf-8"))) == [], page
    for style in styles:
        assert outside(in_css(style.read_text(encoding="utf-8"))) == [], style


def test_pages_have_the_policy_and_only_known_scripts(built):
    for page in built.rglob("*.html"):
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page.read_text(encoding="utf-8"))
        assert policy, page
        scripts = re.search(r"script-src ([^;]*);", policy[1])[1].split()
        assert scripts[0] == "'self'" and all(script.startswith("'sha256-") for script in scripts[1:]), page


def test_tab_title_begins_with_the_page_title(built, crawler):
    for page in (path for path in built.rglob("*/index.html") if not crawler.is_redirect(path)):
        html = page.read_text(encoding="utf-8")
        heading = re.search(r"<h1[^>]*>(.*?)(?:<a class=\"headerlink|</h1>)", html, flags=re.S)
        title = unescape(re.search(r"<title>(.*?)</title>", html, flags=re.S)[1])
        assert heading and title == f"{unescape(re.sub('<[^>]*>', '', heading[1].replace('<sub>', '_'))).strip()} · Attention, proved", page


def test_sidebar_has_every_page_and_unfolds_only_the_current_chapter(built):
    soup = BeautifulSoup((built / "scaling/variance/index.html").read_text(encoding="utf-8"), "html.parser")
    side = soup.select_one('[data-md-type="navigation"]')
    pages = {posixpath.normpath(f"scaling/variance/{link['href']}") for link in side.select(".md-nav--primary .md-nav__item a[href]")}
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {path.removesuffix(".md") for path in find_reading_order(settings)} - {"index"} <= pages
    unfolded = [side.select_one(f'label.md-nav__link[for="{toggle["id"]}"]').text.strip() for toggle in side.select("[checked]")]
    assert unfolded == ["How attention works", "Why √dk"]


def test_formulas_outside_claims_state_no_relation(built, asked):
    """On the finished page, no formula outside a claim states a relation, regardless of the source."""
    from derivations.kernel.printing.handwritten_relations import find_relation_sign

    for page in asked:
        html = (built / page).read_text(encoding="utf-8")
        outside_claims = re.sub(r'<section class="(?:claim |answer__case").*?</section>', "", html, flags=re.S)
        for formula in re.findall(r"<math.*?</math>", outside_claims, flags=re.S):
            assert find_relation_sign(re.sub(r"<[^>]*>|&\w+;", "", formula)) is None, (page, formula)


def test_labs_are_small_and_show_their_results(built):
    labs = sorted((built / "labs").rglob("index.html"))
    assert labs
    for lab in labs:
        html = lab.read_text(encoding="utf-8")
        without_figures = re.sub(r"<svg.*?</svg>", "", html, flags=re.S)
        assert len(without_figures) < 95_000 and len(html) < 500_000
        assert "<figure" in html and 'class="lab__code highlight"' in html
        assert "MathJax" not in html and "<style" not in without_figures.partition("<article")[2]


@pytest.mark.slow
def test_rebuilding_an_unchanged_site_executes_no_notebook(built, build, kept_labs):
    before = {path: path.stat().st_mtime_ns for path in kept_labs()}
    assert before
    build("the-same-site-again")
    assert {path: path.stat().st_mtime_ns for path in kept_labs()} == before


def test_core_pages_are_numbered_and_each_links_to_the_next(built):
    pages = [path for path in find_reading_order((ROOT / "mkdocs.yml").read_text(encoding="utf-8")) if is_core(path)]
    for number, path in enumerate(pages, start=1):
        soup = BeautifulSoup((built / path.removesuffix(".md") / "index.html").read_text(encoding="utf-8"), "html.parser")
        assert f"page {number} of {len(pages)}" in soup.select_one(".kind--core").text
        link = soup.select_one(".route a")
        following = pages[number : number + 1]
        assert (link and urljoin(f"/{path.removesuffix('.md')}/", link["href"])) == (
            f"/{following[0].removesuffix('.md')}/" if following else None
        )


def is_core(path):
    return (ROOT / "docs" / path).read_text(encoding="utf-8").startswith("---\nkind: core\n")
