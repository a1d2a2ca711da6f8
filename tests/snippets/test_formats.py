"""Test formats: half precision is rounded once, integers may have 32 bits, and PyTorch's default holds where no format is given."""

import inspect

import pytest
import torch

from tests.snippets.input_rows import T
from tests.snippets.test_public import called, given, shown, tensors

ROUNDS_MORE = {
    "dropout": "its factors are drawn anew",
    "mixture": "each expert multiplies in the format of its weights",
}


def wide() -> list:
    """Return the calls of functions whose code uses upcast."""
    found = []
    for where in called():
        function, row = given(where)
        if "upcast(" in inspect.getsource(function) and where[1] not in ROUNDS_MORE and not row.of:
            found.append(where)
    return found


def doubled(x):
    if isinstance(x, torch.Tensor):
        return x.double() if x.is_floating_point() else x
    return type(x)(map(doubled, x)) if isinstance(x, (tuple, list)) else x


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("where", wide(), ids=shown)
def test_results_in_half_precision_are_rounded_once(where, dtype):
    function, row = given(where)
    args, kwargs = row.make(dtype, "cpu")
    found = tensors(function(*args, **kwargs))
    exact = tensors(function(*map(doubled, args), **{name: doubled(x) for name, x in kwargs.items()}))
    for one, other in zip(found, exact, strict=True):
        if one.dtype == dtype and one.numel():
            unit = torch.finfo(dtype).eps / 2
            bound = 1.01 * unit * other.abs() + 1e-5 * other.abs().amax()
            assert ((one.double() - other).abs() <= bound).all()


def has_kind(where: tuple, kind: str) -> bool:
    _, row = given(where)
    return any(isinstance(x, T) and x.kind == kind for x in [*row.args, *row.kwargs.values()]) and not row.of


@pytest.mark.parametrize("where", [where for where in called() if has_kind(where, "whole")], ids=shown)
def test_integers_of_32_bits_give_the_same(where):
    function, row = given(where)
    args, kwargs = row.make(torch.float64, "cpu")
    short = [x.int() if isinstance(x, torch.Tensor) and x.dtype == torch.int64 else x for x in args]
    for one, other in zip(tensors(function(*short, **kwargs)), tensors(function(*args, **kwargs)), strict=True):
        torch.testing.assert_close(one, other, check_dtype=one.is_floating_point())


def has_default_format(where: tuple) -> bool:
    function, row = given(where)
    parameter = inspect.signature(function).parameters.get("dtype")
    return parameter is not None and parameter.default is None and "dtype" not in row.kwargs


@pytest.mark.parametrize("where", [where for where in called() if has_default_format(where)], ids=shown)
def test_format_is_pytorchs_default_unless_given(where):
    function, row = given(where)
    args, kwargs = row.make(torch.float64, "cpu")
    before = torch.get_default_dtype()
    for dtype in (torch.float32, torch.float64):
        try:
            torch.set_default_dtype(dtype)
            found = tensors(function(*args, **kwargs))
        finally:
            torch.set_default_dtype(before)
        assert {one.dtype for one in found} == {dtype}
