"""Linear attention against its quadratic form, a brute-force loop and exact fractions; Gaussian weights; random features."""

import math
from fractions import Fraction

import pytest
import torch
from torch.nn.functional import normalize, scaled_dot_product_attention
from torch.utils.flop_counter import FlopCounterMode

from snippets.predecessors.linear import (
    causal_scan,
    exponentials,
    gaussian_weights,
    jacobian,
    kernel_attention,
    linear_attention,
    linear_multiplications,
    quadratic_multiplications,
    random_features,
    squared_distances,
    sum_then_ask,
    weigh_then_mix,
)

SIZES = [(1, 1, 1, 1), (3, 5, 2, 4), (6, 2, 7, 1)]  # n, m, d_k, d_v


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def by_loop(query, key, value):
    outputs = []
    for q in query:
        weights = [sum(math.exp(a) * math.exp(b) for a, b in zip(q.tolist(), k.tolist())) for k in key]
        outputs.append(sum(w * v for w, v in zip(weights, value)) / sum(weights))
    return torch.stack(outputs)


@pytest.mark.parametrize(("n", "m", "d_k", "d_v"), SIZES)
def test_both_forms_are_the_loop(n, m, d_k, d_v):
    query, key, value = draw(0, (n, d_k), (m, d_k), (m, d_v))
    expected = by_loop(query, key, value)
    torch.testing.assert_close(kernel_attention(query, key, value), expected)
    torch.testing.assert_close(linear_attention(query, key, value), expected)


@pytest.mark.parametrize(("n", "m", "d_k", "d_v"), SIZES)
def test_the_groupings_agree(n, m, d_k, d_v):
    F, G, V = draw(1, (2, n, d_k), (2, m, d_k), (2, m, d_v))
    expected = torch.einsum("bnr,bmr,bmv->bnv", F, G, V)
    torch.testing.assert_close(weigh_then_mix(F, G, V), expected)
    torch.testing.assert_close(sum_then_ask(F, G, V), expected)


def test_constant_queries_weigh_by_the_sum_of_the_keys_features():
    # Features 1, 2 and 3 of one key, 2, 2 and 2 of the other: weights 6 and 6 of 12.
    query, key = torch.zeros(1, 3).double(), torch.tensor([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]).double().log()
    value = torch.tensor([[1.0], [4.0]]).double()
    torch.testing.assert_close(linear_attention(query, key, value), torch.tensor([[float(Fraction(5, 2))]]).double())


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_scan_is_the_masked_form(n):
    query, key, value = draw(n, (2, n, 3), (2, n, 3), (2, n, 4))
    weights = (query.exp() @ key.exp().mT).tril()
    torch.testing.assert_close(causal_scan(query, key, value), weights @ value / weights.sum(-1, keepdim=True))


def test_a_later_token_changes_no_earlier_output_of_the_scan():
    query, key, value = draw(3, (6, 3), (6, 3), (6, 2))
    before = causal_scan(query, key, value)[:4]
    key[4:], value[4:] = 9.0, -9.0
    assert torch.equal(causal_scan(query, key, value)[:4], before)


def test_an_empty_batch_goes_through():
    empty = torch.zeros(0, 5, 3)
    assert linear_attention(empty, empty, empty).shape == causal_scan(empty, empty, empty).shape == (0, 5, 3)


def test_the_jacobian_is_that_of_a_matrix():
    A, X, Y = draw(4, (3, 4), (4, 2), (4, 2))
    expected = torch.einsum("ij,ab->iajb", A, torch.eye(2, dtype=torch.float64))
    for at in (X, Y):
        torch.testing.assert_close(jacobian(lambda x: A @ x, at), expected)


@pytest.mark.parametrize(("n", "m", "r", "d_v"), [(1, 1, 1, 1), (5, 4, 3, 2), (16, 16, 4, 4)])
def test_the_counts_are_those_of_pytorch(n, m, r, d_v):
    F, G, V = draw(5, (n, r), (m, r), (m, d_v))
    for function, count in ((weigh_then_mix, quadratic_multiplications), (sum_then_ask, linear_multiplications)):
        with FlopCounterMode(display=False) as counter:
            function(F, G, V)
        assert counter.get_total_flops() == 2 * count(n, m, r, d_v) > 0


def test_distances_are_those_of_pytorch():
    query, key = draw(6, (2, 3, 4), (2, 5, 4))
    torch.testing.assert_close(squared_distances(query, key), torch.cdist(query, key) ** 2)


@pytest.mark.parametrize("length", [0.1, 1.0, 5.0])
def test_keys_of_one_length_are_weighed_by_distance_alone(length):
    query, key, value = draw(7, (2, 3, 4), (2, 5, 4), (2, 5, 2))
    mixed = gaussian_weights(query, length * normalize(key, dim=-1)) @ value
    torch.testing.assert_close(mixed, scaled_dot_product_attention(query, length * normalize(key, dim=-1), value))
    assert not torch.allclose(gaussian_weights(query, key) @ value, scaled_dot_product_attention(query, key, value))


