import torch
from jaxtyping import Float
from torch import Tensor


def soft_cap(
    scores: Float[Tensor, "*shape"], *, cap: float
) -> Float[Tensor, "*shape"]:
    return cap * torch.tanh(scores / cap)
