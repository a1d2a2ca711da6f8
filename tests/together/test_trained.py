"""What training left: small files, a loss well under a bigram model's, and words."""

import json
from math import log

import pytest
import torch
from torch.nn.functional import cross_entropy

from snippets.together import text, train, trained


def test_an_untrained_model_guesses():
    torch.manual_seed(0)
    model = trained.untrained_gpt()
    tokens, following = text.in_blocks(text.parts()[0][: 4 * text.LENGTH + 1])
    loss = cross_entropy(model(tokens)[0].flatten(0, 1), following.flatten()).item()
    assert loss == pytest.approx(log(len(text.vocabulary())), abs=0.05)


def test_the_files_are_small():
    sizes = {name: (text.FOLDER / name).stat().st_size for name in ("text.txt", "weights.fp16", "curve.json")}
    assert sizes["text.txt"] <= 300_000 and sizes["weights.fp16"] <= 500_000 and sizes["curve.json"] <= 50_000
    assert sizes["weights.fp16"] == 2 * sum(parameter.numel() for parameter in trained.load_gpt().parameters())


def test_the_stored_weights_give_the_stored_loss_which_is_well_under_a_bigram_models():
    loss = text.held_out_loss(trained.load_gpt())
    assert loss == pytest.approx(
        json.loads(text.stored("curve.json"))["held out"][str(train.STEPS)], abs=0.002
    )  # they are rounded to half precision
    assert loss < 0.7 * text.counting_loss(2) and text.counting_loss(2) < 0.8 * text.counting_loss(1)


def test_it_writes_words_of_the_text():
    written = trained.write_text("The ", count=120)
    assert written.startswith("The ") and len(written) == 124
    words = set(text.text().split())
    found = [word in words for word in written.split()[:-1]]
    assert sum(found) > 0.7 * len(found)
