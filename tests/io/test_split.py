"""Test that parts of the keys, merged in any number and order, give attention on all keys."""

import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from snippets.io.split import (
    attention_in_parts,
    merge_numbers,
    merge_outputs,
    numbers_held,
    numbers_sent,
    partial_attention,
    sent_to_held,
    sequential_steps,
)


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


@pytest.mark.parametrize("parts", [1, 2, 5, 11])
def test_any_number_of_parts_agrees_with_attention(parts):
    query, key, value = random(parts, (2, 3, 4), (2, 11, 4), (2, 11, 6))
    expected = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(attention_in_parts(query, key, value, parts=parts), expected)


def test_unequal_parts_and_a_merge_of_merges():
    query, key, value = random(1, (1, 4), (10, 4), (10, 3))
    one, two, three = (partial_attention(query, key[a:b], value[a:b]) for a, b in ((0, 1), (1, 7), (7, 10)))
    expected, log_sum = partial_attention(query, key, value)

    def both(*said):
        return merge_outputs(*(torch.stack(each) for each in zip(*said)))

    for merged in (both(one, two, three), both(both(one, two), three), both(both(three, one), two)):
        torch.testing.assert_close(merged[0], expected)
        torch.testing.assert_close(merged[1], log_sum)
    torch.testing.assert_close(log_sum, (query @ key.T / 2).exp().sum(-1, keepdim=True).log())


def test_large_scores_do_not_overflow():
    query, key, value = random(2, (1, 4), (8, 4), (8, 2))
    expected = scaled_dot_product_attention(1e4 * query, key, value)
    torch.testing.assert_close(attention_in_parts(1e4 * query, key, value, parts=3), expected)


def test_combine_is_a_weighted_mean():
    answers, log_sums = random(3, (5,), (5,))
    weights = log_sums.exp()
    torch.testing.assert_close(merge_numbers(answers, log_sums), weights @ answers / weights.sum())


def test_counts():
    _, key, value = random(4, (1, 4), (12, 4), (12, 6))
    assert numbers_held(12, 4, 6) == key.numel() + value.numel()
    output, log_sum = partial_attention(key[:1], key, value)
    assert numbers_sent(3, 6) == 3 * (output.numel() + log_sum.numel())
    assert sent_to_held(4, 4, 6) == pytest.approx(numbers_sent(3, 6) / numbers_held(12, 4, 6))


def test_root_is_the_best_number_of_parts():
    found = {parts: sequential_steps(4096, parts) for parts in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)}
    assert min(found, key=found.get) == 64 and found[64] == 128


def test_numbers_in_the_text():
    answers, log_sums = torch.tensor([1.0, 0.0]), torch.tensor([1.0, 3.0]).log()
    assert answers.mean() == 0.5 and merge_numbers(answers, log_sums).item() == pytest.approx(0.25)
    n = 65536
    few = {parts: sequential_steps(n, parts) for parts in range(1, 133)}
    assert min(few, key=few.get) == 132  # with one part for each multiprocessor of an H100
    in_a_tree = {parts: n // parts + (parts - 1).bit_length() for parts in (2**k for k in range(1, 17))}
    assert in_a_tree[32768] == min(in_a_tree.values()) < in_a_tree[256] < sequential_steps(n, 256) == 512


def test_half_precision_keeps_its_format():
    query, key, value = (x.bfloat16() for x in random(5, (1, 4), (6, 4), (6, 4)))
    output = attention_in_parts(query, key, value, parts=2)
    assert output.dtype == torch.bfloat16
    torch.testing.assert_close(output, scaled_dot_product_attention(query, key, value))


def test_parts_without_keys_give_what_pytorch_gives():
    query, key, value = random(6, (3, 4), (0, 4), (0, 6))
    assert torch.equal(attention_in_parts(query, key, value, parts=2), torch.zeros(3, 6, dtype=torch.float64))
    said = [partial_attention(query, key, value)] * 2
    output, log_sum = merge_outputs(*(torch.stack(each) for each in zip(*said)))
    assert torch.equal(output, torch.zeros(3, 6, dtype=torch.float64)) and (log_sum == -torch.inf).all()
