"""Known objects found by pictures of them."""

import numpy as np
import pytest

from neurok_lab.data.household import drawn
from neurok_lab.evaluation.generation_pictures import ASPECT, GRID, Retrieval, colours_of, outline_of


def mask(top, left, bottom, right, side=112):
    pixels = np.zeros((side, side), dtype=bool)
    pixels[top:bottom, left:right] = True
    return pixels


def picture(shape, colour):
    return np.dstack([np.full((*shape.shape, 3), colour, dtype=np.uint8), 255 * shape.astype(np.uint8)])


def test_an_outline_fills_its_box_wherever_it_stands():
    outline = outline_of(mask(10, 30, 90, 70))
    np.testing.assert_allclose(outline[:-1], 1.0 / GRID)
    assert outline[-1] == pytest.approx(ASPECT * np.log(80 / 40))


def test_half_a_box_is_half_full():
    shape = mask(0, 0, 96, 96)
    shape[:48, :48] = False
    outline = outline_of(shape)[:-1].reshape(GRID, -1) * GRID
    half = GRID // 2
    np.testing.assert_allclose(outline[:half, :half], 0.0, atol=1e-9)
    assert outline.mean() == pytest.approx(0.75)


def test_nothing_has_no_outline():
    assert not outline_of(mask(0, 0, 0, 0)).any()


def test_the_nearest_is_found_by_shape_or_by_colour():
    tall, wide = mask(5, 40, 105, 70), mask(40, 5, 70, 105)
    known = [picture(tall, (200, 0, 0)), picture(wide, (0, 0, 200))]
    store = Retrieval(
        ["vase 0/1", "pillow 0/1"],
        np.stack([colours_of(one) for one in known]),
        np.stack([outline_of(one[..., 3] > 127) for one in known]),
    )
    asked = picture(tall, (0, 0, 200))
    assert store.by_outline(asked).category == "vase"
    assert store.by_outline(asked).parts[0].name == drawn("vase", 0, 1).parts[0].name
    assert store.by_colours(picture(wide, (0, 0, 190))).category == "pillow"
