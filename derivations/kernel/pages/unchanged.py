"""MkDocs hook: a page that would come out as it did is not rendered again.

What a page was rendered to is kept, sealed, with what it was made from (traces.py) and what that was like. It is taken for as long as all
of that is so, and all that any page may depend on: the kernel, the libraries, mkdocs.yml, and which files there are. In each build some of
these pages are rendered all the same. If one comes out otherwise, then what is kept cannot be trusted, and nothing of it is.

While the site is served, rebuilding.py decides what is built again.
"""

import hashlib
import logging
import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from mkdocs.structure.toc import get_toc
from mkdocs.utils import CountHandler

from derivations.kernel.pages import PageError, labs, mistakes, rebuilding, traces
from derivations.kernel.run import certificates

ONE_IN = 20  # of the pages that are kept, about so many is rendered all the same
ELSEWHERE = "\n::: "  # begins what mkdocstrings reads, whose sources it does not tell


@dataclass
class Build:
    """What holds for one build."""

    around: str = ""
    digests: dict[str, str] = field(default_factory=dict)  # of what was noted, each looked at once
    state: rebuilding.State = field(default_factory=rebuilding.state_now)

    def digest(self, name: str) -> str:
        if name not in self.digests:
            self.digests[name] = hashlib.sha256(repr(self.state(name)).encode()).hexdigest()
        return self.digests[name]


_build = [Build()]


def folder() -> Path:
    return certificates.STORE / "pages"


def on_files(files, *, config):
    _build[0] = Build("" if mistakes.are_shown() else around(config, files))
    return files


def around(config, files) -> str:
    """A digest of what any page may depend on."""
    given = [Path(config.config_file_path), *certificates.kernel_files()]
    read = [(path.as_posix(), certificates.file_hash(path)) for path in given]
    versions = sorted((one.metadata["Name"], one.version) for one in distributions())
    settings = [config.docs_dir, config.site_url, config.repo_url, config.use_directory_urls]
    said = [read, versions, sys.version, settings, sorted(file.src_uri for file in files)]
    return hashlib.sha256(repr(said).encode()).hexdigest()


def on_pre_page(page, **_):
    """Put a render that keeps its result in place of MkDocs'."""
    if not mistakes.are_shown() and page.file.src_uri.endswith(".md"):
        execute = page.render
        page.render = lambda config, files: render(page, files, lambda: execute(config, files))
    return page


def render(page, files, execute: Callable[[], None]) -> None:
    """Give the page its content and what MkDocs knows of it: as it is kept, or as it is rendered."""
    path = folder() / f"{page.file.src_uri}.json"
    kept = holding(path)
    if kept is None:
        if (made := rendered(page, execute)) is not None:
            certificates.write(path, made)
    elif random.randrange(ONE_IN):
        restore(page, kept["page"], files)
    else:
        execute()
        if stored(page) != kept["page"]:
            shutil.rmtree(folder())
            raise PageError(
                f"docs/{page.file.src_uri}: it was kept as something else than what it comes out as, though nothing that it is known to be "
                f"made from changed; all kept pages are removed, so build again"
            )


def holding(path: Path) -> dict[str, Any] | None:
    """What is kept of a page, if it holds."""
    if not path.is_file():
        return None
    try:
        kept = certificates.read(path, "", "")
    except certificates.CertificateError:
        return None
    build = _build[0]
    holds = kept["around"] == build.around and all(build.digest(name) == was for name, was in kept["came_from"].items())
    return kept if holds else None


def rendered(page, execute: Callable[[], None]) -> dict[str, Any] | None:
    """The page, rendered, as it is kept; None where MkDocs warned, or where something that it is made from may have changed meanwhile."""
    build, counted = _build[0], CountHandler(level=logging.WARNING)
    logging.getLogger("mkdocs").addHandler(counted)
    rebuilding.begin()
    try:
        execute()
    finally:
        logging.getLogger("mkdocs").removeHandler(counted)
        names = {*traces.end(), f"file:{page.file.abs_src_path}"}
    if counted.get_counts() or ELSEWHERE in page.markdown or any(map(rebuilding.later, names)):
        return None
    return {"around": build.around, "came_from": {name: build.digest(name) for name in names}, "page": stored(page)}


def stored(page) -> dict[str, Any]:
    return {
        "content": page.content,
        "title": page.title,
        "toc": labs.tokens(page.toc),
        "anchors": sorted(page.present_anchor_ids or ()),
        "links": {file.src_uri: links for file, links in (page.links_to_anchors or {}).items()},
    }


def restore(page, kept: dict[str, Any], files) -> None:
    page.content, page.title, page.toc = kept["content"], kept["title"], get_toc(kept["toc"])
    page.present_anchor_ids = set(kept["anchors"])
    page.links_to_anchors = {files.get_file_from_path(name): links for name, links in kept["links"].items()}
