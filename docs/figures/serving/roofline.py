"""The roof of a machine, and the intensities below it."""

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.serving.models import models
from snippets.serving.roofline import MACHINES, attended_queries, model_intensity, ridge_point

TOKENS = 32_768
NEW = tuple(2**k for k in range(14))
SHOWN = "Llama 2 7B", "Llama 3.1 8B", "DeepSeek-V3"


def roof() -> Picture:
    machine = next(one for one in MACHINES if one.name == "H100 SXM")
    most = ridge_point(machine.flops, machine.bandwidth)
    rows = {name: [model_intensity(models()[name], new=new, cached=TOKENS, itemsize=2) for new in NEW] for name in SHOWN}
    first = {name: row[0] for name, row in rows.items()}
    picture = curves(
        [(machine.name, NEW, [most] * len(NEW)), *((name, NEW, row) for name, row in rows.items())],
        log="xy",
        x_ticks=(1, 16, 256, 4096),
        y_ticks=(1, 16, 256, 4096),
        across="new tokens at once",
        up="operations for each byte",
        title=f"Intensity of causal attention after {TOKENS:,} tokens, at two bytes a number",
        description=f"The machine needs {most:.0f} operations for each byte. With one new token, "
        + ", ".join(f"{name} does {value:.0f}" for name, value in first.items())
        + ". The intensities rise almost in proportion to the new tokens and cross the line of the machine at different places.",
    )
    # Only models with layers that keep all tokens, and queries that read all of them.
    every = [model for model in models().values() if model.full_layers != 0 and not model.selected]
    return played(
        picture,
        models=[model.name for model in every],
        queries=[attended_queries(model, new=1) for model in every],
        machines=[machine.name for machine in MACHINES],
        ridges=[ridge_point(machine.flops, machine.bandwidth) for machine in MACHINES],
        tokens=[2**k for k in range(7, 21)],
        cached=TOKENS,
        new=list(NEW),
        model=[model.name for model in every].index("Llama 3.1 8B"),
        machine=1,
    )
