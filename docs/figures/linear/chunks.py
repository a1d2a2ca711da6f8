"""Steps in sequence of the delta rule in chunks, by the length of a chunk."""

from derivations.kernel.site.diagrams import Picture, curves
from derivations.kernel.site.figure_widgets import played
from snippets.linear.chunks import chunked_delta_multiplications, chunked_steps, delta_multiplications

CHUNKS = [2**power for power in range(9)]
TEXTS = (256, 1024, 4096)
WIDTH = 128


def steps() -> Picture:
    counts = {n: [chunked_steps(n, chunk=chunk) for chunk in CHUNKS] for n in TEXTS}
    best = {n: CHUNKS[row.index(min(row))] for n, row in counts.items()}
    picture = curves(
        [(f"{n:,} tokens", CHUNKS, row) for n, row in counts.items()],
        log="xy",
        x_ticks=(1, 4, 16, 64, 256),
        y_ticks=(10, 100, 1000, 10_000),
        across="tokens in a chunk",
        up="steps in sequence",
        title="Steps in sequence of the delta rule in chunks",
        description="Each curve falls and rises again. "
        + " ".join(f"A text of {n:,} tokens takes {min(row):,.0f} steps with chunks of {best[n]}." for n, row in counts.items()),
    )
    per_token = [chunked_delta_multiplications(1, WIDTH, WIDTH, chunk=chunk) for chunk in CHUNKS[:5]]
    return played(
        picture,
        chunks=CHUNKS[:5],
        chunk=8,
        texts=[16, 32, 64, 128, 256],
        tokens=64,
        each=per_token,
        recurrent=delta_multiplications(1, WIDTH, WIDTH),
    )
