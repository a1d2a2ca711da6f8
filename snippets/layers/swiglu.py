"""SwiGLU.

--8<-- [start:example]
--8<-- [end:example]
"""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import silu


# --8<-- [start:layer]
def layer(
    x: Float[Tensor, "*batch d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
) -> Float[Tensor, "*batch d"]:
    """A gate times a value, and back to the width: Shazeer (2020)."""
    return (silu(x @ W_g) * (x @ W_u)) @ W_d


# --8<-- [end:layer]


# --8<-- [start:gradients]
def gradients(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
) -> Float[Tensor, "d d"]:
    """The slope of each output by each number of the token."""
    gate, up = x @ W_g, x @ W_u  # (d_f,)
    share = gate.sigmoid()
    slope = share * (1 + gate * (1 - share))
    through_gate = (W_g * (slope * up)) @ W_d  # (d, d)
    through_up = (W_u * silu(gate)) @ W_d
    return (through_gate + through_up).mT


# --8<-- [end:gradients]


# --8<-- [start:pulls]
def pull_on_up(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
    gradient: Float[Tensor, " d"],
) -> Float[Tensor, " d_f"]:
    """For each hidden unit, its column of W_u times that column's gradient."""
    sent_back = silu(x @ W_g) * (W_d @ gradient)  # what reaches x W_u
    return (W_u * (x[:, None] * sent_back)).sum(0)


def pull_on_down(
    x: Float[Tensor, " d"],
    W_g: Float[Tensor, "d d_f"],
    W_u: Float[Tensor, "d d_f"],
    W_d: Float[Tensor, "d_f d"],
    gradient: Float[Tensor, " d"],
) -> Float[Tensor, " d_f"]:
    """For each hidden unit, its row of W_d times that row's gradient."""
    hidden = silu(x @ W_g) * (x @ W_u)
    return (W_d * (hidden[:, None] * gradient)).sum(1)


# --8<-- [end:pulls]


# --8<-- [start:count]
def more_numbers(d: int, width: int) -> int:
    """How many weights a gated layer of this width has more than a plain one
    that is four times as wide as the model."""
    return 3 * d * width - 2 * d * (4 * d)


def gated_width(d: int, *, multiple: int = 256) -> int:
    """Eight thirds of d, rounded up to what a machine multiplies well."""
    exact = 8 * d // 3
    return -(-exact // multiple) * multiple


# --8<-- [end:count]
