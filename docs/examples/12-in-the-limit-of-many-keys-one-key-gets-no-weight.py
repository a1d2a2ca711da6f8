# True: in the limit of many keys, one key gets no weight

from derivations.kernel import Derivation, exp, scalars, sizes

n = sizes("n")
g = scalars("g")
derivation = Derivation("Many keys")
derivation.limit("diluted", exp(g) / (exp(g) + n), n, "oo", 0, title="One key among many")
