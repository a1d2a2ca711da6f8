"""Wrong code that an operation rule without its conditions would accept: none of it is proved."""

from __future__ import annotations

import pytest

from derivations.kernel import each, exp, index, log, matrix, sizes, total, vector, zero_or_one
from derivations.kernel.core.constructors import I
from derivations.kernel.traced.witness import check_call

n, m = sizes("n m")
i, j, k = index("i", n), index("j", m), index("k", n)
x, y, u, v, w, z = vector("x", n), vector("y", n), vector("u", n), vector("v", n), vector("w", m), vector("z", 3)
l3 = index("l", 3)
A, K = matrix("A", n, m), matrix("K", n, m)
Q = matrix("Q", 3, 3)
SUM = total(x[i], i)
BITS, MASKS = [zero_or_one(y)], [zero_or_one(y), zero_or_one(v)]
KEPT = "something is kept, where "
MASK = "s = x.masked_fill(y == 0, -torch.inf); "
JOIN = "s = torch.cat([torch.ones_like(x), 2 * torch.ones_like(y)]); "
APART = "if x.shape[0] == 1: return x; "
NONE = 0 * SUM * total(w[j], j)


@pytest.fixture
def said(computing):
    """What is said of a body of code, its lines divided by semicolons, which has to compute `want`."""
    return lambda body, arguments, want, given=(): check_call(computing(body.replace("; ", "\n"), arguments, want, given), 0)


