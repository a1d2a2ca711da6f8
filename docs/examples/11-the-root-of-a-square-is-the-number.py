# False: the root of a square is the number

from derivations.kernel import Derivation, scalars, sqrt

a = scalars("a")
derivation = Derivation("A root")
derivation.identity("root", sqrt(a**2), a, title="The root of a square")
