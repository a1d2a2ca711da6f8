"""Test parameters: every run tries the first few, and the nightly run tries the others (marker `nightly`)."""

from collections.abc import Iterable

import pytest


def nightly_after(number: int, cases: Iterable) -> list:
    """Return the cases as parameters, all but the first `number` marked `nightly`."""
    as_tuples = (case if isinstance(case, tuple) else (case,) for case in cases)
    return [pytest.param(*case, marks=[pytest.mark.nightly] * (k >= number)) for k, case in enumerate(as_tuples)]
