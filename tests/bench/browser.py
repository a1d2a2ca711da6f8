"""Measure the cost of pages in a browser, compared with a plain page and with other ways to show formulas.

Lighthouse, KaTeX and MathJax come from npm, into .cache/bench. Without npm or a browser, it prints a message and measures nothing.
"""

import functools
import gzip
import http.server
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
KEPT = ROOT / ".cache" / "bench"
PACKAGES = ("lighthouse@13.5.0", "katex@0.19.1", "mathjax@3.2.2")  # MathJax 4 loads its fonts from another host
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ROUNDS = 5
FORMULAS = 150

# One page of each kind.
PAGES = ("index", "softmax/temperature", "scaling/variance", "glossary", "bibliography", "notation", "trust", "sources", "wrong", "map",
         "labs/scores", "contributing/language", "seeing/heads")  # fmt: skip
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")


class Lacking(Exception):
    """Something that the measurement needs is missing. The text says what."""


def tools() -> Path:
    """Return the folder of the packages. Download them if necessary."""
    if not shutil.which("npm"):
        raise Lacking("there is no npm here")
    if not all((KEPT / "node_modules" / package.partition("@")[0]).exists() for package in PACKAGES):
        KEPT.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(KEPT), "--no-save", "--no-audit", "--no-fund", *PACKAGES]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Lacking(f"npm could not install {' '.join(PACKAGES)}: {done.stderr.strip()[-300:]}")
    return KEPT / "node_modules"


def chromium() -> str:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise Lacking("there is no Chromium here")
    return found


class Compressed(http.server.SimpleHTTPRequestHandler):
    """Serves a folder like a web host: compressed, and cached by the browser."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        if not path.is_file():
            return self.send_error(404)
        body, packed = path.read_bytes(), path.suffix in {".html", ".css", ".js", ".mjs", ".svg", ".json", ".txt", ".xml"}
        body = gzip.compress(body, mtime=0) if packed else body
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=31536000")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served(folder: Path):
    """Yield the address of a folder."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Compressed, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# Lighthouse -----------------------------------------------------------------------------------------------------------------


def lighthouse(node_modules: Path, address: str, preset: str) -> dict:
    """Return the scores out of 100 and the layout shift of one Lighthouse run. Lighthouse emulates a phone by default."""
    command = [str(node_modules / ".bin/lighthouse"), address, "--quiet", "--output=json"]
    command += ["--chrome-flags=--headless=new --no-sandbox --disable-gpu", *(["--preset=desktop"] if preset == "desktop" else [])]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"CHROME_PATH": chromium()})
    if done.returncode:
        raise Lacking(f"Lighthouse could not look at {address}: {done.stderr.strip()[-300:]}")
    report = json.loads(done.stdout)
    scores = {name: 100 * (report["categories"][name]["score"] or 0) for name in CATEGORIES}
    audits = report["audits"]
    return scores | {"shift": audits["cumulative-layout-shift"]["numericValue"], "bytes": audits["total-byte-weight"]["numericValue"]}


def median(runs: list[dict]) -> dict:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


STOCK_PAGE = "softmax/temperature"
# The setup that Material's manual recommends for KaTeX, with files from the same host.
STOCK_FORMULAS = """document$.subscribe(({ body }) => renderMathInElement(body, { throwOnError: false, delimiters: [
  { left: "\\\\(", right: "\\\\)", display: false }, { left: "\\\\[", right: "\\\\]", display: true }] }));"""


def stock(site: Path) -> str:
    """Build a page's text with plain Material, without claims or formulas, in a folder of the site. Return the folder's name."""
    return _stock(site, "stock", (ROOT / "docs" / f"{STOCK_PAGE}.md").read_text(encoding="utf-8"), {}, None)


