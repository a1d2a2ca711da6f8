"""Test formats: half precision is rounded once, integers may have 32 bits, and PyTorch's default holds where no format is given."""

import inspect

import pytest
import torch

from tests.snippets.input_rows import T, materialize
from tests.snippets.test_public import called, given, shown, tensors

ROUNDS_MORE = {
    "dropout": "its factors are drawn anew",
    "load_decoder": "it loads parameters, and returns a module",
    "keep_likeliest": "it returns logits as they are, or minus infinity",
    "mixture": "each expert multiplies in the format of its weights",
}


ROUNDS_ONCE = set(
    [
        "apply_partial_rotary",
        "apply_rotary",
        "apply_rotary_interleaved",
        "apply_rotation",
        "apply_yarn",
        "attention",
        "attention_2d",
        "attention_by_einsum",
        "attention_error_bound",
        "attention_in_blocks",
        "attention_or_nothing",
        "attention_steps",
        "attention_weights",
        "attention_with_sink",
        "block_mask",
        "capped_weights",
        "capped_weights_wrong",
        "causal_scan",
        "cosine_scores",
        "decay_mask",
        "delta_rule",
        "distillation_loss",
        "effective_keys",
        "exponentials",
        "flash_tile",
        "gate_output",
        "gated_attention",
        "gated_product",
        "gated_state",
        "gaussian_weights",
        "general_scores",
        "hopfield_energy",
        "interpolated_rotary",
        "kernel_attention",
        "largest_eigenvalue",
        "layer_norm",
        "linear_attention",
        "log_sums",
        "logn_queries",
        "masked_product",
        "mean_square",
        "merged_output",
        "merged_scores",
        "nearest",
        "partial_attention",
        "quantize_channels",
        "rms_norm",
        "rotate",
        "round_to_e4m3",
        "running_state",
        "sample",
        "score_error",
        "score_error_bound",
        "scores",
        "shift_encoding",
        "sink_gate",
        "soft_cap",
        "softmax",
        "softmax_with_temperature",
        "solve_chunk",
        "solve_system",
        "split_output",
        "top_k_attention",
        "upcast",
        "weight_factor",
        "weights_again",
        "weights_with_alibi",
        "without_keys",
    ]
)


def test_functions_that_upcast_are_listed():
    wide = {where[1] for where in called() if "upcast(" in inspect.getsource(given(where)[0]) and not given(where)[1].of}
    assert wide - ROUNDS_MORE.keys() <= ROUNDS_ONCE


def doubled(x):
    if isinstance(x, torch.Tensor):
        return x.double() if x.is_floating_point() else x
    if hasattr(x, "_fields"):  # a named tuple
        return type(x)(*map(doubled, x))
    return type(x)(map(doubled, x)) if isinstance(x, (tuple, list)) else x


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("where", [where for where in called() if where[1] in ROUNDS_ONCE], ids=shown)
def test_results_in_half_precision_are_rounded_once(where, dtype):
    function, row = given(where)
    for seed in range(10):
        generator = torch.Generator().manual_seed(seed)
        args, kwargs = (materialize(of, dtype, "cpu", generator) for of in (row.args, tuple(row.kwargs.values())))
        assert_rounded_once(function, args, dict(zip(row.kwargs, kwargs, strict=True)), dtype)


def assert_rounded_once(function, args: tuple, kwargs: dict, dtype: torch.dtype):
    found = tensors(function(*args, **kwargs))
    exact = tensors(function(*map(doubled, args), **{name: doubled(x) for name, x in kwargs.items()}))
    for one, other in zip(found, exact, strict=True):
        if one.dtype == dtype and one.numel():
            bound = 1.01 * torch.finfo(dtype).eps / 2 * other.abs() + 1e-5 * other.abs().amax()
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
    parameter = inspect.signature(given(where)[0]).parameters.get("dtype")
    return parameter is not None and parameter.default is None and not given(where)[1].of


@pytest.mark.parametrize("where", [where for where in called() if has_default_format(where)], ids=shown)
def test_format_is_pytorchs_default_unless_given(where):
    function, row = given(where)
    args, kwargs = row.make(torch.float64, "cpu")
    kwargs.pop("dtype", None)
    before = torch.get_default_dtype()
    for dtype in (torch.float32, torch.float64):
        try:
            torch.set_default_dtype(dtype)
            found = tensors(function(*args, **kwargs))
        finally:
            torch.set_default_dtype(before)
        assert {one.dtype for one in found} == {dtype}
