"""A picture of which head gets which number."""

import torch

from derivations.kernel.site.diagrams import Picture, below, heat_map
from snippets.heads.split import split_heads, split_heads_wrong

TOKENS, FEATURES, HEADS = 4, 6, 2


def owners() -> Picture:
    x = torch.arange(TOKENS * FEATURES).view(TOKENS, FEATURES)
    names = [f"token {t + 1}" for t in range(TOKENS)], [str(f + 1) for f in range(FEATURES)]

    def drawn(split, title: str) -> Picture:
        head = torch.zeros(TOKENS * FEATURES)
        for number, numbers in enumerate(split(x, num_heads=HEADS)):
            head[numbers.flatten()] = number + 1
        head = head.view(TOKENS, FEATURES)
        said = "; ".join(f"{name}: heads {', '.join(f'{one:.0f}' for one in row)}" for name, row in zip(names[0], head.tolist()))
        return heat_map(head, *names, title=title, description=f"{said}.", across="feature")

    return below(
        drawn(split_heads, "A view and a transpose"),
        drawn(split_heads_wrong, "A view alone"),
        title="The head that each number of the input goes to",
    )
