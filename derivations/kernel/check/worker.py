"""Check one script in a separate process, and send a record of each claim to the parent process.

A script that crashes, hangs or uses too much memory ends only this process. The parent (runner.py) enforces the time limit.
"""

from __future__ import annotations

import json
import linecache
import locale
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import claims
from ..core.claims import Claim, Rejected
from ..errors import KernelError
from ..printing.plain_text import SIGNS, plain
from ..script.loading import TOO_DEEP, Problem, collect_garbage_rarely, load_script
from ..store import claim_cache
from . import claim_fingerprints, installed_packages
from .claim_records import check_code_and_text, check_with_witnesses, find_text_fault, reject_idle_definition
from .input_tracking import imported_files, record_reads

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MEMORY_LIMIT = 6 * 2**30  # of address space, in bytes
LOCALE = "C.UTF-8"
# Slots in the frame of `call_with_large_frame`. Python allocates a chunk of stack that has at least as many free slots after the frame.
STACK_SLOTS = 2**17
FILE_SIZE_LIMIT = 2**26  # of each file that a script writes, including its output, in bytes


Emit = Callable[..., None]  # sends a record, given the kind of event and its content


def main(
    path: str, root: str, connection: Connection, output: str, environment: dict[str, str], packages: dict[str, list[str]], earlier: dict
) -> None:
    """Check the script at `path` in this environment, and send its records as JSON through the connection.

    The script's output goes to the file `output`. `packages` maps modules to the packages that contain them. `earlier` maps claims to the
    records of earlier checks, which are used if they are current.
    """
    installed_packages.set_packages(packages)
    os.environ.clear()  # this process may be forked from one with an older environment
    os.environ.update(environment)
    set_time_zone_and_locale()
    collect_garbage_rarely()
    limit_memory()
    limit_file_size()
    script = Path(path).resolve()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), stream)
    os.setsid()  # so that all processes that the script starts can be ended with it
    sys.path.insert(0, str(script.parent))
    sys.argv[:] = sys.orig_argv[:] = [str(script)]
    os.chdir(script.parent)

    def emit(event: str, **content: Any) -> None:
        connection.send_bytes(json.dumps({"event": event, **content}).encode())

    call_with_large_frame(check_script, script, Path(root), emit, earlier)


def call_with_large_frame(run: Callable[..., None], *arguments: Any) -> None:
    """Call a function from a frame so large that the frames of all further calls fit into the same chunk of Python's stack.

    Python allocates its stack in chunks. A call that crosses the end of a chunk allocates a new chunk and frees it on return. In a loop,
    this may take most of the time.
    """
    return run(*arguments)


call_with_large_frame.__code__ = call_with_large_frame.__code__.replace(co_stacksize=STACK_SLOTS)


def set_time_zone_and_locale() -> None:
    """Set the same time zone and locale on every machine, because neither is recorded as an input."""
    for name in [name for name in os.environ if name in ("TZ", "LANG", "LANGUAGE") or name.startswith("LC_")]:
        del os.environ[name]
    os.environ |= {"TZ": "UTC", "LC_ALL": LOCALE}
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()
    try:
        locale.setlocale(locale.LC_ALL, LOCALE)
    except locale.Error:  # some systems do not have it
        locale.setlocale(locale.LC_ALL, "C")


def check_script(script: Path, root: Path, emit: Emit, earlier: dict | None = None) -> None:
    """Check a script, and send the records of its claims and the list of what it read."""
    with record_reads() as recorder:
        imports_snippets = check_claims(script, emit, earlier or {})
    imported = imported_files((root, script.parent))
    emit(
        "done",
        imported=imported,
        libraries=library_versions(),
        reads=asdict(recorder.reads),
        reusable=not (imports_snippets or str(script) in imported),
    )


