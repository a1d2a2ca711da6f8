# True: the derivative of softmax

from derivations.kernel import Derivation, diff, eye, index, sizes, softmax, vector

n = sizes("n")
z = vector("z", n)
i, j = index("i", n), index("j", n)
p = softmax(z)
derivation = Derivation("The derivative of softmax")
derivation.identity("derivative", diff(p[i], z[j]), p[i] * (eye(n)[i, j] - p[j]), title="The derivative of softmax")
