"""Decide whether a claim's code computes what the claim says, at which shapes, and under which conditions.

`check_code` gives the verdict on all calls of a claim, `check_call` on one of them, and `trace_call` on one trace of a call.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from inspect import unwrap
from typing import Any

from torch import Tensor

from ..core.assumptions import Assumption
from ..core.claims import EVERY_SHAPE, SNIPPET, Claim, Rejected, Step
from ..core.expr import Expr, lift, show, symbols, walk
from ..exact.assumption_consistency import certainly_holds, has_example, list_size_assumptions
from ..exact.counterexample_search import SIGNS, list_sizes_to_try
from ..script.tree_data import describe_call, write_data
from . import (
    autograd_rules,
    axis_part_rules,
    boolean_values,
    creation_rules,
    gather_rules,
    matmul_rules,
    pointwise_rules,
    reduction_rules,
    reshape_rules,
)
from .call_arguments import CallArguments, function, module_and_name, substitute
from .comparison import compare_with_tree
from .errors import ComputesSomethingElse, NotRead
from .python_subset import find_violation
from .size_conditions import Guard
from .size_queries import inspected_by_operations_only, recorded_queries
from .symbolic_sizes import SYMBOLS, Sizes
from .tensor_values import TensorValue
from .tracing import Trace, run_traced

OPERATIONS = (
    autograd_rules,
    axis_part_rules,
    gather_rules,
    creation_rules,
    pointwise_rules,
    matmul_rules,
    reduction_rules,
    reshape_rules,
    boolean_values,
)  # imported because they register their rules
SIZES_TRIED = (1, 2, 3)  # values of a size that has to be a number
FEW_SHAPES_FROM = 4  # from so many such sizes on, fewer shapes are tried
MAX_TRACES_AT_ONE = 16  # traces of one call with a size that is 1
INDICES = "ijklrstuvw"  # names for indices in conditions


@dataclass
class CallVerdict:
    """The verdict on one call."""

    state: str  # "proved", "not read" or "different"
    scope: str = ""  # "every shape", or the shapes
    conditions: list[str] = field(default_factory=list)  # under which it is proved
    constants: list[str] = field(default_factory=list)  # floats, and the numbers they are read as
    reason: str = ""  # why it is not read, or where it differs
    line: str = ""  # the file and line of what is not read
    formula: Expr | None = None  # what the call computes at every shape, if one expression says it
    seconds: float = 0.0


@dataclass(frozen=True)
class OpenSizes:
    """The sizes that keep one trace from being a proof at every shape."""

    names: list[str] = field(default_factory=list)  # of sizes that must be numbers, or that were compared with 1
    by_operations: frozenset[str] = frozenset()  # those that only PyTorch's operations inspected


@dataclass
class TracesAtOne:
    """The number of times that one call was traced again with a size that is 1."""

    count: int = 0


@dataclass(frozen=True)
class CodeVerdict:
    """The verdict on the code of one claim."""

    state: str  # "proved", "not read" or "not named"
    scope: str = ""  # "every shape", or the shapes; "" if it is not proved
    conditions: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    reason: str = ""
    formulas: tuple[dict, ...] = ()  # for each call whose result is one expression: the call, its name, and the expression as data
    seconds: float = 0.0


def check_code(claim: Claim) -> CodeVerdict:
    """Return the verdict on the code of a claim. Raise Rejected if a call computes something other than the claim says."""
    if not claim.code:
        return CodeVerdict("not named")
    verdicts = [check_call(claim, k) for k in range(len(claim.code))]
    for (name, *_), verdict in zip(claim.code, verdicts):
        if verdict.state == "different":
            home = f" ({verdict.line})" if verdict.line else ""
            raise Rejected(
                claim.file,
                claim.line,
                claim.id,
                f"its code computes something else, {name}{home}: {verdict.reason}",
                code="computes-something-else",
            )
    seconds = round(sum(verdict.seconds for verdict in verdicts), 3)
    reasons = [
        f"{name}: {verdict.reason}" + f" ({verdict.line})" * bool(verdict.line)
        for (name, *_), verdict in zip(claim.code, verdicts)
        if verdict.reason
    ]
    if reasons:
        return CodeVerdict("not read", reason=reasons[0], seconds=seconds)
    scopes = list(dict.fromkeys(verdict.scope for verdict in verdicts if verdict.scope != EVERY_SHAPE))
    conditions = tuple(dict.fromkeys(one for verdict in verdicts for one in verdict.conditions))
    constants = tuple(dict.fromkeys(one for verdict in verdicts for one in verdict.constants))
    formulas = tuple(
        {"call": describe_call(call), "name": call[0], "expression": write_data(verdict.formula)}
        for call, verdict in zip(claim.code, verdicts)
        if verdict.formula is not None
    )
    return CodeVerdict("proved", "; ".join(scopes) or EVERY_SHAPE, conditions, constants, formulas=formulas, seconds=seconds)


def check_call(claim: Claim, k: int) -> CallVerdict:
    """Return the verdict on call number k of a claim, with the time that it took."""
    start = time.perf_counter()
    verdict = outside_subset(claim.code[k]) or check_general(claim, k)
    return replace(verdict, seconds=round(time.perf_counter() - start, 3))


def check_general(claim: Claim, k: int) -> CallVerdict:
    """Trace a call with a symbol for each size. If that is not read, use numbers for the sizes in the way, and then for all sizes."""
    sizes = claim_sizes(claim)
    verdict, open_sizes = trace_call(claim, k)
    if verdict.state == "proved":
        return check_at_one(claim, k, verdict, open_sizes, sizes, TracesAtOne())
    if verdict.state == "different" or not sizes:
        return verdict
    attempts = dict.fromkeys(tuple(sorted(names)) for names in (open_sizes.names, sizes) if names)
    for names in attempts:
        if found := check_at_numbers(claim, k, [name for name in names if name in sizes], sizes):
            return found if found.state != "not read" else verdict
    return verdict


def check_at_one(
    claim: Claim, k: int, verdict: CallVerdict, open_sizes: OpenSizes, sizes: dict[str, Expr], traces: TracesAtOne
) -> CallVerdict:
    """Trace a call again at size 1 for each size that it compared with 1, and add these results to its verdict.

    A trace at size 1 may compare further sizes with 1; these are set to 1 too. `sizes` are those that are still symbols: sizes that were 1
    in an earlier trace are left out. Sizes that only PyTorch's operations inspected are set to 1 together, and one by one if that gives a
    new condition.
    """
    names = [name for name in open_sizes.names if name in sizes]
    together = {name: 1 for name in names if name in open_sizes.by_operations}
    if together:
        again, _ = trace_call(at_sizes(claim, {sizes[name]: 1 for name in together}), k)
        if again.state == "different":
            return replace(again, reason=f"at {show_sizes(together)}: {again.reason}")
        if again.state == "proved" and adds_nothing(again, verdict):
            names = [name for name in names if name not in together]
    verdict = replace(verdict, conditions=[*verdict.conditions], constants=[*verdict.constants])
    scopes = [verdict.scope] * (verdict.scope != EVERY_SHAPE)
    remaining = dict(sizes)
    for name in names:
        again, more_sizes = CallVerdict("not read"), OpenSizes()
        claim_at_one, size = at_sizes(claim, {sizes[name]: 1}), remaining.pop(name)
        traces.count += 1
        if traces.count <= MAX_TRACES_AT_ONE:
            again, more_sizes = trace_call(claim_at_one, k)
        if again.state == "proved":
            again = check_at_one(claim_at_one, k, again, more_sizes, remaining, traces)
        if again.state == "different":
            return replace(again, reason=f"at {show(size)} = 1: {again.reason}")
        if again.state != "proved":
            scopes.append(f"{name} >= 2")
            continue
        scopes += [f"({again.scope} at {name} = 1)"] * (again.scope != EVERY_SHAPE)
        verdict.conditions += [f"{one} at {name} = 1" for one in again.conditions if one not in verdict.conditions]
        verdict.constants += [one for one in again.constants if one not in verdict.constants]
    return replace(verdict, scope=" and ".join(scopes) or EVERY_SHAPE)


def adds_nothing(second: CallVerdict, first: CallVerdict) -> bool:
    """Return whether a second verdict holds at every shape, with no further conditions or constants."""
    return second.scope == EVERY_SHAPE and set(second.conditions) <= set(first.conditions) and set(second.constants) <= set(first.constants)


def check_at_numbers(claim: Claim, k: int, names: list[str], sizes: dict[str, Expr]) -> CallVerdict | None:
    """Trace a call with numbers for some sizes. Return a proof at these shapes, or None if more sizes must be numbers."""
    if not names:
        return None
    proofs: list[CallVerdict] = []
    shapes: list[dict[str, int]] = []
    for shape in choose_shapes(names, claim.given):
        claim_at_shape = at_sizes(claim, {sizes[name]: n for name, n in shape.items()})
        verdict, open_sizes = trace_call(claim_at_shape, k)
        if verdict.state == "proved":
            remaining = {name: size for name, size in sizes.items() if name not in shape}
            verdict = check_at_one(claim_at_shape, k, verdict, open_sizes, remaining, TracesAtOne())
        if verdict.state == "different":
            return replace(verdict, reason=f"at {show_sizes(shape)}: {verdict.reason}")
        if verdict.state != "proved":
            return verdict if len(names) == len(sizes) else None
        proofs.append(verdict)
        shapes.append(shape)
    other_scopes = {verdict.scope for verdict in proofs} - {EVERY_SHAPE}
    scope = "; ".join(map(show_sizes, shapes)) + "".join(f", and {scope_}" for scope_ in sorted(other_scopes))
    conditions = [c for verdict in proofs for c in verdict.conditions]
    constants = [c for verdict in proofs for c in verdict.constants]
    return CallVerdict("proved", scope, list(dict.fromkeys(conditions)), list(dict.fromkeys(constants)))


def choose_shapes(names: list[str], given: tuple[Assumption, ...]) -> list[dict[str, int]]:
    """Return a few choices of values for sizes, small ones first, some of them with different values, that the assumptions allow."""
    shapes = [{name: n for name in names} for n in SIZES_TRIED]
    if len(names) > 1:
        shapes = [dict.fromkeys(names, 1), {name: 2 + j % 2 for j, name in enumerate(names)}]
        shapes += [{name: 3 - j % 2 for j, name in enumerate(names)}] * (len(names) < FEW_SHAPES_FROM)
    about = tuple(a for a in list_size_assumptions(given) if a.kind in SIGNS and set(symbols(*a.args)) <= set(names))
    allowed = [shape for shape in shapes if all(certainly_holds(a, shape) for a in about)]
    return allowed or [dict(zip(names, chosen)) for chosen in list_sizes_to_try(names, about)[: len(shapes)]]


def show_sizes(at: dict[str, int]) -> str:
    """Return sizes as text."""
    return ", ".join(f"{name} = {n}" for name, n in sorted(at.items()))


def claim_sizes(claim: Claim) -> dict[str, Expr]:
    """Return the sizes in a claim and in the arguments of its code, by name."""
    return {name: s for name, s in symbols(*claim.trees, *find_expressions(claim.code)).items() if s.data[1] == "size"}


def find_expressions(x: Any) -> Iterator[Expr]:
    """Yield the expressions in nested tuples, lists and dictionaries."""
    if isinstance(x, Expr):
        yield x
    elif isinstance(x, dict):
        yield from find_expressions(list(x.values()))
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from find_expressions(y)


def at_sizes(claim: Claim, at: dict[Expr, int]) -> Claim:
    """Return a claim with numbers for some of its sizes."""
    numbers = {size: lift(n) for size, n in at.items()}

    def convert(x: Any) -> Any:
        if isinstance(x, Expr):
            return substitute(x, numbers)
        if isinstance(x, dict):
            return {key: convert(y) for key, y in x.items()}
        return type(x)(map(convert, x)) if type(x) in (tuple, list) else x

    return replace(
        claim,
        start=convert(claim.start),
        steps=tuple(Step(s.relation, convert(s.expr), s.reason) for s in claim.steps),
        given=tuple(Assumption(a.kind, convert(a.args)) for a in claim.given),
        because=(),
        code=convert(claim.code),
    )


def trace_call(claim: Claim, k: int) -> tuple[CallVerdict, OpenSizes]:
    """Trace call number k of a claim once. Return the verdict, and the sizes that keep it from holding at every shape."""
    smallest = min(list_sizes_to_try(sorted(claim_sizes(claim)), claim.given), default=())
    sizes = Sizes(least=max(smallest, default=1))
    largest = any(n.op == "function" and n.data == "largest" for t in claim.trees for n in walk(t))
    used_names = set(symbols(*claim.trees, *find_expressions(claim.code)))
    reading = Trace(sizes, claim.given, largest, used_names)
    try:
        name, arguments, keywords = claim.code[k]
        given = CallArguments(claim, reading)
        call = given.call(name, arguments, dict(keywords))
        with recorded_queries(sizes):
            result = run_traced(lambda *tensors: call(tensors), given.tensors, reading)
        sizes.reject_fixed()
        needed = compare(result, claim, k, given, reading)
        guards = sizes.guards()
    except NotRead as error:
        names = {name for guard in guards_or_none(sizes) for name in guard.fixes}
        return CallVerdict("not read", reason=str(error), line=reading.line), OpenSizes(sorted({*names, *getattr(error, "names", ())}))
    except ComputesSomethingElse as error:
        return CallVerdict("different", reason=str(error), line=source_line(claim.code[k][0])), OpenSizes()
    except RecursionError:
        return CallVerdict("not read", reason="it is made of too many operations, one in another", line=reading.line), OpenSizes()
    except Exception as error:  # PyTorch cannot trace the call: its message is the reason
        return CallVerdict(
            "not read", reason=f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}", line=reading.line
        ), OpenSizes()
    verdict = conclude(claim, reading, guards, needed, used_names)
    if verdict.state != "proved":
        return verdict, OpenSizes()
    if len(reading.formulas) == 1:  # not a tuple of results
        verdict = replace(verdict, formula=reading.formulas[0])
    names_at_one = sorted({name for guard in guards if guard.holds_from(2) and not guard.holds_from(1) for name in guard.names})
    return verdict, OpenSizes(names_at_one, inspected_by_operations_only(names_at_one, sizes))


def conclude(claim: Claim, reading: Trace, guards: list[Guard], needed: list[str], used_names: set[str]) -> CallVerdict:
    """Return the verdict on a trace whose result is a side of the claim under the conditions `needed`.

    It is "not read" if a guard is false at the values of the trace, or if no example satisfies all conditions.
    """
    sizes = reading.sizes
    bounds = [str(guard) for guard in guards if guard.of_sizes and not guard.holds_from(2)]
    try:
        if wrong := sizes.contradicted():
            raise NotRead(f"{wrong[0]} is not so at the sizes that it was read at")
        for guard in guards:
            if not guard.of_sizes:
                reading.guarded(guard)
    except NotRead as error:
        return CallVerdict("not read", reason=str(error))
    constants = [f"{x} as {y}" for x, y in sizes.constants.read.items()]
    if reading.assumptions and not has_example(replace(claim, given=(*claim.given, *reading.assumptions)), sides=False):
        return CallVerdict("not read", reason=f"nothing was found where {' and '.join(reading.conditions)}")
    indices = {n.data[0] for tree in (*claim.trees, *find_expressions(claim.code)) for n in walk(tree) if n.op == "index"}
    conditions = list(dict.fromkeys(with_plain_indices(one, used_names | indices) for one in reading.conditions + needed))
    return CallVerdict("proved", " and ".join(bounds) or EVERY_SHAPE, conditions, constants)


def outside_subset(code: tuple) -> CallVerdict | None:
    """Return "not read" if a call, or one among its arguments, runs code outside the subset of Python that is read; else None."""
    for name in dict.fromkeys(called_functions(code)):
        if violation := find_violation(*module_and_name(name)):
            return CallVerdict("not read", reason=f"{violation.what} is not read as mathematics", line=violation.line)
    return None


def called_functions(x: Any) -> Iterator[str]:
    """Yield the names of the snippets that a call uses, including those in its arguments."""
    if isinstance(x, str) and SNIPPET.fullmatch(x):
        yield x
    elif isinstance(x, (tuple, list, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            yield from called_functions(part)


def with_plain_indices(text: str, names: set[str]) -> str:
    """Return a condition with readable names.

    Indices that the trace made become i, j, ..., avoiding `names`, and "for all i, j, ..." is added.
    """
    text = re.sub(r"\b(largest|smallest|some)\d+(?:p\d+)*", lambda m: m[0] if m[0] in names else m[1], text)
    made = [one for one in dict.fromkeys(re.findall(r"\bat\d+\b", text)) if one not in names]
    fresh = (f"{letter}{number}" for number in ("", *range(1, len(made) + len(names))) for letter in INDICES)
    renamed = dict(zip(made, (name for name in fresh if name not in names)))
    shown = re.sub(r"\bat\d+\b", lambda m: renamed.get(m[0], m[0]), text)
    return f"{shown} for all {', '.join(renamed.values())}" if renamed else shown


def source_line(name: str) -> str:
    """Return the file and line of a snippet."""
    run = unwrap(function(name))
    return f"{run.__module__.removeprefix('snippets.').replace('.', '/')}.py:{run.__code__.co_firstlineno}"


def guards_or_none(sizes: Sizes) -> list[Guard]:
    """Return the guards of a trace, or none if one of them cannot be read."""
    try:
        return sizes.guards()
    except NotRead:
        return []


def compare(result: Any, claim: Claim, k: int, given: CallArguments, reading: Trace) -> list[str]:
    """Return the conditions under which the result of a call is a side of the claim; for a tuple, each part of it."""
    conditions: list[str] = []
    if not isinstance(result, (Tensor, tuple, int, float, *SYMBOLS)):
        raise NotRead(f"it gives a {type(result).__name__}, and no tensor or number")
    if result == () and isinstance(result, tuple):
        raise NotRead("it gives nothing")
    for part in result if isinstance(result, tuple) else [result]:
        conditions += compare_with_sides(value_of_result(part, reading), claim, k, given, reading)
    return conditions


def value_of_result(result: Any, reading: Trace) -> TensorValue:
    """Return a tensor or number that a call returned as a value."""
    return reading.value(result) if isinstance(result, Tensor) else TensorValue((), lambda p: reading.sizes.tree(result))


def compare_with_sides(value: TensorValue, claim: Claim, k: int, given: CallArguments, reading: Trace) -> list[str]:
    """Return the conditions under which a value equals a side of the claim.

    For call number k of a refutation that is side k, for a definition the last side, else the first or the last.
    """
    last = claim.steps[-1].expr
    sides = [[claim.start, last][k]] if claim.kind == "refutation" else [last] if claim.kind == "definition" else [claim.start]
    if claim.kind in ("identity", "chain", "law"):
        sides.append(last)
    errors: list[Exception] = []
    for side in sides:
        try:
            return compare_with_tree(value, side, given.free, reading)
        except (NotRead, ComputesSomethingElse) as error:
            errors.append(error)
    raise next((e for e in errors if isinstance(e, ComputesSomethingElse)), errors[0])
