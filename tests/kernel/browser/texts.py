"""A script with claims of several kinds, and what the kernel says of texts, for tests of what runs in a browser."""

from pathlib import Path

from derivations.kernel.browser import prover
from derivations.kernel.store import certificates

ROOT = Path(__file__).parents[3]
SCRIPT = """from derivations.kernel import Derivation, exp, matrix, nonnegative, scalars, sizes, sqrt

n, d = sizes("n d")
X, W = matrix("X", n, d), matrix("W", d, d)
a, b = scalars("a b")
derivation = Derivation("A script")
derivation.identity("transposed", (X @ W).T, W.T @ X.T, title="A transpose")
derivation.identity("square", (a + b) ** 2, a**2 + 2 * a * b + b**2, title="A square")
derivation.inequality("mean", 2 * a * b, a**2 + b**2, because=(a - b) ** 2, title="Two squares")
derivation.identity("scaled", (X @ W) / sqrt(d) * sqrt(d), X @ W, title="A scale")
"""


def script_of(topic):
    return (ROOT / "derivations" / f"{topic}.py").read_text(encoding="utf-8")


def exact_verdicts(topic):
    return {one["id"]: next(w for w in one["witnesses"] if w["name"] == "exact") for one in certificates.load(topic)["claims"]}


def check(tmp_path, text, **wanted):
    return prover.check_text(str(tmp_path / "chapter" / "topic.py"), text, **wanted)
