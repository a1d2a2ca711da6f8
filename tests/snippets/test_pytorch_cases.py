"""Test the snippets on the cases of PyTorch's own tests: values, gradients, vmap and compile. The intended differences are listed."""

import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from snippets.around.layernorm import layer_norm, rms_norm
from snippets.around.transformer import embed, encoder_arguments, encoder_block
from snippets.attention.formula import attention
from snippets.attention.masks import masked_softmax
from snippets.heads.module import from_pytorch
from snippets.predecessors.lstm import lstm_step
from snippets.predecessors.rnn import rnn_step
from snippets.softmax.temperature import softmax_with_temperature
from snippets.together.gpt import silu

FORMATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
TIMES = 4  # the allowed error, as a multiple of PyTorch's own error


@dataclass(frozen=True)
class Case:
    """One call: PyTorch's function and ours, both as functions of the same tensors, or the reason why ours differs by design."""

    tensors: tuple = ()
    theirs: Callable | None = None
    ours: Callable | None = None
    by_design: str = ""
    eager: str = ""  # why it cannot be compiled


@dataclass(frozen=True)
class Entry:
    """A function or layer of PyTorch, and a function that makes a case of one of its samples."""

    name: str
    case: Callable
    ours: str = ""  # which of our functions, if there are two

    def __str__(self):
        return f"{self.name} {self.ours}".rstrip()


def differs(reason: str) -> Case:
    return Case(by_design=reason)


def last_axis(dim, x: Tensor) -> bool:
    return x.dim() > 0 and dim in (-1, x.dim() - 1)


# Functions


def of_attention(op, x, args, kwargs) -> Case:
    """PyTorch passes everything except query, key and value by keyword."""
    if kwargs.get("dropout_p"):
        return differs("dropout is a function of its own")
    kwargs = {name: value for name, value in kwargs.items() if name != "dropout_p"}
    mask = kwargs.pop("attn_mask", None)
    if isinstance(mask, Tensor) and mask.is_floating_point():
        return Case((x, *args, mask), *((lambda *t, f=f: f(*t[:3], attn_mask=t[3], **kwargs)) for f in (op, attention)))
    return Case((x, *args), *((lambda *t, f=f: f(*t, attn_mask=mask, **kwargs)) for f in (op, attention)))


def of_softmax(ours: Callable) -> Callable:
    def case(op, x, args, kwargs) -> Case:
        if kwargs.get("dtype") or len(args) > 1 and args[1]:
            return differs("the result has the format of the input")
        if not last_axis(args[0] if args else kwargs["dim"], x):
            return differs("the last axis is what is weighted")
        return Case((x,), lambda x: op(x, *args, **kwargs), ours)

    return case


def of_norm(ours: Callable) -> Callable:
    def case(op, x, args, kwargs) -> Case:
        shape, *rest = args
        names = ("weight", "eps") if ours is rms_norm else ("weight", "bias", "eps")
        given = dict(zip(names, rest)) | kwargs
        if len(shape) != 1:
            return differs("a token is one axis")
        eps = given.get("eps")
        if eps is None:  # RMSNorm takes that of the format in which it computes
            eps = torch.finfo(torch.promote_types(x.dtype, torch.float32)).eps if ours is rms_norm else 1e-5
        learnt = [given[name] for name in ("weight", "bias") if given.get(name) is not None]

        def affine(x, *learnt):
            result = ours(x, eps=eps)
            for name, tensor in zip([n for n in ("weight", "bias") if given.get(n) is not None], learnt):
                result = result * tensor if name == "weight" else result + tensor
            return result

        def theirs(x, *learnt):
            new = dict(zip([n for n in ("weight", "bias") if given.get(n) is not None], learnt))
            return op(x, shape, **{**given, **new})

        return Case((x, *learnt), theirs, affine)

    return case


def of_silu(op, x, args, kwargs) -> Case:
    return Case((x,), op, silu)


def of_embedding(op, table, args, kwargs) -> Case:
    if any(kwargs.get(name) for name in ("scale_grad_by_freq", "padding_idx", "max_norm", "sparse")) or "padding_idx" in kwargs:
        return differs("a table is looked up, and that is all")
    alone = "" if args[0].dim() else "an index of no axes is a number, on which the graph would depend"
    return Case((table,), lambda table: op(table, *args, **kwargs), lambda table: embed(args[0], table), eager=alone)


FUNCTIONS = [
    Entry("nn.functional.scaled_dot_product_attention", of_attention),
    Entry("softmax", of_softmax(masked_softmax), "masked_softmax"),
    Entry("softmax", of_softmax(lambda x: softmax_with_temperature(x, tau=1.0)), "softmax_with_temperature"),
    Entry("torch.ops.aten._safe_softmax.default", of_softmax(masked_softmax)),
    Entry("nn.functional.rms_norm", of_norm(rms_norm)),
    Entry("nn.functional.layer_norm", of_norm(layer_norm)),
    Entry("nn.functional.silu", of_silu),
    Entry("nn.functional.embedding", of_embedding),
]


