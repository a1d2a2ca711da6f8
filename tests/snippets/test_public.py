"""Test every public function of the snippets: its annotations are true, and its result follows the format and the device of its inputs.

The inputs of a function are its row in rows/CHAPTER.py. A function without a row fails.
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
    """Return the modules by topic, such as "softmax/axes"."""
    names = (path.relative_to(ROOT / "snippets").with_suffix("") for path in sorted(ROOT.glob("snippets/*/[a-z]*.py")))
    found = {name.as_posix(): importlib.import_module(f"snippets.{name.as_posix().replace('/', '.')}") for name in names}
    return {name: module for name, module in found.items() if public(module)}


def public(module) -> dict:
    """Return the public functions and methods that a module defines, by name or Class.method."""
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
    """Return whether a method is written in its class. Python adds the methods of a named tuple."""
    own = isinstance(method, FunctionType) and method.__module__ == one.__module__
    return own and (not key.startswith("_") or key == "__init__" and issubclass(one, nn.Module))


@cache
def rows() -> dict:
    """Return the rows by topic and by name."""
    found = {}
    for path in sorted((ROOT / "tests/snippets/rows").glob("*.py")):
        chapter = importlib.import_module(f"tests.snippets.rows.{path.stem}").ROWS
        found |= {f"{path.stem}/{topic}": of_topic for topic, of_topic in chapter.items()}
    return found


def in_form() -> list:
    """Return (topic, name) of each function."""
    return [(topic, name) for topic, module in modules().items() for name in public(module)]


def called(found=None) -> list:
    """Return (topic, name, number of the row) of each call."""
    found = [(topic, name, k) for topic, name in in_form() for k in range(len(rows().get(topic, {}).get(name, [])))]
    return [(topic, name, k) for topic, name, k in found if not rows()[topic][name][k].needs_models]  # test_published_models.py tests these


def shown(one) -> str:
    return "-".join(map(str, one)) if isinstance(one, tuple) else str(one)


calls = pytest.mark.parametrize("where", called(), ids=shown)


def given(where: tuple) -> tuple:
    topic, name, k = where
    return public(modules()[topic])[name], rows()[topic][name][k]


# Form


def missing(topic: str) -> list:
    """Return the public functions without a row and the rows without a function."""
    wanted = {name for name in public(modules()[topic]) if not name.endswith(".__init__")}
    there = {name for name, of_name in rows().get(topic, {}).items() if of_name}
    return [f"{topic}: {name} has no row in tests/snippets/rows" for name in sorted(wanted - there)] + [
        f"{topic}: there is no {name}, which has a row" for name in sorted(there - wanted)
    ]


def leaves(annotation) -> list:
    """Return the types of which an annotation is composed."""
    if isinstance(annotation, list):  # the arguments of a Callable
        return [leaf for part in annotation for leaf in leaves(part)]
    parts = () if isinstance(annotation, type) and issubclass(annotation, AbstractArray) else get_args(annotation)
    return [leaf for part in parts if part is not Ellipsis for leaf in leaves(part)] or [annotation]


def form(topic: str, name: str) -> list:
    """Return what a function's signature and docstring lack."""
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
    """Return the names of the errors that the function itself raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    thrown = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc)
    return {(one.func if isinstance(one, ast.Call) else one).id for one in thrown}


def test_modules_are_found():
    assert len(modules()) > 40


@pytest.mark.parametrize("topic", modules())
def test_every_public_function_has_a_row(topic):
    assert missing(topic) == []


@cache
def places() -> dict:
    """Return, for each public name, the modules that define it."""
    found = {}
    for topic, module in modules().items():
        for name in {name.split(".")[0] for name in public(module)}:
            found.setdefault(name, []).append(topic)
    return found


@pytest.mark.parametrize("topic", modules())
def test_public_names_are_unique(topic):
    """A search for a name finds one place."""
    taken = {name: topics for name, topics in places().items() if topic in topics and topics != [topic]}
    messages = [f"{name} is defined in {' and '.join(topics)}; choose another name" for name, topics in taken.items()]
    assert not messages, "; ".join(messages)


@pytest.mark.parametrize("where", in_form(), ids=shown)
def test_signature_and_docstring_are_complete(where):
    assert form(*where) == []


@calls
def test_docstring_cites_the_source(where):
    function, row = given(where)
    cited = [title for title in TITLES if title in " ".join(inspect.getdoc(function).split())]
    assert cited == [row.source] * bool(row.source)


# Calls


def run(function, row: Row, args: list, kwargs: dict, dtype=torch.float64, device="cpu", checked=True):
    """Call a function once and check its types and shapes. If it takes no tensors, the format and the device are arguments."""
    if row.of:
        made = row.of(dtype, device) if isinstance(row.of, Callable) else instance(function, row.of, dtype, device)
        args = [made.to(device=device, dtype=dtype) if isinstance(made, nn.Module) else made, *args]
    return (jaxtyped(typechecker=beartype)(function) if checked else function)(*args, **kwargs)


def instance(method, of: Row, dtype: torch.dtype, device: str):
    """Return an instance of the class that has the method."""
    args, kwargs = of.make(dtype, device)
    return getattr(inspect.getmodule(method), method.__qualname__.split(".")[0])(*args, **kwargs)


def tensors(x) -> list:
    """Return all tensors in a structure."""
    if isinstance(x, torch.Tensor):
        return [x]
    parts = x.values() if isinstance(x, dict) else x if isinstance(x, (tuple, list)) else ()
    return [one for part in parts for one in tensors(part)]


def asked(function, args: list, kwargs: dict, **wanted) -> dict:
    """Return the keywords, with the format and the device if no tensor determines them."""
    parameters = inspect.signature(function).parameters
    return kwargs if tensors((args, kwargs)) else kwargs | {k: v for k, v in wanted.items() if k in parameters}


def follows(row: Row, args: list, kwargs: dict, dtype: torch.dtype) -> torch.dtype:
    """Return the expected format of a result."""
    if row.gives == "upcast":
        return torch.promote_types(dtype, torch.float32)
    return row.gives or dtype


@calls
def test_types_and_shapes_are_true_and_result_has_the_format_of_the_inputs(where):
    function, row = given(where)
    for dtype in row.formats:
        args, kwargs = row.make(dtype, "cpu")
        result = run(function, row, args, asked(function, args, kwargs, dtype=dtype), dtype)
        for one in tensors(result):
            assert not one.is_floating_point() or one.dtype == follows(row, args, kwargs, dtype) or not has_format(function, args, kwargs)
            assert not one.is_complex() or one.dtype == dtype.to_complex()


def has_format(function, args: list, kwargs: dict) -> bool:
    """Return whether the inputs determine the format of the result. If not, a function that returns floats needs a dtype."""
    return bool(tensors((args, kwargs))) or "dtype" in inspect.signature(function).parameters


@calls
def test_result_is_on_the_device_of_the_inputs(where):
    function, row = given(where)
    args, kwargs = row.make(torch.float32, "meta")
    if row.not_on_meta:
        with pytest.raises((RuntimeError, NotImplementedError)):
            run(function, row, args, kwargs, torch.float32, "meta")
        return
    result = run(function, row, args, asked(function, args, kwargs, device="meta"), torch.float32, "meta")
    assert {one.device.type for one in tensors(result)} <= {"meta"}


if torch.cuda.is_available():

    @calls
    @pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")  # which starts up on its first call
    def test_result_on_a_gpu_is_that_on_the_processor(where):
        """Results that depend on random numbers or on a module, whose parameters are random, only have to be on the GPU."""
        function, row = given(where)
        results = {}
        for device in ("cpu", "cuda"):
            args, kwargs = row.make(torch.float64, device)
            wanted = asked(function, args, kwargs, device=device, dtype=torch.float64)
            results[device] = tensors(run(function, row, args, wanted, torch.float64, device))
        assert {one.device.type for one in results["cuda"]} <= {"cuda"}
        kinds = [leaf for hint in get_type_hints(function).values() for leaf in leaves(hint)]
        if not row.of and not any(isinstance(kind, type) and issubclass(kind, (torch.Generator, nn.Module)) for kind in kinds):
            for on_gpu, on_processor in zip(results["cuda"], results["cpu"], strict=True):
                torch.testing.assert_close(on_gpu.cpu(), on_processor)


def changes(spec) -> list:
    """Return copies of a tensor's specification with one axis longer by one, for each of its axes."""
    return [T(*(size + (k == axis) for k, size in enumerate(spec.shape)), kind=spec.kind) for axis in range(len(spec.shape))]


