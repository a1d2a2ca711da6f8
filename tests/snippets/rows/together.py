"""Inputs for snippets/together."""

from functools import cache

import torch

from snippets.inference.cache import KeyValueCache
from snippets.order.causal import Cache
from snippets.order.rotary import Rotation
from snippets.together.block import BlockWeights, random_weights
from snippets.together.bound import Sites
from snippets.together.checkpoints import published_name, read_config
from snippets.together.decoder import Decoder, DecoderBlock, DecoderConfig
from snippets.together.encoder import Encoder, load_encoder
from snippets.together.gpt import GPT, Block, Config
from snippets.together.latent import LatentWidths
from snippets.together.routed import RoutedSizes
from snippets.together.trained import untrained_gpt
from tests.snippets.input_rows import EVERY, Row, Seeded, T, sample

FULL = EVERY[:2]
SHAZEER = "Shazeer (2020)"
NUMBERS = "it needs the numbers themselves"
SIZES = Config(vocab_size=7, num_layers=2, num_heads=4, num_kv_heads=2, d=8, d_ff=6)
MODEL = Row(SIZES)
TOKENS = T(3, 5, kind="whole")
HALVES = [T(3), T(3), T(5, 3), T(5, 3), T(kind="real"), T(5, kind="real"), T(3)]


MODERN = {"d": 8, "d_f": 6, "num_heads": 2, "num_kv_heads": 1, "d_k": 4}


@sample
def block_weights(dtype: torch.dtype, device: str) -> BlockWeights:
    drawn = random_weights(**MODERN, generator=torch.Generator().manual_seed(0))
    return BlockWeights(*(one.to(dtype).to(device) for one in drawn))


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

