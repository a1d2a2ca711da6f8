"""The part of the Coq witness for laws of expectation and variance, at every size.

has to be right          `notation.py` states a law and its assumptions about distributions; the definitions at the top of
                         `prelude_laws.v` say what variance, independent and entries mean
checked by Coq           `refutations.py` states that a law does not hold, and proves it with normal variables of the stated moments;
                         the rest of `prelude_laws.v`, which `prelude.py` reads: lemmas, a proof that such random variables exist, and
                         the tactics that compute expectations

Not stated, each with its reason in a NotForCoq: functions of random variables other than polynomials and exponentials of linear
combinations, both in one expectation, and refutations with exponentials. No theorem shows that variables with the exponentials of normal
ones exist.
"""
