"""While the site is served, rebuild only the pages that a change affects.

When a page is built, its dependencies (page_dependencies.py) and their states are recorded. If something else changed (the set of pages,
mkdocs.yml, the theme), or if no page has been recorded, the whole site is built.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
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
URGENT_DELAY = 3  # seconds that a page waits for a check of its topics, and for the page of the edited topic
OTHER_DELAY = 20  # seconds without a change before the other pages are built, so that an author need not wait for them
MANY_TOPICS = 10  # a page with more topics than this has low priority
PUBLISHED = ("sympy", "coq")  # folders in the docs folder to which checks write while pages are built
ReadState = Callable[[str], object]  # from a dependency to its state


@dataclass(frozen=True)
class BuiltPage:
    """A page that was built: its output file, its URL, and the states of its dependencies (None if unknown)."""

    output: Path
    url: str
    dependencies: dict[str, object]


_pages: dict[str, BuiltPage] = {}  # by the path of the page in the docs folder
_page_start: list[int] = [0]  # when the current page was begun, in nanoseconds
_is_editing: list[bool] = [False]  # whether an author is editing, so that the search index can wait
_rebuilding: set[str] = set()  # URLs of the pages that are being rebuilt; empty during a full build


def begin_page() -> None:
    """Start recording the dependencies of a page that is about to be rendered."""
    _page_start[0] = time.time_ns()
    page_dependencies.begin()


def end_page(page: str, source: Path, output: Path, url: str, files: Iterable[Path] = ()) -> None:
    """Store the dependencies of a rendered page: those recorded since `begin_page`, its source file, and the files in `files`."""
    page_dependencies.note_files([source, *files])
    read_state = make_state_reader()
    states = {name: None if may_have_changed(name) else read_state(name) for name in page_dependencies.end()}
    _pages[page] = BuiltPage(output, url, states)


def may_have_changed(name: str) -> bool:
    """Return whether a dependency may have changed since the current page was begun. Such a page must be rendered again next time."""
    return any(path.exists() and path.stat().st_mtime_ns >= _page_start[0] for path in find_files(*name.partition(":")[::2]))


def find_files(kind: str, name: str) -> list[Path]:
    """Return the files that determine the state of the dependency `kind:name`."""
    if kind == "file":
        return [Path(name)]
    if kind == "within":
        return list_files(name)
    return [rejections.round_file()] if kind == "all" else [one.STORE.path(name) for one in (certificates, rejections, coq_results)]


def make_state_reader() -> ReadState:
    """Return a function from a dependency to its current state. The function computes each state once."""

    @cache
    def read_state(dependency: str) -> object:
        kind, _, name = dependency.partition(":")
        if kind == "file":
            return file_hash(Path(name)) if Path(name).is_file() else ""
        if kind == "within":
            return [(path.as_posix(), file_hash(path)) for path in list_files(name)]
        if kind == "topic":
            return read_topic_state(name)
        return [read_state(f"topic:{topic}") for topic in certificates.topics()]

    return read_state


def list_files(folder: str) -> list[Path]:
    """Return all files in a folder and its subfolders, sorted."""
    return sorted(path for path in Path(folder).rglob("*") if path.is_file())


def read_topic_state(topic: str) -> object:
    """Return the state of a topic's certificate and of Coq's results; without a valid certificate, the state of its rejection."""
    try:
        return certificates.certificate_digest(topic), project_files.file_state(coq_results.STORE.path(topic))
    except CertificateError as error:
        rejection = rejections.get(topic)
        return (
            str(error),
            project_files.file_state(rejections.STORE.path(topic)),
            *(rejections.find_changes(rejection) if rejection else ()),
        )


def find_outdated_pages() -> dict[str, set[str]]:
    """Return the pages that are out of date, each with its changed dependencies."""
    read_state = make_state_reader()
    changed = {
        page: {name for name, state in built.dependencies.items() if state is None or read_state(name) != state}
        for page, built in _pages.items()
    }
    return {page: names for page, names in changed.items() if names}


def is_urgent(page: str, changed: set[str], has_waited: bool = False) -> bool:
    """Return whether a page should be rebuilt soon: it shows an edited file, or a topic whose check has ended.

    Labs are not urgent, since they run for a long time, unless the lab itself was edited. Pages with many topics are not urgent, and
    neither are pages for which only other pages changed. A page with an edited file and an unchecked topic waits for the check of that
    topic, unless it `has_waited` already. `changed` are the dependencies of the page that changed.
    """
    source_changed = is_source_changed(page, changed)
    if source_changed or page.startswith(LABS):
        return source_changed
    parts = [name.partition(":") for name in changed]
    file_changed = any(kind == "file" and not name.endswith(".md") for kind, _, name in parts)
    checked = [is_checked(name) for kind, _, name in parts if kind == "topic"]
    return not has_many_topics(page, changed) and (file_changed and (has_waited or all(checked)) or any(checked))


def is_first(page: str, changed: set[str], is_topic_page_awaited: bool) -> bool:
    """Return whether an urgent page is built before other urgent pages.

    This is so if its own source was edited, or if its own topic changed and the check of that topic has ended. A page for which no topic
    changed is built first too, unless the page of a changed topic is awaited.
    """
    topics = {name for kind, _, name in (name.partition(":") for name in changed) if kind == "topic"}
    topic = page.removesuffix(".md")
    if not is_urgent(page, changed):
        return False
    if is_source_changed(page, changed):
        return True
    return is_checked(topic) if topic in topics else not topics and not is_topic_page_awaited


def is_source_changed(page: str, changed: set[str]) -> bool:
    """Return whether a page's own source is among its changed dependencies."""
    return any(name.endswith(f"/{page}") for name in changed)


