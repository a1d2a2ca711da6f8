"""Mutations of snippets: which ones exist, what the code witness says about each, and how undetected ones are judged."""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from types import ModuleType

import pytest

from derivations.kernel import Derivation, matrix, sizes, softmax, sqrt, vector
from derivations.kernel.attack import snippet_mutant_trials
from derivations.kernel.attack.snippet_mutant_trials import judge_by_numbers, try_mutations
from derivations.kernel.attack.snippet_mutations import SnippetMutation, mutate_snippet
from derivations.kernel.traced import witness
from derivations.kernel.traced.witness import CallVerdict, check_call

n, m, d = sizes("n m d")
x = vector("x", n)
Q, K = matrix("Q", n, d), matrix("K", m, d)

TEXT = '''
import torch

def weights(q, k):
    """Softmax of scaled scores."""
    scores = q @ k.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1)

def shifted(x):
    return torch.softmax(x - x.amax(-1, keepdim=True), -1)
'''


@pytest.fixture
def claim(monkeypatch, tmp_path):
    path = tmp_path / "snippets" / "attacked.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    module = ModuleType("snippets.attacked")
    module.__file__ = str(path)
    exec(compile(TEXT, str(path), "exec"), vars(module))
    monkeypatch.setitem(sys.modules, "snippets.attacked", module)
    derivation = Derivation("attacked")
    derivation.identity("weights", softmax(Q @ K.T / sqrt(d)), softmax(1 / sqrt(d) * (Q @ K.T)), code=[("snippets.attacked.weights", Q, K)])
    derivation.identity("shifted", softmax(x), softmax(1 * x), code=[("snippets.attacked.shifted", x)])
    return {one.id: one for one in derivation.claims}


def outcomes(claim) -> dict:
    before = check_call(claim, 0)
    assert before.state == "proved"
    return {slip.what: outcome for slip, outcome in try_mutations(claim, 0, before)}


def test_each_kind_of_slip_is_made():
    from snippets.attention.formula import attention_steps

    kinds = Counter(slip.what.partition(",")[0] for slip in mutate_snippet(attention_steps))
    assert {"another operation", "an operand is left out", "another number", "a sign is left out", "written in place"} <= kinds.keys()
    assert {"wrong where a size is more than 100", "wrong where an entry is 0.3712"} <= kinds.keys()


def test_a_corrupted_function_keeps_its_lines_and_what_it_sees():
    from snippets.softmax.distribution import softmax as run

    slip = next(mutate_snippet(run))
    assert slip.run.__code__.co_firstlineno == run.__code__.co_firstlineno and slip.run.__globals__ is run.__globals__
    assert [*inspect.signature(slip.run).parameters] == [*inspect.signature(run).parameters]


def test_the_judge_sees_by_itself_what_is_wrong_beyond_a_hundred(claim):
    weights = sys.modules["snippets.attacked"].weights
    slip = next(one for one in mutate_snippet(weights) if "more than 100" in one.what)
    assert judge_by_numbers(claim["weights"], 0, slip, check_call(claim["weights"], 0)) == "survived"
    assert judge_by_numbers(claim["weights"], 0, slip, CallVerdict("proved", "n = 1")) == "equivalent"  # at the shapes that are said


def test_every_false_one_is_killed(claim):
    found = outcomes(claim["weights"])
    alike = [what for what, outcome in found.items() if outcome != "killed"]
    assert len(found) > 10 and all(
        what.startswith("a sign is left out") and found[what] == "equivalent" for what in alike
    )  # the last of two axes
    assert any(what.startswith("wrong where a size") for what in found) and any(what.startswith("wrong where an entry") for what in found)


def test_what_computes_the_same_is_judged_by_numbers(claim):
    found = outcomes(claim["shifted"])
    assert set(found.values()) == {"killed", "equivalent"}
    assert next(outcome for what, outcome in found.items() if what.startswith("another operation")) == "equivalent"  # softmax(x + c)


def test_what_the_witness_passes_and_numbers_do_not_survives(claim, monkeypatch):
    monkeypatch.setattr(witness, "check_call", lambda one, k: CallVerdict("proved", "every shape"))
    assert "survived" in outcomes(claim["weights"]).values()


def test_where_nothing_is_drawn_nothing_is_judged(claim, monkeypatch):
    monkeypatch.setattr(snippet_mutant_trials, "trials", lambda *a: iter(()))
    slip = SnippetMutation("none", sys.modules["snippets.attacked"].shifted)
    assert judge_by_numbers(claim["shifted"], 0, slip, check_call(claim["shifted"], 0)) == "unclassified"


def test_the_function_is_put_back(claim):
    own = sys.modules["snippets.attacked"].weights
    outcomes(claim["weights"])
    assert sys.modules["snippets.attacked"].weights is own
