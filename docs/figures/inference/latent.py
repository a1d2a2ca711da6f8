"""Pictures of the two forms of latent attention, and of their costs."""

from derivations.kernel.site.diagrams import Picture, below, curves, operations
from snippets.inference.latent import absorbed_operations, expanded_operations


def forms() -> Picture:
    expanded = operations(
        {
            "c": ("latent rows", 0.5, 0, "cached"),
            "up k": ("$W_K$", 0, 1),
            "up v": ("$W_V$", 1, 1),
            "q": ("query", -1, 1, "$d_k$"),
            "scores": ("scores", -0.5, 2),
            "mix": ("mixing", 0.5, 3),
            "out": ("$W_O$", 0.5, 4),
        },
        [("c", "up k"), ("c", "up v"), ("q", "scores"), ("up k", "scores"), ("scores", "mix"), ("up v", "mix"), ("mix", "out")],
        title="Keys and values are made",
        description="A key and a value are made from each latent row. The query meets the keys, the weights mix the values, and "
        "the output matrix follows.",
    )
    absorbed = operations(
        {
            "q": ("query", -0.5, 0, "$d_k$"),
            "turn": ("$W_K^⊤$", -0.5, 1),
            "c": ("latent rows", 0.5, 1, "cached"),
            "scores": ("scores", -0.5, 2),
            "mix": ("mixing", 0.5, 3),
            "out": ("$W_V W_O$", 0.5, 4),
        },
        [("q", "turn"), ("turn", "scores"), ("c", "scores"), ("c", "mix"), ("scores", "mix"), ("mix", "out")],
        title="Keys and values are absorbed",
        description="The query is mapped to the latent width. It meets the latent rows themselves, and the weights mix these rows.",
    )
    return below(expanded, absorbed, title="One head of latent attention, in two forms with the same output")


def costs() -> Picture:
    h, d_k, d_c = 128, 128, 512
    tokens = [2**k for k in range(1, 15)]
    decode, prefill = (
        [absorbed_operations(m if whole else 1, m, h, d_k, d_c) / expanded_operations(m if whole else 1, m, h, d_k, d_c) for m in tokens]
        for whole in (False, True)
    )
    return curves(
        [("prefill", tokens, prefill), ("decode", tokens, decode)],
        log="xy",
        across="tokens",
        up="absorbed, relative to made",
        x_ticks=(2, 16, 128, 1024, 8192),
        title="Operations of the absorbed form, relative to the form that makes keys and values",
        description=f"In a prefill the ratio rises from {prefill[0]:.2f} to {prefill[-1]:.2f}. For one query it falls from "
        f"{decode[0]:.2f} to {decode[-1]:.3f}.",
    )
