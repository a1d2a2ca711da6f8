"""Pictures of operations for each byte read, and of the caches of published models."""

from derivations.kernel.site.diagrams import Picture, bars, curves
from snippets.inference.memory import attention_intensity, bytes_per_token, six_models, step_intensity, weights_intensity


def intensity() -> Picture:
    batches = [2**k for k in range(13)]
    heads = {"num_heads": 32, "num_kv_heads": 32, "d_k": 128, "itemsize": 2}
    weights = 12 * 4096**2 * 32
    whole = [step_intensity(batch, 4096, weights, layers=32, **heads) for batch in batches]
    return curves(
        [
            ("weights", batches, [weights_intensity(batch, weights, 2) for batch in batches]),
            ("both", batches, whole),
            ("attention", batches, [attention_intensity(batch, 4096, **heads) for batch in batches]),
        ],
        log="xy",
        x_ticks=(1, 16, 256, 4096),
        y_ticks=(1, 16, 256, 4096),
        across="sequences in a batch",
        up="operations for each byte read",
        title="A decoding step after 4,096 tokens, for 32 layers of width 4,096 with 32 heads",
        description="For the weights the line rises in proportion to the batch. For attention it stays at 1. Both together rise at "
        f"first and then level off: {whole[4]:.1f} for 16 sequences, {whole[8]:.1f} for 256 and {whole[-1]:.1f} for 4,096.",
    )


def models() -> Picture:
    rows = [(model.name, bytes_per_token(model.layers, model.kv_heads, model.head_width, 2) / 1024) for model in six_models()]
    return bars(
        rows,
        digits=0,
        unit="KiB",
        title="KiB of cache for each token, at two bytes a number",
        description="; ".join(f"{name}: {size:.0f}" for name, size in rows) + ".",
    )
