"""The parameters of published models, part by part."""

from derivations.kernel.site.diagrams import Picture, bars
from derivations.kernel.site.figure_widgets import played
from snippets.serving.models import models
from snippets.together.block import TABLES, model_parts

NAME = "Qwen3-8B"


def shares() -> Picture:
    parts = model_parts(NAME)
    percents = {part: 100 * count / sum(parts.values()) for part, count in parts.items()}
    picture = bars(
        list(percents.items()),
        digits=3,
        title=f"Parameters of {NAME}, in percent",
        description="; ".join(f"{part}: {parts[part]:,} parameters" for part in parts) + ".",
    )
    sizes = []
    for name, (rows, tables) in TABLES.items():
        model = models()[name]
        norms = 4 if "and after" in model.norms else 2
        gains = 2 * model.head_width if "QK-norm" in model.norms else 0
        sizes.append([model.layers, model.width, model.inner, model.heads, model.kv_heads, model.head_width, norms, gains, rows * tables])
    return played(
        picture,
        models=list(TABLES),
        sizes=sizes,
        parts=list(parts),
        model=list(TABLES).index(NAME),
        shared=[1, 2, 4, 8, 16],
    )
