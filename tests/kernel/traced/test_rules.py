"""Each rule of the code witness against PyTorch on numbers: what a rule says of an entry is what PyTorch computes there.

A case calls one operation on tensors whose sizes are symbols or numbers. It is read once, and the trees are computed at several sizes, 1 among them.
"""

from __future__ import annotations

import ast
import inspect
import math
import random
from collections.abc import Callable
from itertools import product
from textwrap import dedent
from typing import Any

import pytest
import torch

from derivations.kernel.attack.snippet_mutations import mutate_function
from derivations.kernel.core.assumptions import Assumption
from derivations.kernel.core.constructors import scalars, sizes
from derivations.kernel.core.expr import Expr, lift, symbol
from derivations.kernel.traced import operation_rules, witness  # noqa: F401  (the witness registers the rules)
from derivations.kernel.traced.axes import FixedAxis, JoinedAxis, MergedAxis, SymbolicAxis, axis_of_size
from derivations.kernel.traced.call_arguments import substitute
from derivations.kernel.traced.entries import Masked
from derivations.kernel.traced.errors import NotRead
from derivations.kernel.traced.symbolic_sizes import Sizes
from derivations.kernel.traced.tensor_values import TensorValue
from derivations.kernel.traced.tracing import Trace, run_traced

aten = torch.ops.aten
SIZES = dict(zip("nm", sizes("n m")))
AT = ({"n": 3, "m": 2}, {"n": 1, "m": 4}, {"n": 2, "m": 1}, {"n": 1, "m": 1})
INF = float("inf")

Case = tuple[str, list, Callable]  # the shapes of what is given, and the call
CASES: dict[str, list[tuple[list, Callable]]] = {}


def case(name: str, shapes: list, call: Callable) -> None:
    CASES.setdefault(name, []).append((shapes, call))


def entrywise(name: str, *shapes: str, **more: Any) -> None:
    packet, overload = name.split(".")
    run = getattr(getattr(aten, packet), overload)
    case(name, list(shapes) or ["nm"], lambda *a: run(*a, **more))


for _name in [
    "neg",
    "log",
    "log1p",
    "expm1",
    "log2",
    "abs",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sin",
    "cos",
    "tanh",
    "cosh",
    "sinh",
    "relu",
    "silu",
    "softplus",
    "sigmoid",
    "exp",
    "exp2",
    "special_entr",
    "isinf",
    "isnan",
    "nan_to_num",
    "t",
    "alias",
    "detach",
    "clone",
    "lift_fresh",
    "lift_fresh_copy",
]:
    entrywise(f"{_name}.default", "nm")
for _name in ["relu", "silu", "softplus", "sigmoid", "abs", "tanh"]:
    case(f"{_name}.default", ["n"], lambda a, run=getattr(aten, _name).default: run(a - 1))
case("relu.default", [], lambda: aten.relu.default(torch.tensor([-1.0, 0.0, 2.0], dtype=torch.float64)))
case("log_sigmoid_forward.default", ["n"], lambda a: aten.log_sigmoid_forward.default(a - 1)[0])
for _name in ["add", "sub", "mul", "div"]:
    entrywise(f"{_name}.Tensor", "nm", "m")
    entrywise(f"{_name}.Tensor", "n1", "1m")
    case(f"{_name}.Scalar", ["nm"], lambda a, run=getattr(aten, _name).Scalar: run(a, 1.75))
case("add.Tensor", ["n", "n"], lambda a, b: aten.add.Tensor(a, b, alpha=3))
case("sub.Tensor", ["n", "n"], lambda a, b: aten.sub.Tensor(a, b, alpha=3))
case("rsub.Scalar", ["n"], lambda a: aten.rsub.Scalar(a, 3, 2))
case("rsub.Tensor", ["nm", "m"], lambda a, b: aten.rsub.Tensor(a, b, alpha=2))
for _power in (2, 3, -1, 0.5, 0, 1):
    case("pow.Tensor_Scalar", ["n"], lambda a, p=_power: aten.pow.Tensor_Scalar(a, p))