def numbers(spec) -> list:
    """Return copies of a tensor's specification with numbers of a kind that is not expected, if there is such a kind."""
    return [T(*spec.shape, kind="normal" if spec.kind == "whole" else "whole")] * (spec.kind not in ("real", "position"))


@calls
def test_annotations_reject_whatever_pytorch_rejects(where):
    """Make each axis longer by one, and replace each tensor by one of whole numbers, or of others if its numbers are whole."""
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
            if told or row.of:  # the weights of a module determine the width of its inputs, which types cannot express
                continue
        with pytest.raises(TypeCheckError):
            run(function, row, args, kwargs)


# Stacks


def any_in_front(annotation) -> int | None:
    """Return the number of a tensor's own axes if any axes may precede them, otherwise None."""
    first, *own = (getattr(annotation, "dim_str", "") or "none").split()
    return len(own) if first in ("*batch", "*#batch") or own and first.startswith(("*", "...")) else None


def stacked(function, args: list, kwargs: dict) -> dict | None:
    """Return the arguments by name if all tensors have the same leading axes and the annotation of the result has them too."""
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
    """Return the calls that can be stacked. Functions that draw random numbers cannot."""
    found = []
    for where in called():
        function, row = given(where)
        args, kwargs = row.make(torch.float64, "meta" if not row.not_on_meta else "cpu")
        if torch.Generator not in [leaf for hint in get_type_hints(function).values() for leaf in leaves(hint)] and not row.of:
            found += [where] * (stacked(function, args, kwargs) is not None)
    return found


def test_most_functions_of_tensors_accept_stacks():
    assert len(in_stacks()) > 100


@pytest.mark.parametrize("where", in_stacks(), ids=shown)
def test_stack_gives_the_results_of_its_parts(where):
    function, row = given(where)
    one = stacked(function, *row.make(torch.float64, "cpu"))
    other = {name: x.flip(-1) if isinstance(x, torch.Tensor) and x.dim() else x for name, x in one.items()}
    both = {name: torch.stack([x, other[name]]) if isinstance(x, torch.Tensor) else x for name, x in one.items()}
    parts, whole = [tensors(function(**each)) for each in (one, other)], tensors(function(**both))
    assert len(whole) == len(parts[0]) > 0
    for k, found in enumerate(whole):
        torch.testing.assert_close(found, torch.stack([part[k] for part in parts]), rtol=1e-12, atol=1e-12, equal_nan=True)
