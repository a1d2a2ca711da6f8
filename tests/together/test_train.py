"""Training again gives what is stored: its first steps here, all of it by `python -m snippets.together.train --check`."""

import json

import pytest

from snippets.together import text, train, trained


def test_prose_is_taken_from_a_page():
    page = "---\na: b\n---\n# One\n\nTwo [words](x.md) of\n$d_k$.\n\n/// claim | a#b\n///\n\n```python\ncode\n```\n\n- an item\n"
    assert train.prose_of(page) == "One\nTwo words of d_k.\nan item\n"


def kept():
    return json.loads(text.stored("curve.json"))


def test_the_first_steps_of_training_are_those_of_the_stored_run_and_lower_the_loss():
    model, losses, held_out = train.train_gpt(steps=4)
    assert losses == pytest.approx(kept()["training"][:4], abs=2e-3) and losses[3] < losses[0] - 0.2
    assert held_out[0] == pytest.approx(kept()["held out"]["0"], abs=1e-3)
    assert train.train_gpt(steps=1, seed=1)[1][0] != losses[0]
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_what_is_held_out_is_measured_every_so_many_steps(monkeypatch):
    monkeypatch.setattr(train, "EVERY", 2)
    model, losses, held_out = train.train_gpt(steps=2)
    assert len(losses) == 2 and list(held_out) == [0, 2] and held_out[2] == train.held_out_loss(model) < held_out[0]


def test_what_training_writes_is_what_is_read(tmp_path, monkeypatch, capsys):
    (tmp_path / "text.txt").write_bytes(text.stored("text.txt"))
    monkeypatch.setattr(train, "FOLDER", tmp_path)
    model = trained.load_gpt()
    train._write(model, [2.5, 2.25], {0: 4.5})
    assert (tmp_path / "weights.fp16").read_bytes() == text.stored("weights.fp16")
    assert (tmp_path / "stored.py").read_text().count('": "') == 3
    assert json.loads((tmp_path / "curve.json").read_text()) == {"training": [2.5, 2.25], "held out": {"0": 4.5}}
    assert not train._differ(model) and "parameters differ by 0.0e+00" in capsys.readouterr().out
    assert train._differ(trained.untrained_gpt())
