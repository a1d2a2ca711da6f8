# True: linear attention may be computed in either order

from derivations.kernel import Derivation, matrix, sizes

n, m, d, d_v = sizes("n m d d_v")
Q, K, V = matrix("Q", n, d), matrix("K", m, d), matrix("V", m, d_v)
derivation = Derivation("Linear attention")
derivation.identity("order", (Q @ K.T) @ V, Q @ (K.T @ V), title="Keys and values first")
