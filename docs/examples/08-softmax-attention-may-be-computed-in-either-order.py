# False: softmax attention may be computed in either order

from derivations.kernel import Derivation, matrix, sizes, softmax

n, m, d, d_v = sizes("n m d d_v")
Q, K, V = matrix("Q", n, d), matrix("K", m, d), matrix("V", m, d_v)
derivation = Derivation("Softmax attention")
derivation.identity("order", softmax(Q @ K.T) @ V, softmax(Q) @ (softmax(K.T) @ V), title="Softmax of the factors")
