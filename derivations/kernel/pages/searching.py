"""MkDocs hook: when the site is built, what search asks is written beside it."""

from pathlib import Path

from derivations.kernel.pages import finding, rebuilding


def on_post_build(*, config):
    if not rebuilding.search_waits():
        finding.write(Path(config.site_dir))
