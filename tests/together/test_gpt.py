"""The small GPT: with a cache as without, and against a plain composition of PyTorch's own parts."""

import copy
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy, embedding, linear, rms_norm, scaled_dot_product_attention

from snippets.order.causal import Cache
from snippets.order.rotary import apply_rotary
from snippets.together import bound, gpt
from snippets.together.gpt import GPT, Block, CausalSelfAttention, Config, FeedForward, RMSNorm, silu, swiglu
from snippets.together.trained import untrained_gpt

VOCABULARY = 11
FORMATS = (torch.float32, torch.float64)
SIZES = {"grouped": (4, 2), "one for all": (4, 1), "one each": (4, 4)}  # heads of queries, and of keys and values


def small(heads=(4, 2), seed=0, dtype=torch.float64, size=5.0):
    """A model whose weights are large enough that each part matters."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = GPT(Config(VOCABULARY, num_layers=2, num_heads=heads[0], num_kv_heads=heads[1], d=16, d_ff=24))
        for parameter in model.parameters():
            parameter.data = parameter.data * size if parameter.dim() == 2 else torch.rand_like(parameter) + 0.5
    return model.to(dtype)


def drawn(*shape, seed=0):
    return torch.randint(VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


def in_parts(model, tokens, parts):
    """The logits of all tokens, given in parts with the cache handed on."""
    cache, found = None, []
    for part in tokens.split(parts, dim=-1):
        logits, cache = model(part, cache=cache)
        found.append(logits)
    return torch.cat(found, dim=-2)


# With a cache and without it


def apart(model, tokens, parts, compute=in_parts):
    """The largest difference of the last token's logits, as a share of twice the bound, over the rows of a batch."""
    last = compute(model, tokens, parts)[..., -1, :] - model(tokens)[0][..., -1, :]
    rows = tokens.view(-1, tokens.shape[-1])
    bounds = torch.stack([bound.logits_bound(model, row) for row in rows]).view_as(last)
    return (last.abs() / (2 * bounds)).max().item()


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("heads", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize(("shape", "parts"), [((7,), [6, 1]), ((3, 9), [1] * 9), ((2, 2, 8), [3, 1, 4]), ((1, 2), [1, 1])])
def test_with_a_cache_the_logits_are_those_of_all_tokens_at_once(dtype, heads, shape, parts):
    model, tokens = small(heads, dtype=dtype), drawn(*shape)
    assert apart(model, tokens, parts) <= 1


@pytest.mark.parametrize("dtype", FORMATS)
def test_at_every_place_where_the_text_may_be_split(dtype):
    model, tokens = small(dtype=dtype), drawn(8)
    assert max(apart(model, tokens, [place, 8 - place]) for place in range(1, 8)) <= 1


def test_every_row_agrees_and_not_the_last_alone():
    model, tokens = small(), drawn(3, 9)
    torch.testing.assert_close(in_parts(model, tokens, [4, 1, 4]), model(tokens)[0])


def from_zero(model, tokens, parts):
    """The slip: each part counts its positions from zero."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "apply_rotary", lambda x, position: apply_rotary(x, position - position[0]))
        return in_parts(model, tokens, parts)


def not_turned(model, tokens, parts):
    """The slip: keys are kept as they are, and queries are turned."""
    with pytest.MonkeyPatch.context() as patch:
        key_heads = model.blocks[0].attention.num_kv_heads
        patch.setattr(gpt, "apply_rotary", lambda x, position: x if x.shape[-3] == key_heads else apply_rotary(x, position))
        return in_parts(model, tokens, parts)


def upper_left(model, tokens, parts):
    """The slip: the mask's triangle starts at the upper left, as PyTorch's own does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "lower_right", lambda n, m, device=None: torch.ones(n, m, dtype=torch.bool).tril())
        return in_parts(model, tokens, parts)


def fewer_digits(model, tokens, parts):
    """The slip: half of the digits are lost on the way into the cache."""
    less = {torch.float32: torch.float16, torch.float64: torch.float32}[model.embedding.dtype]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "Cache", lambda *kept: Cache(*(each.to(less).to(each.dtype) for each in kept)))
        return in_parts(model, tokens, parts)


