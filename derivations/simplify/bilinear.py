"""The scores are a bilinear form in the input: the merged matrix, its rank, what it leaves open, and its cost."""

from sympy import Eq, Idx, Inverse, Le, MatAdd, MatMul, MatrixSymbol, Sum, Symbol, Transpose, evaluate, sqrt, symbols
from sympy.matrices.expressions.matexpr import MatrixElement

from derivations.kernel import Derivation, invertible, nonnegative, rank, softmax

n, m, d, d_k, d_v, h = symbols("n m d d_k d_v h", integer=True, positive=True)
X, Y, Z, U = MatrixSymbol("X", n, d), MatrixSymbol("Y", n, d), MatrixSymbol("Z", m, d), MatrixSymbol("U", m, d)
W_Q, W_K = MatrixSymbol("W_Q", d, d_k), MatrixSymbol("W_K", d, d_k)
W_V, W_O = MatrixSymbol("W_V", d, d_v), MatrixSymbol("W_O", d_v, d)
W, M = MatrixSymbol("W", d, d), MatrixSymbol("M", d_k, d_k)
P, S = MatrixSymbol("P", n, m), MatrixSymbol("S", n, n)
c = Symbol("c", real=True)
i, j, a, b = Idx("i", n), Idx("j", n), Idx("a", d), Idx("b", d)
Q, K = MatMul(X, W_Q), MatMul(X, W_K)

derivation = Derivation("The scores are a bilinear form")

