"""From text to vectors: one-hot rows, the rows of an embedding table, and the gradient that reaches the table."""

from derivations.kernel import Derivation, diff, eye, index, matrix, sizes, total, vector

n, N, d = sizes("n N d")  # tokens of a text, tokens of the vocabulary, features
E = matrix("E", N, d)  # the embedding table
T = matrix("T", n, N)  # the text: row k is the one-hot row of its k-th token
G = matrix("G", n, d)  # the gradient of a loss with respect to the rows that were looked up
g = vector("g", d)
u, v, w = index("u", N), index("v", N), index("w", N)
j, o, k = index("j", d), index("o", d), index("k", n)

derivation = Derivation("From text to vectors")

derivation.identity(
    "lookup",
    total(eye(N)[w, v] * E[v, j], v),
    E[w, j],
    title="A one-hot row times the table is a row of the table",
)

derivation.identity(
    "distance",
    total((eye(N)[u, v] - eye(N)[w, v]) ** 2, v),
    2 - 2 * eye(N)[u, w],
    title="Any two different one-hot rows have squared distance two",
)

derivation.identity(
    "gradient",
    diff(total(total(G[k, o] * (T @ E)[k, o], o), k), E[v, j]),
    (T.T @ G)[v, j],
    code=[("snippets.example.tokens.table_gradient", T, G)],
    title="The gradient of the table adds up the gradients of all occurrences",
)

derivation.identity(
    "one-row",
    diff(total(g[o] * (eye(N) @ E)[w, o], o), E[v, j]),
    eye(N)[w, v] * g[j],
    title="One token passes its gradient to its own row and to no other",
)

if __name__ == "__main__":
    derivation.main()
