# True: a product of two numbers is at most the mean of their squares

from derivations.kernel import Derivation, scalars

a, b = scalars("a b")
derivation = Derivation("Two numbers")
derivation.inequality("mean", a * b, (a**2 + b**2) / 2, because=(a - b) ** 2 / 2, title="A product and two squares")
