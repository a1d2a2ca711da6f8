"""The part of the Coq witness that is about laws: expectations and variances, at every size.

what has to be right     `notation.py` says what a law is in Coq, and what each assumption about what is random says there; it begins with
                         the words of `prelude_laws.v`: variance, independent, entries
what Coq judges          the rest of `prelude_laws.v`, which `prelude.py` reads: lemmas and the tactics that take expectations
"""
