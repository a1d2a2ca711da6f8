"""While the site is served: build again the pages that a change concerns, and no others.

A page is noted with what it was made from (page_dependencies.py) and what that was like. Where anything else changed (the set of pages,
mkdocs.yml, the theme), all is built, and so it is where this knows too little.
"""

import logging
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Timer

from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from ..store import certificates, coq_results, project_files, rejections
from ..store.certificates import CertificateError
from ..store.project_files import file_hash
from . import page_dependencies

LABS = "labs/"  # of the pages' folder: notebooks, which are run
SOON = 3  # seconds that a page waits for a check of what it shows, and for the page of the topic that was edited
MANY = 10  # topics on one page
QUIET = 20  # seconds without a change: who writes is not to wait for pages that they do not look at
PUBLISHED = ("sympy", "coq")  # of the pages' folder: what checks write there while pages are built
State = Callable[[str], object]


@dataclass(frozen=True)
class Made:
    """A page as it was built: where to, and what it came from was like."""

    into: Path
    url: str
    came_from: dict[str, object]


_made: dict[str, Made] = {}  # by the page's address in the docs folder
_began: list[int] = [0]
_is_hurried: list[bool] = [False]  # what leads to pages can wait: somebody writes
_again: set[str] = set()  # the pages that are being built again, by their addresses on the site; empty when all are


def begin() -> None:
    """A page is about to be rendered."""
    _began[0] = time.time_ns()
    page_dependencies.begin()


def end(address: str, source: Path, into: Path, url: str, more=()) -> None:
    """The page was rendered, from what was noted, its own file, and more files."""
    page_dependencies.note_files([source, *more])
    now = state_now()
    _made[address] = Made(into, url, {name: None if later(name) else now(name) for name in page_dependencies.end()})


def later(name: str) -> bool:
    """Whether this may have changed while the page was rendered: then the page is made again next time."""
    return any(path.exists() and path.stat().st_mtime_ns >= _began[0] for path in paths_of(*name.partition(":")[::2]))


def paths_of(kind: str, rest: str) -> list[Path]:
    """The files by which a noted name changes."""
    if kind == "file":
        return [Path(rest)]
    if kind == "within":
        return files_within(rest)
    return [rejections.round_file()] if kind == "all" else [one.STORE.path(rest) for one in (certificates, rejections, coq_results)]


def state_now() -> State:
    """A function that says what a noted name is like, each looked at once."""

    @cache
    def state(name: str) -> object:
        kind, _, rest = name.partition(":")
        if kind == "file":
            return file_hash(Path(rest)) if Path(rest).is_file() else ""
        if kind == "within":
            return [(path.as_posix(), file_hash(path)) for path in files_within(rest)]
        if kind == "topic":
            return of_topic(rest)
        return [state(f"topic:{topic}") for topic in certificates.topics()]

    return state


def files_within(folder: str) -> list[Path]:
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def of_topic(topic: str) -> object:
    try:
        return certificates.identity(topic), project_files.state(coq_results.STORE.path(topic))
    except CertificateError as error:
        rejection = rejections.get(topic)
        return str(error), project_files.state(rejections.STORE.path(topic)), *(rejections.changes(rejection) if rejection else ())


def concerned() -> dict[str, set[str]]:
    """The pages that are not as what they were made from, and what of it changed."""
    now = state_now()
    found = {address: {name for name, was in made.came_from.items() if was is None or now(name) != was} for address, made in _made.items()}
    return {address: names for address, names in found.items() if names}


def is_urgent(address: str, names: set[str], waited: bool = False) -> bool:
    """Whether the page shows a file that was edited, or a topic of which a check has ended. A lab runs for long, a page of everything
    is read for long, a page that only leads to another one shows a few of its words, and what is stale may just be checked, unless that was
    waited for: all of these can wait."""
    own = any(name.endswith(f"/{address}") for name in names)
    if own or address.startswith(LABS):
        return own
    parts = [name.partition(":") for name in names]
    shown = any(kind == "file" and not rest.endswith(".md") for kind, _, rest in parts)
    changed = [is_settled(rest) for kind, _, rest in parts if kind == "topic"]
    return not is_of_everything(address, names) and (shown and (waited or all(changed)) or any(changed))


def is_first(address: str, names: set[str], is_awaited: bool) -> bool:
    """Whether an urgent page waits for no other: it was edited itself, or its own topic, whose check has ended. One that shows no topic
    waits only while the page of a topic that was edited `is_awaited`."""
    topics = {rest for kind, _, rest in (name.partition(":") for name in names) if kind == "topic"}
    topic = address.removesuffix(".md")
    own = any(name.endswith(f"/{address}") for name in names)
    return is_urgent(address, names) and (own or (is_settled(topic) if topic in topics else not topics and not is_awaited))


