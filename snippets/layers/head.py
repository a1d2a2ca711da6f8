"""The head of a language model: logits, and the loss of the token that came.

The loss, and its gradient with respect to the logits, agree with PyTorch:

--8<-- [start:example-loss]
>>> import torch
>>> from torch.nn.functional import cross_entropy
>>> from snippets.layers.head import logit_gradients, token_losses
>>> z = torch.tensor([2.0, 0.0, 1.0, -1.0], requires_grad=True)  # (N,)
>>> loss = cross_entropy(z, torch.tensor(2))  # token 2 came
>>> torch.allclose(token_losses(z)[2], loss)
True
>>> gradient, = torch.autograd.grad(loss, z)
>>> torch.allclose(logit_gradients(z)[2], gradient)
True

--8<-- [end:example-loss]

One vector added to all output embeddings changes no probability, and gets no gradient:

--8<-- [start:example-shift]
>>> generator = torch.Generator().manual_seed(0)
>>> kinds = dict(generator=generator, dtype=torch.float64)
>>> H = torch.randn(5, 8, **kinds)  # (n, d)
>>> U = torch.randn(20, 8, **kinds).requires_grad_()  # (N, d)
>>> v = torch.randn(8, **kinds)
>>> P = (H @ U.mT).softmax(-1)
>>> torch.allclose((H @ (U + v).mT).softmax(-1), P)
True
>>> gradient, = torch.autograd.grad(-P[:, 3].log().sum(), U)
>>> bool(gradient.abs().max() > 1), bool(gradient.sum(0).abs().max() < 1e-9)
(True, True)

--8<-- [end:example-shift]

A hundred contexts and a thousand tokens: the rank of the centred log-probabilities:

--8<-- [start:example-rank]
>>> from snippets.layers.head import centred_logs
>>> H, U = torch.randn(100, 16, **kinds), torch.randn(1000, 16, **kinds)
>>> torch.linalg.matrix_rank(centred_logs(H, U)).item()
16

--8<-- [end:example-rank]

A token inside the triangle of three others. How many of 100,000 contexts does it win?

--8<-- [start:example-never]
>>> corners = torch.tensor([[1.0, 0.0], [-0.5, 0.9], [-0.5, -0.9]])
>>> middle = corners.mean(0, keepdim=True) + 0.1
>>> contexts = torch.randn(100_000, 2, generator=generator)
>>> winners = (contexts @ torch.cat([corners, middle]).mT).argmax(-1)
>>> winners.bincount(minlength=4)[3].item()
0

--8<-- [end:example-never]

The table's share of GPT-2's smallest model, and of a model 16 times as wide and 8 times as deep:

--8<-- [start:example-share]
>>> from snippets.layers.head import table_share
>>> f"{table_share(50257, 768, 12):.0%}"
'31%'
>>> f"{table_share(50257, 16 * 768, 8 * 12):.1%}"
'0.4%'

--8<-- [end:example-share]

A thousand random embeddings of three widths, and how many win at least one of 10,000 contexts:

--8<-- [start:example-winners]
>>> from snippets.layers.head import winners
>>> for d in (2, 4, 8):
...     tokens = torch.randn(1000, d, **kinds)  # (N, d)
...     print(d, len(winners(tokens, torch.randn(10_000, d, **kinds))))
2 12
4 70
8 315

--8<-- [end:example-winners]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


# --8<-- [start:loss]
def token_losses(z: Float[Tensor, "*batch N"]) -> Float[Tensor, "*batch N"]:
    """The cross-entropy, for each token that could come."""
    return z.logsumexp(-1, keepdim=True) - z


def logit_gradients(z: Float[Tensor, " N"]) -> Float[Tensor, "N N"]:
    """[g, i]: the loss's derivative by logit i, if token g came."""
    return z.softmax(-1) - torch.eye(len(z), dtype=z.dtype, device=z.device)


def feature_gradients(
    x: Float[Tensor, " d"], U: Float[Tensor, "N d"]
) -> Float[Tensor, "N d"]:
    """[g, a]: the loss's derivative by feature a of x, if token g came."""
    return (U @ x).softmax(-1) @ U - U


# --8<-- [end:loss]


# --8<-- [start:centred]
def centred_logs(
    H: Float[Tensor, "*batch n d"], U: Float[Tensor, "N d"]
) -> Float[Tensor, "*batch n N"]:
    """The logarithms of all probabilities, minus the mean of each row."""
    logs = (H @ U.mT).log_softmax(-1)  # (*batch, n, N)
    return logs - logs.mean(-1, keepdim=True)


# --8<-- [end:centred]


# --8<-- [start:share]
def table_share(N: int, d: int, blocks: int) -> float:
    """The table's share of the weights of a tied model with N tokens."""
    return N * d / (N * d + blocks * 12 * d**2)


# --8<-- [end:share]


# --8<-- [start:winners]
def winners(
    U: Float[Tensor, "N d"], contexts: Float[Tensor, "n d"]
) -> Int[Tensor, " some"]:
    """The tokens that are the most likely one in at least one context."""
    return (contexts @ U.mT).argmax(-1).unique()


# --8<-- [end:winners]