def test_gaussian_weights_are_densities_of_pytorch():
    query, key = draw(8, (3, 4), (5, 4))
    law = torch.distributions.Normal(key, 4**0.25)  # variance sqrt(d_k)
    density = law.log_prob(query.unsqueeze(-2)).sum(-1).exp()
    torch.testing.assert_close(gaussian_weights(query, key), density / density.sum(-1, keepdim=True))


def test_random_features_average_to_the_exponential():
    q, k, draws = draw(9, (4,), (4,), (200_000, 4))
    q, k = q / 3, k / 3
    products = random_features(q, draws) * random_features(k, draws) * len(draws)
    error = products.std() / len(draws) ** 0.5
    assert abs(products.mean() - (q @ k).exp()) < 4 * error and error < 0.01


def test_random_features_are_positive_and_batched():
    x, draws = draw(10, (2, 3, 4), (5, 4))
    features = random_features(x, draws)
    assert features.shape == (2, 3, 5) and (features > 0).all()
    torch.testing.assert_close(features[1, 2], random_features(x[1, 2], draws))


@pytest.mark.parametrize("function", [kernel_attention, linear_attention, causal_scan])
@pytest.mark.parametrize(("dtype", "size"), [(torch.float64, 1e4), (torch.float32, 1e3), (torch.float16, 100.0), (torch.bfloat16, 1e3)])
def test_large_scores_neither_overflow_nor_vanish(function, dtype, size):
    """Against logarithms of sums of exponentials, of which no weight is lost."""
    query, key, value = (x.to(dtype) for x in draw(11, (2, 5, 3), (2, 5, 3), (2, 5, 4)))
    query, key = size * query, size * key
    pairs = (query.double().unsqueeze(-2) + key.double().unsqueeze(-3)).logsumexp(-1)  # the logarithm of each weight
    if function is causal_scan:
        pairs = pairs.masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    expected = pairs.softmax(-1) @ value.double()
    inputs = [x.requires_grad_() for x in (query, key, value)]
    output = function(*inputs)
    error = 1e-9 if dtype == torch.float64 else 1e-2  # of sums of a size of thousands
    assert output.dtype == dtype and torch.allclose(output.double(), expected, atol=error, rtol=error)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(output.sum(), inputs))


def test_exponentials_are_at_most_one_and_one_product_is_one():
    query, key = draw(12, (2, 3, 4), (2, 5, 4))
    F, G = exponentials(500 * query, 500 * key)
    assert F.max() <= 1 and G.max() <= 1
    assert ((F.unsqueeze(-2) * G.unsqueeze(-3)).amax((-2, -1)) == 1).all()
    F, G = exponentials(query, key)
    weights, plain = F @ G.mT, query.exp() @ key.exp().mT
    torch.testing.assert_close(weights / weights.sum(-1, keepdim=True), plain / plain.sum(-1, keepdim=True))


def test_the_scan_takes_as_many_queries_as_keys_and_values():
    for n, m, p in ((2, 4, 4), (4, 2, 4), (4, 4, 2)):
        with pytest.raises(ValueError, match="zip"):
            causal_scan(*draw(13, (n, 3), (m, 3), (p, 1)))


@pytest.mark.parametrize("attend", [kernel_attention, linear_attention])
@pytest.mark.parametrize("shape", [(0, 4), (5, 0)])
def test_what_has_no_keys_or_no_features_is_refused(attend, shape):
    query, key, value = draw(41, (3, shape[1]), shape, (shape[0], 2))
    with pytest.raises(ValueError, match="expected a key at least, and a feature"):
        attend(query, key, value)


@pytest.mark.parametrize("shape", [(0, 4), (5, 0)])
def test_a_scan_of_no_tokens_or_no_features_is_refused(shape):
    query, key, value = draw(42, shape, shape, (shape[0], 2))
    with pytest.raises(ValueError, match="expected a key at least, and a feature"):
        causal_scan(query, key, value)


def test_without_features_the_gaussian_weights_are_equal():
    assert gaussian_weights(torch.zeros(2, 0), torch.zeros(4, 0)).tolist() == [[0.25] * 4] * 2


def test_numbers_in_the_text():
    """Two tokens, 0 and 1, and twice as much; multiplications; and the errors of random features."""
    outputs, weights = [], []
    for x in (torch.tensor([[0.0], [1.0]]), torch.tensor([[0.0], [2.0]])):
        outputs.append(scaled_dot_product_attention(x, x, x, scale=1.0)[1].item())
        weights.append((x @ x.T).softmax(-1)[1, 1].item())
    assert [f"{x:.2f}" for x in (*outputs, *weights)] == ["0.73", "1.96", "0.73", "0.98"] and f"{outputs[1] / outputs[0]:.1f}" == "2.7"
    assert [round(count(4096, 4096, 64, 64) / 1e6) for count in (linear_multiplications, quadratic_multiplications)] == [34, 2147]
    assert linear_multiplications(16, 16, 64, 64) == 4 * quadratic_multiplications(16, 16, 64, 64)
    assert [f"{abs(found / 1.4171 - 1):.1%}" for found in (1.2566, 1.4292)] == ["11.3%", "0.9%"]