# Single precision has too few digits for the last of them: three fewer may stay within the bound.
@pytest.mark.parametrize(
    ("dtype", "slip"),
    [*((dtype, slip) for dtype in FORMATS for slip in (from_zero, not_turned, upper_left)), (torch.float64, fewer_digits)],
)
def test_slips_leave_the_bound(dtype, slip):
    assert apart(small(dtype=dtype), drawn(20, 7), [4, 2, 1], slip) > 1


def test_keys_and_values_of_old_tokens_never_change():
    model, tokens = small(), drawn(2, 9)
    (_, few), (_, all_of_them) = model(tokens[:, :5]), model(tokens)
    for one, other in zip(few, all_of_them):
        torch.testing.assert_close(one.key, other.key[..., :5, :])
        torch.testing.assert_close(one.value, other.value[..., :5, :])
        assert one.key.shape == (2, 2, 5, 4)


def test_generating_with_and_without_the_cache_gives_the_same_tokens():
    model, first = small(), drawn(3, 2)
    runs = [
        model.generate(first, count=12, temperature=temperature, use_cache=use_cache, generator=torch.Generator().manual_seed(3))
        for temperature in (1.0, 0.5)
        for use_cache in (True, False)
    ]
    assert torch.equal(runs[0], runs[1]) and torch.equal(runs[2], runs[3]) and not torch.equal(runs[0], runs[2])
    assert runs[0].shape == (3, 14) and torch.equal(runs[0][:, :2], first) and len(runs[0].unique()) > 2


def test_a_cold_model_says_what_is_likeliest():
    model, tokens = small(), drawn(2, 3)
    more = model.generate(tokens, count=4, temperature=1e-6, generator=torch.Generator().manual_seed(0))
    for place in range(3, 7):
        assert torch.equal(more[:, place], model(more[:, :place])[0][:, -1].argmax(-1))


# What the model is


def plainly(model, tokens):
    """The same from PyTorch's own parts: no snippet of the site's, and no cache."""
    w = model.state_dict()
    n, d = tokens.shape[-1], w["embedding"].shape[1]
    layer = model.blocks[0].attention
    d_k = d // layer.num_heads
    angle = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, d_k, 2) / d_k).double()
    turn = torch.polar(torch.ones_like(angle), angle)

    def turned(x):
        pairs = torch.complex(*x.double().chunk(2, dim=-1)) * turn
        return torch.cat([pairs.real, pairs.imag], dim=-1).to(x.dtype)

    x = embedding(tokens, w["embedding"])
    for i in range(len(model.blocks)):
        b = f"blocks.{i}."
        y = rms_norm(x, (d,), w[b + "norm_1.gain"], eps=1e-5)
        query, key, value = (
            linear(y, w[f"{b}attention.{name}.weight"]).unflatten(-1, (-1, d_k)).transpose(-3, -2) for name in ("query", "key", "value")
        )
        mixed = scaled_dot_product_attention(turned(query), turned(key), value, is_causal=True, enable_gqa=True)
        x = x + linear(mixed.transpose(-3, -2).flatten(-2), w[b + "attention.output.weight"])
        y = rms_norm(x, (d,), w[b + "norm_2.gain"], eps=1e-5)
        f = b + "feed_forward."
        gated = torch.nn.functional.silu(linear(y, w[f + "gate.weight"])) * linear(y, w[f + "up.weight"])
        x = x + linear(gated, w[f + "down.weight"])
    return linear(rms_norm(x, (d,), w["norm.gain"], eps=1e-5), w["embedding"])


@pytest.mark.parametrize("heads", SIZES.values(), ids=SIZES)
def test_it_is_a_plain_composition_of_pytorchs_parts(heads):
    for dtype in FORMATS:
        model, tokens = small(heads, dtype=dtype), drawn(2, 9)
        torch.testing.assert_close(model(tokens)[0], plainly(model, tokens))


