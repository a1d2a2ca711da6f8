"""Reads the values that an author gives, for a counterexample or in `without`, and explains what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from typing import Any

from ..core.assumptions import Assumption, describe_assumption
from ..core.claims import Claim
from ..core.expr import Expr, free_indices, matmul, show, symbols, walk
from ..core.operators import BINDERS, INDEXED
from ..errors import KernelError
from ..printing.plain_text import show_shape
from ..printing.script_text import script
from . import exact_evaluation, flint_numbers
from .counterexample_search import Counterexample, find_failing_sides, is_satisfied, select_shown_values, show_array
from .flint_numbers import Undefined


class ProofFailed(KernelError):
    """Raised when the exact witness does not accept a relation. `proposed` are assumptions that may help, as a script writes them."""

    code = "not-proved"

    def __init__(self, message: str, code: str = "", proposed: Iterable[str] = ()) -> None:
        super().__init__(message, code)
        self.proposed = tuple(proposed)


def read_values(claim: Claim, at: tuple | None = None) -> dict:
    """Return given values as an environment for evaluation, with sizes read off the shapes of arrays. Raise Fails if they do not fit."""
    given = dict(claim.at if at is None else at)
    symbols_by_name = {n.data[0]: n for tree in claim.trees for n in walk(tree) if n.op == "symbol"}
    symbols_by_name |= {s.data[0]: s for n in list(symbols_by_name.values()) for s in n.shape if s.op == "symbol"}
    symbols_by_name |= {
        n.data[1].data[0]: n.data[1] for tree in claim.trees for n in walk(tree) if n.op in INDEXED and n.data[1].op == "symbol"
    }
    indices = {i.data[0]: i for tree in (claim.start, *(s.expr for s in claim.steps)) for i in free_indices(tree)}
    env: dict = {}
    sizes = KnownSizes()
    for name, value in given.items():
        if name in indices and name not in symbols_by_name:
            continue
        if name not in symbols_by_name:
            raise ProofFailed(f"a value is given for {name}, which {explain_unused_name(claim, name)}", code="unused-value")
        s = symbols_by_name[name]
        if s.data[1] == "random":
            raise ProofFailed(f"{name} is random and has no value; state its distribution with given=[...]", code="value-not-allowed")
        if s.data[1] == "size":
            if not isinstance(value, Expr) or value.op != "const" or value.data.denominator != 1 or value.data < 1:
                raise ProofFailed(f"the size {name} is a positive integer", code="not-a-size")
            sizes.agree(s, int(value.data), f"{name} = {value.data} is given")
            continue
        entries = dict(flatten_value(value, ()))
        right_depth = entries and all(len(p) == len(s.shape) for p in entries)
        lengths = tuple(1 + max(p[k] for p in entries) for k in range(len(s.shape))) if right_depth else ()
        if not right_depth or len(entries) != prod(lengths):
            raise ProofFailed(f"the value of {name} is not an array of shape {show_shape(s.shape)}", code="wrong-shape")
        for axis, (size, length) in enumerate(zip(s.shape, lengths)):
            sizes.agree(size, length, f"{name} has {describe_length(length, s, axis)}")
        env[name] = entries
    env |= sizes.known
    lacking = sorted(n for n in set(symbols_by_name) - set(env) if symbols_by_name[n].data[1] != "random")
    if lacking:
        raise ProofFailed(f"no value is given for {', '.join(lacking)}", code="missing-value")
    return env | {("index", name): read_index_value(indices[name], given[name], env) for name in indices if name in given}


def describe_length(length: int, s: Expr, axis: int) -> str:
    """Return a number of rows, columns or entries in words."""
    singular, plural = [("row", "rows"), ("column", "columns")][axis] if len(s.shape) == 2 else ("entry", "entries")
    return f"{length} {singular if length == 1 else plural}"


class KnownSizes:
    """Values of sizes by name, with the reason for each."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self.reasons: dict[str, str] = {}

    def agree(self, size: Expr, length: int, because: str) -> None:
        """Record the value of a size. Raise Fails if it differs from a value recorded earlier."""
        if size.op == "const" and size.data != length:
            raise ProofFailed(f"the values disagree about the size {show(size)}: {because}", code="conflicting-sizes")
        if size.op == "const":
            return
        name = size.data[0]
        if self.known.setdefault(name, length) != length:
            raise ProofFailed(f"the values disagree about the size {name}: {self.reasons[name]}, and {because}", code="conflicting-sizes")
        self.reasons.setdefault(name, because)


