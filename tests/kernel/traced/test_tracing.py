"""The code witness: which snippets it reads, at which shapes and under which conditions, and which it does not read."""

from __future__ import annotations

import pytest

from derivations.kernel import (
    Derivation,
    diff,
    each,
    exp,
    index,
    largest,
    matrix,
    scalars,
    sizes,
    softmax,
    sqrt,
    total,
    vector,
    zero_or_one,
)
from derivations.kernel.core.claims import EVERY_SHAPE, Rejected
from derivations.kernel.traced.witness import check_call, check_code
from tests.kernel.common import has_code

n, m, d = sizes("n m d")
x, y = vector("x", n), vector("y", n)
A, B = matrix("A", n, m), matrix("B", n, m)
i, j = index("i", n), index("j", m)
a, b = scalars("a b")

HEAD = """
import math
import torch
"""


@pytest.fixture
def said(computing):
    """What is said of a body of code whose arguments are those of the call, and which has to compute `want`."""

    def ask(body: str, arguments: list, want, given=(), whole: bool = False, names: str = "x, y, z, *rest"):
        claim = computing(body, arguments, want, given, HEAD, names)
        return check_code(claim) if whole else check_call(claim, 0)

    return ask


def proved(found, scope=EVERY_SHAPE, conditions=()):
    assert (found.state, found.scope, list(found.conditions)) == ("proved", scope, list(conditions)), found
    return True


# What is read


@pytest.mark.parametrize(
    "body, arguments, want",
    [
        ("return x * 2", [x], 2 * x),
        ("return x / x.shape[0] ** 0.5", [x], x / sqrt(n)),
        ("return x / math.sqrt(x.shape[0])", [x], x / sqrt(n)),
        ("return x.exp() / x.exp().sum()", [x], softmax(x)),
        ("shifted = x - x.amax(); return shifted.exp() / shifted.exp().sum()", [x], softmax(x)),
        ("return torch.einsum('ij,kj->ik', x, y)", [A, B], A @ B.T),
        ("return torch.cat([x, y]).sum()", [x, y], total(x[i] + y[i], i)),
        ("one, other = torch.cat([x, y]).split([x.shape[0], x.shape[0]]); return one * other", [x, y], each(x[i] * y[i], i)),
        ("return x.reshape(-1).sum()", [A], total(total(A[i, j], i), j)),
        ("return x.mT.reshape(-1).reshape(x.mT.shape).mT", [A], A + 0 * A),
        ("made = torch.zeros_like(x); made += x; made *= 3; return made", [x], 3 * x),
        ("return torch.stack([x, y, x])[1]", [x, y], y + 0 * y),
        ("return torch.diag_embed(x) @ x", [x], each(x[i] ** 2, i)),
        ("return torch.arange(x.shape[0], dtype=x.dtype) * x", [x], each((i - 1) * x[i], i)),
        ("x = x.detach().requires_grad_(); return torch.autograd.grad(x.exp().sum(), x)[0]", [x], exp(x)),
        ("return torch.func.grad(lambda z: (z * z * z).sum())(x)", [x], each(diff(total(x[j] ** 3, j), x[i]), i) if False else each(3 * x[i] ** 2, i)),
        ("return torch.where(torch.zeros_like(x) == 1, x, -torch.inf).exp()", [x], 0 * x),
    ],
)  # fmt: skip
def test_code_is_proved_at_every_shape(said, body, arguments, want):
    assert proved(said(body.replace("; ", "\n"), arguments, want))


def test_a_mask_of_zeros_and_ones_is_read(said):
    keep = vector("b", n)
    want = each(keep[i] * exp(x[i]), i)
    assert proved(said("return x.masked_fill(y == 0, -torch.inf).exp()", [x, keep], want, given=[zero_or_one(keep)]))
    assert proved(said("return (x + y.log()).exp()", [x, keep], want, given=[zero_or_one(keep)]))


def test_the_largest_is_read_where_the_claim_speaks_of_it(said):
    assert proved(said("return x.amax()", [x], largest(x) + 0 * largest(x)))


def test_whole_numbers_and_numbers_of_python_are_read(said):
    found = said("return x * (x + 1) // 2", [n], n * (n + 1) / 2)
    assert proved(found)


# Which shapes


@pytest.mark.parametrize(
    "body, scope",
    [
        ("return sum(x[k] for k in range(x.shape[0]))", "n = 1; n = 2; n = 3"),
        ("return x.sum() * int(x.shape[0]) / x.shape[0]", "n = 1; n = 2; n = 3"),
        ("return x.sum() if x.shape[0] < 100 else x.sum() + 1", "100 > n"),
        ("return x.sum() if x.shape[0] != 7 else x.sum() + 1", "n != 7"),
    ],
)
def test_a_size_that_is_asked_for_is_told(said, body, scope):
    assert proved(said(body, [x], total(x[i], i)), scope)


