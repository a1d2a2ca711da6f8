"""Measuring the heads of an encoder. To make the stored numbers again, the tests need the packages of the group `models`."""

import pytest
import torch

from snippets.attention.formula import attention_weights
from snippets.seeing import measure as module
from snippets.seeing.atlas import SENTENCE, SHOWN, read_atlas
from snippets.seeing.measure import (
    TOLERANCE,
    _furthest,
    _main,
    follow_token,
    hash_model,
    measure,
    measure_heads,
    measure_pruning,
    read_head,
)
from snippets.seeing.one_token import head_writes, shares_of_sum
from snippets.together.encoder import load_encoder, minilm_tokens, without_head

D, HEADS, BLOCKS = 6, 2, 2
FIELDS = {"num_hidden_layers": BLOCKS, "num_attention_heads": HEADS, "layer_norm_eps": 1e-12}
TOKENS, KEEP = torch.tensor([[1, 2, 3, 4, 5]]), torch.ones(1, 5, dtype=torch.bool)


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def small_encoder():
    """An encoder of two blocks with random parameters, for 9 tokens and 7 positions."""
    outside = {"word_embeddings": (9, D), "position_embeddings": (7, D), "token_type_embeddings": (2, D)}
    inside = {f"attention.self.{name}": (D, D) for name in ("query", "key", "value")}
    inside |= {"attention.output.dense": (D, D), "intermediate.dense": (8, D), "output.dense": (D, 8)}
    inside |= {"attention.output.LayerNorm": (D,), "output.LayerNorm": (D,)}
    shapes = {f"embeddings.{name}.weight": shape for name, shape in outside.items()}
    shapes |= {f"embeddings.LayerNorm.{kind}": (D,) for kind in ("weight", "bias")}
    for block in range(BLOCKS):
        for name, shape in inside.items():
            shapes |= {f"encoder.layer.{block}.{name}.weight": shape, f"encoder.layer.{block}.{name}.bias": shape[:1]}
    return load_encoder(FIELDS, {name: draw(*shape, seed=seed) for seed, (name, shape) in enumerate(shapes.items())})


def test_the_measures_of_heads_are_those_of_each_head():
    encoder = small_encoder()
    states = [state[0] for state in encoder.hidden_states(TOKENS, KEEP)]
    weights, measures = measure_heads(encoder, states)
    assert {rows.shape for rows in measures.values()} == {(BLOCKS, HEADS)}
    torch.testing.assert_close(weights, torch.stack([encoder.weights_of_block(states[block], block=block) for block in range(BLOCKS)]))
    torch.testing.assert_close(measures["first token"], weights[..., 0].mean(-1))
    bias = encoder.blocks[1]["self_attn.in_proj_bias"][D : 2 * D]
    torch.testing.assert_close(measures["length of the key bias"][1, 1], bias[D // 2 :].norm())


def test_a_head_is_read_from_its_layer():
    encoder = small_encoder()
    states = [state[0] for state in encoder.hidden_states(TOKENS, KEEP)]
    read = read_head(encoder, TOKENS, states, words=list("abcde"), block=1, head=1)
    assert read.numbers.tolist() == TOKENS[0].tolist()
    torch.testing.assert_close(read.rows, encoder.embeddings["token"][1:6, :SHOWN])
    torch.testing.assert_close(attention_weights(read.query, read.key), encoder.weights_of_block(states[1], block=1)[1])
    value = encoder.blocks[1]["self_attn.in_proj_weight"][2 * D :] @ states[1][4] + encoder.blocks[1]["self_attn.in_proj_bias"][2 * D :]
    torch.testing.assert_close(read.value[4], value[D // HEADS :])


def test_a_token_is_followed_through_all_blocks():
    encoder = small_encoder()
    states = [state[0] for state in encoder.hidden_states(TOKENS, KEEP)]
    found = follow_token(encoder, states, token=3, block=1)
    torch.testing.assert_close(found.lengths[:, 0], torch.stack(states[:-1])[:, 3].norm(dim=-1))
    torch.testing.assert_close(found.lengths[:, -1], torch.stack(states[1:])[:, 3].norm(dim=-1))
    torch.testing.assert_close(found.features[-1], states[2][3, :SHOWN])
    torch.testing.assert_close(found.cosines[2], torch.cosine_similarity(states[2][3], states[0][3], dim=-1))
    torch.testing.assert_close(found.shares, shares_of_sum(head_writes(encoder, states[1], block=1)[:, 3]))


def test_pruning_compares_the_vector_without_each_head():
    encoder = small_encoder()
    found = measure_pruning(encoder, TOKENS, KEEP)
    whole = encoder.sentence_vectors(TOKENS, KEEP)[0]
    other = without_head(encoder, block=0, head=1).sentence_vectors(TOKENS, KEEP)[0]
    assert found.shape == (BLOCKS, HEADS) and found[0, 1].item() == pytest.approx((whole @ other).item(), abs=1e-6)
    assert found.max() < 1


@pytest.mark.parametrize(
    ("other", "gap"),
    [({"a": [1.0, 2.0]}, 0.5), ({"a": [1.5, 2.5], "b": 1.0}, float("inf")), ({"a": [1.5]}, float("inf")), ({"a": "text"}, float("inf"))],
)
def test_the_comparison_sees_numbers_and_everything_else(other, gap):
    assert _furthest({"a": [1.5, 2.5]}, {"a": [1.5, 2.5]}) == 0
    assert _furthest({"a": [1.5, 2.5]}, other) == gap


def test_the_model_gives_the_stored_numbers(models):
    assert _furthest(measure(), read_atlas()) <= TOLERANCE
    assert hash_model() == read_atlas()["model"] and minilm_tokens(SENTENCE) == read_atlas()["tokens"]


def test_the_command_writes_the_file_and_compares(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "STORED", tmp_path / "atlas.json")
    monkeypatch.setattr(module, "measure", lambda: {"weights": [0.5, 0.25]})
    monkeypatch.setattr(module, "read_atlas", lambda: {"weights": [0.5, 0.26]})
    assert _main(check=False) == 0 and (tmp_path / "atlas.json").read_text() == '{"weights":[0.5,0.25]}\n'
    assert _main(check=True) == 1 and "differ by 1.0e-02 at most" in capsys.readouterr().out
