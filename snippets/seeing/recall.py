"""Recall: what followed this letter? A task that attention solves and fixed mixing cannot.

--8<-- [start:example-task]
>>> import torch
>>> from snippets.seeing.recall import draw_cases, held_out_pairs, spell
>>> pairs = held_out_pairs().nonzero()
>>> held = [spell(pair) for pair in pairs if pair[0] != pair[1]]
>>> len(held), held[:4]
(15, ['a e', 'b m', 'c b', 'd c'])
>>> generator = torch.Generator().manual_seed(1)
>>> for held_out in (False, True):
...     cases = draw_cases(2, held_out=held_out, generator=generator)
...     for row, answer in zip(*cases):
...         print(f"{spell(row[:-1])}   what followed {spell(row[-1:])}?   "
...               f"{spell(answer.view(1))}")
e b n g c j p o l i k m d h   what followed g?   c
m f h e i g b j a o d l k n   what followed b?   j
k c d h o e j l f p i m b a   what followed h?   o
e o a f c g d n i b j h m p   what followed e?   o

--8<-- [end:example-task]

Three models, trained alike, on 2,000 questions that training asks and 2,000 that it never asks:

--8<-- [start:example-accuracy]
>>> import torch
>>> from snippets.seeing.recall import KINDS, accuracy, draw_cases, load
>>> generator = torch.Generator().manual_seed(1)
>>> asked, never_asked = (
...     draw_cases(2_000, held_out=held_out, generator=generator)
...     for held_out in (False, True))
>>> for kind in KINDS:
...     model = load(kind)
...     count = sum(parameter.numel() for parameter in model.parameters())
...     right, unseen = accuracy(model, *asked), accuracy(model, *never_asked)
...     print(f"{kind:22} {count} parameters   asked {right:6.1%}   "
...           f"never asked {unseen:6.1%}")
attention              1776 parameters   asked 100.0%   never asked 100.0%
one layer of attention 1264 parameters   asked   8.4%   never asked   0.0%
fixed mixing           1714 parameters   asked   8.2%   never asked   0.0%

--8<-- [end:example-accuracy]

The construction, on five letters as unit vectors: after the second came the third.

--8<-- [start:example-by-hand]
>>> from snippets.seeing.recall import match_weight, recall_by_hand
>>> X = torch.eye(5, dtype=torch.float64)  # (n, d): orthonormal tokens
>>> for beta in (1, 4, 16):
...     found = recall_by_hand(X, X[1], beta=beta)
...     print(f"beta {beta:2}  ", *(f"{entry:.4f}" for entry in found))
beta  1   0.1488 0.1488 0.4046 0.1488 0.1488
beta  4   0.0171 0.0171 0.9317 0.0171 0.0171
beta 16   0.0000 0.0000 1.0000 0.0000 0.0000

--8<-- [end:example-by-hand]

Two layers of fixed mixing are one:

--8<-- [start:example-mix]
>>> from snippets.seeing.recall import fixed_mixing
>>> generator = torch.Generator().manual_seed(0)
>>> A, B, W, U, X = torch.randn(5, 4, 4, generator=generator, dtype=torch.float64)
>>> two = fixed_mixing(B, fixed_mixing(A, X, W), U)
>>> torch.allclose(two, fixed_mixing(B @ A, X, W @ U))
True

--8<-- [end:example-mix]
"""

import json
from hashlib import sha256
from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from snippets.attention.formula import attention_weights
from snippets.attention.masks import mask_scores, masked_softmax
from snippets.seeing.stored import DIGEST

LETTERS = 16
CONTEXT = 14  # how many letters come before the question
LENGTH = CONTEXT + 1
STORED = Path(__file__).parent / "recall.json"


# --8<-- [start:task]
def held_out_pairs(
    *, device: torch.device | str | None = None
) -> Bool[Tensor, "letters letters"]:
    """The pairs of letters that training never asks about, drawn once."""
    generator = torch.Generator().manual_seed(1)
    uniform = torch.rand(LETTERS, LETTERS, generator=generator)
    return (uniform < 0.1).to(device)


