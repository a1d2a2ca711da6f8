"""`check --watch`: check again whatever a change affects, until Ctrl-C.

One thread waits for changes, another runs a round of checks. A change to a script that is being checked cancels the round. A change to the
checker itself restarts this program, because a process keeps the modules that it has loaded.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, NoReturn

import click
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from ..check import runner
from ..check.affected_topics import AffectedTopics, find_affected
from ..errors import quantity
from ..store import project_files
from .progress import print_result
from .sympy_programs import publish_programs

if TYPE_CHECKING:
    from ..site.page_lint import Finding

BURST_GAP = 0.15  # seconds without a change that end a burst of changes
MAX_BURST = 2.0  # the longest duration of a burst in seconds
logging.getLogger("watchdog").addHandler(logging.NullHandler())  # discard messages of its threads at exit
FOLDERS = {"derivations": (".py", ".v"), "snippets": (".py",), "docs": (".md", ".py")}  # watched folders and their source files
FOLDERS_WITH_INPUTS = ("derivations", "snippets")  # folders in which any file matters that a check has read
EVENT_TYPES = ("created", "modified", "moved", "deleted", "closed")
ROUND_ENDED = ""  # an entry in the queue of changes that says that the round has ended
RESTART_IMPORTS = "import derivations.kernel.command.watch, derivations.kernel.check.worker"  # everything that a restart imports

FindTargets = Callable[[], list[tuple[str, Path]]]  # returns the topics and scripts to check
FindPageErrors = Callable[[str], "list[Finding]"]  # returns what is wrong with a topic's page


def watch(
    find_targets: FindTargets, jobs: int, fresh: bool, find_page_errors: FindPageErrors, restart: Callable[[], object] | None = None
) -> None:
    """Check everything, then whatever changes affect, until KeyboardInterrupt, which ends it quietly."""
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell lets background processes ignore Ctrl-C
        signal.signal(number, signal.default_int_handler)
    Watch(find_targets, jobs, fresh, find_page_errors, restart or restart_program).run()


class Watch:
    """The loop that turns changes into rounds."""

    def __init__(
        self, find_targets: FindTargets, jobs: int, fresh: bool, find_page_errors: FindPageErrors, restart: Callable[[], object]
    ) -> None:
        self.find_targets, self.jobs, self.fresh, self.find_page_errors, self.restart = find_targets, jobs, fresh, find_page_errors, restart
        self.changes: Queue[str] = Queue()
        self.round: Round | None = None
        self.pending: set[str] = set()  # topics for the next round
        self.pages: set[str] = set()  # topics whose pages the next round checks
        self.causes: list[str] = []  # the files that changed

    def run(self) -> None:
        """Run until KeyboardInterrupt."""
        observer = start_observer(self.changes)
        try:
            self.pending = {topic for topic, _ in self.find_targets()}
            self.start_round()
            while True:
                self.handle(self.changes.get())
        except KeyboardInterrupt:
            click.echo("\nNo longer watching.")
        finally:
            self.cancel_round()
            observer.stop()
            observer.join()

    def handle(self, first: str) -> None:
        """Handle one burst of changes, or the end of a round."""
        paths = collect_burst(first, self.changes)
        if ROUND_ENDED in paths:
            self.finish_round()
        paths.discard(ROUND_ENDED)
        if paths:
            self.schedule(paths)
        if self.round is None and self.causes:
            self.start_round()

    def schedule(self, paths: set[str]) -> None:
        """Add the topics that changes affect to the next round, and stop the current round if it checks one of them."""
        affected = find_affected(paths)
        if affected.checker_files:
            self.restart_checker(affected)
            return
        paths = {path for path in paths if is_source(path) or find_affected({path}).topics}
        wanted = {topic for topic, _ in self.find_targets()}
        self.causes += sorted(paths)
        self.pending |= affected.topics & wanted
        self.pages |= affected.pages & wanted
        for topic in affected.removed:
            click.secho(f"derivations/{topic}.py was removed", fg="yellow", err=True)
        if self.round and self.round.topics & self.pending:
            self.round.stop.set()

    def restart_checker(self, affected: AffectedTopics) -> None:
        """Restart the program after a change to the checker, unless the checker cannot be loaded."""
        self.cancel_round()
        click.echo(f"{clock_time()} changed: {', '.join(affected.checker_files)}, part of the checker, so every topic is checked again")
        error = find_loading_error()
        if error:
            click.secho(f"the checker cannot be loaded; checking resumes once it can: {error}", fg="red", err=True)
        else:
            self.restart()

    def start_round(self) -> None:
        """Start the next round."""
        targets = [(topic, script) for topic, script in self.find_targets() if topic in self.pending]
        self.round = Round(targets, sorted(self.pages), self.causes, self)
        self.pending, self.pages, self.causes = set(), set(), []
        self.round.start()

    def finish_round(self) -> None:
        """Wait for the end of the round, and add the topics that it did not check to the next round."""
        if self.round:
            self.round.join()
            self.pending |= self.round.unchecked
            self.causes += ["the cancelled round"] * bool(self.round.unchecked and not self.causes)
            self.fresh, self.round = False, None

    def cancel_round(self) -> None:
        """Stop the round, if there is one."""
        if self.round:
            self.round.stop.set()
            self.finish_round()


class Round(Thread):
    """A round: check topics, then check the pages that changed, and print the results."""

    def __init__(self, targets: list[tuple[str, Path]], pages: list[str], causes: list[str], watch: Watch) -> None:
        super().__init__(daemon=True)
        self.targets, self.pages, self.causes, self.watch = targets, pages, list(dict.fromkeys(causes)), watch
        self.topics = {topic for topic, _ in targets}
        self.unchecked: set[str] = set()  # topics that were not checked because the round was stopped
        self.stop = Event()

    def run(self) -> None:
        try:
            self.check()
        except Exception as error:  # an internal error must not end the program
            click.secho(f"internal error of the checker: {type(error).__name__}: {error}", fg="red", err=True)
        finally:
            self.watch.changes.put(ROUND_ENDED)

    def check(self) -> None:
        began = time.monotonic()
        if self.causes:
            click.echo(f"{clock_time()} changed: {', '.join(self.causes)}")
        urgent = frozenset(self.topics & {Path(path).with_suffix("").as_posix().partition("/")[2] for path in self.causes})
        options = runner.Options(urgent=urgent, on_accepted=publish_result)
        results = (
            runner.check_all(self.targets, self.watch.fresh, self.watch.jobs, lambda done, more: None, self.stop, options)
            if self.targets
            else []
        )
        done = [result for result in results if not result.stopped]
        self.unchecked = {result.topic for result in results if result.stopped}
        publish_programs(done)
        for result in done:
            print_result(result, quiet=self.causes == [] and result.cached and result.holds)
        findings = [finding for topic in self.pages if not self.stop.is_set() for finding in self.watch.find_page_errors(topic)]
        for finding in findings:
            click.secho(str(finding), fg="red", err=True)
        click.echo(self.summary(done, len(findings), time.monotonic() - began))

    def summary(self, done: list[runner.Result], findings: int, seconds: float) -> str:
        """Return the last line of the round."""
        if self.unchecked:
            return f"{clock_time()} cancelled after {seconds:.1f} s, because a file changed"
        parts = []
        if done:
            rejected = sum(not result.holds for result in done)
            claims = sum(len(result.records) for result in done)
            verdict = f"NOT all accepted, {quantity(rejected, 'topic')} rejected" if rejected else "all accepted"
            parts.append(f"{quantity(claims, 'claim')} in {quantity(len(done), 'topic')}: {verdict}")
        if self.pages:
            parts.append(f"{quantity(len(self.pages), 'page')}: {quantity(findings, 'error') if findings else 'no errors'}")
        return f"{clock_time()} {'; '.join(parts) or 'no topic depends on it'}, in {seconds:.1f} s. Watching; Ctrl-C ends it."


def publish_result(result: runner.Result) -> None:
    """Publish the SymPy programs of an urgent topic, so that its page can link to them."""
    publish_programs([result])


def clock_time() -> str:
    return time.strftime("%H:%M:%S")


# Changes ----------------------------------------------------------------------------------------------------------------------


class Handler(FileSystemEventHandler):
    """An event handler that puts the changed paths into a queue."""

    def __init__(self, changes: Queue[str]) -> None:
        self.changes = changes

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in EVENT_TYPES:
            return
        for path in [path for path in (event.src_path, event.dest_path) if path]:
            name = relevant_name(os.fsdecode(path), event.is_directory and event.event_type in ("moved", "deleted"))
            if name and not (event.is_directory and not name.endswith("/")):
                self.changes.put(name)


def relevant_name(path: str, folder: bool = False) -> str:
    """Return a path relative to the root, or "" if no check depends on it, as on the temporary files of editors and Python."""
    try:
        name = Path(path).resolve().relative_to(project_files.ROOT.resolve())
    except (ValueError, OSError):
        return ""
    home = name.parts[0] if name.parts else ""
    temporary = any(part.startswith(".") or part.endswith("~") or part == "__pycache__" for part in name.parts)
    generated = name.parts[:2] in (("docs", "coq"), ("docs", "sympy"))
    watched = folder and home in FOLDERS or home in FOLDERS_WITH_INPUTS or is_source(name.as_posix())
    if temporary or generated or not watched or len(name.parts) < 2:
        return ""
    return name.as_posix() + "/" * folder


def is_source(name: str) -> bool:
    """Return whether the path is a folder, or a source file of its folder's kind."""
    return name.endswith("/") or Path(name).suffix in FOLDERS.get(Path(name).parts[0], ())