entrywise("pow.Tensor_Tensor", "nm", "m")
entrywise("logaddexp.default", "nm", "m")
case("logaddexp.default", ["23", "23"], lambda a, b: aten.logaddexp.default(a.masked_fill(mask(), -INF), b))
entrywise("xlogy.Tensor", "nm", "m")
case("xlogy.Tensor", [], lambda: aten.xlogy.Tensor(torch.zeros(2), torch.zeros(2)))
case("xlogy.Scalar_Self", ["n"], lambda a: aten.xlogy.Scalar_Self(3, a))
case("xlogy.Scalar_Other", ["n"], lambda a: aten.xlogy.Scalar_Other(a, 0.5))
case("pow.Scalar", ["n"], lambda a: aten.pow.Scalar(2.0, a))
for _name in ["maximum", "fmax", "minimum", "fmin"]:
    case(f"{_name}.default", ["n"], lambda a, run=getattr(aten, _name).default: run(a, torch.ones((), dtype=torch.float64)))
case("clamp.default", ["nm"], lambda a: aten.clamp.default(a, 0.5, 1.25))
case("clamp_min.default", ["nm"], lambda a: aten.clamp_min.default(a, 0.75))
case("clamp_max.default", ["nm"], lambda a: aten.clamp_max.default(a, 0.75))
case("complex.default", ["3", "3"], lambda a, b: aten.complex.default(a, b))


def mask() -> torch.Tensor:
    return torch.tensor([[True, False, True], [False, False, True]])


case("where.self", ["23", "23"], lambda a, b: aten.where.self(mask(), a, b))
case("masked_fill.Scalar", ["23"], lambda a: aten.masked_fill.Scalar(a, mask(), -INF))
case("masked_fill.Tensor", ["23"], lambda a: aten.masked_fill.Tensor(a, mask(), torch.zeros((), dtype=torch.float64)))
case("exp.default", ["23"], lambda a: aten.exp.default(a.masked_fill(mask(), -INF)))
case("_softmax.default", ["23"], lambda a: aten._softmax.default(a.masked_fill(mask(), -INF), 1, False))
case("isinf.default", ["23"], lambda a: aten.isinf.default(a.masked_fill(mask(), -INF)))
case("isneginf.default", ["23"], lambda a: aten.isneginf.default(a.masked_fill(mask(), -INF)))
for _name in ["logical_not", "bitwise_not"]:
    case(f"{_name}.default", [], lambda run=getattr(aten, _name).default: run(mask()))
case("logical_not.default", [], lambda: aten.logical_not.default(torch.tensor([0.0, 2.0])))
for _name, _overload in (("logical_and", "default"), ("logical_or", "default"), ("bitwise_and", "Tensor"), ("bitwise_or", "Tensor")):
    case(f"{_name}.{_overload}", [], lambda run=getattr(getattr(aten, _name), _overload): run(mask(), mask().flip(0)))
for _name in ["eq", "ne", "gt", "ge", "lt", "le"]:
    case(f"{_name}.Tensor", [], lambda run=getattr(aten, _name).Tensor: run(torch.arange(5), torch.tensor([3, 1, 2, 4, 4])))
    case(f"{_name}.Scalar", [], lambda run=getattr(aten, _name).Scalar: run(torch.arange(5), 2))
    case(f"{_name}.Scalar", ["2"], lambda a, run=getattr(aten, _name).Scalar: run(a, -INF))
case("eq.Tensor", ["n"], lambda a: aten.eq.Tensor(torch.arange(a.shape[0])[:, None], torch.arange(a.shape[0])))
case("ne.Tensor", ["n"], lambda a: aten.ne.Tensor(torch.arange(a.shape[0])[:, None], torch.arange(a.shape[0])))

