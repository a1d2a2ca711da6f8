"""The files that a reader can take from a figure: an SVG that needs no style sheet, a PNG, and a lasting address."""

import base64
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.browser

TAKEN = """(async () => {{
    const link = new Promise((done) => {{
        const click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () {{ HTMLAnchorElement.prototype.click = click; done(this); }};
    }});
    const make = URL.createObjectURL;
    let file;
    URL.createObjectURL = (blob) => {{ file = blob; return make.call(URL, blob); }};
    [...{figure}.querySelectorAll(".picture__take button")].find((one) => one.textContent === "{kind}").click();
    const name = (await link).download;
    URL.createObjectURL = make;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return [name, file.type, btoa(text)];
}})()"""
FIGURE = "document.querySelector('#picture-two_keys')"


def taken(page, kind):
    """Return the name, the type and the bytes of the file that a button gives."""
    name, type_, text = page.run(TAKEN.format(figure=FIGURE, kind=kind))
    return name, type_, base64.b64decode(text)


@pytest.mark.parametrize("dark", [False, True])
def test_the_svg_file_needs_nothing_else(browse, dark):
    page = browse("scaling/saturation/", dark=dark)
    name, type_, content = taken(page, "SVG")
    assert (name, type_) == ("scaling-saturation-picture-two_keys.svg", "image/svg+xml")
    root = ElementTree.fromstring(content)
    parts = list(root.iter())
    assert not any("class" in part.attrib for part in parts) and "var(" not in content.decode()
    paper, label = root.find("{*}rect"), root.find(".//{*}text")
    assert paper.get("fill") == page.run("getComputedStyle(document.body).backgroundColor")
    colour = page.run(f"getComputedStyle({FIGURE}.querySelector('text')).fill")
    assert f"fill:{colour}" in label.get("style").replace("fill: ", "fill:")
    assert "@font-face" in root.find("{*}style").text and 'url("data:' in root.find("{*}style").text
    assert root.find("{*}title").text == page.run(f"{FIGURE}.querySelector('title').textContent")


def test_the_png_file_has_two_pixels_for_each_unit(browse):
    page = browse("scaling/saturation/")
    name, type_, content = taken(page, "PNG")
    assert name.endswith("-picture-two_keys.png") and type_ == "image/png" and content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = page.run(f"(({{ width, height }}) => [width, height])({FIGURE}.querySelector('svg').viewBox.baseVal)")
    size = [int.from_bytes(content[at : at + 4]) for at in (16, 20)]
    assert size == [-(-2 * (width + 24) // 1), -(-2 * (height + 24) // 1)]
    assert len(set(content)) > 200  # not one colour throughout


def test_the_link_leads_to_the_figure_and_each_figure_has_one(browse):
    page = browse("scaling/saturation/")
    ids = page.run(
        "[...document.querySelectorAll('figure.picture')].filter((one) => one.querySelector('.picture__svg')).map((one) => one.id)"
    )
    links = page.run("[...document.querySelectorAll('.picture__take a')].map((one) => one.hash.slice(1))")
    assert len(ids) >= 3 and links == ids and len(set(ids)) == len(ids)
    assert (
        page.run("Math.min(...[...document.querySelectorAll('.picture__take > *')].map((one) => one.getBoundingClientRect().height))") >= 24
    )


@pytest.mark.parametrize("width", [390, 1100])
def test_the_line_below_a_figure_has_its_room_before_it_is_there(browse, width):
    page = browse("scaling/saturation/", width=width, height=900)
    height = f"{FIGURE}.getBoundingClientRect().height"
    before = page.run(height)
    page.run(f"{FIGURE}.querySelector('.picture__take').remove()")
    assert abs(page.run(height) - before) < 0.5