# Layers


def with_weights(layer: nn.Module, x: tuple, ours: Callable) -> Case:
    """Return a case: the layer as a function of its inputs and weights, and our function of the same."""
    names = [name for name, _ in layer.named_parameters()]
    count = len(x)

    def theirs(*tensors):
        return torch.func.functional_call(layer, dict(zip(names, tensors[count:])), tensors[:count])

    return Case((*x, *(p.detach() for p in layer.parameters())), theirs, lambda *t: ours(dict(zip(names, t[count:])), *t[:count]))


def of_rnn_cell(layer, args, kwargs) -> Case:
    if layer.nonlinearity != "tanh":
        return differs("the network has tanh")
    if len(args) < 2:
        args = (*args, torch.zeros(*args[0].shape[:-1], layer.hidden_size, dtype=args[0].dtype))
    return with_weights(layer, args, lambda w, x, h: rnn_step(x, h, w["weight_ih"].T, w["weight_hh"].T, bias=biases(w)))


def of_lstm_cell(layer, args, kwargs) -> Case:
    if len(args) < 2:
        args = (*args, (torch.zeros(*args[0].shape[:-1], layer.hidden_size, dtype=args[0].dtype),) * 2)
    x, (h, c) = args
    case = with_weights(layer, (x, h, c), lambda w, x, h, c: lstm_step(x, h, c, w["weight_ih"].T, w["weight_hh"].T, bias=biases(w)))
    names = [name for name, _ in layer.named_parameters()]
    theirs = lambda x, h, c, *w: torch.func.functional_call(layer, dict(zip(names, w)), (x, (h, c)))  # noqa: E731
    return Case(case.tensors, theirs, case.ours)


def biases(w: dict, suffix: str = "") -> Tensor | float:
    """Return the sum of PyTorch's two biases, which is all that matters."""
    name = f"bias_ih{suffix}"
    return w[name] + w[f"bias_hh{suffix}"] if name in w else 0.0


def of_multihead(layer, args, kwargs) -> Case:
    """Our function has one context for keys and values, so PyTorch gets the keys for both."""
    try:
        mine = from_pytorch(layer)
    except ValueError:
        return differs("a layer that ours cannot be is refused")
    masks = [added(kwargs[name]) for name in ("attn_mask", "key_padding_mask") if kwargs.get(name) is not None]
    query, key, _ = args
    theirs = lambda q, k: layer(q, k, k, **{**kwargs, "need_weights": False})[0]  # noqa: E731
    return Case((query, key), theirs, lambda q, k: mine(q, context=k, attn_mask=sum(masks) if masks else None))


def added(mask: Tensor) -> Tensor:
    """Return PyTorch's mask, in which True masks, as numbers to add."""
    return torch.zeros(mask.shape, dtype=torch.float64).masked_fill(mask, -torch.inf) if mask.dtype == torch.bool else mask


def of_encoder(layer, args, kwargs) -> Case:
    if any(x is not None for x in (*args[1:], *kwargs.values())):
        return differs("the block takes no mask")
    try:
        given = encoder_arguments(layer)
    except ValueError:
        return differs("a layer that ours cannot be is refused")
    weights = given.pop("weights")
    return Case((args[0],), layer, lambda x: encoder_block(x, weights, **given))


def of_normed(ours: Callable) -> Callable:
    def case(layer, args, kwargs) -> Case:
        if len(layer.normalized_shape) != 1:
            return differs("a token is one axis")
        eps = torch.finfo(torch.promote_types(args[0].dtype, torch.float32)).eps if layer.eps is None else layer.eps
        return with_weights(layer, args, lambda w, x: ours(x, eps=eps) * w.get("weight", 1) + w.get("bias", 0))

    return case


def of_softmax_layer(layer, args, kwargs) -> Case:
    if not last_axis(layer.dim, args[0]):
        return differs("the last axis is what is weighted")
    return Case(args, layer, masked_softmax)


LAYERS = [
    Entry("nn.MultiheadAttention", of_multihead),
    Entry("nn.TransformerEncoderLayer", of_encoder),
    Entry("nn.RNNCell", of_rnn_cell),
    Entry("nn.LSTMCell", of_lstm_cell),
    Entry("nn.LayerNorm", of_normed(layer_norm)),
    Entry("nn.RMSNorm", of_normed(rms_norm)),
    Entry("nn.Softmax", of_softmax_layer),
]


# PyTorch's samples


