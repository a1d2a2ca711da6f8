"""Tests of pictures that are drawn as images: they look like the same pictures in a browser."""

import io
import re
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageFilter, ImageStat

from derivations.kernel.site import picture_image
from derivations.kernel.site.figure_block import load_picture

ROOT = Path(__file__).parents[2]
# Pictures with cells, bars, curves, dots, spots, arrows, and boxes with roles
PICTURES = {
    "around/additive:two_keys": "around/additive/",
    "around/additive:network": "around/additive/",
    "associativity/tolerance:error_and_bound": "associativity/tolerance/",
    "attention/formula:block": "attention/formula/",
    "attention/worked:misses": "attention/worked/",
    "blocks/backward:steps": "blocks/backward/",
    "seeing/atlas:sentence": "",
}


def test_colours_are_those_of_the_light_scheme():
    css = (ROOT / "docs/assets/css/site.css").read_text(encoding="utf-8")
    light = dict(re.findall(r"--(\w+): (#\w+);", css.partition('[data-md-color-scheme="default"] {')[2].partition("}")[0]))
    light |= {name: light[of] for name, of in re.findall(r"--(\w+): var\(--(\w+)\)", re.search(r"\n\.picture \{(.*)\}", css)[1])}
    assert {name: light[name] for name in ("paper", *picture_image.COLOURS)} == {"paper": picture_image.PAPER, **picture_image.COLOURS}


@pytest.mark.parametrize("name", PICTURES)
def test_image_looks_like_the_picture_in_a_browser(browse, name):
    page = browse(PICTURES[name])
    drawn = page.page.query_selector(f"#picture-{name.rpartition(':')[2]} svg")
    drawn.evaluate("(one) => (one.style = 'position: fixed; left: 8px; top: 8px; z-index: 9; background: var(--paper)')")  # whole pixels
    theirs = Image.open(io.BytesIO(drawn.screenshot())).convert("RGB")
    picture = load_picture(name, ROOT / "docs")
    scale = drawn.bounding_box()["width"] / picture["width"]
    ours = picture_image.draw_picture(picture["drawing"], picture["width"], picture["height"], scale)
    edge = round(picture_image.MARGIN * scale)
    ours = ours.crop((edge, edge, edge + theirs.width, edge + theirs.height))
    # Letters may be a part of a pixel apart, so that both are blurred.
    ours, theirs, paper = (
        one.filter(ImageFilter.GaussianBlur(3)) for one in (ours, theirs, Image.new("RGB", ours.size, picture_image.PAPER))
    )
    difference, ink = (sum(ImageStat.Stat(ImageChops.difference(one, theirs)).sum) for one in (ours, paper))
    assert difference < 0.15 * ink
