"""Test that text has enough contrast and that pages fit the screen of a phone."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def palette(scheme):
    css = (ROOT / "docs/assets/css/site.css").read_text(encoding="utf-8")
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] \{{(.*?)\}}', css, flags=re.S)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def luminance(colour):
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_black_on_white_and_of_equal_colours():
    assert contrast("#ffffff", "#000000") == pytest.approx(21) and contrast("#808080", "#808080") == 1


WORDS = ("ink", "quiet", "link", "proved", "refuted", "code-keyword", "code-string", "code-number", "code-name")


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_text_has_enough_contrast(scheme):
    colours = palette(scheme)
    assert contrast(colours["ink"], colours["paper"]) > 10
    faint = {
        (name, ground): round(contrast(colours[name], colours[ground]), 2)
        for ground in ("paper", "wash", "refuted-wash")
        for name in (*WORDS, "query", "key", "value", "output")
        if contrast(colours[name], colours[ground]) < 4.5
    }
    assert faint == {}


# In a window as wide as a phone -----------------------------------------------------------------------------------------------

WIDE = "<!doctype html><meta name='viewport' content='width=device-width'><div style='width: 900px'>x</div>"
FOUND = """document.fonts.ready.then(() => {
    const math = document.querySelector("math"), loaded = [...document.fonts].filter((font) => font.status === "loaded");
    return [document.documentElement.scrollWidth, math ? getComputedStyle(math).fontFamily.split(",")[0].replaceAll('"', "") : "",
            loaded.map((font) => font.family.replaceAll('"', ""))];
})"""


@pytest.fixture
def measure(chromium, crawler):
    """Return a function that opens pages of a folder in a window 390 pixels wide.

    It yields each page with its width, the font of its first formula, and the loaded fonts.
    """

    def measure(folder, pages):
        with crawler.served(folder) as site, chromium() as browser:
            browser.look(width=390, height=800)
            for page in pages:
                browser.open(site + page)
                yield page, *browser.run(FOUND)

    return measure


def test_pages_fit_a_phone(measure, asked, built):
    assert asked
    for page, width, font, loaded in measure(built, [*asked, "labs/scores/index.html"]):
        assert width <= 390, f"{page} scrolls sideways: {width} pixels"
        assert font == "STIX Two Math" and font in loaded, page


def test_page_that_is_too_wide_is_detected(measure, tmp_path):
    (tmp_path / "wide.html").write_text(WIDE)
    ((_, width, _, _),) = measure(tmp_path, ["wide.html"])
    assert width > 390
