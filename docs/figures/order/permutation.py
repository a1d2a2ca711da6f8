"""Pictures of a layer whose tokens come in another order."""

import torch

from derivations.kernel.site.diagrams import Picture, beside, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.attention.formula import attention_weights
from snippets.order.permutation import reorder


def weights() -> Picture:
    X = torch.tensor([[0.0], [1.0], [2.0]], dtype=torch.float64)
    order = [2, 0, 1]
    moved = reorder(torch.eye(3, dtype=torch.float64)[order], X)
    names = ["0", "1", "2"]
    picture = beside(
        *(
            heat_map(P, rows=labels, columns=labels, title=title, description=said(P))
            for P, labels, title in (
                (attention_weights(X, X), names, "As they come"),
                (attention_weights(moved, moved), [names[k] for k in order], "Reordered"),
            )
        ),
        title="Weights of three tokens, in two orders",
    )
    return played(picture, tokens=X.tolist(), names=names, order=order)


def said(P: torch.Tensor) -> str:
    return "rows " + "; ".join(", ".join(f"{x:.2f}" for x in row) for row in P.tolist()) + "."