def explain_unused_name(claim: Claim, name: str) -> str:
    """Return why no value can be given to this name."""
    if binders := [n.op for tree in claim.trees for n in walk(tree) if n.op in BINDERS and n.data[0] == name]:
        return f"is {'summed over' if 'sum' in binders else 'what each(...) runs over'}: it takes each of its values"
    if any(i.data[0] == name for a in claim.given for x in a.args for i in free_indices(x)):
        return "stands in an assumption only: that is about each of its values"
    return "the claim does not mention"


def read_index_value(index: Expr, value: Any, env: dict) -> int:
    """Return the value given to an index, counted from 0. Raise Fails if it is out of range."""
    name, size = index.data
    most = exact_evaluation.evaluate_size(size, env)
    if not isinstance(value, Expr) or value.op != "const" or value.data not in range(1, most + 1):
        raise ProofFailed(
            f"the index {name} takes the values 1 to {show(size)}, which is {most} here, and {format_value(value)} is not one of them",
            code="index-out-of-range",
        )
    return int(value.data) - 1


def format_value(value: Any) -> str:
    """Return a given value as text."""
    return f"[{', '.join(map(format_value, value))}]" if isinstance(value, tuple) else show(value)


def flatten_value(value: Any, where: tuple) -> Iterator[tuple]:
    """Yield (place, number) for each entry of a given value. Raise Fails if an entry is not a real number."""
    if isinstance(value, tuple):
        for k, v in enumerate(value):
            yield from flatten_value(v, where + (k,))
    else:
        try:
            number_ = exact_evaluation.evaluate(value, {}).get(())
        except KeyError as error:
            raise ProofFailed(f"a value holds {describe_missing_value(error)}, which has no value itself", code="missing-value") from None
        except Undefined as error:
            raise ProofFailed(f"a value is undefined: {error}", code="undefined-value") from None
        if number_ is None or flint_numbers.is_complex(number_):
            raise ProofFailed(f"the value {show(value)} is not a real number", code="not-real")
        yield where, number_


def describe_missing_value(error: KeyError) -> str:
    """Return what an evaluation lacked a value for, in words."""
    kind, *about = error.args[0] if isinstance(error.args[0], tuple) else ("name", error.args[0])
    if kind == "moment" and about[1] == 1:
        return f"E[{about[0]}]"
    return {"index": "the index {}", "moment": "E[{}^{}]"}.get(kind, "{}").format(*about)


def sketch_values(claim: Claim) -> str:
    """Return the beginning of what an author writes to give values to the claim's symbols."""
    in_claim = symbols(claim.start, *(s.expr for s in claim.steps)).values()
    real = [s for s in in_claim if s.data[1] == "real" and s not in claim.towards]  # the variable of a limit has no value
    return ", ".join(f"{s.data[0]}: ..." for s in sorted(real, key=lambda s: s.data[0]))


def assumption_to_script(a: Assumption) -> str:
    """Return an assumption as a script writes it."""
    name = {"product": "product_is", "in range": "in_range", "moment": "has_moment"}.get(a.kind, a.kind)
    return f"{name}({', '.join(map(script, a.args))})"


# Messages about values that are no counterexample


VIOLATIONS = {"positive": "is not positive", "nonnegative": "is negative", "nonzero": "is zero", "representable": "is no such number"}
HOLDS = {"=": "both sides are equal", "<=": "the left side is at most the right one"}
UNSETTLED = {"=": "the two sides are not certainly different", "<=": "the left side is not certainly larger than the right one"}


