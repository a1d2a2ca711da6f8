"""The table of published models, and what fits into the memory of machines."""

from derivations.kernel.site.diagrams import Picture, bars
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.table_figure import table
from snippets.serving.models import Model, cache_bytes_per_token, cache_parts, fitting_sequences, models, source_addresses
from snippets.serving.roofline import MACHINES

COLUMNS = ("model", "KiB per token", "layers", "width", "heads", "a layer keeps", "inner width", "positions", "norms", "sources")
TOKENS = 32_768
SHOWN = "Llama 2 7B", "Llama 3.1 8B", "Gemma 3 27B", "DeepSeek-V3"
GIGA = 10**9
# GB in a machine, with which the calculator starts; a reader can change it.
USUAL_MEMORY = {"A100 80GB": 80, "H100 SXM": 80, "H200 SXM": 141, "B200 SXM": 180, "MI300X": 192, "TPU v6e": 32}


def sizes() -> Picture:
    rows = [describe(model) for model in models().values()]
    return table(
        COLUMNS,
        rows,
        title=f"{len(rows)} published models, and the KiB that their caches hold for each of {TOKENS:,} tokens, at two bytes a number",
        description="A row for each model, with the sizes that determine its cache, and its sources.",
    )


def describe(model: Model) -> list:
    heads = f"{model.heads} of {model.head_width}" + (f" + {model.latent[1]}" if model.latent else "")
    inner = f"{model.inner:,}" + (f" in {model.experts[1]} of {model.experts[0]} routed experts" if model.experts else "")
    size = cache_bytes_per_token(model, tokens=TOKENS, itemsize=2) / 1024
    links = list(zip((source.partition(" ")[0].partition("-")[0] for source in model.sources), source_addresses(model)))
    return [
        model.name,
        f"{size:,.1f}",
        str(model.layers),
        f"{model.width:,}",
        heads,
        kept(model),
        inner,
        model.positions,
        model.norms,
        links,
    ]


def kept(model: Model) -> str:
    """What a layer keeps of a text, in words."""
    if model.latent:
        selected = f"; a query reads {model.selected:,} of them" if model.selected else ""
        return f"a row of {model.latent[0]} + {model.latent[1]} for each token{selected}"
    pairs = "1 key and value" if model.kv_heads == 1 else f"{model.kv_heads} keys and values"
    if model.full_layers is None:
        return f"{pairs} for each token"
    full = pairs
    if model.full_kv_heads:
        full = f"{model.full_kv_heads} keys and values of width {model.full_head_width}"
    rest = f"a state of {' × '.join(map(str, model.state))}" if model.state else f"{pairs} for {model.window:,} tokens"
    if model.full_layers == 0:
        return rest
    return f"{model.full_layers} layers: {full} for each token; {model.layers - model.full_layers}: {rest}"


def fit() -> Picture:
    memory, weights = 640, 140
    sizes = {name: TOKENS * cache_bytes_per_token(models()[name], tokens=TOKENS, itemsize=2) / GIGA for name in SHOWN}
    counts = [(name, fitting_sequences(memory, weights, size)) for name, size in sizes.items()]
    picture = bars(
        counts,
        digits=0,
        title=f"Sequences of {TOKENS:,} tokens whose caches fit into {memory - weights} GB, at two bytes a number",
        description="; ".join(f"{name}: {count} sequences of {sizes[name]:.1f} GB" for name, count in counts) + ".",
    )
    every = list(models().values())
    return played(
        picture,
        models=[model.name for model in every],
        parts=[[*cache_parts(model), model.window] for model in every],
        model=[model.name for model in every].index("Llama 3.1 70B"),
        machines=[machine.name for machine in MACHINES],
        bandwidths=[machine.bandwidth / GIGA for machine in MACHINES],
        counts=[1, 2, 4, 8, 16],
        count=8,
        memories=[24, 32, 40, 48, 64, 80, 96, 120, 141, 160, 180, 192, 256, 288],
        usual=[USUAL_MEMORY[machine.name] for machine in MACHINES],
        billions=[model.billions for model in every],
        lengths=[2**k for k in range(9, 21)],
        length=TOKENS,
    )
