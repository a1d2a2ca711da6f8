"""Test every page in a browser, light and dark, on a desktop and a phone. crawler.py defines the faults that it looks for."""

from contextlib import nullcontext

import pytest

FONT = "<style>@font-face { font-family: 'STIX Two Math'; src: url(/math.woff2) } math { font-family: 'STIX Two Math' }</style>"
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Planted</title>{font}
<link rel="icon" href="data:,"></head><body><main class="md-content"><h1>Planted</h1>{html}</main></body></html>"""
MATHS = "<math><mi>x</mi></math>"
SHORT = "<p>" + "word " * 30 + "</p>"

# A faulty page for each kind of fault.
PLANTED = {
    "an error of a script": ("console", "<script>throw new Error('planted')</script>"),
    "a style that is not there": ("console", "<link rel='stylesheet' href='/no.css'>"),
    "what the policy forbids": (
        "console",
        "<meta http-equiv='Content-Security-Policy' content=\"script-src 'none'\"><script>0</script>",
    ),
    "a picture from elsewhere": ("foreign", "<img alt='' src='http://127.0.0.2:9/x.png'>"),
    "words that are too faint": ("axe", "<p style='color: #aaa'>faint</p>"),
    "faint words that are folded": ("axe", "<details><summary>more</summary><p style='color: #aaa'>faint</p></details>"),
    "a picture without words": ("axe", "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"),
    "a field without a name": ("axe", "<input>"),
    "targets too small for a finger": ("axe", "<button style='display: block; width: 8px; height: 8px; padding: 0'>a</button>" * 2),
    "small targets far below": (
        "axe",
        "<div style='height: 9000px'></div><div style='content-visibility: auto; contain-intrinsic-size: 9000px'>"
        + "<button style='display: block; width: 8px; height: 8px; padding: 0'>a</button>" * 2
        + "</div>",
    ),
    "a link in what opens": ("axe", "<details><summary>more <a href='#top' id='top'>up</a></summary><p>more</p></details>"),
    "a wide box": ("wide", "<div style='width: 2000px'>x</div>"),
    "a wide formula": ("wide", "<math><mtext style='white-space: nowrap'>" + "x" * 400 + "</mtext></math>"),
    "code that is cut": ("cut", "<pre style='overflow: hidden; width: 100px'><code>" + "x" * 200 + "</code></pre>"),
    "a formula that is cut": ("cut", f"<div style='overflow: hidden; height: 4px'><math style='display: block math'><mi>x</mi></math></div>{SHORT}"),
    "a formula that begins outside": ("cut", f"<div style='overflow: auto'><math style='margin-left: -80px'><mi>x</mi></math>{SHORT}</div>"),
    "a scroller that no key reaches": ("cut", "<div style='overflow: auto; width: 100px'><div style='width: 300px'>x</div></div>"),
    "a formula of no size": ("formulas", "<math style='display: none'><mi>x</mi></math>"),
    "a sign of no size": ("formulas", "<math><mi>x</mi><mi style='font-size: 0'>y</mi></math>"),
    "a formula in another font": ("formulas", "<math style='font-family: serif'><mi>x</mi></math>"),
    "an id twice": ("ids", "<p id='a'>x</p><p id='a'>y</p>"),
    "a label of nothing": ("ids", "<label for='none'>x</label>"),
    "a picture that uses nothing": ("ids", "<svg role='img' aria-label='x' width='9' height='9'><use href='#none'/></svg>"),
    "a page that is not there": ("broken", "<p><a href='/none/'>x</a></p>"),
    "an anchor that is not there": ("broken", "<p><a href='#none'>x</a></p>"),
    "an anchor of another page": ("broken", "<p><a href='/sound.html#none'>x</a></p>"),
}  # fmt: skip


@pytest.fixture(scope="module")
def seen(crawler, chromium, built, share):
    """Return the faults of each page of the site, by look. With --share, each look covers only a share of the pages."""
    assert len(crawler.pages_of(built)) > 70
    return crawler.visited(chromium, built, share=share)


@pytest.fixture(scope="module")
def planted(crawler, chromium, tmp_path_factory):
    """Return the faults of a page without a fault and of one page for each fault."""
    site = tmp_path_factory.mktemp("planted")
    font = crawler.ROOT / "docs/assets/fonts/stix-two-math.woff2"
    (site / "math.woff2").write_bytes(font.read_bytes())
    (site / "sound.html").write_text(PAGE.format(font=FONT, html=f"{MATHS}<p>Nothing is wrong.</p>"))
    for number, (_, html) in enumerate(PLANTED.values()):
        (site / f"{number}.html").write_text(PAGE.format(font=FONT, html=MATHS + html))
    (found,) = crawler.visited(chromium, site, ["light, 390"], audited=["light, 390"]).values()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["console", "foreign", "wide", "cut", "formulas", "ids", "broken"])
@pytest.mark.parametrize("look", ["light, 1280", "light, 390", "dark, 1280", "dark, 390"])
def test_pages_have_no_fault_of_a_kind(seen, crawler, look, kind):
    assert seen[look]
    assert crawler.faults(seen[look], kind) == {}, crawler.KINDS[kind]


@pytest.mark.slow
@pytest.mark.parametrize("look", ["light, 1280", "dark, 390"])
def test_axe_finds_no_fault(seen, crawler, look):
    assert look in crawler.AUDITED and seen[look]
    assert crawler.faults(seen[look], "axe") == {}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_found(planted, crawler, name):
    kind, _ = PLANTED[name]
    page = f"{list(PLANTED).index(name)}.html"
    assert crawler.faults(planted, kind).get(page), planted[page]


def test_page_without_a_fault_passes(planted, crawler):
    assert {kind: planted["sound.html"][kind] for kind in crawler.KINDS if planted["sound.html"][kind]} == {}


def test_links_to_a_page_outside_the_share_are_followed(crawler, chromium, tmp_path):
    links = "<p><a href='/other.html#there'>x</a> <a href='/other.html#none'>x</a></p>"
    (tmp_path / "one.html").write_text(PAGE.format(font="", html=links))
    (tmp_path / "other.html").write_text(PAGE.format(font="", html='<p id="there">x</p>'))
    (found,) = crawler.visited(
        chromium, tmp_path, ["light, 1280"], ["one.html", "other.html"], audited=(), share=lambda number: number == 0
    ).values()
    assert list(found) == ["one.html"] and [link.partition("#")[2] for link in found["one.html"]["broken"]] == ["none"]


def test_the_map_is_visited_in_every_share(crawler, monkeypatch):
    class Nothing:
        def look(self, **_):
            pass

    monkeypatch.setattr(crawler, "visit", lambda browser, site, page, audited: {"targets": [], "links": []})
    monkeypatch.setattr(crawler, "ids_of", lambda folder, page: set())
    found = crawler.visited(lambda: nullcontext(Nothing()), crawler.ROOT, pages=["a/", "map/"], share=lambda number: False)
    assert {look: [*records] for look, records in found.items()} == dict.fromkeys(crawler.LOOKS, ["map/"])


@pytest.mark.slow
def test_printed_pages_have_no_empty_or_superfluous_sheets(crawler, chromium, built, share):
    pages = [page for number, page in enumerate(crawler.pages_of(built)) if share(number)]
    assert pages and crawler.printed(chromium, built, pages) == {}


def test_shares_together_cover_every_page_in_every_look(crawler):
    class Nothing:
        def look(self, **_):
            pass

    def pages(share, monkeypatch):
        monkeypatch.setattr(crawler, "visit", lambda browser, site, page, audited: {"targets": [], "links": []})
        monkeypatch.setattr(crawler, "ids_of", lambda folder, page: set())
        return {
            look: [*found]
            for look, found in crawler.visited(lambda: nullcontext(Nothing()), crawler.ROOT, pages=names, share=share).items()
        }

    names = [f"page-{number}/" for number in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        quarters = [pages(lambda number, part=part: number % 4 == part, patch) for part in range(4)]
        eighths = [pages(lambda number, part=part: number % 8 == part, patch) for part in range(8)]
        assert pages(lambda number: True, patch) == {look: names for look in crawler.LOOKS}
    assert all(sorted(sum(one.values(), [])) == names for one in quarters)
    for parts in (quarters, eighths):
        assert all(sorted(sum((part[look] for part in parts), [])) == names for look in crawler.LOOKS)


def test_empty_and_superfluous_sheets_are_found(crawler, chromium, tmp_path):
    sheets = {
        "empty.html": "<p>x</p><div style='break-before: page'></div><p style='break-before: page'>x</p>",
        "many.html": "<p style='break-after: page'>x</p>" * 9,
        "sound.html": "<p>x</p>" * 90,
    }
    for name, html in sheets.items():
        (tmp_path / name).write_text(PAGE.format(font="", html=html))
    assert crawler.printed(chromium, tmp_path) == {"empty.html": ["sheet 2 is empty"], "many.html": ["9 sheets; 4 would do"]}
