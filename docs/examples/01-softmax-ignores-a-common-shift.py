# True: softmax ignores a common shift

from derivations.kernel import Derivation, ones, scalars, sizes, softmax, vector

n = sizes("n")
z = vector("z", n)
c = scalars("c")
derivation = Derivation("A common shift")
derivation.identity("shift", softmax(z + c * ones(n)), softmax(z), title="A common shift changes no weight")
