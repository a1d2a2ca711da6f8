"""A browser that a test drives as a reader does: with real keys, at any width, with JavaScript or without.

Playwright drives the Chromium of this machine; it fetches none. It waits for as long as it takes.
"""

from contextlib import contextmanager
from importlib.resources import files

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import sync_playwright

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One page, in a browser that has nothing of anybody's and nothing kept of the page before."""

    def __init__(self, chromium: Chromium):
        self._chromium = chromium
        self.look()

    def look(self, width: int = 1300, height: int = 900, dark: bool = False, script: bool = True, phone: bool = False) -> None:
        """How the pages that are opened from now on are seen."""
        for context in self._chromium.contexts:
            context.close()
        self._context = self._chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",  # nothing is between two places when it is looked at
            java_script_enabled=script,
            is_mobile=phone,
            has_touch=phone,
        )
        self._context.set_default_timeout(0)
        self.page = self._context.new_page()
        self.requested: list[str] = []  # the addresses that were asked for
        self.errors: list[str] = []  # what the console was told to be wrong
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.on("console", lambda said: self.errors.append(f"{said.text} ({said.location['url']})") if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def open(self, address: str) -> None:
        """Go there, and come back when all that the page itself asks for is loaded."""
        self.requested.clear()
        self.errors.clear()
        self.page.goto(address, wait_until="load")

    def run(self, script: str):
        """What the last of some statements is; a promise is waited for."""
        return self.page.evaluate(script)

    def until(self, condition: str) -> None:
        """Wait until a condition holds, looked at before each frame."""
        self.run(f"new Promise((done) => {{ const look = () => (({condition}) ? done() : requestAnimationFrame(look)); look(); }})")

    def until_at(self, path: str) -> None:
        """Wait until a page of this site is there, to which a press of a key or a click leads."""
        self.page.wait_for_url(f"**{path}")

    def press(self, key: str, times: int = 1, shift: bool = False) -> None:
        """A key that has a name, or a character."""
        for _ in range(times):
            self.page.keyboard.press(f"Shift+{key}" if shift else key)

    def type(self, text: str) -> None:
        self.page.keyboard.insert_text(text)

    def offline(self, is_so: bool) -> None:
        self._context.set_offline(is_so)

    def settle(self) -> None:
        """Wait until fonts are there, and what follows a change of size has followed it."""
        self.run("document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))))")

    def audit(self) -> list[str]:
        """What axe-core finds wrong with the page as it is shown, in a line each, and what a finger would miss. The page's policy does not bind a driver of the browser."""
        if not self.run("'axe' in window"):
            self.run(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8") + "; 0")
        found = self.run(
            "axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}}).then(({violations}) => violations)"
        )
        return [f"{rule['id']}: {' '.join(map(str, node['target']))}: {said(node)}" for rule in found for node in rule["nodes"]]

    def paper(self) -> bytes:
        """The page as a PDF."""
        return self.page.pdf(format="A4", prefer_css_page_size=True)


def said(node: dict) -> str:
    """What axe-core says of an element, without the list's head."""
    return " ".join(node.get("failureSummary", "").split("\n")[1:]).strip()


@contextmanager
def started(program: str):
    """A browser; it ends with the block."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=0)
        try:
            yield Browser(chromium)
        finally:
            chromium.close()
