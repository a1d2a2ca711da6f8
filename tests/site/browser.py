"""A browser for tests: it presses real keys, at any window size, with and without JavaScript.

Playwright drives the Chromium that is installed on this machine and downloads none. Its waits have no time limit, except in `until`.
"""

import json
from contextlib import contextmanager
from importlib.resources import files

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import sync_playwright

A4_WIDTH = 794  # CSS pixels
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Lay everything out for axe-core, or it reports that parts far below overlap, whose places the browser does not know yet. Nor may the header cover
# what is scrolled under it.
LAY_OUT = """const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { content-visibility: visible !important } .md-header { position: static !important }");
  document.adoptedStyleSheets.push(sheet);
  0"""


class Browser:
    """A page in a browser whose context holds no data of earlier pages."""

    def __init__(self, chromium: Chromium):
        self._chromium = chromium
        self.look()

    def look(self, width: int = 1300, height: int = 900, dark: bool = False, script: bool = True, phone: bool = False) -> None:
        """Set how the pages opened from now on are displayed: the window size, the colour scheme, JavaScript and touch."""
        for context in self._chromium.contexts:
            context.close()
        self._context = self._chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",  # animations would still be running when a test looks at the page
            java_script_enabled=script,
            is_mobile=phone,
            has_touch=phone,
        )
        self._context.set_default_timeout(0)
        self.page = self._context.new_page()
        self.requested: list[str] = []  # the addresses that the page requested
        self.errors: list[str] = []  # the errors in the console
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("console", lambda said: self.errors.append(f"{said.text} ({said.location['url']})") if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, address: str) -> None:
        """Open an address and wait until everything that the page itself requests is loaded."""
        self.requested.clear()
        self.errors.clear()
        self.page.goto(address, wait_until="load")

    def run(self, script: str):
        """Run statements and return the value of the last one. If it is a promise, wait for its result."""
        return self.page.evaluate(script)

    def until(self, condition: str) -> None:
        """Wait until a condition holds. It is evaluated before each frame. After ten minutes, raise an error that quotes it."""
        self.run(f"""new Promise((done, fail) => {{
          const end = performance.now() + 600_000, late = () => fail(new Error({json.dumps("waited ten minutes for " + condition)}));
          const look = () => (({condition}) ? done() : performance.now() > end ? late() : requestAnimationFrame(look));
          look();
        }})""")

    def until_at(self, path: str) -> None:
        """Wait until the browser shows a page of this site, after a key press or a click that leads to it."""
        self.page.wait_for_url(f"**{path}")

    def press(self, key: str, times: int = 1, shift: bool = False) -> None:
        """Press a key, given by its name or its character."""
        for _ in range(times):
            self.page.keyboard.press(f"Shift+{key}" if shift else key)

    def type(self, text: str) -> None:
        self.page.keyboard.insert_text(text)

    def offline(self, is_so: bool) -> None:
        self._context.set_offline(is_so)

    def settle(self) -> None:
        """Wait until the fonts are loaded and the page has reacted to a change of size."""
        self.run("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))))")

    def audit(self) -> list[str]:
        """Return a line for each fault that axe-core finds in the page, including targets that are too small to tap.

        The page's content security policy does not apply to scripts that Playwright runs.
        """
        if not self.run("'axe' in window"):
            self.run(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8") + "; 0")
        self.run(LAY_OUT)
        found = self.run(
            "axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}).then(({violations}) => violations)"
        )
        self.run("document.adoptedStyleSheets.pop(); 0")
        return [f"{rule['id']}: {' '.join(map(str, node['target']))}: {said(node)}" for rule in found for node in rule["nodes"]]

    def paper(self) -> bytes:
        """Return the page as a PDF."""
        return self.page.pdf(format="A4", prefer_css_page_size=True)

    def height_on_paper(self) -> int:
        """Return the height of the page in pixels, as wide as a sheet, with the styles for print, which open folds."""
        size = self.page.viewport_size
        self.page.set_viewport_size({"width": A4_WIDTH, "height": size["height"]})
        self.page.emulate_media(media="print")
        try:
            return self.run("document.documentElement.scrollHeight")
        finally:
            self.page.emulate_media(media="null")
            self.page.set_viewport_size(size)


def said(node: dict) -> str:
    """Return axe-core's description of an element without the heading of its list."""
    return " ".join(node.get("failureSummary", "").split("\n")[1:]).strip()


@contextmanager
def started(program: str):
    """Yield a browser and close it at the end of the block."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=0)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()