def start_observer(changes: Queue[str]) -> BaseObserver:
    """Return a running observer. If the system does not report changes, the observer polls."""
    for kind in (Observer, PollingObserver):
        observer = kind()
        for folder in FOLDERS:
            if (project_files.ROOT / folder).is_dir():
                observer.schedule(Handler(changes), str(project_files.ROOT / folder), recursive=True)
        try:
            observer.start()
            return observer
        except OSError:
            continue
    raise click.ClickException("this system cannot report changes of files; run check by hand")


def collect_burst(first: str, changes: Queue[str]) -> set[str]:
    """Return a change and all changes that follow it closely, because an editor writes a file in several steps."""
    found, end = {first}, time.monotonic() + MAX_BURST
    while time.monotonic() < end:
        try:
            found.add(changes.get(timeout=BURST_GAP))
        except Empty:
            break
    return found


# The checker itself -------------------------------------------------------------------------------------------------------------


def find_loading_error() -> str:
    """Return why the changed checker cannot be loaded, or "" if it can."""
    done = subprocess.run([sys.executable, "-c", RESTART_IMPORTS], cwd=project_files.ROOT, capture_output=True, text=True)
    lines = [line.strip() for line in done.stderr.strip().splitlines()]
    places = [line for line in lines if line.startswith("File ")]
    return "; ".join([*lines[-1:], *places[-1:]]) if done.returncode else ""


def restart_program() -> NoReturn:
    """Replace this process by a new run of the program with the same arguments."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, sys.orig_argv)
