# False: softmax ignores a common factor

from derivations.kernel import Derivation, scalars, sizes, softmax, vector

n = sizes("n")
z = vector("z", n)
c = scalars("c")
derivation = Derivation("A common factor")
derivation.identity("factor", softmax(c * z), softmax(z), title="A common factor changes no weight")
