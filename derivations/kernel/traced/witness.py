"""The verdict on a claim's code: which calls compute what the claim says, at which shapes, and under which conditions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from inspect import unwrap
from typing import Any

from torch import Tensor

from ..core.assumptions import Assumption
from ..core.claims import EVERY, SNIPPET, Claim, Refused, Step
from ..core.expr import Expr, lift, show, symbols, walk
from ..exact.assumption_consistency import example
from . import (
    autograd_rules,
    boolean_values,
    creation_rules,
    gather_rules,
    matmul_rules,
    pointwise_rules,
    reduction_rules,
    reshape_rules,
    split_concat,
)
from .call_arguments import Given, function, module_and_name, put
from .comparison import same
from .errors import Different, NotRead, Sized
from .python_subset import find_violation
from .size_queries import only_operations_asked, recorded_queries
from .symbolic_sizes import SYMBOLS, Sizes
from .tensor_values import Value
from .tracing import Reading, traced

OPERATIONS = (
    autograd_rules,
    split_concat,
    gather_rules,
    creation_rules,
    pointwise_rules,
    matmul_rules,
    reduction_rules,
    reshape_rules,
    boolean_values,
)  # which register their rules
TRIED = (1, 2, 3)  # what a size is where it has to be a number
MANY = 4  # sizes at once, of which fewer shapes are tried
MOST_ONES = 16  # choices of sizes that are 1, of one call
INDICES = "ijklrstuvw"


@dataclass
class Said:
    """What is said of one call."""

    state: str  # "proved", "not read" or "different"
    scope: str = ""  # "every shape", or which
    conditions: list[str] = field(default_factory=list)  # under which it is proved
    constants: list[str] = field(default_factory=list)  # floats, and the numbers they are read as
    reason: str = ""  # why it is not read, or in what it is different
    line: str = ""  # of the snippets, where what is not read stands
    seconds: float = 0.0


@dataclass(frozen=True)
class Asks:
    """The sizes that stand in the way of more than one trace shows, by name."""

    names: list[str] = field(default_factory=list)  # that had to be numbers, or were asked whether they are 1
    inside: frozenset[str] = frozenset()  # of these, about which only PyTorch's operations asked


@dataclass
class Ones:
    """How often one call was read again with a size that is 1."""

    read: int = 0


@dataclass(frozen=True)
class Code:
    """The verdict on the code of one claim."""

    state: str  # "proved", "not read" or "not named"
    scope: str = ""  # "every shape", or which; "" where it is not proved
    conditions: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0


def code(claim: Claim) -> Code:
    """Whether every call that a claim names computes what it says. Refused where one computes something else."""
    if not claim.code:
        return Code("not named")
    calls = [asked(claim, k) for k in range(len(claim.code))]
    for (name, *_), said in zip(claim.code, calls):
        if said.state == "different":
            home = f" ({said.line})" if said.line else ""
            raise Refused(claim.file, claim.line, claim.id, f"its code computes something else, {name}{home}: {said.reason}")
    seconds = round(sum(said.seconds for said in calls), 3)
    reasons = [f"{name}: {said.reason}" + f" ({said.line})" * bool(said.line) for (name, *_), said in zip(claim.code, calls) if said.reason]
    if reasons:
        return Code("not read", reason=reasons[0], seconds=seconds)
    scopes = list(dict.fromkeys(said.scope for said in calls if said.scope != EVERY))
    joined = [tuple(dict.fromkeys(one for said in calls for one in many(said))) for many in (lambda s: s.conditions, lambda s: s.constants)]
    return Code("proved", "; ".join(scopes) or EVERY, *joined, seconds=seconds)


def asked(claim: Claim, k: int) -> Said:
    """What is said of the call number k of a claim."""
    start = time.perf_counter()
    said = outside_subset(claim.code[k]) or in_general(claim, k)
    return replace(said, seconds=round(time.perf_counter() - start, 3))


def in_general(claim: Claim, k: int) -> Said:
    """With a symbol for each size; where that is not read, with numbers for those that stand in the way, and then for all."""
    every = sizes_of(claim)
    said, asked = proved(claim, k)
    if said.state == "proved":
        return with_ones(claim, k, said, asked, every, Ones())
    if said.state == "different" or not every:
        return said
    ways = dict.fromkeys(tuple(sorted(names)) for names in (asked.names, every) if names)
    for names in ways:
        if found := at_some(claim, k, [name for name in names if name in every], every):
            return found if found.state != "not read" else said
    return said


def with_ones(claim: Claim, k: int, said: Said, asked: Asks, every: dict[str, Expr], ones: Ones) -> Said:
    """Where what ran asked whether a size is 1, it is read again with it 1: what is said there is told beside the rest.

    What that asks in its turn is read again too; with an earlier size 1 it was read already, as far as it was asked. Sizes of which only
    PyTorch's operations asked are 1 together, and one by one if that shows anything new.
    """
    names = [name for name in asked.names if name in every]
    together = {name: 1 for name in names if name in asked.inside}
    if together:
        again, _ = proved(at_sizes(claim, {every[name]: 1 for name in together}), k)
        if again.state == "different":
            return replace(again, reason=f"at {stated(together)}: {again.reason}")
        if again.state == "proved" and says_nothing_new(again, said):
            names = [name for name in names if name not in together]
    said, scopes = replace(said, conditions=[*said.conditions], constants=[*said.constants]), [said.scope] * (said.scope != EVERY)
    left = dict(every)
    for name in names:
        again, more = Said("not read"), Asks()
        here, size = at_sizes(claim, {every[name]: 1}), left.pop(name)
        ones.read += 1
        if ones.read <= MOST_ONES:
            again, more = proved(here, k)
        if again.state == "proved":
            again = with_ones(here, k, again, more, left, ones)
        if again.state == "different":
            return replace(again, reason=f"at {show(size)} = 1: {again.reason}")
        if again.state != "proved":
            scopes.append(f"{name} >= 2")
            continue
        scopes += [f"({again.scope} at {name} = 1)"] * (again.scope != EVERY)
        said.conditions += [f"{one} at {name} = 1" for one in again.conditions if one not in said.conditions]
        said.constants += [one for one in again.constants if one not in said.constants]
    return replace(said, scope=" and ".join(scopes) or EVERY)


def says_nothing_new(again: Said, said: Said) -> bool:
    return again.scope == EVERY and set(again.conditions) <= set(said.conditions) and set(again.constants) <= set(said.constants)


def at_some(claim: Claim, k: int, names: list[str], every: dict[str, Expr]) -> Said | None:
    """With numbers for some sizes: proved at those that it was tried at, and told so."""
    if not names:
        return None
    proofs: list[Said] = []
    shapes: list[dict[str, int]] = []
    for at in shapes_of(names):
        here = at_sizes(claim, {every[name]: n for name, n in at.items()})
        said, asked = proved(here, k)
        if said.state == "proved":
            said = with_ones(here, k, said, asked, {name: size for name, size in every.items() if name not in at}, Ones())
        if said.state == "different":
            return replace(said, reason=f"at {stated(at)}: {said.reason}")
        if said.state != "proved":
            return said if len(names) == len(every) else None
        proofs.append(said)
        shapes.append(at)
    more = {said.scope for said in proofs} - {EVERY}
    scope = "; ".join(map(stated, shapes)) + "".join(f", and {one}" for one in sorted(more))
    conditions = [c for said in proofs for c in said.conditions]
    constants = [c for said in proofs for c in said.constants]
    return Said("proved", scope, list(dict.fromkeys(conditions)), list(dict.fromkeys(constants)))


def shapes_of(names: list[str]) -> Iterator[dict[str, int]]:
    """A few values for each of the sizes, small ones first, unlike ones among them."""
    if len(names) <= 1:
        yield from ({name: n for name in names} for n in TRIED)
        return
    yield dict.fromkeys(names, 1)
    yield {name: 2 + j % 2 for j, name in enumerate(names)}
    if len(names) < MANY:
        yield {name: 3 - j % 2 for j, name in enumerate(names)}


def stated(at: dict[str, int]) -> str:
    return ", ".join(f"{name} = {n}" for name, n in sorted(at.items()))


def sizes_of(claim: Claim) -> dict[str, Expr]:
    """The sizes that the claim or what its code is given speaks of, by name."""
    return {name: s for name, s in symbols(*claim.trees, *expressions(claim.code)).items() if s.data[1] == "size"}


def expressions(x: Any) -> Iterator[Expr]:
    if isinstance(x, Expr):
        yield x
    elif isinstance(x, dict):
        yield from expressions(list(x.values()))
    elif isinstance(x, (tuple, list)):
        for y in x:
            yield from expressions(y)


def at_sizes(claim: Claim, at: dict[Expr, int]) -> Claim:
    """The claim with numbers for some of its sizes."""
    numbers = {size: lift(n) for size, n in at.items()}

    def of(x: Any) -> Any:
        if isinstance(x, Expr):
            return put(x, numbers)
        if isinstance(x, dict):
            return {key: of(y) for key, y in x.items()}
        return type(x)(map(of, x)) if type(x) in (tuple, list) else x

    return replace(
        claim,
        start=of(claim.start),
        steps=tuple(Step(s.relation, of(s.expr), s.reason) for s in claim.steps),
        given=tuple(Assumption(a.kind, of(a.args)) for a in claim.given),
        because=(),
        code=of(claim.code),
    )


def proved(claim: Claim, k: int) -> tuple[Said, Asks]:
    """What one trace shows, and the sizes that stand in the way of more."""
    sizes = Sizes()
    largest = any(n.op == "function" and n.data == "largest" for t in claim.trees for n in walk(t))
    own = set(symbols(*claim.trees, *expressions(claim.code)))
    reading = Reading(sizes, claim.given, largest, own)
    try:
        name, arguments, keywords = claim.code[k]
        given = Given(claim, reading)
        call = given.call(name, arguments, dict(keywords))
        with recorded_queries(sizes):
            result = traced(lambda *tensors: call(tensors), given.tensors, reading)
        if fixed := sorted({name for guard in sizes.guards() for name in guard.fixes}):
            raise Sized(f"it needs {' and '.join(fixed)} as a number", tuple(fixed))
        needed = compare(result, claim, k, given, reading)
        guards = sizes.guards()
    except NotRead as error:
        fixed = {name for guard in fixing(sizes) for name in guard.fixes}
        return Said("not read", reason=str(error), line=reading.line), Asks(sorted({*fixed, *getattr(error, "names", ())}))
    except Different as error:
        return Said("different", reason=str(error), line=home_of(claim.code[k][0])), Asks()
    except RecursionError:
        return Said("not read", reason="it is made of too many operations, one in another", line=reading.line), Asks()
    except Exception as error:  # what PyTorch says of a call that it cannot trace is a reason too
        return Said("not read", reason=f"{type(error).__name__}: {str(error).partition(chr(10))[0][:160]}", line=reading.line), Asks()
    asked = sorted({name for guard in guards if guard.holds_from(2) and not guard.holds_from(1) for name in guard.names})
    bounds = [str(guard) for guard in guards if guard.of_sizes and not guard.holds_from(2)]
    try:
        if wrong := sizes.contradicted():
            raise NotRead(f"{wrong[0]} is not so at the sizes that it was read at")
        for guard in guards:
            if not guard.of_sizes:
                reading.guarded(guard)
    except NotRead as error:
        return Said("not read", reason=str(error)), Asks()
    constants = [f"{x} as {y}" for x, y in sizes.constants.read.items()]
    if reading.supposed and not example(replace(claim, given=(*claim.given, *reading.supposed)), sides=False):
        return Said("not read", reason=f"nothing was found where {' and '.join(reading.conditions)}"), Asks()
    indices = {n.data[0] for tree in (*claim.trees, *expressions(claim.code)) for n in walk(tree) if n.op == "index"}
    conditions = list(dict.fromkeys(with_plain_indices(one, own | indices) for one in reading.conditions + needed))
    return Said("proved", " and ".join(bounds) or EVERY, conditions, constants), Asks(asked, only_operations_asked(asked, sizes))


def outside_subset(code: tuple) -> Said | None:
    """Return "not read" if a call, or one among its arguments, runs code outside the subset of Python that is read; else None."""
    for name in dict.fromkeys(called(code)):
        if violation := find_violation(*module_and_name(name)):
            return Said("not read", reason=f"{violation.what} is not read as mathematics", line=violation.line)
    return None


def called(x: Any) -> Iterator[str]:
    """The functions of snippets that a call names, those among its arguments too."""
    if isinstance(x, str) and SNIPPET.fullmatch(x):
        yield x
    elif isinstance(x, (tuple, list, dict)):
        for part in x.values() if isinstance(x, dict) else x:
            yield from called(part)


def with_plain_indices(text: str, names: set[str]) -> str:
    """A condition with i, j, ... for indices that were made on the way, which take no name of the claim: it holds for all of them."""
    text = re.sub(r"\b(largest|smallest|some)\d+(?:p\d+)*", lambda m: m[0] if m[0] in names else m[1], text)
    found = [one for one in dict.fromkeys(re.findall(r"\bat\d+\b", text)) if one not in names]
    fresh = (f"{letter}{number}" for number in ("", *range(1, len(found) + len(names))) for letter in INDICES)
    called = dict(zip(found, (name for name in fresh if name not in names)))
    shown = re.sub(r"\bat\d+\b", lambda m: called.get(m[0], m[0]), text)
    return f"{shown} for all {', '.join(called.values())}" if called else shown


def home_of(name: str) -> str:
    """Where the snippet stands that a call names."""
    run = unwrap(function(name))
    return f"{run.__module__.removeprefix('snippets.').replace('.', '/')}.py:{run.__code__.co_firstlineno}"


def fixing(sizes: Sizes) -> list:
    try:
        return sizes.guards()
    except NotRead:
        return []


def compare(result: Any, claim: Claim, k: int, given: Given, reading: Reading) -> list[str]:
    found: list[str] = []
    if not isinstance(result, (Tensor, tuple, int, float, *SYMBOLS)):
        raise NotRead(f"it gives a {type(result).__name__}, and no tensor or number")
    if result == () and isinstance(result, tuple):
        raise NotRead("it gives nothing")
    for one in result if isinstance(result, tuple) else [result]:
        value = reading.value(one) if isinstance(one, Tensor) else Value((), lambda p, one=one: reading.sizes.tree(one))
        found += same_as_a_side(value, claim, k, given, reading)
    return found


def same_as_a_side(value: Value, claim: Claim, k: int, given: Given, reading: Reading) -> list[str]:
    """What it takes for the value to be a side of the claim: of a refutation the one of that number, else the first or the last."""
    last = claim.steps[-1].expr
    sides = [[claim.start, last][k]] if claim.kind == "refutation" else [last] if claim.kind == "definition" else [claim.start]
    if claim.kind in ("identity", "chain", "law"):
        sides.append(last)
    trouble: list[Exception] = []
    for side in sides:
        try:
            return same(value, side, given.free, reading)
        except (NotRead, Different) as error:
            trouble.append(error)
    raise next((e for e in trouble if isinstance(e, Different)), trouble[0])
