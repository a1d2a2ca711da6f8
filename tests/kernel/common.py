"""Symbols, texts and helpers that several test files of the kernel share."""


def has_code(code):
    """Return a check for `pytest.raises(..., check=has_code(...))`, which asserts the code of the error."""

    def check(error):
        assert error.code == code, f"{error.code}: {error}"
        return True

    return check
