"""MkDocs hook: write the search index when the site is built."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

from derivations.kernel.site import incremental_build, search_index


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write the search index, unless a server will do so later."""
    if not incremental_build.is_search_delayed():
        search_index.write(Path(config.site_dir))
