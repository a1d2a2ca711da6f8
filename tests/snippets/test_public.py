"""Every public function of the snippets: what it takes and gives is true of its annotations, and it follows format and device.

Its row, in rows/CHAPTER.py, has inputs for it. A function without a row fails.
"""

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import get_args, get_type_hints

import pytest
import torch
from beartype import beartype
from jaxtyping import AbstractArray, TypeCheckError, jaxtyped
from torch import nn

from tests.snippets.input_rows import Row, T

ROOT = Path(__file__).parents[2]
TITLES = re.findall(r"^(\S.*?\(\d{4}\w?\)) \{ #", (ROOT / "docs/bibliography.md").read_text(encoding="utf-8"), re.M)
PLAIN = {int, float, bool, str, torch.dtype, torch.device, torch.Generator, type(None)}

# The functions, and their rows


@cache
def modules() -> dict:
    """chapter/topic -> module."""
    names = (path.relative_to(ROOT / "snippets").with_suffix("") for path in sorted(ROOT.glob("snippets/*/[a-z]*.py")))
    found = {name.as_posix(): importlib.import_module(f"snippets.{name.as_posix().replace('/', '.')}") for name in names}
    return {name: module for name, module in found.items() if public(module)}


def public(module) -> dict:
    """name -> function, and Class.method -> method, for all that a module defines and offers."""
    found = {}
    for name, one in vars(module).items():
        if name.startswith("_") or getattr(one, "__module__", None) != module.__name__:
            continue
        if isinstance(one, FunctionType):
            found[name] = one
        elif isinstance(one, type):
            found |= {f"{name}.{key}": method for key, method in vars(one).items() if is_method(one, key, method)}
    return found


def is_method(one: type, key: str, method) -> bool:
    """Is it one of a class's own? A named tuple's are made by Python."""
    own = isinstance(method, FunctionType) and method.__module__ == one.__module__
    return own and (not key.startswith("_") or key == "__init__" and issubclass(one, nn.Module))


@cache
def rows() -> dict:
    """chapter/topic -> name -> rows."""
    found = {}
    for path in sorted((ROOT / "tests/snippets/rows").glob("*.py")):
        chapter = importlib.import_module(f"tests.snippets.rows.{path.stem}").ROWS
        found |= {f"{path.stem}/{topic}": of_topic for topic, of_topic in chapter.items()}
    return found


def in_form() -> list:
    """(module, name) of each function."""
    return [(topic, name) for topic, module in modules().items() for name in public(module)]


def called(found=None) -> list:
    """(module, name, number of the row) of each call."""
    return [(topic, name, k) for topic, name in in_form() for k in range(len(rows().get(topic, {}).get(name, [])))]


def shown(one) -> str:
    return "-".join(map(str, one)) if isinstance(one, tuple) else str(one)


calls = pytest.mark.parametrize("where", called(), ids=shown)


def given(where: tuple) -> tuple:
    topic, name, k = where
    return public(modules()[topic])[name], rows()[topic][name][k]


# Form


def missing(topic: str) -> list:
    """What is wrong between a module's functions and its rows."""
    wanted = {name for name in public(modules()[topic]) if not name.endswith(".__init__")}
    there = {name for name, of_name in rows().get(topic, {}).items() if of_name}
    return [f"{topic}: {name} has no row in tests/snippets/rows" for name in sorted(wanted - there)] + [
        f"{topic}: there is no {name}, which has a row" for name in sorted(there - wanted)
    ]


def leaves(annotation) -> list:
    """The types that an annotation is made of."""
    if isinstance(annotation, list):  # the arguments of a Callable
        return [leaf for part in annotation for leaf in leaves(part)]
    parts = () if isinstance(annotation, type) and issubclass(annotation, AbstractArray) else get_args(annotation)
    return [leaf for part in parts if part is not Ellipsis for leaf in leaves(part)] or [annotation]


