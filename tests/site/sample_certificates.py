"""Sample certificates of every kind, so that tests of pages need no proofs."""

from copy import deepcopy

INDEPENDENT = {
    "latex": "q",
    "text": "the entries of $q$ and $k$ are independent of one another",
    "needed": "without it: at d = 1, q = k Gaussian, left = 2, right = 1",
}
EXACT = {"name": "exact", "verdict": "proved", "scope": "every shape", "note": "one normal form", "seconds": 0.01}
SYMPY = {"name": "sympy", "verdict": "proved", "scope": "sizes up to n", "note": "entries, d up to 3", "seconds": 0.2}
TORCH = {"name": "torch", "verdict": "agrees", "scope": "numbers only", "note": "drawn tensors", "seconds": 0.1}
COQ = {"name": "coq", "verdict": "not applicable", "scope": "", "note": "no matrix identity", "seconds": 0.0}


def step(relation, latex, reason=""):
    return {"relation": relation, "latex": latex, "reason": reason, "witnesses": ["exact"]}


def claim(name, kind, start, *steps, title="", scope="every shape", assumptions=(), witnesses=(EXACT, SYMPY, COQ), uses=(), **more):
    return {
        "id": name,
        "kind": kind,
        "title": title,
        "line": 31,
        "start": start,
        "steps": list(steps),
        "scope": scope,
        "latex": f"{start} {steps[0]['relation']} {steps[-1]['latex']}",
        "assumptions": list(assumptions),
        "letters": [],
        "witnesses": list(witnesses),
        "uses": list(uses),
        **more,
    }


VARIANCE = {
    "topic": "scaling/variance",
    "script": "derivations/scaling/variance.py",
    "title": "Why the scores are divided by the root of $d_k$",
    "claims": [
        claim("score", "definition", r"q\cdot k", step(":=", r"\sum_{i=1}^{d} q_i k_i"), title="A score", scope="notation", witnesses=()),
        claim(
            "mean",
            "chain",
            r"\operatorname{E}[q\cdot k]",
            step("=", r"\sum_{i=1}^{d} \operatorname{E}[q_i k_i]", "the mean of a sum is the sum of the means"),
            step("=", "0", "every factor of $q_i k_i$ has mean zero"),
            title="The mean is zero",
            assumptions=[INDEPENDENT],
            uses=["score"],
        ),
        claim(
            "variance",
            "law",
            r"\operatorname{Var}(q\cdot k)",
            step("=", "d"),
            title="The variance is $d$",
            scope="induction",
            assumptions=[INDEPENDENT],
            uses=["mean", "simplify/bilinear#merged"],
        ),
        claim("bound", "inequality", r"p(1-p)", step(r"\le", r"\frac{1}{4}")),
        claim("limit", "limit", r"\left(1+\frac{t^2}{d}\right)^{-d/2}", step(r"\to", r"\exp\left(-\frac{t^2}{2}\right)"), scope="limit"),
        claim(
            "same",
            "refutation",
            r"\operatorname{Var}(q\cdot k)",
            step(r"\ne", "d"),
            title="The variance without independence",
            scope="exact counterexample",
            counterexample=[{"latex": "d = 1"}, {"latex": "q = k"}],
            left="2",
            right="1",
            refuted="=",
        ),
    ],
}
BILINEAR = {
    "topic": "simplify/bilinear",
    "script": "derivations/simplify/bilinear.py",
    "title": "The scores are a bilinear form in the input",
    "claims": [
        claim(
            "merged",
            "chain",
            r"(X W_Q)(X W_K)^\top",
            step("=", r"(X W_Q)(W_K^\top X^\top)", "a transpose reverses a product"),
            step("=", r"X\,(W_Q W_K^\top)\,X^\top", "regroup"),
            title="The scores are a bilinear form",
        ),
        claim("scaled", "identity", r"\frac{Q K^\top}{c}", step("=", r"Q \left(\frac{K}{c}\right)^\top")),
        claim("rank", "inequality", r"\operatorname{rank}(W_Q W_K^\top)", step(r"\le", "d_k")),
    ],
}


def certificates():
    return {name["topic"]: deepcopy(name) for name in (VARIANCE, BILINEAR)}