def is_of_everything(address: str, names: set[str]) -> bool:
    """Whether the page was made from all topics, or from many."""
    kinds = [name.partition(":")[0] for name in {*names, *(_made[address].came_from if address in _made else ())}]
    return "all" in kinds or kinds.count("topic") > MANY


def is_settled(topic: str) -> bool:
    """Whether the topic holds, or is refused, as it stands."""
    try:
        certificates.identity(topic)
    except CertificateError:
        rejection = rejections.get(topic)
        return rejection is not None and not rejections.changes(rejection)
    return True


def search_waits() -> bool:
    return bool(_again) and _is_hurried[0]


# What checks publish comes and goes while pages are built: the list of files is looked at again, and what is gone is nobody's fault.


def published(files: Files, config: MkDocsConfig) -> None:
    """Have the list of files name each published one that there is just now: a page links to no other."""
    docs = Path(config.docs_dir)
    for path in (path for name in PUBLISHED for path in (docs / name).rglob("[!.]*") if path.is_file()):
        if (name := path.relative_to(docs).as_posix()) not in files.src_uris:
            files.append(File(name, config.docs_dir, config.site_dir, config.use_directory_urls))


def copy_published(files: Files) -> None:
    """Copy those that are still there, and leave nothing of them for MkDocs to copy."""
    for file in [file for file in files if file.src_uri.partition("/")[0] in PUBLISHED]:
        with suppress(FileNotFoundError):
            file.copy_file(dirty=bool(_again))
        files.remove(file)


class Rebuild:
    """What the server calls when something changed."""

    def __init__(self, config: MkDocsConfig, everything: Callable[[], None]):
        self.config, self.everything = config, everything
        self.around = self.surroundings()
        self.is_quiet = False  # nothing has changed for a while
        self.has_waited = False  # no check has ended in a short one
        self.clock: Timer | None = None

    def __call__(self) -> None:
        around, before = self.surroundings(), self.around
        self.around = None  # until it went well
        if around != before or not _made:
            _made.clear()
            self.everything()
        else:
            pages = concerned()
            now = self.now(pages)
            if now or not pages:  # what was changed may be no page, and is copied; where all pages wait, so does the build
                self.some(now)
        self.around = around

    def now(self, pages: dict[str, set[str]]) -> list[str]:
        """The pages to build now. The others, and the search, wait until nothing has changed for a while, those that are urgent a shorter
        one."""
        is_awaited = any(f"topic:{address.removesuffix('.md')}" in names for address, names in pages.items())
        first = {address for address, names in pages.items() if is_first(address, names, is_awaited)}
        urgent = {address for address, names in pages.items() if is_urgent(address, names, waited=True)}
        wanted = {*pages} if self.is_quiet else urgent if self.has_waited else first
        soon = bool(urgent - wanted)
        _is_hurried[0] = bool(pages) and not self.is_quiet
        self.is_quiet = self.has_waited = False
        if self.clock:
            self.clock.cancel()
        if _is_hurried[0]:
            self.clock = Timer(SOON, self.soon) if soon else Timer(QUIET, self.quiet)
            self.clock.daemon = True
            self.clock.start()
        return [address for address in pages if address in wanted]

    def soon(self) -> None:
        self.has_waited = True
        rejections.end_round()

    def quiet(self) -> None:
        self.is_quiet = True
        rejections.end_round()

    def surroundings(self) -> object:
        """What every page may depend on: the files that there are, and how they are put together."""
        config, docs = self.config, Path(self.config.docs_dir)
        listed = (path.relative_to(docs) for path in docs.rglob("*") if path.suffix in (".md", ".py") and "__pycache__" not in path.parts)
        named = sorted(map(str, (path for path in listed if path.parts[0] not in PUBLISHED)))
        theme = [path for folder in config.theme.dirs[:1] for path in sorted(Path(folder).rglob("*.html"))]
        shared = [path for path in (Path(config.config_file_path), *theme) if path.is_file()]
        return named, [file_hash(path) for path in shared]

    def some(self, addresses: list[str]) -> None:
        """Build as MkDocs does after `--dirty`: a page that is not in the folder is made, and one that is stays."""
        config = load_config(
            config_file=self.config.config_file_path,
            site_dir=self.config.site_dir,
            strict=self.config.strict,
            use_directory_urls=self.config.use_directory_urls,
        )
        config.site_url = self.config.site_url
        for address in addresses:
            _made[address].into.unlink(missing_ok=True)
        _again.update({_made[address].url for address in addresses} or {"#none"})
        try:
            with without_warning():
                mkdocs_build(config, serve_url=config.site_url, dirty=True)
        finally:
            _again.clear()


@contextmanager
def without_warning():
    """MkDocs warns that a build of some pages may leave others out of date; which do is what this knows."""
    log = logging.getLogger("mkdocs.commands.build")

    def others(record: logging.LogRecord) -> bool:
        return "'dirty' build" not in str(record.msg)

    log.addFilter(others)
    try:
        yield
    finally:
        log.removeFilter(others)