def has_many_topics(page: str, changed: set[str]) -> bool:
    """Return whether a page depends on all topics, or on more than MANY_TOPICS."""
    kinds = [name.partition(":")[0] for name in {*changed, *(_pages[page].dependencies if page in _pages else ())}]
    return "all" in kinds or kinds.count("topic") > MANY_TOPICS


def is_checked(topic: str) -> bool:
    """Return whether the current state of a topic was checked: it has a valid certificate or an up-to-date rejection."""
    try:
        certificates.certificate_digest(topic)
    except CertificateError:
        rejection = rejections.get(topic)
        return rejection is not None and not rejections.find_changes(rejection)
    return True


def is_search_delayed() -> bool:
    """Return whether the search index need not be written now, since only some pages are being rebuilt and others will follow."""
    return bool(_rebuilding) and _is_editing[0]


# Checks write and delete published files while pages are built. So the list of files is updated, and a missing file is not an error.


def add_published_files(files: Files, config: MkDocsConfig) -> None:
    """Add the published files that exist now to the list of files, so that pages can link to them."""
    docs = Path(config.docs_dir)
    for path in (path for name in PUBLISHED for path in (docs / name).rglob("[!.]*") if path.is_file()):
        if (name := path.relative_to(docs).as_posix()) not in files.src_uris:
            files.append(File(name, config.docs_dir, config.site_dir, config.use_directory_urls))


def copy_published_files(files: Files) -> None:
    """Copy the published files that still exist, and remove all of them from the list, so that MkDocs does not copy them."""
    for file in [file for file in files if file.src_uri.partition("/")[0] in PUBLISHED]:
        with suppress(FileNotFoundError):
            file.copy_file(dirty=bool(_rebuilding))
        files.remove(file)


