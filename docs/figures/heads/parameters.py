"""A picture of the gradients of three biases."""

import torch
from torch import nn

from derivations.kernel.site.diagrams import Picture, bars


def gradients() -> Picture:
    generator = torch.Generator().manual_seed(0)
    layer = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64)
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.25, generator=generator)
    x = torch.randn(2, 5, 16, generator=generator, dtype=torch.float64)
    layer(x, x, x)[0].square().sum().backward()
    sizes = [bias.norm().item() for bias in layer.in_proj_bias.grad.chunk(3)]
    rows = list(zip(("query bias", "key bias", "value bias"), sizes))
    return bars(
        rows,
        title="The length of the gradient of each bias, in PyTorch's layer with random weights",
        description="; ".join(f"{name}: {size:.2f}" for name, size in rows) + ".",
    )
