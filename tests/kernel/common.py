"""Scripts and helpers that several test files of the kernel share."""

from derivations.kernel.store.certificates import CertificateError, load

HEAD = """from derivations.kernel import Derivation, matrix, sizes
n, m = sizes("n m")
A, B = matrix("A", n, m), matrix("B", n, m)
derivation = Derivation("A test")
"""
GOOD = HEAD + 'derivation.identity("good", (A + B).T, A.T + B.T)\n'


def has_code(code):
    """Return a check for `pytest.raises(..., check=has_code(...))`, which asserts the code of the error."""

    def check(error):
        assert error.code == code, f"{error.code}: {error}"
        return True

    return check


def verdicts_by_script(records):
    """Return the verdict of the last claim of each script in the records of `check --json`, by the script's name."""
    return {record["topic"].split("/")[1]: record["verdict"] for record in records if record["id"]}


def certified_claims(topic):
    """Return the ids of the claims in the topic's certificate, or None if it has no valid certificate."""
    try:
        return [claim["id"] for claim in load(topic)["claims"]]
    except CertificateError:
        return None
