"""Ways to leave keys out, what finite constants do, PyTorch's conventions, and a bias by distance."""

import itertools
from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention
from snippets.attention.masks import (
    added_weights,
    deleted_weights,
    filled_weights,
    lower_right,
    mask_scores,
    padding_mask,
    renormalised_weights,
    weights_by_distance,
    weights_by_place,
)

varied = settings(derandomize=True, deadline=None, max_examples=60)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


# What masked entries may hold


def hidden(query, key, value, number, *, of):
    """The outputs if the last key or value, which the mask hides, holds a number."""
    key, value = key.clone(), value.clone()
    {"key": key, "value": value}[of][-1] = number
    keep = torch.tensor([True, True, True, False])
    added = torch.where(keep, 0, -torch.inf).double()
    ours = [attention(query, key, value, attn_mask=mask) for mask in (keep, added)]
    return *ours, scaled_dot_product_attention(query, key, value, attn_mask=keep.expand(2, 4))


@pytest.mark.parametrize("number", [0.0, -1e6, 1e300])
@pytest.mark.parametrize("of", ["key", "value"])
def test_masked_entries_may_hold_any_finite_number(number, of):
    query, key, value = random(11, (2, 3), (4, 3), (4, 5))
    expected = attention(query, key[:3], value[:3])
    for found in hidden(query, key, value, number, of=of):
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
def test_masked_values_that_are_not_finite_make_outputs_nan_as_in_pytorch(number):
    for found in hidden(*random(12, (2, 3), (4, 3), (4, 5)), number, of="value"):
        assert found.isnan().all()


def test_masked_keys_may_be_nan_if_the_mask_is_not_added():
    query, key, value = random(13, (2, 3), (4, 3), (4, 5))
    kept, added, theirs = hidden(query, key, value, torch.nan, of="key")
    torch.testing.assert_close(kept, attention(query, key[:3], value[:3]))
    assert added.isnan().all()  # NaN minus infinity is NaN
    assert theirs.isnan().all()  # PyTorch adds a mask of booleans, too


# Leaving keys out


@given(st.integers(1, 5), st.integers(0, 99), st.data())
@varied
def test_filling_deleting_and_renormalising_agree_with_pytorch(m, seed, data):
    keep = torch.tensor(data.draw(st.lists(st.booleans(), min_size=m, max_size=m).filter(any)))
    (scores,) = random(seed, (2, 3, m))
    identity = torch.eye(m, dtype=torch.float64).expand(2, m, m)
    query, key = scores, identity * m**0.5  # queries and keys that have these scores
    expected = scaled_dot_product_attention(query, key, identity, attn_mask=keep.expand(3, m))
    for weights in (
        filled_weights(scores, keep, constant=-torch.inf),
        added_weights(scores, keep, constant=-torch.inf),
        deleted_weights(scores, keep),
        renormalised_weights(scores, keep),
    ):
        torch.testing.assert_close(weights, expected)
        assert (weights[..., ~keep] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("lead", [30.0, 1000.0, 60000.0])
def test_renormalising_beside_a_masked_key_that_takes_all(lead, dtype):
    scores, keep = torch.tensor([1.0, lead, 2.0, 3.0], dtype=dtype), torch.tensor([True, False, True, True])
    for factors in (keep, keep.to(dtype)):
        found = scores.clone().requires_grad_()
        weights = renormalised_weights(found, factors)
        assert weights.dtype == dtype
        # The logarithms are off by a rounding, in single precision at least, of a number as large as the lead.
        slack = 4 * lead * torch.finfo(torch.promote_types(dtype, torch.float32)).eps + 2 * torch.finfo(dtype).eps
        torch.testing.assert_close(weights.double(), deleted_weights(scores.double(), keep), rtol=slack, atol=0)
        (gradient,) = torch.autograd.grad((weights * torch.arange(4)).sum(), found)
        assert gradient.isfinite().all() and gradient[1] == 0 and (gradient != 0).any()


def test_renormalising_is_exact_in_fractions():
    # Scores log 1, log 2, log 3 and log 4, of which the second and the fourth are kept.
    scores, keep = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64).log(), torch.tensor([False, True, False, True])
    before = [Fraction(k, 10) * kept for k, kept in zip((1, 2, 3, 4), keep.tolist())]
    expected = torch.tensor([float(p / sum(before)) for p in before], dtype=torch.float64)
    assert expected.tolist() == [0, 1 / 3, 0, 2 / 3]
    torch.testing.assert_close(renormalised_weights(scores, keep), expected)
    torch.testing.assert_close(deleted_weights(scores, keep), expected)


