"""`check --watch`: rounds of checks, each of what a change touches, until Ctrl-C.

One thread waits for changes, one runs the round. A change of what is being checked gives up that round: nobody waits for a verdict on a
script that is no more. A change of the checker itself starts this program again, since a process keeps the modules that it has loaded.
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

import click
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.polling import PollingObserver

from ..errors import quantity
from ..run import certificates, runner
from ..run.touched import Touched, touched
from .progress import report
from .sympy_programs import publish

QUIET, LONGEST = 0.15, 2.0  # seconds without a change that end a burst of them, and the most that a burst may take
logging.getLogger("watchdog").addHandler(logging.NullHandler())  # what its threads say while they end is for nobody
FOLDERS = {"derivations": (".py", ".v"), "snippets": (".py",), "docs": (".md", ".py")}
READ = ("derivations", "snippets")  # where other files count if a check was seen to read them
WRITES = ("created", "modified", "moved", "deleted", "closed")
ENDED = ""  # in the queue of changes: the round has ended
LOADS = "import derivations.kernel.command.watch, derivations.kernel.run.worker"  # what a new start needs, witnesses and all

Choose = Callable[[], list]  # the topics and scripts to keep checked, as they are now


def watch(choose: Choose, jobs: int, fresh: bool, look: Callable[[str], list], restart: Callable[[], None] | None = None) -> None:
    """Check all, then what changes touch, until KeyboardInterrupt, which ends it quietly. `look` gives what is wrong with a topic's page."""
    for told in (signal.SIGTERM, signal.SIGINT):  # a shell that starts this beside itself has it ignore Ctrl-C
        signal.signal(told, signal.default_int_handler)
    Watch(choose, jobs, fresh, look, restart or start_again).run()


class Watch:
    def __init__(self, choose: Choose, jobs: int, fresh: bool, look: Callable[[str], list], restart: Callable[[], None]):
        self.choose, self.jobs, self.fresh, self.look, self.restart = choose, jobs, fresh, look, restart
        self.changes: Queue = Queue()
        self.round: Round | None = None
        self.waiting, self.pages, self.why = set(), set(), []  # topics and pages for the next round, and what changed

    def run(self) -> None:
        observer = observing(self.changes)
        try:
            self.waiting = {topic for topic, _ in self.choose()}
            self.begin()
            while True:
                self.step(self.changes.get())
        except KeyboardInterrupt:
            click.echo("\nNo longer watching.")
        finally:
            self.give_up()
            observer.stop()
            observer.join()

    def step(self, first: str) -> None:
        """Take in one burst of changes, or the end of the round."""
        paths = burst(first, self.changes)
        if ENDED in paths:
            self.end()
        paths.discard(ENDED)
        if paths:
            self.take(paths)
        if self.round is None and self.why:
            self.begin()

    def take(self, paths: set) -> None:
        asked = touched(paths)
        if asked.kernel:
            self.kernel(asked)
            return
        paths = {path for path in paths if is_source(path) or touched({path}).topics}
        wanted = {topic for topic, _ in self.choose()}
        self.why += sorted(paths)
        self.waiting |= asked.topics & wanted
        self.pages |= asked.pages & wanted
        for topic in asked.gone:
            click.secho(f"derivations/{topic}.py is not there any more", fg="yellow", err=True)
        if self.round and self.round.topics & self.waiting:
            self.round.stop.set()

    def kernel(self, asked: Touched) -> None:
        """The checker changed: start again with it, unless it cannot be loaded."""
        self.give_up()
        click.echo(f"{now()} changed: {', '.join(asked.kernel)}: the checker itself, so that every topic is checked again")
        wrong = not_loadable()
        if wrong:
            click.secho(f"the checker cannot be loaded, and nothing is checked until it can: {wrong}", fg="red", err=True)
        else:
            self.restart()

    def begin(self) -> None:
        chosen = [(topic, script) for topic, script in self.choose() if topic in self.waiting]
        self.round = Round(chosen, sorted(self.pages), self.why, self)
        self.waiting, self.pages, self.why = set(), set(), []
        self.round.start()

    def end(self) -> None:
        """The round is over; what it gave up is for the next one."""
        if self.round:
            self.round.join()
            self.waiting |= self.round.left
            self.why += ["what was given up"] * bool(self.round.left and not self.why)
            self.fresh, self.round = False, None

    def give_up(self) -> None:
        if self.round:
            self.round.stop.set()
            self.end()


