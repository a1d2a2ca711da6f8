"""Softmax at any temperature: close to equal weights if it is high, and to the largest score if it is low.

--8<-- [start:example-temperatures]
>>> import torch
>>> from snippets.scaling.saturation import entropy
>>> from snippets.softmax.temperature import softmax_with_temperature
>>> z = torch.tensor([3.0, 3.0, 2.0, 0.0], dtype=torch.float64)
>>> for tau in (100.0, 10.0, 1.0, 0.1, 0.01):
...     weights = softmax_with_temperature(z, tau=tau)
...     print(f"{tau:6}   entropy {entropy(weights):.4f}  ",
...           weights.round(decimals=4).tolist())
 100.0   entropy 1.3862   [0.2525, 0.2525, 0.25, 0.245]
  10.0   entropy 1.3793   [0.2743, 0.2743, 0.2482, 0.2032]
   1.0   entropy 1.0967   [0.4136, 0.4136, 0.1522, 0.0206]
   0.1   entropy 0.6934   [0.5, 0.5, 0.0, 0.0]
  0.01   entropy 0.6931   [0.5, 0.5, 0.0, 0.0]

--8<-- [end:example-temperatures]

The weights at half the temperature are squares of the weights, normalised:

--8<-- [start:example-sharpen]
>>> from snippets.softmax.temperature import sharpen
>>> cold = sharpen(torch.softmax(z, -1), beta=2.0)  # temperature 0.5
>>> cold.round(decimals=4).tolist()
[0.4678, 0.4678, 0.0633, 0.0012]
>>> torch.allclose(cold, softmax_with_temperature(z, tau=0.5))
True

--8<-- [end:example-sharpen]

Mean score plus entropy is largest at the softmax with temperature 1:

--8<-- [start:example-objective]
>>> from snippets.softmax.temperature import objective
>>> for name, tau in (("softmax", 1.0), ("hotter", 2.0), ("colder", 0.5)):
...     weights = softmax_with_temperature(z, tau=tau)
...     print(f"{name:7}", f"{objective(weights, z):.4f}")
softmax 3.8828
hotter  3.8147
colder  3.8266
>>> f"{objective(torch.full_like(z, 0.25), z):.4f}"  # equal weights
'3.3863'
>>> f"{torch.logsumexp(z, -1):.4f}"
'3.8828'

--8<-- [end:example-objective]

The gradient of distillation, times the squared temperature:

--8<-- [start:example-distillation]
>>> from snippets.softmax.temperature import distillation_gradient
>>> student = torch.tensor([3.0, 0.0, 0.0], dtype=torch.float64)
>>> teacher = torch.tensor([2.0, 1.0, 0.0], dtype=torch.float64)
>>> for tau in (1.0, 10.0, 1000.0):
...     gradient = tau**2 * distillation_gradient(student, teacher, tau=tau)
...     print(tau, gradient.round(decimals=4).tolist())
1.0 [0.2442, -0.1994, -0.0448]
10.0 [0.3579, -0.337, -0.0209]
1000.0 [0.3336, -0.3334, -0.0002]

--8<-- [end:example-distillation]
"""

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.attention.masks import masked_softmax
from snippets.scaling.saturation import entropy


# --8<-- [start:temperature]
def softmax_with_temperature(
    scores: Float[Tensor, "*batch m"], *, tau: float
) -> Float[Tensor, "*batch m"]:
    """Softmax of the scores divided by the temperature."""
    wide = upcast(scores)  # in fp16, 1 / 1e-5 would be infinite
    return torch.softmax(wide / tau, dim=-1).to(scores.dtype)


# --8<-- [end:temperature]


# --8<-- [start:sharpen]
def sharpen(
    weights: Float[Tensor, "*batch m"], *, beta: float
) -> Float[Tensor, "*batch m"]:
    """The weights for scores multiplied by beta, computed from the weights alone.
    A weight of 0 stays 0."""
    none = weights == 0
    logs = weights.masked_fill(none, 1).log()  # finite, and so are gradients
    return masked_softmax((beta * logs).masked_fill(none, -torch.inf))


# --8<-- [end:sharpen]


# --8<-- [start:objective]
def objective(
    weights: Float[Tensor, "*#batch m"],
    scores: Float[Tensor, "*#batch m"],
    *,
    tau: float = 1.0,
) -> Float[Tensor, "*batch"]:
    """The mean score under the weights, plus the temperature times their entropy.

    A key without weight contributes nothing, even if its score is -inf.
    """
    scores = torch.where(weights == 0, 0, scores)
    return (weights * scores).sum(-1) + tau * entropy(weights)


# --8<-- [end:objective]


# --8<-- [start:distillation]
def distillation_loss(
    student: Float[Tensor, "*#batch m"],
    teacher: Float[Tensor, "*#batch m"],
    *,
    tau: float,
) -> Float[Tensor, "*batch"]:
    """The cross-entropy of the student's weights with the teacher's as targets,
    both at one temperature.

    A class without weight for the teacher contributes nothing.
    """
    weights = softmax_with_temperature(teacher, tau=tau)
    logs = torch.log_softmax(upcast(student) / tau, dim=-1)
    loss = -(weights * torch.where(weights == 0, 0, logs)).sum(-1)
    return loss.to(student.dtype)


def distillation_gradient(
    student: Float[Tensor, "*#batch m"],
    teacher: Float[Tensor, "*#batch m"],
    *,
    tau: float,
) -> Float[Tensor, "*batch m"]:
    """The gradient of that loss with respect to the student's scores."""
    given = softmax_with_temperature(student, tau=tau)
    return (given - softmax_with_temperature(teacher, tau=tau)) / tau


# --8<-- [end:distillation]
