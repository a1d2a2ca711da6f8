"""A small GPT from the parts that other pages derive.

A model of two layers, whose weights are drawn and not trained:

--8<-- [start:example-model]
>>> import torch
>>> from snippets.together.gpt import GPT, Config
>>> _ = torch.manual_seed(0)
>>> model = GPT(Config(vocab_size=50, num_layers=2, num_heads=6, num_kv_heads=2, d=48, d_ff=128))
>>> tokens = torch.randint(50, (3, 10))  # (batch, n)
>>> logits, cache = model(tokens)
>>> tuple(logits.shape), len(cache), tuple(cache[0].key.shape)
((3, 10, 50), 2, (3, 2, 10, 8))

--8<-- [end:example-model]

All tokens at once, or seven of them, then one, then the last two:

--8<-- [start:example-cache]
>>> cache, parts = None, []
>>> for part in tokens.split([7, 1, 2], dim=-1):
...     logits_of_part, cache = model(part, cache)
...     parts.append(logits_of_part)
>>> torch.allclose(torch.cat(parts, dim=-2), logits, atol=1e-6)
True
>>> with_cache, without = (
...     model.generate(tokens, 20, use_cache=use_cache, generator=torch.Generator().manual_seed(1))
...     for use_cache in (True, False))
>>> torch.equal(with_cache, without)
True

--8<-- [end:example-cache]
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from snippets.around.layernorm import rms_norm
from snippets.around.transformer import embed
from snippets.attention.formula import attention
from snippets.attention.masks import lower_right
from snippets.heads.split import combine_heads, split_heads
from snippets.order.causal import Cache
from snippets.order.rotary import apply_rotary
from snippets.softmax.temperature import softmax_with_temperature


# --8<-- [start:config]
@dataclass(frozen=True)
class Config:
    """The sizes of a model. Query heads share the heads of keys and values in groups."""

    vocab_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    d: int  # the width of a token
    d_ff: int  # the width inside of the feed-forward layer


# --8<-- [end:config]


# --8<-- [start:norm]
class RMSNorm(nn.Module):
    """Each token divided by the root of its mean square, times a gain for each feature."""

    def __init__(self, d: int):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d))

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x) * self.gain  # (..., d)


# --8<-- [end:norm]


# --8<-- [start:attention]
class CausalSelfAttention(nn.Module):
    """Grouped heads that look back, turned by position; earlier keys and values from the cache."""

    def __init__(self, config: Config):
        super().__init__()
        self.num_heads, self.num_kv_heads = config.num_heads, config.num_kv_heads
        d, d_kv = config.d, config.d // config.num_heads * config.num_kv_heads
        self.query, self.output = (nn.Linear(d, d, bias=False) for _ in range(2))
        self.key, self.value = (nn.Linear(d, d_kv, bias=False) for _ in range(2))

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        query = split_heads(self.query(x), num_heads=self.num_heads)  # (..., h, n, d_k)
        key = split_heads(self.key(x), num_heads=self.num_kv_heads)  # (..., h_kv, n, d_k)
        value = split_heads(self.value(x), num_heads=self.num_kv_heads)  # (..., h_kv, n, d_k)
        n, past = x.shape[-2], 0 if cache is None else cache.key.shape[-2]
        position = torch.arange(past, past + n, device=x.device)
        query, key = (apply_rotary(each, position) for each in (query, key))
        if cache is not None:
            key = torch.cat([cache.key, key], dim=-2)  # (..., h_kv, m, d_k)
            value = torch.cat([cache.value, value], dim=-2)  # (..., h_kv, m, d_k)
        mask = lower_right(n, past + n, device=x.device)  # (n, m)
        output = attention(query, key, value, attn_mask=mask, enable_gqa=True)  # (..., h, n, d_k)
        return self.output(combine_heads(output)), Cache(key, value)  # (..., n, d)


# --8<-- [end:attention]


# --8<-- [start:swiglu]
def silu(x: Tensor) -> Tensor:
    """Each number times its own sigmoid."""
    return x * torch.sigmoid(x)


def swiglu(x: Tensor, W_gate: Tensor, W_up: Tensor) -> Tensor:
    """Two projections of each token, multiplied feature by feature: one gates the other."""
    return silu(x @ W_gate) * (x @ W_up)  # (..., d) -> (..., d_ff)


class FeedForward(nn.Module):
    """Every token by itself."""

    def __init__(self, config: Config):
        super().__init__()
        self.gate, self.up = (nn.Linear(config.d, config.d_ff, bias=False) for _ in range(2))
        self.down = nn.Linear(config.d_ff, config.d, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(swiglu(x, self.gate.weight.T, self.up.weight.T))  # (..., d)


# --8<-- [end:swiglu]


# --8<-- [start:block]
class Block(nn.Module):
    """Attention, then the feed-forward layer: each sees a normalised token, and is added on."""

    def __init__(self, config: Config):
        super().__init__()
        self.attention, self.feed_forward = CausalSelfAttention(config), FeedForward(config)
        self.norm_1, self.norm_2 = RMSNorm(config.d), RMSNorm(config.d)

    def forward(self, x: Tensor, cache: Cache | None = None) -> tuple[Tensor, Cache]:
        mixed, cache = self.attention(self.norm_1(x), cache)
        x = x + mixed
        return x + self.feed_forward(self.norm_2(x)), cache  # (..., n, d)


# --8<-- [end:block]


# --8<-- [start:gpt]
class GPT(nn.Module):
    """Tokens embedded, one block after another, and a score for each token that may come next."""

    def __init__(self, config: Config):
        super().__init__()
        self.embedding = nn.Parameter(torch.empty(config.vocab_size, config.d))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_layers))
        self.norm = RMSNorm(config.d)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:  # what is added on is drawn smaller, so that the sum is not large
                added = name.endswith(("output.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / (2 * config.num_layers) ** (0.5 * added))

    def forward(
        self, tokens: Tensor, cache: list[Cache] | None = None
    ) -> tuple[Tensor, list[Cache]]:
        """The logits after each token; and keys and values of all so far, to go on from."""
        x, caches = embed(tokens, self.embedding), []  # (..., n, d)
        for block, old in zip(self.blocks, cache or [None] * len(self.blocks), strict=True):
            x, new = block(x, old)
            caches.append(new)
        return self.norm(x) @ self.embedding.T, caches  # (..., n, vocab_size)

    @torch.no_grad()
    def generate(
        self,
        tokens: Tensor,
        count: int,
        *,
        temperature: float = 1.0,
        use_cache: bool = True,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The tokens (batch, n) and so many more."""
        new, cache = tokens, None
        for _ in range(count):
            logits, cache = self(new, cache)
            weights = softmax_with_temperature(logits[:, -1], tau=temperature)  # (batch, vocab_size)
            token = torch.multinomial(weights, 1, generator=generator)  # (batch, 1)
            tokens = torch.cat([tokens, token], dim=-1)
            new, cache = (token, cache) if use_cache else (tokens, None)
        return tokens  # (batch, n + count)


# --8<-- [end:gpt]
