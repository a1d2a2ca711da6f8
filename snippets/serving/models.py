"""Sizes of published models, and what their caches hold.

The file models.toml has a row for each model, with its sources:

--8<-- [start:example-models]
>>> from snippets.serving.models import cache_bytes_per_token, models
>>> for name in ("Llama 2 7B", "Llama 3.1 8B", "Gemma 3 27B",
...              "DeepSeek-V3", "Qwen3-Next-80B-A3B"):
...     model = models()[name]
...     sizes = [cache_bytes_per_token(model, tokens=tokens, itemsize=2) / 1024
...              for tokens in (1024, 32_768, 1_048_576)]
...     print(f"{name:18}", *(f"{size:6.1f}" for size in sizes))
Llama 2 7B          512.0  512.0  512.0
Llama 3.1 8B        128.0  128.0  128.0
Gemma 3 27B         496.0   93.0   80.4
DeepSeek-V3          68.6   68.6   68.6
Qwen3-Next-80B-A3B   60.0   25.1   24.0

--8<-- [end:example-models]

Llama 3.1 70B on eight machines that hold 80 GB each and read 3.352 TB in a second,
with two bytes a number and 32,768 tokens in each sequence:

--8<-- [start:example-fit]
>>> from snippets.serving.models import (
...     cache_bytes_per_token, fitting_sequences, models, reading_time)
>>> model = models()["Llama 3.1 70B"]
>>> weights = 2 * 70e9
>>> cache = 32_768 * cache_bytes_per_token(model, tokens=32_768, itemsize=2)
>>> count = fitting_sequences(8 * 80e9, weights, cache)
>>> seconds = reading_time(
...     weights, cache, sequences=count, bandwidth=8 * 3.352e12)
>>> print(f"{cache / 1e9:.1f} GB for a sequence, {count} sequences,"
...       f" {1000 * seconds:.1f} ms to read everything")
10.7 GB for a sequence, 46 sequences, 23.6 ms to read everything

--8<-- [end:example-fit]
"""

import tomllib
from dataclasses import dataclass
from math import prod
from pathlib import Path

FILE = Path(__file__).parent / "models.toml"


# --8<-- [start:model]
@dataclass(frozen=True)
class Model:
    """What a row of models.toml says of a model."""

    name: str
    billions: float  # of parameters, as its name rounds it
    layers: int
    width: int
    inner: int  # width inside a feed-forward layer or an expert
    heads: int
    kv_heads: int
    head_width: int  # with MLA, without the rotated features
    positions: str
    norms: str
    sources: list[str]
    full_layers: int | None = None  # that keep all tokens; else all layers
    window: int = 0  # how many tokens the other layers keep, or
    state: tuple[int, ...] = ()  # the shape of what they keep
    full_kv_heads: int | None = None  # sizes of the full layers, if others
    full_head_width: int | None = None
    latent: tuple[int, ...] = ()  # the widths of a token's row, with MLA
    selected: int | None = None  # of these rows, those that a query reads
    experts: tuple[int, ...] = ()  # routed, and of these used by a token


def models() -> dict[str, Model]:
    """The models of models.toml, by name."""
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["model"]
    return {row["name"]: Model(**row) for row in rows}


# --8<-- [end:model]


def source_addresses(model: Model) -> list[str]:
    """The web addresses of a model's sources."""
    patterns = tomllib.loads(FILE.read_text(encoding="utf-8"))["repositories"]
    parts = (source.partition(" ") for source in model.sources)
    return [patterns[where].format(what) for where, _, what in parts]


# --8<-- [start:cached]
def cache_parts(model: Model) -> tuple[int, int, int]:
    """Numbers that all layers keep for each token, for each token in the window
    of those with a window, and for a whole text as states."""
    if model.latent:
        return model.layers * sum(model.latent), 0, 0
    full = model.layers if model.full_layers is None else model.full_layers
    others = model.layers - full
    row = 2 * model.kv_heads * model.head_width  # a key and a value
    full_row = 2 * (
        (model.full_kv_heads or model.kv_heads)
        * (model.full_head_width or model.head_width)
    )
    if model.state:
        return full * full_row, 0, others * prod(model.state)
    return full * full_row, others * row, 0


def cached_numbers(model: Model, *, tokens: int) -> int:
    """How many numbers a model keeps for a text, in all its layers."""
    each, in_window, states = cache_parts(model)
    return each * tokens + in_window * min(model.window, tokens) + states


def cache_bytes_per_token(model: Model, *, tokens: int, itemsize: int) -> float:
    """Bytes of the cache after a text, divided by its tokens."""
    return cached_numbers(model, tokens=tokens) * itemsize / tokens


# --8<-- [end:cached]


# --8<-- [start:fit]
def fitting_sequences(memory: float, weights: float, cache: float) -> int:
    """How many sequences fit beside the weights, if nothing else is stored. All
    sizes are in bytes; `cache` is that of one sequence."""
    return max(int((memory - weights) // cache), 0)


def reading_time(
    weights: float, cache: float, *, sequences: int, bandwidth: float
) -> float:
    """Seconds in which all weights and caches are read once."""
    return (weights + sequences * cache) / bandwidth


# --8<-- [end:fit]
