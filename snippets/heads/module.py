"""Multi-head attention as a module, at the size of the first transformer:

--8<-- [start:example]
>>> import torch
>>> from snippets.heads.module import MultiHeadAttention
>>> generator = torch.Generator().manual_seed(0)
>>> _ = torch.manual_seed(0)
>>> layer = MultiHeadAttention(512, heads=8)
>>> x = torch.randn(128, 64, 512, generator=generator)  # (batch, n, d)
>>> with torch.no_grad():
...     print(tuple(layer(x).shape))
(128, 64, 512)
>>> context = torch.randn(128, 10, 512, generator=generator)  # another length
>>> with torch.no_grad():
...     print(tuple(layer(x, context).shape))
(128, 64, 512)
>>> MultiHeadAttention(512, heads=7)
Traceback (most recent call last):
ValueError: 7 heads do not divide the width 512

--8<-- [end:example]

The same as PyTorch's own layer, its weights copied across. Their masks mean the opposite of one another:

--8<-- [start:example-pytorch]
>>> from torch import nn
>>> from snippets.heads.module import from_pytorch
>>> theirs = nn.MultiheadAttention(16, 4, batch_first=True, dtype=torch.float64).eval()
>>> for parameter in theirs.parameters():
...     _ = nn.init.normal_(parameter, generator=generator)
>>> ours = from_pytorch(theirs)
>>> x = torch.randn(2, 5, 16, generator=generator, dtype=torch.float64)
>>> context = torch.randn(2, 7, 16, generator=generator, dtype=torch.float64)
>>> keep = torch.rand(5, 7, generator=generator) < 0.7
>>> output, weights = theirs(x, context, context, attn_mask=~keep, average_attn_weights=False)
>>> torch.allclose(ours(x, context, mask=keep), output)
True
>>> torch.allclose(ours.weights(x, context, mask=keep), weights)  # (batch, heads, n, m)
True

--8<-- [end:example-pytorch]

Queries from the layer named key, and keys from the one named query: the same layer, its names swapped.

--8<-- [start:example-names]
>>> from snippets.heads.module import MisnamedAttention, swap_names
>>> right, wrong = MultiHeadAttention(16, 4), MisnamedAttention(16, 4)
>>> _ = wrong.load_state_dict(right.state_dict())
>>> x = x.float()
>>> torch.allclose(right(x), wrong(x))
False
>>> _ = wrong.load_state_dict(swap_names(right.state_dict()))
>>> torch.allclose(right(x), wrong(x))
True

--8<-- [end:example-names]

Four heads, and two tokens swapped. What the others get does not change:

--8<-- [start:example-order]
>>> swapped = x[:, [1, 0, 2, 3, 4]]
>>> before, after = right(x), right(swapped)
>>> torch.allclose(before[:, 2:], after[:, 2:], atol=1e-6)
True
>>> torch.allclose(before[:, [1, 0]], after[:, :2], atol=1e-6)  # and these two swap places
True
>>> torch.allclose(right(x, is_causal=True)[:, 2:], right(swapped, is_causal=True)[:, 2:], atol=1e-6)
True
>>> torch.allclose(right(x, is_causal=True)[:, [1, 0]], right(swapped, is_causal=True)[:, :2])
False

--8<-- [end:example-order]
"""

from torch import Tensor, nn

from snippets.attention.formula import attention, attention_weights
from snippets.heads.split import combine_heads, split_heads
from snippets.shapes import check_shapes


# --8<-- [start:one-head]
def one_head(
    X: Tensor, Z: Tensor, W_Q: Tensor, W_K: Tensor, W_V: Tensor
) -> Tensor:
    """One head: queries from X, keys and values from the context Z."""
    check_shapes(
        "X: n d, Z: m d, W_Q: d d_k, W_K: d d_k, W_V: d d_v",
        X,
        Z,
        W_Q,
        W_K,
        W_V,
    )
    # (..., n, d_k) (..., m, d_k) (..., m, d_v) -> (..., n, d_v)
    return attention(X @ W_Q, Z @ W_K, Z @ W_V)


# --8<-- [end:one-head]


# --8<-- [start:module]
class MultiHeadAttention(nn.Module):
    """Attention with several heads, each of an equal part of the width.

    dropout is the probability with which a weight is dropped, and so is a number of the output.
    """

    def __init__(
        self, d: int, heads: int, bias: bool = True, dropout: float = 0.0
    ):
        super().__init__()
        if heads < 1 or d % heads:
            raise ValueError(f"{heads} heads do not divide the width {d}")
        self.heads = heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d, d, bias) for _ in range(4)
        )
        self.dropout = nn.Dropout(dropout)

    def project(
        self, x: Tensor, context: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, without heads as yet."""
        check_shapes("x: n d, context: m d", x, context)
        return (
            self.query(x),
            self.key(context),
            self.value(context),
        )  # (..., n, d), (..., m, d) twice

    def weights(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """The weights of each head."""
        query, key, _ = self.project(x, x if context is None else context)
        query, key = (
            split_heads(part, self.heads) for part in (query, key)
        )  # (..., heads, n, d_k)
        return attention_weights(
            query, key, attn_mask=mask, is_causal=is_causal
        )  # (..., heads, n, m)

    def forward(
        self,
        x: Tensor,
        context: Tensor | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """x attends to the context, or to itself.

        The mask keeps what is True, and broadcasts to (..., heads, n, m).
        """
        context = x if context is None else context
        query, key, value = (
            split_heads(part, self.heads) for part in self.project(x, context)
        )
        weights = attention_weights(
            query, key, attn_mask=mask, is_causal=is_causal
        )  # (..., heads, n, m)
        combined = combine_heads(
            self.dropout(weights) @ value
        )  # (..., heads, n, d_v) -> (..., n, d)
        return self.dropout(self.output(combined))  # (..., n, d)


# --8<-- [end:module]


# --8<-- [start:pytorch]
def from_pytorch(layer: nn.MultiheadAttention) -> MultiHeadAttention:
    """Our layer with the weights of PyTorch's, which stacks three projections in one matrix."""
    if (
        layer.in_proj_weight is None
        or layer.bias_k is not None
        or layer.add_zero_attn
    ):
        raise ValueError(
            "expected a layer with one width, without bias_k, bias_v and add_zero_attn"
        )
    bias = layer.in_proj_bias is not None
    copy = MultiHeadAttention(layer.embed_dim, layer.num_heads, bias)
    copy = copy.to(layer.in_proj_weight).train(layer.training)
    state = {"output.weight": layer.out_proj.weight}
    state |= zip(
        ("query.weight", "key.weight", "value.weight"),
        layer.in_proj_weight.chunk(3),
    )
    if bias:
        state |= {"output.bias": layer.out_proj.bias}
        state |= zip(
            ("query.bias", "key.bias", "value.bias"),
            layer.in_proj_bias.chunk(3),
        )
    copy.load_state_dict(state)
    return copy


# --8<-- [end:pytorch]


# --8<-- [start:misnamed]
class MisnamedAttention(MultiHeadAttention):
    """The slip: the layer named key makes the queries, and the other way round."""

    def project(
        self, x: Tensor, context: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        return self.key(x), self.query(context), self.value(context)


def swap_names(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same parameters, those of query under the name key and the other way round."""
    other = {"query": "key", "key": "query"}
    parts = {name: name.split(".") for name in state}  # as in query.weight
    return {
        f"{other.get(layer, layer)}.{kind}": state[name]
        for name, (layer, kind) in parts.items()
    }


# --8<-- [end:misnamed]