def form(topic: str, name: str) -> list:
    """What a function's head and docstring lack."""
    function, problems = public(modules()[topic])[name], []
    hints, parameters = get_type_hints(function), list(inspect.signature(function).parameters.values())
    parameters = parameters[1:] if "." in name else parameters
    words = inspect.getdoc(function) or ""
    if not words:
        problems.append("it has no docstring")
    for error in sorted(raised(function)):
        if not re.search(rf"Raises [^.]*\b{error}\b", words):
            problems.append(f"it raises {error}, and its docstring does not say 'Raises {error}'")
    for title in re.findall(r"[A-Z][^.()]*?(?: et al\.)? \(\d{4}\w?\)", words.replace("\n", " ")):
        if not title.endswith(tuple(TITLES)):
            problems.append(f"it cites {title}, which is not in docs/bibliography.md")
    for one in [*(p.name for p in parameters), "return"]:
        if one not in hints:
            problems.append(f"{one} has no annotation")
        elif torch.Tensor in leaves(hints[one]):
            problems.append(f"{one} is a Tensor of no shape")
    if not problems:
        subjects = [p for p in parameters if not set(leaves(hints[p.name])) <= PLAIN]
        for p in parameters:
            late = p.default is not p.empty or subjects and p not in subjects
            if late and p.kind not in (p.KEYWORD_ONLY, p.VAR_KEYWORD):
                problems.append(f"{p.name} is no tensor, or has a default: let it be keyword-only")
    return [f"snippets/{topic}.py, {name}: {problem}" for problem in problems]


