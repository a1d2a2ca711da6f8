"""The table of published models."""

from derivations.kernel.site.diagrams import Picture
from derivations.kernel.site.table_figure import table
from snippets.serving.models import Model, cache_bytes_per_token, models, source_addresses

COLUMNS = ("model", "KiB per token", "layers", "width", "heads", "a layer keeps", "inner width", "positions", "norms", "sources")
TOKENS = 32_768


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
