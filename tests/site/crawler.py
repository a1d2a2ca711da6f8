"""Open every page of a site in a browser and record its faults by kind. test_every_page.py asserts that there are none."""

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
SHEET = 800  # the least height of a page on the screen, in pixels, that a printed sheet holds
LOOKS = {
    "light, 1280": {"width": 1280},
    "light, 390": {"width": 390, "height": 800},
    "dark, 1280": {"width": 1280, "dark": True},
    "dark, 390": {"width": 390, "height": 800, "dark": True},
}
AUDITED = ("light, 1280", "dark, 390")  # axe-core is slow, so it tests each colour scheme and each width once
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

# Open everything: the folded parts, and one of the boxes that preview the target of a link.
OPEN = "for (const one of document.querySelectorAll('details')) one.open = true; 0"
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
    """Yield the address at which a folder is served."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler or functools.partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{under}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_redirect(path: Path) -> bool:
    """Return whether a file only leads to the new address of a page that has moved. test_redirects.py tests these files."""
    return '<meta http-equiv="refresh"' in path.read_text(encoding="utf-8")


def pages_of(site: Path) -> list[str]:
    """Return the addresses of a site's pages, relative to the site. 404.html differs from them; see test_hosting.py."""
    found = (path.relative_to(site).as_posix() for path in site.rglob("*.html") if not is_redirect(path))
    return sorted(name.removesuffix("index.html") for name in found if name != "404.html" and not name.startswith("assets/"))


def visit(browser, site: str, page: str, audited: bool) -> dict:
    """Return the faults of one page by kind, and the targets of its links."""
    browser.open(site + page)
    browser.until("[...document.querySelectorAll('[data-play]')].every((one) => 'played' in one.dataset)")
    browser.run(OPEN)
    browser.settle()
    browser.press("Tab")  # show the focus, as for a reader who uses the keyboard
    if browser.run(PREVIEW):
        browser.until("document.querySelector('.preview:not([hidden])')")
    browser.settle()
    found = browser.page.evaluate(LAYOUT)
    found["axe"] = browser.audit() if audited else []
    found["console"] = list(browser.errors)
    found["foreign"] = [one for one in browser.requested if not one.startswith((site, "data:", "blob:"))]
    return found


def visited(started, folder: Path, looks=tuple(LOOKS), pages=None, audited=AUDITED, share=lambda number: True) -> dict:
    """Return the faults of each page, for each look. The looks run in parallel, each in a browser of its own.

    `share` says whether a number belongs to the selected share. The numbers of the pages start at another value in each look, so if there are
    as many shares as looks, each share has every page in one look. The map is always visited, since a script makes the ids that others link to.
    """
    pages = pages_of(folder) if pages is None else pages

    def all_pages(look, site):
        with started() as browser:
            browser.look(**LOOKS[look])
            mine = [page for number, page in enumerate(pages, [*LOOKS].index(look)) if share(number) or page == "map/"]
            return {page: visit(browser, site, page, look in audited) for page in mine}

    with served(folder) as site, ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(looks, pool.map(lambda look: all_pages(look, site), looks)))
    somewhere = {page: record for records in found.values() for page, record in records.items()}
    unseen = {page: ids_of(folder, page) for page in pages}
    for records in found.values():
        targets = unseen | {page: set(record["targets"]) | unseen[page] for page, record in (somewhere | records).items()}
        for record in records.values():
            record["broken"] = [link for link in record["links"] if leads_nowhere(link, site, folder, targets)]
    return found


def printed(started, folder: Path, pages=None) -> dict:
    """Return the faults of each printed page: empty sheets, and more sheets than the length of the page needs."""
    found = {}
    with served(folder) as site, started() as browser:
        browser.look(width=1280)
        for page in pages_of(folder) if pages is None else pages:
            browser.open(site + page)
            browser.settle()
            sheets = [sheet.get_contents().get_data() for sheet in PdfReader(BytesIO(browser.paper())).pages]
            most = 3 + browser.height_on_paper() // SHEET
            found[page] = [f"sheet {number} is empty" for number, sheet in enumerate(sheets, start=1) if b"Tj" not in sheet]
            found[page] += [f"{len(sheets)} sheets; {most} would do"] * (len(sheets) > most)
    return {page: wrong for page, wrong in found.items() if wrong}


def ids_of(folder: Path, page: str) -> set[str]:
    """Return the ids in a page's HTML, before scripts run. The map also accepts ids that it takes from its list."""
    path = folder / page
    text = (path if path.suffix == ".html" else path / "index.html").read_text("utf-8")
    return {unescape(name) for name in re.findall(r'\sid="([^"]+)"', text)}


def leads_nowhere(link: str, site: str, folder: Path, targets: dict) -> bool:
    """Return whether a link into the site is broken. Links to other sites are not followed."""
    if not link.startswith(site):
        return False
    path, anchor = unquote(urlsplit(link).path).lstrip("/"), unquote(urlsplit(link).fragment)
    page = path.removesuffix("index.html")
    if page in targets:
        return bool(anchor) and anchor not in targets[page]
    there = folder / path
    return not (there.is_file() or (there / "index.html").is_file()) or bool(anchor)


def faults(records: dict, kind: str) -> dict:
    """Return a few faults of a kind for each page that has any."""
    return {page: record[kind][:5] for page, record in records.items() if record[kind]}
