"""Pictures of every head of a published model on one sentence, and of what one token looks at in one head."""

import torch

from derivations.kernel.site.figure_widgets import Picture, played
from derivations.kernel.site.weight_pictures import head_grid, sentence_weights
from snippets.seeing.atlas import stored_atlas

# The measures that the widget lists, and the page that explains each.
PAGES = {
    "entropy": "../../softmax/temperature/#most-entropy",
    "first token": "../../bounds/sinks/",
    "previous token": "../heads/",
    "next token": "../heads/",
    "same token": "../../attention/basic/#self-first",
    "deviation of the scores": "../../scaling/variance/#scaled",
    "length of the keys": "../../bounds/qknorm/",
    "length of the key bias": "../../heads/parameters/#key-bias",
    "symmetric part": "#parts",
    "effective rank": "../../simplify/bilinear/#rank",
    "shared part of the queries": "#own",
    "shared part of the keys": "#own",
    "without it": "../heads/",
}


def heads() -> Picture:
    atlas = stored_atlas()
    layers, per_layer, n, _ = atlas.weights.shape
    picture = head_grid(
        atlas.weights.tolist(),
        title="The attention weights of 72 heads on one sentence",
        description=f"Six rows of twelve small squares. In each, rows are queries and columns are keys, {n} of each. Many squares have a "
        "strong first column: these heads look mostly at the first token. In one square of the first row, a line just below the diagonal is "
        "as strong as it can be: this head looks at the token before.",
    )
    return played(
        picture,
        tokens=atlas.tokens,
        perRow=per_layer,
        weights=(100 * atlas.weights.flatten(0, 1).flatten(1)).round().int().tolist(),
        names=list(PAGES),
        pages=list(PAGES.values()),
        values=torch.stack([atlas.measures[name].flatten() for name in PAGES], dim=-1).tolist(),
        first=3 * per_layer + 1,
    )


def sentence() -> Picture:
    atlas = stored_atlas()
    query = atlas.tokens.index("it")
    row = atlas.weights[3, 1, query].tolist()
    ranked = sorted(range(len(row)), key=lambda key: -row[key])
    said = ", ".join(f"{atlas.tokens[key]} {row[key]:.2f}" for key in ranked[:3])
    return sentence_weights(
        atlas.tokens,
        row,
        query,
        atlas.tokens.index("because"),
        title="The weights of the word “it”",
        description="The sentence in two lines. From the word “it”, in the second line, lines lead to the other tokens, as thick as their weights. "
        f"The three largest weights: {said}.",
    )
