"""The decoder: padding, caches, options against what is written out here, and generation."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention, silu

from snippets.around.layernorm import rms_norm
from snippets.order.positions import frequencies
from snippets.order.rotary import apply_rotary
from snippets.together.decoder import (
    Decoder,
    DecoderBlock,
    DecoderConfig,
    DecoderFeedForward,
    decoder_parameters,
    gelu_tanh,
    make_norm,
    score_with_factor,
)
from snippets.together.gpt import GPT, Config, RMSNorm
from snippets.together.latent import LatentWidths
from snippets.together.routed import RoutedExperts, RoutedSizes

VOCABULARY = 13
SIZES = {"vocab_size": VOCABULARY, "num_layers": 2, "d": 16, "d_ff": 24, "num_heads": 4}
LATENT = LatentWidths(d_k=4, d_v=6, d_R=4, d_c=8, d_q=10)
EXPERTS = RoutedSizes(num_experts=4, k=2, d_ff=8, num_groups=2, kept_groups=1)
KINDS = {
    "grouped": {"num_kv_heads": 2},
    "window": {"window": 3},
    "wide heads": {"d_k": 6, "num_kv_heads": 1},
    "layer norm": {"norm": "layer", "bias": True, "gated": False, "activation": "gelu_tanh", "tied": False},
    "latent": {"latent": LATENT},
    "experts": {"latent": LATENT, "experts": EXPERTS, "dense_layers": 1},
}
kinds = pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)


def decoder(seed=0, dtype=torch.float64, **options):
    """A decoder whose parameters are large enough that each part matters."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Decoder(DecoderConfig(**SIZES | options)).to(dtype)
        for parameter in model.parameters():
            parameter.data = 0.4 * torch.randn_like(parameter) + (parameter.dim() == 1)
    return model.requires_grad_(False)


