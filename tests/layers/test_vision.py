"""Vision transformers: class token, pooling, copies of patches, tables of positions, and cost."""

import pytest
import torch

from snippets.heads.patches import patchify
from snippets.layers.vision import (
    class_output,
    mean_pool,
    multiplications,
    repeat_rows,
    resize_positions,
    score_among_copies,
    squared_length,
    times_the_cost,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def test_the_class_token_is_one_more_row():
    score, own, scores, values = random(0, (), (3,), (5,), (5, 3))
    expected = torch.softmax(torch.cat([score.view(1), scores]), 0) @ torch.cat([own.view(1, 3), values])
    torch.testing.assert_close(class_output(score, own, scores, values), expected)


@pytest.mark.parametrize("times", [1, 4, 9])
def test_copies_of_patches_lower_the_class_tokens_own_score(times):
    score, own, scores, values = random(1, (), (3,), (5,), (5, 3))
    many = repeat_rows(scores, times=times), repeat_rows(values, times=times)
    assert many[1].shape == (5 * times, 3) and many[1][times - 1].equal(values[0])
    torch.testing.assert_close(many[0].softmax(0) @ many[1], scores.softmax(0) @ values)
    output = class_output(score, own, *many)
    torch.testing.assert_close(output, class_output(score - torch.tensor(times).double().log(), own, scores, values))
    assert torch.allclose(output, class_output(score, own, scores, values)) == (times == 1)


def test_a_lifted_score_keeps_its_weight_among_copies():
    score, own, scores, values = random(7, (), (3,), (5,), (5, 3))
    many = repeat_rows(scores, times=4), repeat_rows(values, times=4)
    torch.testing.assert_close(class_output(score_among_copies(score, times=4), own, *many), class_output(score, own, scores, values))


def test_mean_pooling_weighs_patches_by_the_attention_that_they_get():
    S, V = random(2, (6, 6), (6, 3))
    torch.testing.assert_close(mean_pool(S, V), S.softmax(1).mean(0) @ V)
    torch.testing.assert_close(mean_pool(0 * S, V), V.mean(0))
    assert not torch.allclose(mean_pool(S, V), V.mean(0))


def test_a_linear_table_is_interpolated_exactly_and_old_rows_are_kept():
    (table,) = random(3, (4, 5, 3))
    larger = resize_positions(table, rows=7, columns=9)
    torch.testing.assert_close(larger[::2, ::2], table)
    torch.testing.assert_close(larger[1, 0], (table[0, 0] + table[1, 0]) / 2)
    torch.testing.assert_close(larger[1, 1], (table[0, 0] + table[1, 0] + table[0, 1] + table[1, 1]) / 4)
    i, j = torch.meshgrid(torch.arange(4).double(), torch.arange(5).double(), indexing="ij")
    linear = torch.stack([2 + 3 * i - j, i * j], -1)
    fine = resize_positions(linear, rows=7, columns=9)
    i, j = torch.meshgrid(torch.arange(7) / 2, torch.arange(9) / 2, indexing="ij")
    torch.testing.assert_close(fine, torch.stack([2 + 3 * i - j, i * j], -1).double())


def test_half_a_pixel_off_inner_rows_move():
    (table,) = random(4, (4, 4, 3))
    other = resize_positions(table, rows=8, columns=8, corners=False)
    torch.testing.assert_close(other[0, 0], table[0, 0])
    torch.testing.assert_close(other[0, 1], 0.75 * table[0, 0] + 0.25 * table[0, 1])
    torch.testing.assert_close(other[0, 2], 0.25 * table[0, 0] + 0.75 * table[0, 1])


def test_squared_lengths_of_rows_in_between():
    u, w = torch.eye(2, dtype=torch.float64)
    assert squared_length(u, w, t=0.5).item() == 0.5
    u, w = random(5, (4,), (4,))
    for t in (0.0, 0.3, 1.0):
        expected = (1 - t) * u @ u + t * w @ w - t * (1 - t) * (u - w) @ (u - w)
        torch.testing.assert_close(squared_length(u, w, t=t), expected)


def test_the_cost_of_twice_the_side_lies_between_four_and_sixteen():
    assert multiplications(3, 5) == 12 * 3 * 25 + 2 * 9 * 5
    assert times_the_cost(196, 768) == pytest.approx(4 * (6 * 768 + 4 * 196) / (6 * 768 + 196))
    costs = [times_the_cost(n, 768) for n in (1, 196, 10_000, 10**8)]
    assert costs == sorted(costs) and 4 < costs[0] < 4.01 and 15.99 < costs[-1] < 16


def test_numbers_in_the_text():
    square = torch.eye(4, dtype=torch.float64).view(2, 2, 4)  # four rows at right angles
    assert resize_positions(square, rows=3, columns=3)[1].square().sum(-1).tolist() == [0.5, 0.25, 0.5]
    u, w = torch.tensor([[1.0, 0], [3, 0]]).double()
    assert squared_length(u, w, t=0.5).item() == 4 and squared_length(u, u, t=0.5).item() == 1
    assert round(times_the_cost((224 // 16) ** 2, 768), 1) == 4.5


def test_enlarging_an_image_copies_only_uniform_patches():
    (colours,) = random(6, (3, 2, 2))

    def enlarged(image):
        return image.repeat_interleave(2, -1).repeat_interleave(2, -2)

    uniform = colours.repeat_interleave(4, -1).repeat_interleave(4, -2)  # 2 by 2 patches of side 4
    detailed = uniform.clone()
    detailed[:, 0, 0] += 1
    for image, copies in ((uniform, True), (detailed, False)):
        patches, many = patchify(image, patch_size=4), patchify(enlarged(image), patch_size=4)
        nearest = torch.cdist(many, patches).min(1).values
        assert len(many) == 4 * len(patches) and bool((nearest < 1e-5).all()) == copies
