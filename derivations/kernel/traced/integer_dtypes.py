"""Check that the entries of integer and boolean tensors fit their dtype: no fractions, and no overflow."""

from __future__ import annotations

from typing import Any

import torch

from ..core.expr import Expr
from .entries import Entry, Masked, negated_operand
from .errors import NotRead
from .tensor_values import TensorValue

LONG = (torch.int32, torch.int64)  # dtypes that hold every size


def check_fits_dtype(reading: Any, dtype: torch.dtype, value: TensorValue) -> TensorValue:
    """Return a value whose entries raise NotRead if a tensor of this dtype would hold a different number."""
    if dtype.is_floating_point or dtype.is_complex:
        return value
    return value.map(lambda e: check_entry(reading, dtype, e))


def check_entry(reading: Any, dtype: torch.dtype, e: Entry) -> Entry:
    """Return an entry; raise NotRead if a tensor of this dtype may not hold it."""
    if isinstance(e, bool):
        return e
    if isinstance(e, Masked):
        raise NotRead(f"an infinity in a tensor of {dtype}")
    if e.op == "const":
        low, high = (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
        if e.data.denominator != 1 or not low <= e.data <= high:
            raise NotRead(f"the number {e.data} in a tensor of {dtype}")
    elif not is_zero_or_one(reading, e) and dtype != torch.bool and not (dtype in LONG and is_integer(reading, e)):
        raise NotRead(f"a number that a tensor of {dtype} may not hold")
    return e


def is_zero_or_one(reading: Any, e: Expr) -> bool:
    """Return whether an expression is 0 or 1 by its form and the assumptions."""
    if e.op == "const":
        return e.data in (0, 1)
    if e.op == "entry":
        return e.args[0].op == "eye" or e.args[0].op == "symbol" and e.args[0].data[0] in reading.facts().bits
    if e.op == "where":
        return is_zero_or_one(reading, e.args[0])
    if (operand := negated_operand(e)) is not None:
        return is_zero_or_one(reading, operand)
    return e.op == "symbol" and e.data[0] in reading.facts().bits or e.op == "mul" and all(is_zero_or_one(reading, a) for a in e.args)


def is_integer(reading: Any, e: Expr) -> bool:
    """Return whether an expression is an integer by its form."""
    if e.op == "const":
        return e.data.denominator == 1
    if e.op in ("add", "sub", "mul", "neg"):
        return all(is_integer(reading, a) for a in e.args)
    if e.op in ("sum", "where"):
        return is_integer(reading, e.args[0])
    return e.op == "index" or e.op == "symbol" and e.data[1] == "size" or is_zero_or_one(reading, e)
