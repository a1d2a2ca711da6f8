"""Pictures of the Jacobian for three weights, and of its largest eigenvalue."""

import torch

from derivations.kernel.site.diagrams import Picture, curves, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.softmax.jacobian import largest_eigenvalue, softmax_jacobian


def slopes() -> Picture:
    weights = torch.tensor([0.125, 0.25, 0.625], dtype=torch.float64)
    matrix = softmax_jacobian(weights).tolist()
    rows, columns = [f"weight {x:.3f}" for x in weights.tolist()], ["1", "2", "3"]
    picture = heat_map(
        matrix,
        rows,
        columns,
        across="score",
        digits=4,
        title="The Jacobian of softmax for three weights",
        description="; ".join(f"{name}: " + ", ".join(f"{x:.4f}" for x in row) for name, row in zip(rows, matrix)) + ".",
    )
    return played(picture, scores=(weights / weights[0]).log().tolist())


def eigenvalues() -> Picture:
    lead = torch.linspace(-8, 8, 97, dtype=torch.float64)

    def largest(keys: int):
        scores = torch.zeros(len(lead), keys, dtype=torch.float64)
        scores[:, 0] = lead
        return largest_eigenvalue(torch.softmax(scores, dim=-1))

    two, three = largest(2), largest(3)
    return curves(
        [("two keys", lead, two), ("three keys", lead, three)],
        across="difference between the first score and the others",
        up="largest eigenvalue",
        y_range=(0, 0.5),
        title="The largest eigenvalue of the Jacobian as one score changes",
        description=f"With two keys it is {two.max():.2f} where the scores are equal, and falls to both sides. With three, it "
        f"comes near {three[0]:.2f} where the first key has no weight and the other two share all, is {three[48]:.2f} "
        "where all three are equal, and falls to nothing as the first key takes all.",
    )
