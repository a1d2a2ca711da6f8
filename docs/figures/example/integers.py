"""Pictures of the worked example in integers."""

from derivations.kernel.site.diagrams import Picture, below, beside, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.example import integers
from snippets.example.integers import project_tokens, tokens


def projections() -> Picture:
    X, (W_Q, W_K, W_V), names = tokens(), integers.projections(), ["token 1", "token 2", "token 3"]

    def drawn(values, title: str, rows=(), marked=()) -> Picture:
        said = "; ".join(" ".join(f"{entry:.0f}" for entry in row) for row in values.tolist())
        return heat_map(values, rows, title=title, description=f"Row by row: {said}.", marked=marked)

    row, column = {(2, j) for j in range(4)}, {(i, 2) for i in range(4)}
    picture = below(
        beside(drawn(X, "The tokens", names, row), drawn(W_Q, "The matrix for queries", marked=column), title="A row and a column"),
        drawn(project_tokens(X, W_Q), "The queries", names, {(2, 2)}),
        beside(drawn(project_tokens(X, W_K), "The keys", names), drawn(project_tokens(X, W_V), "The values"), title="Keys and values"),
        title="Three tokens with their queries, keys and values",
    )
    return played(picture, tokens=X.int().tolist(), projections=[W.int().tolist() for W in (W_Q, W_K, W_V)])
