"""MkDocs hook: the style sheet of the reference is linked by theme/main.html where a page has a reference, and not on every page, as
mkdocstrings has it."""

SHEET = "assets/_mkdocstrings.css"


def on_config(config):
    config.extra_css[:] = [path for path in config.extra_css if path != SHEET]
