"""Bytes of a hybrid as a share of those with full attention everywhere, by the length of the text."""

from math import prod

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.linear.hybrids import full_bytes, hybrid_bytes
from snippets.serving.models import models

MODEL = models()["Qwen3-Next-80B-A3B"]
TOKEN = 2 * 2 * MODEL.kv_heads * MODEL.head_width
STATE = 2 * prod(MODEL.state)
LENGTHS = [2**power for power in range(6, 21)]


def share(n: int, linear: int) -> float:
    return hybrid_bytes(n, 1, linear, TOKEN, STATE) / full_bytes(n, 1, linear, TOKEN)


def bytes_of_stacks() -> Picture:
    picture = curves(
        [(f"{linear} to 1", LENGTHS, [share(n, linear) for n in LENGTHS]) for linear in (1, 3, 7)],
        log="xy",
        x_ticks=(64, 1024, 16_384, 262_144),
        y_ticks=(0.1, 1, 10),
        across="tokens",
        up="share of bytes",
        title=f"Bytes of a hybrid against full attention everywhere; a state is worth {STATE // TOKEN} tokens of a cache",
        description=f"Three falling curves that meet at one, at {STATE // TOKEN} tokens. "
        + " ".join(
            f"With {linear} to 1, the share is {share(64, linear):.2f} at 64 tokens and {share(2**20, linear):.3f} at a million."
            for linear in (1, 3, 7)
        ),
    )
    return played(
        picture,
        lengths=LENGTHS,
        tokens=2048,
        linear=[1, 2, 3, 4, 5, 6, 7],
        first=3,
        worth=[64, 128, 256, 512, 1024, 2048],
        state=STATE // TOKEN,
    )