def check_claims(script: Path, emit: Emit, earlier: dict) -> bool:
    """Check each claim of a script and send its record. Return whether the script itself imports snippets.

    If it does, it may change the snippets in ways that no claim shows. Therefore no records of earlier checks are used.
    """
    problem = load_script(script)
    imports_snippets = any(name.partition(".")[0] == "snippets" for name in sys.modules)
    derivation = claims.LOADED[0] if claims.LOADED else None
    stated = derivation.claims if derivation else []
    if derivation and (fault := find_text_fault(derivation.title)):
        problem = problem or Problem(derivation.line, f"the title of the derivation, {fault}", None, code="invalid-text")
    emit("loaded", title=derivation.title if derivation else "", count=len(stated))
    for claim in stated:
        start = time.perf_counter()
        try:
            if not problem:  # else later claims, which may contain a definition, were not stated
                reject_idle_definition(claim, stated)
            content = check_or_reuse(claim, None if imports_snippets else earlier.get(claim.id))
            seconds = round(time.perf_counter() - start, 3)
            emit("claim", verdict="holds", seconds=seconds, message="", stated=claim_text(claim), **content)
        except Rejected as error:
            emit_rejection(emit, claim, error.message, start, code=error.code)
        except RecursionError:
            emit_rejection(emit, claim, TOO_DEEP, start, code="too-deep")
        except MemoryError:
            message = "checking it took more memory than is allowed; split it into smaller steps"
            emit_rejection(emit, claim, message, start, code="too-much-memory")
        except Exception as error:  # an error in a witness is not a verdict, and must not stop the check of the other claims
            message = f"a witness broke with {type(error).__name__}: {error}; this is a fault of the kernel, not of the claim"
            emit_rejection(emit, claim, message, start, code="witness-broke")
    if problem and problem.claim:
        emit(
            "claim",
            verdict="rejected",
            seconds=0.0,
            message=problem.message,
            error_code=problem.code,
            claim={"id": problem.claim, "kind": "not stated", "line": problem.line, "scope": "", "witnesses": []},
        )
        problem = problem._replace(message="the script stopped there; what follows was not checked", claim=None)
    if problem:
        emit("problem", line=problem.line, message=problem.message, source=linecache.getline(str(script), problem.line).strip())
    return imports_snippets


def check_or_reuse(claim: Claim, earlier: dict | None) -> dict:
    """Return a claim's record, the fingerprints of what its verdict depends on, and whether the record is that of an earlier check.

    The earlier record is used if it is current. Raise Rejected if `check_code_and_text` or a witness rejects the claim.
    """
    check_code_and_text(claim)
    fingerprints = {"statement": claim_fingerprints.hash_statement(claim)} | claim_fingerprints.hash_code(claim)
    if earlier is not None and claim_cache.is_current(earlier, fingerprints):
        return {"claim": earlier["record"] | {"line": claim.line}, "fingerprints": fingerprints, "reused": True}
    return {"claim": check_with_witnesses(claim), "fingerprints": fingerprints, "reused": False}


def library_versions() -> dict[str, str]:
    """Return the versions, by name, of all installed packages that contain an imported module."""
    return installed_packages.versions({name.partition(".")[0] for name in list(sys.modules)})


def emit_rejection(emit: Emit, claim: Claim, message: str, start: float, code: str) -> None:
    """Send the record of a rejected claim. `start` is the time at which its check began."""
    emit(
        "claim",
        verdict="rejected",
        seconds=round(time.perf_counter() - start, 3),
        message=message,
        error_code=code,
        claim={
            "id": claim.id,
            "kind": claim.kind,
            "title": claim.title,
            "line": claim.line,
            "scope": "",
            "witnesses": [],
            "stated": claim_text(claim),
            "uses": list(claim.uses),
        },
    )


def claim_text(claim: Claim) -> str:
    """Return a claim as one line of plain text, or "" if it is nested too deeply or contains invalid expressions."""
    try:
        return " ".join([plain(claim.start), *(f"{SIGNS[step.relation]} {plain(step.expr)}" for step in claim.steps)])
    except (RecursionError, KernelError, AttributeError, TypeError):
        return ""


def limit_memory() -> None:
    """Limit the memory of this process."""
    set_limit("RLIMIT_AS", MEMORY_LIMIT)


def limit_file_size() -> None:
    """Limit the size of files that this process writes, so that endless output does not fill the disk."""
    set_limit("RLIMIT_FSIZE", FILE_SIZE_LIMIT)


def set_limit(name: str, limit: int) -> None:
    """Set the soft limit of a resource, if the system has such limits."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(getattr(resource, name), (limit, resource.getrlimit(getattr(resource, name))[1]))
