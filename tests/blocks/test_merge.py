"""Attention in blocks: states that merge, against PyTorch's own attention, exact fractions, and sums taken key by key."""

import itertools
import math
from fractions import Fraction
from functools import partial, reduce

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.blocks.merge import (
    AttentionState,
    add_one_key,
    attention_about_reference,
    attention_in_blocks,
    attention_state,
    change_reference,
    log_sum,
    merge_averages,
    merge_states,
    over_all,
    over_two_blocks,
    state_output,
)

INF = torch.inf
FIELDS = ("reference", "total", "mixed")


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def cut(scores, value, sizes):
    """The states of blocks of these sizes, in the order of the keys."""
    return [attention_state(*block) for block in zip(scores.split(sizes, -1), value.split(sizes, -2))]


def test_a_state_is_what_a_loop_over_keys_finds():
    scores, value = random(0, (3, 5), (5, 2))
    kept = attention_state(scores, value)
    for query in range(3):
        row = scores[query].tolist()
        terms = [math.exp(score - max(row)) for score in row]
        assert kept.reference[query].item() == max(row)
        assert kept.total[query].item() == pytest.approx(sum(terms), rel=1e-14)
        for column in range(2):
            expected = sum(term * value[key, column].item() for key, term in enumerate(terms))
            assert kept.mixed[query, column].item() == pytest.approx(expected, rel=1e-13)
    torch.testing.assert_close(state_output(kept), torch.softmax(scores, -1) @ value)


def test_the_sum_of_a_state_lies_between_one_and_the_number_of_keys():
    (scores,) = random(1, (200, 7))
    total = attention_state(30 * scores, torch.ones(7, 1, dtype=torch.float64)).total
    assert (total >= 1).all() and (total <= 7).all() and total.unique().numel() > 100
    equal = attention_state(torch.full((4,), 2.5), torch.ones(4, 1))
    assert equal.total.item() == 4 == equal.mixed.item()  # and it is attained


def test_a_merge_in_fractions():
    # Scores are logarithms of whole numbers, so that the weights are fractions.
    powers, values = [[1, 2], [3, 4, 5]], [[7, -2], [1, 0, 6]]
    blocks = [
        attention_state(torch.tensor(one, dtype=torch.float64).log(), torch.tensor(two, dtype=torch.float64)[:, None])
        for one, two in zip(powers, values)
    ]
    merged = merge_states(*blocks)
    weights, entries = sum(powers, []), sum(values, [])
    expected = Fraction(sum(w * e for w, e in zip(weights, entries)), sum(weights))
    assert state_output(merged).item() == pytest.approx(float(expected), rel=1e-14)
    assert merged.total.item() == pytest.approx(float(Fraction(sum(weights), 5)), rel=1e-14)
    assert merged.reference.item() == math.log(5)


@pytest.mark.parametrize("seed", range(8))
def test_random_splits_merge_in_any_order(seed):
    scores, value = random(seed, (2, 3, 12), (2, 12, 4))
    expected = torch.softmax(3 * scores, -1) @ value
    generator = torch.Generator().manual_seed(seed)
    cuts = sorted(torch.randperm(11, generator=generator)[: 1 + seed % 5].add(1).tolist())
    sizes = [stop - start for start, stop in itertools.pairwise([0, *cuts, 12])]
    states = cut(3 * scores, value, sizes)
    order = torch.randperm(len(states), generator=generator).tolist()
    for row in (states, states[::-1], [states[one] for one in order]):
        torch.testing.assert_close(state_output(reduce(merge_states, row)), expected)
    whole = attention_state(3 * scores, value)
    for name, merged, at_once in zip(FIELDS, reduce(merge_states, states), whole):
        torch.testing.assert_close(merged, at_once, msg=name)


