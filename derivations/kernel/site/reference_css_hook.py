"""MkDocs hook: link the style sheet of the API reference only on pages with a reference.

mkdocstrings would link it on every page; theme/main.html links it where it is needed. Other generators do not write the style sheet,
so `write` does it for them.
"""

from importlib.resources import files
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

STYLE_SHEET = "assets/_mkdocstrings.css"


def on_config(config: MkDocsConfig) -> None:
    """Remove the style sheet from those that every page links."""
    config.extra_css[:] = [path for path in config.extra_css if path != STYLE_SHEET]


def write(site: Path) -> None:
    """Write the style sheet of mkdocstrings' theme for Material if a built site lacks it."""
    path = site / STYLE_SHEET
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files("mkdocstrings_handlers.python").joinpath("templates/material/style.css").read_bytes())
