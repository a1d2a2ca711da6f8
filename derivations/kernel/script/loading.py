"""Load a script: run it, and find out which of its lines is at fault if it fails."""

from __future__ import annotations

import ast
import gc
import linecache
import runpy
import traceback
from pathlib import Path
from typing import NamedTuple

from ..core import claims
from ..core.claims import Rejected
from ..errors import NOT_PYTHON, KernelError, explain, raised_in_script, scripts

TOO_DEEP = "the expression is nested too deeply to check; split it with define"
GC_THRESHOLD = 10**6  # the number of new objects after which the garbage collector runs


class Problem(NamedTuple):
    """What is wrong with a script: the line, the message, the id of the claim on this line, if there is one, and the code of the error."""

    line: int
    message: str
    claim: str | None
    code: str


def load_script(path: Path) -> Problem | None:
    """Run a script, which puts its derivation into `claims.LOADED`. Return the problem if the script fails, otherwise None."""
    del claims.LOADED[:]
    scripts.watched = True
    try:
        runpy.run_path(str(path), run_name="derivation")
    except Rejected as error:
        return Problem(error.line, error.message, error.claim, error.code)
    except KernelError as error:
        return locate_error(path, error, str(error), code=error.code)
    except SyntaxError as error:
        return Problem(error.lineno or 0, f"this is not Python: {error.msg}{NOT_PYTHON.get(error.msg, '')}", None, code="not-python")
    except BaseException as error:  # a script is arbitrary Python, and all its errors must be reported
        if isinstance(error, KeyboardInterrupt):
            raise
        reason = explain(error) if raised_in_script(error.__traceback__) else error
        return locate_error(path, error, f"the script stopped with {type(error).__name__}: {reason}", code="script-stopped")
    finally:
        scripts.watched = False
    if len(claims.LOADED) != 1:
        return Problem(0, f"a script makes one Derivation; this one makes {len(claims.LOADED)}", None, code="no-derivation")
    if not claims.LOADED[0].claims:
        return Problem(claims.LOADED[0].line, "the derivation states no claim", None, code="no-claim")
    return None


def locate_error(path: Path, error: BaseException, message: str, code: str) -> Problem:
    """Return the problem of a script that an error stopped: its line, the message, the id of the claim on this line, and the code."""
    line = last_line_in(path, error)
    return Problem(line, message, find_claim_at(path, line), code)


def find_claim_at(path: Path, line: int) -> str | None:
    """Return the id of the claim that a line states, or None if the line states no claim. Only the text of the script is read."""
    for node in ast.walk(ast.parse("".join(linecache.getlines(str(path))))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.lineno <= line <= (node.end_lineno or 0):
            match node.func.value, node.args:
                case ast.Name(), [ast.Constant(str(id)), *_] if node.func.attr != "define":  # its first argument is a name, not an id
                    return id
    return None


def last_line_in(path: Path, error: BaseException) -> int:
    """Return the last line of the script itself in an error's traceback, or 0 if there is none."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return lines[-1] or 0 if lines else 0


def collect_garbage_rarely() -> None:
    """Make the garbage collector run rarely, and exclude existing objects from it.

    Few of a script's objects need to be freed before it ends.
    """
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)
