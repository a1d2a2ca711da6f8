"""Routed experts as a layer: DeepSeek-AI (2024b).

Each token goes to two of eight experts, from two of four groups, and to the shared one:

--8<-- [start:example-routed]
>>> import torch
>>> from snippets.together.routed import RoutedExperts, RoutedSizes
>>> _ = torch.manual_seed(0)
>>> sizes = RoutedSizes(num_experts=8, k=2, d_ff=16, num_groups=4, kept_groups=2)
>>> layer = RoutedExperts(d=32, sizes=sizes)
>>> gate, chosen = layer.route(torch.randn(5, 32))
>>> gate.sum(-1).allclose(torch.ones(5)), chosen.shape
(True, torch.Size([5, 2]))

--8<-- [end:example-routed]
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear, silu

from snippets.attention.formula import upcast


# --8<-- [start:routed]
@dataclass(frozen=True, kw_only=True)
class RoutedSizes:
    """The sizes of a layer of experts."""

    num_experts: int
    k: int  # experts for each token
    d_ff: int  # the width inside of an expert
    shared: int = 1  # this many times d_ff is the width of the shared expert
    num_groups: int = 1
    kept_groups: int = 1  # the experts of a token come from this many groups
    divide: bool = True  # the gate is divided by its sum
    factor: float = 1.0  # and multiplied by this

    def __post_init__(self) -> None:
        """Raises ValueError for groups that do not divide the experts, and for
        more groups or experts of a token than there are."""
        if self.num_groups < 1 or self.num_experts % self.num_groups:
            raise ValueError(
                f"{self.num_groups} groups do not divide {self.num_experts} experts"
            )
        size = self.num_experts // self.num_groups
        for name, most in (
            ("kept_groups", self.num_groups),
            ("k", self.kept_groups * size),
        ):
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(
                    f"{name} is {getattr(self, name)}; expected 1 to {most}"
                )


class RoutedExperts(nn.Module):
    """Some experts for each token, plus one that all tokens share."""

    def __init__(self, *, d: int, sizes: RoutedSizes) -> None:
        """Random parameters. The bias of the choice starts at 0."""
        super().__init__()
        self.sizes = sizes
        N, d_ff, d_shared = (
            sizes.num_experts,
            sizes.d_ff,
            sizes.shared * sizes.d_ff,
        )
        self.router = nn.Linear(d, N, bias=False)
        self.register_buffer("bias", torch.zeros(N))
        self.gate_up = nn.Parameter(torch.randn(N, 2 * d_ff, d) * d**-0.5)
        self.down = nn.Parameter(torch.randn(N, d, d_ff) * d_ff**-0.5)
        self.shared_gate = nn.Linear(d, d_shared, bias=False)
        self.shared_up = nn.Linear(d, d_shared, bias=False)
        self.shared_down = nn.Linear(d_shared, d, bias=False)

    def route(
        self, x: Float[Tensor, "n d"]
    ) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
        """The gate of each token's experts, and these experts.

        A group counts with its two best experts. The bias affects the choice,
        but not the gate. All is computed in fp32 or with more digits.
        """
        sizes = self.sizes
        affinity = linear(upcast(x), upcast(self.router.weight)).sigmoid()
        wanted = affinity + self.bias  # (n, N)
        groups = wanted.unflatten(
            -1, (sizes.num_groups, -1)
        )  # (n, groups, size)
        best = groups.topk(min(2, groups.shape[-1]), dim=-1).values.sum(-1)
        kept = best.topk(sizes.kept_groups, dim=-1).indices  # (n, kept_groups)
        hidden = torch.ones_like(best, dtype=torch.bool).scatter(
            -1, kept, False
        )
        wanted = groups.masked_fill(hidden[..., None], -torch.inf).flatten(-2)
        chosen = wanted.topk(sizes.k, dim=-1).indices  # (n, k)
        gate = affinity.gather(-1, chosen)
        if sizes.divide:
            gate = gate / gate.sum(-1, keepdim=True)
        return sizes.factor * gate, chosen

    def forward(
        self, x: Float[Tensor, "*batch d"]
    ) -> Float[Tensor, "*batch d"]:
        """The update to add to each token.

        An expert computes its own tokens alone. Which these are depends on the
        numbers in x, so torch.vmap, torch.export and torch.compile with
        fullgraph cannot trace this layer.
        """
        tokens = x.reshape(-1, x.shape[-1])  # (n, d)
        gate, chosen = self.route(tokens)
        y = silu(self.shared_gate(tokens)) * self.shared_up(tokens)
        y = self.shared_down(y)  # (n, d)
        for expert in chosen.unique().tolist():
            token, place = (chosen == expert).nonzero(as_tuple=True)
            hidden = linear(tokens[token], self.gate_up[expert])
            first, second = hidden.chunk(2, dim=-1)  # (tokens of it, d_ff)
            update = linear(silu(first) * second, self.down[expert])
            update = update * gate[token, place].unsqueeze(-1)
            y = y.index_add(0, token, update.to(y.dtype))
        return y.reshape(x.shape)


# --8<-- [end:routed]
