"""The graph of a whole block of self-attention."""

from derivations.kernel.pages.drawing import Picture, operations


def block() -> Picture:
    return operations(
        {
            "X": ("$X$", 1, 0, "$n × d$"),
            "to Q": ("times $W_Q$", 0, 1),
            "to K": ("times $W_K$", 1, 1),
            "to V": ("times $W_V$", 2, 1),
            "Q": ("$Q$", 0, 2, "$n × d_k$"),
            "K": ("$K$", 1, 2, "$n × d_k$"),
            "V": ("$V$", 2, 2, "$n × d_v$"),
            "dot": ("matrix product", 0.5, 3),
            "scale": ("scale", 0.5, 4),
            "mask": ("mask", 0.5, 5),
            "M": ("$M$", -0.4, 5, "$n × n$"),
            "softmax": ("softmax", 0.5, 6),
            "mix": ("matrix product", 1, 7),
            "last": ("times $W_O$", 1, 8),
            "Y": ("$Y$", 1, 9, "$n × d$"),
        },
        [
            ("X", "to Q"),
            ("X", "to K"),
            ("X", "to V"),
            ("to Q", "Q"),
            ("to K", "K"),
            ("to V", "V"),
            ("Q", "dot"),
            ("K", "dot"),
            ("dot", "scale", "scores, $n × n$"),
            ("scale", "mask"),
            ("M", "mask"),
            ("mask", "softmax"),
            ("softmax", "mix", "weights, $n × n$"),
            ("V", "mix"),
            ("mix", "last", "$n × d_v$"),
            ("last", "Y"),
        ],
        title="A block of self-attention, from its input to its output",
        description="The input X, n by d, is multiplied by three matrices, which gives the queries and keys, n by d_k, and the values, n by "
        "d_v. Queries and keys are multiplied to n by n scores, which are scaled, masked and turned into weights by softmax. "
        "The weights are multiplied with the values, and the result with W_O, which gives the output Y, n by d.",
    )
