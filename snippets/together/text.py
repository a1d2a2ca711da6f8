"""The site's own text as tokens, and how well a model guesses the rest of it.

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
from hashlib import sha256
from math import log
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from snippets.together.gpt import GPT
from snippets.together.stored import DIGESTS

FOLDER = Path(__file__).parent
LENGTH = 128  # how many tokens the model sees at once in training
MIX = 10


# --8<-- [start:text]
def stored(name: str) -> bytes:
    """What a file holds.

    Raises ValueError for one that is not as training left it.
    """
    content = (FOLDER / name).read_bytes()
    if sha256(content).hexdigest() != DIGESTS[name]:
        raise ValueError(
            f"{name} is not the file that training wrote; train again"
        )
    return content


def text() -> str:
    """The prose of this site, as it once was."""
    return stored("text.txt").decode()


def vocabulary() -> list[str]:
    """Every character of the text is a token."""
    return sorted(set(text()))


def encode(
    characters: str, *, device: torch.device | str | None = None
) -> Int[Tensor, " n"]:
    """Characters as tokens.

    Raises KeyError for one that is not in the vocabulary.
    """
    token = {character: k for k, character in enumerate(vocabulary())}
    tokens = [token[character] for character in characters]
    return torch.tensor(tokens, dtype=torch.long, device=device)


def decode(tokens: Int[Tensor, " n"]) -> str:
    """Tokens as characters."""
    characters = vocabulary()
    return "".join(characters[token] for token in tokens.tolist())


def parts() -> tuple[str, str]:
    """What is trained on, and the last tenth of the text, which is held out."""
    cut = len(text()) * 9 // 10
    return text()[:cut], text()[cut:]


# --8<-- [end:text]


# --8<-- [start:loss]
def in_blocks(
    characters: str, *, device: torch.device | str | None = None
) -> tuple[Int[Tensor, "blocks n"], Int[Tensor, "blocks n"]]:
    """Blocks of tokens, and for each token the one that follows it."""
    tokens = encode(characters, device=device)
    end = (len(tokens) - 1) // LENGTH * LENGTH
    return tokens[:end].view(-1, LENGTH), tokens[1 : end + 1].view(-1, LENGTH)


@torch.no_grad()
def held_out_loss(model: GPT) -> float:
    """The mean of -log p over the held-out text; each block stands alone."""
    device = next(model.parameters()).device
    tokens, following = in_blocks(parts()[1], device=device)
    return cross_entropy(
        model(tokens)[0].flatten(0, 1), following.flatten()
    ).item()


# --8<-- [end:loss]


# --8<-- [start:counting]
def counting_loss(length: int) -> float:
    """The same if rows of characters are counted: 2 is a bigram model."""
    training, held_out = parts()
    kinds = len(vocabulary())
    counts = Counter(
        training[i : i + k]
        for k in range(length + 1)
        for i in range(len(training) - k + 1)
    )

    def probability(row: str) -> float:
        """Of a row's last character; rare rows lean on shorter ones."""
        found = 1 / kinds
        for start in reversed(range(len(row))):
            before = row[start:-1]
            followed = counts[before] - training.endswith(before)
            found = (counts[row[start:]] + MIX * found) / (followed + MIX)
        return found

    # The same characters that a model guesses.
    ends = range(2, in_blocks(held_out)[0].numel() + 2)
    rows = (held_out[max(0, end - length) : end] for end in ends)
    return -sum(log(probability(row)) for row in rows) / len(ends)


# --8<-- [end:counting]
