"""Linear attention: the masked product against the running state, values that are read back, and costs."""

import pytest
import torch

from snippets.linear.attention import (
    cache_numbers,
    masked_product,
    nearest,
    positive_features,
    read_state,
    recall_noise,
    running_state,
    state_numbers,
    write_state,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_the_running_state_is_the_masked_product(n):
    F, G, V = random(n, (2, n, 4), (2, n, 4), (2, n, 3))
    outputs, state = running_state(F, G, V)
    torch.testing.assert_close(outputs, masked_product(F, G, V))
    torch.testing.assert_close(state, write_state(G, V))
    for i in range(n):  # by hand: only tokens up to i
        expected = sum((F[:, i] * G[:, j]).sum(-1, keepdim=True) * V[:, j] for j in range(i + 1))
        torch.testing.assert_close(outputs[:, i], expected)


def test_a_later_token_changes_no_earlier_output():
    F, G, V = random(0, (6, 4), (6, 4), (6, 3))
    changed = G.clone()
    changed[4] += 1
    one, other = running_state(F, G, V)[0], running_state(F, changed, V)[0]
    assert one[:4].equal(other[:4]) and not torch.allclose(one[4:], other[4:])


def test_a_state_goes_on_from_where_it_ended():
    F, G, V = random(1, (6, 4), (6, 4), (6, 3))
    _, state = running_state(F[:4], G[:4], V[:4])
    later, _ = running_state(F[4:], G[4:], V[4:])
    torch.testing.assert_close(later + read_state(F[4:], state), masked_product(F, G, V)[4:])


def test_features_are_positive_and_rise():
    x = torch.linspace(-20, 20, 401, dtype=torch.float64)[:, None]
    found = positive_features(x)
    assert (found > 0).all() and (found.diff(dim=0) > 0).all()
    torch.testing.assert_close(found[200:], x[200:] + 1)
    torch.testing.assert_close(found[:200], x[:200].exp())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_features_are_those_of_elu_and_positive_in_every_format(dtype):
    x = torch.linspace(-9, 4, 131).to(dtype)
    expected = torch.nn.functional.elu(x.double()) + 1
    torch.testing.assert_close(positive_features(x), expected.to(dtype))
    assert (positive_features(torch.tensor([-16.0], dtype=dtype)) > 0).all()


def test_features_have_the_slopes_of_elu():
    x = torch.tensor([-2.0, 0.0, 3.0], dtype=torch.float64, requires_grad=True)
    positive_features(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([-2.0, 0, 0]).double().exp())


@pytest.mark.parametrize("place", range(3))
def test_numbers_of_tokens_that_differ_are_rejected(place):
    """A single token would broadcast."""
    given = [torch.ones(5, 2) for _ in range(3)]
    given[place] = given[place][:1]
    with pytest.raises(ValueError, match="expected as many queries, keys and values"):
        masked_product(*given)


def test_orthonormal_keys_read_back_and_one_more_does_not():
    (keys,) = random(2, (5, 5))
    keys, values = torch.linalg.qr(keys).Q, torch.arange(10, dtype=torch.float64).reshape(5, 2)
    for n in range(1, 6):
        torch.testing.assert_close(read_state(keys[:n], write_state(keys[:n], values[:n])), values[:n])
    more = torch.cat([keys, keys[:1]]), torch.cat([values, values[1:2]])
    assert not torch.allclose(read_state(more[0], write_state(*more)), more[1])


def test_noise_grows_with_the_root_of_the_number_of_keys():
    generator = torch.Generator().manual_seed(3)
    for n, r in ((4, 16), (64, 16), (64, 64)):
        keys = torch.randn(4000, n, r, generator=generator, dtype=torch.float64) / r**0.5
        assert recall_noise(keys).item() == pytest.approx((n / r) ** 0.5, rel=0.1)
    assert recall_noise(torch.tensor([[3.0, 7.0], [1.0, 5.0]])) == 4  # of each key, its first feature


def test_rank_does_not_limit_how_many_keys_can_be_told_apart():
    generator = torch.Generator().manual_seed(5)
    right = {}
    for n in (128, 256, 512):
        drawn = torch.randn(2, 50, n, 64, generator=generator, dtype=torch.float64)
        key, value = torch.nn.functional.normalize(drawn, dim=-1)
        assert torch.linalg.matrix_rank(key[0] @ key[0].T) == 64 < n
        found = nearest(read_state(key, write_state(key, value)), value)
        right[n] = (found == torch.arange(n)).double().mean().item()
    assert right == pytest.approx({128: 0.98, 256: 0.76, 512: 0.33}, abs=0.01)


def test_nearest_is_by_distance():
    assert nearest(torch.tensor([[0.9], [7.0]]), torch.tensor([[0.0], [1.0], [100.0]])).tolist() == [1, 1]


def test_numbers_are_those_of_the_tensors():
    key, value = random(4, (7, 4), (7, 3))
    assert cache_numbers(7, 4, 3) == key.numel() + value.numel()
    assert state_numbers(4, 3) == write_state(key, value).numel()
    assert cache_numbers(64, 128, 128) == state_numbers(128, 128)


def test_no_tokens_are_refused():
    with pytest.raises(RuntimeError):
        running_state(torch.zeros(0, 4), torch.zeros(0, 4), torch.zeros(0, 3))
    with pytest.raises(ValueError, match="shorter|longer"):
        running_state(torch.zeros(2, 4), torch.zeros(3, 4), torch.zeros(3, 3))
