"""The base class of the kernel's errors, and advice for common mistakes in scripts, such as a misspelt name or == between expressions."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from dis import opmap
from inspect import signature
from types import FrameType, TracebackType

VOCABULARY: list[str] = []  # the names that a script may use; the `__init__` of the kernel fills it


# Every code of an error, and what it says is wrong. Tests assert codes, so that the wording of messages can change freely.
CODES = {
    # scripts and names
    "equality-operator": "A script compares expressions with == or !=, which compare trees and not values.",
    "order-operator": "A script compares expressions with <, <=, > or >=.",
    "not-an-expression": "A value is not exact or not an expression, such as a float, a text or a list.",
    "invalid-name": "A name is not letters and digits with at most one subscript.",
    "reserved-name": "A name has another meaning in formulas, such as e or exp.",
    "ambiguous-name": "One name stands for two things.",
    "reads-as-entry": "A name reads as an entry of a tensor, such as z_1 next to a vector z.",
    "reads-as-transpose": "An exponent reads as a transpose.",
    "reads-as-imaginary-unit": "A name in an exponent of e reads as the imaginary unit.",
    "reads-as-sum-or-product": "A name reads as the sign of a sum or a product.",
    "printed-alike": "Two different expressions have the same printed form.",
    "not-printable": "There is no way to print an expression.",
    "unknown-operator": "There is no operator of this name.",
    "unknown-function": "There is no function of this name.",
    "unknown-format": "There is no number format of this name.",
    "unknown-keyword": "A call has a keyword that the method does not take.",
    "wrong-arguments": "A call has too few or too many arguments.",
    "invalid-argument": "An argument has the wrong form, such as given=x in place of given=[...].",
    # shapes and indices
    "wrong-shape": "An expression or a value has the wrong shape, such as a vector where a scalar is needed.",
    "mismatched-shapes": "The shapes of two expressions do not fit together.",
    "mismatched-sides": "The two sides of a claim have different shapes.",
    "not-an-array": "Nested lists are not a tensor, because they are empty or their lengths differ.",
    "not-a-size": "A size is not a positive integer or a symbol from sizes(...).",
    "conflicting-sizes": "The given values disagree about a size.",
    "not-an-index": "Something other than an index is used as one.",
    "open-index": "An index is open where none may be.",
    "not-a-condition": "Something other than a comparison of indices, sizes and integers is used as a condition.",
    "repeated-index": "One index is bound twice.",
    "index-taken": "An index cannot be renamed, because the new name is taken.",
    "index-out-of-range": "An index may lie outside its axis.",
    "index-of-another-size": "An index and an axis have different sizes.",
    "wrong-number-of-indices": "A tensor has more or fewer axes than there are indices.",
    "ambiguous-product": "A factor comes from another system, such as SymPy, in which this product could mean a matrix product.",
    "not-real": "A real number is needed.",
    "invalid-derivative-variable": "A derivative is taken with respect to something other than a real scalar symbol or one entry of a real symbol.",
    # the statement of a claim
    "invalid-id": "An id is not lower-case words joined by hyphens.",
    "id-taken": "An earlier claim has the same id.",
    "invalid-step": "A step of a chain is not a pair of an expression and a reason.",
    "invalid-text": "A title or a reason is not text that a page can show.",
    "invalid-limit-variable": "A limit is taken in something other than a size or a scalar symbol.",
    "unknown-relation": "A refutation names a relation other than = and <=.",
    "unchecked-topic": "A claim uses a topic that is not checked or does not hold.",
    "unknown-claim": "A claim uses something that is not an earlier claim that holds.",
    "circular-uses": "Topics use each other in a cycle.",
    "idle-definition": "A definition is neither used in another claim nor compared with code.",
    "late-definition": "A name is defined twice, or used before its definition.",
    "not-a-symbol": "A symbol is needed.",
    "not-random": "A random symbol is needed.",
    "not-zero-or-one": "This symbol cannot be assumed to be 0 or 1.",
    "random-not-allowed": "A random expression is used where only fixed ones are allowed.",
    "independent-of-itself": "An assumption says that a random symbol is independent of itself.",
    "stated-twice": "An assumption gives a second value for the same mean or variance.",
    "unrelated-random": "A random symbol occurs only in assumptions.",
    "wrong-steps": "The steps of a claim do not fit its kind.",
    # claims from SymPy
    "unknown-sympy-node": "A SymPy object, such as a Dummy, has no counterpart in the claim language.",
    "unknown-sympy-assumption": "SymPy assumes something about a symbol that the claim language cannot express.",
    "unknown-distribution": "A distribution or a condition of SymPy has no counterpart in the claim language.",
    "not-stated-real": "A SymPy symbol is not stated to be real.",
    "decided-by-sympy": "SymPy has replaced a relation by True or False.",
    "changed-by-sympy": "SymPy has changed an expression whose content it does not know.",
    "wrong-relation": "A relation is not of the kind that the claim states.",
    "strict-inequality": "A strict inequality cannot be stated.",
    "ambiguous-matrix-operation": "An operation on matrices could be entrywise or an operation on the whole matrix.",
    "unknown-range": "A SymPy index or sum does not run from 1 to n or from 0 to n - 1.",
    "shifted-index": "An index counts from 0 where entries count from 1, or the other way round.",
    "unknown-shape": "A SymPy tensor has no shape.",
    # proofs
    "vacuous": "Both sides are the same expression.",
    "false-claim": "There is a counterexample.",
    "not-proved": "The proof does not go through, and no counterexample was found.",
    "not-supported": "The exact witness does not support this combination of operators.",
    "assumption-missing": "The proof uses an assumption that is not stated.",
    "assumption-not-needed": "The claim holds without an assumption.",
    "assumption-too-strong": "A weaker assumption is enough.",
    "need-not-shown": "The proof needs an assumption, but no counterexample without it was found.",
    "assumption-about-index": "An assumption about an index is meant about its size.",
    "assumption-about-limit-variable": "An assumption is about the variable of a limit.",
    "contradictory-assumptions": "No values satisfy all assumptions.",
    "impossible-sizes": "At some sizes no values satisfy all assumptions.",
    "single-value": "The assumptions leave one value only.",
    "no-certificate": "An inequality or a bound on a rank lacks the expression that proves it.",
    "wrong-certificate": "The certificate differs from the expression that it should equal.",
    "repeated-difference": "The certificate repeats the difference of the two sides.",
    "sign-not-visible": "The certificate is not visibly nonnegative.",
    "negative-certificate": "The certificate is negative at some values.",
    "unknown-expectation": "The assumptions do not determine an expectation.",
    "unknown-derivative": "A derivative is not known.",
    "no-derivative": "A function without a derivative is differentiated.",
    "wrong-limit": "The limit has another value.",
    "no-finite-limit": "There is no finite limit.",
    "unknown-limit": "The exact witness knows no rule for a limit of this kind.",
    "limit-depends-on-variable": "The stated limit contains the variable of the limit.",
    "rounding-in-limit": "A rounded value depends on the variable of a limit.",
    # values and counterexamples
    "no-counterexample": "The relation holds at the given values.",
    "broken-assumption": "The given values break an assumption.",
    "missing-value": "No value is given for a symbol.",
    "unused-value": "A value is given for something that the claim does not mention.",
    "value-not-allowed": "A value is given for a random symbol or for the variable of a limit.",
    "counterexample-too-large": "A counterexample has too many numbers.",
    "without-unstated-assumption": "without={...} names an assumption that is not stated.",
    "without-for-law": "without={...} is given for a claim about expectations.",
    "undefined-value": "An expression has no value, as after a division by zero.",
    "not-settled": "A value cannot be settled or computed exactly.",
    # other witnesses
    "numbers-disagree": "The two sides have different values.",
    "no-definite-value": "A side of a law has different values for distributions that all satisfy the assumptions.",
    "missing-moment": "Nothing states that a moment exists.",
    "overflow": "A rounded number overflows.",
    "not-decided-by-numbers": "Numbers cannot decide the claim.",
    "sympy-disagrees": "SymPy does not confirm the claim.",
    "not-for-sympy": "SymPy cannot state or decide the claim.",
    "contradicting-witnesses": "The witnesses contradict each other.",
    "no-proof": "No witness proves the claim.",
    "no-second-witness": "Fewer than two witnesses vouch for the claim.",
    # snippets
    "snippet-not-found": "There is no such function.",
    "snippet-not-run": "A snippet did not run at two shapes or points.",
    "snippet-wrong-with-leading-axes": "A snippet computes something else with more or fewer of the leading axes that its annotation allows.",
    "snippet-stops": "A snippet stops with an error.",
    "snippet-operation-missing": "PyTorch lacks an operation of the snippet in this format.",
    "snippet-wrong-value": "A snippet computes numbers that differ from the claim's.",
    "snippet-wrong-shape": "A snippet returns a shape that differs from the claim's.",
    "snippet-wrong-dtype": "A snippet returns numbers of an unexpected type.",
    "snippet-wrong-result": "A snippet does not return a tensor or a number where one is expected.",
    "snippet-changes-arguments": "A snippet changes its arguments or an earlier result.",
    "snippet-not-repeatable": "A snippet returns another result when it is called again.",
    "snippet-keeps-state": "A snippet keeps something from one call to the next.",
    "snippet-draws-at-random": "A snippet draws from a shared random generator.",
    "leaked-answer": "code=[...] gives a snippet the answer that it should compute.",
    "computes-something-else": "The code computes something other than the claim says.",
    "code-not-read": "The code cannot be read as a formula.",
    "size-not-numeric": "The code can only be read with numbers for its sizes.",
    "code-not-shown": "The code that runs is not the code that a page shows.",
    "bound-twice": "A module binds a name twice.",
    "not-python": "A file is not valid Python.",
    # the command line, stored results and other machines
    "script-stopped": "A script stops with an error.",
    "no-derivation": "A script makes no Derivation, or more than one.",
    "no-claim": "A derivation states no claim.",
    "too-deep": "An expression is nested too deeply.",
    "too-much-memory": "Checking a claim takes too much memory.",
    "witness-broke": "A witness has an internal error.",
    "unusable-result": "A stored result must not be used.",
    "missing-result": "There is no stored result.",
    "different-result": "A result that is computed again differs from the stored one.",
    "not-a-folder": "An address is not a folder.",
    "not-a-site": "A folder is not a build of the site.",
    "unknown-commit": "Git does not know a commit.",
    "git-missing": "Git cannot be run.",
    "unusable-cluster": "A cluster cannot be used.",
    "no-scheduler": "No Dask scheduler answers.",
    "no-worker": "A cluster has no worker.",
    "worker-broken": "A worker cannot load the project or start processes.",
    "cluster-lost": "The connection to a cluster is lost.",
    "different-checkout": "A worker has other files or libraries.",
    "not-parsed": "A text cannot be parsed as an expression.",
}


class KernelError(Exception):
    """An error in a script or a claim. The message says what is wrong and what to do next; the code names the kind of mistake.

    A subclass may have a default code. Raise ValueError for a code that is not in CODES.
    """

    code = ""

    def __init__(self, message: str, code: str = ""):
        super().__init__(message)
        self.code = code or type(self).code
        if self.code not in CODES:
            raise ValueError(f"errors.py lists no code {self.code!r}")


def quantity(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural if needed: "1 claim", "2 claims"."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def suggest_names(name: str, known: Iterable[str], has: str) -> str:
    """Return a text that suggests the closest known name, if one is close, and then lists all. `has` introduces the list, as "it takes"."""
    known = list(known)
    close = get_close_matches(name, known, n=1)
    return (f"did you mean {close[0]}? {has[0].upper()}{has[1:]} " if close else f"{has} ") + ", ".join(known)


# The methods of other libraries, and what to write instead.
INSTEAD = {
    "sum": "a sum is written total(x[i], i), with i = index('i', n)",
    "mean": "a mean is written total(x[i], i) / n, with i = index('i', n); an expectation E(x)",
    "var": "a variance is written Var(x)",
    "max": "the largest entry of a vector is written largest(x)",
    "amax": "the largest entry of a vector is written largest(x)",
    "abs": "an absolute value is written absolute(x)",
    "dot": "a product is written a @ b",
    "mm": "a product is written a @ b",
    "matmul": "a product is written a @ b",
    "t": "a transpose is written A.T",
    "mT": "a transpose is written A.T",
    "transpose": "a transpose is written A.T",
    "inv": "an inverse is written inverse(A)",
    "pow": "a power is written x**2",
    "grad": "a derivative is written diff(y, x)",
}

# The beginnings of the messages of Python's own functions when they get an expression, and what to write instead.
NOT_NUMBERS = {
    "bad operand type for abs()": INSTEAD["abs"],
    "must be real number, not Expr": "the functions of derivations.kernel take expressions: exp, log, sqrt, cos, sin, tanh",
    "unsupported operand type(s) for ^": "a power is written x**2",
}
NOT_PYTHON = {"invalid decimal literal": "; a product is written with a sign, as in 2 * x"}  # what to add to Python's message


def explain(error: BaseException) -> str:
    """Return the message of an error that a line of a script raised, followed by what to write instead, if that is known."""
    if isinstance(error, (NameError, ImportError)) and not isinstance(error, AttributeError):
        return unknown_name(error)
    if isinstance(error, AttributeError) and type(error.obj).__module__.startswith("derivations.kernel."):
        return unknown_attribute(error)
    if isinstance(error, TypeError):
        return explain_type_error(str(error))
    return str(error)


def unknown_name(error: NameError | ImportError) -> str:
    """Return the message of an error about a name that does not exist, with the name that was probably meant."""
    match = re.search(r"name '(\w+)'", str(error))
    name = match[1] if match else ""
    if isinstance(error, ImportError):
        if error.name != "derivations.kernel" or not match:
            return str(error)
        return f"derivations.kernel has no {name}; {suggest_names(name, VOCABULARY, 'it has')}"
    if name in VOCABULARY:
        return f"{error}; write 'from derivations.kernel import {name}'"
    if get_close_matches(name, VOCABULARY, n=1):
        return f"{error}; {suggest_names(name, VOCABULARY, 'the kernel has')}"
    if "·" in str(error):
        return f"{error}; a dot product is written x @ y, and another product x * y"
    return f"{error}; no line before defines it, and the kernel has no such name"


def unknown_attribute(error: AttributeError) -> str:
    """Return the message of an error about an attribute that does not exist, with what to write instead."""
    name = error.name or ""
    if type(error.obj).__name__ == "Expr":
        if name in INSTEAD:
            return f"{error}; {INSTEAD[name]}"
        if name in VOCABULARY:
            return f"{error}; write {name}(...), which is a function"
        return f"{error}; {suggest_names(name, ['T', *VOCABULARY], 'there are')}"
    methods = [method for method in dir(error.obj) if not method.startswith("_") and callable(getattr(error.obj, method))]
    return f"{error}; {suggest_names(name, methods, 'it has')}"


def explain_type_error(message: str) -> str:
    """Return the message of a TypeError with advice.

    If the message is about Python's numbers, the advice is what to write instead. If it is about a call of one of the kernel's functions,
    the advice is the function's signature and purpose.
    """
    for prefix, instead in NOT_NUMBERS.items():
        if message.startswith(prefix):
            return f"{message}; {instead}"
    name = message.partition("(")[0]
    function = getattr(sys.modules.get("derivations.kernel"), name, None) if name in VOCABULARY else None
    if function is None:
        return message
    plain = str(signature(function)).partition(" -> ")[0]
    purpose = (function.__doc__ or "").partition("\n")[0]
    return f"{message}; write {name}{re.sub(': [^,)]+', '', plain)}: {purpose[:1].lower()}{purpose[1:]}"


def raised_in_script(trace: TracebackType | None) -> bool:
    """Return whether a line of a script raised the error itself, rather than code that it called. Python's import machinery is ignored."""
    last = ""
    while trace:
        if not trace.tb_frame.f_code.co_filename.startswith("<frozen"):
            last = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    return is_script(last)


class Scripts:
    """The state that decides whether a comparison of expressions is an error. `watched` is true while scripts may run."""

    watched = True

    def check_comparison(self, frame: FrameType) -> None:
        """Raise KernelError if the frame is at an == or != of a script, whose author means values while Python compares trees.

        Looking a symbol up in a dictionary compares trees as well, so only the operator is an error.
        """
        if is_script(frame.f_globals.get("__name__", "")) and frame.f_code.co_code[frame.f_lasti] == opmap["COMPARE_OP"]:
            raise KernelError(
                "== and != compare trees here, not values, so they are refused. For a Kronecker delta write eye(n)[i, l]; "
                "to claim that two sides are equal write derivation.identity(id, left, right), or derivation.refute that they are not",
                code="equality-operator",
            )


def is_script(module: str) -> bool:
    """Return whether a module of this name is a script: run by `check`, run on its own, or imported by another script."""
    in_topics = module.startswith("derivations.") and not module.startswith("derivations.kernel")
    return in_topics or module in ("derivation", "__main__")


scripts = Scripts()
