"""The bound holds for attention in single and half precision, and slips leave it; and what it assumes, measured.

The exact result is taken in double precision, whose own error has the same bound, in its own format.
"""

from fractions import Fraction

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from snippets.associativity.rounding import gamma
from snippets.associativity.tolerance import (
    attention_error,
    attention_error_bound,
    exponential_error,
    growth,
    one_more_rounding,
    score_error_bound,
    smallest,
    unit_roundoff,
    weight_factor,
)
from snippets.attention.formula import attention, attention_weights, scores

FORMATS = (torch.float32, torch.float16, torch.bfloat16)
HALVES = FORMATS[1:]
varied = settings(derandomize=True, deadline=None, max_examples=100)


def drawn(seed, n, m, d_k, d_v, size=0, dtype=torch.float32, batch=()):
    """Query, key and value; the scores are of size 2 ** size, one way or the other."""
    generator = torch.Generator().manual_seed(seed)
    query, key, value = (torch.randn(*batch, *shape, generator=generator) for shape in ((n, d_k), (m, d_k), (m, d_v)))
    return [number.to(dtype) for number in (query * 2.0**size, key, value)]


def each_step_rounded(query, key, value=None):
    """Attention as PyTorch's operators do it in the format of the inputs, or its scores and weights."""
    found = query @ key.mT * query.shape[-1] ** -0.5
    weights = torch.softmax(found, -1)
    return (found, weights) if value is None else weights @ value


def excess(query, key, value, compute=attention, **formats):
    """The largest error as a share of the bound, double precision's own set aside; None where nothing is bounded."""
    bound = attention_error_bound(query, key, value, **formats)
    doubled = [number.double() for number in (query, key, value)]
    own = attention_error_bound(*doubled)
    error = (compute(query, key, value).double() - attention(*doubled)).abs() - own
    finite = bound.isfinite()
    return (error / bound)[finite].max().item() if finite.any() else None


# The formats


@pytest.mark.parametrize(
    ("dtype", "digits", "lowest"),
    [(torch.float64, 53, -1074), (torch.float32, 24, -149), (torch.float16, 11, -24), (torch.bfloat16, 8, -133)],
)
def test_the_formats(dtype, digits, lowest):
    assert unit_roundoff(dtype) == 2.0**-digits and smallest(dtype) == 2.0**lowest
    one, least = torch.ones((), dtype=dtype), torch.full((), smallest(dtype), dtype=dtype)
    assert one + 2 * unit_roundoff(dtype) > one and one + unit_roundoff(dtype) == one
    assert least > 0 and least / 2 == 0


@given(st.integers(0, 200), st.integers(0, 50))
@varied
def test_growth_covers_any_number_of_roundings_up_down_and_in_denominators(up, down):
    for dtype in FORMATS:
        u, n = Fraction(unit_roundoff(dtype)), up + down
        if n * u < 1:
            most = Fraction(growth(n, dtype)) * (1 + Fraction(1, 2**50))
            assert (1 + u) ** up / (1 - u) ** down <= most and 1 / most <= (1 - u) ** up / (1 + u) ** down


# What is assumed, measured


@pytest.mark.parametrize("dtype", HALVES)
def test_exp_errs_by_less_than_a_unit_at_every_number_of_the_half_formats(dtype):
    numbers = torch.arange(-(2**15), 2**15, dtype=torch.int16).view(dtype)
    assert 0.9 < exponential_error(numbers) < 1.01
    below = numbers[numbers.double().exp() < torch.finfo(dtype).smallest_normal]
    assert ((below.exp().double() - below.double().exp()).abs() <= smallest(dtype)).all()


def test_exp_errs_by_less_than_a_unit_in_single_precision():
    x = torch.rand(2**20, generator=torch.Generator().manual_seed(0)) * 174 - 87
    assert 0.9 < exponential_error(x) < 2
    with mpmath.workdps(30):  # that double precision is good enough to measure by
        for at in x[:50].tolist():
            assert abs(torch.tensor(at).double().exp().item() / mpmath.exp(at) - 1) < 2**-50


