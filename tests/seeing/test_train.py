"""Test that training again gives the stored numbers: its first steps here, all of it in `python -m snippets.seeing.train --check`."""

import json

import pytest
import torch

from snippets.seeing import train as module
from snippets.seeing.recall import KINDS, STORED
from snippets.seeing.stored import DIGEST
from snippets.seeing.train import DIGITS, STEPS, _differ, _furthest, _main, record, train


def stored():
    return json.loads(STORED.read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_steps_of_training_are_those_of_the_stored_run(kind):
    _, losses = train(kind, 29)
    expected = {int(step): loss for step, loss in stored()[kind]["losses"].items() if int(step) < 29}
    assert len(expected) == 5
    for step, loss in expected.items():
        assert losses[step] == pytest.approx(loss, rel=1e-6)


def test_the_loss_ended_low_where_attention_learned_and_high_where_nothing_could():
    last = {kind: of["losses"][str(STEPS - 1)] for kind, of in stored().items()}
    assert last["attention"] < 0.05 and min(last["one layer of attention"], last["fixed mixing"]) > 2


def test_training_depends_only_on_its_seed():
    torch.manual_seed(1)
    model, losses = train("attention", 3)
    torch.manual_seed(2)
    again, same = train("attention", 3)
    assert losses == same and all((a == b).all() for a, b in zip(model.parameters(), again.parameters()))
    assert train("attention", 3, seed=1)[1] != losses


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Training of a few steps that writes elsewhere."""
    monkeypatch.setattr(module, "STORED", tmp_path / "recall.json")
    monkeypatch.setattr(module, "record", lambda kind: record(kind, steps=8) | {"losses": {}})
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


def test_check_accepts_what_training_writes(folder, capsys):
    assert _main(check=False) == 0
    written = json.loads((folder / "recall.json").read_text())
    assert set(written) == set(KINDS)
    assert "DIGEST" in (folder / "stored.py").read_text() and DIGEST not in (folder / "stored.py").read_text()
    assert _main(check=True) == 0
    assert capsys.readouterr().out.count("differ by 0.0e+00 at most: the same numbers") == len(KINDS)
    written["fixed mixing"]["parameters"]["answer.weight"][3][5] += 0.001
    (folder / "recall.json").write_text(json.dumps(written))
    assert _main(check=True) == 0
    assert "differ by 1.0e-03 at most: other numbers" in capsys.readouterr().out


def test_a_model_that_solves_the_task_and_one_that_does_not_differ(capsys):
    records = stored()
    assert not _differ(records, stored())
    records["attention"] = record("attention", steps=2)
    assert _differ(records, stored())
    assert "attention: right in " in capsys.readouterr().out


def test_furthest():
    one = {"parameters": {"a": [[1.0, 2.0]], "b": [3.0]}}
    assert _furthest(one, {"parameters": {"a": [[1.0, 2.5]], "b": [2.75]}}) == 0.5
    assert _furthest(one, one) == 0


def test_the_stored_numbers_are_rounded():
    def flat(value):
        return [number for row in value for number in flat(row)] if isinstance(value, list) else [value]

    numbers = [n for of in stored().values() for value in of["parameters"].values() for n in flat(value)]
    assert all(round(n, DIGITS) == n for n in numbers) and len(numbers) > 4000
