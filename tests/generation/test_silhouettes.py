"""Pictures read by their outlines."""

import gzip
import json

import numpy as np
import pytest

from neurok.catalogue.record import assembly_of
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.framing import PLAIN
from neurok.generation.silhouettes import DOUBT, GRID, Outlines, colour_of, known_outlines, outline_of


def picture(top, left, bottom, right, colour=(0.8, 0.1, 0.1), side=112):
    pixels = np.full((side, side, 3), PLAIN)
    pixels[top:bottom, left:right] = colour
    return pixels


def test_an_outline_fills_its_box_wherever_it_stands():
    outline, aspect = outline_of(picture(10, 30, 90, 70))
    np.testing.assert_allclose(outline, 1.0)
    assert aspect == pytest.approx(np.log(80 / 40))


def test_half_a_box_is_half_full():
    pixels = picture(0, 0, 96, 96)
    pixels[:48, :48] = PLAIN
    outline, _ = outline_of(pixels)
    np.testing.assert_allclose(outline[: GRID // 2, : GRID // 2], 0.0, atol=1e-9)
    assert outline.mean() == pytest.approx(0.75)


def test_nothing_has_no_outline():
    assert not outline_of(np.full((20, 20, 3), PLAIN))[0].any()


def test_colours_are_read_from_what_is_not_behind():
    from neurok.catalogue.appearance import basic, colour_words

    assert basic(colour_words()[colour_of(picture(20, 20, 60, 60))]) == "red"


def test_known_outlines_are_of_all_categories_and_hold_whole_objects():
    known = known_outlines()
    assert set(known.categories) == set(CATEGORIES)
    found = known.nearest(picture(10, 45, 100, 65), {"lamp": 0.0})
    assert found.category == "lamp"
    assert found.parts
    other = known.nearest(picture(10, 45, 100, 65), {"lamp": 0.0}, rank=1)
    assert other.category == "lamp"
    assert other.name != found.name


def test_outline_and_doubt_are_weighed_against_each_other():
    known, pixels = known_outlines(), picture(10, 45, 100, 65)
    alone = known.nearest(pixels)
    best = {c: known.apart(pixels)[np.array(known.categories) == c].min() for c in CATEGORIES}
    other = min((c for c in CATEGORIES if c != alone.category), key=best.__getitem__)
    needed = (best[other] - best[alone.category]) / DOUBT

    def chosen(lead: float) -> str:
        likely = dict.fromkeys(CATEGORIES, -1e3) | {alone.category: -lead, other: 0.0}
        return known.nearest(pixels, likely).category

    assert chosen(needed - 0.1) == alone.category
    assert chosen(needed + 0.1) == other


def test_an_evenly_doubting_network_leaves_the_choice_to_the_outline():
    known, pixels = known_outlines(), picture(10, 45, 100, 65)
    even = dict.fromkeys(CATEGORIES, -np.log(len(CATEGORIES)))
    assert known.nearest(pixels, even).name == known.nearest(pixels).name


def test_the_next_nearest_is_another_object_not_another_view_of_the_same():
    known, pixels = known_outlines(), picture(10, 45, 100, 65)
    outlines = np.stack([known.outlines[0]] * 2 + [255 - known.outlines[0]])
    both = Outlines(outlines, known.aspects[[0, 0, 0]], ["lamp"] * 3, np.array([0, 0, 1]), known.records[:2])
    names = [both.nearest(pixels, rank=rank).name for rank in range(3)]
    expected = [known_object(known, 0), known_object(known, 1)]
    assert sorted(names[:2]) == sorted(expected)
    assert names[2] == names[0]


def known_object(known: Outlines, number: int) -> str:
    return assembly_of(json.loads(gzip.decompress(known.records[number]))).name
