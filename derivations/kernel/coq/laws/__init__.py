"""The part of the Coq witness that is about laws: expectations and variances, at every size.

what has to be right     `notation.py` says what a law is in Coq, and what each assumption about what is random says there; it begins with
                         the words of `prelude_laws.v`: variance, independent, entries
what Coq judges          `refutations.py` states that a law does not hold, and writes the proof, by normal variables of the stated moments;
                         the rest of `prelude_laws.v`, which `prelude.py` reads: lemmas, that such random variables exist, and
                         the tactics that take expectations

Not stated, each with its reason: functions of what is random that are neither polynomials nor exponentials of what is linear in it, both
together, and refutations with exponentials. That variables with the exponentials of normal ones exist is not shown.
"""
