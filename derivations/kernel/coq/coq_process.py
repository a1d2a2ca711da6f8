"""Running `coqc` on files, and what counts as a proof: that it ends well and says of every theorem that it assumes nothing.

Over the reals, that it assumes nothing but the axioms that `reals/axioms.py` names.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from threading import Lock

from .combined_files import joined, shared_out
from .file_audit import over_the_reals, preludes_of, suspicious, theorems
from .prelude_files import PRELUDES, with_imports
from .reals.axioms import assumed, in_words, unexpected

TIME_LIMIT = 300  # seconds of processor time for one file: what else the machine does changes no verdict
OPEN_LIMIT = 40  # for one of which it is known that it is not proved
BUSY = 10  # times as long may a file take by the clock
NO_PROOF = "Coq does not prove it: "  # our script finds no proof, which is not to say that there is none
STOPPED = "coqc was stopped after"
ENDED = "coqc was ended before it decided"
# The machine's limits, and what another process that writes to the same folder does: these say nothing of a proof
OVERCOME = ("Out of memory", "Stack overflow", "No space left", "makes inconsistent assumptions")
NOT_RUN = (
    "not run: coqc is not installed; apt-get install coq libcoq-mathcomp-algebra libcoq-coquelicot libcoq-interval libcoq-mathcomp-analysis"
)
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


def prove(
    sources: dict,
    folder: Path | str | None = None,
    jobs: int | None = None,
    limit: float = TIME_LIMIT,
    told=None,
    apart: frozenset = frozenset(),
) -> dict:
    """{id: (did Coq prove it with nothing assumed, message)} for {id: text}. The files are left in the folder, if one is given.

    Coq checks some of them in one run (see combined_files.py); where it does not accept them all, each on its own, as those named in `apart`
    from the start. `told` is called with an id and its result as soon as its file has been checked.
    """
    if not available():
        return {key: (False, NOT_RUN) for key in sources}
    if folder is None:
        with tempfile.TemporaryDirectory() as own:
            return prove(sources, own, jobs, limit, told, apart)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if len({file_of(key, folder) for key in sources}) < len(sources):
        raise ValueError("two names of claims give one file")
    problems = prepared(set().union(*map(preludes_of, sources.values())), folder, limit)
    jobs = jobs or os.cpu_count() or 1

    def check(group):
        found = {key: (False, problem) for key in group if (problem := fault(sources[key], problems))}
        rest = [key for key in group if key not in found]
        found |= prove_together({key: sources[key] for key in rest}, folder, limit) if len(rest) > 1 else {}
        for key in group:
            found[key] = found.get(key) or prove_one(key, sources[key], folder, min(limit, OPEN_LIMIT) if key in apart else limit)
            if told:
                told(key, found[key])
        return found

    with ThreadPoolExecutor(jobs) as pool:
        results = {key: result for found in pool.map(check, shared_out(sources, apart, jobs)) for key, result in found.items()}
    return {key: results[key] for key in sources}


def fault(text: str, problems: dict) -> str:
    """Why Coq is not asked: what the text imports cannot be had, or something in it would let it pass without a proof."""
    return "; ".join(filter(None, (problems[name] for name in preludes_of(text)))) or suspicious(text)


def prepared(needed: set, folder: Path, limit: float) -> dict:
    """{name: why it cannot be had, or ""} of what these files import, and of what that imports."""
    found = {}
    with _compiling:
        for name in with_imports(needed):
            missed = [found[other] for other in PRELUDES[name].imports if found[other]]
            found[name] = missed[0] if missed else compiled(name, folder, limit)
    return found


def compiled(name: str, folder: Path, limit: float) -> str:
    """Have in the folder what files share, compiled once by this process; the reason why it cannot be, or ""."""
    shared = PRELUDES[name]
    texts = (shared.text, *(PRELUDES[other].text for other in shared.imports))
    path = folder / f"{name}.v"
    object_file = path.with_suffix(".vo")
    path.write_text(shared.text, encoding="utf-8")
    if texts in _compiled:
        if not object_file.is_file() or object_file.read_bytes() != _compiled[texts]:
            object_file.write_bytes(_compiled[texts])
        return ""
    code, _, errors = coqc(path, folder, max(limit, TIME_LIMIT))
    if code == 0:
        if object_file.is_file():
            _compiled[texts] = object_file.read_bytes()
        return ""
    absent = "Cannot find a physical path bound to logical path" in errors or "mathcomp" in errors.lower()
    return shared.missing if absent else f"not run: Coq does not accept the prelude: {shortened(errors)}"


# .vo files, by their texts and those of what they import, since each names the very .vo files that it was made with
_compiled: dict[tuple, bytes] = {}
_compiling = Lock()


def file_of(key: str, folder: Path) -> Path:
    """Where the source of a claim, as topic#id or any such name, is written."""
    parts = [re.sub(r"[^A-Za-z0-9]", "_", part) for part in re.split(r"[/#]", key)]
    if not all(parts) or parts[-1] in PRELUDES:
        raise ValueError(f"{key!r} does not name a claim")
    last = parts.pop()
    return Path(folder, *parts, (last if last[0].isalpha() else f"claim_{last}") + ".v")