case("_to_copy.default", ["nm"], lambda a: aten._to_copy.default(a, dtype=torch.float64))
case("_to_copy.default", [], lambda: aten._to_copy.default(torch.arange(3), dtype=torch.float64))
case("permute.default", ["nm2"], lambda a: aten.permute.default(a, [2, 0, 1]))
case("transpose.int", ["nm2"], lambda a: aten.transpose.int(a, 0, -1))
case("unsqueeze.default", ["nm"], lambda a: aten.unsqueeze.default(a, 1))
case("unsqueeze.default", ["nm"], lambda a: aten.unsqueeze.default(a, -1))
case("squeeze.dim", ["n1m"], lambda a: aten.squeeze.dim(a, 1))
case("squeeze.dims", ["1n1"], lambda a: aten.squeeze.dims(a, [0, 2]))
case("squeeze.default", ["121"], lambda a: aten.squeeze.default(a))
case("expand.default", ["n1", "m"], lambda a, b: aten.expand.default(a, [2, a.shape[0], b.shape[0]]))
for _name in ("view", "_unsafe_view"):
    _run = getattr(aten, _name).default
    case(f"{_name}.default", ["n6"], lambda a, run=_run: run(a, [a.shape[0], 2, 3]))
    case(f"{_name}.default", ["n23"], lambda a, run=_run: run(a, [a.shape[0], 6]))
    case(f"{_name}.default", ["nm2"], lambda a, run=_run: run(a, [a.shape[0] * a.shape[1], 2]))
    case(f"{_name}.default", ["46"], lambda a, run=_run: run(a, [2, 2, 3, 2]))
    case(f"{_name}.default", ["232"], lambda a, run=_run: run(a, [6, 2]))
case("view.default", ["nm"], lambda a: aten.view.default(aten.view.default(a, [a.shape[0] * a.shape[1]]), [a.shape[0], a.shape[1]]))
case("_reshape_alias.default", ["n6"], lambda a: aten._reshape_alias.default(a, [a.shape[0], 6], [6, 1]))
case("view.dtype", ["n"], lambda a: aten.view.dtype(a, torch.float64))
case("select.int", ["n5"], lambda a: aten.select.int(a, 1, 3))
case("select.int", ["n5"], lambda a: aten.select.int(a, 1, -2))
case("select.int", ["nm"], lambda a: aten.select.int(a, 0, 0))
case("select.int", ["nm", "1m"], lambda a, b: aten.select.int(torch.cat([a, b]), 0, -1))
case("unbind.int", ["n3"], lambda a: aten.unbind.int(a, 1))
case("split_with_sizes.default", ["n5"], lambda a: aten.split_with_sizes.default(a, [2, 3], 1))
case("split_with_sizes.default", ["n2", "m2"], lambda a, b: aten.split_with_sizes.default(torch.cat([a, b]), [a.shape[0], b.shape[0]], 0))
case("split.Tensor", ["n5"], lambda a: aten.split.Tensor(a, 2, 1))
case("slice.Tensor", ["n7"], lambda a: aten.slice.Tensor(a, 1, 1, 6, 2))
case("slice.Tensor", ["n7"], lambda a: aten.slice.Tensor(a, 1, -3))
case("slice.Tensor", ["nm"], lambda a: aten.slice.Tensor(a, 0, 0, a.shape[0]))
case("slice.Tensor", ["n", "m", "4"], lambda a, b, c: aten.slice.Tensor(torch.cat([a, b, c]), 0, a.shape[0], a.shape[0] + b.shape[0] + 2))
case("slice.Tensor", ["4", "n"], lambda a, b: aten.slice.Tensor(torch.cat([a, b]), 0, 1, 3))
case("cat.default", ["nm", "2m", "nm"], lambda *a: aten.cat.default(list(a), 0))
case("cat.default", ["n2", "n3"], lambda *a: aten.cat.default(list(a), -1))
case("stack.default", ["nm", "nm"], lambda *a: aten.stack.default(list(a), 1))
case("flip.default", ["n3"], lambda a: aten.flip.default(a, [1]))
case("roll.default", ["n3"], lambda a: aten.roll.default(a, [1], [1]))
case("roll.default", ["35"], lambda a: aten.roll.default(a, [-1, 2], [0, 1]))
case("fill.Tensor", ["nm"], lambda a: aten.fill.Tensor(a, torch.tensor(2.5, dtype=torch.float64)))
case("repeat.default", ["n2"], lambda a: aten.repeat.default(a, [3, 1, 2]))
case("diagonal.default", ["nnm"], lambda a: aten.diagonal.default(a, 0, 0, 1))
case("diagonal.default", ["mnn"], lambda a: aten.diagonal.default(a, 0, -2, -1))
case("diag_embed.default", ["mn"], lambda a: aten.diag_embed.default(a))
for _name in ("tril", "triu"):
    for _k in (-1, 0, 1):
        for _shape in ("34", "nn", "nm"):
            case(f"{_name}.default", [_shape], lambda a, run=getattr(aten, _name).default, k=_k: run(a, k))