class Round(Thread):
    """One round: the topics, then the pages that changed. It prints what came of it."""

    def __init__(self, chosen: list, pages: list, why: list, of: Watch):
        super().__init__(daemon=True)
        self.chosen, self.pages, self.why, self.of = chosen, pages, list(dict.fromkeys(why)), of
        self.topics = {topic for topic, _ in chosen}
        self.left: set = set()
        self.stop = Event()

    def run(self) -> None:
        try:
            self.check()
        except Exception as error:  # a fault of the checker ends this round, not the watching
            click.secho(f"the round broke with {type(error).__name__}: {error}; a fault of the kernel", fg="red", err=True)
        finally:
            self.of.changes.put(ENDED)

    def check(self) -> None:
        began = time.monotonic()
        if self.why:
            click.echo(f"{now()} changed: {', '.join(self.why)}")
        first = frozenset(self.topics & {Path(path).with_suffix("").as_posix().partition("/")[2] for path in self.why})
        how = runner.How(first=first, ready=lambda result: publish([result]))  # its page shows the programs as well
        results = runner.check_all(self.chosen, self.of.fresh, self.of.jobs, lambda done, more: None, self.stop, how) if self.chosen else []
        done = [result for result in results if not result.stopped]
        self.left = {result.topic for result in results if result.stopped}
        publish(done)
        for result in done:
            report(result, quiet=self.why == [] and result.cached and result.holds)
        wrong = [finding for topic in self.pages if not self.stop.is_set() for finding in self.of.look(topic)]
        for finding in wrong:
            click.secho(str(finding), fg="red", err=True)
        click.echo(self.summary(done, wrong, time.monotonic() - began))

    def summary(self, done: list, wrong: list, seconds: float) -> str:
        if self.left:
            return f"{now()} given up after {seconds:.1f} s, since it changed meanwhile"
        said = []
        if done:
            held = sum(result.holds for result in done)
            claims = sum(len(result.records) for result in done)
            said.append(
                f"{quantity(claims, 'claim')} in {quantity(len(done), 'derivation')}: "
                + ("all hold" if held == len(done) else f"NOT all hold, {len(done) - held} refused")
            )
        if self.pages:
            said.append(f"{quantity(len(self.pages), 'page')} looked at: {len(wrong) or 'nothing'} to refuse")
        return f"{now()} {'; '.join(said) or 'no topic depends on it'}, in {seconds:.1f} s. Watching; Ctrl-C ends it."


def now() -> str:
    return time.strftime("%H:%M:%S")


# Changes ----------------------------------------------------------------------------------------------------------------------


class Handler(FileSystemEventHandler):
    """Puts the changed paths into a queue."""

    def __init__(self, changes: Queue):
        self.changes = changes

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type not in WRITES:
            return
        for path in filter(None, (event.src_path, event.dest_path)):
            name = relevant(os.fsdecode(path), event.is_directory and event.event_type in ("moved", "deleted"))
            if name and not (event.is_directory and not name.endswith("/")):
                self.changes.put(name)


def relevant(path: str, folder: bool = False) -> str:
    """The path from the root, if what is checked may depend on it; "" for what editors and Python leave beside files."""
    try:
        name = Path(path).resolve().relative_to(certificates.ROOT.resolve())
    except (ValueError, OSError):
        return ""
    home = name.parts[0] if name.parts else ""
    beside = any(part.startswith(".") or part.endswith("~") or part == "__pycache__" for part in name.parts) or name.parts[:2] in (
        ("docs", "coq"),
        ("docs", "sympy"),
    )
    if beside or not (folder and home in FOLDERS or home in READ or is_source(name.as_posix())) or len(name.parts) < 2:
        return ""
    return name.as_posix() + "/" * folder


def is_source(name: str) -> bool:
    """Whether it is a folder, or a file of the kind that its folder is there for."""
    return name.endswith("/") or Path(name).suffix in FOLDERS.get(Path(name).parts[0], ())


def observing(changes: Queue):
    """An observer that runs; one that looks again and again where the system does not tell of changes."""
    for kind in (Observer, PollingObserver):
        observer = kind()
        for folder in FOLDERS:
            if (certificates.ROOT / folder).is_dir():
                observer.schedule(Handler(changes), str(certificates.ROOT / folder), recursive=True)
        try:
            observer.start()
            return observer
        except OSError:
            continue
    raise click.ClickException("the system tells of no changes of files; run check by hand")


def burst(first: str, changes: Queue) -> set:
    """The first change and all that follow it closely: an editor writes a file in several steps."""
    found, end = {first}, time.monotonic() + LONGEST
    while time.monotonic() < end:
        try:
            found.add(changes.get(timeout=QUIET))
        except Empty:
            break
    return found


# The checker itself -------------------------------------------------------------------------------------------------------------


def not_loadable() -> str:
    """Why the checker as it now is cannot be loaded; "" where it can."""
    done = subprocess.run([sys.executable, "-c", LOADS], cwd=certificates.ROOT, capture_output=True, text=True)
    lines = [line.strip() for line in done.stderr.strip().splitlines()]
    places = [line for line in lines if line.startswith("File ")]
    return "; ".join([*lines[-1:], *places[-1:]]) if done.returncode else ""


def start_again() -> None:
    """This program in place of itself, with the arguments that it was given."""
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, sys.orig_argv)
