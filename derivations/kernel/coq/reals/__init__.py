"""The part of the Coq witness over the real numbers of Coq's standard library and Coquelicot.

has to be right          `notation.py` translates a tree to the reals, `definedness.py` says where it has a value; `axioms.py` names what a
                         theorem may assume; `derivatives.py` states claims with derivatives in the notation of the parent folder,
                         `limits.py` states limits, `inverses.py` states what an inverse is
checked by Coq           `refutations.py` states that a relation does not hold in general, and proves it at the counterexample;
                         `prelude_reals.v` holds the definitions and tactics for this; `prelude_slopes.v` holds the rules of
                         differentiation over MathComp's names for the reals, so that the general tactics finish a proof once the
                         derivatives are computed; `prelude_limits.v` holds the lemmas about growth, `growth_proofs.py` chooses among
                         them, `entries.py` expands an entry of a tensor into numbers; `prelude.py` reads the preludes

`inverses.py` and `rounding.py` compute the inverses and the rounded numbers of a counterexample, which Coq then checks.

Not stated yet, each with its reason in a NotForCoq: ranks and inverses outside refutations, and second derivatives.
"""