def test_the_exponentials_inside_softmax_err_by_less_than_a_unit():
    """Each weight over that of the largest score; the division rounds both."""
    z = -80 * torch.rand(4000, 64, generator=torch.Generator().manual_seed(0))
    z[:, 0] = 0
    weights = torch.softmax(z, -1).double()
    exact = z.double().exp()
    off = (weights / weights[:, :1] / exact - 1).abs()[exact > 1e-35]
    assert off.max() < growth(4, torch.float32) - 1


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("size", [1, 7, 64, 1000, 4096])
def test_sums_in_half_precision_are_taken_in_single_precision_and_rounded_once(dtype, size):
    generator = torch.Generator().manual_seed(size)
    a, b = (torch.rand(shape, generator=generator).to(dtype) for shape in ((8, size), (size, 8)))
    once = (1 + unit_roundoff(dtype)) * growth(size, torch.float32) - 1
    for found, exact in ((a @ b, a.double() @ b.double()), (a.sum(-1), a.double().sum(-1))):
        assert ((found.double() - exact).abs() <= once * exact).all()


# The bound holds


@given(st.integers(0, 10**6), *[st.integers(1, 9)] * 4, st.integers(-12, 8), st.sampled_from(FORMATS), st.booleans())
@varied
def test_the_bound_holds(seed, n, m, d_k, d_v, size, dtype, wide):
    numbers = drawn(seed, n, m, d_k, d_v, size, dtype)
    for formats in ({}, {"steps": dtype, "sums": torch.float32 if wide else None}):
        share = excess(*numbers, **formats)
        assert share is None or share <= 1
    share = excess(*numbers, each_step_rounded, steps=dtype, sums=torch.float32)
    assert share is None or share <= 1


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (64, 64, 64, 64), (3, 300, 100, 5), (2, 1000, 2, 2)])
@pytest.mark.parametrize("size", [-20, 0, 5])
def test_the_bound_holds_at_large_shapes_and_for_the_fused_operator(dtype, shape, size):
    numbers = drawn(0, *shape, size, dtype)

    def fused(*given):
        return scaled_dot_product_attention(*(number[None, None] for number in given))[0, 0]

    assert excess(*numbers) <= 1
    for compute in (fused, each_step_rounded):
        assert excess(*numbers, compute, steps=dtype, sums=torch.float32) <= 1
    with sdpa_kernel(SDPBackend.MATH):  # it takes the same steps
        assert excess(*numbers, fused) <= 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_the_bound_holds_where_values_cancel_and_where_numbers_underflow(dtype):
    query, key, value = drawn(1, 8, 8, 4, 4, 0, dtype)
    value[1::2] = -value[::2]
    assert excess(query, torch.ones_like(key), value) <= 1
    tiny = smallest(dtype) * torch.arange(1, 33, dtype=dtype).reshape(8, 4)
    assert excess(query, key, tiny) <= 1 and excess(tiny, key, value) <= 1
    far = torch.tensor([[-10.0], [0.0], [8.0]], dtype=dtype)  # the first weight is below what fp16 holds
    assert excess(torch.ones(1, 1, dtype=dtype), far, torch.ones(3, 1, dtype=dtype)) <= 1


@given(st.integers(0, 10**6), *[st.integers(1, 9)] * 3, st.integers(-12, 6), st.sampled_from(FORMATS))
@varied
def test_scores_and_weights_stay_within_their_bounds(seed, n, m, d_k, size, dtype):
    query, key, _ = drawn(seed, n, m, d_k, 1, size, dtype)
    slack = 1 + 2.0**-20
    exact, weights = (compute(query.double(), key.double()) for compute in (scores, attention_weights))
    for steps, found, shares in (
        (torch.float32, scores(query.float(), key.float()), attention_weights(query.float(), key.float())),
        (dtype, *each_step_rounded(query, key)),
    ):
        off = (found.double() - exact).abs()
        assert (off <= score_error_bound(query, key, steps=steps) * slack).all()
        factor, lost = weight_factor(query, key, steps=steps) * slack, 3 * smallest(steps)
        assert (shares.double() <= weights * factor + lost).all() and (weights <= (shares.double() + lost) * factor).all()
    once = one_more_rounding(score_error_bound(query, key), exact.abs(), dtype=dtype) * slack
    assert ((scores(query, key).double() - exact).abs() <= once).all()