with evaluate(False):  # SymPy keeps what is written
    derivation.chain(
        "merged",
        MatMul(Q, Transpose(K)),
        (MatMul(Q, MatMul(W_K.T, X.T)), "a transpose reverses a product"),
        (MatMul(X, MatMul(W_Q, W_K.T), X.T), "regroup"),
        code=[
            ("snippets.simplify.bilinear.split_scores", X, W_Q, W_K, {"scale": 1}),
            ("snippets.simplify.bilinear.merged_scores", X, ("snippets.simplify.bilinear.merge_projections", W_Q, W_K, {"scale": 1})),
        ],
        title="The scores are a bilinear form in the input",
    )

    derivation.identity(
        "merged-scaled",
        Eq(
            MatMul(1 / sqrt(d_k), Q, Transpose(MatMul(Z, W_K))),
            MatMul(X, MatMul(1 / sqrt(d_k), W_Q, W_K.T), Z.T),
        ),
        uses=["merged"],
        code=[("snippets.attention.formula.scores", Q, MatMul(Z, W_K))],
        title="With another context, and with the scale in the merged matrix",
    )

    derivation.identity(
        "one-score",
        MatrixElement(MatMul(X, W, X.T), i, j),
        Sum(X[i, a] * W[a, b] * X[j, b], b, a),
        code=[("snippets.simplify.bilinear.merged_scores", X, W)],
        title="One score is a double sum over features",
    )

    derivation.identity(
        "linear-in-each",
        Eq(
            MatMul(MatAdd(c * X, Y), W, Transpose(MatAdd(Z, U))),
            MatAdd(MatMul(c, X, W, Z.T), MatMul(c, X, W, U.T), MatMul(Y, W, Z.T), MatMul(Y, W, U.T)),
        ),
        title="The scores are linear on the query side and additive on the key side",
    )

    derivation.identity(
        "quadratic",
        Eq(MatMul(2 * X, W, Transpose(2 * X)), MatMul(4, X, W, X.T)),
        code=[("snippets.simplify.bilinear.merged_scores", 2 * X, W)],
        title="With self-attention, doubling the input multiplies the scores by four",
    )

    derivation.inequality(
        "rank",
        rank(MatMul(W_Q, W_K.T)),
        d_k,
        because=(W_Q, W_K.T),
        reason="a product whose inner dimension is $d_k$",
        title="The rank of the merged matrix is at most the width of the head",
    )

    derivation.chain(
        "gauge",
        MatMul(MatMul(X, MatMul(W_Q, M)), Transpose(MatMul(X, MatMul(W_K, Transpose(Inverse(M)))))),
        (MatMul(Q, MatMul(M, Inverse(M)), Transpose(K)), "a transpose reverses a product; regroup"),
        (MatMul(Q, Transpose(K)), "a matrix times its inverse is the identity"),
        given=[invertible(M)],
        code=[
            ("snippets.simplify.bilinear.split_scores", X, W_Q, W_K, {"scale": 1}),
            (
                "snippets.simplify.bilinear.split_scores",
                X,
                ("snippets.simplify.bilinear.change_gauge[0]", W_Q, W_K, M),
                ("snippets.simplify.bilinear.change_gauge[1]", W_Q, W_K, M),
                {"scale": 1},
            ),
        ],
        title="Other projections with the same scores",
    )

    derivation.identity(
        "column-space",
        Eq(MatMul(MatMul(W_Q, M), Inverse(M)), W_Q),
        given=[invertible(M)],
        title="The inverse matrix gives the query matrix back",
    )

    derivation.identity(
        "swap",
        Eq(MatMul(K, Transpose(Q)), Transpose(MatMul(Q, Transpose(K)))),
        code=[("snippets.simplify.bilinear.split_scores", X, W_K, W_Q, {"scale": 1})],
        title="Swapping queries and keys transposes the scores",
    )

    derivation.refute(
        "swap-weights",
        softmax(S.T),
        softmax(S).T,
        at={S: [[0, 1], [0, 0]]},
        title="The weights of transposed scores need not be transposed weights",
    )

    derivation.chain(
        "output-merged",
        MatMul(P, MatMul(Z, W_V), W_O),
        (MatMul(P, Z, MatMul(W_V, W_O)), "regroup"),
        code=[
            ("snippets.simplify.bilinear.split_output", P, Z, W_V, W_O),
            ("snippets.simplify.bilinear.merged_output", P, Z, MatMul(W_V, W_O)),
        ],
        title="The matrices for values and output merge too",
    )

    derivation.inequality(
        "output-rank",
        rank(MatMul(W_V, W_O)),
        d_v,
        because=(W_V, W_O),
        title="The rank of the second merged matrix is at most the width of the values",
    )

    split = derivation.define(
        "c_s",
        2 * n * d * d_k + n**2 * d_k,
        code=[("snippets.simplify.bilinear.split_multiplications", n, d, d_k)],
        title="Multiplications with two projections, $c_s$",
    )
    merged = derivation.define(
        "c_m",
        n * d**2 + n**2 * d,
        code=[("snippets.simplify.bilinear.merged_multiplications", n, d)],
        title="Multiplications with one merged matrix, $c_m$",
    )

    derivation.identity(
        "cost-difference",
        merged - split,
        n * d * (d - 2 * d_k) + n**2 * (d - d_k),
        title="The extra multiplications of the merged form",
    )

    derivation.identity(
        "cost-one-head",
        Eq(n * d**2 + n**2 * d, (2 * n * d * d + n**2 * d) - n * d**2),
        code=[("snippets.simplify.bilinear.merged_multiplications", n, d)],
        title="For a head as wide as the model, merging saves one projection",
    )

    derivation.inequality(
        "cost-heads",
        Le(2 * n * d * (d / h) + n**2 * (d / h), n * d**2 + n**2 * d),
        because=n * d**2 * (h - 2) / h + n**2 * d * ((h - 2) + 1) / h,
        given=[nonnegative(h - 2)],
        title="With two or more heads, merging saves no multiplications",
    )

    derivation.inequality(
        "parameters",
        Le(2 * d * (d / h), d**2),
        because=d**2 * (h - 2) / h,
        given=[nonnegative(h - 2)],
        title="With two or more heads, the merged matrix has at least as many entries",
    )

if __name__ == "__main__":
    derivation.main()
