"""Draw the preview image of a page that other sites show for a link to it: its title, its chapter, and a picture or its description.

The images are drawn with Pillow while the site is built, offline. Words are set in the STIX and DejaVu fonts that come with matplotlib.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from PIL import Image, ImageDraw, ImageFont

from .picture_image import COLOURS, MARGIN, PAPER, draw_picture

SIZE = (1200, 630)
INK, QUIET, HAIRLINE, PROVED = COLOURS["ink"], COLOURS["quiet"], COLOURS["hairline"], "#2f6b4f"  # the light scheme of site.css
MARK = "#3d7a5d"  # of assets/images/mark.svg
LEFT, RIGHT = 96, 1104
FONTS = {"title": "STIXGeneral.ttf", "text": "STIXGeneral.ttf", "label": "DejaVuSans.ttf"}
PICTURE = (520, 40, 1160, 516)  # where a picture may be
TEXT_END = 480  # where words end beside a picture
LEGIBLE, LARGEST = 1.35, 2.4  # pixels for a unit of a picture: the fewest with which its labels can be read, and the most
SHADES = 64  # the colours above, and the shades between them at the edges of letters
LOCAL = ("", "localhost", "127.0.0.1", "::1")


def is_public(address: str | None) -> bool:
    """Return whether an address is public. Other sites fetch a card from its full address, so only a public site has cards."""
    return (urlsplit(address or "").hostname or "") not in LOCAL


def card_path(page: str) -> str:
    """Return the path of a page's card on the site; `page` is the page's path below docs/."""
    return f"cards/{page.removesuffix('.md')}.png"


def draw_card(path: Path, *, title: str, chapter: str, description: str, site: str, picture: dict | None = None) -> None:
    """Draw a card and write it as PNG. A picture, as it is stored, takes the place of the description."""
    image = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 14, SIZE[1]), fill=MARK)
    end = TEXT_END if picture else RIGHT
    if chapter:
        for line in shorten(chapter, label := _load_font("label", 27), 1, end):
            pen.text((LEFT, 92), line, font=label, fill=PROVED, anchor="ls")
    lines, font = _fit_lines(title, (64, 54, 46) if picture else (88, 76, 64, 54), 5 if picture else 3, end)
    top = 132
    for line in lines:
        pen.text((LEFT, top), line, font=font, fill=INK, anchor="la")
        top += round(font.size * 1.14)
    if picture:
        left, above, right, below = PICTURE
        drawn = draw_picture(picture["drawing"], picture["width"], picture["height"], _find_scale(picture))
        image.paste(drawn, ((left + right - drawn.width) // 2, (above + below - drawn.height) // 2))
    else:
        text_font = _load_font("text", 34)
        for line in shorten(description, text_font, min(3, (512 - top - 30) // 46), end):
            pen.text((LEFT, top + 30), line, font=text_font, fill=QUIET, anchor="la")
            top += 46
    pen.line((LEFT, 528, RIGHT, 528), fill=HAIRLINE, width=2)
    pen.rounded_rectangle((LEFT, 554, LEFT + 20, 584), radius=2, fill=MARK)
    pen.text((LEFT + 36, 581), site, font=_load_font("label", 27), fill=INK, anchor="ls")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.quantize(SHADES, dither=Image.Dither.NONE).save(path, optimize=True)


def has_room(picture: dict) -> bool:
    """Return whether a card has room for a picture with legible labels. A figure of HTML is no picture."""
    return not picture["html"] and _find_scale(picture) >= LEGIBLE


def _find_scale(picture: dict) -> float:
    """Return the number of pixels for a unit of a picture, so that it is as large as there is room."""
    left, above, right, below = PICTURE
    return min((right - left) / (picture["width"] + 2 * MARGIN), (below - above) / (picture["height"] + 2 * MARGIN), LARGEST)


def _load_font(name: str, size: int) -> Any:
    """Return one of FONTS in a size in pixels. Raise FileNotFoundError if matplotlib is not installed."""
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("matplotlib is not installed, and the cards use its fonts")
    return ImageFont.truetype(str(Path(spec.origin).parent / "mpl-data/fonts/ttf" / FONTS[name]), size)


def _fit_lines(text: str, sizes: tuple[int, ...], most: int, end: int) -> tuple[list[str], Any]:
    """Return the text in at most `most` lines and its font, in the largest of the sizes that fits; in the smallest it is cut."""
    for size in sizes:
        font = _load_font("title", size)
        lines = _wrap_lines(text, font, end)
        if len(lines) <= most and all(font.getlength(line) <= end - LEFT for line in lines):
            return lines, font
    return shorten(text, font, most, end), font


def shorten(text: str, font: Any, most: int, end: int) -> list[str]:
    """Return the text in at most `most` lines that end at `end`; a longer text is cut after a word and ends in an ellipsis."""
    lines = _wrap_lines(text, font, end)
    if len(lines) <= most:
        return lines
    if most < 1:
        return []
    last = lines[most - 1]
    while last and font.getlength(f"{last} …") > end - LEFT:
        last = last.rpartition(" ")[0]
    return [*lines[: most - 1], f"{last} …".strip()]


def _wrap_lines(text: str, font: Any, end: int) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= end - LEFT:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
