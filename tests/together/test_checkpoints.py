"""Configs and parameters of checkpoints, without another library: fields that are read, fields that are rejected, and names."""

import math

import pytest
import torch

from snippets.order.positions import frequencies
from snippets.together.checkpoints import (
    is_left_out,
    load_decoder,
    published_name,
    read_activation,
    read_config,
    read_experts,
    read_latent,
    read_rope,
    read_rotary,
    read_yarn_factor,
    reject_unknown,
    scale_by,
    stack_experts,
)
from snippets.together.decoder import Decoder

LLAMA = {
    "model_type": "llama",
    "vocab_size": 11,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
}
DEEPSEEK = LLAMA | {
    "model_type": "deepseek_v3",
    "num_key_value_heads": 4,
    "q_lora_rank": None,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 4,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 8,
    "n_shared_experts": 1,
    "n_group": 2,
    "topk_group": 1,
    "norm_topk_prob": True,
    "routed_scaling_factor": 2.5,
    "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 1,
}
TOKENS = torch.randint(11, (2, 6), generator=torch.Generator().manual_seed(0))


def checkpoint(fields, seed=0):
    """Parameters with the names of a checkpoint, and the decoder that has them."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = read_config(fields)
        model = Decoder(config).requires_grad_(False)
        for parameter in model.parameters():
            parameter.copy_(0.4 * torch.randn_like(parameter))
    return {published_name(name=name, config=config): value for name, value in model.state_dict().items()}, model


@pytest.mark.parametrize("fields", [LLAMA, DEEPSEEK, DEEPSEEK | {"q_lora_rank": 6}, LLAMA | {"tie_word_embeddings": True}])
def test_parameters_find_their_places(fields):
    parameters, model = checkpoint(fields)
    loaded = load_decoder(fields, parameters)
    assert torch.equal(loaded(TOKENS), model(TOKENS)) and not loaded.training
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


def test_parameters_keep_their_format():
    parameters, _ = checkpoint(LLAMA)
    loaded = load_decoder(LLAMA, {name: value.bfloat16() for name, value in parameters.items()})
    assert loaded(TOKENS).dtype == torch.bfloat16


def published_experts(seed=0):
    """Parameters as in the files that DeepSeek publishes: each expert has tensors of its own."""
    parameters, model = checkpoint(DEEPSEEK, seed)
    for kind, parts in (("gate_up_proj", ("gate", "up")), ("down_proj", ("down",))):
        stacked = parameters.pop(f"{EXPERTS}{kind}")
        for expert, value in reversed(list(enumerate(stacked))):
            for part, tensor in zip(parts, value.chunk(len(parts))):
                parameters[f"{EXPERTS}{expert}.{part}_proj.weight"] = tensor
    return parameters, model


EXPERTS = "model.layers.1.mlp.experts."


def test_each_expert_may_have_tensors_of_its_own_and_extra_layers_are_left_out():
    parameters, model = published_experts()
    parameters["model.layers.2.eh_proj.weight"] = torch.zeros(3)
    parameters["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.zeros(2)
    assert torch.equal(load_decoder(DEEPSEEK, parameters)(TOKENS), model(TOKENS))


@pytest.mark.parametrize("name", ["0.gate_proj.weight", "1.up_proj.weight", "3.down_proj.weight"])
def test_an_experts_missing_parameter_is_named(name):
    parameters, _ = published_experts()
    del parameters[f"{EXPERTS}{name}"]
    with pytest.raises(ValueError, match=rf"missing: \['{EXPERTS}{name}'\]"):
        load_decoder(DEEPSEEK, parameters)


@pytest.mark.parametrize("name", ["0.down_proj.weight_scale_inv", "2.other_proj.weight", "4.up_proj.weight", "shared.weight", "0.up_proj"])
def test_an_experts_unused_parameter_is_named(name):
    parameters, _ = published_experts()
    parameters[f"{EXPERTS}{name}"] = torch.ones(8, 16)
    with pytest.raises(ValueError, match=rf"missing: \[\]; not used: \['{EXPERTS}{name}'\]"):
        load_decoder(DEEPSEEK, parameters)


@pytest.mark.parametrize("fields", [LLAMA, DEEPSEEK])
def test_layers_beyond_those_of_the_config_are_named(fields):
    """DeepSeek may have one more, which the decoder leaves out."""
    parameters, _ = checkpoint(fields | {"num_hidden_layers": 4})
    unused = [name for name in parameters if name.startswith("model.layers.3.")]
    with pytest.raises(ValueError, match="not used: ") as error:
        load_decoder(fields, parameters)
    assert all(name in str(error.value) for name in unused) and unused
    assert ("model.layers.2." in str(error.value)) is (fields is LLAMA)


def test_the_model_that_parameters_come_from_trains_as_before():
    parameters, model = checkpoint(LLAMA)
    given = {published_name(name=name, config=model.config): value for name, value in model.requires_grad_(True).named_parameters()}
    loaded = load_decoder(LLAMA, given)
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert not any(parameter.requires_grad for parameter in loaded.parameters())


def test_gemma_stores_its_gains_minus_one_and_scales_its_embedding():
    fields = LLAMA | {"model_type": "gemma", "hidden_act": "gelu_pytorch_tanh", "tie_word_embeddings": True}
    parameters, model = checkpoint(fields)
    loaded = load_decoder(fields, parameters)
    assert loaded.config.embedding_scale == 4
    torch.testing.assert_close(loaded.norm.gain, model.norm.gain + 1)
    torch.testing.assert_close(loaded.blocks[1].norm_2.gain, model.blocks[1].norm_2.gain + 1)


def test_gemmas_gains_keep_their_digits_in_half_precision():
    """The neighbour of 1 in bf16 is 1.0078."""
    fields = LLAMA | {"model_type": "gemma", "tie_word_embeddings": True}
    parameters, _ = checkpoint(fields)
    parameters["model.norm.weight"].fill_(0.003)
    half = {name: value.bfloat16() for name, value in parameters.items()}
    loaded = load_decoder(fields, half)
    torch.testing.assert_close(loaded.norm.gain, half["model.norm.weight"].float() + 1)
    assert loaded(TOKENS).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"hidden_act": "gelu"}, "gelu_tanh"),
        ({"hidden_act": "gelu", "hidden_activation": None}, "gelu_tanh"),
        ({"hidden_act": "gelu", "hidden_activation": "gelu"}, "gelu"),
        ({"hidden_act": "gelu_pytorch_tanh"}, "gelu_tanh"),
        ({"hidden_act": "silu"}, "silu"),
    ],
)
def test_gelu_of_older_gemma_files_is_that_with_tanh(fields, expected):
    assert read_config(LLAMA | {"model_type": "gemma"} | fields).activation == expected


def test_missing_and_unused_parameters_are_named():
    parameters, _ = checkpoint(LLAMA)
    parameters["model.layers.0.self_attn.q_norm.weight"] = parameters.pop("lm_head.weight")
    message = r"missing: \['lm_head.weight'\]; not used: \['model.layers.0.self_attn.q_norm.weight'\]"
    with pytest.raises(ValueError, match=message):
        load_decoder(LLAMA, parameters)


def test_a_tied_checkpoint_may_repeat_the_embedding():
    fields = LLAMA | {"tie_word_embeddings": True}
    parameters, model = checkpoint(fields)
    parameters["lm_head.weight"] = parameters["model.embed_tokens.weight"]
    assert torch.equal(load_decoder(fields, parameters)(TOKENS), model(TOKENS))


REJECTED = {
    "model_type": ({"model_type": "gpt2"}, "model_type is 'gpt2'; expected one of"),
    "activation": ({"hidden_act": "tanh"}, "hidden_act is 'tanh'"),
    "soft-capping": ({"final_logit_softcapping": 30.0}, "final_logit_softcapping is 30.0; this decoder has no such option"),
    "quantised": ({"quantization_config": {"bits": 4}}, "quantization_config is"),
    "some biases": ({"attention_bias": True}, "attention_bias is true; expected mlp_bias as well"),
    "other biases": ({"mlp_bias": True}, "mlp_bias is True"),
    "scaling": ({"rope_scaling": {"rope_type": "dynamic", "factor": 2.0}}, "rope_type is 'dynamic'; expected default"),
    "a field of RoPE": ({"rope_scaling": {"rope_type": "linear", "factor": 2.0, "short_factor": [1.0]}}, "short_factor is .* for RoPE"),
    "a window": ({"sliding_window": 4}, "sliding_window is 4; expected one of"),
    "Gemma's activation": ({"hidden_activation": "relu"}, "hidden_activation is 'relu'"),
    "routing": ({"scoring_func": "softmax"}, "scoring_func is 'softmax'"),
    "a part of each head": ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5; expected 1"),
    "a part, for RoPE": ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor is 0.5; expected 1"),
    "a base that is text": ({"rope_theta": "10000"}, "rope_theta is '10000' for RoPE; expected a number"),
    "a factor that is text": ({"rope_scaling": {"rope_type": "linear", "factor": "2"}}, "factor is '2' for RoPE; expected a number"),
    "two kinds": (
        {"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_parameters": {"rope_type": "default"}},
        "rope_type is 'default' for RoPE, and 'linear' in another place; expected one value",
    ),
    "two bases": (
        {"rope_theta": 500.0, "rope_parameters": {"rope_theta": 1e4}},
        "rope_theta is 10000.0 for RoPE, and 500.0 in another place",
    ),
}


@pytest.mark.parametrize("kind", ["mistral", "gemma", "deepseek_v3"])
def test_no_model_rotates_a_part_of_each_head(kind):
    with pytest.raises(ValueError, match=r"partial_rotary_factor is 0.5"):
        read_config(DEEPSEEK | {"model_type": kind, "partial_rotary_factor": 0.5})


@pytest.mark.parametrize(("change", "message"), REJECTED.values(), ids=REJECTED)
def test_what_the_decoder_cannot_do_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        read_config(LLAMA | change)


def test_fields_without_effect_are_ignored():
    assert read_config(LLAMA | {"attn_logit_softcapping": None, "bos_token_id": 1}) == read_config(LLAMA)


def test_old_and_new_fields_of_rope_agree():
    linear = {"rope_type": "linear", "factor": 4.0}
    old = read_config(LLAMA | {"rope_theta": 500.0, "rope_scaling": linear})
    assert old == read_config(LLAMA | {"rope_parameters": linear | {"rope_theta": 500.0}})
    assert old == read_config(LLAMA | {"rope_theta": 500.0, "rope_scaling": {"type": "linear", "factor": 4.0}})
    assert old == read_config(LLAMA | {"rope_theta": 500.0, "rope_scaling": linear, "rope_parameters": linear | {"rope_theta": 500.0}})
    assert old.frequencies == pytest.approx((frequencies(4, base=500.0, dtype=torch.float64) / 4).tolist())


def test_each_part_of_a_config_can_be_read_by_itself():
    reject_unknown(DEEPSEEK)
    assert read_activation(DEEPSEEK) == "silu"
    assert (read_latent(DEEPSEEK).d_c, read_experts(DEEPSEEK).factor) == (8, 2.5)
    assert len(read_rotary(DEEPSEEK, width=4)[0]) == 2
    assert read_rope(DEEPSEEK | {"rope_theta": 500.0, "rope_scaling": {"type": "linear"}}) == {"rope_theta": 500.0, "rope_type": "linear"}
    assert [is_left_out(name=f"model.layers.{layer}.norm", fields=DEEPSEEK) for layer in (1, 2, 3)] == [False, True, False]
    assert read_yarn_factor({"factor": 1.0}) == scale_by({"factor": 1.0, "mscale": 3.0}, name="mscale") == 1
    (name,) = dict(stack_experts({"norm": torch.ones(1)}, DEEPSEEK))
    assert name == "norm"


RAMP = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}


@pytest.mark.parametrize("more", [{"beta_slow": 2.0}, {"beta_fast": 8.0}, {"truncate": False}, {"rope_theta": 500.0}])
def test_each_field_of_yarn_changes_the_frequencies(more):
    wide = LLAMA | {"head_dim": 32}
    assert read_config(wide | {"rope_parameters": RAMP | more}).frequencies != read_config(wide | {"rope_parameters": RAMP}).frequencies


@pytest.mark.parametrize(("change", "window"), [({}, 4096), ({"sliding_window": None}, None), ({"sliding_window": 7}, 7)])
def test_mistrals_window_is_that_of_transformers_unless_given(change, window):
    assert read_config(LLAMA | {"model_type": "mistral"} | change).window == window


YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 128}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, 0.1 * math.log(8) + 1),
        ({"attention_factor": 1.5}, 1.5),
        ({"mscale": 0.5, "mscale_all_dim": 2.0}, (0.05 * math.log(8) + 1) / (0.2 * math.log(8) + 1)),
    ],
)
def test_yarns_factor_is_that_of_the_config(more, expected):
    assert read_config(LLAMA | {"rope_scaling": YARN | more}).rotary_factor == pytest.approx(expected)


def test_deepseek_scales_all_scores():
    fields = DEEPSEEK | {"rope_scaling": YARN | {"mscale": 1.0, "mscale_all_dim": 0.7}}
    assert read_config(fields).latent.scale_factor == pytest.approx((0.07 * math.log(8) + 1) ** 2)
    assert read_config(DEEPSEEK).latent.scale_factor == 1
    plain = {"rope_type": "default", "factor": 8.0, "mscale_all_dim": 0.7}
    assert read_config(DEEPSEEK | {"rope_scaling": plain}).latent.scale_factor == 1


@pytest.mark.parametrize("kind", ["llama3", "yarn"])
def test_the_trained_length_must_be_given(kind):
    rope = {"rope_type": kind, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    with pytest.raises(KeyError, match="original_max_position_embeddings"):
        read_config(LLAMA | {"rope_parameters": rope})


@pytest.mark.parametrize("kind", ["linear", "llama3", "yarn"])
def test_a_factor_must_be_given(kind):
    rope = {"rope_type": kind, "factor": None, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
    with pytest.raises(KeyError, match="factor"):
        read_config(LLAMA | {"rope_parameters": rope})
