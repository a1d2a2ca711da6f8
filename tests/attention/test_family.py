"""Test that all forms of attention treat masks, formats and empty axes as PyTorch's attention does."""

from functools import partial

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.dropout import dropout
from snippets.attention.formula import attention, attention_steps, attention_weights, scores
from snippets.attention.masks import mask_scores, masked_softmax
from snippets.attention.reference import Reference
from snippets.blocks.merge import attention_in_blocks
from snippets.scaling.saturation import entropy
from snippets.softmax.temperature import objective

HALVES = [torch.float16, torch.bfloat16]


def steps(*inputs, **flags):
    return attention_steps(*inputs, **flags).output


def weights(query, key, value, **flags):
    return attention_weights(query, key, **flags) @ value


FAMILY = {
    "attention": attention,
    "weights": weights,
    "steps": steps,
    "blocks": partial(attention_in_blocks, block_size=2),
    "one block": partial(attention_in_blocks, block_size=99),
}
WITH_REFERENCE = FAMILY | {"reference": Reference(temperature=2.0, dropout=0.0)}  # the root of d_k = 4, as below
every = pytest.mark.parametrize("name", WITH_REFERENCE)
most = pytest.mark.parametrize("name", FAMILY)


def normal(*shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes]


def peer(*inputs, **flags):
    with sdpa_kernel(SDPBackend.MATH):
        return scaled_dot_product_attention(*inputs, **flags)


# Rejected input


@every
def test_mask_is_keyword_only(name):
    query, key, value, mask = normal((3, 4), (5, 4), (5, 2), (3, 5))
    with pytest.raises(TypeError, match="positional"):
        WITH_REFERENCE[name](query, key, value, mask)


@every
@pytest.mark.parametrize("kind", [torch.long, torch.int32, torch.uint8])
def test_a_mask_of_whole_numbers_is_refused(name, kind):
    query, key, value = normal((3, 4), (5, 4), (5, 2))
    mask = torch.ones(3, 5, dtype=kind)
    with pytest.raises(RuntimeError, match="Expected attn_mask dtype"):
        peer(query, key, value, attn_mask=mask)
    with pytest.raises((TypeError, RuntimeError), match="expected bool or a float|only supports boolean masks"):
        WITH_REFERENCE[name](query, key, value, attn_mask=mask)


@pytest.mark.parametrize("compute", [attention, weights, peer, lambda q, k, v, **flags: mask_scores(q @ k.mT, **flags) @ v])
def test_a_causal_mask_beside_another_is_refused(compute):
    query, key, value = normal((3, 4), (5, 4), (5, 2))
    for mask in (torch.ones(3, 5, dtype=torch.bool), torch.zeros(3, 5, dtype=torch.float64)):
        with pytest.raises((ValueError, RuntimeError), match="attn_mask .*is_causal"):
            compute(query, key, value, attn_mask=mask, is_causal=True)


@every
@pytest.mark.parametrize("masked", [False, True])
def test_queries_and_keys_without_features_give_the_mean_of_the_values(name, masked):
    query, key, value = normal((3, 0), (5, 0), (5, 2))
    flags = {"attn_mask": torch.arange(5).expand(3, 5) > 2} if masked else {}
    expected = value[3 if masked else 0 :].mean(0).expand(3, 2)
    for compute in (WITH_REFERENCE[name], peer):
        torch.testing.assert_close(compute(query, key, value, **flags), expected)


@every
@pytest.mark.parametrize("shape", [(3, 5), (2, 1, 5), (1, 4), (1, 6)], ids=str)
@pytest.mark.parametrize("boolean", [False, True])
def test_a_mask_larger_than_the_scores_is_refused(name, shape, boolean):
    query, key, value = normal((1, 4), (5, 4), (5, 2))
    mask = torch.ones(shape, dtype=torch.bool if boolean else torch.float64)
    for compute in (peer, WITH_REFERENCE[name]):
        with pytest.raises(RuntimeError):
            compute(query, key, value, attn_mask=mask)


# Accepted input


@every
@pytest.mark.parametrize(("n", "m", "v"), [(0, 5, 2), (3, 0, 2), (3, 5, 0), (0, 0, 0)])
@pytest.mark.parametrize("masked", [False, True])
def test_empty_inputs_agree_with_pytorch(name, n, m, v, masked):
    query, key, value = normal((2, n, 4), (2, m, 4), (2, m, v))
    mask = torch.ones(n, m, dtype=torch.bool) if masked else None
    output, expected = WITH_REFERENCE[name](query, key, value, attn_mask=mask), peer(query, key, value, attn_mask=mask)
    assert output.shape == expected.shape == (2, n, v)
    torch.testing.assert_close(output, expected)


@every
@pytest.mark.parametrize("shape", [(5,), (1,), (1, 5), (3, 1), (2, 1, 1, 5), (2, 6, 3, 5)], ids=str)
@pytest.mark.parametrize("boolean", [False, True])
def test_a_mask_broadcasts_to_the_scores(name, shape, boolean):
    if name == "reference" and not boolean:
        return  # this form accepts only boolean masks
    query, key, value, mask = normal((2, 1, 3, 4), (1, 6, 5, 4), (6, 5, 2), shape)
    if boolean:
        mask = mask > -0.5
        mask[..., :1] = True  # each query keeps a key, so that the reference can be compared too
    output = WITH_REFERENCE[name](query, key, value, attn_mask=mask)
    torch.testing.assert_close(output, peer(query.expand(2, 6, 3, 4), key.expand(2, 6, 5, 4), value.expand(2, 6, 5, 2), attn_mask=mask))