def raised(function: FunctionType) -> set:
    """The names of the errors that it raises itself."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    thrown = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
    return {(one.func if isinstance(one, ast.Call) else one).id for one in thrown}


def test_there_are_modules():
    assert len(modules()) > 40


@pytest.mark.parametrize("topic", modules())
def test_every_public_function_has_a_row(topic):
    assert missing(topic) == []


@cache
def places() -> dict:
    """name -> the modules that have a public function or class of this name."""
    found = {}
    for topic, module in modules().items():
        for name in {name.split(".")[0] for name in public(module)}:
            found.setdefault(name, []).append(topic)
    return found


@pytest.mark.parametrize("topic", modules())
def test_every_name_is_used_once(topic):
    """What is searched for by its name is found in one place."""
    assert {name: topics for name, topics in places().items() if topic in topics and topics != [topic]} == {}


@pytest.mark.parametrize("where", in_form(), ids=shown)
def test_its_head_and_docstring_say_what_they_should(where):
    assert form(*where) == []


@calls
def test_its_source_is_in_its_docstring(where):
    function, row = given(where)
    cited = [title for title in TITLES if title in " ".join(inspect.getdoc(function).split())]
    assert cited == [row.source] * bool(row.source)


# Calls


def run(function, row: Row, args: list, kwargs: dict, dtype=torch.float64, device="cpu", checked=True):
    """One call, with types and shapes checked; without tensors it is asked for the format and the device."""
    if row.of:
        made = row.of(dtype, device) if isinstance(row.of, Callable) else instance(function, row.of, dtype, device)
        args = [made.to(device=device, dtype=dtype) if isinstance(made, nn.Module) else made, *args]
    return (jaxtyped(typechecker=beartype)(function) if checked else function)(*args, **kwargs)


def instance(method, of: Row, dtype: torch.dtype, device: str):
    """One of the class that has the method."""
    args, kwargs = of.make(dtype, device)
    return getattr(inspect.getmodule(method), method.__qualname__.split(".")[0])(*args, **kwargs)


def tensors(x) -> list:
    """All tensors in something."""
    if isinstance(x, torch.Tensor):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [one for part in parts for one in tensors(part)]


def asked(function, args: list, kwargs: dict, **wanted) -> dict:
    """The keywords, with format and device where no tensor says what they are."""
    parameters = inspect.signature(function).parameters
    return kwargs if tensors((args, kwargs)) else kwargs | {k: v for k, v in wanted.items() if k in parameters}


def follows(row: Row, args: list, kwargs: dict, dtype: torch.dtype) -> torch.dtype:
    """The format that a result is expected to have."""
    if row.gives == "upcast":
        return torch.promote_types(dtype, torch.float32)
    return row.gives or dtype


@calls
def test_its_types_and_shapes_are_true_and_its_result_has_the_format_of_its_inputs(where):
    function, row = given(where)
    for dtype in row.formats:
        args, kwargs = row.make(dtype, "cpu")
        result = run(function, row, args, asked(function, args, kwargs, dtype=dtype), dtype)
        for one in tensors(result):
            assert not one.is_floating_point() or one.dtype == follows(row, args, kwargs, dtype) or not has_format(function, args, kwargs)
            assert not one.is_complex() or one.dtype == dtype.to_complex()


def has_format(function, args: list, kwargs: dict) -> bool:
    """Is there anything that says which format a result has? If not, one that gives floats has to take a dtype."""
    return bool(tensors((args, kwargs))) or "dtype" in inspect.signature(function).parameters


@calls
def test_its_result_is_where_its_inputs_are(where):
    function, row = given(where)
    args, kwargs = row.make(torch.float32, "meta")
    if row.not_on_meta:
        with pytest.raises((RuntimeError, NotImplementedError)):
            run(function, row, args, kwargs, torch.float32, "meta")
        return
    result = run(function, row, args, asked(function, args, kwargs, device="meta"), torch.float32, "meta")
    assert {one.device.type for one in tensors(result)} <= {"meta"}


def changes(spec) -> list:
    """The same with one axis longer by one, for each of its axes."""
    return [T(*(size + (k == axis) for k, size in enumerate(spec.shape)), kind=spec.kind) for axis in range(len(spec.shape))]


def numbers(spec) -> list:
    """The same with numbers that are not expected, if there are any."""
    return [T(*spec.shape, kind="normal" if spec.kind == "whole" else "whole")] * (spec.kind != "real")


@calls
def test_what_pytorch_refuses_its_types_refuse_before(where):
    """Each axis made longer by one, and each number made whole; a whole one is made another."""
    function, row = given(where)
    slots = [(k, x) for k, x in [*enumerate(row.args), *row.kwargs.items()] if isinstance(x, T)]
    for (slot, spec), wrong in product(slots, [None, *range(4)]):
        if row.loose and wrong is not None and wrong < len(spec.shape) - 2:
            continue
        others = changes(spec) if wrong is not None else numbers(spec)
        if (wrong or 0) >= len(others):
            continue
        changed = others[wrong or 0]
        args = [changed if k == slot else x for k, x in enumerate(row.args)]
        kwargs = {name: changed if name == slot else x for name, x in row.kwargs.items()}
        args, kwargs = Row(*args, **kwargs).make(torch.float64, "cpu")
        try:
            if wrong is not None:
                run(function, row, args, kwargs, checked=False)
                continue
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            told = re.search(rf"Raises [^.]*\b{type(error).__name__}\b", inspect.getdoc(function))
            if told or row.of:  # a module's weights say how wide its inputs are, and its types cannot
                continue
        with pytest.raises(TypeCheckError):
            run(function, row, args, kwargs)


# Stacks


def any_in_front(annotation) -> int | None:
    """How many axes of its own a tensor has that may have any others in front; None where it may not."""
    first, *own = (getattr(annotation, "dim_str", "") or "none").split()
    return len(own) if first in ("*batch", "*#batch") or own and first.startswith(("*", "...")) else None


def stacked(function, args: list, kwargs: dict) -> dict | None:
    """Its arguments by name, if all of its tensors have the same axes in front and its result says that it has them too."""
    hints, bound = get_type_hints(function), inspect.signature(function).bind(*args, **kwargs).arguments
    there = {name: x for name, x in bound.items() if tensors(x)}
    if "." in function.__qualname__ or not all(isinstance(x, torch.Tensor) for x in there.values()):
        return None
    own = {name: any_in_front(hints[name]) for name in there}
    results = [leaf for leaf in leaves(hints["return"]) if isinstance(leaf, type) and issubclass(leaf, AbstractArray)]
    if not there or not results or None in [*own.values(), *map(any_in_front, results)]:
        return None
    return bound if len({x.dim() - own[name] for name, x in there.items()}) == 1 else None


def in_stacks() -> list:
    """Those calls of which a stack may be made; what draws at random gives others."""
    found = []
    for where in called():
        function, row = given(where)
        args, kwargs = row.make(torch.float64, "meta" if not row.not_on_meta else "cpu")
        if torch.Generator not in [leaf for hint in get_type_hints(function).values() for leaf in leaves(hint)] and not row.of:
            found += [where] * (stacked(function, args, kwargs) is not None)
    return found


def test_most_functions_of_tensors_can_be_given_stacks():
    assert len(in_stacks()) > 100


@pytest.mark.parametrize("where", in_stacks(), ids=shown)
def test_a_stack_gives_what_its_parts_give(where):
    function, row = given(where)
    one = stacked(function, *row.make(torch.float64, "cpu"))
    other = {name: x.flip(-1) if isinstance(x, torch.Tensor) and x.dim() else x for name, x in one.items()}
    both = {name: torch.stack([x, other[name]]) if isinstance(x, torch.Tensor) else x for name, x in one.items()}
    parts, whole = [tensors(function(**each)) for each in (one, other)], tensors(function(**both))
    assert len(whole) == len(parts[0]) > 0
    for k, found in enumerate(whole):
        torch.testing.assert_close(found, torch.stack([part[k] for part in parts]), rtol=1e-12, atol=1e-12, equal_nan=True)