@pytest.mark.parametrize("f", FORMATS)
def test_bound_equals_the_expression_on_the_page(f):
    """One query, two keys of width one, written out, with each step rounded to one format: of half precision, what underflows counts too."""
    query, key, value = (torch.tensor(each, dtype=f) for each in ([[2.0]], [[1.0], [-1.0]], [[3.0], [-4.0]]))
    u, tiny = unit_roundoff(f), smallest(f)
    grown = (1 + gamma(1, f)) * (1 + gamma(3, f))
    off = (grown - 1) * 2 + grown * 3 * tiny
    epsilon = off + u * (4 + 2 * off)
    factor = mpmath.exp(2 * epsilon) * (1 + gamma(2, f)) * (1 + gamma(6, f)) / (1 - 2 * tiny)
    assert weight_factor(query, key, steps=f).item() == pytest.approx(float(factor), rel=1e-12)
    factor = factor * (1 + gamma(2, f)) * (1 + gamma(1, f))
    first = mpmath.exp(4) / (1 + mpmath.exp(4))
    bound = (factor - 1) * (3 * first + 4 * (1 - first)) + factor * (3 * 7 + 3) * tiny
    assert attention_error_bound(query, key, value, steps=f).item() == pytest.approx(float(bound), rel=1e-12)


@pytest.mark.parametrize("f", FORMATS)
def test_bound_for_zeros_is_the_possible_underflow(f):
    """Each product and each step after it may lose the smallest number once; nothing else is lost, and nothing less is allowed for."""
    m, d_k = 5, 3
    query, key = torch.zeros(1, d_k, dtype=f), torch.zeros(m, d_k, dtype=f)
    off = score_error_bound(query, key, steps=f)
    assert torch.equal(off, torch.full((1, m), growth(d_k, f) * growth(3, f) * (d_k + 2) * smallest(f), dtype=torch.float64))
    factor = weight_factor(query, key, steps=f).item() * growth(m, f) * growth(1, f)
    lost = attention_error_bound(query, key, torch.zeros(m, 1, dtype=f), steps=f).item()
    assert lost == pytest.approx(factor * (m + 1) * smallest(f), rel=1e-12)
    once = one_more_rounding(torch.zeros(1), torch.zeros(1), dtype=f).item()
    assert once == smallest(f)


def test_the_bound_is_finite_up_to_the_edge_of_the_format():
    """A score that grows by all roundings of its sum and of its scale just fits into half precision; one that is larger may not."""

    def bound(missing):
        key = torch.tensor([256.0] * 250 + [1024.0, 256.0, 222.0, 0.0, 0.0, 2 - missing], dtype=torch.float16)[None]
        numbers = torch.ones(1, 256, dtype=torch.float16), key, torch.zeros(1, 1, dtype=torch.float16)
        assert (numbers[0].double() @ key.double().mT).item() == pytest.approx(65504 - missing, abs=5e-4)
        return attention_error_bound(*numbers, steps=torch.float16, sums=torch.float32).item()

    spare = 65504 * (1 - 1 / growth(256 + 3, torch.float32))
    assert all(abs(spare - 65504 * (1 - 1 / growth(256 + k, torch.float32))) > 0.003 for k in (2, 4))
    assert bound(spare - 0.002) == torch.inf and bound(spare + 0.002) < 1


# And it is not so wide that anything passes