def draw_cases(
    count: int,
    *,
    held_out: bool,
    generator: torch.Generator | None = None,
    device: torch.device | str | None = None,
) -> tuple[Int[Tensor, "count length"], Int[Tensor, " count"]]:
    """Rows of 14 different letters and one of them again, and the letter that
    followed it."""
    askable = held_out_pairs(device=device) == held_out  # (letters, letters)
    order = torch.empty(0, CONTEXT, dtype=torch.long, device=device)
    while len(order) != count:
        size = 2 * count, LETTERS
        uniform = torch.rand(size, generator=generator, device=device)
        drawn = uniform.argsort(-1)[:, :CONTEXT]
        # A row without a pair to ask about is left out.
        fits = askable[drawn[:, :-1], drawn[:, 1:]].any(-1)
        order = torch.cat([order, drawn[fits]])[:count]
    chances = askable[order[:, :-1], order[:, 1:]].double()  # (count, 13)
    place = torch.multinomial(chances, 1, generator=generator)  # (count, 1)
    tokens = torch.cat([order, order.gather(1, place)], dim=1)
    return tokens, order.gather(1, place + 1).squeeze(1)


# --8<-- [end:task]


# --8<-- [start:letters]
def spell(tokens: Int[Tensor, " n"]) -> str:
    """The tokens as letters."""
    return " ".join(chr(ord("a") + token) for token in tokens.tolist())


def read(
    text: str, *, device: torch.device | str | None = None
) -> Int[Tensor, " n"]:
    """Letters as tokens.

    Raises ValueError for anything but the 16 letters.
    """
    letters, found = spell(torch.arange(LETTERS)).split(), text.split()
    if unknown := sorted(set(found) - set(letters)):
        raise ValueError(
            f"{unknown} in the text; "
            f"expected letters from {letters[0]} to {letters[-1]}"
        )
    places = [letters.index(letter) for letter in found]
    return torch.tensor(places, dtype=torch.long, device=device)


# --8<-- [end:letters]


# --8<-- [start:model]
class Head(nn.Module):
    """One attention head. Other weights can replace its own."""

    def __init__(self, d: int, d_k: int) -> None:
        """For tokens of width d, with queries, keys and values of width d_k."""
        super().__init__()
        self.query, self.key, self.value = (
            nn.Linear(d, d_k, bias=False) for _ in range(3)
        )
        self.output = nn.Linear(d_k, d, bias=False)

    def weights(
        self, x: Float[Tensor, "*batch n d"]
    ) -> Float[Tensor, "... n n"]:
        """Its own weights for these tokens."""
        return attention_weights(self.query(x), self.key(x), is_causal=True)

    def forward(
        self,
        x: Float[Tensor, "*batch n d"],
        *,
        weights: Float[Tensor, "... n n"] | None = None,
    ) -> Float[Tensor, "*batch n d"]:
        """The update to add to each token."""
        weights = self.weights(x) if weights is None else weights
        return self.output(weights @ self.value(x))


class Recall(nn.Module):
    """Embedded letters and positions, one head after another, and an answer at the
    last token."""

    def __init__(
        self, *, d: int = 16, d_k: int = 8, layers: int = 2, head: type = Head
    ) -> None:
        """A model with this many layers of one head each."""
        super().__init__()
        self.letter = nn.Embedding(LETTERS, d)
        self.place = nn.Embedding(LENGTH, d)
        self.heads = nn.ModuleList(head(d, d_k) for _ in range(layers))
        self.answer = nn.Linear(d, LETTERS, bias=False)

    def forward(
        self,
        tokens: Int[Tensor, "*batch 15"],
        *,
        weights: list[Float[Tensor, "... n n"] | None] | None = None,
    ) -> Float[Tensor, "*batch letters"]:
        """The logits of every letter. Each head may be given its weights."""
        x = self.letter(tokens) + self.place.weight  # (*batch, n, d)
        own = [None] * len(self.heads)
        for head, given in zip(self.heads, weights or own, strict=True):
            x = x + head(x, weights=given)
        return self.answer(x[..., -1, :])


