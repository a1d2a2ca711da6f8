"""MkDocs hook: the style sheet of the reference is linked by theme/main.html where a page has a reference, and not on every page, as
mkdocstrings has it. What other generators leave out is written for them."""

from importlib.resources import files
from pathlib import Path

SHEET = "assets/_mkdocstrings.css"


def on_config(config):
    config.extra_css[:] = [path for path in config.extra_css if path != SHEET]


def write(site: Path) -> None:
    """The style sheet of mkdocstrings' theme for Material, where a built site lacks it."""
    path = site / SHEET
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files("mkdocstrings_handlers.python").joinpath("templates/material/style.css").read_bytes())
