"""Tests of the recall task, of the models that were trained on it, and of the model built by hand."""

from fractions import Fraction

import pytest
import torch

from snippets.seeing import recall
from snippets.seeing.recall import (
    CONTEXT,
    KINDS,
    LENGTH,
    LETTERS,
    FixedHead,
    Head,
    Recall,
    accuracy,
    draw_cases,
    fixed_mixing,
    held_out_pairs,
    load,
    match_weight,
    read,
    recall_by_hand,
    restore,
    spell,
)


def cases(count, held_out, seed=0):
    return draw_cases(count, held_out=held_out, generator=torch.Generator().manual_seed(seed))


def random(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


# The task


@pytest.mark.parametrize("held_out", [False, True])
def test_cases_match_the_description_on_the_page(held_out):
    tokens, answers = cases(300, held_out)
    assert tokens.shape == (300, LENGTH) and answers.shape == (300,)
    for row, answer in zip(tokens.tolist(), answers.tolist()):
        context, question = row[:-1], row[-1]
        assert len(set(context)) == CONTEXT and set(context) <= set(range(LETTERS))
        assert context[context.index(question) + 1] == answer
        assert held_out_pairs()[question, answer].item() == held_out


def test_every_place_and_every_letter_is_asked_about():
    tokens, answers = cases(2000, held_out=False)
    places = (tokens[:, :-1] == tokens[:, -1:]).double().argmax(-1)
    counts = places.bincount(minlength=CONTEXT)
    assert counts[-1] == 0 and counts[:-1].min() > 2000 / 13 / 2 and counts.max() < 2000 / 13 * 2
    assert answers.bincount(minlength=LETTERS).min() > 0


def test_held_out_pairs_occur_in_training_rows():
    tokens, _ = cases(2000, held_out=False)
    assert held_out_pairs()[tokens[:, :-2], tokens[:, 1:-1]].any()


def test_the_pairs_held_out_do_not_depend_on_global_state():
    torch.manual_seed(5)
    first = held_out_pairs()
    torch.manual_seed(6)
    assert (first == held_out_pairs()).all() and 0 < first.sum() < LETTERS**2 / 8


def test_letters():
    assert read("a c p").tolist() == [0, 2, 15] and spell(torch.tensor([0, 2, 15])) == "a c p"


# The models


@pytest.mark.parametrize("held_out", [False, True])
def test_attention_solves_the_task_and_the_others_do_not(held_out):
    tokens, answers = cases(3000, held_out, seed=7)
    shares = {kind: accuracy(load(kind), tokens, answers) for kind in KINDS}
    assert shares["attention"] >= 0.99
    assert shares["one layer of attention"] < 0.1 and shares["fixed mixing"] < 0.1


def test_fixed_mixing_answers_with_a_part_from_each_token():
    # The claim `additive`, on the trained model: one letter changed changes the output by the same amount in any company.
    model = load("fixed mixing")
    one, other = cases(2, held_out=False)[0]
    for place in range(LENGTH):
        changes = []
        for row in (one, other):
            pair = row.repeat(2, 1)
            pair[:, place] = torch.tensor([3, 4])
            changes.append(model(pair).diff(dim=0))
        torch.testing.assert_close(*changes)
    attention = [load("attention")(torch.stack([row, row.roll(1)])).diff(dim=0) for row in (one, other)]
    assert not torch.allclose(*attention, atol=1)


def test_fixed_heads_have_weights_that_see_no_letters():
    model = load("fixed mixing")
    x, y = random(0, (3, LENGTH, 16), (LENGTH, 16))
    for head in model.heads:
        assert isinstance(head, FixedHead) and (head.weights(x) == head.weights(y)).all()
        torch.testing.assert_close(head.weights(x).sum(-1), torch.ones(LENGTH, dtype=torch.float64))
        assert (head.weights(x).triu(1) == 0).all()
    assert not any(name.startswith("heads.0.query") for name in model.state_dict())


def test_a_head_is_a_head_of_pytorch():
    torch.manual_seed(0)
    head = Head(16, 8).double()
    (x,) = random(1, (2, 5, 16))
    expected = torch.nn.functional.scaled_dot_product_attention(head.query(x), head.key(x), head.value(x), is_causal=True)
    torch.testing.assert_close(head(x), head.output(expected))
    torch.testing.assert_close(head(x, weights=head.weights(x)), head(x))
    assert (head(x, weights=torch.zeros(5, 5, dtype=torch.float64)) == 0).all()


def test_weights_given_to_the_model_take_the_place_of_a_heads_own():
    model, (tokens, _) = load("attention"), cases(4, held_out=False)
    x = model.letter(tokens) + model.place.weight
    first = model.heads[0].weights(x)
    torch.testing.assert_close(model(tokens, weights=[first, None]), model(tokens))
    assert not torch.allclose(model(tokens, weights=[first.flip(-1), None]), model(tokens))
    with pytest.raises(ValueError, match="shorter|longer"):
        model(tokens, weights=[first])


def test_models_match_the_description_on_the_page():
    model = load("attention")
    assert sum(parameter.numel() for parameter in model.parameters()) < 2000
    assert {name.split(".")[0] for name in model.state_dict()} == {"letter", "place", "heads", "answer"}
    assert not any("bias" in name for name in model.state_dict())
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert len(load("one layer of attention").heads) == 1 and isinstance(model, Recall)


def test_a_file_that_training_did_not_write_is_refused(tmp_path, monkeypatch):
    changed = tmp_path / "recall.json"
    changed.write_bytes(recall.STORED.read_bytes().replace(b"1", b"2", 1))
    monkeypatch.setattr(recall, "STORED", changed)
    with pytest.raises(ValueError, match="recall.json is not the file that training wrote; train again"):
        load("attention")


def test_the_file_is_small():
    assert recall.STORED.stat().st_size < 200_000


# The claims


def test_two_mixings_are_one():
    A, B, X, W, U = random(0, (2, 5, 5), (5, 5), (2, 5, 4), (4, 3), (3, 6))
    expected = torch.einsum("ij,bjk,bkd,de,ef->bif", B, A, X, W, U)
    torch.testing.assert_close(fixed_mixing(B, fixed_mixing(A, X, W), U), expected)
    torch.testing.assert_close(fixed_mixing(B @ A, X, W @ U), expected)


def test_match_weight():
    match, others = torch.tensor(3.0).double().log(), torch.tensor([1.0, 2.0]).double().log()
    assert match_weight(match, others).item() == pytest.approx(float(Fraction(3, 6)))
    torch.testing.assert_close(match_weight(match.expand(4), others.expand(4, 2)), torch.full((4,), 0.5, dtype=torch.float64))
    gaps = torch.tensor([-5.0, -7.0]).double()
    missed = 1 - match_weight(torch.tensor(0.0).double(), gaps)
    assert 0 < missed < gaps.exp().sum()


@pytest.mark.parametrize("n", [1, 2, 5])
def test_recall_by_hand_finds_what_followed(n):
    X = torch.eye(n, dtype=torch.float64)
    for j in range(n):
        torch.testing.assert_close(recall_by_hand(X, X[j], beta=60.0), X[(j + 1) % n])
    weight = torch.e**2 / (torch.e**2 + n - 1)
    assert recall_by_hand(X, X[0], beta=2.0)[1 % n].item() == pytest.approx(weight)


def test_recall_by_hand_with_keys_that_are_not_orthonormal():
    # Six directions in the plane: of one length and not orthogonal. Softmax finds the match still.
    angles = torch.arange(6, dtype=torch.float64) * torch.pi / 3
    X = torch.stack([angles.cos(), angles.sin()], dim=-1)
    order = torch.tensor([4, 0, 3, 1, 5, 2])
    batch = X[torch.stack([order, order.flip(0)])]  # (2, 6, 2)
    found = recall_by_hand(batch, batch[:, 2], beta=200.0)
    torch.testing.assert_close(found, batch[:, 3])


def test_a_model_is_restored_from_its_numbers_and_learns_no_more():
    stored = load("attention")
    again = restore({name: value.tolist() for name, value in stored.state_dict().items()}, kind="attention")
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in stored.state_dict().items())
    assert not any(parameter.requires_grad for parameter in again.parameters())
    with pytest.raises(RuntimeError, match="Missing key"):
        restore({}, kind="attention")


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_there_are_as_many_cases_as_asked_for_from_any_seed(count, held_out):
    for seed in range(50):
        tokens, answers = cases(count, held_out, seed)
        assert tokens.shape == (count, LENGTH) and answers.shape == (count,)


def test_empty_text_gives_no_tokens_and_other_characters_are_rejected():
    assert read("").dtype == torch.long and read("").shape == (0,)
    for wrong in ("a !", "q", "ab"):
        with pytest.raises(ValueError, match="expected letters from a to p"):
            read(wrong)


def test_numbers_in_the_text():
    """The row of the example, guessing, and the logarithm of a hundred."""
    row = read("e b n g c j p o l i k m d h g")
    assert spell(load("attention")(row).argmax().view(1)) == "c"
    assert f"{1 / 13:.1%}" == "7.7%" and f"{torch.tensor(100.0).log().item():.1f}" == "4.6"
