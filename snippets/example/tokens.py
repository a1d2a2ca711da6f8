"""Text as tokens, by byte-pair encoding, and tokens as rows of an embedding table.

Each merge joins the pair of neighbouring tokens that is most frequent:

--8<-- [start:example-merges]
>>> from snippets.example.tokens import learn_merges, tokenize
>>> text = "the cat sat on the mat, the cat ate"
>>> learn_merges(text, 4)
[('a', 't'), ('t', 'h'), ('th', 'e'), ('the', ' ')]
>>> tokenize("the hat", learn_merges(text, 4))
['the ', 'h', 'at']

--8<-- [end:example-merges]

More merges make a text shorter and its vocabulary larger:

--8<-- [start:example-length]
>>> for number in (0, 2, 4, 8):
...     pieces = tokenize(text, learn_merges(text, number))
...     print(f"{number} merges: {len(pieces)} tokens")
0 merges: 35 tokens
2 merges: 27 tokens
4 merges: 21 tokens
8 merges: 13 tokens

--8<-- [end:example-length]

A token's number selects a row of the table. The gradient reaches only the rows that were selected, and twice where a token occurs twice:

--8<-- [start:example-gradient]
>>> import torch
>>> from snippets.example.tokens import table_gradient
>>> table = torch.zeros(4, 2, requires_grad=True)  # (vocabulary, d)
>>> token = torch.tensor([3, 1, 3])
>>> table[token].sum().backward()
>>> table.grad.tolist()
[[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
>>> one_hot = torch.nn.functional.one_hot(token, 4).float()
>>> torch.equal(table.grad, table_gradient(one_hot, torch.ones(3, 2)))
True

--8<-- [end:example-gradient]
"""

from collections import Counter
from itertools import pairwise

from jaxtyping import Float
from torch import Tensor


# --8<-- [start:merges]
def merge_pair(tokens: list[str], pair: tuple[str, str]) -> list[str]:
    """Join each occurrence of a pair of neighbours, from left to right."""
    merged: list[str] = []
    for token in tokens:
        if merged and (merged[-1], token) == pair:
            merged[-1] += token
        else:
            merged.append(token)
    return merged


def learn_merges(text: str, number: int) -> list[tuple[str, str]]:
    """Return the merges of byte-pair encoding, the first one first.

    Of pairs that are equally frequent, the one that occurs first is merged.
    """
    tokens, merges = list(text), []
    for _ in range(number):
        pairs = Counter(pairwise(tokens))
        if not pairs:
            break
        merges.append(max(pairs, key=lambda pair: pairs[pair]))
        tokens = merge_pair(tokens, merges[-1])
    return merges


def tokenize(text: str, merges: list[tuple[str, str]]) -> list[str]:
    """Split a text into characters, and apply the merges in order."""
    tokens = list(text)
    for pair in merges:
        tokens = merge_pair(tokens, pair)
    return tokens


# --8<-- [end:merges]


# --8<-- [start:table-gradient]
def table_gradient(
    one_hot: Float[Tensor, "*batch n vocabulary"],
    grad_rows: Float[Tensor, "*batch n d"],
) -> Float[Tensor, "*batch vocabulary d"]:
    """The gradient of an embedding table.

    `grad_rows` is the gradient with respect to the rows that were looked up.
    """
    return one_hot.mT @ grad_rows


# --8<-- [end:table-gradient]