for _name in ["sum", "mean"]:
    case(f"{_name}.default", ["nm"], lambda a, run=getattr(aten, _name).default: run(a))
case("sum.dim_IntList", ["nm2"], lambda a: aten.sum.dim_IntList(a, [0, -1]))
case("sum.dim_IntList", ["nm2"], lambda a: aten.sum.dim_IntList(a, [1], True))
case("sum.dim_IntList", ["nm", "2m"], lambda a, b: aten.sum.dim_IntList(torch.cat([a, b]), [0]))
case("mean.dim", ["nm", "2m"], lambda a, b: aten.mean.dim(torch.cat([a, b]), [0]))
case("mean.dim", ["nm2"], lambda a: aten.mean.dim(a, [1, 2], True))
case("var.correction", ["5m"], lambda a: aten.var.correction(a, [0], correction=1))
case("var.correction", ["nm"], lambda a: aten.var.correction(a, [1], correction=0, keepdim=True))
for _name in ["std", "var_mean", "std_mean"]:
    case(f"{_name}.correction", ["5m"], lambda a, run=getattr(aten, _name).correction: run(a, [0], correction=1))
    case(f"{_name}.correction", ["n3"], lambda a, run=getattr(aten, _name).correction: run(a, [1], correction=0, keepdim=True))
case("native_layer_norm.default", ["nm"], lambda a: aten.native_layer_norm.default(a, [a.shape[1]], None, None, 0.5))
case("native_layer_norm.default", ["nm2", "m2", "m2"], lambda a, b, c: aten.native_layer_norm.default(a, [a.shape[1], 2], b, c, 0.125))
case("linalg_vector_norm.default", ["nm"], lambda a: aten.linalg_vector_norm.default(a, 2, [1]))
case("norm.ScalarOpt_dim", ["nm"], lambda a: aten.norm.ScalarOpt_dim(a, 2, [1]))
case("norm.Scalar", ["nm"], lambda a: aten.norm.Scalar(a, 2))
case("prod.default", ["23"], lambda a: aten.prod.default(a))
case("prod.dim_int", ["n3"], lambda a: aten.prod.dim_int(a, 1))
case("amax.default", ["nm"], lambda a: aten.amax.default(a, [1]))
case("amax.default", ["n2"], lambda a: aten.amax.default(a, [1], True))
case("amin.default", ["n2"], lambda a: aten.amin.default(a, [1]))
case("max.default", ["n"], lambda a: aten.max.default(a))
case("min.default", ["2"], lambda a: aten.min.default(a))
case("max.dim", ["nm"], lambda a: aten.max.dim(a, 1)[0])
case("logsumexp.default", ["nm"], lambda a: aten.logsumexp.default(a, [1]))
case("logsumexp.default", ["nm"], lambda a: aten.logsumexp.default(a, [0, 1], True))
case("_softmax.default", ["nm"], lambda a: aten._softmax.default(a, 0, False))
case("_softmax.default", ["n", "2"], lambda a, b: aten._softmax.default(torch.cat([a, b]), 0, False))
case("_safe_softmax.default", ["nm"], lambda a: aten._safe_softmax.default(a, 1))
case("_log_softmax.default", ["nm"], lambda a: aten._log_softmax.default(a, 1, False))
case("cumsum.default", ["n4"], lambda a: aten.cumsum.default(a, 1))
for _name, _dims in (("all", [1]), ("any", [0])):
    case(f"{_name}.dim", [], lambda run=getattr(aten, _name).dim, d=_dims: run(mask(), d[0]))
    case(f"{_name}.dims", [], lambda run=getattr(aten, _name).dims, d=_dims: run(mask(), d, True))
    case(f"{_name}.default", [], lambda run=getattr(aten, _name).default: run(mask()))

case("mm.default", ["nm", "m2"], aten.mm.default)
case("bmm.default", ["2nm", "2m3"], aten.bmm.default)
case("mv.default", ["nm", "m"], aten.mv.default)
case("dot.default", ["n", "n"], aten.dot.default)
case("vdot.default", ["n", "n"], aten.vdot.default)
case("addmm.default", ["m", "nm", "mm"], lambda c, a, b: aten.addmm.default(c, a, b, beta=2, alpha=0.5))
case("baddbmm.default", ["2nm", "2nm", "2mm"], lambda c, a, b: aten.baddbmm.default(c, a, b, beta=2, alpha=3))
case("linalg_inv_ex.default", ["nn"], lambda a: aten.linalg_inv_ex.default(a)[0])
case("_linalg_solve_ex.default", ["nn", "nm"], lambda a, b: aten._linalg_solve_ex.default(a, b)[0])

