"""The residual stream.

--8<-- [start:example]
--8<-- [end:example]
"""

from jaxtyping import Float
from torch import Tensor

from snippets.around.layernorm import rms_norm


# --8<-- [start:stream]
def stream(
    x: Float[Tensor, "*batch d"], writes: Float[Tensor, "*batch L d"]
) -> Float[Tensor, "*batch d"]:
    """What came in, and all that the blocks wrote."""
    return x + writes.sum(-2)


def read(
    x: Float[Tensor, "*batch d"], W: Float[Tensor, "d k"]
) -> Float[Tensor, "*batch k"]:
    """What a matrix reads of the stream, normalised first."""
    return rms_norm(x, eps=0) @ W


def logits(
    x: Float[Tensor, "*batch d"],
    writes: Float[Tensor, "*batch L d"],
    W: Float[Tensor, "d N"],
) -> Float[Tensor, "*batch N"]:
    """The logits of a token after all blocks."""
    return read(stream(x, writes), W)


def logits_by_parts(
    x: Float[Tensor, "*batch d"],
    writes: Float[Tensor, "*batch L d"],
    W: Float[Tensor, "d N"],
) -> Float[Tensor, "*batch N"]:
    """The same, with what each block adds to each logit summed up last."""
    whole = stream(x, writes)
    size = whole.square().mean(-1, keepdim=True).sqrt()  # (*batch, 1)
    parts = (writes @ W) / size[..., None]  # (*batch, L, N)
    return (x @ W) / size + parts.sum(-2)


# --8<-- [end:stream]
