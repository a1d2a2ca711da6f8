"""Draw the preview image of a page that other sites show for a link to it: its title, its chapter and its description.

The images are drawn with Pillow while the site is built, offline, in the STIX and DejaVu fonts that come with matplotlib.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from PIL import Image, ImageDraw, ImageFont

SIZE = (1200, 630)
PAPER, INK, QUIET, HAIRLINE, PROVED = "#fdfcf9", "#1f1e1b", "#6a665e", "#e3dfd5", "#2f6b4f"  # the light scheme of site.css
MARK = "#3d7a5d"  # of assets/images/mark.svg
LEFT, RIGHT = 96, 1104
FONTS = {"title": "STIXGeneral.ttf", "text": "STIXGeneral.ttf", "label": "DejaVuSans.ttf"}
COLOURS = 64  # the colours above, and the shades between them at the edges of letters
LOCAL = ("", "localhost", "127.0.0.1", "::1")


def is_public(address: str | None) -> bool:
    """Return whether an address is public. Other sites fetch a card from its full address, so only a public site has cards."""
    return (urlsplit(address or "").hostname or "") not in LOCAL


def card_path(page: str) -> str:
    """Return the path of a page's card on the site; `page` is the page's path below docs/."""
    return f"cards/{page.removesuffix('.md')}.png"


def draw_card(path: Path, *, title: str, chapter: str, description: str, site: str) -> None:
    """Draw a card and write it as PNG."""
    image = Image.new("RGB", SIZE, PAPER)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 14, SIZE[1]), fill=MARK)
    if chapter:
        pen.text((LEFT, 92), chapter, font=_load_font("label", 27), fill=PROVED, anchor="ls")
    lines, font = _fit_lines(title, (88, 76, 64, 54), 3)
    top = 132
    for line in lines:
        pen.text((LEFT, top), line, font=font, fill=INK, anchor="la")
        top += round(font.size * 1.14)
    text_font = _load_font("text", 34)
    room = (512 - top - 30) // 46
    for line in shorten(description, text_font, min(3, room)):
        pen.text((LEFT, top + 30), line, font=text_font, fill=QUIET, anchor="la")
        top += 46
    pen.line((LEFT, 528, RIGHT, 528), fill=HAIRLINE, width=2)
    pen.rounded_rectangle((LEFT, 554, LEFT + 20, 584), radius=2, fill=MARK)
    pen.text((LEFT + 36, 581), site, font=_load_font("label", 27), fill=INK, anchor="ls")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def _load_font(name: str, size: int) -> Any:
    """Return one of FONTS in a size in pixels. Raise FileNotFoundError if matplotlib is not installed."""
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("matplotlib is not installed, and the cards use its fonts")
    return ImageFont.truetype(str(Path(spec.origin).parent / "mpl-data/fonts/ttf" / FONTS[name]), size)


def _fit_lines(text: str, sizes: tuple[int, ...], most: int) -> tuple[list[str], Any]:
    """Return the text in at most `most` lines and its font, in the largest of the sizes that fits; in the smallest it is cut."""
    for size in sizes:
        font = _load_font("title", size)
        lines = _wrap_lines(text, font)
        if len(lines) <= most:
            return lines, font
    return shorten(text, font, most), font


def shorten(text: str, font: Any, most: int) -> list[str]:
    """Return the text in at most `most` lines; a longer text is cut after a word and ends in an ellipsis."""
    lines = _wrap_lines(text, font)
    if len(lines) <= most:
        return lines
    if most < 1:
        return []
    last = lines[most - 1]
    while last and font.getlength(f"{last} …") > RIGHT - LEFT:
        last = last.rpartition(" ")[0]
    return [*lines[: most - 1], f"{last} …".strip()]


def _wrap_lines(text: str, font: Any) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= RIGHT - LEFT:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
