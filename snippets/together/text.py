"""The site's own text as tokens, and how well a model guesses the part that it never saw.

--8<-- [start:example-text]
>>> from snippets.together.text import decode, encode, parts, vocabulary
>>> len(vocabulary()), [len(part) for part in parts()]
(78, [137860, 15318])
>>> encode("A query").tolist()
[24, 1, 68, 72, 56, 69, 76]
>>> decode(encode("A query"))
'A query'

--8<-- [end:example-text]

What counting gives: how often each character comes after those before it.

--8<-- [start:example-counting]
>>> from snippets.together.text import counting_loss
>>> [round(counting_loss(length), 3) for length in (1, 2, 3, 4, 5, 6)]
[3.023, 2.376, 1.887, 1.549, 1.452, 1.436]

--8<-- [end:example-counting]
"""

from collections import Counter
from functools import cache
from hashlib import sha256
from math import log
from pathlib import Path

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from snippets.together.gpt import GPT
from snippets.together.stored import DIGESTS

FOLDER = Path(__file__).parent
LENGTH = 128  # how many tokens the model sees at once in training
MIX = 10


def stored(name: str) -> bytes:
    """What a file holds, if it is the one whose digest was written with it."""
    content = (FOLDER / name).read_bytes()
    if sha256(content).hexdigest() != DIGESTS[name]:
        raise ValueError(f"{name} is not the file that training wrote; train again")
    return content


# --8<-- [start:text]
@cache
def text() -> str:
    """The prose of this site, as it once was."""
    return stored("text.txt").decode()


def vocabulary() -> list[str]:
    """Every character of the text is a token."""
    return sorted(set(text()))


def encode(characters: str) -> Tensor:
    """Characters as tokens."""
    token = {character: place for place, character in enumerate(vocabulary())}
    return torch.tensor([token[character] for character in characters])


def decode(tokens: Tensor) -> str:
    """Tokens as characters."""
    characters = vocabulary()
    return "".join(characters[token] for token in tokens.tolist())


def parts() -> tuple[str, str]:
    """What is trained on, and the last tenth of the text, which is held out."""
    cut = len(text()) * 9 // 10
    return text()[:cut], text()[cut:]


# --8<-- [end:text]


# --8<-- [start:loss]
def in_blocks(characters: str) -> tuple[Tensor, Tensor]:
    """Blocks of tokens, one after another, and for each token the one that follows it."""
    tokens = encode(characters)
    end = (len(tokens) - 1) // LENGTH * LENGTH
    return tokens[:end].view(-1, LENGTH), tokens[1 : end + 1].view(-1, LENGTH)


@torch.no_grad()
def held_out_loss(model: GPT) -> float:
    """The mean of -log p over the held-out text; no block knows of the ones before it."""
    tokens, following = in_blocks(parts()[1])
    return cross_entropy(model(tokens)[0].flatten(0, 1), following.flatten()).item()


# --8<-- [end:loss]


# --8<-- [start:counting]
def counting_loss(length: int) -> float:
    """The same if `length` characters in a row are counted: 1 a unigram, 2 a bigram model."""
    training, held_out = parts()
    counts = Counter(
        training[i : i + k] for k in range(length + 1) for i in range(len(training) - k + 1)
    )

    def probability(row: str) -> float:
        """Of the last character of a row, after the others; rare rows lean on shorter ones."""
        found = 1 / len(vocabulary())
        for start in reversed(range(len(row))):
            before = row[start:-1]
            followed = counts[before] - training.endswith(before)
            found = (counts[row[start:]] + MIX * found) / (followed + MIX)
        return found

    ends = range(2, in_blocks(held_out)[0].numel() + 2)  # the same characters that a model guesses
    return -sum(log(probability(held_out[max(0, end - length) : end])) for end in ends) / len(ends)


# --8<-- [end:counting]
