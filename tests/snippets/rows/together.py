"""Inputs for snippets/together."""

from functools import cache

import torch

from snippets.order.causal import Cache
from snippets.together.bound import Sites
from snippets.together.gpt import GPT, Block, Config
from snippets.together.trained import untrained_gpt
from tests.snippets.input_rows import EVERY, Row, T, sample

FULL = EVERY[:2]
SHAZEER = "Shazeer (2020)"
NUMBERS = "it needs the numbers themselves"
SIZES = Config(vocab_size=7, num_layers=2, num_heads=4, num_kv_heads=2, d=8, d_ff=6)
MODEL = Row(SIZES)
TOKENS = T(3, 5, kind="whole")
HALVES = [T(3), T(3), T(5, 3), T(5, 3), T(kind="real"), T(5, kind="real"), T(3)]


@sample
def kept(dtype: torch.dtype, device: str) -> Cache:
    return Cache(*(torch.ones(3, 2, 6, 2, dtype=dtype, device=device) for _ in range(2)))


@sample
def caches(dtype: torch.dtype, device: str) -> list[Cache]:
    return [kept(dtype, device)] * 2


@sample
def model(dtype: torch.dtype, device: str) -> GPT:
    return GPT(SIZES).to(device, dtype)


@sample
def block(dtype: torch.dtype, device: str) -> Block:
    return Block(SIZES).to(device, dtype)


@sample
def sites(dtype: torch.dtype, device: str) -> Sites:
    return Sites(dtype)


@cache
def noted(dtype: torch.dtype, device: str) -> tuple[Sites, torch.Tensor]:
    """Sites of one rounding, and what came of it."""
    sites, x = Sites(dtype), torch.ones(3, dtype=dtype, device=device, requires_grad=True)
    return sites, sites.rounded(2 * x, count=1)


FORMAT = Row(torch.float32)

ROWS = {
    "gpt": {
        "RMSNorm.forward": [Row(T(2, 5, 8), of=Row(8))],
        "CausalSelfAttention.forward": [Row(T(3, 5, 8), of=MODEL), Row(T(3, 5, 8), cache=kept, of=MODEL)],
        "silu": [Row(T(2, 3))],
        "swiglu": [Row(T(2, 5, 8), T(8, 6), T(8, 6), source=SHAZEER)],
        "FeedForward.forward": [Row(T(2, 5, 8), of=MODEL)],
        "Block.forward": [Row(T(3, 5, 8), of=MODEL), Row(T(3, 5, 8), cache=kept, of=MODEL)],
        "GPT.forward": [Row(TOKENS, of=MODEL), Row(TOKENS, cache=caches, of=MODEL)],
        "GPT.generate": [Row(TOKENS, count=2, of=MODEL), Row(TOKENS, count=2, use_cache=False, of=MODEL)],
    },
    "pieces": {
        "old_row": [Row(T(4), T(5, 4), T(5, 3), T(4), T(3)), Row(T(4), T(5, 4), T(5, 3), T(4), T(3), masked=False)],
        "rotated": [Row(T(5, 3), T(5, 3), T(5, kind="real"), T(3))],
        "scores_from_cache": [Row(*HALVES)],
        "scores_by_distance": [Row(*HALVES)],
        "tied_logits": [Row(T(5), T(5, 3), T(3, 3))],
        "tied_gradients": [Row(T(5), T(5, 3), T(3, 3))],
    },
    "bound": {
        "Sites.rounded": [Row(T(2, 3), count=2, of=FORMAT), Row(T(2, 3), count=2, size=T(2, 3), of=FORMAT)],
        "Sites.project": [Row(T(2, 5, 3), T(4, 3), of=FORMAT)],
        "Sites.bound": [Row(sample(lambda *where: noted(*where)[1]), of=sample(lambda *where: noted(*where)[0]))],
        "round_norm": [Row(sites, T(2, 3), T(3))],
        "round_rotary": [Row(sites, T(2, 5, 4))],
        "round_attention": [Row(sites, T(2, 5, 4), T(2, 5, 4), T(2, 5, 3))],
        "round_block": [Row(sites, T(3, 5, 8), block)],
        "logits_bound": [Row(model, T(5, kind="whole"), formats=FULL, gives=torch.float64)],
    },
    "text": {
        "stored": [Row("text.txt")],
        "text": [Row()],
        "vocabulary": [Row()],
        "encode": [Row("A query")],
        "decode": [Row(T(5, kind="whole"), not_on_meta=NUMBERS)],
        "parts": [Row()],
        "in_blocks": [Row("A query with its key. " * 20)],
        "held_out_loss": [Row(sample(lambda dtype, device: untrained_gpt().to(device)), not_on_meta=NUMBERS)],
        "counting_loss": [Row(1)],
    },
    "trained": {
        "untrained_gpt": [Row()],
        "load_gpt": [Row()],
        "write_text": [Row("A ", count=2)],
    },
    "train": {
        "prose_of": [Row("# A page")],
        "train_gpt": [Row(steps=1)],
    },
}
