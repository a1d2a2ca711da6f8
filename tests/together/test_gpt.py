"""The small GPT: with a cache as without, against a plain composition of PyTorch's own parts, and trained as it is stored."""

import copy
import json
from math import log

import pytest
import torch
from torch.nn.functional import cross_entropy, embedding, linear, rms_norm, scaled_dot_product_attention

from snippets.order.causal import Cache
from snippets.order.positions import frequencies
from snippets.order.rotary import rotate
from snippets.together import bound, gpt, text, train, trained
from snippets.together.gpt import GPT, Config, silu, swiglu

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
        logits, cache = model(part, cache)
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
        patch.setattr(gpt, "rotate", lambda x, position: rotate(x, position - position[0]))
        return in_parts(model, tokens, parts)


def not_turned(model, tokens, parts):
    """The slip: keys are kept as they are, and queries are turned."""
    with pytest.MonkeyPatch.context() as patch:
        key_heads = model.blocks[0].attention.num_kv_heads
        patch.setattr(gpt, "rotate", lambda x, position: x if x.shape[-3] == key_heads else rotate(x, position))
        return in_parts(model, tokens, parts)


def upper_left(model, tokens, parts):
    """The slip: the mask's triangle starts at the upper left, as PyTorch's own does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpt, "lower_right", lambda n, m: torch.ones(n, m, dtype=torch.bool).tril())
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
        model.generate(first, 12, temperature=temperature, use_cache=use_cache, generator=torch.Generator().manual_seed(3))
        for temperature in (1.0, 0.5)
        for use_cache in (True, False)
    ]
    assert torch.equal(runs[0], runs[1]) and torch.equal(runs[2], runs[3]) and not torch.equal(runs[0], runs[2])
    assert runs[0].shape == (3, 14) and torch.equal(runs[0][:, :2], first) and len(runs[0].unique()) > 2


def test_a_cold_model_says_what_is_likeliest():
    model, tokens = small(), drawn(2, 3)
    more = model.generate(tokens, 4, temperature=1e-6, generator=torch.Generator().manual_seed(0))
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
        patch.setattr(gpt, "rotate", lambda x, position: rotate(x, position + 100))
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


def test_an_untrained_model_guesses():
    torch.manual_seed(0)
    model = trained.small()
    tokens, following = text.in_blocks(text.parts()[0][: 4 * text.LENGTH + 1])
    loss = cross_entropy(model(tokens)[0].flatten(0, 1), following.flatten()).item()
    assert loss == pytest.approx(log(len(text.vocabulary())), abs=0.05)


def test_a_cache_of_another_number_of_blocks_is_refused():
    model, tokens = small(), drawn(1, 3)
    with pytest.raises(ValueError, match="shorter"):
        model(tokens, model(tokens)[1][:1])


# The text


def test_encoding_and_back():
    line = text.text()[:200]
    assert text.decode(text.encode(line)) == line and text.encode(line).max() < len(text.vocabulary())


def test_the_held_out_part_is_the_last_tenth_and_was_not_trained_on():
    training, held_out = text.parts()
    assert training + held_out == text.text() and len(held_out) == pytest.approx(len(text.text()) / 10, abs=1)
    tokens, following = text.in_blocks(held_out)
    assert torch.equal(tokens.flatten()[1:], following.flatten()[:-1]) and tokens.shape[1] == text.LENGTH
    assert text.decode(tokens[0]) == held_out[: text.LENGTH]


def test_counting_is_a_distribution_and_the_count_of_the_page(monkeypatch):
    monkeypatch.setattr(text, "parts", lambda: ("abab", "ab" * text.LENGTH))
    monkeypatch.setattr(text, "vocabulary", lambda: ["a", "b"])
    mix = text.MIX
    # In "abab" half is a; after a always comes b; after b an a came once, and the last b is followed by nothing.
    after_a, after_b = (2 + mix * 0.5) / (2 + mix), (1 + mix * 0.5) / (1 + mix)
    assert text.counting_loss(2) == pytest.approx(-(log(after_a) + log(after_b)) / 2)
    assert text.counting_loss(1) == pytest.approx(log(2))


def test_a_file_that_training_did_not_write_is_refused(tmp_path, monkeypatch):
    (tmp_path / "text.txt").write_text("Another text.")
    monkeypatch.setattr(text, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="text.txt is not the file that training wrote; train again"):
        text.stored("text.txt")


def test_prose_is_taken_from_a_page():
    page = "---\na: b\n---\n# One\n\nTwo [words](x.md) of\n$d_k$.\n\n/// claim | a#b\n///\n\n```python\ncode\n```\n\n- an item\n"
    assert train.plain(page) == "One\nTwo words of d_k.\nan item\n"


# What was trained


def kept():
    return json.loads(text.stored("curve.json"))


def test_the_files_are_small():
    sizes = {name: (text.FOLDER / name).stat().st_size for name in ("text.txt", "weights.fp16", "curve.json")}
    assert sizes["text.txt"] <= 300_000 and sizes["weights.fp16"] <= 500_000 and sizes["curve.json"] <= 50_000
    assert sizes["weights.fp16"] == 2 * sum(parameter.numel() for parameter in trained.load().parameters())


def test_the_stored_weights_give_the_stored_loss_which_is_well_under_a_bigram_models():
    loss = text.held_out_loss(trained.load())
    assert loss == pytest.approx(kept()["held out"][str(train.STEPS)], abs=0.002)  # they are rounded to half precision
    assert loss < 0.7 * text.counting_loss(2) and text.counting_loss(2) < 0.8 * text.counting_loss(1)


def test_the_first_steps_of_training_are_those_of_the_stored_run_and_lower_the_loss():
    model, losses, held_out = train.train(4)
    assert losses == pytest.approx(kept()["training"][:4], abs=2e-3) and losses[3] < losses[0] - 0.2
    assert held_out[0] == pytest.approx(kept()["held out"]["0"], abs=1e-3)
    assert train.train(1, seed=1)[1][0] != losses[0]
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_what_training_writes_is_what_is_read(tmp_path, monkeypatch, capsys):
    (tmp_path / "text.txt").write_bytes(text.stored("text.txt"))
    monkeypatch.setattr(train, "FOLDER", tmp_path)
    model = trained.load()
    train.write(model, [2.5, 2.25], {0: 4.5})
    assert (tmp_path / "weights.fp16").read_bytes() == text.stored("weights.fp16")
    assert (tmp_path / "stored.py").read_text().count('": "') == 3
    assert json.loads((tmp_path / "curve.json").read_text()) == {"training": [2.5, 2.25], "held out": {"0": 4.5}}
    assert not train.differ(model) and "parameters differ by 0.0e+00" in capsys.readouterr().out
    assert train.differ(trained.small())


def test_it_writes_words_of_the_text():
    written = trained.write("The ", 120)
    assert written.startswith("The ") and len(written) == 124
    words = set(text.text().split())
    found = [word in words for word in written.split()[:-1]]
    assert sum(found) > 0.7 * len(found)


# The bound


def test_the_bound_covers_what_single_precision_loses():
    """Against double precision, whose own rounding is a billionth of that. The angles of both are the same."""
    for seed in range(5):
        model, tokens = small(seed=seed, dtype=torch.float32), drawn(12, seed=seed)
        error = (model(tokens)[0][-1] - copy.deepcopy(model).double()(tokens)[0][-1]).abs()
        assert (error <= bound.logits_bound(model, tokens)).all()


def test_the_bound_looks_at_the_model_that_computes():
    model, tokens = small(), drawn(9)
    sites = bound.Sites(torch.float64)
    x = model.embedding.detach()[tokens].requires_grad_()
    for block in model.blocks:
        x = bound.through_block(sites, x, block)
    torch.testing.assert_close(sites.project(bound.normalise(sites, x, model.norm.gain), model.embedding), model(tokens)[0])
    assert len(sites.numbers) == 2 * 17 + 2


def test_the_bound_counts_roundings_times_slopes():
    sites = bound.Sites(torch.float32)
    x = torch.tensor([3.0], dtype=torch.float64).requires_grad_()
    y = sites.rounded(x * 5, 1)
    z = sites.rounded(y * y, 2)
    u = 2.0**-24
    assert sites.bound(z).item() == pytest.approx(u * 15 * 30 + 2 * u * 225, rel=1e-6)
    assert frequencies(4).dtype == torch.float64