@pytest.mark.parametrize("constant", [-1.0, -5.0, -20.0])
def test_what_a_finite_constant_lets_through_is_within_the_bound(constant):
    (scores,) = random(0, (50, 6))
    keep = torch.tensor([True, False, True, True, False, True])
    for way, masked in ((added_weights, scores[:, ~keep]), (filled_weights, torch.zeros(50, 2, dtype=torch.float64))):
        leaked = way(scores, keep, constant=constant)[:, ~keep].sum(-1)
        bound = torch.exp(torch.tensor(constant).double()) * masked.exp().sum(-1) / scores[:, keep].exp().sum(-1)
        assert (leaked > 0).all() and (leaked <= bound).all() and (leaked > bound / (1 + bound) * (1 - 1e-12)).all()


@pytest.mark.parametrize("lengths", [[5], [3, 5, 1], [0, 2], []])
def test_padding_is_masked_for_all_heads_and_queries_and_nothing_else_is(lengths):
    mask = padding_mask(torch.tensor(lengths, dtype=torch.long), m=5)
    assert mask.shape == (len(lengths), 1, 1, 5)
    assert mask[:, 0, 0].tolist() == [[key < length for key in range(5)] for length in lengths]
    query, key, value = random(5, *3 * [(len(lengths), 2, 5, 4)])
    found = attention(query, key, value, attn_mask=mask)
    for text, length in enumerate(lengths):
        if length:
            alone = scaled_dot_product_attention(query[text], key[text, :, :length], value[text, :, :length])
            torch.testing.assert_close(found[text], alone)
        else:
            assert (found[text] == 0).all()


# Finite constants


