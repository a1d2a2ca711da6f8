"""Visits to every page of a site in a browser: what each finds wrong, by kind. test_every_page.py asserts that it is nothing."""

import functools
import http.server
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html import unescape
from io import BytesIO
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pypdf import PdfReader

ROOT = Path(__file__).parents[2]
LAYOUT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
SHEET = 800  # pixels of a page on a screen that go on a sheet, at least
LOOKS = {
    "light, 1280": {"width": 1280},
    "light, 390": {"width": 390, "height": 800},
    "dark, 1280": {"width": 1280, "dark": True},
    "dark, 390": {"width": 390, "height": 800, "dark": True},
}
AUDITED = ("light, 1280", "dark, 390")  # looks at which axe-core, which takes most of the time, is asked: each scheme and each width once
KINDS = {
    "console": "an error on the console",
    "foreign": "a request to another host",
    "axe": "a violation that axe-core finds, with everything opened",
    "wide": "a page wider than its window",
    "cut": "a formula or code that is cut, or that no key scrolls",
    "formulas": "a formula that is not laid out, or in another font",
    "ids": "an id that two elements have, or that none has",
    "broken": "a link or an anchor that leads nowhere",
}

# Everything is opened: what is folded, and one of the boxes that show what a link leads to.
OPEN = "for (const one of document.querySelectorAll('details')) one.open = true; 0"
# And laid out: of what is far below the browser knows no place yet, and axe-core would take its neighbours for what covers it.
LAID_OUT = """const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { content-visibility: visible !important }");
  document.adoptedStyleSheets.push(sheet);
  0"""
PREVIEW = """(() => {
    const page = location.href.split("#")[0];
    const shows = (link) => link.href.split("#")[0] === page && document.getElementById(decodeURIComponent(link.hash.slice(1)))?.matches(".claim, dt");
    const link = [...document.querySelectorAll(".md-content a[href*='#']:not(.headerlink, .claim__number, svg a)")].find((one) => shows(one) && one.checkVisibility());
    link?.focus();
    return Boolean(link && document.querySelector(".preview"));
})()"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder: Path, handler=None, under: str = ""):
    """The address at which a folder is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler or functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{under}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def pages_of(site: Path) -> list[str]:
    """The addresses of a site's pages within it. 404.html is a page of its own kind: see test_hosting.py."""
    found = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted(name.removesuffix("index.html") for name in found if name != "404.html" and not name.startswith("assets/"))


def visit(browser, site: str, page: str, audited: bool) -> dict:
    """What is wrong with one page, by kind, and where it leads."""
    browser.open(site + page)
    browser.until("[...document.querySelectorAll('[data-play]')].every((one) => 'played' in one.dataset)")
    browser.run(OPEN)
    browser.settle()
    browser.press("Tab")  # what is far below is looked at for whoever goes on by keys
    if browser.run(PREVIEW):
        browser.until("document.querySelector('.preview:not([hidden])')")
    browser.settle()
    found = browser.page.evaluate(LAYOUT)
    if audited:
        browser.run(LAID_OUT)
    found["axe"] = browser.audit() if audited else []
    found["console"] = list(browser.errors)
    found["foreign"] = [one for one in browser.requested if not one.startswith((site, "data:", "blob:"))]
    return found


def visited(started, folder: Path, looks=tuple(LOOKS), pages=None, audited=AUDITED, share=lambda number: True) -> dict:
    """For each look what was found on each page. Looks are beside one another, each in a browser of its own.

    `share` says of a number whether it is one of those that are asked for; pages count from another number in each look, so that a share of
    as many as there are looks has each page in one of them.
    """
    pages = pages_of(folder) if pages is None else pages

    def all_pages(look, site):
        with started() as browser:
            browser.look(**LOOKS[look])
            mine = [page for number, page in enumerate(pages, [*LOOKS].index(look)) if share(number)]
            return {page: visit(browser, site, page, look in audited) for page in mine}

    with served(folder) as site, ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(looks, pool.map(lambda look: all_pages(look, site), looks)))
    somewhere = {page: record for records in found.values() for page, record in records.items()}
    for records in found.values():
        targets = {page: set(record["targets"]) | ids_of(folder, page) for page, record in (somewhere | records).items()}
        for record in records.values():
            record["broken"] = [link for link in record["links"] if leads_nowhere(link, site, folder, targets)]
    return found


def printed(started, folder: Path, pages=None) -> dict:
    """What is wrong with each page on paper: a sheet without a letter, or more paper than the page is long."""
    found = {}
    with served(folder) as site, started() as browser:
        browser.look(width=1280)
        for page in pages_of(folder) if pages is None else pages:
            browser.open(site + page)
            browser.settle()
            sheets = [sheet.get_contents().get_data() for sheet in PdfReader(BytesIO(browser.paper())).pages]
            most = 3 + browser.run("document.documentElement.scrollHeight") // SHEET
            found[page] = [f"sheet {number} is empty" for number, sheet in enumerate(sheets, start=1) if b"Tj" not in sheet]
            found[page] += [f"{len(sheets)} sheets; {most} would do"] * (len(sheets) > most)
    return {page: wrong for page, wrong in found.items() if wrong}


def ids_of(folder: Path, page: str) -> set[str]:
    """The names that a page has as it is sent: the map answers to some that it takes from its list."""
    path = folder / page
    text = (path if path.suffix == ".html" else path / "index.html").read_text("utf-8")
    return {unescape(name) for name in re.findall(r'\sid="([^"]+)"', text)}


def leads_nowhere(link: str, site: str, folder: Path, targets: dict) -> bool:
    """Is a link into the site broken? Links to elsewhere are not followed."""
    if not link.startswith(site):
        return False
    path, anchor = unquote(urlsplit(link).path).lstrip("/"), unquote(urlsplit(link).fragment)
    page = path.removesuffix("index.html")
    if page in targets:
        return bool(anchor) and anchor not in targets[page]
    there = folder / path
    return not (there.is_file() or (there / "index.html").is_file()) or bool(anchor)


def faults(records: dict, kind: str) -> dict:
    """Where there is a fault of a kind: a few of them for each page."""
    return {page: record[kind][:5] for page, record in records.items() if record[kind]}
