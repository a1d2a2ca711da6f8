# False: weights may be transposed after softmax

from derivations.kernel import Derivation, matrix, sizes, softmax

n = sizes("n")
S = matrix("S", n, n)
derivation = Derivation("Transposed weights")
derivation.identity("transposed", softmax(S).T, softmax(S.T), title="A transpose of weights")