# What cannot be read soundly, by hole: the body, its arguments, and what it would wrongly be proved to be.
REFUSED = {
    "any is not known to be false": ("return torch.where((y != 0).any(), 7 * x, x)", [x, y], each(x[i] + 0 * y[i], i), BITS),
    "any infinity": (MASK + "if torch.isinf(s).any(): return 0 * s.exp().sum(); return s.exp().sum()", [x, y], total(exp(x[i]) * y[i], i), BITS),
    "all is not known to be false": ("return (y != 0).all().to(torch.float64) * x", [x, y], each(0 * x[i] * y[i], i), BITS),
    "any hidden": ("return (y == 0).any().to(torch.float64) * x", [x, y], each(0 * x[i] * y[i], i), BITS),
    "the smaller of infinity": ("return torch.minimum(torch.full_like(x, -torch.inf), x).exp()", [x], exp(x), []),
    "the smaller of what may be infinity": (MASK + "return torch.minimum(s, x) - torch.minimum(s, x)", [x, y], each(0 * x[i] * y[i], i), BITS),
    "the least of what may be infinity": (MASK + "M = s.amin(); return (s - M).exp() / (x - M).exp()", [x, y], y + 0 * x, BITS),
    "a sum in whole numbers": ("return x.sum(dtype=torch.int64)", [x], SUM, []),
    "sums up to a place in whole numbers": ("return x.cumsum(0, dtype=torch.int64)[0]", [z], z[1] + 0 * z[2], []),
    "a product in whole numbers": ("return x.prod(dtype=torch.int64)", [z], z[1] * z[2] * z[3], []),
    "a sum of truths as a truth": ("return x * torch.tensor([True, True]).sum(dtype=torch.bool)", [x], 2 * x, []),
    "a product of truths as a truth": ("return x * torch.tensor([2, 2]).prod(dtype=torch.bool)", [x], 4 * x, []),
    "a power of whole numbers": ("return x * 2 ** torch.tensor([-1])", [x], x / 2, []),
    "a number beyond 64 bits": ("return x * (2 ** torch.tensor(64))", [x], 2**64 * x, []),
    "a sign that is lost": ("return x * torch.tensor([-1]).to(torch.uint8)", [x], -x, []),
    "a product beyond 8 bits": ("return x * (torch.tensor([200], dtype=torch.uint8) * 2)", [x], 400 * x, []),
    "places beyond 8 bits": ("return x * torch.arange(300, dtype=torch.uint8)[299]", [x], 299 * x, []),
    "a filling that is cut off": ("return x * torch.zeros(1, dtype=torch.int64).fill_(torch.tensor(.5))", [x], x / 2, []),
    "a filling that moves": ("return torch.zeros(1, dtype=torch.int64).fill_(x.sum())[0].to(torch.float64)", [x], SUM, []),
    "a truth that is filled": ("t = torch.zeros(1, dtype=torch.bool).fill_(x.sum()); return t.to(torch.float64)[0]", [x], SUM, []),
    "a truth that is hidden": (
        "t = torch.zeros(3, dtype=torch.bool).masked_fill(torch.ones(3, dtype=torch.bool), x.sum()); return t.to(torch.float64)[0]", [x], SUM, [],
    ),
    "a whole number that is hidden": ("return x * torch.arange(3).masked_fill(torch.tensor([True, False, True]), .5)[0]", [x], x / 2, []),
    "a start that is cut off": ("return x * torch.arange(.5, 3.5, dtype=torch.int64)[0]", [x], x / 2, []),
    "a step that is cut off": ("return x * torch.arange(0, 4.5, 1.5, dtype=torch.int64)[2]", [x], 3 * x, []),
    "bits read otherwise": ("return x.view(torch.int64).to(torch.float64)", [x], x + 0 * x, []),
    "a part that is lost": ("return torch.complex(x, y).to(torch.float64)", [x, y], each(x[i] + I * y[i], i), []),
    "a conjugate": ("c = torch.complex(x, y); return torch.vdot(c, c)", [x, y], total((x[i] + I * y[i]) ** 2, i), []),
    "a norm of complex numbers": ("return torch.linalg.vector_norm(torch.complex(x, y)) ** 2", [x, y], total((x[i] + I * y[i]) ** 2, i), []),
    "a place of another axis": ("return torch.select(x, 0, y.shape[0]) + 0 * y.sum()", [vector("t", 20), x], vector("t", 20)[1] + 0 * SUM, []),
    "gathered along other cuts": (
        JOIN + "at = torch.cat([torch.zeros_like(y), torch.zeros_like(x)]).to(torch.int64); return torch.gather(s[None], 0, at[None]).sum()",
        [x, w], 2 * n + m + NONE, [],
    ),
    "written along other cuts": (
        "s = torch.stack([torch.cat([0 * x, 0 * y])] * 2); return torch.select_scatter(s, torch.cat([0 * y + 2, 0 * x + 1]), 0, 0).sum()",
        [x, w], m + 2 * n + NONE, [],
    ),
    "a diagonal of other cuts": (
        JOIN + "return torch.diagonal_scatter(torch.zeros(s.shape[0], s.shape[0]), torch.cat([0 * y + 2, 0 * x + 1])).sum()",
        [x, w], m + 2 * n + NONE, [],
    ),
    "a slope along other cuts": (
        "s = torch.cat([x * 0, y * 0]).softmax(0); g = torch.cat([0 * y, 0 * x + 1]);"
        " g = torch.ops.aten._softmax_backward_data(g, s, 0, torch.float64); return g[:x.shape[0]].sum()",
        [x, w], -n * m / (n + m) ** 2 + NONE, [],
    ),
    "a place beyond the end": ("return x * torch.arange(5.)[torch.tensor([7])]", [x], 7 * x, []),
    "a place before the start": ("return x * torch.arange(5.)[torch.tensor([-9])]", [x], -4 * x, []),
    "a place beyond the end that is not asked for": ("return x * torch.arange(5.)[torch.tensor([7, 1])][1]", [x], x + 0 * x, []),
    "a row beyond the end": ("return x * torch.index_select(torch.zeros(3), 0, torch.tensor([5]))", [x], 0 * x, []),
    "a row from the end": ("return x * torch.index_select(torch.arange(3.), 0, torch.tensor([-1]))", [x], 2 * x, []),
    "gathered from the end": ("return x * torch.gather(torch.arange(3.), 0, torch.tensor([-1]))", [x], 2 * x, []),
    "a word from the end": ("return torch.nn.functional.embedding(torch.tensor([-1]), x)[0]", [Q], each(Q[3, l3], l3), []),
    "too few for a variance": ("return x.var(correction=5)", [z], total((z[l3] - total(z[l3], l3) / 3) ** 2, l3) / (-2), []),
}  # fmt: skip