class Rebuild:
    """A callback that the server calls when something changed. `build_site` builds the whole site."""

    def __init__(self, config: MkDocsConfig, build_site: Callable[[], None]):
        self.config, self.build_site = config, build_site
        self.shared_state: object = self.read_shared_state()
        self.all_are_due = False  # nothing has changed for OTHER_DELAY seconds
        self.urgent_are_due = False  # the urgent pages have waited for URGENT_DELAY seconds
        self.timer: Timer | None = None

    def __call__(self) -> None:
        state, before = self.read_shared_state(), self.shared_state
        self.shared_state = None  # until the build succeeds: after an error, build the whole site
        if state != before or not _pages:
            _pages.clear()
            self.build_site()
        else:
            outdated = find_outdated_pages()
            chosen = self.choose_pages(outdated)
            if chosen or not outdated:  # if no page is outdated, MkDocs copies the changed file
                self.build_pages(chosen)
        self.shared_state = state

    def choose_pages(self, outdated: dict[str, set[str]]) -> list[str]:
        """Return the pages to build now, and start a timer for the others.

        Urgent pages that are not built first wait URGENT_DELAY seconds. The other pages and the search index wait until nothing has
        changed for OTHER_DELAY seconds.
        """
        is_topic_page_awaited = any(f"topic:{page.removesuffix('.md')}" in changed for page, changed in outdated.items())
        first = {page for page, changed in outdated.items() if is_first(page, changed, is_topic_page_awaited)}
        urgent = {page for page, changed in outdated.items() if is_urgent(page, changed, has_waited=True)}
        due = {*outdated} if self.all_are_due else urgent if self.urgent_are_due else first
        _is_editing[0] = bool(outdated) and not self.all_are_due
        self.all_are_due = self.urgent_are_due = False
        if self.timer:
            self.timer.cancel()
        if _is_editing[0]:
            self.timer = Timer(URGENT_DELAY, self.build_urgent) if urgent - due else Timer(OTHER_DELAY, self.build_all)
            self.timer.daemon = True
            self.timer.start()
        return [page for page in outdated if page in due]

    def build_urgent(self) -> None:
        """Mark the urgent pages as due, and notify the server, so that it builds them."""
        self.urgent_are_due = True
        rejections.end_round()

    def build_all(self) -> None:
        """Mark all outdated pages as due, and notify the server, so that it builds them."""
        self.all_are_due = True
        rejections.end_round()

    def read_shared_state(self) -> object:
        """Return what every page may depend on: the names of the source files, and the hashes of mkdocs.yml and the theme's templates."""
        config, docs = self.config, Path(self.config.docs_dir)
        sources = (path.relative_to(docs) for path in docs.rglob("*") if path.suffix in (".md", ".py") and "__pycache__" not in path.parts)
        names = sorted(map(str, (path for path in sources if path.parts[0] not in PUBLISHED)))
        theme = [path for folder in config.theme.dirs[:1] for path in sorted(Path(folder).rglob("*.html"))]
        shared = [path for path in (Path(config.config_file_path), *theme) if path.is_file()]
        return names, [file_hash(path) for path in shared]

    def build_pages(self, pages: list[str]) -> None:
        """Delete the outputs of these pages and build with `--dirty`, with which MkDocs builds the pages whose output is missing."""
        config = load_config(
            config_file=self.config.config_file_path,
            site_dir=self.config.site_dir,
            strict=self.config.strict,
            use_directory_urls=self.config.use_directory_urls,
        )
        config.site_url = self.config.site_url
        for page in pages:
            _pages[page].output.unlink(missing_ok=True)
        _rebuilding.update({_pages[page].url for page in pages} or {"#none"})
        try:
            with suppress_dirty_warning():
                mkdocs_build(config, serve_url=config.site_url, dirty=True)
        finally:
            _rebuilding.clear()


@contextmanager
def suppress_dirty_warning() -> Iterator[None]:
    """Suppress MkDocs' warning that a dirty build may leave pages out of date: this module tracks which pages are."""
    log = logging.getLogger("mkdocs.commands.build")

    def is_other_message(record: logging.LogRecord) -> bool:
        return "'dirty' build" not in str(record.msg)

    log.addFilter(is_other_message)
    try:
        yield
    finally:
        log.removeFilter(is_other_message)