def test_a_row_masked_throughout_keeps_its_weights_at_ten_thousand_and_is_flat_at_a_billion():
    scores, nothing = torch.tensor([1.0, 2.0, 3.0]), torch.zeros(3, dtype=torch.bool)
    plain, flat = scores.softmax(-1), torch.full((3,), 1 / 3)
    assert (added_weights(scores, nothing, constant=-1e4) - plain).abs().max() < 1e-3
    assert torch.equal(added_weights(scores, nothing, constant=-1e9), torch.zeros(3).softmax(-1))
    # fp32 holds every 1/1024 beside ten thousand, and every 64 beside a billion.
    fine = torch.tensor([0.0, 1 / 4096])
    assert (fine - 1e4).diff().item() == 0 and (torch.tensor([0.0, 1 / 1024]) - 1e4).diff().item() == 1 / 1024
    assert (torch.tensor([0.0, 31.0]) - 1e9).diff().item() == 0 and (torch.tensor([0.0, 64.0]) - 1e9).diff().item() == 64
    for constant in (-1e4, -1e9, 0.0, 7.0):
        torch.testing.assert_close(filled_weights(scores, nothing, constant=constant), flat)
    # In exact arithmetic any constant cancels; fp64 comes near it even at a billion.
    torch.testing.assert_close(added_weights(scores.double(), nothing, constant=-1e9), plain.double(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("size", [1.0, 20.0, 1000.0])
def test_with_one_kept_key_a_billion_equals_minus_infinity_bit_for_bit(dtype, size):
    generator = torch.Generator().manual_seed(0)
    scores = (size * torch.randn(500, 33, generator=generator)).to(dtype)
    keep = torch.rand(500, 33, generator=generator) < 0.3
    keep[torch.arange(500), torch.randint(33, (500,), generator=generator)] = True
    exact = filled_weights(scores, keep, constant=-torch.inf)
    assert torch.equal(filled_weights(scores, keep, constant=-1e9), exact)
    assert torch.equal(added_weights(scores, keep, constant=-1e9), exact)
    query, key, value = (torch.randn(2, 4, 33, 16, generator=generator).to(dtype) for _ in range(3))
    keep = keep[:66].view(2, 1, 33, 33)
    outputs = [
        scaled_dot_product_attention(query, key, value, attn_mask=torch.zeros(keep.shape, dtype=dtype).masked_fill(~keep, constant))
        for constant in (-torch.inf, -1e9)
    ]
    assert torch.equal(*outputs)


def test_a_mask_of_the_lowest_number_is_minus_infinity_with_a_kept_key_and_equal_weights_without():
    """As in Transformers' eager_mask, which is added, and in JAX, which fills with 0.7 times the lowest number."""
    (scores,) = random(6, (50, 7))
    scores, keep = 10 * scores.float(), torch.ones(50, 7, dtype=torch.bool).tril()
    lowest, nothing = torch.finfo(torch.float32).min, torch.zeros(7, dtype=torch.bool)
    exact = filled_weights(scores, keep, constant=-torch.inf)
    for weights, constant in ((added_weights, lowest), (filled_weights, 0.7 * lowest)):
        assert torch.equal(weights(scores, keep, constant=constant), exact)
        torch.testing.assert_close(weights(scores, nothing, constant=constant), torch.full((50, 7), 1 / 7))


def test_a_filled_key_wins_over_an_honest_key_with_a_lower_score():
    scores, keep = torch.tensor([5.0, -2e4]), torch.tensor([False, True])
    assert filled_weights(scores, keep, constant=-1e4).tolist() == [1, 0]
    assert filled_weights(scores, keep, constant=-1e9).tolist() == [0, 1]
    assert filled_weights(scores, keep, constant=-torch.inf).tolist() == [0, 1]


def test_fp16_does_not_hold_a_billion():
    scores, keep = torch.zeros(2, dtype=torch.float16), torch.tensor([True, False])
    with pytest.raises(RuntimeError, match="without overflow"):
        filled_weights(scores, keep, constant=-1e9)
    assert torch.tensor(-1e9).half().item() == -torch.inf
    assert filled_weights(scores, keep, constant=-1e4).tolist() == [1, 0]


# PyTorch's conventions


@pytest.mark.parametrize("need_weights", [True, False])
def test_a_query_without_keys_in_each_of_pytorchs_functions(need_weights):
    (x,) = random(0, (1, 2, 4))
    keep = torch.tensor([[True, False], [False, False]])
    assert (scaled_dot_product_attention(x, x, x, attn_mask=keep)[0, 1] == 0).all()
    assert (attention(x, x, x, attn_mask=keep)[0, 1] == 0).all()  # ours sides with it
    documented = torch.softmax(x @ x.mT / 2 + torch.zeros(2, 2).masked_fill(~keep, -torch.inf), -1) @ x
    assert documented[0, 1].isnan().all() and not documented[0, 0].isnan().any()
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(4, num_heads=2, batch_first=True, dtype=torch.float64)
    for training in (True, False):
        row = module.train(training)(x, x, x, attn_mask=~keep, need_weights=need_weights)[0][0, 1]
        assert row.isnan().all() if need_weights else (row == 0).all()


def test_in_evaluation_without_gradients_an_even_number_of_heads_gives_nan_in_pytorchs_module():
    """PyTorch 2.13. This pins behaviour that may change: https://github.com/pytorch/pytorch/pull/190486 is about it."""
    (x,) = random(0, (1, 2, 4))
    keep = torch.tensor([[True, False], [False, False]])
    torch.manual_seed(0)
    for heads, is_nan in ((1, False), (2, True)):
        module = torch.nn.MultiheadAttention(4, num_heads=heads, batch_first=True, dtype=torch.float64).eval()
        with torch.no_grad():
            row = module(x, x, x, attn_mask=~keep, need_weights=False)[0][0, 1]
        assert row.isnan().all() if is_nan else (row == 0).all()


def test_the_table_of_conventions_for_pytorch():
    """Number masks are added in both; axes; and what is_causal needs in the module."""
    query, key, value = random(7, (2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6))
    (added,) = random(8, (2, 1, 4, 5))
    found = scaled_dot_product_attention(query, key, value, attn_mask=added)
    expected = torch.softmax(query @ key.mT / 8**0.5 + added, -1) @ value
    torch.testing.assert_close(found, expected)
    (x,) = random(9, (4, 2, 6))  # (token, batch, feature), the default of the module
    torch.manual_seed(0)
    module = torch.nn.MultiheadAttention(6, num_heads=2, dtype=torch.float64)
    assert module(x, x, x)[1].shape == (2, 4, 4)  # (batch, n, m)
    padded = torch.tensor([[False, False, True, True], [False, False, False, False]])  # True: masked
    assert (module(x, x, x, key_padding_mask=padded)[1][0, :, 2:] == 0).all()
    (added,) = random(10, (2 * 2, 4, 4))  # (batch * heads, n, m)
    weights = module(x, x, x, average_attn_weights=False)[1]
    biased = module(x, x, x, attn_mask=added, average_attn_weights=False)[1]
    torch.testing.assert_close(biased, (weights.log() + added.view(2, 2, 4, 4)).softmax(-1))
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        module(x, x, x, is_causal=True)


def test_true_keeps_in_one_function_and_blocks_in_the_other():
    (x,) = random(1, (1, 3, 4))
    mask = torch.tensor([[True, False, False], [True, True, False], [False, True, True]])
    eye = torch.eye(3, dtype=torch.float64)[None]
    kept = scaled_dot_product_attention(x, x, eye, attn_mask=mask)
    assert torch.equal(kept[0] > 0, mask)
    module = torch.nn.MultiheadAttention(4, num_heads=1, batch_first=True, dtype=torch.float64)
    assert torch.equal(module(x, x, x, attn_mask=mask)[1][0] > 0, ~mask)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (2, 4), (3, 3), (4, 2)])
