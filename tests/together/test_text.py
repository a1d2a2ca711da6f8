"""The text as tokens, what is held out, and what counting gives."""

from math import log

import pytest
import torch

from snippets.together import text


def test_encoding_and_back():
    line = text.text()[:200]
    assert text.decode(text.encode(line)) == line and text.encode(line).max() < len(text.vocabulary())


def test_the_held_out_part_is_the_last_tenth_and_was_not_trained_on():
    training, held_out = text.parts()
    assert training + held_out == text.text() and len(held_out) == pytest.approx(len(text.text()) / 10, abs=1)
    tokens, following = text.in_blocks(held_out)
    assert torch.equal(tokens.flatten()[1:], following.flatten()[:-1]) and tokens.shape[1] == text.LENGTH
    assert text.decode(tokens[0]) == held_out[: text.LENGTH]


def test_counting_is_a_distribution_and_the_count_of_the_page(monkeypatch):
    monkeypatch.setattr(text, "parts", lambda: ("abab", "ab" * text.LENGTH))
    monkeypatch.setattr(text, "vocabulary", lambda: ["a", "b"])
    mix = text.MIX
    # In "abab" half is a; after a always comes b; after b an a came once, and the last b is followed by nothing.
    after_a, after_b = (2 + mix * 0.5) / (2 + mix), (1 + mix * 0.5) / (1 + mix)
    assert text.counting_loss(2) == pytest.approx(-(log(after_a) + log(after_b)) / 2)
    assert text.counting_loss(1) == pytest.approx(log(2))


def test_a_file_that_training_did_not_write_is_refused(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("Another text.")
    monkeypatch.setattr(text, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="text.txt is not the file that training wrote; train again"):
        text.stored("text.txt")


def test_a_model_that_knows_nothing_loses_the_logarithm_of_the_vocabulary():
    size = len(text.vocabulary())
    tokens, following = text.in_blocks(text.parts()[1])
    model = torch.nn.Linear(1, 1)
    model.forward = lambda tokens: (torch.zeros(*tokens.shape, size), None)
    assert text.held_out_loss(model) == pytest.approx(log(size))
    model.forward = lambda tokens: (50.0 * torch.nn.functional.one_hot(following, size), None)
    assert text.held_out_loss(model) < 1e-6


def test_no_text_is_no_tokens():
    assert text.encode("").dtype == torch.long and text.encode("").shape == (0,)