def test_no_logit_moves_with_a_later_token():
    model, tokens = small(), drawn(1, 8)
    x = model.embedding.detach()[tokens].requires_grad_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "embed", lambda tokens, table: x)
        logits, _ = model(tokens)
    for place in range(8):
        (slope,) = torch.autograd.grad(logits[0, place].sum(), x, retain_graph=True)
        moved = slope[0].abs().amax(-1) > 0
        assert moved[: place + 1].all() and not moved[place + 1 :].any()


def test_heads_in_groups_are_heads_that_are_repeated():
    grouped, each = small((4, 2)), small((4, 4))
    weights = grouped.state_dict()
    for name in weights:
        if "attention.key" in name or "attention.value" in name:
            weights[name] = weights[name].unflatten(0, (2, 4)).repeat_interleave(2, dim=0).flatten(0, 1)
    each.load_state_dict(weights)
    torch.testing.assert_close(grouped(drawn(2, 9))[0], each(drawn(2, 9))[0])
    assert grouped(drawn(2, 9))[1][0].key.numel() * 2 == each(drawn(2, 9))[1][0].key.numel()


def test_the_distance_counts_and_no_position():
    """The same tokens later on: with no old tokens to see, nothing tells where they stand."""
    attention, x = small().blocks[0].attention, torch.randn(1, 5, 16, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "apply_rotary", lambda x, position: apply_rotary(x, position + 100))
        later, _ = attention(x)
    torch.testing.assert_close(later, attention(x)[0])