# What is read, where a condition says what it takes.
CONDITIONS = {
    "0 / 0": ("return torch.where(torch.isnan(x / x), 5., x)", [x], x + 0 * x, [], "x[i] is not zero"),
    "1 / 0": ("return torch.where(torch.isinf(1 / x), 5., x)", [x], x + 0 * x, [], "x[i] is not zero"),
    "alike": ("z = x / x; return torch.where(z == z, x, 5.)", [x], x + 0 * x, [], "x[i] is not zero"),
    "a positive quotient": ("return torch.where(x / x > 0, x, 7.)", [x], x + 0 * x, [], "x[i] is not zero"),
    "a logarithm": ("return torch.where(y.log().exp() == y, x, 7 * x)", [x, u], each(x[i] + 0 * u[i], i), [], "u[j]"),
    "a masked row": (MASK + "return torch.where(torch.isnan(s.softmax(0)), 7., x)", [x, y], each(x[i] + 0 * y[i], i), BITS, "is not zero"),
    "both hidden": (MASK + "M = torch.maximum(s, s); return (s - M).exp() / (x - M).exp()", [x, y], each(y[i] + 0 * x[i], i), BITS, "is not zero"),
    "all axes": (MASK + "M = s.amax((0, 1)); return (s - M).exp() / (x - M).exp()", [A, K], K + 0 * A, [zero_or_one(K)], KEPT),
    "any kept": (APART + "return torch.where((y != 0).any(), x, 7 * x)", [x, y], each(x[i] + 0 * y[i], i), BITS, KEPT),
    "none hidden": (APART + "return torch.where((y == 0).all(), 7 * x, x)", [x, y], each(x[i] + 0 * y[i], i), BITS, KEPT),
    "hidden, with a quotient": ("return (torch.full_like(x, -torch.inf) + 1 / x).exp()", [x], 0 * x, [], "x[i] is not zero"),
    "the first is hidden": (
        "s = torch.stack([torch.full_like(x, -torch.inf), x.masked_fill(y == 0, -torch.inf)]); M = s.amax(0); return (s[1] - M).exp() / (x - M).exp()",
        [x, y], each(y[i] + 0 * x[i], i), BITS, KEPT,
    ),
    "a threshold": ("return torch.nn.functional.softplus(x)", [x], each(log(1 + exp(x[i])), i), [], "20 - x[j] is not negative"),
    "a slope and a threshold": (
        "return torch.nn.functional.softplus(x, 2.0, 8.0)", [x], each(log(1 + exp(2 * x[i])) / 2, i), [], "8 - 2*x[j] is not negative",
    ),
    "a variance of enough": (
        "return x.var(correction=5)", [x], total((x[i] - total(x[k], k) / n) ** 2, i) / (n - 5), [], "n - 5 is positive",
    ),
}  # fmt: skip


@pytest.mark.parametrize("hole", REFUSED)
def test_what_a_rule_cannot_say_is_not_read(said, hole):
    body, arguments, want, given = REFUSED[hole]
    found = said(body, arguments, want, given=given)
    assert found.state != "proved", found


@pytest.mark.parametrize("hole", CONDITIONS)
def test_what_a_rule_needs_is_a_condition(said, hole):
    body, arguments, want, given, needed = CONDITIONS[hole]
    found = said(body, arguments, want, given=given)
    assert found.state == "proved" and any(needed in one for one in found.conditions), found


def test_a_size_has_no_place_in_eight_bits_at_every_shape(said):
    found = said("return x * torch.arange(x.shape[0], dtype=torch.uint8)", [x], each((i - 1) * x[i], i))
    assert found.state == "not read" and "exact only up to 255" in found.reason, found
