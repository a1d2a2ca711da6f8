"""One check for all snippets: do these tensors have the shapes that the formula needs?

>>> import torch
>>> check_shapes("query: n d_k, key: m d_k", torch.ones(2, 3, 4), torch.ones(5, 4))
>>> check_shapes("query: n d_k, key: m d_k", torch.ones(2, 3, 4), torch.ones(5, 6))
Traceback (most recent call last):
ValueError: d_k is 4 in query (2, 3, 4) but 6 in key (5, 6); expected query (..., n, d_k), key (..., m, d_k)
>>> check_shapes("A: n n", torch.ones(3, 2))
Traceback (most recent call last):
ValueError: n is 3 in A (3, 2) but 2 in A (3, 2); expected A (..., n, n)
"""

from torch import Tensor, broadcast_shapes


def check_shapes(spec: str, *tensors: Tensor) -> None:
    """Raise a ValueError unless the tensors have the shapes that `spec` names.

    `spec` names each tensor and its last axes, as in "query: n d_k, key: m d_k". Axes of one
    name have one size, which is at least 1. Any number of axes may lead, in each tensor; those
    of all tensors must broadcast together.
    """
    names, lasts = zip(*(part.split(": ") for part in spec.split(", ")))
    lasts = [last.split() for last in lasts]
    shown = [
        f"{name} {tuple(tensor.shape)}"
        for name, tensor in zip(names, tensors, strict=True)
    ]

    def fail(problem: str):
        expected = (
            f"{name} (..., {', '.join(last)})"
            for name, last in zip(names, lasts)
        )
        raise ValueError(f"{problem}; expected {', '.join(expected)}")

    first = {}  # axis -> its size, and the tensor that set it
    leading = []
    for show, last, tensor in zip(shown, lasts, tensors):
        lead = tensor.dim() - len(last)
        if lead < 0:
            fail(f"{show} has too few axes")
        leading.append(tensor.shape[:lead])
        for axis, size in zip(last, tensor.shape[lead:]):
            known, where = first.setdefault(axis, (size, show))
            if size != known:
                fail(f"{axis} is {known} in {where} but {size} in {show}")
            if size == 0:
                fail(f"{axis} is 0 in {show} and must be at least 1")
    try:
        broadcast_shapes(*leading)
    except RuntimeError:
        fail(f"the leading axes of {' and '.join(shown)} do not broadcast")