case("index.Tensor", ["n5"], lambda a: aten.index.Tensor(a, [None, torch.tensor([3, 0, -1])]))
case("index.Tensor", ["43"], lambda a: aten.index.Tensor(a, [torch.tensor([3, 0]), torch.tensor([2, 1])]))
case("index.Tensor", ["3m"], lambda a: aten.index.Tensor(a, [torch.arange(a.shape[0])]))
case("embedding.default", ["4m"], lambda a: aten.embedding.default(a, torch.tensor([[1, 3], [0, 0]])))
case("index_select.default", ["n4"], lambda a: aten.index_select.default(a, 1, torch.tensor([2, 2, 0])))
case("gather.default", ["23"], lambda a: aten.gather.default(a, 1, torch.tensor([[2, 0], [1, 1]])))

case("select_scatter.default", ["n3", "n"], lambda a, b: aten.select_scatter.default(a, b, 1, -1))
case("select_scatter.default", ["nm", "m"], lambda a, b: aten.select_scatter.default(a, b, 0, 0))
case("slice_scatter.default", ["n5", "n2"], lambda a, b: aten.slice_scatter.default(a, b, 1, 1, 5, 2))
case("slice_scatter.default", ["nm", "nm"], lambda a, b: aten.slice_scatter.default(a, b, 0, 0, a.shape[0]))
case("diagonal_scatter.default", ["nnm", "mn"], lambda a, b: aten.diagonal_scatter.default(a, b, 0, 0, 1))
case("diagonal_scatter.default", ["33", "3"], lambda a, b: aten.diagonal_scatter.default(a, b))

case("_to_copy.default", [], lambda: aten._to_copy.default(torch.tensor([0.0, 2.0]), dtype=torch.bool))

case("slice.Tensor", ["n72"], lambda a: aten.slice.Tensor(a, 1, 2, 5))
case("cat.default", ["n2m", "n3m"], lambda *a: aten.cat.default(list(a), 1))
case("stack.default", ["n2m", "n2m"], lambda *a: aten.stack.default(list(a), 2))
case("slice_scatter.default", ["n5m", "n2m"], lambda a, b: aten.slice_scatter.default(a, b, 1, 1, 3))
case("index_select.default", ["n42"], lambda a: aten.index_select.default(a, 1, torch.tensor([2, 0])))
case("gather.default", ["332"], lambda a: aten.gather.default(a, 1, torch.tensor([[[2, 0], [1, 1]], [[0, 2], [0, 1]]])))
case("log.default", [], lambda: aten.log.default(torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)))
case("special_entr.default", [], lambda: aten.special_entr.default(torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)))
case("clamp.default", ["nm"], lambda a: aten.clamp.default(a, 0.75))
case("clamp.default", ["nm"], lambda a: aten.clamp.default(a, None, 0.75))
case("repeat.default", ["n2"], lambda a: aten.repeat.default(a, [2, 1, 2, 3][:3]))