def test_swiglu_and_its_gate():
    generator = torch.Generator().manual_seed(0)
    x, W, V = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((2, 5, 3), (3, 7), (3, 7)))
    torch.testing.assert_close(swiglu(x, W, V), torch.nn.functional.silu(x @ W) * (x @ V))
    far = torch.tensor([-1e4, -200.0, 0.0, 200.0, 1e4]).requires_grad_()
    silu(far).sum().backward()
    assert silu(far).tolist() == [0.0, 0.0, 0.0, 200.0, 1e4] and far.grad.tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_gradients_flow_to_every_parameter():
    model, tokens = small(), drawn(2, 9)
    cross_entropy(model(tokens)[0][:, :-1].flatten(0, 1), tokens[:, 1:].flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().max() > 0, name


def test_the_gradient_of_the_tied_table_is_that_of_both_its_uses():
    model, tokens = small(), drawn(1, 9)
    loss = lambda logits: cross_entropy(logits[0, :-1], tokens[0, 1:])
    loss(model(tokens)[0]).backward()
    first, last = (model.embedding.detach().clone().requires_grad_() for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "embed", lambda tokens, table: first[tokens])
        other = copy.deepcopy(model)
        other.embedding = torch.nn.Parameter(last.detach())
        loss(other(tokens)[0]).backward()
    torch.testing.assert_close(model.embedding.grad, first.grad + other.embedding.grad)
    assert min(first.grad.abs().max(), other.embedding.grad.abs().max()) > 0.01


def test_a_cache_of_another_number_of_blocks_is_refused():
    model, tokens = small(), drawn(1, 3)
    with pytest.raises(ValueError, match="shorter"):
        model(tokens, cache=model(tokens)[1][:1])


def test_each_part_by_itself():
    config = Config(VOCABULARY, num_layers=1, num_heads=4, num_kv_heads=2, d=16, d_ff=24)
    x = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    norm, attention, forward, block = RMSNorm(16), CausalSelfAttention(config), FeedForward(config), Block(config)
    torch.testing.assert_close(norm(x), rms_norm(x, (16,), eps=1e-5))
    torch.testing.assert_close(forward(x), forward.down(torch.nn.functional.silu(forward.gate(x)) * forward.up(x)))
    first, cache = attention(x[:, :1])  # the first token sees itself alone
    value = attention.value(x[:, :1]).unflatten(-1, (2, 4)).repeat_interleave(2, dim=-2).flatten(-2)
    torch.testing.assert_close(first, attention.output(value))
    assert cache.key.shape == cache.value.shape == (2, 2, 1, 4)
    y = x + block.attention(block.norm_1(x))[0]
    torch.testing.assert_close(block(x)[0], y + block.feed_forward(block.norm_2(y)))


@pytest.mark.parametrize("use_cache", [True, False])
def test_tokens_without_a_batch_go_on_as_a_batch_of_one(use_cache):
    model, first = small(), drawn(3)
    alone, one = (
        model.generate(tokens, count=6, use_cache=use_cache, generator=torch.Generator().manual_seed(3)) for tokens in (first, first[None])
    )
    assert torch.equal(alone, one[0]) and alone.shape == (9,)


@pytest.mark.parametrize(("n", "temperature"), [(0, 1.0), (3, 0.0), (3, -1.0)])
def test_what_nothing_can_follow_is_refused(n, temperature):
    with pytest.raises(ValueError, match="expected a token, and a temperature above 0"):
        small().generate(drawn(2, n), count=1, temperature=temperature)


# Its sizes


SIZED = dict(vocab_size=11, num_layers=2, num_heads=6, num_kv_heads=3, d=24, d_ff=5)


@pytest.mark.parametrize("name", SIZED)
@pytest.mark.parametrize("size", [0, -1])
def test_a_size_below_one_is_refused(name, size):
    with pytest.raises(ValueError, match=rf"expected sizes of 1 or more, found Config\(.*{name}={size}\b"):
        Config(**SIZED | {name: size})


@pytest.mark.parametrize("num_kv_heads", range(1, 14))
def test_heads_are_shared_in_groups_of_one_size_or_refused(num_kv_heads):
    sizes = SIZED | {"num_kv_heads": num_kv_heads}
    if num_kv_heads in (1, 2, 3, 6):
        model, tokens = GPT(Config(**sizes)), drawn(2, 3)
        assert model(tokens)[0].shape == (2, 3, 11)
    else:
        with pytest.raises(
            ValueError, match=rf"num_kv_heads does not divide num_heads: Config\(.*num_heads=6, num_kv_heads={num_kv_heads},"
        ):
            Config(**sizes)


@pytest.mark.parametrize("d", range(1, 40))
def test_a_head_has_pairs_of_features_to_turn_or_is_refused(d):
    if d % 12 == 0:
        model = GPT(Config(**SIZED | {"d": d}))
        assert model(drawn(2, 3))[1][0].key.shape == (2, 3, 3, d // 6)
    else:
        with pytest.raises(ValueError, match=rf"2 \* num_heads does not divide d: Config\(.*num_heads=6, .*d={d},"):
            Config(**SIZED | {"d": d})


def test_the_smallest_model_of_all():
    model = GPT(Config(vocab_size=1, num_layers=1, num_heads=1, num_kv_heads=1, d=2, d_ff=1))
    assert model.generate(torch.zeros(1, dtype=torch.long), count=2).tolist() == [0, 0, 0]


def test_the_file_has_at_most_200_lines():
    assert len(Path(gpt.__file__).read_text(encoding="utf-8").splitlines()) <= 200


def test_all_matrices_are_drawn_small_and_those_that_are_added_on_smaller():
    """As GPT-2 draws them: deviations of 0.02, and over the root of twice the layers where a part adds to the tokens."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = GPT(Config(vocab_size=200, num_layers=8, num_heads=4, num_kv_heads=2, d=64, d_ff=96))
    for name, weight in model.named_parameters():
        if "norm" in name:
            assert (weight == 1).all()
        else:
            expected = 0.02 / 4 if name.endswith(("output.weight", "down.weight")) else 0.02
            assert weight.std().item() == pytest.approx(expected, rel=0.1) and abs(weight.mean().item()) < expected / 10, name


def test_every_linear_layer_is_called():
    """An adapter that takes a layer's place, a hook, and what is quantised would be passed over otherwise."""
    model, seen = small(), set()
    layers = {name: layer for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)}
    for name, layer in layers.items():
        layer.register_forward_hook(lambda *_, name=name: seen.add(name))
    model(torch.tensor([[1, 2, 3]]))
    assert seen == set(layers) and len(layers) == 14


def test_sizes_in_the_text():
    attention = untrained_gpt().blocks[0].attention
    assert attention.query.weight.shape == (96, 96) and attention.key.weight.shape == attention.value.weight.shape == (48, 96)
    assert (attention.num_heads, attention.num_kv_heads) == (4, 2)  # 96 / 4 and 48 / 2 are 24
