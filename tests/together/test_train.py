"""Training again gives what is stored: its first steps here, all of it by `python -m snippets.together.train --check`."""

import json

import pytest

from snippets.together import text, train, trained


def test_prose_is_taken_from_a_page():
    page = "---\na: b\n---\n# One\n\nTwo [words](x.md) of\n$d_k$.\n\n/// claim | a#b\n///\n\n```python\ncode\n```\n\n- an item\n"
    assert train.prose_of(page) == "One\nTwo words of d_k.\nan item\n"


def kept():
    return json.loads(text.stored("curve.json"))


@pytest.fixture
def short(monkeypatch):
    """A few blocks of the held-out text in place of all; what is trained on stays as it is."""
    training, held_out = text.parts()
    monkeypatch.setattr(text, "parts", lambda: (training, held_out[: 4 * text.LENGTH + 1]))


def test_the_first_steps_of_training_are_those_of_the_stored_run_and_lower_the_loss():
    model, losses, held_out = train.train_gpt(steps=4)
    assert losses == pytest.approx(kept()["training"][:4], abs=2e-3) and losses[3] < losses[0] - 0.2
    assert held_out[0] == pytest.approx(kept()["held out"]["0"], abs=1e-3)
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_another_seed_begins_with_another_loss(short):
    assert abs(train.train_gpt(steps=1, seed=1)[1][0] - kept()["training"][0]) > 2e-3


def test_what_is_held_out_is_measured_every_so_many_steps(short, monkeypatch):
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
    monkeypatch.undo()


@pytest.fixture
def run(short):
    """What training gives that comes out as it is stored."""
    curve = kept()
    return trained.load_gpt(), curve["training"], {int(step): loss for step, loss in curve["held out"].items()}


def test_a_run_that_is_the_stored_one_does_not_differ(run, capsys):
    assert not train._differ(*run)
    said = capsys.readouterr().out
    assert "by 0.0e+00 at most" in said and "parameters by 0.0e+00" in said


def moved(numbers, place, by):
    return [number + by * (k == place) for k, number in enumerate(numbers)]


def with_step(held_out, step, by):
    return {at: loss + by * (at == step) for at, loss in held_out.items()}


CHANGES = {
    "no training": (lambda model, losses, held_out: (trained.untrained_gpt(), losses, held_out), True),
    "its first loss": (lambda model, losses, held_out: (model, moved(losses, 0, 0.002), held_out), True),
    "its hundredth": (lambda model, losses, held_out: (model, moved(losses, 99, -0.002), held_out), True),
    "a loss after the first hundred": (lambda model, losses, held_out: (model, moved(losses, 100, 0.002), held_out), False),
    "a little early": (lambda model, losses, held_out: (model, moved(losses, 50, 0.0005), held_out), False),
    "a step less": (lambda model, losses, held_out: (model, losses[:-1], held_out), True),
    "held-out text half way": (lambda model, losses, held_out: (model, losses, with_step(held_out, 800, 0.04)), True),
    "held-out text in the end": (lambda model, losses, held_out: (model, losses, with_step(held_out, 1600, -0.04)), True),
    "a little half way": (lambda model, losses, held_out: (model, losses, with_step(held_out, 800, 0.02)), False),
    "other steps": (lambda model, losses, held_out: (model, losses, {step + 1: loss for step, loss in held_out.items()}), True),
    "fewer steps": (lambda model, losses, held_out: (model, losses, dict(list(held_out.items())[:-1])), True),
}


@pytest.mark.parametrize(("change", "differs"), CHANGES.values(), ids=CHANGES)
def test_another_run_differs_and_one_that_rounds_otherwise_does_not(run, change, differs):
    """As elsewhere: late losses move by some hundredths, and none of the first hundred by a thousandth."""
    assert train._differ(*change(*run)) is differs


@pytest.mark.parametrize(("planted", "value"), [("RATE", 4.4e-3), ("SEED", 1), ("BATCH", 15)])
def test_what_is_planted_in_training_is_seen_in_its_first_losses(planted, value, run, monkeypatch):
    """A rate that is a tenth too large, another seed, a text less in each batch: after a few steps the losses are others."""
    monkeypatch.setattr(train, planted, value)
    _, losses, _ = train.train_gpt(steps=10, seed=train.SEED)
    early = train._apart(losses, run[1][:10])
    assert early > 2 * train.AT_FIRST