def test_grouping_changes_no_more_than_rounding():
    scores, value = random(9, (50, 9), (9, 2))
    first, second, third = cut(20 * scores, value, [2, 3, 4])
    left, right = merge_states(merge_states(first, second), third), merge_states(first, merge_states(second, third))
    assert torch.equal(left.reference, right.reference)
    torch.testing.assert_close(left, right, rtol=1e-14, atol=1e-14)
    assert all(torch.equal(*pair) for pair in zip(merge_states(first, second), merge_states(second, first)))


def test_a_merge_is_that_of_exact_exponentials_at_any_references():
    # merge takes the larger reference; the claim allows any, so states about other references have to give the same.
    scores, value = random(10, (6,), (6, 2))
    expected = torch.softmax(scores, -1) @ value
    blocks = []
    for part, reference in ((slice(0, 2), 3.0), (slice(2, 6), -4.0)):
        terms = torch.exp(scores[part] - reference)
        blocks.append(AttentionState(torch.tensor([reference]).double(), terms.sum(-1, keepdim=True), terms @ value[part]))
    merged = merge_states(*blocks)
    assert merged.reference.item() == 3.0
    torch.testing.assert_close(state_output(merged), expected)


@pytest.mark.parametrize("block", [1, 2, 3, 4, 7, 8, 1000])
def test_attention_in_blocks_is_that_of_pytorch(block):
    query, key, value = random(11, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))
    torch.testing.assert_close(attention_in_blocks(query, key, value, block_size=block), scaled_dot_product_attention(query, key, value))


@pytest.mark.parametrize("block", [1, 3, 7])
@pytest.mark.parametrize("kind", ["boolean", "added", "one row for all", "one column for all"])
def test_masks_are_cut_with_the_keys(block, kind):
    query, key, value, added = random(12, (2, 5, 4), (2, 7, 4), (2, 7, 3), (5, 7))
    keep = added > -0.3
    keep[2], keep[3, :3] = False, False  # a query without keys, and one without keys in the first block
    mask = {"boolean": keep, "added": added.masked_fill(~keep, -INF), "one row for all": keep[:1], "one column for all": keep[:, 1:2]}[kind]
    assert not keep[:, 1].all() and keep[:, 1].any()
    output = attention_in_blocks(query, key, value, block_size=block, attn_mask=mask)
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value, attn_mask=mask))
    assert kind in ("one row for all", "one column for all") or (output[:, 2] == 0).all()


@pytest.mark.parametrize("block", [1, 3, 5, 99])
@pytest.mark.parametrize(("n", "m"), [(5, 5), (3, 7), (7, 3)])
def test_causal_blocks_are_pytorchs(block, n, m):
    query, key, value = random(25, (2, n, 4), (2, m, 4), (2, m, 3))
    output = attention_in_blocks(query, key, value, block_size=block, is_causal=True)
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value, is_causal=True))
    with pytest.raises(ValueError, match="attn_mask and is_causal are given; expected one"):
        attention_in_blocks(query, key, value, block_size=block, is_causal=True, attn_mask=torch.ones(m, dtype=torch.bool))


@pytest.mark.parametrize("block", [2, 99])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_heads_that_share_keys_are_pytorchs(block, groups):
    query, key, value = random(26, (2, 4, 5, 8), (2, groups, 7, 8), (2, groups, 7, 3))
    output = attention_in_blocks(query, key, value, block_size=block, enable_gqa=True)
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value, enable_gqa=True))
    with pytest.raises(ValueError, match="3 heads of keys do not divide 4 of queries"):
        attention_in_blocks(query, key[:, :1].expand(-1, 3, -1, -1), value, block_size=block, enable_gqa=True)


