"""While the site is served, rebuild only the pages that a change affects.

For each page, its dependencies (page_dependencies.py) and their states are recorded when it is built. If something else changed (the set of
pages, mkdocs.yml, the theme), or if no page has been recorded, the whole site is built.
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

LABS = "labs/"  # in the docs folder: notebooks, which are executed
SOON = 3  # seconds that a page waits for a check of what it shows, and for the page of the edited topic
MANY = 10  # a page with more topics than this has low priority
QUIET = 20  # seconds without a change before the other pages are built, so that an author need not wait for them
PUBLISHED = ("sympy", "coq")  # folders in the docs folder to which checks write while pages are built
State = Callable[[str], object]


@dataclass(frozen=True)
class Made:
    """A page that was built: its output file, its URL, and the states of its dependencies (None if unknown)."""

    into: Path
    url: str
    came_from: dict[str, object]


_made: dict[str, Made] = {}  # by the path of the page in the docs folder
_began: list[int] = [0]
_is_hurried: list[bool] = [False]  # an author is editing, so the search index can wait
_again: set[str] = set()  # URLs of the pages that are being rebuilt; empty during a full build


def begin() -> None:
    """Start recording the dependencies of a page that is about to be rendered."""
    _began[0] = time.time_ns()
    page_dependencies.begin()


def end(address: str, source: Path, into: Path, url: str, more=()) -> None:
    """Store the dependencies of a page that was rendered: those recorded since `begin`, its source file, and the files in `more`."""
    page_dependencies.note_files([source, *more])
    now = state_now()
    _made[address] = Made(into, url, {name: None if later(name) else now(name) for name in page_dependencies.end()})


def later(name: str) -> bool:
    """Return whether a dependency may have changed while the page was rendered. Such a page must be rendered again next time."""
    return any(path.exists() and path.stat().st_mtime_ns >= _began[0] for path in paths_of(*name.partition(":")[::2]))


def paths_of(kind: str, rest: str) -> list[Path]:
    """Return the files that determine the state of the dependency `kind:rest`."""
    if kind == "file":
        return [Path(rest)]
    if kind == "within":
        return files_within(rest)
    return [rejections.round_file()] if kind == "all" else [one.STORE.path(rest) for one in (certificates, rejections, coq_results)]


def state_now() -> State:
    """Return a function from a dependency to its current state. The function computes each state once."""

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
    """Return all files in a folder and its subfolders, sorted."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def of_topic(topic: str) -> object:
    """Return the state of a topic: of its certificate and Coq's results, or of its rejection."""
    try:
        return certificates.certificate_digest(topic), project_files.file_state(coq_results.STORE.path(topic))
    except CertificateError as error:
        rejection = rejections.get(topic)
        return (
            str(error),
            project_files.file_state(rejections.STORE.path(topic)),
            *(rejections.find_changes(rejection) if rejection else ()),
        )


def concerned() -> dict[str, set[str]]:
    """Return the pages that are out of date, each with its changed dependencies."""
    now = state_now()
    found = {address: {name for name, was in made.came_from.items() if was is None or now(name) != was} for address, made in _made.items()}
    return {address: names for address, names in found.items() if names}


def is_urgent(address: str, names: set[str], waited: bool = False) -> bool:
    """Return whether a page should be rebuilt soon: it shows an edited file, or a topic whose check has ended.

    Labs are not urgent, since they run for a long time, unless the lab itself was edited. Nor are pages with many topics, or pages whose
    only changed files are other pages. A page with an edited file and a stale topic waits for the check of that topic, unless it has
    `waited` already.
    """
    own = any(name.endswith(f"/{address}") for name in names)
    if own or address.startswith(LABS):
        return own
    parts = [name.partition(":") for name in names]
    shown = any(kind == "file" and not rest.endswith(".md") for kind, _, rest in parts)
    changed = [is_settled(rest) for kind, _, rest in parts if kind == "topic"]
    return not is_of_everything(address, names) and (shown and (waited or all(changed)) or any(changed))


def is_first(address: str, names: set[str], is_awaited: bool) -> bool:
    """Return whether an urgent page is built before other urgent pages.

    It is if its own source was edited, or if its own topic changed and the check of that topic has ended. A page on which no topic changed
    is built first too, unless the page of a changed topic `is_awaited`.
    """
    topics = {rest for kind, _, rest in (name.partition(":") for name in names) if kind == "topic"}
    topic = address.removesuffix(".md")
    own = any(name.endswith(f"/{address}") for name in names)
    return is_urgent(address, names) and (own or (is_settled(topic) if topic in topics else not topics and not is_awaited))


