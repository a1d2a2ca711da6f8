"""Test the closed forms against 50 digits, PyTorch's operator, and the numbers that the source prints."""

import torch
from mpmath import mp, mpf
from torch.nn.functional import scaled_dot_product_attention

from snippets.attention.formula import attention, attention_weights
from snippets.example.closed import closed_outputs, closed_weights
from snippets.example.integers import project_tokens, projections, tokens

SCORES, VALUES = [[2, 4, 4], [4, 16, 12], [4, 12, 10]], [[1, 2, 3], [2, 8, 0], [2, 6, 3]]


def with_fifty_digits():
    """Weights and outputs, computed from the scores."""
    with mp.workdps(50):
        exponentials = [[mp.exp(score) for score in row] for row in SCORES]
        P = [[one / sum(row) for one in row] for row in exponentials]
        return P, [[sum(w * mpf(v) for w, v in zip(row, column)) for column in zip(*VALUES)] for row in P]


def test_closed_forms_agree_with_fifty_digits():
    P, O = (torch.tensor([[float(one) for one in row] for row in rows], dtype=torch.float64) for rows in with_fifty_digits())
    torch.testing.assert_close(closed_weights(), P, rtol=1e-14, atol=0)
    torch.testing.assert_close(closed_outputs(), O, rtol=1e-14, atol=0)


def test_closed_forms_agree_with_attention():
    Q, K, V = (project_tokens(tokens(), W) for W in projections())
    torch.testing.assert_close(attention_weights(Q, K, scale=1.0), closed_weights())
    torch.testing.assert_close(attention(Q, K, V, scale=1.0), closed_outputs())
    torch.testing.assert_close(scaled_dot_product_attention(Q, K, V, scale=1.0), closed_outputs())


def test_the_weights_are_those_of_the_source_to_all_its_places():
    printed = [
        ["6.3379e-02", "4.6831e-01", "4.6831e-01"],
        ["6.0337e-06", "9.8201e-01", "1.7986e-02"],
        ["2.9539e-04", "8.8054e-01", "1.1917e-01"],
    ]
    assert [[f"{weight:.4e}" for weight in row] for row in closed_weights().tolist()] == printed
    # 50 digits: no figure is a rounding of a rounding.
    assert [[f"{float(weight):.4e}" for weight in row] for row in with_fifty_digits()[0]] == printed


def test_the_outputs_to_four_places():
    expected = [[1.9366, 6.6831, 1.5951], [2.0000, 7.9640, 0.0540], [1.9997, 7.7599, 0.3584]]
    assert closed_outputs().round(decimals=4).tolist() == expected
    assert [[float(mp.nint(entry * 10**4)) / 10**4 for entry in row] for row in with_fifty_digits()[1]] == expected


def test_numbers_in_the_text():
    P, O = closed_weights(), closed_outputs()
    assert (f"{P[0, 0]:.2f}", f"{P[1, 1]:.2f}") == ("0.06", "0.98") and P.argmax(-1)[1:].tolist() == [1, 1] and P[0, 1] == P[0, 2]
    assert [[f"{x:.2f}" for x in row] for row in O] == [["1.94", "6.68", "1.60"], ["2.00", "7.96", "0.05"], ["2.00", "7.76", "0.36"]]
    assert [sum(pair) / 2 for pair in zip(*VALUES[1:])] == [2, 7, 1.5]
