"""Known objects found by their outlines and by what a reader says."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.picture_reader import TURNS, Reading
from neurok.generation.silhouettes import DOUBT, GRID, LISTED, Outlines, known_outlines, outline_of


def mask(top, left, bottom, right, side=112):
    out = np.zeros((side, side), dtype=bool)
    out[top:bottom, left:right] = True
    return out


READING = Reading({}, {"leg": 0.5}, {"leg": 4.0}, {}, {}, (0.0, 0.0), np.ones(TURNS) / TURNS, 20.0, np.ones((48, 48)))
EVEN = dict.fromkeys(CATEGORIES, 1.0 / len(CATEGORIES))


def test_an_outline_fills_its_box_wherever_it_stands():
    outline, aspect = outline_of(mask(10, 30, 90, 70))
    np.testing.assert_allclose(outline, 1.0)
    assert aspect == pytest.approx(np.log(80 / 40))


def test_half_a_box_is_half_full():
    shape = mask(0, 0, 96, 96)
    shape[:48, :48] = False
    outline, _ = outline_of(shape)
    np.testing.assert_allclose(outline[: GRID // 2, : GRID // 2], 0.0, atol=1e-9)
    assert outline.mean() == pytest.approx(0.75)


def test_nothing_has_no_outline():
    assert not outline_of(np.zeros((20, 20), dtype=bool))[0].any()


def small() -> Outlines:
    """A full box with legs, and a half box without, each of a category of its own."""
    full, half = np.full((GRID, GRID), 255, dtype=np.uint8), np.full((GRID, GRID), 255, dtype=np.uint8)
    half[: GRID // 2] = 0
    counts = np.array([[4], [0]], dtype=np.uint8)
    return Outlines(np.stack([full, half]), np.zeros(2), ["table", "box"], np.arange(2), [b"", b""], ("leg",), counts)


def test_outline_and_doubt_are_weighed_against_each_other():
    known, shape = small(), mask(10, 10, 90, 90)
    apart = known.apart(shape)
    assert apart == pytest.approx([0.0, np.sqrt(0.5)])
    needed = (apart[1] - apart[0]) / DOUBT

    def first(lead: float) -> int:
        return known.ranked(shape, READING, {"table": np.exp(-lead), "box": 1.0})[0].number

    assert first(needed - 0.1) == 0
    assert first(needed + 0.1) == 1


def test_parts_that_are_seen_decide_between_equal_outlines():
    known = replace(small(), outlines=small().outlines[[0, 0]])
    for present, best in ((0.9, 0), (0.1, 1)):
        reading = replace(READING, present={"leg": present}, counts={"leg": 4.0})
        ranked = known.ranked(mask(10, 10, 90, 90), reading, {"table": 0.5, "box": 0.5})
        assert ranked[0].number == best
        assert ranked[1].cost - ranked[0].cost == pytest.approx(LISTED * np.log(9.0), rel=1e-3)


def test_known_outlines_are_of_all_categories_and_hold_whole_objects():
    known = known_outlines()
    assert set(known.categories) == set(CATEGORIES)
    ranked = known.ranked(mask(10, 45, 100, 65), READING, {"lamp": 1.0})
    assert len({one.number for one in ranked}) == len(known.records)
    for one in ranked[:2]:
        found = known.object(one.number)
        assert found.category == "lamp"
        totals = {name: sum(part.repeat.total for part in found.parts if part.name == name) for name in known.names}
        np.testing.assert_array_equal(known.counts[one.number], [min(total, 255) for total in totals.values()])


def test_without_a_mask_only_the_reader_counts():
    known = known_outlines()
    best = known.ranked(None, READING, EVEN | {"vase": 0.9})[0]
    assert known.object(best.number).category == "vase"
    assert best.cost == best.disbelief
