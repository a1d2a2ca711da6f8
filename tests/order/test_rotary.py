"""Rotary positions against complex multiplication and explicit matrices, in both layouts; biases by distance against a loop."""

import math
from functools import partial

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention
from snippets.order import positions
from snippets.order.rotary import (
    Rotation,
    align_positions,
    apply_rotary,
    apply_rotary_interleaved,
    apply_rotation,
    clipped_bias,
    find_rotation,
    interleave,
    mean_cosine,
    reject_half,
    rotate,
    rotate_pairs,
    rotated_score,
)

frequencies = partial(positions.frequencies, dtype=torch.float64)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def by_complex_numbers(x, position):
    """The interleaved layout as its authors put it: pairs are complex numbers, multiplied by one of length 1."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    angle = position.unsqueeze(-1) * frequencies(x.shape[-1])
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


@pytest.mark.parametrize("d", [2, 4, 10])
def test_turning_is_multiplication_by_a_complex_number(d):
    (x,) = random(d, (3, 7, d))
    place = torch.arange(7)
    torch.testing.assert_close(apply_rotary_interleaved(x, place), by_complex_numbers(x, place))
    torch.testing.assert_close(interleave(apply_rotary(x, place)), by_complex_numbers(interleave(x), place))


def test_far_on_the_angles_are_as_exact_as_the_input():
    """Half a million tokens on, frequencies with seven digits would be off in the second digit of the angle."""
    x, place = random(5, (8,))[0], torch.tensor(500_000)
    expected = by_complex_numbers(x, place)
    torch.testing.assert_close(apply_rotary_interleaved(x, place), expected, rtol=0, atol=1e-9)
    halves = torch.cat([x[0::2], x[1::2]])
    torch.testing.assert_close(interleave(apply_rotary(halves, place)), expected, rtol=0, atol=1e-9)


def test_interleave_takes_the_halves_in_turn():
    assert interleave(torch.tensor([0, 1, 2, 10, 11, 12])).tolist() == [0, 10, 1, 11, 2, 12]


def test_scores_know_the_distance_alone():
    query, key = random(0, (8,), (8,))
    place = torch.arange(12)
    scores = apply_rotary(query.expand(12, 8), place) @ apply_rotary(key.expand(12, 8), place).T
    for offset in range(-11, 12):
        diagonal = scores.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    torch.testing.assert_close(scores[0, 5], query @ apply_rotary(key, torch.tensor(5)))
    assert not math.isclose(scores[0, 5].item(), scores[5, 0].item())  # unlike sines and cosines added, it tells the direction


def test_turned_score_is_the_score_of_the_halves():
    query, key = random(1, (8,), (8,))
    score = rotated_score(*query.chunk(2), *key.chunk(2), torch.tensor(3), torch.tensor(10), frequencies(8))
    torch.testing.assert_close(score, apply_rotary(query, torch.tensor(3)) @ apply_rotary(key, torch.tensor(10)))
    first, second = rotate_pairs(*key.chunk(2), torch.tensor(10), frequencies(8))
    torch.testing.assert_close(torch.cat([first, second]), apply_rotary(key, torch.tensor(10)))


def test_turns_add_up_and_keep_lengths():
    (x,) = random(2, (4, 6))
    for rotation in (apply_rotary, apply_rotary_interleaved):
        torch.testing.assert_close(rotation(rotation(x, torch.tensor(3)), torch.tensor(4)), rotation(x, torch.tensor(7)))
        torch.testing.assert_close(rotation(x, torch.tensor(9)).norm(dim=-1), x.norm(dim=-1))
        torch.testing.assert_close(rotation(x, torch.tensor(0)), x)


def test_both_layouts_give_one_set_of_weights_and_a_mixture_another():
    Q, K, V = random(3, (6, 8), (6, 8), (6, 5))
    place = torch.arange(6)
    halves = scaled_dot_product_attention(apply_rotary(Q, place), apply_rotary(K, place), V)
    sides = scaled_dot_product_attention(apply_rotary_interleaved(interleave(Q), place), apply_rotary_interleaved(interleave(K), place), V)
    torch.testing.assert_close(sides, halves)
    assert not torch.allclose(
        scaled_dot_product_attention(apply_rotary_interleaved(Q, place), apply_rotary_interleaved(K, place), V), halves
    )


def test_mean_cosine_is_the_score_of_a_vector_with_itself():
    ones = torch.cat([torch.ones(4), torch.zeros(4)]).double() / 2  # four pairs of length a half, 1 in all
    for distance in (0, 1, 7, 100):
        expected = apply_rotary(ones, torch.tensor(0)) @ apply_rotary(ones, torch.tensor(distance))
        torch.testing.assert_close(mean_cosine(torch.tensor(distance), frequencies(8)), expected)


def test_one_frequency_rises_again():
    assert mean_cosine(torch.tensor(3), frequencies(2)).item() == pytest.approx(math.cos(3))
    assert f"{math.cos(3):.2f} {math.cos(6):.2f}" == "-0.99 0.96"
    assert mean_cosine(torch.tensor(6), frequencies(2)) > mean_cosine(torch.tensor(3), frequencies(2))


@pytest.mark.parametrize(("reach", "n", "m"), [(0, 2, 3), (1, 4, 4), (2, 3, 6), (9, 3, 3)])
def test_clipped_bias_is_a_table_by_distance(reach, n, m):
    (table,) = random(reach, (2 * reach + 1,))
    bias = clipped_bias(table, n=n, m=m)
    assert bias.shape == (n, m)
    for i in range(n):
        for j in range(m):
            assert bias[i, j] == table[max(-reach, min(reach, j - i)) + reach]


def test_beyond_the_reach_order_does_not_count_and_within_it_does():
    query, key, value, table = random(4, (1, 4), (6, 4), (6, 3), (5,))
    bias = clipped_bias(table, n=1, m=6)
    output = scaled_dot_product_attention(query, key, value, attn_mask=bias)
    for first, second, same in ((3, 5, True), (2, 4, True), (0, 1, False), (1, 5, False)):
        order = list(range(6))
        order[first], order[second] = second, first
        swapped = scaled_dot_product_attention(query, key[order], value[order], attn_mask=bias)
        assert torch.allclose(swapped, output) == same


@pytest.mark.parametrize("shape", [(4,), (0,)])
def test_a_table_has_a_middle(shape):
    with pytest.raises(ValueError, match=r"expected \(2 \* reach \+ 1\)"):
        clipped_bias(torch.zeros(shape), n=2, m=2)


@pytest.mark.parametrize("rotation", [apply_rotary, apply_rotary_interleaved])
def test_turning_needs_pairs(rotation):
    with pytest.raises(ValueError, match="d is 5; expected an even number"):
        rotation(torch.zeros(2, 5), torch.tensor(1))


rotations = pytest.mark.parametrize("rotation", [apply_rotary, apply_rotary_interleaved])


@rotations
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_turned_queries_and_keys_go_into_attention(rotation, dtype):
    """What is turned keeps its format, so that it fits the values; places are whole numbers or floats."""
    query, key, value = (x.to(dtype) for x in random(5, (6, 8), (6, 8), (6, 5)))
    for place in (torch.arange(6), torch.arange(6.0), torch.arange(6, dtype=torch.float64)):
        turned = rotation(query, place), rotation(key, place)
        assert turned[0].dtype == turned[1].dtype == attention(*turned, value).dtype == dtype


@rotations
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_in_half_precision_a_turn_is_rounded_once(rotation, dtype):
    (x,) = random(6, (4, 8))
    x, place = x.to(dtype), torch.tensor([0, 1, 300, 4097])
    assert torch.equal(rotation(x, place), rotation(x.float(), place).to(dtype))


@rotations
def test_the_base_sets_the_frequencies(rotation):
    x = torch.ones(4, dtype=torch.float64)
    expected = [math.cos(3 / 100 ** (k / 2)) - math.sin(3 / 100 ** (k / 2)) for k in (0, 1)]  # of both pairs, the first number
    found = rotation(x, torch.tensor(3), base=100.0)
    assert (found[:2] if rotation is apply_rotary else found[::2]).tolist() == pytest.approx(expected)


@rotations
def test_what_is_turned_stays_where_it_is(rotation):
    assert rotation(torch.zeros(3, 4, device="meta"), torch.arange(3, device="meta")).device.type == "meta"
    assert clipped_bias(torch.zeros(3, device="meta"), n=2, m=4).device.type == "meta"


@pytest.mark.parametrize("d_k", [1, 3])
def test_an_odd_width_is_refused(d_k):
    (x,) = random(31, (2, d_k))
    for apply in (apply_rotary, apply_rotary_interleaved):
        with pytest.raises(ValueError, match=f"d is {d_k}; expected an even number"):
            apply(x, torch.arange(2))
    with pytest.raises(RuntimeError):
        interleave(x)


@rotations
def test_a_place_may_be_a_number(rotation):
    (x,) = random(8, (3, 8))
    assert torch.equal(rotation(x[0], 5), rotation(x[0], torch.tensor(5)))
    assert torch.equal(rotation(x, 5), rotation(x, torch.full((3,), 5)))


@rotations
def test_each_text_of_a_batch_may_have_places_of_its_own(rotation):
    (x,) = random(9, (2, 3, 4, 8))  # (b, h, n, d_k)
    place = torch.tensor([[0, 1, 2, 3], [5, 6, 7, 8]])
    found = rotation(x, place[:, None])
    for b in range(2):
        torch.testing.assert_close(found[b], rotation(x[b], place[b]))


def test_numbers_in_the_text():
    """One pair of frequency 0.3; cosines at twice a distance; and the precision of fp32 far into a text."""
    query = key = torch.tensor([1.0]).double(), torch.tensor([0.0]).double()
    omega = torch.tensor([0.3], dtype=torch.float64)
    for s, t in ((1, 4), (5, 8)):
        assert f"{rotated_score(*query, *key, torch.tensor(s), torch.tensor(t), omega).item():.2f}" == f"{math.cos(0.9):.2f}" == "0.62"
    twice = lambda x: 2 * x**2 - 1
    assert [twice(0), twice(twice(0))] == [-1, 1] and [round(twice(0.6), 2), round(twice(twice(0.6)), 4)] == [-0.28, -0.8432]
    assert all((twice(x / 100) < x / 100) == (-50 < x < 100) for x in range(-100, 101))
    for d in (64, 128):
        (x,) = random(d, (d,))
        error = (apply_rotary(x.float(), 131072).double() - apply_rotary(x, 131072)).abs().max()
        assert 0.001 < error < 0.01


def test_positions_get_the_axes_of_what_they_rotate():
    x, place = torch.zeros(3, 2, 5, 4), torch.arange(5)  # (b, h, n, d_k)
    assert align_positions(x, place).shape == (1, 1, 5)
    assert align_positions(x.transpose(1, 2), place, token_axis=-3).shape == (1, 5, 1)
    assert align_positions(x, 7).shape == () and align_positions(x, 7).item() == 7
    own = torch.arange(15).view(3, 1, 5)
    assert align_positions(x, own) is own
    with pytest.raises(ValueError, match=r"expected \(n\) or \(3, 1, 5\)"):
        align_positions(x, own[:, 0])


@pytest.mark.parametrize(("interleaved", "apply"), [(False, apply_rotary), (True, apply_rotary_interleaved)])
def test_one_rotation_serves_all_layers_and_leaves_other_features(interleaved, apply):
    x, place = random(6, (2, 3, 5, 10))[0], torch.arange(5)
    rotation = find_rotation(place, frequencies(6), factor=2.0)
    assert isinstance(rotation, Rotation)
    found = rotate(x, rotation, interleaved=interleaved)
    torch.testing.assert_close(found[..., :6], 2 * apply(x[..., :6].contiguous(), place))
    assert torch.equal(found[..., 6:], x[..., 6:])


def test_a_rotation_wider_than_the_features_is_rejected():
    with pytest.raises(ValueError, match="the rotation is for 6 features; x has 4"):
        rotate(torch.ones(5, 4), find_rotation(torch.arange(5), frequencies(6)))


@pytest.mark.parametrize("shape", [(2, 5, 2), (1, 2), (4, 2), (2,), (3, 1, 5, 2)])
def test_a_rotation_of_other_tokens_or_without_an_axis_for_heads_is_rejected(shape):
    """As many texts as heads, and a single token, would broadcast."""
    x, rotation = torch.ones(2, 2, 5, 4), Rotation(torch.ones(shape), torch.zeros(shape))
    with pytest.raises((ValueError, RuntimeError)) as error:
        rotate(x, rotation)
    if len(shape) < 4:
        assert f"the rotation is {shape} for x (2, 2, 5, 4); expected (5, 2), or before it an axis" in str(error.value)


def test_a_rotation_may_be_shared_or_have_an_axis_for_each_of_x():
    (x,) = random(10, (2, 3, 5, 4))
    place = torch.arange(5)
    for other in (place, place.expand(2, 1, 5), place.expand(2, 3, 5)):
        torch.testing.assert_close(rotate(x, find_rotation(other, frequencies(4))), apply_rotary(x, place), atol=1e-6, rtol=0)


def test_axes_of_a_rotation_may_be_broadcast():
    """With the tokens before the heads, a rotation has one row for all heads."""
    (x,) = random(11, (2, 3, 5, 4))
    rotation = find_rotation(torch.arange(3)[:, None], frequencies(4, dtype=torch.float64))
    for interleaved, apply in ((False, apply_rotary), (True, apply_rotary_interleaved)):
        torch.testing.assert_close(apply_rotation(x, rotation, interleaved=interleaved), apply(x, torch.arange(3), token_axis=-3))


@pytest.mark.parametrize("apply", [apply_rotary, apply_rotary_interleaved])
def test_positions_in_half_precision_are_rejected(apply):
    with pytest.raises(TypeError, match="position is torch.bfloat16; expected integers, fp32 or fp64"):
        apply(torch.ones(5, 4), torch.arange(5).bfloat16())


@pytest.mark.parametrize("name", ["position", "omega"])
def test_a_rotation_is_not_found_in_half_precision(name):
    given = {"position": torch.arange(5.0), "omega": frequencies(4)}
    given[name] = given[name].half()
    with pytest.raises(TypeError, match=f"{name} is torch.float16; expected integers, fp32 or fp64"):
        find_rotation(**given)
    with pytest.raises(TypeError, match=f"{name} is torch.float16"):
        reject_half(**given)
