"""MkDocs hook: reuse the stored content of a page whose dependencies are unchanged (page_cache.py).

While the site is served, nothing is reused here: incremental_build.py decides which pages are built again.
"""

import logging
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from mkdocs.structure.toc import get_toc
from mkdocs.utils import CountHandler

from derivations.kernel.site import lab_hook, mkdocstrings_cache, page_cache, page_errors
from derivations.kernel.store import coq_results, project_files
from derivations.kernel.store.store import digest


def on_files(files, *, config):
    """Begin a build."""
    page_cache.begin("" if page_errors.are_shown() else around(config, files))
    if not page_errors.are_shown():
        coq_results.begin_build()
    return files


def around(config, files) -> str:
    """Return a digest of what any page may depend on: the kernel, the installed packages, the settings, and the list of files."""
    given = [Path(config.config_file_path), *project_files.kernel_files()]
    read = [(path.as_posix(), project_files.file_hash(path)) for path in given]
    versions = sorted((one.metadata["Name"], one.version) for one in distributions())
    settings = [config.docs_dir, config.site_url, config.repo_url, config.use_directory_urls]
    said = [read, versions, sys.version, settings, sorted(file.src_uri for file in files)]
    return digest(repr(said))


def on_post_build(**_):
    """End a build."""
    coq_results.end_build()


def on_build_error(**_):
    """End a build that failed."""
    coq_results.end_build()


def on_pre_page(page, **_):
    """Replace the `render` method of a Markdown page by one that stores its result."""
    if not page_errors.are_shown() and page.file.src_uri.endswith(".md"):
        execute = page.render
        page.render = lambda config, files: render(page, config.plugins, files, lambda: execute(config, files))
    return page


def render(page, plugins, files, execute: Callable[[], None]) -> None:
    """Set the content and metadata of a page, from the store or by calling `execute`. A result with warnings is not stored."""
    counted = CountHandler(level=logging.WARNING)

    def make() -> dict[str, Any]:
        logging.getLogger("mkdocs").addHandler(counted)
        try:
            with mkdocstrings_cache.noted(plugins) as told:
                execute()
        finally:
            logging.getLogger("mkdocs").removeHandler(counted)
        return stored(page) | {"referred": told}

    def may_be_stored(made: dict[str, Any]) -> bool:
        return not counted.get_counts() and mkdocstrings_cache.is_known(made["referred"])

    made = page_cache.reuse(page.file.src_uri, page.file.abs_src_path, make, may_be_stored)
    restore(page, made, files)
    mkdocstrings_cache.tell(made["referred"], page, plugins)


def stored(page) -> dict[str, Any]:
    """Return the attributes of a rendered page as JSON values."""
    return {
        "content": page.content,
        "title": page.title,
        "toc": lab_hook.tokens(page.toc),
        "anchors": sorted(page.present_anchor_ids or ()),
        "links": {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()},
    }


def restore(page, told: dict[str, Any], files) -> None:
    """Set the attributes of a page from what `stored` returned."""
    page.content, page.title, page.toc = told["content"], told["title"], get_toc(told["toc"])
    page.present_anchor_ids = set(told["anchors"])
    page.links_to_anchors = {files.get_file_from_path(name): links for name, links in told["links"].items()}
