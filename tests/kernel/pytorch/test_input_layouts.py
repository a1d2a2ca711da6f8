"""Input layouts in each trial: all of them at a size larger than before, otherwise in rotation until each was tried."""

import pytest

from derivations.kernel.pytorch.float_formats import FORMATS
from derivations.kernel.pytorch.input_layouts import LAYOUTS
from derivations.kernel.pytorch.snippet_run_schedule import Rotation

SIZES = [{"n": 1, "m": 1}, {"n": 2, "m": 2}, {"n": 4, "m": 3}, {"n": 3, "m": 4}, {"n": 2, "m": 9}, {"n": 9, "m": 2}]


def looks(several: list, points: int = 8, in_formats: bool = True) -> list:
    turns = Rotation()
    return [turns.look(sizes, points, in_formats) for sizes in several]


def all_asked(look, points: int = 8) -> bool:
    return list(look.points) == list(range(points)) and look.layouts == tuple(LAYOUTS) and look.formats == FORMATS


def test_where_a_size_is_larger_than_before_all_is_asked():
    assert [all_asked(look) for look in looks(SIZES)] == [False, True, True, True, True, True]
    assert [all_asked(look) for look in looks([*SIZES, *SIZES])][len(SIZES) :] == [False] * len(SIZES)


def test_the_first_odd_size_is_looked_at_in_all_formats():
    """Half precision goes by pairs, of which one is left over there."""
    seen = looks([{"n": 1}, {"n": 8}, {"n": 6}, {"n": 3}, {"n": 5}])
    assert [look.formats == FORMATS for look in seen] == [True, True, False, True, False]


def test_the_first_trial_is_in_all_formats():
    """Of a refutation it may be the only one."""
    assert looks([{"n": 1}])[0].formats == FORMATS


def test_a_claim_without_sizes_is_asked_all_at_once():
    assert [all_asked(look, 32) for look in looks([{}, {}], 32)] == [True, False]


@pytest.mark.parametrize("points", [1, 2, 5, 8, 30, 32])
def test_by_turns_all_is_asked(points):
    """So that nothing goes wrong in one layout, in one format or at one point alone and is never met: over thirteen trials, which most claims have."""
    seen = looks([{"n": 1}] * 13, points)
    assert not any(all_asked(look, points) and points > 2 for look in seen)
    assert {point for look in seen for point in look.points} == set(range(points))
    assert {layout for look in seen for layout in look.layouts} == set(LAYOUTS)
    assert {f for look in seen for f in look.formats} == set(FORMATS)
    assert sum(len(look.watched) for look in seen) >= 4
    assert all(len(look.points) <= max(2, (points + 1) // 2) and set(look.watched) <= set(look.points) for look in seen)


def test_where_entries_are_large_or_tiny_no_point_is_left_out():
    """There an exponential overflows, at few of the points."""
    turns = Rotation()
    assert [len(turns.look({"n": 1}, 8, True, scaled).points) for scaled in (False, True, False, True)] == [4, 8, 4, 8]


def test_each_layout_is_tried_in_each_format_and_at_both_halves_of_the_points():
    seen = looks([{"n": 1}] * 30)
    assert {(layout, f) for look in seen for layout in look.layouts for f in look.formats} == {
        (layout, f) for layout in LAYOUTS for f in FORMATS
    }
    assert {(layout, look.points[-1] % 2) for look in seen for layout in look.layouts} == {
        (layout, k) for layout in LAYOUTS for k in (0, 1)
    }


def test_the_first_trial_is_watched():
    """What keeps something, or writes to what it gave before, is told so, and not what comes of it."""
    assert looks(SIZES)[0].watched and looks([{}], 32)[0].watched