def explain_no_counterexample(left: Expr, right: Expr, given: tuple, relation: str, env: dict) -> ProofFailed:
    """Return why these values are no counterexample: a violated assumption, an undefined side, or two sides that agree."""
    for a in given:
        if reason := explain_violation(a, env, left, right):
            return ProofFailed(reason, code="broken-assumption")
    sides = []
    for which, e in (("left", left), ("right", right)):
        try:
            sides.append(exact_evaluation.evaluate(e, env))
        except Undefined as error:
            return ProofFailed(f"the {which} side is undefined at the given values: {error}", code="undefined-value")
        except KeyError as error:
            what = describe_missing_value(error)
            index = what.removeprefix("the index ")
            remedy = f"; give it one of 1, 2, ... with at={{{index}: 1}}" if index != what else ""
            return ProofFailed(f"no value is given for {what}{remedy}", code="missing-value")
    return compare_sides(relation, *sides)


def compare_sides(relation: str, left: dict, right: dict) -> ProofFailed:
    """Return what the two sides are at the given values, where they do not show that the relation fails."""
    equal = (
        left.keys() == right.keys()
        and not any(flint_numbers.certainly_differ(left[p], right[p]) for p in left)
        and all_rational(left)
        and all_rational(right)
    )
    holds = equal or relation == "<=" and all_rational(left) and all_rational(right)
    return ProofFailed(
        f"at the given values {(HOLDS if holds else UNSETTLED)[relation]}: {show_array(left)} {'=' if equal else 'and'} {show_array(right)}",
        code="no-counterexample" if holds else "not-settled",
    )


def all_rational(entries: dict) -> bool:
    """Return whether all entries are rational."""
    return all(isinstance(v, flint_numbers.fmpq) for v in entries.values())


def explain_violation(a: Assumption, env: dict, left: Expr, right: Expr) -> str:
    """Return how the values violate an assumption; '' if they do not."""
    try:
        if is_satisfied(a, env, left, right):
            return ""
    except Undefined as error:
        return f"the values break an assumption: '{describe_assumption(a)}' has no meaning there, because of {error}"
    except (KernelError, KeyError):
        return ""
    return f"the values break an assumption: {describe_assumption(a)}{describe_violation(a, env)}"


def describe_violation(a: Assumption, env: dict) -> str:
    """Return the value of an assumption's expression where it is violated, in words."""
    if a.kind in VIOLATIONS:
        free = sorted(free_indices(a.args[0]), key=lambda i: i.data[0])
        for chosen in product(*(range(exact_evaluation.evaluate_size(i.data[1], env)) for i in free)):
            indexed = env | {("index", i.data[0]): k for i, k in zip(free, chosen)}
            if not sign_holds(a, indexed):
                where = "".join(f", {i.data[0]} = {k + 1}" for i, k in zip(free, chosen))
                return f"; there {show(a.args[0])} = {show_array(exact_evaluation.evaluate(a.args[0], indexed))}{where}"
    if a.kind == "product":
        both = matmul(*a.args[:2])
        return f"; there it is {show_array(exact_evaluation.evaluate(both, env))}"
    return ""


def sign_holds(a: Assumption, env: dict) -> bool:
    """Return whether an assumption about a sign holds at one value of its indices."""
    v = exact_evaluation.evaluate(a.args[0], env)[()]
    return bool({"positive": v > 0, "nonnegative": v >= 0, "nonzero": v != 0}.get(a.kind, True))


def find_failure_at(left: Expr, right: Expr, given: tuple, relation: str, env: dict) -> Counterexample | None:
    """Return a counterexample without an assumption at the given values and some value of each open index, or None."""
    for indexed in iterate_index_values(env, left, right):
        sides = find_failing_sides(left, right, given, relation, indexed, undefined=True)
        if sides:
            return Counterexample(select_shown_values(indexed, left, right), *sides)
    return None


def iterate_index_values(env: dict, left: Expr, right: Expr) -> Iterator[dict]:
    """Yield the environment with each value of the free indices that it leaves open."""
    free = [i for i in free_indices(left) | free_indices(right) if ("index", i.data[0]) not in env]
    free.sort(key=lambda i: i.data[0])
    for chosen in product(*(range(exact_evaluation.evaluate_size(i.data[1], env)) for i in free)):
        yield env | {("index", i.data[0]): k for i, k in zip(free, chosen)}
