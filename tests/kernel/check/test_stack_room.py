"""Checks run in a deep stack frame, so that Python does not allocate and free a stack chunk at every call."""

import resource

from derivations.kernel.check.worker import call_with_large_frame

CALLS = 200


def called(depth: int) -> int:
    """How many pages are had of the system in a loop of calls, so many calls deep."""
    if depth:
        return called(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(CALLS):
        nothing(1, 2, 3)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def nothing(a, b, c):
    return a


def most() -> int:
    return max(called(depth) for depth in range(400))


def test_no_depth_has_a_piece_of_the_stack_taken_at_each_call():
    assert most() > CALLS / 2  # somewhere without room
    assert call_with_large_frame(most) < CALLS / 2