like = {"dtype": torch.float64}
case("zeros.default", ["nm"], lambda a: aten.zeros.default([a.shape[1], 2], **like))
case("zeros.default", ["nm"], lambda a: aten.zeros.default([a.shape[1]], dtype=torch.bool))
case("ones.default", ["nm"], lambda a: aten.ones.default([a.shape[1], a.shape[0]], **like))
case("ones.default", ["n"], lambda a: aten.ones.default([a.shape[0] + 1, 2 * a.shape[0]], **like))
case("new_zeros.default", ["nm"], lambda a: aten.new_zeros.default(a, [a.shape[1]]))
case("new_ones.default", ["nm"], lambda a: aten.new_ones.default(a, [2]))
case("zeros_like.default", ["nm"], aten.zeros_like.default)
case("ones_like.default", ["nm"], lambda a: aten.ones_like.default(a, dtype=torch.bool))
case("full.default", ["nm"], lambda a: aten.full.default([a.shape[1]], 2.5, **like))
case("new_full.default", ["nm"], lambda a: aten.new_full.default(a, [2], 2.5))
case("full_like.default", ["nm"], lambda a: aten.full_like.default(a, -INF))
case("fill.Scalar", ["nm"], lambda a: aten.fill.Scalar(a, 2.5))
case("scalar_tensor.default", [], lambda: aten.scalar_tensor.default(0.1, **like))
case("arange.default", ["n"], lambda a: aten.arange.default(a.shape[0]))
case("arange.start", [], lambda: aten.arange.start(2, 5))
case("arange.start_step", [], lambda: aten.arange.start_step(1, 8, 3))
case("eye.default", ["n"], lambda a: aten.eye.default(a.shape[0], **like))
case("eye.m", ["n"], lambda a: aten.eye.m(a.shape[0], 1, **like))
case("eye.m", ["n"], lambda a: aten.eye.m(1, a.shape[0], **like))
case("eye.m", [], lambda: aten.eye.m(2, 3, **like))
case("eye.m", [], lambda: aten.eye.m(3, 3, **like))
for _name, _run in (("_softmax", torch.softmax), ("_log_softmax", torch.log_softmax)):
    _back = getattr(aten, f"{_name}_backward_data").default
    case(f"{_name}_backward_data.default", ["nm", "nm"], lambda g, x, f=_run, b=_back: b(g, f(x, 1), 1, torch.float64))
case("tanh_backward.default", ["n", "n"], aten.tanh_backward.default)
case("sigmoid_backward.default", ["n", "n"], aten.sigmoid_backward.default)
case("silu_backward.default", ["n", "n"], aten.silu_backward.default)
case("select_backward.default", ["n"], lambda g: aten.select_backward.default(g, [g.shape[0], 4], 1, -1))
case("select_backward.default", ["m", "n"], lambda g, x: aten.select_backward.default(g, [x.shape[0], g.shape[0]], 0, 0))


# Trees in numbers


def value(e: Any, env: dict) -> Any:
    """What an entry is, with numbers for sizes, symbols and indices."""
    if isinstance(e, bool):
        return e
    if isinstance(e, Masked):
        return value(e.value, env) if value(e.keep, env) else -INF
    a = e.args
    if e.op == "const":
        return float(e.data)
    if e.op == "imaginary":
        return 1j
    if e.op == "index":
        return env[e]
    if e.op == "symbol":
        return env[e.data[0]]
    if e.op == "entry":
        return array(a[0], env)[tuple(int(value(i, env)) - 1 for i in a[1:])].item()
    if e.op == "sum":
        return sum(value(a[0], env | {Expr("index", (), (), e.data): k}) for k in range(1, env[e.data[1].data[0]] + 1))
    if e.op == "function":
        if e.data == "largest":
            return array(a[0], env).max().item()
        return {"exp": math.exp, "log": math.log, "abs": abs, "sin": math.sin, "cos": math.cos, "tanh": math.tanh}[e.data](value(a[0], env))
    parts = [value(x, env) for x in a]
    return {"add": lambda x, y: x + y, "neg": lambda x: -x, "mul": lambda x, y: x * y, "div": lambda x, y: x / y, "pow": lambda x, y: x**y}[
        e.op
    ](*parts)


def array(e: Expr, env: dict) -> torch.Tensor:
    if e.op == "symbol":
        return env[e.data[0]]
    if e.op == "eye":
        return torch.eye(env[e.shape[0].data[0]])
    if e.op == "inverse":
        return torch.linalg.inv(env[e.args[0].data[0]])
    assert e.op == "each", e.op
    return torch.tensor(
        [value(e.args[0], env | {Expr("index", (), (), e.data): k}) for k in range(1, env[e.data[1].data[0]] + 1)], dtype=torch.float64
    )


def spread(axis: Any, env: dict) -> list:
    """Each place of an axis at these sizes, with what its indices are."""
    if isinstance(axis, FixedAxis):
        return [(k, {}) for k in range(axis.n)]
    if isinstance(axis, SymbolicAxis):
        return [(lift(k + 1), {}) for k in range(env[axis.size.data[0]])]
    if isinstance(axis, MergedAxis):
        return [(tuple(p for p, _ in chosen), {}) for chosen in product(*(spread(part, env) for part in axis.parts))]
    assert isinstance(axis, JoinedAxis)
    return [((k, place), {}) for k, part in enumerate(axis.parts) for place, _ in spread(part, env)]