def stock_with_formulas(site: Path, node_modules: Path) -> str:
    """Do the same with the formula of each claim, which KaTeX lays out in the browser. Return the folder's name."""
    of = {claim["id"]: claim["latex"] for claim in json.loads((site / "claims.json").read_text(encoding="utf-8"))["claims"]}
    text = (ROOT / "docs" / f"{STOCK_PAGE}.md").read_text(encoding="utf-8")
    text = re.sub(r"^/// \w+ \| (\S+#\S+)$", lambda found: f"$$\n{of[found[1]]}\n$$\n", text, flags=re.M)
    settings = {
        "extra_css": ["katex/katex.min.css"],
        "extra_javascript": ["katex/katex.min.js", "katex/contrib/auto-render.min.js", "formulas.js"],
    }
    return _stock(site, "stock-formulas", text, settings, node_modules / "katex/dist")


def _stock(site: Path, name: str, text: str, settings: dict, katex: Path | None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder, "docs")
        docs.mkdir()
        (docs / "index.md").write_text(text, encoding="utf-8")
        extensions = ["attr_list", "tables", {"toc": {"permalink": True}}, "pymdownx.highlight", "pymdownx.superfences"]
        if katex is not None:
            shutil.copytree(katex, docs / "katex")
            (docs / "formulas.js").write_text(STOCK_FORMULAS)
            extensions.append({"pymdownx.arithmatex": {"generic": True}})
        config = {"site_name": "Stock", "site_url": "http://127.0.0.1/", "theme": {"name": "material", "font": False}, **settings}
        Path(folder, "mkdocs.yml").write_text(yaml.safe_dump(config | {"docs_dir": str(docs), "markdown_extensions": extensions}))
        command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", str(Path(folder, "mkdocs.yml")), "-d", str(site / name)]
        subprocess.run(command, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    return name


def looked_at(site: Path) -> None:
    """Print the medians of five runs on a phone and a desktop, for each kind of page and for a plain page without and with formulas."""
    node_modules = tools()
    pages = [*(page for page in PAGES if (site / page / "index.html").exists() or page == "index")]
    pages += [stock(site), stock_with_formulas(site, node_modules)]
    with served(site) as address:
        for preset in ("phone", "desktop"):
            runs: dict[str, list[dict]] = {page: [] for page in pages}
            for _ in range(ROUNDS):  # alternating, so that other load on the machine affects all of them
                for page in pages:
                    runs[page].append(lighthouse(node_modules, f"{address}/{'' if page == 'index' else page + '/'}", preset))
            print(
                f"Lighthouse, {preset}, median of {ROUNDS}; load {os.getloadavg()[0]:.1f}   (aim: 100 thrice; at least 95, and the stock page's)"
            )
            for page, found in runs.items():
                of = median(found)
                scores = "  ".join(f"{name} {of[name]:3.0f}" for name in CATEGORIES[1:] + CATEGORIES[:1])
                print(f"  {page:24} {scores}   layout shift {of['shift']:.3f} (aim: at most 0.02)   {of['bytes'] / 1024:.0f} KiB")


# Formulas by others -----------------------------------------------------------------------------------------------------------

WITH = {
    "mathml": '<link rel="preload" href="assets/fonts/stix-two-math.woff2" as="font" type="font/woff2" crossorigin>'
    '<link rel="stylesheet" href="assets/css/site.css">',
    "katex": '<link rel="stylesheet" href="katex/katex.min.css"><script defer src="katex/katex.min.js"></script>'
    '<script defer src="katex.js"></script>',
    "mathjax": '<script src="mathjax-settings.js"></script><script defer src="mathjax/tex-chtml.js"></script>',
}
KATEX = """for (const place of document.querySelectorAll(".formula"))
  katex.render(place.textContent, place, { throwOnError: false, displayMode: true });
document.documentElement.dataset.done = "";"""
MATHJAX = """window.MathJax = { tex: { displayMath: [["$$", "$$"]] }, options: { enableMenu: false },
  startup: { pageReady: () => MathJax.startup.defaultPageReady().then(() => { document.documentElement.dataset.done = ""; }) } };"""
SHIFT = """new Promise((done) => { let sum = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) sum += entry.value; }).observe({ type: "layout-shift", buffered: true });
  document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(sum))))); })"""


def formulas(site: Path) -> list[str]:
    """Return the LaTeX of the site's claims, as a reader copies it."""
    found: list[str] = []
    for page in sorted(site.rglob("index.html")):
        found += re.findall(r' data-latex="([^"]*)"', page.read_text(encoding="utf-8"))
    return list(dict.fromkeys(found))[:FORMULAS]


def written(folder: Path, site: Path, node_modules: Path) -> int:
    """Write a page for each way, with the same formulas between the same lines of text. Return the number of formulas."""
    from html import unescape

    from derivations.kernel.printing.mathml import MathsError, mathml

    kept: list[tuple[str, str]] = []
    for latex in formulas(site):
        try:
            kept.append((latex, mathml(unescape(latex), display=True)))
        except MathsError:
            continue  # an environment for several lines
    shutil.copytree(node_modules / "katex/dist", folder / "katex")
    shutil.copytree(node_modules / "mathjax/es5", folder / "mathjax")
    shutil.copytree(site / "assets", folder / "assets")
    (folder / "katex.js").write_text(KATEX)
    (folder / "mathjax-settings.js").write_text(MATHJAX)
    for way, head in WITH.items():
        shown = {"mathml": lambda pair: pair[1], "katex": lambda pair: pair[0], "mathjax": lambda pair: f"$${pair[0]}$$"}[way]
        body = "".join(f"<p>Some words before it, and then the formula.</p><div class=formula>{shown(pair)}</div>" for pair in kept)
        done = " data-done" if way == "mathml" else ""
        (folder / f"{way}.html").write_text(f"<!doctype html><html{done}><meta charset=utf-8><title>{way}</title>{head}<body>{body}")
    return len(kept)


def compared(site: Path) -> None:
    """Print the work of the main thread for the same formulas in each way, and how far they move the content below."""
    node_modules = tools()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        count = written(Path(name), site, node_modules)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        runs: dict[str, list[dict]] = {way: [] for way in WITH}
        with served(Path(name)) as address:
            for _ in range(ROUNDS):
                for way in WITH:
                    runs[way].append(shown(browser, f"{address}/{way}.html"))
        browser.close()
    of = {way: median(found) for way, found in runs.items()}
    for way, found in of.items():
        print(f"{count} formulas by {way:8} {found['seconds'] * 1000:5.0f} ms of the main thread, layout shift {found['shift']:.3f}")
    peer = min(of["katex"]["seconds"], of["mathjax"]["seconds"])
    print(f"ratio, main thread for formulas to the better of KaTeX and MathJax   {of['mathml']['seconds'] / peer:.2f}   (aim: at most 0.4)")
    print(
        f"layout shift {of['mathml']['shift']:.3f}, of the better {min(of['katex']['shift'], of['mathjax']['shift']):.3f}   (aim: no more)"
    )


def shown(browser, address: str) -> dict:
    """Return the seconds of the main thread's own time to show a page to its end, and its layout shift."""
    context = browser.new_context(viewport={"width": 412, "height": 823})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="load", timeout=0)
    page.wait_for_selector("html[data-done]", timeout=0)
    shift = page.evaluate(SHIFT)
    metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return {"seconds": metrics["TaskDuration"], "shift": shift}


def main(site: Path) -> list[str]:
    """Measure everything. Return what could not be measured, and why."""
    lacking = []
    for what, measure in (("formulas beside KaTeX and MathJax", compared), ("Lighthouse", looked_at)):
        try:
            measure(site)
        except Lacking as reason:
            lacking.append(f"{what}: {reason}")
    return lacking


if __name__ == "__main__":  # a finished site
    sys.exit("\n".join(f"NOT MEASURED, {line}" for line in main(Path(sys.argv[1]))) or 0)
