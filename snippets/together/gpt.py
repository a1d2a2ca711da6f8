"""A small GPT, built from the parts of other pages."""

from dataclasses import astuple, dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from snippets.around.layernorm import rms_norm
from snippets.around.transformer import embed
from snippets.attention.formula import attention, upcast
from snippets.attention.masks import lower_right
from snippets.heads.split import combine_heads, split_heads
from snippets.order.causal import Cache
from snippets.order.rotary import apply_rotary
from snippets.softmax.temperature import softmax_with_temperature


# --8<-- [start:sizes]
@dataclass(frozen=True)
class Config:
    """The sizes of a model. Query heads share keys and values in groups."""

    vocab_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    d: int  # the width of a token
    d_ff: int  # the width inside of the feed-forward layer

    def __post_init__(self) -> None:
        """Raises ValueError for sizes that do not fit together."""
        if min(astuple(self)) < 1:
            raise ValueError(f"expected sizes of 1 or more, found {self}")
        if self.num_heads % self.num_kv_heads:
            raise ValueError(f"num_kv_heads does not divide num_heads: {self}")
        if self.d % (2 * self.num_heads):  # RoPE turns pairs of features
            raise ValueError(f"2 * num_heads does not divide d: {self}")


class RMSNorm(nn.Module):
    """Each token over its root mean square, times a gain for each feature."""

    def __init__(self, d: int, *, eps: float = 1e-5) -> None:
        """For tokens of d features; every gain is 1 at first."""
        super().__init__()
        self.gain, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """The normalised tokens."""
        return (rms_norm(upcast(x), eps=self.eps) * self.gain).to(x.dtype)


# --8<-- [end:sizes]


# --8<-- [start:attention]
class CausalSelfAttention(nn.Module):
    """Causal attention with grouped heads, RoPE and a cache."""

    def __init__(self, config: Config) -> None:
        """Keys and values may have fewer heads than queries."""
        super().__init__()
        self.num_heads = config.num_heads
        self.num_kv_heads = config.num_kv_heads
        d, d_kv = config.d, config.d // self.num_heads * self.num_kv_heads
        self.query, self.output = (nn.Linear(d, d, False) for _ in range(2))
        self.key, self.value = (nn.Linear(d, d_kv, False) for _ in range(2))

    def forward(
        self, x: Float[Tensor, "*batch n d"], *, cache: Cache | None = None
    ) -> tuple[Float[Tensor, "*batch n d"], Cache]:
        """The output for the new tokens, and the cache with their keys and values."""
        # (*batch, heads, n, d_k), then (*batch, kv_heads, n, d_k) twice
        query = split_heads(self.query(x), num_heads=self.num_heads)
        key = split_heads(self.key(x), num_heads=self.num_kv_heads)
        value = split_heads(self.value(x), num_heads=self.num_kv_heads)
        n, past = x.shape[-2], 0 if cache is None else cache.key.shape[-2]
        position = torch.arange(past, past + n, device=x.device)  # (n)
        query, key = (apply_rotary(one, position) for one in (query, key))
        if cache is not None:  # (*batch, kv_heads, past + n, d_k)
            key = torch.cat([cache.key, key], dim=-2)
            value = torch.cat([cache.value, value], dim=-2)
        mask = lower_right(n, past + n, device=x.device)  # (n, past + n)
        mixed = attention(query, key, value, attn_mask=mask, enable_gqa=True)
        return self.output(combine_heads(mixed)), Cache(key, value)


# --8<-- [end:attention]


# --8<-- [start:block]
def silu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Each number times its own sigmoid."""
    return x * torch.sigmoid(x)


def swiglu(
    x: Float[Tensor, "*batch d"],
    W_gate: Float[Tensor, "d d_ff"],
    W_up: Float[Tensor, "d d_ff"],
) -> Float[Tensor, "*batch d_ff"]:
    """Two projections; one gates the other: Shazeer (2020)."""
    return silu(x @ W_gate) * (x @ W_up)


class FeedForward(nn.Module):
    """Acts on each token separately."""

    def __init__(self, config: Config) -> None:
        """Three matrices, and no biases."""
        super().__init__()
        d, d_ff = config.d, config.d_ff
        self.gate, self.up = (nn.Linear(d, d_ff, False) for _ in range(2))
        self.down = nn.Linear(d_ff, d, False)

    def forward(self, x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """The update to add to each token."""
        return self.down(silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Attention, then the feed-forward layer; each sees normalised tokens."""

    def __init__(self, config: Config) -> None:
        """Two layers, and a normalisation before each."""
        super().__init__()
        self.attention = CausalSelfAttention(config)
        self.feed_forward = FeedForward(config)
        self.norm_1, self.norm_2 = RMSNorm(config.d), RMSNorm(config.d)

    def forward(
        self, x: Float[Tensor, "*batch n d"], *, cache: Cache | None = None
    ) -> tuple[Float[Tensor, "*batch n d"], Cache]:
        """The tokens after this block, and its keys and values."""
        mixed, cache = self.attention(self.norm_1(x), cache=cache)
        x = x + mixed
        return x + self.feed_forward(self.norm_2(x)), cache


# --8<-- [end:block]


# --8<-- [start:gpt]
class GPT(nn.Module):
    """An embedding, blocks, and a logit for each possible next token."""

    def __init__(self, config: Config) -> None:
        """Random weights; those before residual sums are smaller."""
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(config.vocab_size, config.d))
        blocks = [Block(config) for _ in range(config.num_layers)]
        self.blocks, self.norm = nn.ModuleList(blocks), RMSNorm(config.d)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                added = name.endswith(("output.weight", "down.weight"))
                divisor = (2 * len(blocks)) ** 0.5 if added else 1
                nn.init.normal_(weight, std=0.02 / divisor)

    def forward(
        self,
        tokens: Int[Tensor, "*batch n"],
        *,
        cache: list[Cache] | None = None,
    ) -> tuple[Float[Tensor, "*batch n vocab_size"], list[Cache]]:
        """The logits after each token, and the cache to go on from."""
        x = embed(tokens, self.embedding)  # (*batch, n, d)
        olds, news = cache or [None] * len(self.blocks), []
        for block, old in zip(self.blocks, olds, strict=True):
            x, new = block(x, cache=old)
            news.append(new)
        return self.norm(x) @ self.embedding.T, news

    @torch.no_grad()
    def generate(
        self,
        tokens: Int[Tensor, "*batch n"],
        *,
        count: int,
        temperature: float = 1.0,
        use_cache: bool = True,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "*batch more"]:
        """The tokens and `count` more; at most one axis leads.

        Raises ValueError without a token, or for a temperature of 0 or below.
        """
        if not tokens.shape[-1] or temperature <= 0:
            raise ValueError("expected a token, and a temperature above 0")
        new, cache = tokens, None
        for _ in range(count):
            logits, cache = self(new, cache=cache)
            p = softmax_with_temperature(logits[..., -1, :], tau=temperature)
            token = torch.multinomial(p, 1, generator=generator)
            tokens = torch.cat([tokens, token], dim=-1)
            new, cache = (token, cache) if use_cache else (tokens, None)
        return tokens


# --8<-- [end:gpt]
