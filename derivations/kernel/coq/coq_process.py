"""Run `coqc` on files of claims and decide what counts as a proof.

A proof counts if `coqc` succeeds and reports that no theorem of the file assumes anything. Theorems over the reals may also assume the
axioms that `reals/axioms.py` names.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from pathlib import Path
from threading import Lock

from .combined_files import group_by_imports, join_files
from .file_audit import find_loophole, imported_preludes, imports_reals, theorem_names
from .prelude_files import PRELUDES, add_imports
from .reals.axioms import describe_axioms, forbidden_axioms, read_assumptions

Result = tuple[bool, str]  # whether Coq proved a file with nothing assumed, and a message

TIME_LIMIT = 300  # seconds of processor time for one file, so that the load of the machine does not change a verdict
OPEN_LIMIT = 40  # the same for a file that is known to have no proof yet
WALL_CLOCK_FACTOR = 10  # a file may take this many times its limit by the clock
NO_PROOF = "Coq does not prove it: "  # the script finds no proof; there may be one all the same
STOPPED = "coqc was stopped after"
ENDED = "coqc was ended before it decided"
# Errors of the machine, or of another process that writes to the same folder: they do not mean that there is no proof.
MACHINE_ERRORS = ("Out of memory", "Stack overflow", "No space left", "makes inconsistent assumptions")
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
    """Return whether `coqc` is installed."""
    return shutil.which("coqc") is not None


def version() -> str:
    """Return what a result depends on besides the sources, or "" without `coqc`: Coq's version and the sizes of library files."""
    if not available():
        return ""
    number, library = [
        subprocess.run(["coqc", option], capture_output=True, text=True, timeout=30, env=environment()).stdout.strip()
        for option in ("--version", "-where")
    ]
    paths = [(name, Path(library, "user-contrib", path)) for name, path in LIBRARIES]
    sizes = [str(path.stat().st_size) if path.is_file() else f"no {name}" for name, path in paths]
    return ", ".join([number.splitlines()[0], *sizes])


def prove(
    sources: Mapping[str, str],
    folder: Path | str | None = None,
    jobs: int | None = None,
    limit: float = TIME_LIMIT,
    told: Callable[[str, Result], object] | None = None,
    apart: Set[str] = frozenset(),
) -> dict[str, Result]:
    """Return the result of each source, (whether Coq proved it with nothing assumed, message), by its name.

    One run of Coq checks a group of files (see combined_files.py). If it does not accept the whole group, it checks each file on its own.
    Files named in `apart` are expected to fail: they are checked on their own, within a shorter limit. `told` is called with a name and
    its result as soon as its file has been checked. The files stay in the folder if one is given. Raise ValueError if two names give one
    file.
    """
    if not available():
        return {key: (False, NOT_RUN) for key in sources}
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return prove(sources, temporary, jobs, limit, told, apart)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if len({path_of_source(key, folder) for key in sources}) < len(sources):
        raise ValueError("two names of claims give one file")
    problems = compile_preludes({name for text in sources.values() for name in imported_preludes(text)}, folder, limit)
    jobs = jobs or os.cpu_count() or 1

    def check(group: list[str]) -> dict[str, Result]:
        results = {key: (False, problem) for key in group if (problem := reason_not_to_run(sources[key], problems))}
        rest = [key for key in group if key not in results]
        results |= prove_together({key: sources[key] for key in rest}, folder, limit) if len(rest) > 1 else {}
        for key in group:
            results[key] = results.get(key) or prove_one(key, sources[key], folder, min(limit, OPEN_LIMIT) if key in apart else limit)
            if told:
                told(key, results[key])
        return results

    with ThreadPoolExecutor(jobs) as pool:
        all_results = {
            key: result for results in pool.map(check, group_by_imports(sources, apart, jobs)) for key, result in results.items()
        }
    return {key: all_results[key] for key in sources}


def reason_not_to_run(text: str, problems: dict[str, str]) -> str:
    """Return why Coq must not check a text, or "": an import cannot be compiled, or the text could pass without a proof."""
    return "; ".join(filter(None, (problems[name] for name in imported_preludes(text)))) or find_loophole(text)