# --8<-- [end:model]


# --8<-- [start:fixed]
class FixedHead(Head):
    """A head whose weights are a learned table: they depend on positions, not on
    letters."""

    def __init__(self, d: int, d_k: int) -> None:
        """For tokens of width d, with values of width d_k."""
        super().__init__(d, d_k)
        del self.query, self.key
        self.table = nn.Parameter(torch.zeros(LENGTH, LENGTH))

    def weights(
        self, x: Float[Tensor, "*batch n d"]
    ) -> Float[Tensor, "... n n"]:
        """The same for all tokens."""
        return masked_softmax(mask_scores(self.table, is_causal=True))


# --8<-- [end:fixed]


# --8<-- [start:load]
# What is compared: each is trained alike.
KINDS = {
    "attention": {},
    "one layer of attention": {"layers": 1},
    "fixed mixing": {"head": FixedHead},
}


def restore(parameters: dict[str, list], *, kind: str) -> Recall:
    """The model of one kind with the parameters given as nested lists."""
    model = Recall(**KINDS[kind]).double()
    state = {
        name: torch.tensor(value, dtype=torch.float64)
        for name, value in parameters.items()
    }
    model.load_state_dict(state)
    return model.requires_grad_(False)


def load(kind: str) -> Recall:
    """A trained model, from the file that `python -m snippets.seeing.train` makes.

    Raises ValueError for another file.
    """
    content = STORED.read_bytes()
    if sha256(content).hexdigest() != DIGEST:
        raise ValueError(
            f"{STORED.name} is not the file that training wrote; train again"
        )
    return restore(json.loads(content)[kind]["parameters"], kind=kind)


# --8<-- [end:load]


# --8<-- [start:accuracy]
def accuracy(
    model: Recall,
    tokens: Int[Tensor, "*batch 15"],
    answers: Int[Tensor, "*batch"],
    *,
    weights: list[Float[Tensor, "... n n"] | None] | None = None,
) -> float:
    """The share of cases in which the model's first guess is right."""
    guesses = model(tokens, weights=weights).argmax(-1)
    return (guesses == answers).double().mean().item()


# --8<-- [end:accuracy]


# --8<-- [start:mix]
def fixed_mixing(
    A: Float[Tensor, "*#batch n m"],
    X: Float[Tensor, "*#batch m d"],
    W: Float[Tensor, "*#batch d p"],
) -> Float[Tensor, "*batch n p"]:
    """Tokens mixed with fixed weights, then mapped."""
    return A @ X @ W


# --8<-- [end:mix]


# --8<-- [start:match]
def match_weight(
    match: Float[Tensor, "*batch"], others: Float[Tensor, "*batch m"]
) -> Float[Tensor, "*batch"]:
    """The weight of a key with the score `match`, among keys with the scores
    `others`."""
    scores = torch.cat([match.unsqueeze(-1), others], dim=-1)  # (*batch, 1 + m)
    return torch.softmax(scores, dim=-1)[..., 0]


# --8<-- [end:match]


# --8<-- [start:by-hand]
def recall_by_hand(
    X: Float[Tensor, "*#batch n d"],
    q: Float[Tensor, "*#batch d"],
    *,
    beta: float,
) -> Float[Tensor, "*batch d"]:
    """The token that followed q among those of X, as two heads find it; sharper
    with larger beta.

    The first token is taken to follow the last, so that each follows one.
    """
    before = X.roll(1, dims=-2)  # the first head brings each the one before it
    scores = beta * (before @ q.unsqueeze(-1)).mT  # the second compares
    return (torch.softmax(scores, dim=-1) @ X).squeeze(-2)


# --8<-- [end:by-hand]
