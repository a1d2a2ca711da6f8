"""The part of the Coq witness that is over the real numbers, of Coq's standard library and Coquelicot.

what has to be right     `notation.py` says what a tree is over the reals, `definedness.py` where it has a value; `axioms.py` names what a
                         theorem here may assume; `derivatives.py` says what a derivative is, in the notation of the files around this room,
                         `limits.py` what a limit is, `inverses.py` what is assumed of an inverse
what Coq judges          `refutations.py` states that what is refuted does not hold in general, and proves it at the counterexample;
                         `prelude_reals.v`, which `prelude.py` reads, holds what claims speak of, and the tactics;
                         `prelude_slopes.v` holds the derivatives of what claims are made of, over MathComp's names for the reals, so
                         that the general tactics prove what is left once they are taken; `growth_proofs.py` finds how fast what is in a
                         limit grows, `entries.py` the numbers that an entry is made of, `prelude_limits.v` holds the lemmas that it names

`inverses.py` and `rounding.py` say to what inverses and roundings come at the counterexample; `refutations.py` has Coq check each.

Not stated yet, each with its reason: ranks and inverses elsewhere than in refutations, and derivatives of derivatives.
"""
