"""Check the claims of a script's text by one witness.

A witness that proves a claim here does not accept it: acceptance needs a second witness, and a run of the code that the claim names.
"""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from ..core import claims
from ..core.claims import Claim, Rejected, Verdict
from ..errors import KernelError
from ..exact.witness import exact
from ..script.claim_latex import claim_latex
from ..script.loading import TOO_DEEP, Problem, load_script


def ask_sympy(claim: Claim) -> Verdict:
    """Return the SymPy witness's verdict. Raise Rejected if it rejects the claim. SymPy is fetched only when it is asked."""
    from ..sympy.witness import judge

    return judge(claim)


WITNESSES: dict[str, Callable[[Claim], Verdict]] = {"exact": exact, "sympy": ask_sympy}


def check_text(path: str, text: str, witness: str = "exact", ids: Collection[str] = (), lines: Collection[int] = ()) -> dict[str, Any]:
    """Return what a witness says of the claims of a script, given its path and text. Messages name the lines of this text.

    With `ids` or `lines`, only the claims with these ids, or that begin on these lines, are checked. The result has two parts: "problem",
    which is None unless the script stops with an error, and "claims", with the verdict of each claim that was stated before.
    """
    problem, stated = load_text(path, text)
    chosen = [claim for claim in stated if (not ids or claim.id in ids) and (not lines or claim.line in lines)]
    return {"problem": problem and problem._asdict(), "claims": [check_claim(claim, WITNESSES[witness]) for claim in chosen]}


def load_text(path: str, text: str) -> tuple[Problem | None, list[Claim]]:
    """Load a script, given its path and text. Return what is wrong with it, or None, and the claims that it states before it stops."""
    script = Path(path)
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(text, encoding="utf-8")
    linecache.checkcache(path)  # it may keep the lines of an earlier text
    try:
        problem = load_script(script)
    except (RecursionError, SyntaxError):  # a text nested so deeply that not even the claim at fault is found
        return Problem(0, TOO_DEEP, None, code="too-deep"), []
    return problem, claims.LOADED[0].claims if claims.LOADED else []


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
