"""Checkpoints of Llama, Mistral, Gemma and DeepSeek-V3 in the decoder of this site.

A config as it is in a checkpoint's `config.json`, and what the decoder cannot do:

--8<-- [start:example-config]
>>> from snippets.together.checkpoints import read_config
>>> published = {
...     "model_type": "llama", "vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 8192,
...     "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64,
...     "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": True, "hidden_act": "silu",
...     "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
...                      "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}}
>>> config = read_config(published)
>>> config.num_kv_heads, len(config.frequencies)
(8, 32)
>>> read_config(published | {"attn_logit_softcapping": 50.0})
Traceback (most recent call last):
ValueError: attn_logit_softcapping is 50.0; this decoder has no such option

--8<-- [end:example-config]

The parameters of this model, without allocating any:

--8<-- [start:example-count]
>>> import torch
>>> from snippets.together.decoder import Decoder
>>> with torch.device("meta"):
...     model = Decoder(config)
>>> f"{sum(parameter.numel() for parameter in model.parameters()):,}"
'1,235,814,400'

--8<-- [end:example-count]
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from snippets.attention.formula import upcast
from snippets.order.positions import frequencies
from snippets.positions.yarn import (
    yarn_attention_factor,
    yarn_frequencies,
    yarn_frequencies_by_pair,
)
from snippets.together.decoder import Decoder, DecoderConfig
from snippets.together.latent import LatentWidths
from snippets.together.routed import RoutedSizes

Parameters = Mapping[str, Float[Tensor, "..."]]

# --8<-- [start:config]
MODEL_TYPES = "llama", "mistral", "gemma", "deepseek_v3"
PUBLISHED_ACTIVATIONS = {
    "silu": "silu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}

# Fields that are read below, and those that do not change the logits.
READ = """model_type vocab_size hidden_size intermediate_size num_hidden_layers
num_attention_heads num_key_value_heads head_dim rms_norm_eps hidden_act
hidden_activation attention_bias mlp_bias tie_word_embeddings rope_parameters
rope_scaling rope_theta sliding_window q_lora_rank kv_lora_rank
qk_nope_head_dim qk_rope_head_dim v_head_dim qk_head_dim rope_interleave
n_routed_experts num_local_experts num_experts_per_tok moe_intermediate_size
n_shared_experts n_group topk_group norm_topk_prob routed_scaling_factor
first_k_dense_replace num_nextn_predict_layers partial_rotary_factor"""
WITHOUT_EFFECT = """transformers_version architectures dtype torch_dtype
initializer_range use_cache pad_token_id bos_token_id eos_token_id
pretraining_tp attention_dropout _name_or_path output_attentions
output_hidden_states output_router_logits return_dict chunk_size_feed_forward
is_encoder_decoder id2label label2id problem_type max_position_embeddings
auto_map ep_size aux_loss_alpha seq_aux"""
ROPE_NUMBERS = """rope_theta factor partial_rotary_factor low_freq_factor
high_freq_factor original_max_position_embeddings attention_factor beta_fast
beta_slow mscale mscale_all_dim"""
ROPE = f"{ROPE_NUMBERS} rope_type truncate"
FIXED = {
    "scoring_func": "sigmoid",
    "topk_method": "noaux_tc",
    "moe_layer_freq": 1,
}


def read_config(fields: Mapping[str, Any]) -> DecoderConfig:
    """The config of a decoder, from the fields of a checkpoint's config.json.

    Raises ValueError, with the name of the field, for what the decoder cannot
    do, and KeyError for a field that is missing.
    """
    reject_unknown(fields)
    kind = fields["model_type"]
    heads, d = fields["num_attention_heads"], fields["hidden_size"]
    latent = read_latent(fields) if kind == "deepseek_v3" else None
    width = fields.get("head_dim") or d // heads
    omega, factor = read_rotary(fields, width=latent.d_R if latent else width)
    return DecoderConfig(
        vocab_size=fields["vocab_size"],
        num_layers=fields["num_hidden_layers"],
        d=d,
        d_ff=fields["intermediate_size"],
        num_heads=heads,
        num_kv_heads=fields.get("num_key_value_heads"),
        d_k=width,
        eps=fields["rms_norm_eps"],
        activation=read_activation(fields),
        bias=bool(fields.get("attention_bias")),
        tied=fields.get("tie_word_embeddings", kind == "gemma"),
        embedding_scale=d**0.5 if kind == "gemma" else 1.0,
        frequencies=omega,
        rotary_factor=factor,
        window=fields.get(
            "sliding_window", 4096 if kind == "mistral" else None
        ),
        latent=latent,
        experts=read_experts(fields) if kind == "deepseek_v3" else None,
        dense_layers=fields.get("first_k_dense_replace", 0),
    )


def reject_unknown(fields: Mapping[str, Any]) -> None:
    """Raises ValueError for a field that the decoder cannot honour."""
    known = {
        "model_type": MODEL_TYPES,
        "hidden_act": tuple(PUBLISHED_ACTIVATIONS),
        "hidden_activation": (None,),
        "sliding_window": (None,),
        "mlp_bias": (None, bool(fields.get("attention_bias"))),
        **{name: (None, value) for name, value in FIXED.items()},
    }
    if fields["model_type"] == "gemma":  # biases of attention alone
        known["attention_bias"] = None, False
        known["hidden_activation"] = None, *PUBLISHED_ACTIVATIONS
    if fields["model_type"] == "mistral":
        del known["sliding_window"]
    if fields["model_type"] == "deepseek_v3":  # biases of some projections
        known["attention_bias"] = None, False
        known["hidden_act"] = ("silu",)
    for name, values in known.items():
        if name in fields and fields[name] not in values:
            raise ValueError(
                f"{name} is {fields[name]!r}; expected one of {values}"
            )
    if fields.get("attention_bias") and not fields.get("mlp_bias"):
        raise ValueError("attention_bias is true; expected mlp_bias as well")
    names = {*READ.split(), *WITHOUT_EFFECT.split(), *FIXED}
    for name, value in fields.items():
        if value and name not in names:
            raise ValueError(
                f"{name} is {value!r}; this decoder has no such option"
            )


def read_activation(fields: Mapping[str, Any]) -> str:
    """The activation. In Gemma's older files, GELU means that with tanh."""
    asked = fields.get("hidden_activation")
    if fields["model_type"] == "gemma" and not asked:
        return {"gelu": "gelu_tanh"}.get(
            fields["hidden_act"], PUBLISHED_ACTIVATIONS[fields["hidden_act"]]
        )
    return PUBLISHED_ACTIVATIONS[asked or fields["hidden_act"]]


