"""Pictures of a product of three matrices, grouped both ways."""

from derivations.kernel.site.diagrams import Picture, below, shapes


def groupings() -> Picture:
    sizes = {"n": 84, "p": 28, "q": 84, "m": 28}
    factors = shapes(
        [("$A$", "n", "p"), ("$B$", "p", "q"), ("$C$", "q", "m")],
        ("$ABC$", "n", "m"),
        sizes,
        title="The three factors",
        description="A, n by p, times B, p by q, times C, q by m, is n by m.",
    )
    left = shapes(
        [("$AB$", "n", "q"), ("$C$", "q", "m")],
        ("$ABC$", "n", "m"),
        sizes,
        title="The left pair first",
        description="The product A B, n by q, times C, q by m, is n by m. The intermediate matrix is large.",
    )
    right = shapes(
        [("$A$", "n", "p"), ("$BC$", "p", "m")],
        ("$ABC$", "n", "m"),
        sizes,
        title="The right pair first",
        description="A, n by p, times the product B C, p by m, is n by m as well. The intermediate matrix is small.",
    )
    return below(factors, left, right, title="Two groupings of A, n by p, B, p by q, and C, q by m, where p and m are small")