def drawn(*shape, seed=0):
    return torch.randint(VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


# Padding, and the cache


@kinds
def test_padding_on_the_left_changes_nothing(options):
    model, tokens = decoder(**options), drawn(1, 5)
    padded = torch.cat([drawn(1, 3, seed=1), tokens], dim=-1)
    keep = torch.arange(8)[None] >= 3
    torch.testing.assert_close(model(padded, keep=keep)[:, 3:], model(tokens))
    assert not torch.allclose(model(padded)[:, 3:], model(tokens))


@kinds
@pytest.mark.parametrize("parts", [[6, 1, 2], [1] * 9, [9]])
def test_the_cache_gives_the_logits_of_all_tokens_at_once(options, parts):
    model, tokens = decoder(**options), drawn(2, 9)
    keep = torch.ones(2, 9, dtype=torch.bool)
    keep[1, :4] = False
    cache, start, found = model.make_cache(9), 0, []
    for part in tokens.split(parts, dim=-1):
        start += part.shape[-1]
        found.append(model(part, keep=keep[:, :start], cache=cache))
    torch.testing.assert_close(torch.cat(found, dim=1)[keep], model(tokens, keep=keep)[keep])


def test_without_keep_nothing_is_padding():
    model, tokens = decoder(), drawn(2, 6)
    assert torch.equal(model(tokens), model(tokens, keep=torch.ones(2, 6, dtype=torch.bool)))


def test_a_mask_of_the_new_tokens_alone_is_rejected():
    model, cache = decoder(), decoder().make_cache(6)
    model(drawn(1, 4), cache=cache)
    with pytest.raises(ValueError, match=r"keep is \(1, 1\); expected \(batch, 5\), since 4 tokens are in the cache and 1 are new"):
        model(drawn(1, 1), keep=torch.ones(1, 1, dtype=torch.bool), cache=cache)


def test_keep_is_for_each_text_and_is_bool():
    model, tokens = decoder(), drawn(2, 3)
    with pytest.raises(ValueError, match=r"keep is \(3, 3\); expected \(batch, 3\)"):
        model(tokens, keep=torch.ones(3, 3, dtype=torch.bool))
    for dtype in (torch.float32, torch.int64):
        keep = torch.ones(2, 3, dtype=dtype)
        for call in (model, lambda tokens, keep: model.generate(tokens, count=1, keep=keep)):
            with pytest.raises(TypeError, match=rf"keep is {dtype}; expected torch.bool"):
                call(tokens, keep=keep)


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_a_cache_of_other_layers_is_rejected(layers):
    cache = decoder(num_layers=layers).make_cache(3)
    with pytest.raises(ValueError, match=rf"cache is for {layers} layers; expected 2, as from make_cache"):
        decoder()(drawn(2, 3), cache=cache)


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_has_a_token(window):
    with pytest.raises(ValueError, match=f"window is {window}; expected at least 1"):
        DecoderConfig(**SIZES, window=window)


@pytest.mark.parametrize("held", [0, 2])
def test_a_pass_without_tokens_is_rejected(held):
    model, cache = decoder(), decoder().make_cache(4)
    if held:
        model(drawn(2, held), cache=cache)
    with pytest.raises(ValueError, match="tokens is empty; expected at least one"):
        model(drawn(2, 0), cache=cache)


# The options


def test_by_default_it_computes_what_the_small_gpt_does():
    small = GPT(Config(VOCABULARY, num_layers=2, num_heads=4, num_kv_heads=2, d=16, d_ff=24)).double().requires_grad_(False)
    model, tokens = decoder(num_kv_heads=2), drawn(2, 7)
    state = model.state_dict()
    state["embedding"] = state.pop("embedding.weight")
    small.load_state_dict(state)
    torch.testing.assert_close(model(tokens), small(tokens)[0])


def written_out(model, tokens):
    """The logits of a decoder with one layer, with PyTorch's own attention."""
    config, state = model.config, model.state_dict()
    get = lambda name: state[f"blocks.0.{name}"]  # noqa: E731
    rms = config.norm == "rms"

    def norm(x, name):
        if rms:
            return rms_norm(x, eps=config.eps) * state[f"{name}.gain"]
        return layer_norm(x, (config.d,), state[f"{name}.weight"], state[f"{name}.bias"], config.eps)

    def project(x, name):
        return linear(x, get(f"{name}.weight"), state.get(f"blocks.0.{name}.bias"))

    n, h = tokens.shape[-1], config.num_heads
    x = state["embedding.weight"][tokens] * config.embedding_scale
    inside = norm(x, "blocks.0.norm_1")
    split = [project(inside, f"attention.{name}").unflatten(-1, (-1, config.d_k or config.d // h)).transpose(1, 2) for name in PROJECTED]
    query, key = (config.rotary_factor * apply_rotary(one, torch.arange(n), base=config.base) for one in split[:2])
    distance = torch.arange(n)[:, None] - torch.arange(n)
    mask = (distance >= 0) & (distance < (config.window or n))
    mixed = scaled_dot_product_attention(query, key, split[2], attn_mask=mask, enable_gqa=True)
    x = x + project(mixed.transpose(1, 2).flatten(-2), "attention.output")
    inside = norm(x, "blocks.0.norm_2")
    if config.gated:
        hidden = silu(project(inside, "feed_forward.gate")) * project(inside, "feed_forward.up")
    else:
        hidden = gelu(project(inside, "feed_forward.up"), approximate="tanh")
    x = norm(x + project(hidden, "feed_forward.down"), "norm")
    return x @ (state["embedding.weight"] if config.tied else state["head.weight"]).T


PROJECTED = "query", "key", "value"


@pytest.mark.parametrize(
    "options",
    [
        *(KINDS[name] for name in ("grouped", "window", "wide heads", "layer norm")),
        {"eps": 0.5},
        {"base": 10.0},
        {"tied": False},
        {"embedding_scale": 3.0},
        {"rotary_factor": 2.0},
        {"norm": "layer", "eps": 0.5},
    ],
)
def test_each_option_does_what_is_written_out_here(options):
    model, tokens = decoder(num_layers=1, **options), drawn(2, 7)
    torch.testing.assert_close(model(tokens), written_out(model, tokens))


def test_the_parts_follow_the_config():
    plain = DecoderConfig(**SIZES, **KINDS["layer norm"])
    block = DecoderBlock(plain)
    assert isinstance(block.norm_1, nn.LayerNorm) and isinstance(make_norm(DecoderConfig(**SIZES)), RMSNorm)
    assert isinstance(block.feed_forward, DecoderFeedForward) and block.feed_forward.gate is None
    x = torch.linspace(-3, 3, 7)
    torch.testing.assert_close(gelu_tanh(x), gelu(x, approximate="tanh"))
    sparse = DecoderConfig(**SIZES, **KINDS["experts"])
    assert [type(DecoderBlock(sparse, layer=layer).feed_forward) for layer in (0, 1)] == [DecoderFeedForward, RoutedExperts]


def test_frequencies_of_its_own_replace_those_of_the_base():
    omega = tuple(frequencies(4, base=10.0, dtype=torch.float64).tolist())
    other, tokens = decoder(frequencies=omega), drawn(2, 7)
    torch.testing.assert_close(other(tokens), decoder(base=10.0)(tokens))
    partly = decoder(frequencies=omega[:1])(tokens)  # one pair is rotated, the other not
    assert not torch.allclose(partly, other(tokens))


@pytest.mark.parametrize(("name", "value"), [("norm", "batch"), ("activation", "tanh")])
def test_unknown_names_are_rejected(name, value):
    with pytest.raises(ValueError, match=f"{name} is '{value}'; expected one of"):
        DecoderConfig(**SIZES, **{name: value})


def test_angles_keep_their_precision_in_half_precision():
    """Frequencies are no buffer, which `.half()` would round."""
    model, tokens = decoder(dtype=torch.float32, d=64), drawn(1, 400)
    keep = torch.ones_like(tokens, dtype=torch.bool)
    rotation = model.bfloat16().find_rotation(keep[:, None], torch.zeros(1, 1, 64, dtype=torch.bfloat16))
    expected = torch.cos(399 * frequencies(16, dtype=torch.float64))
    torch.testing.assert_close(rotation.cosines.flatten().double(), expected, atol=1e-4, rtol=0)


# Generation


def test_at_temperature_zero_each_token_is_the_likeliest_with_or_without_padding():
    model, prompt = decoder(), drawn(1, 4)
    expected = prompt
    for _ in range(5):
        expected = torch.cat([expected, model(expected)[:, -1:].argmax(-1)], dim=-1)
    assert torch.equal(model.generate(prompt, count=5, temperature=0), expected)
    padded, keep = torch.cat([drawn(1, 2, seed=3), prompt], dim=-1), torch.arange(6)[None] >= 2
    assert torch.equal(model.generate(padded, count=5, temperature=0, keep=keep)[:, 2:], expected)


def test_generation_ends_and_pads_with_the_end():
    model, prompts = decoder(), drawn(2, 4)
    free = model.generate(prompts, count=6, temperature=0)
    end = free[0, 5].item()  # the second new token of the first text
    found = model.generate(prompts, count=6, temperature=0, end=end)
    for before, after in zip(free[:, 4:].tolist(), found[:, 4:].tolist()):
        stop = before.index(end) + 1 if end in before else len(before)
        assert after == before[:stop] + [end] * (len(after) - stop)


def test_a_text_that_has_ended_stays_ended():
    """Whatever the model says afterwards: here all logits but one are lower, and the likeliest token changes with each step."""
    model, prompts = decoder(), drawn(3, 4)
    free = model.generate(prompts, count=8, temperature=0)
    for end in range(VOCABULARY):
        for row in model.generate(prompts, count=8, temperature=0, end=end)[:, 4:].tolist():
            first = row.index(end) if end in row else len(row)
            assert set(row[first:]) <= {end}
    assert free.shape == (3, 12)


def test_generation_applies_top_p():
    model, prompt = decoder(), drawn(1, 4)
    likeliest = model.generate(prompt, count=5, temperature=0)
    assert torch.equal(model.generate(prompt, count=5, temperature=3.0, top_p=1e-9), likeliest)
    assert torch.equal(model.generate(prompt, count=5, temperature=3.0, top_k=1), likeliest)


def test_latent_attention_has_frequencies_for_its_rotated_features():
    config = DecoderConfig(**SIZES, latent=LatentWidths(d_k=4, d_v=6, d_R=8, d_c=8))
    assert len(config.omega()) == 4


def test_experts_come_from_the_kept_groups_even_if_all_scores_are_negative():
    layer = RoutedExperts(d=4, sizes=RoutedSizes(num_experts=4, k=2, d_ff=3, num_groups=2, kept_groups=1)).double()
    layer.bias -= 5  # every score plus its bias is below 0, the value of a hidden one if it were 0
    x = torch.randn(50, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    best = layer.router(x).sigmoid().unflatten(-1, (2, 2)).sum(-1).argmax(-1, keepdim=True)
    assert torch.equal(layer.route(x)[1] // 2, best.expand(50, 2))


def test_the_router_computes_in_single_precision():
    layer = RoutedExperts(d=64, sizes=RoutedSizes(num_experts=8, k=2, d_ff=3))
    layer.router.weight.data = layer.router.weight.data.bfloat16().float()
    x = torch.randn(2000, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    expected = layer.route(x.float())[1]
    layer.router.bfloat16()
    assert torch.equal(layer.route(x)[1], expected)


def test_generation_stops_when_all_texts_have_ended():
    model, prompt = decoder(), drawn(1, 4)
    end = model.generate(prompt, count=1, temperature=0)[0, -1].item()
    assert model.generate(prompt, count=50, temperature=0, end=end).shape == (1, 5)


def test_generation_follows_its_generator_and_keeps_no_graph():
    model, prompt = decoder().requires_grad_(True), drawn(1, 4)
    one, two, other = (model.generate(prompt, count=20, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(one, two) and not torch.equal(one, other)


@pytest.mark.parametrize("row", [[True, True, False, False], [False] * 4])
def test_padding_on_the_right_is_rejected(row):
    keep = torch.tensor([[True] * 4, row])
    with pytest.raises(ValueError, match=r"keep is False for the last token of a prompt; .* pad on the left"):
        decoder().generate(drawn(2, 4), count=1, keep=keep)


def test_several_ends_are_rejected():
    with pytest.raises(TypeError, match=r"end is \[1, 2\]; expected one token"):
        decoder().generate(drawn(1, 4), count=1, end=[1, 2])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"kept_groups": 3}, "kept_groups is 3; expected 1 to 2"),
        ({"kept_groups": 0}, "kept_groups is 0; expected 1 to 2"),
        ({"k": 3}, "k is 3; expected 1 to 2"),
        ({"k": 5, "kept_groups": 2}, "k is 5; expected 1 to 4"),
        ({"k": 0}, "k is 0; expected 1 to 2"),
        ({"num_groups": 3}, "3 groups do not divide 4 experts"),
    ],
)
def test_a_token_has_no_more_experts_than_there_are(sizes, message):
    with pytest.raises(ValueError, match=message):
        RoutedSizes(**{"num_experts": 4, "k": 1, "d_ff": 3, "num_groups": 2} | sizes)


def test_an_empty_prompt_is_rejected():
    with pytest.raises(ValueError, match="tokens is empty"):
        decoder().generate(drawn(1, 0), count=1)


# Counts, and the factor


@pytest.mark.parametrize("options", [{"num_kv_heads": 2}, {"d_k": 6, "num_kv_heads": 1}])
def test_the_count_of_parameters_is_that_of_the_model(options):
    model, heads = decoder(**options), options["num_kv_heads"]
    sizes = VOCABULARY, 2, 16, 24, 4, heads, options.get("d_k", 4)
    assert decoder_parameters(*sizes) == sum(parameter.numel() for parameter in model.parameters())


def test_a_factor_on_rotated_features_is_squared_in_their_score():
    query, key = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(score_with_factor(query, key, factor=3.0), 9 * (query * key).sum(-1))


def test_a_copy_of_the_model_gives_the_same_logits():
    model, tokens = decoder(**KINDS["experts"]), drawn(2, 6)
    assert torch.equal(copy.deepcopy(model)(tokens), model(tokens))
