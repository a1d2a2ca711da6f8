"""Measure the time from an edit to the updated page: `python tests/bench/edit_latency.py`. It takes about two minutes.

`check --watch` and `mkdocs serve` run in a copy of the project. The benchmark changes a word of a page, a title in a script and a comment
in a snippet, and waits until the served page shows the change. It prints the shortest of several rounds, in seconds.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from many_topics import ROOT, project, run

ROUNDS = 3
TOPIC = "simplify/softmax"
EDITS = {  # for each file: the text to replace, and its replacement
    "docs/simplify/softmax.md": ("It is worth seeing", "It is worth {}seeing"),
    "derivations/simplify/softmax.py": ('title="Softmax is not additive', 'title="Softmax is {}not additive'),
    "snippets/simplify/softmax.py": ("softmax(S) X: what attention", "softmax(S) X: {}what attention"),
}
LONGEST = 300  # seconds


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def waited(address: str, marker: str) -> float:
    """Return the seconds until the page contains the marker."""
    start = time.perf_counter()
    while time.perf_counter() - start < LONGEST:
        try:
            with urllib.request.urlopen(address, timeout=10) as page:
                if marker in page.read().decode():
                    return time.perf_counter() - start
        except OSError:
            pass
        time.sleep(0.02)
    sys.exit(f"bench: {address} does not show {marker!r} after {LONGEST} s")


def measured(folder: Path) -> dict[str, float]:
    run(ROOT, "-m", "derivations", "check")
    project(folder, 0)
    shutil.rmtree(folder / ".certificates")
    shutil.copytree(ROOT / ".certificates", folder / ".certificates")  # with the stored results of each claim, as an author has them
    run(folder, "-m", "derivations", "check")
    port = free_port()
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    commands = (["derivations", "check", "--watch"], ["mkdocs", "serve", "--quiet", "--dev-addr", f"127.0.0.1:{port}"])
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *command], cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for command in commands
    ]
    address = f"http://127.0.0.1:{port}/{TOPIC}/"
    found: dict[str, list[float]] = {name: [] for name in EDITS}
    try:
        waited(address, "Softmax is not linear")
        time.sleep(10)  # wait for the first check and for the server's first build
        for round_ in range(ROUNDS + 1):
            for name, (old, new) in EDITS.items():
                path, marker = folder / name, f"marked{round_}{chr(97 + list(EDITS).index(name))}"
                text = re.sub(r"marked\d+\w ", "", path.read_text())
                assert old in text, name
                path.write_text(text.replace(old, new.format(f"{marker} "), 1))
                found[name].append(waited(address, marker))
                time.sleep(8)  # as if the author read the page
    finally:
        for one in started:
            one.terminate()
            one.wait()
    return {name: min(seconds[1:]) for name, seconds in found.items()}  # the first round fills the caches of the check


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        print(f"load {os.getloadavg()[0]:.1f} before this began")
        for name, seconds in measured(folder).items():
            print(f"seconds from an edit of {name:34} to the page {seconds:.2f}   (aim: at most 2)")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