def in_numbers(v: TensorValue, env: dict) -> torch.Tensor:
    each = [spread(axis, env) for axis in v.axes]
    found = [value(v.at(tuple(p for p, _ in chosen)), env) for chosen in product(*each)]
    return torch.tensor(found, dtype=torch.complex128).reshape([len(places) for places in each])


# The tests


def known_truths(v: TensorValue, env: dict) -> set[bool]:
    """Whether what is a number already is a truth value of Python's, at each place."""
    each = [spread(axis, env) for axis in v.axes]
    found = [v.at(tuple(p for p, _ in chosen)) for chosen in product(*each)]
    return {isinstance(e, bool) for e in found if isinstance(e, bool) or isinstance(e, Expr) and e.op == "const"}


def shape_of(text: str) -> list[Expr]:
    return [SIZES[c] if c in SIZES else lift(int(c)) for c in text]


def read(shapes: list, call: Callable, given: tuple[Assumption, ...] = ()) -> tuple[list, Any]:
    """What each result of a call is read as."""
    reading = Trace(Sizes(), given, largest=True)
    tensors = []
    for k, text in enumerate(shapes):
        tree = shape_of(text)
        x = symbol("ABCD"[k], "real", tuple(tree))
        with reading.sizes.fake:
            made = torch.empty([int(n.data) if n.op == "const" else reading.sizes.size(n) for n in tree], dtype=torch.float64)

        def at(p: tuple, x: Expr = x) -> Expr:
            return Expr("entry", (x, *(lift(q + 1) if isinstance(q, int) else q for q in p))) if x.shape else x

        reading.hold(made, TensorValue(tuple(map(axis_of_size, tree)), at))
        tensors.append(made)
    result = run_traced(call, tensors, reading)
    return [reading.value(one) for one in (result if isinstance(result, (tuple, list)) else [result])], reading


def numbers(shapes: list, at: dict) -> list:
    draw = random.Random(7)
    found = []
    for text in shapes:
        shape = [at.get(c) or int(c) for c in text]
        found.append(torch.tensor([draw.uniform(0.3, 1.7) for _ in range(math.prod(shape))], dtype=torch.float64).reshape(shape))
    return found


def agree(shapes: list, call: Callable) -> bool:
    values, _ = read(shapes, call)
    for at in AT if any(c in SIZES for text in shapes for c in text) else AT[:1]:
        given = numbers(shapes, at)
        want = call(*given)
        env = at | dict(zip("ABCD", (x if x.dim() else x.item() for x in given)))
        for one, other in zip(values, want if isinstance(want, (tuple, list)) else [want]):
            got = in_numbers(one, env)
            if known_truths(one, env) - {other.dtype == torch.bool}:
                return False
            if got.shape != other.shape or not torch.allclose(got.to(torch.complex128), other.to(torch.complex128), rtol=1e-12, atol=1e-12):
                return False
    return True


EMPTY = {"empty.memory_format", "empty_like.default", "new_empty.default", "empty_strided.default"}  # nothing stands in what they make


def test_each_rule_has_a_case_and_each_case_a_rule():
    assert operation_rules.RULES.keys() == CASES.keys() | EMPTY and not CASES.keys() & EMPTY


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_rule_says_what_pytorch_computes(name, monkeypatch):
    called, own = [], operation_rules.RULES[name]
    monkeypatch.setitem(operation_rules.RULES, name, lambda *a, **k: called.append(name) or own(*a, **k))
    for shapes, call in CASES[name]:
        assert agree(shapes, call)
    assert called


def test_what_nothing_was_written_to_is_not_read():
    (made,), _ = read(["n"], lambda a: torch.empty_like(a))
    with pytest.raises(NotRead, match="before anything is written"):
        in_numbers(made, {"n": 2})


def test_a_case_fails_where_a_rule_is_wrong(monkeypatch):
    right = operation_rules.RULES["sub.Tensor"]
    monkeypatch.setitem(operation_rules.RULES, "sub.Tensor", lambda call, a, b, alpha=1: right(call, b, a, alpha))
    assert not all(agree(shapes, call) for shapes, call in CASES["sub.Tensor"])


