"""Pictures of the weights of the worked example."""

from derivations.kernel.site.diagrams import Picture, heat_map
from snippets.example.closed import closed_weights


def weights() -> Picture:
    P, names = closed_weights(), ["token 1", "token 2", "token 3"]
    rows = "; ".join(", ".join(f"{weight:.4f}" for weight in row) for row in P.tolist())
    return heat_map(
        P,
        names,
        names,
        digits=4,
        across="key",
        down="query",
        title="The weights of the example",
        description=f"Three rows that sum to one: {rows}.",
    )
