"""The error of scores if keys are quantised, and what the outputs of trained heads lose."""

import torch

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from derivations.kernel.site.table_figure import table
from snippets.serving.quantized import hadamard_rotation, head_vectors, output_errors, quantize_channels, quantize_tokens, score_error
from snippets.together.text import in_blocks, parts
from snippets.together.trained import load_gpt

CHANNEL, OFFSET, SHOWN = 2, 20, 4
BITS = tuple(range(2, 9))


def sample() -> tuple[torch.Tensor, torch.Tensor]:
    """Four queries and twelve keys of 32 features, to two digits."""
    drawn = torch.randn(16, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    query, key = (drawn * 100).round().div(100).split([4, 12])
    return query, key


def levels() -> Picture:
    query, key = sample()
    rotation = hadamard_rotation(32).double()
    moved = key.clone()
    moved[:, CHANNEL] += OFFSET
    ways = {
        "per token": lambda bits: quantize_tokens(moved, bits=bits),
        "per token, rotated": lambda bits: quantize_tokens(moved @ rotation, bits=bits) @ rotation.mT,
        "per channel": lambda bits: quantize_channels(moved, bits=bits),
    }
    rows = {name: [score_error(query, moved, way(bits)).item() for bits in BITS] for name, way in ways.items()}
    picture = curves(
        [(name, BITS, row) for name, row in rows.items()],
        log="y",
        x_ticks=BITS,
        y_ticks=(0.001, 0.01, 0.1, 1),
        across="bits of a number",
        up="error of a score",
        title=f"Error of a score, with {OFFSET} added to one channel of all keys",
        description="Each bit more halves the error, about. At four bits it is "
        + ", ".join(f"{row[BITS.index(SHOWN)]:.2f} {name}" for name, row in rows.items())
        + ".",
    )
    return played(
        picture,
        query=query.tolist(),
        key=key.tolist(),
        bits=list(BITS),
        first=SHOWN,
        offsets=[0, 1, 2, 5, 10, 20, 40],
        offset=OFFSET,
        channel=CHANNEL,
    )


def trained() -> Picture:
    model, tokens = load_gpt().double(), in_blocks(parts()[1])[0]
    rows = [
        [f"layer {layer + 1}, {name}", *(f"{100 * error:.1f}" for error in errors)]
        for layer in range(2)
        for name, errors in output_errors(*head_vectors(model, tokens, layer=layer), bits=SHOWN).items()
    ]
    return table(
        ["stored with four bits", "per channel", "per token", "per token, rotated"],
        rows,
        title="Error of the outputs of trained heads, in per cent of their root mean square",
        description="For each layer of the small GPT, its keys before RoPE, its keys after RoPE and its values, in three ways. "
        + " ".join(f"{row[0]}: {', '.join(row[1:])}." for row in rows),
    )
