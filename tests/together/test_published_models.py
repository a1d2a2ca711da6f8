"""Models of transformers with small random parameters, against the decoder of this site.

They need the packages of the group `models`; `make models` installs them.
"""

import importlib

import pytest
import torch

from snippets.together.checkpoints import load_decoder

SIZES = {"vocab_size": 61, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4}
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 0.7}
TRAINED = {"original_max_position_embeddings": 64}
DEEPSEEK = {
    "num_key_value_heads": 4,
    "max_position_embeddings": 256,
    "moe_intermediate_size": 24,
    "n_routed_experts": 8,
    "n_group": 4,
    "topk_group": 2,
    "num_experts_per_tok": 3,
    "first_k_dense_replace": 1,
    "q_lora_rank": 20,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "v_head_dim": 12,
}
MODELS = {
    "Llama": ("Llama", {"num_key_value_heads": 2}),
    "Llama, untied": ("Llama", {"num_key_value_heads": 2, "tie_word_embeddings": False, "rms_norm_eps": 1e-2}),
    "Llama with biases": ("Llama", {"num_key_value_heads": 4, "attention_bias": True, "mlp_bias": True}),
    "Llama 3": ("Llama", {"num_key_value_heads": 2, "head_dim": 16, "rope_parameters": LLAMA_3 | TRAINED}),
    "Mistral": ("Mistral", {"num_key_value_heads": 2, "head_dim": 16, "sliding_window": 5}),
    "Mistral without a window": ("Mistral", {"num_key_value_heads": 2, "sliding_window": None}),
    "Gemma": ("Gemma", {"num_key_value_heads": 1, "head_dim": 16}),
    "DeepSeek-V3": ("DeepseekV3", DEEPSEEK),
    "DeepSeek-V3 with YaRN": ("DeepseekV3", DEEPSEEK | {"rope_parameters": YARN | TRAINED}),
    "DeepSeek-V3 without query compression": ("DeepseekV3", DEEPSEEK | {"q_lora_rank": None, "norm_topk_prob": False}),
}
TOLERANCE = {"atol": 1e-5, "rtol": 0}


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def both(request, models):
    """A model of transformers, and ours with its parameters."""
    transformers = importlib.import_module("transformers")
    name, options = request.param
    config = getattr(transformers, f"{name}Config")(**SIZES | options, attn_implementation="eager")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        theirs = getattr(transformers, f"{name}ForCausalLM")(config).eval().requires_grad_(False)
        for name, tensor in theirs.state_dict().items():
            if tensor.dim() > 1:
                tensor.normal_(std=0.12)
            elif name.endswith("bias"):
                tensor.uniform_(-0.1, 0.1)
            else:
                tensor.uniform_(0.5, 1.5)
    return theirs, load_decoder(theirs.config.to_dict(), theirs.state_dict())


def drawn(*shape):
    return torch.randint(1, 61, shape, generator=torch.Generator().manual_seed(0))


def padded_on_the_left():
    keep = torch.ones(3, 40, dtype=torch.bool)
    keep[1, :7] = False
    keep[2, :30] = False
    return keep, (keep.long().cumsum(-1) - 1).clamp(min=0)


def test_logits_agree(both):
    theirs, ours = both
    tokens = drawn(2, 40)
    expected = theirs(tokens).logits
    assert expected.std() > 0.3  # large enough for the tolerance to mean something
    torch.testing.assert_close(ours(tokens), expected, **TOLERANCE)


def test_logits_agree_with_padding_on_the_left_and_with_a_cache(both):
    theirs, ours = both
    tokens, (keep, position) = drawn(3, 40), padded_on_the_left()
    expected = theirs(tokens, attention_mask=keep.long(), position_ids=position).logits
    torch.testing.assert_close(ours(tokens, keep=keep)[keep], expected[keep], **TOLERANCE)
    cache, start, found = ours.make_cache(40), 0, []
    for part in tokens.split([12, 1, 1, 20, 6], dim=-1):
        start += part.shape[-1]
        found.append(ours(part, keep=keep[:, :start], cache=cache))
    torch.testing.assert_close(torch.cat(found, dim=1)[keep], expected[keep], **TOLERANCE)


def test_greedy_texts_agree(both):
    theirs, ours = both
    tokens, (keep, _) = drawn(3, 40), padded_on_the_left()
    expected = theirs.generate(tokens, attention_mask=keep.long(), do_sample=False, max_new_tokens=6, eos_token_id=None, pad_token_id=0)
    assert torch.equal(ours.generate(tokens, keep=keep, count=6, temperature=0), expected)