def read_rope(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of RoPE, which configs have in one or more of three places.

    Raises ValueError for a field that is not known or is no number, and for
    one that differs from place to place.
    """
    outside = {
        name: fields.get(name)
        for name in ("rope_theta", "partial_rotary_factor")
    }
    places = outside, fields.get("rope_scaling"), fields.get("rope_parameters")
    rope: dict[str, Any] = {}
    for place in places:
        for name, value in (place or {}).items():
            if value is None:
                continue
            name = "rope_type" if name == "type" else name
            found = f"{name} is {value!r} for RoPE"
            if name not in ROPE.split():
                raise ValueError(f"{found}; expected one of {ROPE}")
            if name in ROPE_NUMBERS.split() and not isinstance(
                value, (int, float)
            ):
                raise ValueError(f"{found}; expected a number")
            if rope.setdefault(name, value) != value:
                raise ValueError(
                    f"{found}, and {rope[name]!r} in another place; "
                    "expected one value"
                )
    return rope


def read_rotary(
    fields: Mapping[str, Any], *, width: int
) -> tuple[tuple[float, ...], float]:
    """The frequencies of RoPE, and the factor on rotated features.

    Raises ValueError for a kind of scaling that is not known, for features
    that are not rotated, and as `read_rope` does.
    """
    rope = read_rope(fields)
    if rope.get("partial_rotary_factor", 1) != 1:
        raise ValueError(
            f"partial_rotary_factor is {rope['partial_rotary_factor']}; "
            "expected 1: these models rotate all features"
        )
    base, kind = rope.get("rope_theta", 10000.0), rope.get("rope_type")
    factor = 1.0
    omega = frequencies(width, base=base, dtype=torch.float64)
    if kind == "linear":
        omega = omega / rope["factor"]
    elif kind == "llama3":  # the ramp of YaRN, with other ends
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        omega = yarn_frequencies(
            omega,
            s=rope["factor"],
            trained=rope["original_max_position_embeddings"],
            start=low,
            end=high,
        )
    elif kind == "yarn":
        factor = read_yarn_factor(rope)
        omega = yarn_frequencies_by_pair(
            width,
            s=rope["factor"],
            trained=rope["original_max_position_embeddings"],
            start=rope.get("beta_slow") or 1.0,
            end=rope.get("beta_fast") or 32.0,
            truncate=rope.get("truncate", True),
            base=base,
        )
    elif kind not in (None, "default"):
        raise ValueError(
            f"rope_type is {kind!r}; expected default, linear, llama3 or yarn"
        )
    return tuple(omega.tolist()), factor


def read_yarn_factor(rope: Mapping[str, Any]) -> float:
    """YaRN's factor on rotated features; DeepSeek's has two parts."""
    if rope.get("attention_factor") is not None:
        return rope["attention_factor"]
    if rope.get("mscale") and rope.get("mscale_all_dim"):
        return scale_by(rope, name="mscale") / scale_by(
            rope, name="mscale_all_dim"
        )
    return yarn_attention_factor(rope["factor"])


def scale_by(rope: Mapping[str, Any], *, name: str) -> float:
    """YaRN's law, multiplied beyond 1 by a field of the config."""
    return 0.1 * rope[name] * math.log(max(rope["factor"], 1)) + 1


def read_latent(fields: Mapping[str, Any]) -> LatentWidths:
    """The widths of DeepSeek's latent attention."""
    rope = read_rope(fields)
    scaled = rope.get("rope_type", "default") != "default" and rope.get(
        "mscale_all_dim"
    )
    return LatentWidths(
        d_k=fields["qk_nope_head_dim"],
        d_v=fields["v_head_dim"],
        d_R=fields["qk_rope_head_dim"],
        d_c=fields["kv_lora_rank"],
        d_q=fields["q_lora_rank"],
        scale_factor=scale_by(rope, name="mscale_all_dim") ** 2
        if scaled
        else 1.0,
        interleaved=fields.get("rope_interleave", True),
    )


def read_experts(fields: Mapping[str, Any]) -> RoutedSizes:
    """The sizes of DeepSeek's experts."""
    return RoutedSizes(
        num_experts=fields["n_routed_experts"],
        k=fields["num_experts_per_tok"],
        d_ff=fields["moe_intermediate_size"],
        shared=fields["n_shared_experts"],
        num_groups=fields["n_group"],
        kept_groups=fields["topk_group"],
        divide=fields["norm_topk_prob"],
        factor=fields["routed_scaling_factor"],
    )


# --8<-- [end:config]


# --8<-- [start:names]
OUTSIDE = {
    "embedding.weight": "model.embed_tokens.weight",
    "norm.gain": "model.norm.weight",
    "head.weight": "lm_head.weight",
}
INSIDE = {
    "norm_1.gain": "input_layernorm.weight",
    "norm_2.gain": "post_attention_layernorm.weight",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.output": "self_attn.o_proj",
    "feed_forward.gate": "mlp.gate_proj",
    "feed_forward.up": "mlp.up_proj",
    "feed_forward.down": "mlp.down_proj",
}
LATENT = {
    "attention.query_latent": "self_attn.q_a_proj",
    "attention.query_norm.gain": "self_attn.q_a_layernorm.weight",
    "attention.latent": "self_attn.kv_a_proj_with_mqa",
    "attention.latent_norm.gain": "self_attn.kv_a_layernorm.weight",
    "attention.key_value": "self_attn.kv_b_proj",
}
ROUTED = {
    "feed_forward.router": "mlp.gate",
    "feed_forward.bias": "mlp.gate.e_score_correction_bias",
    "feed_forward.gate_up": "mlp.experts.gate_up_proj",
    "feed_forward.down": "mlp.experts.down_proj",
    "feed_forward.shared_gate": "mlp.shared_experts.gate_proj",
    "feed_forward.shared_up": "mlp.shared_experts.up_proj",
    "feed_forward.shared_down": "mlp.shared_experts.down_proj",
}


def published_name(*, name: str, config: DecoderConfig) -> str:
    """The name in a checkpoint of one of the decoder's parameters."""
    if not name.startswith("blocks."):
        return OUTSIDE[name]
    _, layer, inside = name.split(".", 2)
    names = dict(INSIDE)
    if config.latent is not None:
        names |= LATENT
        if config.latent.d_q is not None:
            names["attention.query"] = "self_attn.q_b_proj"
    if config.experts is not None and int(layer) >= config.dense_layers:
        names |= ROUTED
    part, _, kind = inside.rpartition(".")  # as in attention.query, weight
    found = names.get(inside) or f"{names[part]}.{kind}"
    return f"model.layers.{layer}.{found}"


# --8<-- [end:names]


# --8<-- [start:load]
def load_decoder(fields: Mapping[str, Any], parameters: Parameters) -> Decoder:
    """A decoder with the parameters of a checkpoint, in their dtype.

    Gemma's gains are in fp32 at least. The decoder shares memory with the
    parameters where it can, and does not train.
    Raises ValueError for a config that the decoder cannot honour, for
    parameters that are missing, and for those that it would not use.
    """
    config = read_config(fields)
    given = dict(stack_experts(parameters, fields))
    with torch.device("meta"):  # no memory until the parameters are assigned
        decoder = Decoder(config)
    names = {
        name: published_name(name=name, config=config)
        for name in decoder.state_dict()
    }
    missing = sorted(set(names.values()) - set(given))
    unused = sorted(set(given) - set(names.values()))
    if config.tied:  # some checkpoints repeat the embedding
        unused = [name for name in unused if name != "lm_head.weight"]
    if missing or unused:
        raise ValueError(
            f"parameters that are missing: {missing}; not used: {unused}"
        )
    # Detached: what the caller's own model trains stays as it is.
    state = {name: given[other].detach() for name, other in names.items()}
    if fields["model_type"] == "gemma":  # its gains are stored minus one
        for name in state:
            if name.endswith("gain"):
                state[name] = upcast(state[name]) + 1
    decoder.load_state_dict(state, assign=True)
    return decoder.requires_grad_(False).eval()


# As in model.layers.3.mlp.experts.5.gate_proj.weight.
EXPERT = re.compile(r"(.+\.mlp\.experts\.)(\d+)\.(gate|up|down)_proj\.weight")


def stack_experts(
    parameters: Parameters, fields: Mapping[str, Any]
) -> Iterator[tuple[str, Float[Tensor, "..."]]]:
    """The parameters by name, with those of all experts of a layer in one
    tensor, and without what `is_left_out` names.

    Raises ValueError for a layer of which some experts' parameters are missing.
    """
    count = fields.get("n_routed_experts", 0)
    layers: dict[str, dict[tuple[str, int], Tensor]] = {}
    for name, value in parameters.items():
        if is_left_out(name=name, fields=fields):
            continue
        found = EXPERT.fullmatch(name)
        if found is None or int(found[2]) >= count:
            yield name, value
        else:
            layers.setdefault(found[1], {})[found[3], int(found[2])] = value
    for start, given in layers.items():
        missing = [
            f"{start}{expert}.{kind}_proj.weight"
            for expert in range(count)
            for kind in ("gate", "up", "down")
            if (kind, expert) not in given
        ]
        if missing:
            raise ValueError(f"parameters that are missing: {missing}")
        gate, up, down = (
            torch.stack([given[kind, expert] for expert in range(count)])
            for kind in ("gate", "up", "down")
        )
        yield f"{start}gate_up_proj", torch.cat([gate, up], dim=-2)
        yield f"{start}down_proj", down


def is_left_out(*, name: str, fields: Mapping[str, Any]) -> bool:
    """Whether a parameter is an old buffer, or one of the layers with which
    DeepSeek predicts further tokens, behind those of the decoder."""
    start, more = fields["num_hidden_layers"], 0
    if fields["model_type"] == "deepseek_v3":
        more = fields.get("num_nextn_predict_layers") or 0
    layer = re.match(r"model\.layers\.(\d+)\.", name)
    extra = layer is not None and int(layer[1]) in range(start, start + more)
    return extra or name.endswith("rotary_emb.inv_freq")


# --8<-- [end:load]
