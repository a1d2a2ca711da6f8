"""Pictures of the heads of a trained model."""

import torch

from derivations.kernel.site.diagrams import Picture, heat_map
from derivations.kernel.site.head_view import head_view
from snippets.seeing.heads import head_weights
from snippets.seeing.recall import draw_cases, load, read, spell

ROW = "h f c n k b p e d j m a o i k"


def view() -> Picture:
    letters, tokens, model = ROW.split(), read(ROW), load("attention")
    first, second = head_weights(model, tokens)
    found = spell(model(tokens).argmax().view(1))
    place = second[-1].argmax().item()
    shown = [*letters[:-1], f"{letters[-1]}?"]
    return head_view(
        [("first head", first), ("second head", second), ("through both", second @ first)],
        shown,
        shown,
        title="The weights of two heads of a trained model",
        description=f"The row is {ROW}. The last letter asks what followed {letters[-1]}, and the model answers {found}. "
        "In the first head each letter looks at the one before it. In the second the question gives "
        f"{second[-1, place]:.2f} of its weight to {letters[place]} at place {place + 1}. "
        "Choose a head and a letter.",
    )


def mean_weights() -> Picture:
    tokens, _ = draw_cases(500, held_out=False, generator=torch.Generator().manual_seed(3))
    mean = head_weights(load("attention"), tokens)[0].mean(0)
    places = [str(place + 1) for place in range(len(mean))]
    before = mean.diagonal(-1)[:-1]
    return heat_map(
        mean,
        places,
        places,
        numbers=False,
        across="looked at",
        down="looking",
        title="Mean weights of the first head, by place",
        description="Fifteen positions by fifteen. Each position except the first and the last gives the one before it a weight of "
        f"{before.min():.2f} or more. The last, which is the question, spreads its weight; "
        f"{mean[-1, -1]:.2f} of it stays on itself.",
    )