def compile_preludes(needed: Set[str], folder: Path, limit: float) -> dict[str, str]:
    """Compile preludes and their imports into the folder. Return for each name why it cannot be compiled, or ""."""
    problems: dict[str, str] = {}
    with _compiling:
        for name in add_imports(needed):
            of_imports = [problems[other] for other in PRELUDES[name].imports if problems[other]]
            problems[name] = of_imports[0] if of_imports else compile_prelude(name, folder, limit)
    return problems


def compile_prelude(name: str, folder: Path, limit: float) -> str:
    """Put a compiled prelude into the folder, compiled once by this process. Return why it cannot be compiled, or ""."""
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
    return shared.missing if absent else f"not run: Coq does not accept the prelude: {shorten(errors)}"


# .vo files by their text and the texts of their imports: a .vo file is only valid with the .vo files that it was compiled with
_compiled: dict[tuple[str, ...], bytes] = {}
_compiling = Lock()


def path_of_source(key: str, folder: Path) -> Path:
    """Return the path of a claim's Coq file in the folder. `key` is `topic#id`; raise ValueError if it cannot name a file."""
    parts = [re.sub(r"[^A-Za-z0-9]", "_", part) for part in re.split(r"[/#]", key)]
    if not all(parts) or parts[-1] in PRELUDES:
        raise ValueError(f"{key!r} does not name a claim")
    last = parts.pop()
    return Path(folder, *parts, (last if last[0].isalpha() else f"claim_{last}") + ".v")


def prove_together(sources: Mapping[str, str], folder: Path, limit: float) -> dict[str, Result]:
    """Return the results of files that Coq checks in one run, or {} if it does not accept all of them."""
    for key, text in sources.items():
        write_source(key, text, folder)
    name = hashlib.sha256("".join(sources).encode()).hexdigest()[:16]
    path = folder / f"Together_{name}.v"
    path.write_text(join_files(list(sources.values())), encoding="utf-8")
    code, output, _ = coqc(path, folder, limit)
    path.unlink()
    results = {key: judge_output(text, output, 1) for key, text in sources.items()} if code == 0 else {}
    return results if all(ok for ok, _ in results.values()) else {}


def prove_one(key: str, text: str, folder: Path, limit: float) -> Result:
    """Return the result of a file that Coq checks on its own."""
    path = write_source(key, text, folder)
    code, output, errors = coqc(path, folder, limit)
    if code is None:
        return False, f"{STOPPED} {limit:g} seconds of processor time"
    if code and (code < 0 or any(words in errors for words in MACHINE_ERRORS)):
        return False, f"{ENDED}: {shorten(errors)}"
    if code:
        return False, f"{NO_PROOF}{shorten(errors)}"
    return judge_output(text, output, len(theorem_names(text)))


def write_source(key: str, text: str, folder: Path) -> Path:
    path = path_of_source(key, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def judge_output(text: str, output: str, questions: int) -> Result:
    """Return the result of a file that Coq accepted, from its output for `questions` many `Print Assumptions`."""
    try:
        answers = read_assumptions(output)
    except ValueError as line:
        return False, f"Coq printed something else than what is assumed: {shorten(str(line))}"
    axioms: set[str] = set().union(*answers)
    forbidden = forbidden_axioms(axioms) if imports_reals(text) else sorted(axioms)
    if len(answers) != questions or forbidden:
        names = f": {', '.join(forbidden)}" if forbidden else ""
        return False, f"Coq's proof assumes something, or does not say that it does not{names}"
    count = len(theorem_names(text))
    return True, f"{count} theorem{'s' if count > 1 else ''} proved, {describe_axioms(axioms)}"


def coqc(path: Path, folder: Path, limit: float) -> tuple[int | None, str, str]:
    """Run `coqc` on a file. Return (exit code, output, errors), or (None, "", "") if it took too long."""
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
        output, errors = process.communicate(timeout=WALL_CLOCK_FACTOR * limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, "", ""
    return (None, "", "") if process.returncode == -signal.SIGXCPU else (process.returncode, output, errors)


def environment() -> dict[str, str]:
    """Return the environment for `coqc`, without variables that would make it load other libraries than the installed ones."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("COQ", "ROCQ"))} | {"LC_ALL": "C.UTF-8"}


def shorten(text: str) -> str:
    """Return at most 400 characters of Coq's message, without the lines that name a temporary file."""
    lines = [line.strip() for line in text.strip().splitlines() if not line.startswith("File ")]
    return " ".join(lines)[:400] or "no message"