def is_of_everything(address: str, names: set[str]) -> bool:
    """Return whether the page depends on all topics, or on more than MANY."""
    kinds = [name.partition(":")[0] for name in {*names, *(_made[address].came_from if address in _made else ())}]
    return "all" in kinds or kinds.count("topic") > MANY


def is_settled(topic: str) -> bool:
    """Return whether the current state of a topic was checked: it has a valid certificate or a rejection that is up to date."""
    try:
        certificates.certificate_digest(topic)
    except CertificateError:
        rejection = rejections.get(topic)
        return rejection is not None and not rejections.find_changes(rejection)
    return True


def search_waits() -> bool:
    """Return whether the search index need not be made now: some pages are being rebuilt, and others will follow."""
    return bool(_again) and _is_hurried[0]


# Checks write and delete published files while pages are built. So the list of files is updated, and a missing file is no error.


def published(files: Files, config: MkDocsConfig) -> None:
    """Add the published files that exist now to the list of files, so that pages can link to them."""
    docs = Path(config.docs_dir)
    for path in (path for name in PUBLISHED for path in (docs / name).rglob("[!.]*") if path.is_file()):
        if (name := path.relative_to(docs).as_posix()) not in files.src_uris:
            files.append(File(name, config.docs_dir, config.site_dir, config.use_directory_urls))


def copy_published(files: Files) -> None:
    """Copy the published files that still exist, and remove all of them from the list, so that MkDocs does not copy them."""
    for file in [file for file in files if file.src_uri.partition("/")[0] in PUBLISHED]:
        with suppress(FileNotFoundError):
            file.copy_file(dirty=bool(_again))
        files.remove(file)


class Rebuild:
    """The callback for the server, which calls it when something changed. `everything` builds the whole site."""

    def __init__(self, config: MkDocsConfig, everything: Callable[[], None]):
        self.config, self.everything = config, everything
        self.around = self.surroundings()
        self.is_quiet = False  # nothing has changed for a while
        self.has_waited = False  # the urgent pages have waited for SOON seconds
        self.clock: Timer | None = None

    def __call__(self) -> None:
        around, before = self.surroundings(), self.around
        self.around = None  # until the build succeeds: after an error, build everything
        if around != before or not _made:
            _made.clear()
            self.everything()
        else:
            pages = concerned()
            now = self.now(pages)
            if now or not pages:  # no affected page: MkDocs copies the changed file; all pages wait: no build
                self.some(now)
        self.around = around

    def now(self, pages: dict[str, set[str]]) -> list[str]:
        """Return the pages to build now, and start a timer for the others.

        Urgent pages that are not built first wait SOON seconds. The other pages and the search index wait until nothing has changed for
        QUIET seconds.
        """
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
        """Make the server build the urgent pages."""
        self.has_waited = True
        rejections.end_round()

    def quiet(self) -> None:
        """Make the server build all pages that are out of date."""
        self.is_quiet = True
        rejections.end_round()

    def surroundings(self) -> object:
        """Return what every page may depend on: the names of the source files, and the hashes of mkdocs.yml and the theme's templates."""
        config, docs = self.config, Path(self.config.docs_dir)
        listed = (path.relative_to(docs) for path in docs.rglob("*") if path.suffix in (".md", ".py") and "__pycache__" not in path.parts)
        named = sorted(map(str, (path for path in listed if path.parts[0] not in PUBLISHED)))
        theme = [path for folder in config.theme.dirs[:1] for path in sorted(Path(folder).rglob("*.html"))]
        shared = [path for path in (Path(config.config_file_path), *theme) if path.is_file()]
        return named, [file_hash(path) for path in shared]

    def some(self, addresses: list[str]) -> None:
        """Delete the outputs of these pages and build with `--dirty`, by which MkDocs builds the pages whose output is missing."""
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
    """Suppress MkDocs' warning that a dirty build may leave pages out of date: this module tracks which pages are."""
    log = logging.getLogger("mkdocs.commands.build")

    def others(record: logging.LogRecord) -> bool:
        return "'dirty' build" not in str(record.msg)

    log.addFilter(others)
    try:
        yield
    finally:
        log.removeFilter(others)