def test_pytorchs_triangle_starts_at_the_upper_left_and_ours_ends_at_the_lower_right(n, m):
    query, key, eye = torch.zeros(1, n, 3), torch.zeros(1, m, 3), torch.eye(m)[None]
    upper_left = scaled_dot_product_attention(query, key, eye, is_causal=True)[0] > 0
    expected = torch.tensor([[j <= i for j in range(m)] for i in range(n)])
    assert torch.equal(upper_left, expected)
    expected = torch.tensor([[m - 1 - j >= n - 1 - i for j in range(m)] for i in range(n)])
    assert torch.equal(lower_right(n, m), expected)
    assert torch.equal(lower_right(n, m), upper_left) == (n == m)


def test_the_lower_right_mask_is_the_last_rows_of_the_square_one():
    query, key, value = random(2, (6, 4), (6, 4), (6, 3))
    whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    for n in range(1, 7):
        last = scaled_dot_product_attention(query[-n:], key, value, attn_mask=lower_right(n, 6))
        torch.testing.assert_close(last, whole[-n:])


# A bias


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (5, 3)])
@pytest.mark.parametrize("slope", [0.0, 0.5, 2.0])
def test_bias_by_distance_and_by_place_give_one_matrix_of_weights(n, m, slope):
    (scores,) = random(3, (2, n, m))
    rows, columns = torch.arange(float(n)).double() + 2, torch.arange(float(m)).double()
    raw = torch.tensor(
        [[[(s[i][j] - slope * (rows[i] - columns[j])).exp().item() for j in range(m)] for i in range(n)] for s in scores],
        dtype=torch.float64,
    )
    expected = raw / raw.sum(-1, keepdim=True)
    torch.testing.assert_close(weights_by_distance(scores, rows, columns, slope=slope), expected)
    torch.testing.assert_close(weights_by_place(scores, columns, slope=slope), expected)


def test_a_bias_masks_nothing_but_a_causal_mask_beside_it_does():
    (scores,) = random(4, (4, 4))
    places = torch.arange(4.0).double()
    assert (weights_by_place(scores, places, slope=2.0) > 0).all()
    masked = scores.masked_fill(~lower_right(4, 4), -torch.inf)
    torch.testing.assert_close(weights_by_place(masked, places, slope=2.0), weights_by_distance(masked, places, places, slope=2.0))
    for i, j in itertools.product(range(4), repeat=2):
        assert (weights_by_place(masked, places, slope=2.0)[i, j] > 0) == (j <= i)


def test_deleting_by_whole_numbers_is_refused():
    with pytest.raises(TypeError, match="keep is torch.int64; expected torch.bool"):
        deleted_weights(torch.zeros(2, 3), torch.tensor([1, 0, 1]))


def test_a_mask_is_kept_or_added_and_nothing_else():
    scores = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    added = torch.tensor([0.0, -1.5, 2.0], dtype=torch.float64)
    torch.testing.assert_close(mask_scores(scores, attn_mask=added), scores + added)
    assert mask_scores(scores.half(), attn_mask=added).dtype == torch.float16
    with pytest.raises(TypeError, match="attn_mask is torch.int64; expected bool or a float"):
        mask_scores(scores, attn_mask=torch.ones(3, dtype=torch.int64))
    with pytest.raises(ValueError, match="attn_mask and is_causal are given; expected one"):
        mask_scores(scores, attn_mask=added, is_causal=True)


def test_numbers_in_the_text():
    """The scores 0, 1 and 3: with the third key masked, by renormalising, and with all three shifted by a constant."""
    scores, keep = torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64), torch.tensor([True, True, False])
    percent = lambda weights: [round(100 * x) for x in weights.tolist()]
    assert percent(scores.softmax(-1)) == [4, 11, 84] == percent((scores - 1e4).softmax(-1))
    for found in (filled_weights(scores, keep, constant=-torch.inf), renormalised_weights(scores, keep.double())):
        assert percent(found) == [27, 73, 0]
    assert filled_weights(torch.tensor([0.0, -2e4]), torch.tensor([False, True]), constant=-1e4).tolist() == [1, 0]


@pytest.mark.parametrize("function", [weights_by_distance, weights_by_place])
def test_rows_without_keys_are_zero_beside_a_bias(function):
    (scores,) = random(14, (2, 3))
    scores[1] = -torch.inf
    places = [torch.arange(2.0), torch.arange(3.0)][function is weights_by_place :]
    weights = function(scores, *places, slope=0.5)
    assert weights[1].eq(0).all() and weights[0].sum().item() == pytest.approx(1)
