"""DeepSeek-V3's routing: sigmoid affinities, and a bias that only chooses.

One token that uses two of four experts:

--8<-- [start:example-token]
>>> import torch
>>> from snippets.layers.routing import choose_experts, sigmoid_gate
>>> affinity = torch.tensor([0.9, 0.8, 0.5, 0.3])  # (N,)
>>> for bias in ([0, 0, 0, 0], [0, 0, 0.35, 0], [0, 0, 2, 0]):
...     chosen = choose_experts(affinity, torch.tensor(bias), k=2)
...     chosen = chosen.sort().values
...     gate = sigmoid_gate(affinity[chosen].logit())
...     print((chosen + 1).tolist(), [round(g, 2) for g in gate.tolist()])
[1, 2] [0.53, 0.47]
[1, 3] [0.64, 0.36]
[1, 3] [0.64, 0.36]

--8<-- [end:example-token]

Loads of four experts while the biases move:

--8<-- [start:example-loads]
>>> from snippets.layers.routing import balance_by_bias, uneven_affinity
>>> generator = torch.Generator().manual_seed(0)
>>> noise = torch.randn(64, 4, generator=generator, dtype=torch.float64)
>>> affinity = uneven_affinity(noise, lead=0.5)  # (n, N)
>>> loads, biases = balance_by_bias(affinity, k=1, rate=0.01, steps=100)
>>> for step in (0, 5, 10, 20, 100):
...     print(f"{step:3}", loads[step].int().tolist())
  0 [5, 12, 14, 33]
  5 [9, 16, 17, 22]
 10 [13, 16, 16, 19]
 20 [16, 16, 15, 17]
100 [16, 16, 15, 17]

--8<-- [end:example-loads]

Four of the tokens and two of the experts. Without biases, all
of them prefer the second expert. The choice that the biases reach has the most affinity of all balanced choices:

--8<-- [start:example-best]
>>> from itertools import permutations
>>> from torch.nn.functional import one_hot
>>> from snippets.layers.routing import total_affinity
>>> few = affinity[[0, 5, 9, 12], :2]  # (n, N)
>>> loads, biases = balance_by_bias(few, k=1, rate=0.01, steps=20)
>>> loads[0].tolist(), loads[-1].tolist()
([0.0, 4.0], [2.0, 2.0])
>>> chosen = choose_experts(few, biases[-1], k=1).squeeze(-1)
>>> ways = [torch.tensor(way) for way in set(permutations([0, 0, 1, 1]))]
>>> sums = sorted(total_affinity(one_hot(way).double(), few).item()
...               for way in ways)
>>> [round(one, 2) for one in sums]
[1.15, 1.42, 1.46, 1.53, 1.58, 1.84]
>>> round(total_affinity(one_hot(chosen).double(), few).item(), 2)
1.84

--8<-- [end:example-best]

Billions of weights of DeepSeek-V3: all, those that a token uses, and the
embedding, of which a token reads one row:

--8<-- [start:example-count]
>>> from snippets.layers.routing import deepseek_parameters
>>> all_of_them = deepseek_parameters(k=256)
>>> used = deepseek_parameters(k=8)
>>> [round(count / 1e9, 1) for count in (all_of_them, used, 129280 * 7168)]
[671.0, 37.6, 0.9]

--8<-- [end:example-count]
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from snippets.layers.experts import updated_bias
from snippets.serving.models import models


# --8<-- [start:route]
def choose_experts(
    affinity: Float[Tensor, "*batch N"], bias: Float[Tensor, " N"], *, k: int
) -> Int[Tensor, "*batch k"]:
    """The k experts with the largest affinity plus bias: Wang et al. (2024)."""
    return (affinity + bias).topk(k, dim=-1).indices


def sigmoid_gate(
    logits: Float[Tensor, "*batch k"], *, factor: float = 1.0
) -> Float[Tensor, "*batch k"]:
    """The weights of the chosen experts: their affinities over the sum of these,
    times a factor. No bias enters here: DeepSeek-AI, V3 (2024)."""
    affinity = logits.sigmoid()
    return factor * affinity / affinity.sum(-1, keepdim=True)


# --8<-- [end:route]


# --8<-- [start:jacobian]
def gate_sum(
    logits: Float[Tensor, "*batch k"], factor: Float[Tensor, ""]
) -> Float[Tensor, "*batch"]:
    """The sum of the weights."""
    affinity = logits.sigmoid()
    return (factor * affinity / affinity.sum(-1, keepdim=True)).sum(-1)


def gate_jacobian(logits: Float[Tensor, " k"]) -> Float[Tensor, "k k"]:
    """The derivative of each weight with respect to each chosen logit, if the
    factor is one."""
    affinity = logits.sigmoid()
    gate = affinity / affinity.sum()
    softmax_form = torch.diag(gate) - gate[:, None] * gate
    return softmax_form * (1 - affinity)


# --8<-- [end:jacobian]


# --8<-- [start:loads]
def balance_by_bias(
    affinity: Float[Tensor, "n N"], *, k: int, rate: float, steps: int
) -> tuple[Float[Tensor, "steps N"], Float[Tensor, "steps N"]]:
    """The loads and the biases at the start and after each step. The affinities
    stay as they are; in training they change as well."""
    bias = affinity.new_zeros(affinity.shape[-1])
    loads, biases = [], []
    for _ in range(steps + 1):
        chosen = choose_experts(affinity, bias, k=k)
        load = chosen.flatten().bincount(minlength=len(bias)).to(bias)
        loads.append(load)
        biases.append(bias)
        bias = updated_bias(bias, load, rate=rate)
    return torch.stack(loads), torch.stack(biases)


# --8<-- [end:loads]


# --8<-- [start:example]
def uneven_affinity(
    noise: Float[Tensor, "n N"], *, lead: float
) -> Float[Tensor, "n N"]:
    """Affinities that prefer each expert to the one before it, by a lead in the
    logits."""
    ranks = torch.arange(
        noise.shape[-1], device=noise.device, dtype=noise.dtype
    )
    return (noise + lead * ranks).sigmoid()


# --8<-- [end:example]


# --8<-- [start:best]
def total_affinity(
    chosen: Float[Tensor, "n N"], affinity: Float[Tensor, "n N"]
) -> Float[Tensor, ""]:
    """The affinities of all chosen pairs of token and expert, added up."""
    return (chosen * affinity).sum()


def affinity_lead(
    chosen: Float[Tensor, "n N"],
    other: Float[Tensor, "n N"],
    affinity: Float[Tensor, "n N"],
    bias: Float[Tensor, " N"],
) -> Float[Tensor, ""]:
    """By how much a choice has more affinity than another, from biased scores
    and loads."""
    lead = total_affinity(chosen - other, affinity + bias)
    return lead - (bias * (chosen.sum(0) - other.sum(0))).sum()


# --8<-- [end:best]


# --8<-- [start:count]
def idle_weights(N: int, k: int, d: int, d_f: int) -> int:
    """The weights of the experts in a layer that a token does not use."""
    return (N - k) * 3 * d * d_f


def deepseek_parameters(*, k: int) -> int:
    """The weights of DeepSeek-V3 with k of the experts of each layer. What the
    row of models.toml lacks is from the configuration in its repository."""
    model = models()["DeepSeek-V3"]
    d, h, d_k = model.width, model.heads, model.head_width
    (d_c, d_R), (N, _) = model.latent, model.experts
    d_q, dense, d_f, shared, vocabulary = 1536, 3, 18432, 1, 129280
    queries = d * d_q + d_q * h * (d_k + d_R)
    keys_and_values = d * (d_c + d_R) + d_c * h * 2 * d_k
    attention = queries + keys_and_values + h * d_k * d + d_q + d_c
    experts = (k + shared) * 3 * d * model.inner + N * d
    blocks = model.layers * (attention + 2 * d)
    blocks += dense * 3 * d * d_f + (model.layers - dense) * experts
    return blocks + 2 * vocabulary * d + d


# --8<-- [end:count]
