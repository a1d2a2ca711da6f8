"""Multi-head latent attention as a layer: DeepSeek-AI (2024).

The cache holds one latent row and one rotated key for each token:

--8<-- [start:example-latent]
>>> import torch
>>> from snippets.inference.cache import KeyValueCache
>>> from snippets.order.positions import frequencies
>>> from snippets.order.rotary import find_rotation
>>> from snippets.together.latent import LatentAttention, LatentWidths
>>> _ = torch.manual_seed(0)
>>> widths = LatentWidths(d_k=8, d_v=8, d_R=4, d_c=12, d_q=16)
>>> layer = LatentAttention(d=32, num_heads=4, widths=widths)
>>> x, rotation = torch.randn(2, 6, 32), find_rotation(torch.arange(6), frequencies(4))
>>> cache = KeyValueCache(capacity=6)
>>> with torch.no_grad():
...     y = layer(x, rotation=rotation, attn_mask=torch.ones(6, 6).tril().bool(), cache=cache)
>>> y.shape, cache.key.shape, cache.value.shape
(torch.Size([2, 6, 32]), torch.Size([2, 6, 4]), torch.Size([2, 6, 12]))

--8<-- [end:example-latent]
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from snippets.attention.formula import attention
from snippets.heads.split import combine_heads, split_heads
from snippets.inference.cache import KeyValueCache
from snippets.order.rotary import Rotation, rotate
from snippets.together.gpt import RMSNorm


# --8<-- [start:latent]
@dataclass(frozen=True, kw_only=True)
class LatentWidths:
    """The widths of latent attention."""

    d_k: int  # of a head's queries and keys, without their rotated features
    d_v: int  # of a head's values
    d_R: int  # of the rotated features, which all heads' keys share
    d_c: int  # of the latent row from which keys and values are made
    d_q: int | None = None  # of the latent row of queries, if they have one
    scale_factor: float = 1.0  # on the scale of the scores
    interleaved: bool = True  # RoPE rotates pairs of neighbours


class LatentAttention(nn.Module):
    """Attention whose keys and values are made from a narrow row per token."""

    def __init__(self, *, d: int, num_heads: int, widths: LatentWidths) -> None:
        """Random projections without biases; both latent rows are normalised."""
        super().__init__()
        self.num_heads, self.widths = num_heads, widths
        d_k, d_v, d_R, d_c = widths.d_k, widths.d_v, widths.d_R, widths.d_c
        d_q = widths.d_q or d
        self.query_latent, self.query_norm = nn.Identity(), nn.Identity()
        if widths.d_q is not None:
            self.query_latent = nn.Linear(d, d_q, bias=False)
            self.query_norm = RMSNorm(d_q, eps=1e-6)
        self.query = nn.Linear(d_q, num_heads * (d_k + d_R), bias=False)
        self.latent = nn.Linear(d, d_c + d_R, bias=False)
        self.latent_norm = RMSNorm(d_c, eps=1e-6)
        self.key_value = nn.Linear(d_c, num_heads * (d_k + d_v), bias=False)
        self.output = nn.Linear(num_heads * d_v, d, bias=False)

    def forward(
        self,
        x: Float[Tensor, "*batch n d"],
        *,
        rotation: Rotation,
        attn_mask: Bool[Tensor, "..."],
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch n d"]:
        """x attends to itself, and to the tokens in the cache."""
        widths = self.widths
        query = self.query(self.query_norm(self.query_latent(x)))
        query = split_heads(query, num_heads=self.num_heads)
        query, turned = query.split([widths.d_k, widths.d_R], dim=-1)
        query = torch.cat([query, self.rotate(turned, rotation)], dim=-1)
        latent, key = self.latent(x).split([widths.d_c, widths.d_R], dim=-1)
        latent = self.latent_norm(latent)  # (*batch, n, d_c)
        key = self.rotate(key.unsqueeze(-3), rotation).squeeze(-3)
        if cache is not None:  # m tokens: those before these n, and these n
            key, latent = cache.append(key, latent)
        heads = split_heads(self.key_value(latent), num_heads=self.num_heads)
        plain, value = heads.split([widths.d_k, widths.d_v], dim=-1)
        shared = key.unsqueeze(-3).expand(*plain.shape[:-1], -1)
        key = torch.cat([plain, shared], dim=-1)  # (*batch, h, m, d_k + d_R)
        scale = query.shape[-1] ** -0.5 * widths.scale_factor
        mixed = attention(query, key, value, attn_mask=attn_mask, scale=scale)
        return self.output(combine_heads(mixed))

    def rotate(
        self, x: Float[Tensor, "*batch heads n d_R"], rotation: Rotation
    ) -> Float[Tensor, "*batch heads n d_R"]:
        """Rotated features, in the layout of this layer."""
        return rotate(x, rotation, interleaved=self.widths.interleaved)


# --8<-- [end:latent]
