"""Pictures of the worked example in integers."""

from derivations.kernel.pages.drawing import Picture, below, heat_map
from snippets.example.integers import project, tokens, weights


def projections() -> Picture:
    X, names = tokens(), ["token 1", "token 2", "token 3"]
    pictures = [heat_map(X, names, ["1", "2", "3", "4"], title="The tokens, by feature",
                         description="Three rows of four small integers.")]
    for name, W in zip(("queries", "keys", "values"), weights()):
        found = project(X, W)
        said = "; ".join(" ".join(f"{entry:.0f}" for entry in row) for row in found.tolist())
        pictures.append(heat_map(found, names, ["1", "2", "3"], title=f"The {name}", description=f"Row by row: {said}."))
    return below(*pictures, title="Three tokens, and their queries, keys and values")