@pytest.mark.parametrize("block", [2, 5, 9])
@pytest.mark.parametrize(
    ("shape", "kind", "error"),
    [((2, 4), torch.float64, RuntimeError), ((3, 5), torch.float64, RuntimeError), ((2, 5), torch.long, TypeError)],
)
def test_a_mask_that_pytorch_refuses_is_refused(block, shape, kind, error):
    query, key, value = random(3, (2, 3), (5, 3), (5, 1))
    for compute in (scaled_dot_product_attention, partial(attention_in_blocks, block_size=block)):
        with pytest.raises((error, RuntimeError)):
            compute(query, key, value, attn_mask=torch.ones(shape, dtype=kind))
    with pytest.raises((error, RuntimeError)):  # one query, and a mask for three
        attention_in_blocks(query[:1], key, value, block_size=block, attn_mask=torch.zeros(3, 5, dtype=torch.float64))


@pytest.mark.parametrize("values", [4, 6, 1])
@pytest.mark.parametrize("block", [1, 2, 5, 9])
def test_as_many_values_as_keys(values, block):
    query, key, value = random(4, (2, 3), (5, 3), (values, 1))
    with pytest.raises((ValueError, RuntimeError)):
        attention_in_blocks(query, key, value, block_size=block)


@pytest.mark.parametrize(("n", "m", "d_v"), [(0, 5, 2), (3, 0, 2), (3, 5, 0)])
def test_no_queries_no_keys_and_no_values_are_pytorchs(n, m, d_v):
    query, key, value = random(5, (2, n, 3), (2, m, 3), (2, m, d_v))
    output = attention_in_blocks(query, key, value, block_size=2)
    assert torch.equal(output, scaled_dot_product_attention(query, key, value))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_rounded_once(dtype):
    query, key, value = (one.to(dtype) for one in random(6, (3, 8), (9, 8), (9, 4)))
    output = attention_in_blocks(query, key, value, block_size=4, attn_mask=torch.zeros(3, 9))
    assert output.dtype == dtype
    exact = scaled_dot_product_attention(query.double(), key.double(), value.double())
    assert ((output.double() - exact).abs() <= 0.51 * torch.finfo(dtype).eps * exact.abs() + 1e-6).all()


def test_very_large_scores_do_not_overflow():
    query, key, value = (one.float() for one in random(13, (4, 3), (9, 3), (9, 2)))
    key[:, 0] = key[:, 0].abs() + 1
    query[:2, 0], query[2:, 0] = 1e4, -1e4  # scores far above zero, and far below
    scores = query @ key.T / 3**0.5
    sums = scores.exp().sum(-1)
    assert sums[:2].isinf().all() and (sums[2:] == 0).all() and scores.abs().max() > 1e4
    for block in (1, 2, 9):
        output = attention_in_blocks(query, key, value, block_size=block)
        assert output.isfinite().all()
        torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value))


def test_blocks_far_apart():
    value = torch.tensor([[1.0], [2.0]])
    for low, high in ((-1e4, 1e4), (0.0, 1e4), (-1e30, -1e4), (-INF, -1e4), (-INF, 1e4)):
        states = cut(torch.tensor([low, high]), value, [1, 1])
        for merged in (merge_states(*states), merge_states(*states[::-1])):
            assert merged.reference.item() == high and merged.total.item() == 1 and state_output(merged).item() == 2


def test_a_block_without_keys_adds_nothing():
    scores, value = random(14, (3, 4), (4, 2))
    nothing = attention_state(torch.full((3, 5), -INF, dtype=torch.float64), torch.ones(5, 2, dtype=torch.float64))
    kept = attention_state(scores, value)
    assert (nothing.reference == -INF).all() and (nothing.total == 0).all() and (nothing.mixed == 0).all()
    for merged in (merge_states(nothing, kept), merge_states(kept, nothing)):
        assert all(torch.equal(*pair) for pair in zip(merged, kept))
    empty = merge_states(nothing, nothing)
    assert all(torch.equal(*pair) for pair in zip(empty, nothing)) and (state_output(empty) == 0).all()


