"""What the heads of the trained model do, checked from the stored file without the functions that the page shows."""

import json

import pytest
import torch

from snippets.seeing.heads import head_weights, other_weights, read_association, replacements, second_head, uniform_weights
from snippets.seeing.recall import LENGTH, STORED, accuracy, draw_cases, load, read, spell


@pytest.fixture(scope="module")
def cases():
    return draw_cases(1000, held_out=True, generator=torch.Generator().manual_seed(11))


def test_head_weights_are_those_of_the_stored_numbers(cases):
    stored = {
        name: torch.tensor(value, dtype=torch.float64) for name, value in json.loads(STORED.read_text())["attention"]["parameters"].items()
    }
    tokens = cases[0][:5]
    x = stored["letter.weight"][tokens] + stored["place.weight"]
    blocked = torch.full((LENGTH, LENGTH), -torch.inf, dtype=torch.float64).triu(1)
    for layer, weights in enumerate(head_weights(load("attention"), tokens)):
        Q, K, V, O = (stored[f"heads.{layer}.{name}.weight"].T for name in ("query", "key", "value", "output"))
        expected = torch.softmax(torch.einsum("bnd,dk,ek,bme->bnm", x, Q, K, x) / 8**0.5 + blocked, -1)
        torch.testing.assert_close(weights, expected)
        x = x + expected @ x @ V @ O
    torch.testing.assert_close(load("attention")(tokens), x[:, -1] @ stored["answer.weight"].T)


def test_the_first_head_looks_at_the_letter_before(cases):
    first, _ = head_weights(load("attention"), cases[0])
    places = torch.arange(1, LENGTH - 1)
    assert (first[:, 1:-1].argmax(-1) == places - 1).all()
    assert first[:, places, places - 1].mean() > 0.98


def test_the_second_head_looks_at_the_answer(cases):
    tokens, answers = cases
    _, second = head_weights(load("attention"), tokens)
    assert (read_association(second, tokens) == answers).double().mean() >= 0.99


def test_the_path_through_both_heads_leads_to_the_question(cases):
    tokens, _ = cases
    first, second = head_weights(load("attention"), tokens)
    assert (read_association((second @ first)[..., :-1], tokens[:, :-1]) == tokens[:, -1]).double().mean() >= 0.99


def test_what_taking_weights_away_does():
    # The last row of weights is the question's; questions that training asks, so that guessing has its full chance.
    tokens, answers = draw_cases(1000, held_out=False, generator=torch.Generator().manual_seed(12))
    model = load("attention")
    first, second = head_weights(model, tokens)
    shares = {
        (layer, kind): accuracy(model, tokens, answers, weights=[None] * layer + [given] + [None] * (1 - layer))
        for layer, weights in enumerate((first, second))
        for kind, given in replacements(weights).items()
    }
    assert min(shares[0, "its own"], shares[1, "its own"], shares[0, "their mean"]) >= 0.99
    assert max(shares[1, kind] for kind in ("their mean", "uniform", "none")) < 0.12
    assert max(shares[0, kind] for kind in ("uniform", "none")) < 0.2


def test_replacements():
    weights = torch.eye(3, dtype=torch.float64).repeat(4, 1, 1)
    weights[0] = uniform_weights(3, dtype=torch.float64)
    found = replacements(weights)
    assert found["its own"] is None and (found["none"] == 0).all()
    torch.testing.assert_close(found["their mean"], (uniform_weights(3, dtype=torch.float64) + 3 * torch.eye(3)) / 4)
    uniform = torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]], dtype=torch.float64)
    torch.testing.assert_close(found["uniform"], uniform)
    assert uniform_weights(1).tolist() == [[1.0]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_replacements_are_of_the_format_and_where_the_weights_are(dtype):
    for device in ("cpu", "meta"):
        found = replacements(torch.ones(2, 3, 3, dtype=dtype, device=device))
        assert all(one is None or (one.dtype, one.device.type) == (dtype, device) for one in found.values())
    assert uniform_weights(3, dtype=dtype, device="meta").device.type == "meta"


def test_read_association():
    weights = torch.tensor([[[1.0, 0.0], [0.2, 0.8]], [[1.0, 0.0], [0.7, 0.3]]])
    assert read_association(weights, torch.tensor([[5, 6], [7, 8]])).tolist() == [6, 7]


def test_other_weights_are_weights_with_the_same_output(cases):
    model, tokens = load("attention"), cases[0][0]
    x = model.letter(tokens) + model.place.weight
    changes = []
    for head in model.heads:
        weights, value = head.weights(x)[-1], head.value(x)
        other = other_weights(weights, value)
        torch.testing.assert_close(other @ value, weights @ value)
        assert other.min() >= -1e-12 and other.sum().item() == pytest.approx(1)
        changes.append((other - weights).abs().max().item())
    assert changes[0] > 0.01 and changes[1] < 0.002  # the first head spreads its weight, the second does not


def test_other_weights_in_small_cases():
    two = torch.tensor([0.75, 0.25], dtype=torch.float64)
    same, apart = torch.ones(2, 1, dtype=torch.float64), torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    torch.testing.assert_close(other_weights(two, same), torch.tensor([0.0, 1.0], dtype=torch.float64))  # to the end, not to the middle
    assert torch.equal(other_weights(two, apart), two)  # two values that differ, and the sum: nothing is left to choose
    assert other_weights(torch.ones(1), torch.ones(1, 3)).tolist() == [1.0]
    mean = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], dtype=torch.float64)  # the third value is a mean of the others
    torch.testing.assert_close(
        other_weights(torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64), mean), torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_other_weights_are_told_from_rounding(dtype):
    """As many values as keys, less one: nothing is left to choose but rounding. A small change that is real is made."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(50):
        weights, value = torch.rand(5, generator=generator, dtype=dtype).softmax(-1), torch.randn(5, 4, generator=generator, dtype=dtype)
        assert torch.equal(other_weights(weights, value), weights)
    step = 4 * torch.finfo(dtype).eps ** 0.5
    nearly = torch.tensor([0.5 + step, 0.5 - step], dtype=dtype)
    assert other_weights(nearly, torch.ones(2, 1, dtype=dtype)).tolist() == pytest.approx([0, 1], abs=1e-3)


def test_second_head():
    generator = torch.Generator().manual_seed(0)
    A, B, X, W, U = torch.randn(5, 2, 4, 4, generator=generator, dtype=torch.float64)
    expected = torch.einsum("bij,bjd,bde->bie", B, X, U) + torch.einsum("bij,bjk,bkd,bde,bef->bif", B, A, X, W, U)
    torch.testing.assert_close(second_head(A, B, X, W, U), expected)


def test_numbers_in_the_text():
    """The row of the example: the question looks at b, and b looks at k."""
    letters = "h f c n k b p e d j m a o i k"
    first, second = head_weights(load("attention"), read(letters))
    assert second[-1].max() > 0.9 and spell(read(letters)[second[-1].argmax()].view(1)) == "b"
    assert first[5].max() > 0.9 and spell(read(letters)[first[5].argmax()].view(1)) == "k"
