"""Byte-pair encoding keeps the text, and the gradient of the table is autograd's."""

from collections import Counter
from itertools import pairwise

import pytest
import torch

from snippets.example.tokens import learn_merges, merge_pair, table_gradient, tokenize

TEXT = "the animal didn't cross the street because it was too tired"


def test_merge_pair_goes_from_left_to_right():
    assert merge_pair(list("aaab"), ("a", "a")) == ["aa", "a", "b"]
    assert merge_pair(list("abab"), ("a", "b")) == ["ab", "ab"]
    assert merge_pair([], ("a", "b")) == []


@pytest.mark.parametrize("number", [0, 1, 5, 20, 200])
def test_tokens_join_to_the_text(number):
    assert "".join(tokenize(TEXT, learn_merges(TEXT, number))) == TEXT


@pytest.mark.parametrize("number", range(8))
def test_each_merge_joins_a_most_frequent_pair(number):
    merges = learn_merges(TEXT, number + 1)
    pairs = Counter(pairwise(tokenize(TEXT, merges[:number])))
    assert pairs[merges[-1]] == max(pairs.values())


def test_merges_end_when_one_token_is_left():
    assert learn_merges("ab", 10) == [("a", "b")]
    assert learn_merges("", 10) == []


def test_tokenize_splits_an_unknown_text_into_characters():
    assert tokenize("xyz", learn_merges(TEXT, 5)) == ["x", "y", "z"]


def test_table_gradient_is_autograd_s():
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(7, 4, generator=generator, dtype=torch.float64, requires_grad=True)  # (vocabulary, d)
    token = torch.randint(7, (5,), generator=generator)
    grad_rows = torch.randn(5, 4, generator=generator, dtype=torch.float64)  # (n, d)
    torch.nn.functional.embedding(token, table).backward(grad_rows)
    one_hot = torch.nn.functional.one_hot(token, 7).double()
    torch.testing.assert_close(table_gradient(one_hot, grad_rows), table.grad)


def test_numbers_in_the_text():
    text = "the cat sat on the mat, the cat ate"
    pairs = Counter(pairwise(text))
    assert pairs.pop(("a", "t")) == 5 > max(pairs.values())
    assert [len(tokenize(text, learn_merges(text, number))) for number in (0, 4)] == [35, 21]
    assert tokenize("the hat", learn_merges(text, 4)) == ["the ", "h", "at"]
