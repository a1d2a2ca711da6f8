"""Check one script in a separate process, and send a record of each claim to the parent process.

A script that crashes, hangs or uses too much memory ends only this process. The parent (runner.py) enforces the time limit.
"""

from __future__ import annotations

import ast
import gc
import json
import linecache
import locale
import os
import runpy
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path

from ..core import claims
from ..core.claims import Claim, Rejected
from ..errors import KernelError, explain, raised_in_script, scripts
from ..printing.plain_text import SIGNS, plain
from ..store import claim_cache
from . import claim_fingerprints, installed_packages
from .claim_records import fault_of_words, refuse_unseen, witnessed
from .input_tracking import imported_files, recorded

MEMORY = 6 * 2**30  # bytes of address space
LOCALE = "C.UTF-8"
GARBAGE = 10**6  # the garbage collector runs after this many new objects
ROOM = 2**17  # slots of the frame of `with_room`; the chunk of stack that Python allocates for it has at least as many more
WRITTEN = 2**26  # the largest size of a file that a script writes in bytes, including its output


def load_script(path: Path):
    """Run a script, which puts its derivation into `claims.LOADED`.

    Return None, or (line, message, id of the claim or None, code of the error) if it fails.
    """
    del claims.LOADED[:]
    scripts.watched = True
    try:
        runpy.run_path(str(path), run_name="derivation")
    except Rejected as error:
        return error.line, error.message, error.claim, error.code
    except KernelError as error:
        return stopped(path, error, str(error), error.code)
    except SyntaxError as error:
        return error.lineno or 0, f"this is not Python: {error.msg}", None, "not-python"
    except BaseException as error:  # a script is arbitrary Python, and all its errors must be reported
        if isinstance(error, KeyboardInterrupt):
            raise
        said = explain(error) if raised_in_script(error.__traceback__) else error
        return stopped(path, error, f"the script stopped with {type(error).__name__}: {said}", "script-stopped")
    finally:
        scripts.watched = False
    if len(claims.LOADED) != 1:
        return 0, f"a script makes one Derivation; this one makes {len(claims.LOADED)}", None, "no-derivation"
    if not claims.LOADED[0].claims:
        return claims.LOADED[0].line, "the derivation states no claim", None, "no-claim"
    return None


def stopped(path: Path, error: BaseException, message: str, code: str) -> tuple[int, str, str | None, str]:
    """Return the line at which an error stopped a script, the message, the id of the claim that this line states, and the code."""
    line = line_in(path, error)
    return line, message, claim_at(path, line), code


