# False: a sum of rounded numbers does not depend on the order

from derivations.kernel import Derivation, in_range, representable, rounded, scalars

x, y, z = scalars("x y z")
derivation = Derivation("Rounded sums")
derivation.identity(
    "order",
    rounded(rounded(x + y, "fp32") + z, "fp32"),
    rounded(x + rounded(y + z, "fp32"), "fp32"),
    given=[representable(x, y, z), in_range()],
    title="Rounded sums in two orders",
)
