"""Pictures of Ulysses: which device holds which part, and the bytes that each device sends."""

from derivations.kernel.site.diagrams import Picture, bars, beside, heat_map
from derivations.kernel.site.figure_widgets import played
from snippets.io.ulysses import gather_bytes, ring_bytes, ulysses_bytes
from snippets.serving.models import models

LENGTH, ITEMSIZE, DEVICES = 131072, 2, 8
PARTS, DEVICES_SHOWN = 4, 2


def holders() -> Picture:
    numbers = range(1, PARTS + 1)
    heads, tokens = [f"head {number}" for number in numbers], [f"{number}" for number in numbers]
    devices = [(number * DEVICES_SHOWN - 1) // PARTS + 1 for number in numbers]
    by_token = heat_map(
        [devices] * PARTS,
        heads,
        tokens,
        across="token",
        title="Outside attention",
        description="Each of two devices holds two tokens with all four heads.",
    )
    by_head = heat_map(
        [[device] * PARTS for device in devices],
        heads,
        tokens,
        across="token",
        title="In attention",
        description="Each of two devices holds two heads with all four tokens.",
    )
    return beside(by_token, by_head, title="The device that holds each token and head")


def bytes_sent() -> Picture:
    model = models()["Llama 3.1 8B"]
    sizes = DEVICES, LENGTH // DEVICES, model.head_width
    ring = ring_bytes(*sizes, model.kv_heads, ITEMSIZE) / 1e6
    gather = gather_bytes(*sizes, model.kv_heads, ITEMSIZE) / 1e6
    ulysses = ulysses_bytes(*sizes, model.heads, model.kv_heads, ITEMSIZE) / 1e6
    picture = bars(
        [("ring", ring), ("all-gather", gather), ("Ulysses", ulysses)],
        digits=0,
        title=f"Megabytes that each of {DEVICES} devices sends in one layer",
        description=f"For {LENGTH:,} tokens and the heads of Llama 3.1 8B: ring {ring:.0f}, all-gather {gather:.0f}, Ulysses {ulysses:.0f}.",
    )
    counts = [2, 4, 8, 16, 32]
    return played(
        picture,
        length=LENGTH,
        width=model.head_width,
        heads=model.heads,
        itemsize=ITEMSIZE,
        counts=counts,
        devices=DEVICES,
        kept=[1, *counts],
        first=model.kv_heads,
    )
