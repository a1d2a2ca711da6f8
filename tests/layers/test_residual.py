import torch

from snippets.layers.residual import sum_transposed


def test_sum_transposed():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 3, 4, generator=generator, dtype=torch.float64)  # (batch, n, d) each
    torch.testing.assert_close(sum_transposed(a, b), a.mT + b.mT)
