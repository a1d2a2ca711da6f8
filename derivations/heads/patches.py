"""Attention among the patches of an image: cutting, embedding, and scores in the pixels."""

from derivations.kernel import Derivation, index, matrix, ones, product_is, rank, sizes, softmax, sqrt, total, zeros
from derivations.kernel.core.expr import symbol

a, b, p, C, H, W = sizes("a b p C H W")  # rows and columns of patches, side of a patch, channels, height and width
N, d, d_k, d_v, w = sizes("N d d_k d_v w")  # patches, width of the model and of a head, numbers in a patch
T, G = matrix("T", N, w), matrix("G", w, d)  # the flattened patches, and what embeds them
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
W_V, W_O = matrix("W_V", d, d_v), matrix("W_O", d_v, d)
R, U = matrix("R", w, w), matrix("U", d, d)

derivation = Derivation("From sentences to images")

# An image by its patches: channel, row of the patch, row in the patch, column of the patch, column in it; and the kernels.
D, F = symbol("D", "real", (C, a, p, b, p)), symbol("F", "real", (d, C, p, p))
r, s, u, v, f, c = index("r", a), index("s", b), index("u", p), index("v", p), index("f", d), index("c", C)
image = ("snippets.heads.patches.assemble", D)

derivation.identity(
    "embed",
    total(D[c, r, u, s, v] * F[f, c, u, v], c, u, v),
    total(total(D[c, r, u, s, v] * F[f, c, u, v], c), u, v),
    code=[("snippets.heads.patches.embed_patches", image, F), ("snippets.heads.patches.embed_by_convolution", image, F)],
    title="One feature of one embedded patch: all at once, or channels first",
)

# The same with pixels counted in the image: A and B pick the rows and columns of one patch; L is the kernel of one number.
A, B = matrix("A", p, H), matrix("B", p, W)
Y, L = symbol("J", "real", (C, H, W)), symbol("L", "real", (C, p, p))
i, j = index("i", H), index("j", W)
derivation.identity(
    "convolution",
    total(total(A[u, i] * Y[c, i, j] * B[v, j], i, j) * L[c, u, v], c, u, v),
    total(Y[c, i, j] * total(A[u, i] * L[c, u, v] * B[v, j], u, v), c, i, j),
    title="Cut and multiply by the kernel, or lay the kernel over the image",
)

derivation.identity(
    "flatten",
    (T @ R) @ (R.T @ G),
    T @ G,
    given=[product_is(R, R.T, 1)],
    title="Reordering the pixels changes nothing if the matrix is reordered as well",
)

derivation.identity(
    "numbers",
    (H / p) * (W / p) * (C * p**2),
    C * H * W,
    title="Patches, times the numbers in each, are the numbers in the image",
)

derivation.identity(
    "half",
    ((H / (p / 2)) * (W / (p / 2))) ** 2,
    16 * ((H / p) * (W / p)) ** 2,
    title="Half the side, sixteen times the scores",
)


X = matrix("X", N, d)
weights = softmax((X @ W_Q) @ (X @ W_K).T / sqrt(d_k))
derivation.define(
    "Y",
    weights @ (X @ W_V) @ W_O,
    code=[("snippets.heads.patches.patch_attention_steps[6]", X, W_Q, W_K, W_V, W_O)],
    title="Attention among patches, $Y$",
)

derivation.chain(
    "pixels",
    (T @ G) @ U @ (T @ G).T,
    ((T @ G) @ U @ (G.T @ T.T), "a transpose reverses a product"),
    (T @ (G @ U @ G.T) @ T.T, "regroup"),
    uses=["simplify/bilinear#merged-scaled"],
    code=[("snippets.simplify.bilinear.merged_scores", T @ G, U), ("snippets.simplify.bilinear.merged_scores", T, G @ U @ G.T)],
    title="The scores are a bilinear form in the pixels",
)

derivation.inequality(
    "pixels-rank",
    rank((G @ W_Q) @ (G @ W_K).T),
    d_k,
    because=(G @ W_Q, (G @ W_K).T),
    uses=["simplify/bilinear#rank"],
    title="The rank of the bilinear form is at most the width of the queries",
)

derivation.identity(
    "black",
    softmax((zeros(N, w) @ G @ W_Q) @ (T @ G @ W_K).T / sqrt(d_k)),
    (1 / N) * ones(N, N),
    title="Without biases, a black patch attends to all patches equally",
)

if __name__ == "__main__":
    derivation.main()
