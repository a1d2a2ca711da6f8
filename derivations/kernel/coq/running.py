"""Running `coqc` on files, and what counts as a proof: that it ends well and says of every theorem that it assumes nothing.

Over the reals, that it assumes nothing but the axioms that `reals/axioms.py` names.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .prelude import PRELUDE, PRELUDE_NAME
from .reading import over_the_reals, preludes_of, suspicious, theorems
from .reals.axioms import assumed, in_words, unexpected
from .reals.prelude import REALS_NAME, REALS_PRELUDE, SLOPES_NAME, SLOPES_PRELUDE

TIME_LIMIT = 300  # seconds for one file
CLOSED = "Closed under the global context"
NO_PROOF = "Coq does not prove it: "  # our script finds no proof, which is not to say that there is none
STOPPED = "coqc was stopped after"
NOT_RUN = (
    "not run: coqc is not installed; apt-get install coq libcoq-mathcomp-algebra libcoq-coquelicot libcoq-interval libcoq-mathcomp-analysis"
)
NO_LIBRARY = "not run: Coq is here but MathComp's algebra is not; apt-get install libcoq-mathcomp-algebra"
NO_REALS = "not run: Coq is here but its libraries for the reals are not; apt-get install libcoq-coquelicot libcoq-interval"
NO_SLOPES = "not run: Coq is here but its libraries for derivatives are not; apt-get install libcoq-coquelicot libcoq-mathcomp-analysis"
LIBRARIES = (
    ("Analysis", "mathcomp/analysis/Rstruct.vo"),
    ("MathComp", "mathcomp/algebra/matrix.vo"),
    ("Coquelicot", "Coquelicot/Derive.vo"),
    ("Interval", "Interval/Tactic.vo"),
)


def available() -> bool:
    return shutil.which("coqc") is not None


def version() -> str:
    """What a result depends on besides the sources: Coq's version and where its libraries come from; "" without coqc."""
    if not available():
        return ""
    said = [
        subprocess.run(["coqc", option], capture_output=True, text=True, timeout=30, env=environment()).stdout.strip()
        for option in ("--version", "-where")
    ]
    paths = [(name, Path(said[1], "user-contrib", path)) for name, path in LIBRARIES]
    found = [str(path.stat().st_size) if path.is_file() else f"no {name}" for name, path in paths]
    return ", ".join([said[0].splitlines()[0], *found])


def prove(sources: dict, folder: Path | str | None = None, jobs: int | None = None, limit: float = TIME_LIMIT, told=None) -> dict:
    """{id: (did Coq prove it with nothing assumed, message)} for {id: text}. The files are left in the folder, if one is given.

    `told` is called with an id as soon as its file has been checked.
    """
    if not available():
        return {key: (False, NOT_RUN) for key in sources}
    if folder is None:
        with tempfile.TemporaryDirectory() as own:
            return prove(sources, own, jobs, limit, told)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if len({file_of(key, folder) for key in sources}) < len(sources):
        raise ValueError("two names of claims give one file")
    problems = prepared(set().union(*map(preludes_of, sources.values())), folder, limit)

    def check(key):
        problem = "; ".join(filter(None, (problems[name] for name in preludes_of(sources[key]))))
        result = (False, problem) if problem else prove_one(key, sources[key], folder, limit)
        if told:
            told(key)
        return result

    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        return dict(zip(sources, pool.map(check, sources)))


def prepared(needed: set, folder: Path, limit: float) -> dict:
    """{name: why it cannot be had, or ""} of what these files import. That about derivatives imports the general one."""
    shared = ((PRELUDE_NAME, PRELUDE, NO_LIBRARY), (REALS_NAME, REALS_PRELUDE, NO_REALS), (SLOPES_NAME, SLOPES_PRELUDE, NO_SLOPES))
    needed = needed | ({PRELUDE_NAME} if SLOPES_NAME in needed else set())
    return {name: compiled(name, text, folder, limit, missing) for name, text, missing in shared if name in needed}


def compiled(name: str, text: str, folder: Path, limit: float, missing: str) -> str:
    """Compile what files share; the reason why it cannot be, or ""."""
    path = folder / f"{name}.v"
    path.write_text(text, encoding="utf-8")
    code, _, errors = coqc(path, folder, max(limit, TIME_LIMIT))
    if code == 0:
        return ""
    absent = "Cannot find a physical path bound to logical path" in errors or "mathcomp" in errors.lower()
    return missing if absent else f"not run: Coq does not accept the prelude: {shortened(errors)}"


def file_of(key: str, folder: Path) -> Path:
    """Where the source of a claim, as topic#id or any such name, is written."""
    parts = [re.sub(r"[^A-Za-z0-9]", "_", part) for part in re.split(r"[/#]", key)]
    if not all(parts) or parts[-1] in (PRELUDE_NAME, REALS_NAME, SLOPES_NAME):
        raise ValueError(f"{key!r} does not name a claim")
    last = parts.pop()
    return Path(folder, *parts, (last if last[0].isalpha() else f"claim_{last}") + ".v")


def prove_one(key: str, text: str, folder: Path, limit: float) -> tuple:
    problem = suspicious(text)
    if problem:
        return False, problem
    path = file_of(key, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    code, said, errors = coqc(path, folder, limit)
    if code is None:
        return False, f"{STOPPED} {limit:g} seconds"
    if code:
        return False, f"{NO_PROOF}{shortened(errors)}"
    names = theorems(text)
    if over_the_reals(text):
        return judged(names, said)
    if said.split("\n") != [CLOSED] * len(names) + [""]:
        return False, f"Coq's proof assumes something, or does not say that it does not: {shortened(said)}"
    return True, f"{len(names)} theorem{'s' if len(names) > 1 else ''} proved, nothing assumed"


def judged(names: list, said: str) -> tuple:
    """Whether the theorems over the reals assume nothing but what they may, and what they assume."""
    try:
        each = assumed(said)
    except ValueError as line:
        return False, f"Coq printed something else than what is assumed: {shortened(str(line))}"
    together = set().union(*each)
    if len(each) != len(names) or unexpected(together):
        more = f": {', '.join(unexpected(together))}" if unexpected(together) else ""
        return False, f"Coq's proof assumes something, or does not say that it does not{more}"
    return True, f"{len(names)} theorem{'s' if len(names) > 1 else ''} proved, {in_words(together)}"


def coqc(path: Path, folder: Path, limit: float) -> tuple:
    """(exit code, output, errors) of coqc on a file; (None, "", "") when it took too long."""
    command = ["coqc", "-q", "-w", "none", "-Q", str(folder), "Derivations", str(path)]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=environment(),
        cwd=folder,
        start_new_session=True,
    )
    try:
        said, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""
    return process.returncode, said, errors


def environment() -> dict:
    """Without what would load other libraries than the installed ones."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("COQ", "ROCQ"))} | {"LC_ALL": "C.UTF-8"}


def shortened(text: str) -> str:
    """Coq's message without the place in a file that is not the reader's."""
    lines = [line.strip() for line in text.strip().splitlines() if not line.startswith("File ")]
    return " ".join(lines)[:400] or "no message"