def prove_together(sources: dict, folder: Path, limit: float) -> dict:
    """What comes of files that Coq checks in one run; nothing, where it does not accept all of them."""
    for key, text in sources.items():
        put(key, text, folder)
    name = hashlib.sha256("".join(sources).encode()).hexdigest()[:16]
    path = folder / f"Together_{name}.v"
    path.write_text(joined(list(sources.values())), encoding="utf-8")
    code, said, _ = coqc(path, folder, limit)
    path.unlink()
    found = {key: judged(text, said, 1) for key, text in sources.items()} if code == 0 else {}
    return found if all(ok for ok, _ in found.values()) else {}


def prove_one(key: str, text: str, folder: Path, limit: float) -> tuple:
    path = put(key, text, folder)
    code, said, errors = coqc(path, folder, limit)
    if code is None:
        return False, f"{STOPPED} {limit:g} seconds of processor time"
    if code and (code < 0 or any(words in errors for words in OVERCOME)):
        return False, f"{ENDED}: {shortened(errors)}"
    if code:
        return False, f"{NO_PROOF}{shortened(errors)}"
    return judged(text, said, len(theorems(text)))


def put(key: str, text: str, folder: Path) -> Path:
    path = file_of(key, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def judged(text: str, said: str, questions: int) -> tuple:
    """What Coq's answers to so many questions come to: whether the text's theorems assume nothing but what they may, and what they assume."""
    try:
        each = assumed(said)
    except ValueError as line:
        return False, f"Coq printed something else than what is assumed: {shortened(str(line))}"
    together = set().union(*each)
    strange = unexpected(together) if over_the_reals(text) else sorted(together)
    if len(each) != questions or strange:
        more = f": {', '.join(strange)}" if strange else ""
        return False, f"Coq's proof assumes something, or does not say that it does not{more}"
    count = len(theorems(text))
    return True, f"{count} theorem{'s' if count > 1 else ''} proved, {in_words(together)}"


def coqc(path: Path, folder: Path, limit: float) -> tuple:
    """(exit code, output, errors) of coqc on a file; (None, "", "") when it took too long."""
    limited = ["sh", "-c", 'ulimit -S -t "$0" && exec "$@"', str(ceil(limit))]
    command = [*limited, "coqc", "-q", "-w", "none", "-Q", str(folder), "Derivations", str(path)]
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
        said, errors = process.communicate(timeout=BUSY * limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""
    return (None, "", "") if process.returncode == -signal.SIGXCPU else (process.returncode, said, errors)


def environment() -> dict:
    """Without what would load other libraries than the installed ones."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("COQ", "ROCQ"))} | {"LC_ALL": "C.UTF-8"}


def shortened(text: str) -> str:
    """Coq's message without the place in a file that is not the reader's."""
    lines = [line.strip() for line in text.strip().splitlines() if not line.startswith("File ")]
    return " ".join(lines)[:400] or "no message"
