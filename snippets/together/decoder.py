"""A decoder with the options that published models need.

A small model in the manner of Llama. The second prompt is padded on the left, and the model gives it
the same logits as without padding:

--8<-- [start:example-padding]
>>> import torch
>>> from snippets.together.decoder import Decoder, DecoderConfig
>>> _ = torch.manual_seed(0)
>>> model = Decoder(DecoderConfig(
...     vocab_size=50, num_layers=2, d=32, d_ff=64, num_heads=4, num_kv_heads=2)).double()
>>> tokens = torch.tensor([[11, 12, 13, 14], [0, 0, 21, 22]])
>>> keep = torch.tensor([[True, True, True, True], [False, False, True, True]])
>>> together = model(tokens, keep=keep)  # (2, 4, 50)
>>> alone = model(torch.tensor([[21, 22]]))  # (1, 2, 50)
>>> torch.allclose(together[1, 2:], alone[0])
True

--8<-- [end:example-padding]

Decoding with a cache that is allocated once, for a batch of prompts of different lengths:

--8<-- [start:example-generate]
>>> generator = torch.Generator().manual_seed(1)
>>> new = model.generate(tokens, count=5, keep=keep, top_k=10, top_p=0.9, generator=generator)
>>> new.shape
torch.Size([2, 9])

--8<-- [end:example-generate]
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import gelu, linear, relu, silu

from snippets.attention.formula import upcast
from snippets.heads.module import MultiHeadAttention
from snippets.inference.cache import KeyValueCache
from snippets.order.positions import frequencies
from snippets.order.rotary import Rotation, find_rotation
from snippets.sparse.window import window_mask
from snippets.together.gpt import RMSNorm
from snippets.together.latent import LatentAttention, LatentWidths
from snippets.together.routed import RoutedExperts, RoutedSizes
from snippets.together.sampling import sample


# --8<-- [start:config]
def gelu_tanh(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """GELU with a tanh in place of the normal distribution, as in GPT-2."""
    return gelu(x, approximate="tanh")


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "silu": silu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "relu": relu,
}


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """The sizes of a decoder, and what its parts are."""

    vocab_size: int
    num_layers: int
    d: int  # the width of a token
    d_ff: int  # the width inside of the feed-forward layer
    num_heads: int
    num_kv_heads: int | None = None  # as many as num_heads
    d_k: int | None = None  # the width of a head: d / num_heads
    norm: str = "rms"  # or "layer"
    eps: float = 1e-5
    activation: str = "silu"
    gated: bool = True
    bias: bool = False
    tied: bool = True  # the head has the weights of the embedding
    embedding_scale: float = 1.0
    base: float = 10000.0
    frequencies: tuple[float, ...] | None = None  # in place of those of base
    rotary_factor: float = 1.0  # on rotated features, as in YaRN
    window: int | None = None  # each token sees this many, with itself
    latent: LatentWidths | None = None  # MLA in place of shared heads
    experts: RoutedSizes | None = None  # in place of the feed-forward layer
    dense_layers: int = 0  # first blocks without experts

    def __post_init__(self) -> None:
        """Raises ValueError for an unknown name, and a window below 1."""
        names = {"norm": ("rms", "layer"), "activation": tuple(ACTIVATIONS)}
        for field, known in names.items():
            if getattr(self, field) not in known:
                raise ValueError(
                    f"{field} is {getattr(self, field)!r}; expected one of {known}"
                )
        if self.window is not None and self.window < 1:
            raise ValueError(f"window is {self.window}; expected at least 1")

    def omega(
        self,
        *,
        dtype: torch.dtype | None = None,
        device: torch.device | str | None = None,
    ) -> Float[Tensor, " pairs"]:
        """The frequencies of RoPE, one for each pair of features."""
        if self.frequencies is not None:
            return torch.tensor(self.frequencies, dtype=dtype, device=device)
        if self.latent is not None:
            width = self.latent.d_R
        else:
            width = self.d_k or self.d // self.num_heads
        return frequencies(width, base=self.base, dtype=dtype, device=device)


# --8<-- [end:config]


# --8<-- [start:parts]
class DecoderFeedForward(nn.Module):
    """Acts on each token separately."""

    def __init__(self, config: DecoderConfig) -> None:
        """Two matrices, and a third for the gate."""
        super().__init__()
        d, d_ff, bias = config.d, config.d_ff, config.bias
        self.activation = ACTIVATIONS[config.activation]
        self.gate = nn.Linear(d, d_ff, bias) if config.gated else None
        self.up, self.down = nn.Linear(d, d_ff, bias), nn.Linear(d_ff, d, bias)

    def forward(self, x: Float[Tensor, "*axes d"]) -> Float[Tensor, "*axes d"]:
        """The update to add to each token."""
        if self.gate is None:
            return self.down(self.activation(self.up(x)))
        return self.down(self.activation(self.gate(x)) * self.up(x))


def make_norm(config: DecoderConfig) -> nn.Module:
    """The norm before each part of a block, and after the last block."""
    if config.norm == "layer":
        return nn.LayerNorm(config.d, eps=config.eps)
    return RMSNorm(config.d, eps=config.eps)


class DecoderBlock(nn.Module):
    """Attention, then the feed-forward layer; each sees normalised tokens."""

    def __init__(self, config: DecoderConfig, *, layer: int = 0) -> None:
        """The first layers may have no experts."""
        super().__init__()
        self.attention: nn.Module
        self.feed_forward: nn.Module
        if config.latent is None:
            self.attention = MultiHeadAttention(
                config.d,
                config.num_heads,
                num_kv_heads=config.num_kv_heads,
                d_k=config.d_k,
                bias=config.bias,
            )
        else:
            self.attention = LatentAttention(
                d=config.d, num_heads=config.num_heads, widths=config.latent
            )
        if config.experts is None or layer < config.dense_layers:
            self.feed_forward = DecoderFeedForward(config)
        else:
            self.feed_forward = RoutedExperts(d=config.d, sizes=config.experts)
        self.norm_1, self.norm_2 = make_norm(config), make_norm(config)

    def forward(
        self,
        x: Float[Tensor, "*batch n d"],
        *,
        rotation: Rotation,
        attn_mask: Bool[Tensor, "..."],
        cache: KeyValueCache | None = None,
    ) -> Float[Tensor, "*batch n d"]:
        """The tokens after this block, for a mask with an axis for the heads."""
        x = x + self.attention(
            self.norm_1(x), rotation=rotation, attn_mask=attn_mask, cache=cache
        )
        return x + self.feed_forward(self.norm_2(x))


# --8<-- [end:parts]


# --8<-- [start:decoder]
class Decoder(nn.Module):
    """An embedding, blocks, and a logit for each possible next token."""

    def __init__(self, config: DecoderConfig) -> None:
        """Random parameters, normal with deviation 0.02."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.d)
        self.blocks = nn.ModuleList(
            DecoderBlock(config, layer=layer)
            for layer in range(config.num_layers)
        )
        self.norm = make_norm(config)
        self.head = (
            None
            if config.tied
            else nn.Linear(config.d, config.vocab_size, bias=False)
        )
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def make_cache(self, capacity: int) -> list[KeyValueCache]:
        """An empty cache for each block, with room for so many tokens."""
        return [KeyValueCache(capacity) for _ in self.blocks]

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        *,
        keep: Bool[Tensor, "batch m"] | None = None,
        cache: list[KeyValueCache] | None = None,
    ) -> Float[Tensor, "batch n vocab_size"]:
        """The logits after each token.

        With a cache, the tokens follow those that it holds. Padding is False in
        `keep`, which covers all m tokens so far. Positions count the others, so
        that padding on the left changes nothing. Logits of padding mean nothing.
        Raises ValueError and TypeError as `hidden_states` does.
        """
        states = self.hidden_states(tokens, keep=keep, cache=cache)
        weight = (
            self.embedding.weight if self.head is None else self.head.weight
        )
        return linear(states, weight)

    def hidden_states(
        self,
        tokens: Int[Tensor, "batch n"],
        *,
        keep: Bool[Tensor, "batch m"] | None = None,
        cache: list[KeyValueCache] | None = None,
    ) -> Float[Tensor, "batch n d"]:
        """The tokens after the last block, normalised.

        Raises ValueError without tokens, if `keep` does not cover all tokens so
        far, and for a cache of other layers; TypeError if `keep` is not bool.
        """
        if cache is not None and len(cache) != len(self.blocks):
            raise ValueError(
                f"cache is for {len(cache)} layers; expected "
                f"{len(self.blocks)}, as from make_cache"
            )
        past = cache[0].length if cache else 0
        n, m = tokens.shape[-1], past + tokens.shape[-1]
        if n == 0:
            raise ValueError("tokens is empty; expected at least one")
        if keep is None:
            keep = torch.ones_like(tokens[..., :1], dtype=torch.bool)
            keep = keep.expand(*tokens.shape[:-1], m)
        if keep.dtype != torch.bool:
            raise TypeError(
                f"keep is {keep.dtype}; expected torch.bool, as from keep.bool()"
            )
        if keep.shape != (*tokens.shape[:-1], m):
            raise ValueError(
                f"keep is {tuple(keep.shape)}; expected (batch, {m}), since "
                f"{past} tokens are in the cache and {n} are new"
            )
        window = m if self.config.window is None else self.config.window
        mask = window_mask(n, window, m=m, device=tokens.device)
        mask = mask & keep[..., None, None, :]  # (batch, 1, n, m)
        x = self.embedding(tokens) * self.config.embedding_scale
        rotation = self.find_rotation(keep[..., None, :], x)  # (batch, 1, n)
        for block, old in zip(
            self.blocks, cache or [None] * len(self.blocks), strict=True
        ):
            x = block(x, rotation=rotation, attn_mask=mask, cache=old)
        return self.norm(x)

    def find_rotation(
        self,
        keep: Bool[Tensor, "batch 1 m"],
        x: Float[Tensor, "batch n d"],
    ) -> Rotation:
        """The rotation of the last n of m tokens, for all blocks."""
        n = x.shape[-2]
        position = keep.long().cumsum(-1)[..., keep.shape[-1] - n :] - 1
        omega = self.config.omega(dtype=upcast(x).dtype, device=x.device)
        return find_rotation(
            position.clamp(min=0), omega, factor=self.config.rotary_factor
        )

    @torch.no_grad()
    def generate(
        self,
        tokens: Int[Tensor, "batch n"],
        *,
        count: int,
        keep: Bool[Tensor, "batch n"] | None = None,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        end: int | None = None,
        generator: torch.Generator | None = None,
    ) -> Int[Tensor, "batch more"]:
        """The tokens and up to `count` more, by `sample`.

        After its first `end`, a text goes on with `end`. Generation stops early
        when all texts have ended.
        Raises ValueError for a prompt whose last token is padding, TypeError for
        several ends, and both as `hidden_states` and `sample` do.
        """
        if end is not None and not isinstance(end, int):
            raise TypeError(f"end is {end!r}; expected one token")
        if keep is None:
            keep = torch.ones_like(tokens, dtype=torch.bool)
        elif not keep[..., -1:].all():
            raise ValueError(
                "keep is False for the last token of a prompt; expected True: "
                "pad on the left, with the prompts in the last columns"
            )
        cache, new = self.make_cache(tokens.shape[-1] + count), tokens
        ended = tokens.new_zeros(tokens.shape[:-1], dtype=torch.bool)
        for _ in range(count):
            logits = self(new, keep=keep, cache=cache)[..., -1, :]
            token = sample(
                logits,
                temperature=temperature,
                top_k=top_k,
                top_p=top_p,
                generator=generator,
            )  # (batch)
            if end is not None:
                token = token.masked_fill(ended, end)
                ended = ended | (token == end)
            new = token[..., None]
            tokens = torch.cat([tokens, new], dim=-1)
            keep = torch.cat([keep, torch.ones_like(keep[..., :1])], dim=-1)
            if end is not None and ended.all():
                break
        return tokens


# --8<-- [end:decoder]


# --8<-- [start:count]
def decoder_parameters(
    vocab_size: int,
    num_layers: int,
    d: int,
    d_ff: int,
    num_heads: int,
    num_kv_heads: int,
    d_k: int,
) -> int:
    """The parameters of a tied decoder with gates and without biases."""
    attention = 2 * d * (num_heads * d_k) + 2 * d * (num_kv_heads * d_k)
    return vocab_size * d + num_layers * (attention + 3 * d * d_ff + 2 * d) + d


# --8<-- [end:count]


# --8<-- [start:factor]
def score_with_factor(
    query: Float[Tensor, "*#batch d_R"],
    key: Float[Tensor, "*#batch d_R"],
    *,
    factor: float | Float[Tensor, ""],
) -> Float[Tensor, "*batch"]:
    """The score of rotated features that were multiplied by a factor, without
    the scale."""
    return ((factor * query) * (factor * key)).sum(-1)


# --8<-- [end:factor]