@cache
def pytorch_samples() -> tuple[list, list]:
    """Return PyTorch's functions and layers with their samples. The import takes seconds, so it is not at the top of the module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns about its own code
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_modules import module_db
    return op_db, module_db


@cache
def cases(entry: Entry, dtype: torch.dtype) -> list[tuple[Case, Case]]:
    """Return pairs of each case in a format and the same case in double precision."""
    torch.manual_seed(0)
    return list(of_functions(entry, dtype) if entry in FUNCTIONS else of_layers(entry, dtype))


def of_functions(entry: Entry, dtype: torch.dtype):
    for op in (op for op in pytorch_samples()[0] if op.name == entry.name and dtype in op.supported_dtypes("cpu")):
        for sample in op.sample_inputs("cpu", dtype):
            given = sample.input, sample.args, sample.kwargs
            yield entry.case(op.op, *given), entry.case(op.op, *in_double(given))


def of_layers(entry: Entry, dtype: torch.dtype):
    for info in (info for info in pytorch_samples()[1] if info.name == entry.name and dtype in info.dtypes):
        for sample in info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=False):
            made, given = sample.constructor_input, (sample.forward_input.args, sample.forward_input.kwargs)
            layer = info.module_cls(*made.args, **made.kwargs).to(dtype).eval()
            yield entry.case(layer, *given), entry.case(copy.deepcopy(layer).double(), *in_double(given))


def in_double(given):
    return tree_map(lambda x: x.double() if isinstance(x, Tensor) and x.is_floating_point() else x, given)


def compared(entry: Entry, dtype: torch.dtype) -> list[tuple[Case, Case]]:
    return [both for both in cases(entry, dtype) if not both[0].by_design]


every = pytest.mark.parametrize("entry", [*FUNCTIONS, *LAYERS], ids=str)


# For layers, PyTorch has cases in single and double precision only.
in_formats = pytest.mark.parametrize(
    ("entry", "dtype"), [*((e, f) for e in FUNCTIONS for f in FORMATS), *((e, f) for e in LAYERS for f in FORMATS[:2])], ids=str
)


@in_formats
def test_values_agree_with_pytorch(entry, dtype):
    assert compared(entry, dtype)
    for both in compared(entry, dtype):
        assert_agrees(*both, lambda function, tensors: listed(function(*tensors)))


@every
@pytest.mark.parametrize("dtype", FORMATS[:2], ids=str)
def test_gradients_agree_with_pytorch(entry, dtype):
    for both in compared(entry, dtype):
        assert_agrees(*both, gradients)


def assert_agrees(case: Case, double: Case, results: Callable):
    """Assert that our result agrees with PyTorch's, within the tolerance of PyTorch's tests or a small multiple of PyTorch's own error."""
    ours, theirs, exact = results(case.ours, case.tensors), results(case.theirs, case.tensors), results(double.theirs, double.tensors)
    for mine, other, right in zip(ours, theirs, exact, strict=True):
        off = (other.double() - right).abs().max().item() if right.numel() else 0
        usual = 1e-7 if mine.dtype == torch.float64 else torch.finfo(mine.dtype).eps
        torch.testing.assert_close(mine, other, rtol=8 * usual, atol=max(8 * usual, TIMES * off))


def listed(found) -> tuple:
    return found if isinstance(found, tuple) else (found,)


def gradients(function: Callable, tensors: tuple) -> tuple:
    """Return the gradients of a weighted sum of the results. The weights differ from each other."""
    inputs = [x.detach().clone().requires_grad_() for x in tensors]
    weighted = [(x * torch.linspace(1, 2, x.numel(), dtype=x.dtype).view(x.shape)).sum() for x in listed(function(*inputs))]
    return torch.autograd.grad(sum(weighted), inputs, allow_unused=True, materialize_grads=True)


@every
def test_functions_work_with_vmap(entry):
    for case, _ in compared(entry, torch.float64):
        batched = [torch.stack([x, x + 1]) for x in case.tensors]
        expected = [case.ours(*(x[k] for x in batched)) for k in range(2)]
        found = torch.func.vmap(case.ours)(*batched)
        for k, one in enumerate(expected):
            torch.testing.assert_close(tuple(x[k] for x in found) if isinstance(found, tuple) else found[k], one)


@every
def test_functions_compile_to_one_graph(entry):
    for case, _ in compared(entry, torch.float32):
        if case.eager:
            continue
        torch._dynamo.reset()
        compiled = torch.compile(case.ours, fullgraph=True, backend="aot_eager")
        torch.testing.assert_close(compiled(*case.tensors), case.ours(*case.tensors))


AXES, TOKEN, REFUSED = "the last axis is what is weighted", "a token is one axis", "a layer that ours cannot be is refused"
BY_DESIGN = {
    "nn.functional.scaled_dot_product_attention": {"dropout is a function of its own"},
    "softmax": {"the result has the format of the input", AXES},
    "torch.ops.aten._safe_softmax.default": {AXES},
    "nn.functional.rms_norm": {TOKEN},
    "nn.functional.layer_norm": {TOKEN},
    "nn.functional.embedding": {"a table is looked up, and that is all"},
    "nn.MultiheadAttention": {REFUSED},
    "nn.TransformerEncoderLayer": {"the block takes no mask", REFUSED},
    "nn.RNNCell": {"the network has tanh"},
    "nn.LayerNorm": {TOKEN},
    "nn.RMSNorm": {TOKEN},
    "nn.Softmax": {AXES},
}


@every
def test_intended_differences_are_listed(entry):
    assert {case.by_design for case, _ in cases(entry, torch.float32)} - {""} == BY_DESIGN.get(entry.name, set())