SLIPS = {
    "no scale": lambda q, k, v: attention(q, k, v, scale=1.0),
    "the scale of another width": lambda q, k, v: attention(q, k, v, scale=(q.shape[-1] + 1) ** -0.5),
    "softmax over the queries": lambda q, k, v: torch.softmax(scores(q, k), -2) @ v,
    "a causal mask": lambda q, k, v: attention(q, k, v, is_causal=True),
    "values rounded to fewer digits": lambda q, k, v: attention(q, k, fewer(v)),
    "keys rounded to fewer digits": lambda q, k, v: attention(q, fewer(k), v),
    "weights rounded to fewer digits": lambda q, k, v: fewer(attention_weights(q, k)) @ v,
}


def fewer(number):
    """Single precision to half, and half to a quarter. Three digits fewer, fp16 to bf16, may stay within the bound."""
    return number.to(torch.float16 if number.dtype == torch.float32 else torch.float8_e5m2).to(number.dtype)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("slip", SLIPS)
def test_mistakes_exceed_the_bound(slip, dtype):
    numbers = drawn(0, 4, 4, 4, 4, 0, dtype, batch=(400,))
    assert excess(*numbers) <= 1 < excess(*numbers, SLIPS[slip])
    assert excess(*numbers, SLIPS[slip], steps=dtype, sums=torch.float32) > 1


def test_actual_errors_come_close_to_the_bound():
    """With one key and one feature nothing is left to cancel but the signs of the roundings."""
    for dtype in FORMATS:
        numbers = drawn(0, 1, 2, 1, 1, 1, dtype, batch=(1000,))
        assert 0.1 < excess(*numbers) <= 1
        assert 0.1 < excess(*numbers, each_step_rounded, steps=dtype, sums=torch.float32) <= 1


@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_is_rounded_once_and_the_bound_says_so(dtype):
    """Most of the bound is one rounding, and most of that rounding happens; rounding each step is several times as far off."""
    numbers = drawn(0, 64, 64, 16, 8, 1, dtype)
    u, size = unit_roundoff(dtype), numbers[2].double().abs().max()
    assert attention_error_bound(*numbers).max() < 1.1 * u * size
    assert 0.4 < excess(*numbers) <= 1
    exact = attention(*(number.double() for number in numbers))
    assert (each_step_rounded(*numbers).double() - exact).abs().mean() > 3 * attention_error(*numbers).mean()


# Where it says nothing


def test_bound_is_infinite_where_a_step_may_overflow():
    for query, key, value, steps in [(300.0, 300.0, 1.0, torch.float16), (1.0, 1.0, 65504.0, None)]:
        numbers = [torch.full((1, 1), number, dtype=torch.float16) for number in (query, key, value)]
        assert attention_error_bound(*numbers, steps=steps).item() == torch.inf
        assert attention_error_bound(*(number.float() for number in numbers)).item() < torch.inf
    large = torch.full((1, 1), 300.0, dtype=torch.float16)
    assert attention(large, large, large).item() == 300 and attention_error_bound(large, large, large).isfinite()
    assert each_step_rounded(large, large, large).isnan()  # 90000 is above 65504


def test_sums_that_lose_every_digit_are_rejected():
    numbers = drawn(0, 2, 300, 4, 4, 0, torch.bfloat16)
    with pytest.raises(ValueError, match="n is 300; expected less than 1 / u, which is 256 for torch.bfloat16"):
        attention_error_bound(*numbers, steps=torch.bfloat16)
    assert attention_error_bound(*numbers, steps=torch.bfloat16, sums=torch.float32).isfinite().all()
    assert attention_error_bound(*numbers).isfinite().all()


def test_the_error_is_measured_against_the_inputs_named():
    query, key, value = drawn(0, 3, 4, 2, 5)
    assert attention_error(query, key, value).max() < 1e-6
    assert torch.equal(
        attention_error(query, key, 2 * value, exact=(query, key, value)),
        (attention(query, key, 2 * value).double() - attention(query.double(), key.double(), value.double())).abs(),
    )
