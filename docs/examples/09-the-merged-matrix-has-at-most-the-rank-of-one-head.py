# True: the merged matrix has at most the rank of one head

from derivations.kernel import Derivation, matrix, rank, sizes

d, d_k = sizes("d d_k")
W_Q, W_K = matrix("W_Q", d, d_k), matrix("W_K", d, d_k)
derivation = Derivation("A merged matrix")
derivation.inequality("rank", rank(W_Q @ W_K.T), d_k, because=(W_Q, W_K.T), title="The rank of a merged matrix")