def test_an_operation_that_no_rule_knows_is_named():
    with pytest.raises(NotRead, match="erfinv is not read as mathematics"):
        read(["n"], lambda a: torch.erfinv(a))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: aten._softmax.default(a, 1, False),
        lambda a: aten.sum.dim_IntList(a, [-2]),
        lambda a: aten.unsqueeze.default(a, 2),
        lambda a: aten.cumsum.default(a, 1),
    ],
    ids=["softmax", "sum", "unsqueeze", "cumsum"],
)
def test_an_axis_that_is_not_there_is_an_error(call):
    with pytest.raises((NotRead, IndexError), match="axis|Dimension"):
        read(["3"], call)


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda: mask() + mask(), "sum of truth values"),
        (lambda: torch.bitwise_not(torch.arange(3)), "bit by bit"),
        (lambda: torch.arange(3) & torch.arange(3), "bit by bit"),
        (lambda: aten._to_copy.default(torch.tensor([0.5]), dtype=torch.int64), "lose its fraction"),
    ],
    ids=["sum", "not", "and", "fraction"],
)
def test_what_means_something_else_for_whole_numbers_is_not_read(call, reason):
    with pytest.raises(NotRead, match=reason):
        in_numbers(read([], call)[0][0], {})


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda a: aten.linalg_vector_norm.default(a, 1, [0]), "a norm of order 1"),
        (lambda a: aten.diagonal.default(a, 1), "beside the main one"),
        (lambda a: aten.diag_embed.default(a, 1), "beside the main one"),
        (lambda a: aten.flip.default(a, [0]), "length is not known"),
        (lambda a: aten.cumsum.default(a, 0), "length is not known"),
        (lambda a: aten.select.int(a, 0, 1), "beyond the first"),
        (lambda a: aten.slice.Tensor(a, 0, 1), "length is not known"),
    ],
    ids=["norm", "diagonal", "embedded", "flip", "cumsum", "select", "slice"],
)
def test_what_a_rule_does_not_say_is_refused(call, reason):
    with pytest.raises(NotRead, match=reason):
        in_numbers(read(["nn"], call)[0][0], {"n": 2, "A": torch.ones(2, 2)})


# What a rule says, said wrongly


def corrupted(own: Callable, kinds: tuple[str, ...]) -> list[tuple[str, Callable]]:
    """A rule with another operation in one place."""
    lines, first = inspect.getsourcelines(own)
    tree = ast.parse(dedent("".join(lines)))
    tree.body[0].decorator_list = []
    found = []
    for what, changed in mutate_function(tree):
        text = lines[changed.line - 1].strip()
        if what in kinds and "[UNIT_AXIS] *" not in text:  # axes of length 1 put before: no more of them than there are
            seen: dict = {}
            exec(compile(ast.fix_missing_locations(changed.tree), own.__code__.co_filename, "exec"), own.__globals__, seen)
            found.append((f"{own.__name__}, line {first + changed.line - 1}: {text}", seen[own.__name__]))
    return found


@pytest.mark.nightly
def test_a_rule_that_is_corrupted_agrees_no_more(monkeypatch):
    left, tried = [], 0
    for own in dict.fromkeys(operation_rules.RULES.values()):
        names = [name for name, rule in operation_rules.RULES.items() if rule is own and name in CASES]
        if own.__name__ == "<lambda>" or own.__closure__:
            continue  # they have no lines of their own
        for what, wrong in corrupted(own, ("another operation", "a product the other way round", "the other branch")):
            tried += 1
            for name in names:
                monkeypatch.setitem(operation_rules.RULES, name, wrong)
            if all(still_agrees(name) for name in names):
                left.append(what)
        for name in names:
            monkeypatch.setitem(operation_rules.RULES, name, own)
    assert tried > 40 and left == []


def still_agrees(name: str) -> bool:
    try:
        return all(agree(shapes, call) for shapes, call in CASES[name])
    except Exception:  # whatever a wrong rule stops with
        return False


def test_a_part_that_stands_in_many_places_is_put_into_once():
    n, x = sizes("n"), scalars("x")
    tree = x + n
    for _ in range(60):  # each in two places of the next
        tree = Expr("add", (tree, tree))
    made = substitute(tree, {n: lift(2)})
    for _ in range(60):
        made = made.args[1]
    assert made == x + 2 and substitute(x + 1, {n: lift(2)}) == x + 1
