"""RoPE on several axes against RoPE axis by axis, M-RoPE's positions, and joint attention against attention over both sequences."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.order.rotary import apply_rotary, rotate
from snippets.positions.images import (
    axial_frequencies,
    grid_angles,
    grid_positions,
    grid_rotation,
    grid_score,
    grid_weights,
    joint_attention,
    joint_output,
    project_by_kind,
    section_frequencies,
    segment_positions,
    text_share,
)


def random(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def halves(x):
    """Return the features of rows, then those of columns, each in the layout of `apply_rotary`."""
    first, second = x.tensor_split(2, dim=-1)
    return [torch.cat(parts, -1) for parts in zip(first.tensor_split(2, -1), second.tensor_split(2, -1), strict=True)]


def test_axial_rope_is_rope_on_each_axis():
    Q, K, place = random(0, 12, 16), random(1, 12, 16), grid_positions(3, 4)
    rotation = grid_rotation(place, axial_frequencies(16, dtype=torch.float64))
    found = rotate(Q, rotation) @ rotate(K, rotation).mT
    axes = zip(halves(Q), halves(K), place.T, strict=True)
    torch.testing.assert_close(found, sum(apply_rotary(q, at) @ apply_rotary(k, at).mT for q, k, at in axes))


@pytest.mark.parametrize("axes", [2, 3])
def test_moving_both_changes_no_score_and_moving_one_does(axes):
    contents, W = random(0, 4, 5), random(1, 5, axes)
    x, y, c = random(2, 3, axes)
    before = grid_score(*contents, x, y, W)
    torch.testing.assert_close(grid_score(*contents, x + c, y + c, W), before)
    assert (grid_score(*contents, x, y + c, W) - before).abs() > 0.01


def test_each_pair_of_axial_rope_has_one_axis():
    W = axial_frequencies(24, axes=3, base=100.0)
    assert W.shape == (12, 3) and ((W > 0).sum(-1) == 1).all() and ((W > 0).sum(0) == 4).all()
    torch.testing.assert_close(W.sum(-1).view(3, 4), (100 ** (torch.arange(4) / -4)).expand(3, 4))
    with pytest.raises(ValueError, match="d_k is 30; expected a multiple of 4"):
        axial_frequencies(30)


def test_sections_share_one_series_of_frequencies():
    W = section_frequencies((1, 2, 3))
    assert (W > 0).sum(0).tolist() == [1, 2, 3]
    torch.testing.assert_close(W.sum(-1), 10000 ** (torch.arange(6) / -6))
    assert (grid_angles(torch.tensor([7, 7, 7]), W) - 7 * W.sum(-1)).abs().max() == 0


def test_positions_continue_after_the_largest():
    found = segment_positions([(3, 2, 2), 5]).T.tolist()  # the example in the code of Transformers
    assert found[0] == [0] * 4 + [1] * 4 + [2] * 4 + [3, 4, 5, 6, 7]
    assert found[1] == [0, 0, 1, 1] * 3 + [3, 4, 5, 6, 7]
    assert found[2] == [0, 1, 0, 1] * 3 + [3, 4, 5, 6, 7]


def test_weights_of_a_sum_over_axes_are_a_product():
    rows, columns = random(0, 2, 3), random(1, 2, 4)
    torch.testing.assert_close(grid_weights(rows, columns), rows.softmax(-1).unsqueeze(-1) * columns.softmax(-1).unsqueeze(-2))


def test_joint_attention_attends_in_one_sequence():
    text, image, first, second = random(0, 3, 6), random(1, 5, 6), random(2, 3, 6, 4), random(3, 3, 6, 4)
    Q, K, V = (torch.cat([text @ one, image @ other]) for one, other in zip(first, second, strict=True))
    torch.testing.assert_close(torch.cat(joint_attention(text, image, first, second)), scaled_dot_product_attention(Q, K, V))
    is_text = torch.tensor([1.0] * 3 + [0.0] * 5, dtype=torch.float64)
    torch.testing.assert_close(project_by_kind(torch.cat([text, image]), is_text, first[0], second[0]), Q)


def test_the_share_of_the_text_mixes_both_outputs():
    f, V, z, U = random(0, 3), random(1, 3, 2), random(2, 5), random(3, 5, 2)
    share = text_share(f, z)
    torch.testing.assert_close(share, f.exp().sum() / (f.exp().sum() + z.exp().sum()))
    torch.testing.assert_close(joint_output(f, V, z, U), share * f.softmax(0) @ V + (1 - share) * z.softmax(0) @ U)