def test_code_that_is_wrong_at_a_size_of_one_is_not_proved_there(said):
    found = said("return x.sum() if x.shape[0] > 1 else x.sum() + 1", [x], total(x[i], i))
    assert found.state == "different" and "n = 1" in found.reason


def test_a_quotient_that_is_rounded_is_not_read_at_every_shape(said):
    found = said("return x // 2 * 2", [n], n + 0 * n)
    assert found.state != "proved" or found.scope != EVERY_SHAPE


# Which values


@pytest.mark.parametrize(
    "body, condition",
    [
        ("return x if x > 0 else x + 1", "a is positive"),
        ("return torch.where(x == 0.375, x + 1, x)", "a + (-3/8) is not zero"),
        ("return torch.where(x > 2, x, x) + torch.where(x < 2, 1, 0)", "a + (-2) is positive"),
    ],
)
def test_what_a_branch_supposes_is_told(said, body, condition):
    assert proved(said(body, [a], a + 0 * a), conditions=[condition])


def test_a_branch_is_taken_one_way_throughout(said):
    found = said("return (x if x > 0 else x + 1) + (1 if x < 0 else 0)", [a], a + 0 * a)
    assert proved(found, conditions=["a is positive"])


def test_what_holds_nowhere_is_not_supposed(said):
    found = said("return x if x - x.exp() > 0 else x + 1", [a], a + 0 * a)
    assert found.state == "not read" and "nothing was found where" in found.reason


def test_what_is_supposed_decides_what_follows_from_it(said):
    found = said("return x if (x > 0) and (x - 1 > 0) and (-x + 0.5 > 0) else x + 1", [a], a + 0 * a)
    assert found.state == "different" and "left = " in found.reason


def test_what_is_decided_is_not_supposed(said):
    assert proved(said("return x if x.exp().sum() > 0 else x + 1", [x], x + 0 * x))


def test_a_float_is_told_as_what_it_is_read(said):
    found = said("return x * 0.1", [x], x / 10)
    assert proved(found) and found.constants == ["0.1 as 1/10"]


# What is refused


@pytest.mark.parametrize(
    "body, reason",
    [
        ("return x.erfinv()", "erfinv is not read as mathematics"),
        ("return x + torch.rand_like(x)", "is not read as mathematics"),
        ("return x.sort().values", "sort is not read as mathematics"),
        ("return x.topk(1).values", "topk is not read as mathematics"),
        ("return torch.view_as_real(torch.view_as_complex(torch.stack([x, x], 1)))", "view_as_complex is not read as mathematics"),
        ("return x.add_(0)", "written to"),
        ("return x / torch.empty(1, dtype=x.dtype)", "before anything is written"),
        ("return torch.softmax(x, 1)", "axis"),
        ("raise ValueError('no')", "ValueError: no"),
    ],
)
def test_what_is_not_read_is_told(said, body, reason):
    found = said(body.replace("; ", "\n"), [x], x + 0 * x)
    assert found.state == "not read" and reason in found.reason, found


def test_the_line_is_told(said):
    found = said("y = x + 1\nreturn y.erfinv()", [x], x + 0 * x)
    assert found.line == "planted.py:7"


@pytest.mark.parametrize(
    "body, arguments, want",
    [
        ("return -x", [x], x + 0 * x),
        ("return x.sum(0)", [matrix("C", n, n)], each(total(matrix("C", n, n)[i, index("k", n)], index("k", n)), i)),
        ("return x @ y.mT * 2", [A, B], A @ B.T),
        ("return x.exp() / (1 + x.exp().sum())", [x], softmax(x)),
        ("return x.flip(0)", [vector("z", 3)], vector("z", 3) + 0 * vector("z", 3)),
        ("return x * torch.tensor([2.0, 3.0]).sum()", [x], 4 * x),
    ],
)
def test_code_that_computes_something_else_is_refused(said, body, arguments, want):
    found = said(body, arguments, want)
    assert found.state == "different" and "left = " in found.reason
    with pytest.raises(Rejected, check=has_code("computes-something-else"), match=r"snippets\.planted\.f \(planted\.py:\d+\)"):
        said(body, arguments, want, whole=True)


def test_a_claim_without_code_is_not_judged():
    derivation = Derivation("none")
    derivation.identity("planted", a + b, b + a)
    assert check_code(derivation.claims[0]).state == "not named"