@pytest.mark.parametrize("block", [1, 2, 5])
def test_gradients_are_those_of_pytorch(block):
    inputs = [one.requires_grad_() for one in random(15, (2, 3, 4), (2, 5, 4), (2, 5, 3))]
    (upstream,) = random(16, (2, 3, 3))
    mask = torch.ones(3, 5, dtype=torch.bool)
    mask[0, :2], mask[1] = False, False
    ours, theirs = (
        torch.autograd.grad(output, inputs, upstream)
        for output in (
            attention_in_blocks(*inputs, block_size=block, attn_mask=mask),
            scaled_dot_product_attention(*inputs, attn_mask=mask),
        )
    )
    torch.testing.assert_close(ours, theirs)
    assert all(one.isfinite().all() for one in ours)


def test_no_matrix_of_weights_is_made():
    """No tensor that is computed on the way is as large as the weights of all queries on all keys."""
    largest = 0

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
            nonlocal largest
            result = operator(*args, **(kwargs or {}))
            for one in result if isinstance(result, (tuple, list)) else (result,):
                largest = max(largest, one.numel())
            return result

    query, key, value = random(17, (64, 2), (64, 2), (64, 2))
    for block, most in ((4, 64 * 4), (64, 64 * 64)):
        largest = 0
        with Watch():
            attention_in_blocks(query, key, value, block_size=block)
        assert largest == most


def test_any_reference_gives_the_same_average():
    scores, value = random(18, (5,), (5, 2))
    expected = torch.softmax(scores, -1) @ value
    for reference in (-3.0, 0.0, scores.max().item(), 12.5):
        torch.testing.assert_close(attention_about_reference(scores, value, torch.tensor(reference).double()), expected)


def test_move_multiplies_sums():
    (scores,) = random(19, (6,))
    for reference, to in ((0.5, -1.0), (2.0, 2.0), (-3.0, 1.5)):
        sums = sum(math.exp(score - reference) for score in scores.tolist())
        expected = sum(math.exp(score - to) for score in scores.tolist())
        moved = change_reference(*torch.tensor([sums, reference, to], dtype=torch.float64))
        assert moved.item() == pytest.approx(expected, rel=1e-13)
    assert change_reference(torch.tensor(3.0), torch.tensor(-INF), torch.tensor(-INF)).item() == 0


def test_the_logarithm_of_a_sum_is_that_of_pytorch():
    (scores,) = random(20, (2, 3, 6))
    for one in (scores, 1e4 * scores, scores[0, 0], scores[..., :1]):
        torch.testing.assert_close(log_sum(one), torch.logsumexp(one, -1))
    assert log_sum(torch.full((3,), -INF)).item() == -INF


def test_averages_merge_by_the_logarithms_of_their_sums():
    scores, value = random(21, (9,), (9, 2))
    for scale in (1.0, 500.0):
        parts = zip((scale * scores).split([2, 7]), value.split([2, 7]))
        outputs = [(torch.softmax(one, -1) @ two, torch.logsumexp(one, -1)) for one, two in parts]
        torch.testing.assert_close(merge_averages(*outputs[0], *outputs[1]), torch.softmax(scale * scores, -1) @ value)
        assert not torch.allclose((outputs[0][0] + outputs[1][0]) / 2, torch.softmax(scale * scores, -1) @ value)


def test_averages_of_many_queries_merge():
    scores, value = random(24, (2, 3, 9), (2, 9, 3))  # as many queries as features, so that a wrong axis would not be refused
    states = cut(scores, value, [4, 5])
    logs = [log_sum(part) for part in scores.split([4, 5], -1)]
    merged = merge_averages(state_output(states[0]), logs[0], state_output(states[1]), logs[1])
    torch.testing.assert_close(merged, torch.softmax(scores, -1) @ value)


