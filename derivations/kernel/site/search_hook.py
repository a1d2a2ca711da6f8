"""MkDocs hook: when the site is built, what search asks is written beside it."""

from pathlib import Path

from derivations.kernel.site import incremental_build, search_index


def on_post_build(*, config):
    if not incremental_build.search_waits():
        search_index.write(Path(config.site_dir))
