"""Multi-head attention as a module, at the size of the first transformer:

--8<-- [start:example]
>>> import torch
>>> from snippets.heads.module import MultiHeadAttention
>>> generator = torch.Generator().manual_seed(0)
>>> _ = torch.manual_seed(0)
>>> layer = MultiHeadAttention(512, num_heads=8)
>>> x = torch.randn(128, 64, 512, generator=generator)  # (batch, n, d)
>>> with torch.no_grad():
...     print(tuple(layer(x).shape))
(128, 64, 512)
>>> context = torch.randn(128, 10, 512, generator=generator)  # another length
>>> with torch.no_grad():
...     print(tuple(layer(x, context=context).shape))
(128, 64, 512)
>>> MultiHeadAttention(512, num_heads=7)
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
>>> torch.allclose(ours(x, context=context, attn_mask=keep), output)
True
>>> ours_weights = ours.weights(x, context=context, attn_mask=keep)
>>> torch.allclose(ours_weights, weights)  # (batch, heads, n, m)
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

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from snippets.attention.formula import attention, attention_weights, share_heads
from snippets.attention.masks import lower_right
from snippets.heads.split import combine_heads, split_heads
from snippets.inference.cache import KeyValueCache
from snippets.order.rotary import Rotation, rotate


# --8<-- [start:one-head]
def one_head(
    X: Float[Tensor, "*#batch n d"],
    Z: Float[Tensor, "*#batch m d"],
    W_Q: Float[Tensor, "*#batch d d_k"],
    W_K: Float[Tensor, "*#batch d d_k"],
    W_V: Float[Tensor, "*#batch d d_v"],
) -> Float[Tensor, "*batch n d_v"]:
    """One head: queries from X, keys and values from the context Z."""
    return attention(X @ W_Q, Z @ W_K, Z @ W_V)


# --8<-- [end:one-head]


# --8<-- [start:module]
# For (*batch, heads, n, m): what is True is kept, what is a number is added.
HeadsMask = (
    Bool[Tensor, "*#batch #heads #n #m"]
    | Float[Tensor, "*#batch #heads #n #m"]
    | Bool[Tensor, "#n #m"]
    | Float[Tensor, "#n #m"]
    | Bool[Tensor, "#m"]
    | Float[Tensor, "#m"]
)


class MultiHeadAttention(nn.Module):
    """Attention with several heads, which may share keys and values."""

    def __init__(
        self,
        d: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        d_k: int | None = None,
        bias: bool = True,
        dropout: float = 0.0,
        output_dropout: float = 0.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        """As many heads of keys as of queries, and heads of equal parts of the
        width, unless given.

        A weight is dropped with probability dropout, as in PyTorch's layer, and
        a number of the output with probability output_dropout.
        Raises ValueError for numbers of heads that do not divide.
        """
        super().__init__()
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        if num_heads < 1 or d_k is None and d % num_heads:
            raise ValueError(f"{num_heads} heads do not divide the width {d}")
        if num_kv_heads < 1 or num_heads % num_kv_heads:
            raise ValueError(
                f"{num_kv_heads} heads of keys do not divide "
                f"{num_heads} of queries"
            )
        d_k = d // num_heads if d_k is None else d_k
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        wide, narrow = num_heads * d_k, num_kv_heads * d_k
        kind = {"bias": bias, "device": device, "dtype": dtype}
        self.query = nn.Linear(d, wide, **kind)
        self.key, self.value = (nn.Linear(d, narrow, **kind) for _ in range(2))
        self.output = nn.Linear(wide, d, **kind)
        self.dropout = nn.Dropout(dropout)
        self.output_dropout = nn.Dropout(output_dropout)

    def project(
        self, x: Float[Tensor, "*#batch n d"], z: Float[Tensor, "*#batch m d"]
    ) -> tuple[Float[Tensor, "... n width"], Float[Tensor, "... m kv_width"]]:
        """Queries from x, keys from the context z."""
        return self.query(x), self.key(z)

    def queries_and_keys(
        self,
        x: Float[Tensor, "*#batch n d"],
        context: Float[Tensor, "*#batch m d"],
        rotation: Rotation | None,
    ) -> tuple[
        Float[Tensor, "*batch heads n d_k"],
        Float[Tensor, "*batch kv_heads m d_k"],
    ]:
        """Queries and keys, split into heads and rotated.

        Raises ValueError for a rotation of other tokens, or with a batch but
        without an axis for the heads.
        """
        query, key = self.project(x, context)
        query = split_heads(query, num_heads=self.num_heads)
        key = split_heads(key, num_heads=self.num_kv_heads)
        if rotation is not None:
            query, key = rotate(query, rotation), rotate(key, rotation)
        return query, key

    def weights(
        self,
        x: Float[Tensor, "*#batch n d"],
        *,
        context: Float[Tensor, "*#batch m d"] | None = None,
        attn_mask: HeadsMask | None = None,
        is_causal: bool = False,
        rotation: Rotation | None = None,
    ) -> Float[Tensor, "*batch heads n m"]:
        """The weights of each head, with the arguments of the layer.

        Raises ValueError for a mask without an axis for the heads, and for
        is_causal beside a mask.
        """
        context = x if context is None else context
        query, key = self.queries_and_keys(x, context, rotation)
        return weights_of_heads(
            query, key, attn_mask=attn_mask, is_causal=is_causal
        )

    def forward(
        self,
        x: Float[Tensor, "*#batch n d"],
        *,
        context: Float[Tensor, "*#batch m d"] | None = None,
        attn_mask: HeadsMask | None = None,
        is_causal: bool = False,
        rotation: Rotation | None = None,
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch n d"]:
        """x attends to the context, or to itself.

        With is_causal, x holds the last tokens of the context, as in decoding.
        The mask is (n, m), or (*batch, heads, n, m) with 1 for what is shared.
        The rotation is that of the positions of x (see `find_rotation`): (n),
        or (*batch, 1, n). A context with other positions has to be rotated by
        itself. With a cache, x attends to all tokens that it holds, and to
        itself.
        Raises ValueError for a mask or a rotation with other axes, and for
        is_causal beside a mask.
        """
        context = x if context is None else context
        query, key = self.queries_and_keys(x, context, rotation)
        value = split_heads(self.value(context), num_heads=self.num_kv_heads)
        if cache is not None:
            key, value = cache.append(key, value)  # those of all tokens so far
        weights = weights_of_heads(
            query, key, attn_mask=attn_mask, is_causal=is_causal
        )
        mixed = self.dropout(weights) @ share_heads(query, value)
        return self.output_dropout(self.output(combine_heads(mixed)))


def weights_of_heads(
    query: Float[Tensor, "*#batch heads n d_k"],
    key: Float[Tensor, "*#batch kv_heads m d_k"],
    *,
    attn_mask: HeadsMask | None,
    is_causal: bool,
) -> Float[Tensor, "*batch heads n m"]:
    """The weights of each head; with is_causal, the queries are the last of all
    tokens.

    Raises ValueError for a mask without an axis for the heads, and for
    is_causal beside a mask.
    """
    if attn_mask is not None and 2 < attn_mask.dim() < query.dim():
        *batch, n, m = attn_mask.shape
        raise ValueError(
            f"attn_mask is {tuple(attn_mask.shape)}, which has no axis for "
            f"the heads; expected (n, m) or {(*batch, 1, n, m)}"
        )
    if is_causal and attn_mask is None:
        n, m = query.shape[-2], key.shape[-2]
        attn_mask, is_causal = lower_right(n, m, device=query.device), False
    return attention_weights(
        query,
        key,
        attn_mask=attn_mask,
        is_causal=is_causal,
        enable_gqa=True,
    )


# --8<-- [end:module]


# --8<-- [start:pytorch]
def from_pytorch(layer: nn.MultiheadAttention) -> MultiHeadAttention:
    """Our layer with the weights of PyTorch's, which stacks three in one matrix.

    First they are drawn, from the global generator. All of them train, even
    where PyTorch's are frozen.
    Raises ValueError for a layer that takes its tokens in another order, or
    that does what ours does not.
    """
    if not layer.batch_first:
        raise ValueError(
            "the layer takes (n, batch, d), and ours (batch, n, d); "
            "expected a layer with `batch_first=True`"
        )
    more = layer.bias_k is not None or layer.add_zero_attn
    if layer.in_proj_weight is None or more:
        raise ValueError(
            "expected a layer with one width, "
            "without bias_k, bias_v and add_zero_attn"
        )
    bias = layer.in_proj_bias is not None
    copy = MultiHeadAttention(
        layer.embed_dim, layer.num_heads, bias=bias, dropout=layer.dropout
    )
    copy = copy.to(layer.in_proj_weight).train(layer.training)
    state = {"output.weight": layer.out_proj.weight}
    names = "query.weight", "key.weight", "value.weight"
    state |= zip(names, layer.in_proj_weight.chunk(3), strict=True)
    if bias:
        state |= {"output.bias": layer.out_proj.bias}
        names = "query.bias", "key.bias", "value.bias"
        state |= zip(names, layer.in_proj_bias.chunk(3), strict=True)
    copy.load_state_dict(state)
    return copy


# --8<-- [end:pytorch]


# --8<-- [start:misnamed]
class MisnamedAttention(MultiHeadAttention):
    """The slip: the layer named key makes the queries, and the other way round."""

    def project(
        self, x: Float[Tensor, "*#batch n d"], z: Float[Tensor, "*#batch m d"]
    ) -> tuple[Float[Tensor, "... n d"], Float[Tensor, "... m d"]]:
        """Wrong: queries from the layer named key, keys from that named query."""
        return self.key(x), self.query(z)


def swap_names(
    state: dict[str, Float[Tensor, "..."]],
) -> dict[str, Float[Tensor, "..."]]:
    """The same parameters, those of query named key and the other way round."""
    other = {"query": "key", "key": "query"}
    parts = {name: name.split(".") for name in state}  # as in query.weight
    return {
        f"{other.get(layer, layer)}.{kind}": state[name]
        for name, (layer, kind) in parts.items()
    }


# --8<-- [end:misnamed]
