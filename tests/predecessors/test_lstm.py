"""The cell against PyTorch's, its slopes against autograd, products of gates against closed forms, and the residual block."""

import math
from fractions import Fraction

import pytest
import torch

from snippets.predecessors.lstm import cell_gradients, cell_path, gate, lstm_step, opening_gates, residual_block


def draw(seed, *shapes):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in shapes]


def theirs(p, d):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.LSTMCell(p, d, dtype=torch.float64)


@pytest.mark.parametrize(("batch", "p", "d"), [(1, 1, 1), (5, 3, 4), (2, 3, 5), (0, 2, 3)])
def test_a_step_is_pytorchs_cell_weight_for_weight(batch, p, d):
    cell = theirs(p, d)
    x, h, c = draw(1, (batch, p), (batch, d), (batch, d))
    for bias in (cell.bias_ih + cell.bias_hh, 0.0):
        if not torch.is_tensor(bias):
            torch.nn.init.zeros_(cell.bias_ih), torch.nn.init.zeros_(cell.bias_hh)
        ours = lstm_step(x, h, c, cell.weight_ih.T, cell.weight_hh.T, bias=bias)
        for mine, expected in zip(ours, cell(x, (h, c)), strict=True):
            torch.testing.assert_close(mine, expected)


def test_with_the_output_held_the_slope_of_the_cell_is_the_forget_gate():
    x, h, c, U, W = draw(2, (3,), (4,), (4,), (3, 16), (4, 16))
    forget = gate((h @ W + x @ U)[4:8])
    jacobian = torch.autograd.functional.jacobian(lambda c: lstm_step(x, h, c, U, W)[1], c)
    torch.testing.assert_close(jacobian, forget.diag())


def test_the_cell_path_over_steps_is_the_product_of_the_gates():
    x, h, c, U, W = draw(3, (5, 3), (5, 4), (4,), (3, 16), (4, 16))

    def last(c):
        for token, held in zip(x, h):
            c = lstm_step(token, held, c, U, W)[1]
        return c

    forget = gate((h @ W + x @ U)[:, 4:8])  # (5, 4)
    torch.testing.assert_close(torch.autograd.functional.jacobian(last, c), cell_path(forget.mT).diag())


def test_gate_is_the_logistic_function():
    for z in (-30.0, -1.0, 0.0, 2.5):
        assert gate(torch.tensor(z, dtype=torch.float64)).item() == pytest.approx(1 / (1 + math.exp(-z)), rel=1e-12, abs=0)


@pytest.mark.parametrize("T", [1, 2, 17, 400])
def test_opening_gates_keep_more_than_half(T):
    assert opening_gates(T, dtype=torch.float64).tolist() == pytest.approx(
        [float(1 - Fraction(1, (t + 1) ** 2)) for t in range(1, T + 1)], rel=1e-15
    )
    kept = math.prod(1 - Fraction(1, (t + 1) ** 2) for t in range(1, T + 1))
    assert kept == Fraction(T + 2, 2 * (T + 1))
    assert cell_path(opening_gates(T, dtype=torch.float64)).item() == pytest.approx(float(kept), rel=1e-12)


@pytest.mark.parametrize("z", [-1.0, 0.0, 4.0])
def test_a_held_gate_is_below_one_over_the_straight_line(z):
    for T in (1, 10, 1000):
        held = cell_path(gate(torch.full((T,), z, dtype=torch.float64))).item()
        assert held == pytest.approx((1 + math.exp(-z)) ** -T, rel=1e-9, abs=0)
        assert held <= 1 / (1 + T * math.exp(-z)) * (1 + 1e-12)


@pytest.mark.parametrize("u", [0.0, 1.0, 4.0, -3.0])
def test_all_paths_at_a_cell_of_zero(u):
    along, full = cell_gradients(u)
    assert along == pytest.approx(0.5) and full == pytest.approx(0.5 + u / 2)


def test_slopes_are_finite_differences():
    u, step = 4.0, 1e-6

    def after(c):
        c = torch.tensor([c], dtype=torch.float64)
        W = torch.tensor([[0.0, 0.0, u, 0.0]], dtype=torch.float64)
        return lstm_step(torch.zeros(1).double(), torch.tanh(c), c, torch.zeros_like(W), W)[1].item()

    assert cell_gradients(u)[1] == pytest.approx((after(step) - after(-step)) / (2 * step), rel=1e-6)


def test_the_slope_of_a_residual_block():
    x, A, B = draw(4, (4,), (4, 6), (6, 4))
    slope = 1 - torch.tanh(x @ A) ** 2
    jacobian = torch.autograd.functional.jacobian(lambda x: residual_block(x, A, B), x)  # row: output, column: input
    torch.testing.assert_close(jacobian, (torch.eye(4, dtype=torch.float64) + (A * slope) @ B).T)
    expected = [xi + sum(math.tanh((x @ A)[a]) * B[a, i].item() for a in range(6)) for i, xi in enumerate(x.tolist())]
    torch.testing.assert_close(residual_block(x, A, B), torch.tensor(expected, dtype=torch.float64))


def test_a_residual_block_can_undo_its_shortcut():
    # The slope of what is added is -1 at 0.
    one = torch.ones(1, 1, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: residual_block(x, one, -one), torch.zeros(1, dtype=torch.float64))
    assert jacobian.item() == 0


def test_numbers_in_the_text():
    """Gates that stay at one value, gates that open, and the derivative over all paths."""
    held = {z: [cell_path(gate(torch.full((T,), float(z), dtype=torch.float64))).item() for T in (100, 1000)] for z in (2, 6)}
    assert [f"{gate(torch.tensor(float(z))).item():.4f}" for z in (2, 6)] == ["0.8808", "0.9975"]
    assert [f"{gate(torch.tensor(6.0)).item() ** steps:.2f}" for steps in (100, 1000)] == ["0.78", "0.08"]
    assert f"{held[2][0]:.0e}" == "3e-06" and [f"{left:.0%}" for left in held[6]] == ["78%", "8%"]
    products = [cell_path(opening_gates(T, dtype=torch.float64)).item() for T in (1, 2, 3)]
    assert products == pytest.approx([3 / 4, 2 / 3, 5 / 8]) and cell_gradients(4.0) == pytest.approx((0.5, 2.5))
