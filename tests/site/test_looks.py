"""Colours that can be read, and pages that fit a phone."""

import base64
import functools
import http.server
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def palette(scheme):
    css = (ROOT / "docs/assets/css/site.css").read_text(encoding="utf-8")
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] \{{(.*?)\}}', css, flags=re.S)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def luminance(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """The contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_and_white():
    assert contrast("#ffffff", "#000000") == pytest.approx(21) and contrast("#808080", "#808080") == 1


WORDS = ("ink", "quiet", "link", "proved", "refuted", "code-keyword", "code-string", "code-number", "code-name")


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_text_can_be_read(scheme):
    colours = palette(scheme)
    assert contrast(colours["ink"], colours["paper"]) > 10
    faint = {
        (name, ground): round(contrast(colours[name], colours[ground]), 2)
        for ground in ("paper", "wash", "refuted-wash")
        for name in (*WORDS, "query", "key", "value", "output")
        if contrast(colours[name], colours[ground]) < 4.5
    }
    assert faint == {}


# Pages in a frame as wide as a phone, measured from outside: a page of the site may run no script but its own.
FRAME = """<!doctype html><title>?</title><iframe id="f" width="390" height="800"></iframe><script>
(async () => {
  const found = {};
  for (const page of PAGES) {
    await new Promise(done => { f.onload = done; f.src = page; });
    const inner = f.contentDocument; await inner.fonts.ready;
    const math = inner.querySelector('math'), loaded = [...inner.fonts].filter(font => font.status == 'loaded');
    found[page] = [inner.documentElement.scrollWidth, math ? getComputedStyle(math).fontFamily.split(',')[0] : '',
                   loaded.map(font => font.family).join()].map(x => String(x).replaceAll('"', ''));
  }
  document.title = btoa(JSON.stringify(found));
})();</script>"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def measure(built, tmp_path, program):
    """A function that says of each page how wide it is in a frame of 390, in which font its first formula is set, and which
    fonts were loaded."""
    browser = program(*BROWSERS)
    site = shutil.copytree(built, tmp_path / "site")
    (site / "wide.html").write_text("<!doctype html><div style='width: 900px'>x</div>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()

    def measure(pages):
        (site / "frame.html").write_text(FRAME.replace("PAGES", json.dumps(pages)), encoding="utf-8")
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--virtual-time-budget=60000",
                "--dump-dom",
                f"--user-data-dir={tmp_path / 'browser'}",
                f"http://127.0.0.1:{server.server_address[1]}/frame.html",
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
        title = re.search(r"<title>(.*?)</title>", done.stdout)
        assert title and title[1] != "?", done.stderr[-2000:]
        return json.loads(base64.b64decode(title[1]))

    yield measure
    server.shutdown()
    server.server_close()
    thread.join()


def test_pages_fit_a_phone(measure, asked):
    assert asked
    found = measure([*asked, "labs/scores/index.html", "wide.html"])
    # The page that is too wide shows that this can fail.
    assert int(found.pop("wide.html")[0]) > 390
    for page, (width, font, loaded) in found.items():
        assert int(width) <= 390, f"{page} scrolls sideways: {width} pixels"
        assert font == "STIX Two Math" and font in loaded.split(","), page
