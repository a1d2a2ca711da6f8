"""The files that a reader can take from a figure: an SVG that needs no style sheet, a PNG, and a lasting address."""

import base64
from xml.etree import ElementTree

import pytest

pytestmark = pytest.mark.browser

TAKEN = """(async () => {{
    const button = [...{figure}.querySelectorAll(".picture__take button")].find((one) => one.textContent === "{kind}");
    const link = new Promise((done, fail) => {{
        new MutationObserver(() => fail(button.textContent)).observe(button, {{ childList: true }}); // "Not saved"
        const click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () {{ HTMLAnchorElement.prototype.click = click; done(this); }};
    }});
    const make = URL.createObjectURL;
    let file;
    URL.createObjectURL = (blob) => {{ file = blob; return make.call(URL, blob); }};
    button.click();
    const name = (await link).download;
    URL.createObjectURL = make;
    const bytes = new Uint8Array(await file.arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return [name, file.type, btoa(text)];
}})()"""
# The words that are seen in a widget, those of its buttons left out, and the numbers in its cells.
SEEN = """(() => {{
    const play = {figure}.querySelector(".play");
    const hidden = [...play.querySelectorAll(".play__buttons, .play__heard, label.play__both")];
    hidden.forEach((one) => (one.style.display = "none"));
    const fields = [...play.querySelectorAll("[type=number]")].map((one) => one.value.replace("-", "−"));
    const text = [play.innerText, ...fields].join(" ");
    hidden.forEach((one) => (one.style.display = ""));
    return text;
}})()"""
FIGURE = "document.querySelector('#picture-two_keys')"


def taken(page, kind, figure=FIGURE):
    """Return the name, the type and the bytes of the file that a button gives."""
    name, type_, text = page.run(TAKEN.format(figure=figure, kind=kind))
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


WIDGETS = [
    ("softmax/temperature/", "temperature", "range.value = 3; range.dispatchEvent(new Event('input'));"),
    ("positions/alibi/", "alibi", "radios.at(-1).click();"),
    ("attention/masks/", "masks", "play.querySelector('button').click();"),
    ("order/rotary/", "rotary", "range.value = 9; range.dispatchEvent(new Event('input'));"),
]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path, widget, act", WIDGETS, ids=[widget for _, widget, _ in WIDGETS])
def test_the_files_of_a_widget_show_it_as_its_reader_has_set_it(browse, path, widget, act, dark):
    page = browse(path, dark=dark)
    figure = f"document.querySelector('figure[data-play={widget}]')"
    page.until(f"{figure}.dataset.played !== undefined")
    before = taken(page, "SVG", figure)[2]
    page.run(f"""(() => {{
        const play = {figure}.querySelector(".play");
        const [range, radios] = [play.querySelector("[type=range]"), [...play.querySelectorAll("[type=radio]")]];
        {act}
    }})()""")
    content = taken(page, "SVG", figure)[2]
    assert content != before
    root = ElementTree.fromstring(content)
    words = sorted(" ".join("".join(text.itertext()) for text in root.findall(".//{*}text")).split())
    assert words == sorted(page.run(SEEN.format(figure=figure)).split())
    colours = page.run(f"[...{figure}.querySelectorAll('.play__cell, .play__bar')].map((one) => getComputedStyle(one).backgroundColor)")
    assert {colour for colour in colours if not colour.endswith(" 0)")} <= {part.get("fill") for part in root.findall(".//{*}rect")}
    assert taken(page, "PNG", figure)[2][:8] == b"\x89PNG\r\n\x1a\n"


def test_each_figure_has_a_button_that_copies_its_address(browse):
    page = browse("scaling/saturation/")
    page.run("Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})")
    ids = page.run(
        "[...document.querySelectorAll('figure.picture')].filter((one) => one.querySelector('.picture__svg')).map((one) => one.id)"
    )
    assert len(ids) >= 3 and len(set(ids)) == len(ids)
    for name in ids:
        button = f"document.querySelector('#{name} .picture__take :last-child')"
        page.run(f"{button}.click()")
        page.until(f"{button}.textContent === 'Copied'")
        assert page.run("copied") == page.page.url and page.page.url.endswith(f"scaling/saturation/#{name}")
        assert page.run("document.querySelector('.take__said').textContent") == "Copy link: copied"
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