DECODER_SIZES = {"vocab_size": 7, "num_layers": 2, "num_heads": 2, "d": 8, "d_ff": 6}
DECODER = Row(DecoderConfig(**DECODER_SIZES))
WIDTHS = LatentWidths(d_k=4, d_v=6, d_R=2, d_c=3, d_q=5)
EXPERTS = RoutedSizes(num_experts=4, k=2, d_ff=5)
TOKENS_AND_MASK = [T(3, 5, kind="whole"), T(3, 5, kind="keep")]
PUBLISHED = {
    "model_type": "llama",
    "vocab_size": 7,
    "hidden_size": 8,
    "intermediate_size": 6,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
}
DEEPSEEK = PUBLISHED | {
    "qk_nope_head_dim": 4,
    "v_head_dim": 4,
    "qk_rope_head_dim": 2,
    "kv_lora_rank": 3,
    "q_lora_rank": None,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 5,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "norm_topk_prob": True,
    "routed_scaling_factor": 1.0,
}
YARN = {"factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.5}
BERT = {"num_hidden_layers": 1, "num_attention_heads": 2, "layer_norm_eps": 1e-5}


@sample
def rotation(dtype: torch.dtype, device: str) -> Rotation:
    wide = torch.promote_types(dtype, torch.float32)
    return Rotation(*(torch.ones(5, 1, dtype=wide, device=device) for _ in range(2)))


@sample
def one_cache(dtype: torch.dtype, device: str) -> list[KeyValueCache]:
    return [KeyValueCache(8) for _ in range(2)]


@sample
def decoder(dtype: torch.dtype, device: str) -> Decoder:
    return Decoder(DecoderConfig(**DECODER_SIZES)).requires_grad_(False)


@sample
def decoder_block(dtype: torch.dtype, device: str) -> DecoderBlock:
    return DecoderBlock(DecoderConfig(**DECODER_SIZES))


@sample
def published(dtype: torch.dtype, device: str) -> dict[str, torch.Tensor]:
    state = Decoder(read_config(PUBLISHED)).state_dict()
    names = {name: published_name(name=name, config=read_config(PUBLISHED)) for name in state}
    return {names[name]: value.to(device, dtype) for name, value in state.items()}


@sample
def bert(dtype: torch.dtype, device: str) -> dict[str, torch.Tensor]:
    """A checkpoint of one block of width 4."""
    block = [(f"{name}.{kind}", shape) for name, shape in BLOCK.items() for kind in ("weight", "bias")]
    shapes = {f"encoder.layer.0.{name}": shape if name.endswith("weight") else shape[:1] for name, shape in block}
    shapes |= {f"embeddings.{name}": shape for name, shape in OUTSIDE.items()}
    return {name: torch.ones(shape, device=device, dtype=dtype) for name, shape in shapes.items()}


OUTSIDE = {
    "word_embeddings.weight": (7, 4),
    "position_embeddings.weight": (9, 4),
    "token_type_embeddings.weight": (2, 4),
    "LayerNorm.weight": (4,),
    "LayerNorm.bias": (4,),
}
SELF = "attention.self."
BLOCK = {f"{SELF}query": (4, 4), f"{SELF}key": (4, 4), f"{SELF}value": (4, 4), "attention.output.dense": (4, 4)}
BLOCK |= {"attention.output.LayerNorm": (4,), "intermediate.dense": (6, 4), "output.dense": (4, 6), "output.LayerNorm": (4,)}


@sample
def encoder(dtype: torch.dtype, device: str) -> Encoder:
    return load_encoder(BERT, bert(dtype, device))


ROWS = {
    "decoder": {
        "gelu_tanh": [Row(T(2, 3))],
        "DecoderConfig.omega": [Row(of=Row(**DECODER_SIZES))],
        "DecoderFeedForward.forward": [Row(T(2, 5, 8), of=DECODER)],
        "make_norm": [Row(DecoderConfig(**DECODER_SIZES))],
        "DecoderBlock.forward": [Row(T(3, 5, 8), rotation=rotation, attn_mask=T(3, 1, 5, 5, kind="keep"), of=decoder_block)],
        "Decoder.make_cache": [Row(3, of=decoder)],
        "Decoder.forward": [
            Row(T(3, 5, kind="whole"), of=decoder),
            Row(T(3, 5, kind="whole"), keep=T(3, 5, kind="keep"), cache=one_cache, of=decoder),
        ],
        "Decoder.hidden_states": [Row(T(3, 5, kind="whole"), of=decoder)],
        "Decoder.find_rotation": [Row(T(3, 1, 6, kind="keep"), T(3, 5, 8), of=decoder, gives="upcast")],
        "Decoder.generate": [Row(T(3, 5, kind="whole"), count=2, of=decoder)],
        "decoder_parameters": [Row(7, 2, 8, 6, 4, 2, 2)],
        "score_with_factor": [Row(T(3, 4), T(3, 4), factor=2.0)],
    },
    "latent": {
        "LatentAttention.forward": [
            Row(T(3, 5, 8), rotation=rotation, attn_mask=T(5, 5, kind="keep"), of=Row(d=8, num_heads=2, widths=WIDTHS))
        ],
        "LatentAttention.rotate": [Row(T(3, 2, 5, 2), rotation, of=Row(d=8, num_heads=2, widths=WIDTHS))],
    },
    "routed": {
        "RoutedExperts.route": [Row(T(5, 8), of=Row(d=8, sizes=EXPERTS), gives="upcast")],
        "RoutedExperts.forward": [Row(T(3, 5, 8), of=Row(d=8, sizes=EXPERTS), not_on_meta=NUMBERS)],
    },
    "block": {
        "random_weights": [Row(**MODERN, generator=Seeded())],
        "norm_if_any": [Row(T(2, 5, 4), T(4)), Row(T(5, 4), None)],
        "block_of_parts": [Row(T(2, 5, 8), block_weights, rotation=rotation, num_heads=2, num_kv_heads=1)],
        "modern_block_parameters": [Row(8, 6, 2, 1, 4, 2)],
        "stack_parameters": [Row(3, 8, 6, 2, 1, 4, 2)],
        "model_parts": [Row("Qwen3-8B")],
    },
    "sampling": {
        "reject_limits": [Row(top_k=1, top_p=1.0)],
        "keep_likeliest": [Row(T(3, 5), top_k=2, top_p=0.5, source="Holtzman et al. (2020)")],
        "moved_probability": [Row(T(3, 5, kind="weights"))],
        "sample": [Row(T(6, 4, 5)), Row(T(6, 4, 5), top_p=0.1), Row(T(2, 3, 5), temperature=0.0)],
    },
    "checkpoints": {
        "read_config": [Row(PUBLISHED)],
        "reject_unknown": [Row(PUBLISHED)],
        "read_activation": [Row(PUBLISHED)],
        "read_rope": [Row(PUBLISHED)],
        "read_rotary": [Row(PUBLISHED, width=4)],
        "read_yarn_factor": [Row(YARN)],
        "scale_by": [Row(YARN, name="mscale")],
        "read_latent": [Row(DEEPSEEK)],
        "read_experts": [Row(DEEPSEEK)],
        "published_name": [Row(name="norm.gain", config=DecoderConfig(**DECODER_SIZES))],
        "load_decoder": [Row(PUBLISHED, published)],
        "stack_experts": [Row(published, PUBLISHED)],
        "is_left_out": [Row(name="model.layers.1.norm.weight", fields=PUBLISHED)],
    },
    "encoder": {
        "Encoder.embed": [Row(T(3, 5, kind="whole"), of=encoder)],
        "Encoder.hidden_states": [Row(*TOKENS_AND_MASK, of=encoder)],
        "Encoder.sentence_vectors": [Row(*TOKENS_AND_MASK, of=encoder, source="Reimers and Gurevych (2019)")],
        "Encoder.queries_keys_values": [Row(T(5, 4), block=0, of=encoder)],
        "Encoder.weights_of_block": [Row(T(5, 4), block=0, of=encoder)],
        "merged_projections": [Row(encoder, block=0)],
        "without_head": [Row(encoder, block=0, head=1)],
        "similarity_of_means": [Row(T(5, 4), T(3, 4))],
        "mean_similarity": [Row(T(5, 4), T(3, 4))],
        "load_encoder": [Row(BERT, bert)],
        "load_minilm": [Row(needs_models=True)],
        "minilm_tokens": [Row("A dog.", needs_models=True)],
    },
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
