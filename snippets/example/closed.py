"""The worked example, completed: weights and outputs in closed form, and to four places.

--8<-- [start:example-weights]
>>> import torch
>>> from snippets.example.closed import closed_outputs, closed_weights
>>> from snippets.example.integers import project_tokens, projections, tokens
>>> from snippets.attention.formula import attention, attention_weights
>>> Q, K, V = (project_tokens(tokens(), W) for W in projections())
>>> P = attention_weights(Q, K, scale=1.0)
>>> for row in P:
...     print(*(f"{weight:.4e}" for weight in row))
6.3379e-02 4.6831e-01 4.6831e-01
6.0337e-06 9.8201e-01 1.7986e-02
2.9539e-04 8.8054e-01 1.1917e-01
>>> torch.allclose(P, closed_weights())
True

--8<-- [end:example-weights]

--8<-- [start:example-outputs]
>>> O = attention(Q, K, V, scale=1.0)
>>> for row in O:
...     print(*(f"{entry:.4f}" for entry in row))
1.9366 6.6831 1.5951
2.0000 7.9640 0.0540
1.9997 7.7599 0.3584
>>> torch.allclose(O, closed_outputs())
True

--8<-- [end:example-outputs]

The weights and outputs with the scale, which the example leaves out:

--8<-- [start:example-scaled]
>>> for weights_of, output in zip(attention_weights(Q, K), attention(Q, K, V)):
...     print(*(f"{w:.4f}" for w in weights_of), "  ",
...           *(f"{entry:.4f}" for entry in output))
0.1361 0.4319 0.4319    1.8639 6.3194 1.7042
0.0009 0.9088 0.0903    1.9991 7.8141 0.2735
0.0074 0.7547 0.2378    1.9926 7.4796 0.7359

--8<-- [end:example-scaled]
"""

import torch
from jaxtyping import Float
from torch import Tensor


# --8<-- [start:closed]
def closed_weights(
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, "3 3"]:
    """The weights of the example: exponentials divided by the sum of their row."""
    scores = torch.tensor([[0.0, 2, 2], [0, 12, 8], [0, 8, 6]]).double()
    rows = scores.exp()
    return (rows / rows.sum(-1, keepdim=True)).to(device, dtype)


def closed_outputs(
    *,
    dtype: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
) -> Float[Tensor, "3 3"]:
    """The outputs of the example, by the formulas on the page."""
    one, two, three = torch.tensor([[1.0, 2, 3], [2, 8, 0], [2, 6, 3]]).double()
    e = torch.tensor(1.0).double().exp()
    first = (one + e**2 * (two + three)) / (1 + 2 * e**2)
    second = (one + e**12 * two + e**8 * three) / (1 + e**12 + e**8)
    third = (one + e**8 * two + e**6 * three) / (1 + e**8 + e**6)
    return torch.stack([first, second, third]).to(device, dtype)


# --8<-- [end:closed]