def claim_at(path: Path, line: int) -> str | None:
    """Return the id of the claim that a method call on this line states, according to the script's text; None if there is none."""
    for node in ast.walk(ast.parse("".join(linecache.getlines(str(path))))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.lineno <= line <= (node.end_lineno or 0):
            match node.func.value, node.args:
                case ast.Name(), [ast.Constant(str(id)), *_] if node.func.attr != "define":  # its first argument is a name, not an id
                    return id
    return None


def line_in(path: Path, error: BaseException) -> int:
    """Return the last line of the script itself in an error's traceback, or 0 if there is none."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    return lines[-1] if lines else 0


def main(path: str, root: str, out, said: str, environment: dict, homes: dict, earlier: dict):
    """Check the script at `path` in this environment, and send its records as JSON to the connection `out`.

    `earlier` maps claims to the records of earlier checks, which are used if they are current. The script's output goes to the file
    `said`. `homes` maps modules to the packages that contain them.
    """
    installed_packages.know(homes)
    os.environ.clear()  # this process may be forked from one with an older environment
    os.environ.update(environment)
    be_anywhere()
    collect_seldom()
    limit_memory()
    limit_files()
    script = Path(path).resolve()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(said, os.O_WRONLY | os.O_APPEND), stream)
    os.setsid()  # so that all processes that the script starts can be ended with it
    sys.path.insert(0, str(script.parent))
    sys.argv[:] = sys.orig_argv[:] = [str(script)]
    os.chdir(script.parent)

    def emit(event, **content):
        out.send_bytes(json.dumps({"event": event, **content}).encode())

    with_room(check_script, script, Path(root), emit, earlier)


def with_room(run, *arguments):
    """Call a function from a frame so large that the frames of all further calls fit into the same chunk of Python's stack.

    Python allocates its stack in chunks. A call that crosses the end of a chunk allocates a new chunk, and frees it on return. In a loop,
    this may take most of the time.
    """
    return run(*arguments)


with_room.__code__ = with_room.__code__.replace(co_stacksize=ROOM)


def collect_seldom():
    """Make the garbage collector run rarely, and exclude existing objects from it.

    The process ends with its script, and little of what the script creates needs to be freed earlier.
    """
    gc.freeze()
    gc.set_threshold(GARBAGE)


def be_anywhere():
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


def check_script(script: Path, root: Path, emit, earlier: dict | None = None):
    """Check a script, and send the records of its claims and what it read."""
    with recorded() as recorder:
        entangled = check_claims(script, emit, earlier or {})
    imported = imported_files((root, script.parent))
    emit("done", imported=imported, libraries=libraries(), read=asdict(recorder.reads), entangled=entangled or str(script) in imported)


def check_claims(script: Path, emit, earlier: dict) -> bool:
    """Check each claim of a script and send its record. Return whether the script itself imports snippets.

    Such a script may change the snippets in ways that no claim shows. Therefore no records of earlier checks are used for it.
    """
    problem = load_script(script)
    entangled = any(name.partition(".")[0] == "snippets" for name in sys.modules)
    derivation = claims.LOADED[0] if claims.LOADED else None
    stated = derivation.claims if derivation else []
    if derivation and (fault := fault_of_words(derivation.title)):
        problem = problem or (derivation.line, f"the title of the derivation, {fault}", None, "invalid-text")
    emit("loaded", title=derivation.title if derivation else "", count=len(stated))
    for claim in stated:
        start = time.perf_counter()
        try:
            found = checked(claim, None if entangled else earlier.get(claim.id))
            seconds = round(time.perf_counter() - start, 3)
            emit("claim", verdict="holds", seconds=seconds, message="", stated=in_words(claim), **found)
        except Rejected as error:
            refused(emit, claim, error.message, error.code, start)
        except RecursionError:
            refused(emit, claim, "the expression is nested too deeply to check; split it with define", "too-deep", start)
        except MemoryError:
            refused(emit, claim, "checking it took more memory than is allowed; split it into smaller steps", "too-much-memory", start)
        except Exception as error:  # an error in a witness is not a verdict, and must not stop the check of the other claims
            refused(
                emit,
                claim,
                f"a witness broke with {type(error).__name__}: {error}; this is a fault of the kernel, not of the claim",
                "witness-broke",
                start,
            )
    if problem and problem[2]:
        emit(
            "claim",
            verdict="refused",
            seconds=0.0,
            message=problem[1],
            error_code=problem[3],
            claim={"id": problem[2], "kind": "not stated", "line": problem[0], "scope": "", "witnesses": []},
        )
        problem = (problem[0], "the script stopped there; what follows was not checked", None, problem[3])
    if problem:
        emit("problem", line=problem[0], message=problem[1], source=linecache.getline(str(script), problem[0]).strip())
    return entangled


def checked(claim: Claim, before: dict | None) -> dict:
    """Return a claim's record, what it depends on, and whether it is the record of an earlier check.

    The record of the earlier check is used if it is current. Raise Rejected if `refuse_unseen` or a witness rejects the claim.
    """
    refuse_unseen(claim)
    stands_on = {"told": claim_fingerprints.told(claim)} | claim_fingerprints.code(claim)
    taken = before is not None and claim_cache.is_current(before, stands_on)
    record = before["record"] | {"line": claim.line} if taken else witnessed(claim)
    return {"claim": record, "stands_on": stands_on, "taken": taken}


def libraries() -> dict[str, str]:
    """Return the versions, by name, of all installed packages that contain an imported module."""
    return installed_packages.versions({name.partition(".")[0] for name in list(sys.modules)})


def refused(emit, claim: Claim, message: str, code: str, start: float):
    """Send the record of a rejected claim. `start` is the time at which its check began."""
    emit(
        "claim",
        verdict="refused",
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
            "stated": in_words(claim),
            "uses": list(claim.uses),
        },
    )


def in_words(claim: Claim) -> str:
    """Return a claim as one line of plain text; "" if it is nested too deeply or is not made of valid expressions."""
    try:
        return " ".join([plain(claim.start), *(f"{SIGNS[step.relation]} {plain(step.expr)}" for step in claim.steps)])
    except (RecursionError, KernelError, AttributeError, TypeError):
        return ""


def limit_memory():
    """Limit the memory of this process."""
    limit("RLIMIT_AS", MEMORY)


def limit_files():
    """Limit the size of files, so that endless output does not fill the disk."""
    limit("RLIMIT_FSIZE", WRITTEN)


def limit(what: str, most: int):
    """Set the soft limit of a resource, where the system has such limits."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(getattr(resource, what), (most, resource.getrlimit(getattr(resource, what))[1]))