@every
def test_a_key_whose_score_is_low_wins_over_one_that_is_masked(name):
    query, key = torch.tensor([[1.0, 0, 0, 0]]), torch.tensor([[0.0, 0, 0, 0], [-6e4, 0, 0, 0]])
    output = WITH_REFERENCE[name](query, key, torch.eye(2), attn_mask=torch.tensor([[False, True]]))
    assert output.tolist() == [[0, 1]] == peer(query, key, torch.eye(2), attn_mask=torch.tensor([[False, True]])).tolist()


# Formats


@most
@pytest.mark.parametrize("dtype", HALVES)
def test_a_half_query_may_have_a_mask_in_single_precision(name, dtype):
    query, key, value, mask = normal((3, 4), (5, 4), (5, 2), (3, 5), dtype=dtype)
    output, expected = (compute(query, key, value, attn_mask=mask.float()) for compute in (FAMILY[name], peer))
    assert output.dtype == expected.dtype == dtype
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("name", ["attention", "blocks", "one block"])
@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision_loses_no_more_than_pytorch_and_one_rounding(name, dtype):
    inputs = [3 * x if k < 2 else x for k, x in enumerate(normal((200, 64), (100, 64), (100, 8)))]
    inputs = [x.to(dtype) for x in inputs]
    exact = peer(*(x.double() for x in inputs))
    ours, theirs = ((compute(*inputs).double() - exact).abs() for compute in (FAMILY[name], peer))
    assert ours.max() <= theirs.max() * 1.001
    assert (ours <= 0.5 * torch.finfo(dtype).eps * exact.abs() * 1.01 + 1e-5).all()


@pytest.mark.parametrize("name", ["attention", "weights", "blocks", "one block"])
def test_scores_above_the_largest_half_number_do_not_overflow(name):
    query = key = torch.full((2, 64), 40.0, dtype=torch.float16)  # 64 * 40 * 40 is above 65504
    value = torch.eye(2, dtype=torch.float16)
    assert FAMILY[name](query, key, value).tolist() == peer(query, key, value).tolist() == [[0.5, 0.5]] * 2
    assert FAMILY[name](query, 2 * key, value, scale=1.0).tolist() == [[0.5, 0.5]] * 2


@pytest.mark.parametrize("dtype", HALVES)
def test_scores_and_weights_are_rounded_once(dtype):
    query, key = (x.to(dtype) for x in normal((200, 64), (100, 64)))
    assert torch.equal(scores(query, key), scores(query.float(), key.float()).to(dtype))
    assert torch.equal(attention_weights(query, key), attention_weights(query.float(), key.float()).to(dtype))


@pytest.mark.parametrize("dtype", HALVES)
def test_a_probability_of_dropout_is_kept_in_half_precision(dtype):
    """bf16 holds 256 numbers below 1 if they are evenly spaced: none is below 1/512 but 0, which is drawn once in 256."""
    dropped = dropout(torch.ones(2**20, dtype=dtype), p=1 / 512, generator=torch.Generator().manual_seed(0)) == 0
    assert abs(dropped.sum().item() - 2**11) < 5 * 2**5.5  # five standard deviations


# Gradients


@pytest.mark.parametrize("measure", [entropy, lambda w: objective(w, torch.ones(4, dtype=torch.float64))], ids=["entropy", "objective"])
@pytest.mark.parametrize("masked", ["causal", "empty row", "underflow"])
def test_the_entropy_of_masked_weights_has_a_gradient(measure, masked):
    """Against the entropy of the keys that are kept alone."""
    (found,) = normal((4, 4))
    keep = torch.ones(4, 4, dtype=torch.bool).tril()
    if masked == "empty row":
        keep[1] = False
    if masked == "underflow":
        keep, found = torch.ones(4, 4, dtype=torch.bool), found + torch.tensor([0.0, -2000, 0, 0], dtype=torch.float64)
    found.requires_grad_()
    row_by_row = [measure_kept(row, kept & (row > -1000)) for row, kept in zip(found, keep)]
    (expected,) = torch.autograd.grad(sum(row_by_row), found)
    total = measure(masked_softmax(mask_scores(found, attn_mask=keep))).sum()
    (gradient,) = torch.autograd.grad(total, found)
    torch.testing.assert_close(gradient, expected)
    assert (expected != 0).any()


def measure_kept(row, kept):
    """The entropy of the weights of the keys that are kept; the mean of equal scores has no gradient."""
    return -(row[kept].softmax(-1) * row[kept].log_softmax(-1)).sum() + 0 * row.sum()


# Compiled


@pytest.mark.parametrize("dynamic", [False, True])
def test_export_gives_one_graph(dynamic):
    """No step needs to know a number: exported whole, with a mask and without."""
    query, key, value = normal((2, 3, 4), (2, 5, 4), (2, 5, 2), dtype=torch.float32)
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    for flags in ({}, {"attn_mask": mask}, {"attn_mask": torch.zeros(3, 5)}, {"is_causal": True}):
        graph = torch.compile(attention, backend="eager", fullgraph=True, dynamic=dynamic)
        torch.testing.assert_close(graph(query, key, value, **flags), attention(query, key, value, **flags))
