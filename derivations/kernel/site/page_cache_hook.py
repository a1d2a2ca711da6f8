"""MkDocs hook: reuse the stored content of a page whose dependencies are unchanged (page_cache.py).

While the site is served, nothing is reused here: incremental_build.py decides which pages are built again.
"""

import logging
import sys
from collections.abc import Callable
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import get_toc
from mkdocs.utils import CountHandler

from derivations.kernel.site import lab_hook, mkdocstrings_cache, page_cache, page_errors
from derivations.kernel.store import coq_results, project_files
from derivations.kernel.store.store import digest


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Begin a build."""
    page_cache.begin_build("" if page_errors.are_shown() else digest_shared_inputs(config, files))
    if not page_errors.are_shown():
        coq_results.begin_build()
    return files


def digest_shared_inputs(config: MkDocsConfig, files: Files) -> str:
    """Return a digest of what any page may depend on: the kernel, the installed packages, the settings, and the list of files."""
    paths = [Path(config.config_file_path), *project_files.kernel_files()]
    hashes = [(path.as_posix(), project_files.file_hash(path)) for path in paths]
    versions = sorted((one.metadata["Name"], one.version) for one in distributions())
    settings = [config.docs_dir, config.site_url, config.repo_url, config.use_directory_urls]
    return digest(repr([hashes, versions, sys.version, settings, sorted(file.src_uri for file in files)]))


def on_post_build(**_: Any) -> None:
    """End a build."""
    coq_results.end_build()


def on_build_error(**_: Any) -> None:
    """End a build that failed."""
    coq_results.end_build()


def on_pre_page(page: Page, **_: Any) -> Page:
    """Replace the `render` method of a Markdown page by one that stores its result."""
    if not page_errors.are_shown() and page.file.src_uri.endswith(".md"):
        render_page = page.render

        def render_or_reuse(config: MkDocsConfig, files: Files) -> None:
            render(page, config.plugins, files, lambda: render_page(config, files))

        page.render = render_or_reuse  # type: ignore[method-assign]  # MkDocs has no event for it
    return page


def render(page: Page, plugins: Any, files: Files, render_page: Callable[[], None]) -> None:
    """Set the content and metadata of a page, from the store or by calling `render_page`. A result with warnings is not stored."""
    warnings = CountHandler(level=logging.WARNING)

    def make() -> dict[str, Any]:
        logging.getLogger("mkdocs").addHandler(warnings)
        try:
            with mkdocstrings_cache.record_registrations(plugins) as registrations:
                render_page()
        finally:
            logging.getLogger("mkdocs").removeHandler(warnings)
        return page_to_json(page) | {"registrations": registrations}

    def may_be_stored(result: dict[str, Any]) -> bool:
        return not warnings.get_counts() and mkdocstrings_cache.is_known(result["registrations"])

    result = page_cache.reuse(page.file.src_uri, page.file.abs_src_path or "", make, may_be_stored)
    restore_page(page, result, files)
    mkdocstrings_cache.repeat_registrations(result["registrations"], page, plugins)


def page_to_json(page: Page) -> dict[str, Any]:
    """Return the attributes of a rendered page as JSON values."""
    return {
        "content": page.content,
        "title": page.title,
        "toc": lab_hook.toc_to_json(page.toc),
        "anchors": sorted(page.present_anchor_ids or ()),
        "links": {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()},
    }


def restore_page(page: Page, attributes: dict[str, Any], files: Files) -> None:
    """Set the attributes of a page from what `page_to_json` returned."""
    page.content, page.title, page.toc = attributes["content"], attributes["title"], get_toc(attributes["toc"])
    page.present_anchor_ids = set(attributes["anchors"])
    links = ((files.get_file_from_path(name), anchors) for name, anchors in attributes["links"].items())
    page.links_to_anchors = {file: anchors for file, anchors in links if file}
