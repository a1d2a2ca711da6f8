"""Check the claims of a script's text by one witness.

A witness that proves a claim here does not accept it: acceptance needs a second witness, and a run of the code that the claim names.
"""

from __future__ import annotations

import gc
import linecache
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from ..core import claims
from ..core.claims import Claim, Rejected, Verdict
from ..errors import KernelError
from ..script.claim_latex import claim_latex
from ..script.loading import load_script

TOO_DEEP = "the expression is nested too deeply to check; split it with define"
GC_THRESHOLD = 10**6  # new objects after which the garbage collector runs; a worker lives for a few claims


def ask_exact(claim: Claim) -> Verdict:
    """Return the exact witness's verdict. Raise Rejected if it rejects the claim."""
    from ..exact.witness import exact

    return exact(claim)


def ask_sympy(claim: Claim) -> Verdict:
    """Return the SymPy witness's verdict. Raise Rejected if it rejects the claim."""
    from ..sympy.witness import check_with_program

    verdict, scope, note, source = check_with_program(claim)
    return Verdict("sympy", verdict, scope, note, source=source)


WITNESSES: dict[str, Callable[[Claim], Verdict]] = {"exact": ask_exact, "sympy": ask_sympy}


def collect_garbage_rarely() -> None:
    """Make the garbage collector run rarely, and exclude existing objects from it."""
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


def check_text(path: str, text: str, witness: str = "exact", ids: Collection[str] = (), lines: Collection[int] = ()) -> dict[str, Any]:
    """Return what a witness says of the claims of a script, given its path and text. Messages name the lines of this text.

    With `ids` or `lines`, only the claims with these ids, or that begin on these lines, are checked. The result has two parts: "problem",
    which is None unless the script stops with an error, and "claims", with the verdict of each claim that was stated before.
    """
    script = Path(path)
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
    linecache.checkcache(path)  # it may keep the lines of an earlier text
    problem = find_problem(script)
    stated = claims.LOADED[0].claims if claims.LOADED else []
    chosen = [claim for claim in stated if (not ids or claim.id in ids) and (not lines or claim.line in lines)]
    return {"problem": problem, "claims": [check_claim(claim, WITNESSES[witness]) for claim in chosen]}


def find_problem(script: Path) -> dict[str, Any] | None:
    """Load a script. Return what is wrong with it, or None."""
    try:
        problem = load_script(script)
    except (RecursionError, SyntaxError):  # a text nested so deeply that not even the claim at fault is found
        del claims.LOADED[:]
        return {"line": 0, "message": TOO_DEEP, "claim": None, "code": "too-deep"}
    return problem and problem._asdict()


def check_claim(claim: Claim, ask: Callable[[Claim], Verdict]) -> dict[str, Any]:
    """Return a witness's verdict on a claim as a record. Its message is empty unless the verdict is "rejected"."""
    start = time.perf_counter()
    record: dict[str, Any] = {"latex": "", "id": claim.id, "line": claim.line, "kind": claim.kind, "title": claim.title}
    try:
        record["latex"] = claim_latex(claim)
        verdict = ask(claim)
        found = {
            "verdict": verdict.verdict,
            "scope": verdict.scope,
            "note": verdict.note,
            "message": "",
            "source": verdict.source,
            "code": "",
        }
    except Rejected as error:
        found = reject(error.message, error.code)
    except KernelError as error:
        found = reject(str(error), error.code)
    except RecursionError:
        found = reject(TOO_DEEP, "too-deep")
    except MemoryError:
        found = reject("checking it took more memory than this browser allows; split it into smaller steps", "too-much-memory")
    return record | found | {"seconds": time.perf_counter() - start}


def reject(message: str, code: str) -> dict[str, str]:
    """Return the verdict of a witness that rejects a claim. The code "false-claim" says that it found a counterexample."""
    return {"verdict": "rejected", "scope": "", "note": "", "message": message, "source": "", "code": code}