def test_two_blocks_at_once_and_merged():
    scores, value, more, more_value = random(22, (2,), (2, 3), (4,), (4, 3))
    loop = [math.exp(score) for score in [*scores.tolist(), *more.tolist()]]
    rows = [*value.tolist(), *more_value.tolist()]
    expected = torch.tensor([sum(w * row[c] for w, row in zip(loop, rows)) / sum(loop) for c in range(3)], dtype=torch.float64)
    torch.testing.assert_close(over_all(scores, value, more, more_value), expected)
    torch.testing.assert_close(over_two_blocks(scores, value, more, more_value), expected)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_key_by_key(scale):
    scores, value = random(23, (6,), (6, 2))
    scores = scale * scores
    for count in range(1, 6):
        before = attention_state(scores[:count], value[:count])
        after = add_one_key(before.mixed, before.total, before.reference, value[count], scores[count])
        torch.testing.assert_close(after, torch.softmax(scores[: count + 1], -1) @ value[: count + 1])


def test_an_empty_batch():
    output = attention_in_blocks(torch.ones(0, 3, 4), torch.ones(0, 5, 4), torch.ones(0, 5, 2), block_size=2)
    assert output.shape == (0, 3, 2)


@pytest.mark.parametrize(
    ("function", "shapes", "message"),
    [
        (
            lambda q, k, v: attention_in_blocks(q, k, v, block_size=0),
            [(2, 3), (5, 3), (5, 1)],
            "block_size is 0; expected at least 1 key",
        ),
        (over_two_blocks, [(2,), (2, 3), (4,), (4, 1)], "d_v is 3 in first but 1 in second"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(function, shapes, message):
    with pytest.raises(ValueError) as caught:
        function(*map(torch.ones, shapes))
    assert str(caught.value).startswith(message)


def test_keys_without_values_are_refused_where_the_blocks_are_as_many():
    query, key, value = random(21, (2, 4), (3, 4), (4, 2))
    with pytest.raises(ValueError, match="3 keys but 4 values"):
        attention_in_blocks(query, key, value, block_size=4)


def test_averages_of_empty_blocks_merge_as_their_states_do():
    none, zeros, (log, value) = torch.tensor([-INF]).double(), torch.zeros(1, 2).double(), random(22, (1,), (1, 2))
    assert merge_averages(zeros, none, zeros, none).tolist() == [[0.0, 0.0]]
    assert torch.equal(merge_averages(zeros, none, value, log), value)
    assert torch.equal(merge_averages(value, log, zeros, none), value)


def test_a_key_more_than_none_is_the_only_one():
    none, zero, (score, value) = torch.tensor([[-INF]]).double(), torch.zeros(1, 1).double(), random(23, (1, 1), (1, 2))
    empty = torch.zeros(1, 2).double()
    assert torch.equal(add_one_key(empty, zero, none, value, score), value)
    assert torch.equal(add_one_key(empty, zero, none, value, none), empty)


def test_a_log_sum_has_no_axis_for_features():
    output, log = random(25, (3, 4), (3,))
    for logs in [(log[:, None], log[:, None]), (log[:, None], log), (log, log[:, None])]:
        with pytest.raises(ValueError, match="expected a log_sum for each output"):
            merge_averages(output, logs[0], output, logs[1])


def test_numbers_in_the_text():
    scores, value = torch.tensor([0, math.log(2)]).double(), torch.tensor([[6.0], [12.0]]).double()
    first, second = cut(scores, value, [1, 1])
    assert [one.item() for one in first] == [0, 1, 6] and second.total.item() == 1 and second.mixed.item() == 12
    assert round(second.reference.item(), 3) == 0.693
    torch.testing.assert_close(change_reference(first.mixed, first.reference, second.reference).item(), 3.0)
    merged = merge_states(first, second)
    assert merged.total.item() == pytest.approx(1.5) and merged.mixed.item() == pytest.approx(15)
    assert state_output(merged).item() == pytest.approx(10)
    sums = [(exp.sum().item(), (exp * values).sum().item()) for exp, values in zip(scores.exp()[:, None], value)]
    torch.testing.assert_close(torch.tensor(sums), torch.tensor([(1.0, 6.0), (2.0, 24.0)]))
    assert torch.tensor(88.0).exp().isfinite() and torch.tensor(89.0).exp().isinf()
