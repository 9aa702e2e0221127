"""A known object is put into the view, the proportions and the colours of a picture."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.appearance import basic, colour_words
from neurok.catalogue.asset import asset_of
from neurok.catalogue.categories import generate
from neurok.catalogue.parts import Assembly
from neurok.generation.picture_fit import (
    CELLS,
    Fitting,
    Points,
    Pose,
    boxed,
    cells_of,
    colours_seen,
    nearest_word,
    oklab,
    projected,
    stretched,
)
from neurok.generation.picture_reader import TURNS, Reading
from neurok.generation.pictures import CameraView, take_pictures


def reading(azimuth: float = 30.0, elevation: float = 20.0, proportions=(0.0, 0.0)) -> Reading:
    turns = np.full(TURNS, 1e-3)
    turns[round(azimuth / 360.0 * TURNS) % TURNS] = 1.0
    return Reading({}, {}, {}, {}, {}, proportions, turns / turns.sum(), elevation, np.ones((48, 48)))


@pytest.fixture(scope="module")
def chair() -> Assembly:
    return generate("chair", 0, 1)[0]


def test_points_project_to_where_the_renderer_draws_them(chair):
    view = CameraView(35.0, 25.0, 30.0, 0.05, 40.0, with_sky=False, with_ground=False)
    (picture,) = take_pictures(asset_of(chair), [view], 192)
    drawn, aspect = boxed(picture[..., 3] > 127, CELLS)
    flat, _ = projected(Points.of(chair).places, Pose(35.0, 25.0))
    cells, own = cells_of(flat, CELLS)
    seen = np.zeros(CELLS**2, dtype=bool)
    seen[cells] = True
    assert own == pytest.approx(aspect, abs=0.05)
    assert (seen.reshape(CELLS, CELLS) != drawn).mean() < 0.12


def test_a_fit_finds_the_proportions_that_an_outline_was_made_with(chair):
    points = Points.of(chair)
    size = np.ptp(points.places, axis=0)
    truth = Pose(30.0, 20.0, 0.25, 0.0)
    cells, aspect = cells_of(projected(points.places, truth)[0], CELLS)
    filled = np.zeros(CELLS**2, dtype=bool)
    filled[cells] = True
    own = tuple(np.log(size[1:] / size[0]))
    fitting = Fitting(filled.reshape(CELLS, CELLS), aspect, reading(proportions=own))
    pose, cost = fitting.best(points)
    start = fitting.cost(points, Pose(30.0, 20.0), np.zeros(2))
    assert cost < 0.5 * start
    assert pose.height - pose.depth > 0.1


def test_an_object_grows_by_the_logarithms_of_its_pose(chair):
    before = np.ptp(chair.bounds, axis=0)
    after = np.ptp(stretched(chair, Pose(0.0, 0.0, 0.3, 0.0)).bounds, axis=0)
    grown = np.log(after / before)
    assert 0.15 < grown[1] - grown[0] < 0.4
    assert 0.15 < grown[1] - grown[2] < 0.4
    assert stretched(chair, Pose(0.0, 0.0)) is chair


def test_parts_in_front_have_the_colours_of_their_pixels(chair):
    points, pose = Points.of(chair), Pose(20.0, 20.0)
    names = list(dict.fromkeys(part.name for part in chair.parts))
    shades = {name: np.full(3, 0.1 + 0.8 * k / len(names)) for k, name in enumerate(names)}
    flat, near = projected(points.places, pose)
    pixels, mask = np.full((96, 96, 3), 0.86), np.zeros((96, 96), dtype=bool)
    cells, _ = cells_of(flat, 96)
    for k in np.argsort(near):
        pixels[divmod(cells[k], 96)], mask[divmod(cells[k], 96)] = shades[chair.parts[points.parts[k]].name], True
    seen = colours_seen(chair, points, pose, pixels, mask)
    assert "seat" in " ".join(seen)
    right = [name for name, rgb in seen.items() if abs(rgb[0] - shades[name][0]) < 0.05]
    assert len(right) >= 0.6 * len(seen)


def test_colour_words_are_those_that_look_alike():
    assert basic(colour_words()[nearest_word(np.array([0.8, 0.05, 0.05]))]) == "red"
    white, black = oklab(np.ones(3)), oklab(np.zeros(3))
    assert white == pytest.approx([1.0, 0.0, 0.0], abs=1e-3)
    assert black == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)


def test_a_view_that_the_reader_doubts_costs_more(chair):
    points = Points.of(chair)
    seen = Fitting(np.ones((CELLS, CELLS), dtype=bool), 0.0, reading())
    sure = replace(seen, reading=replace(reading(), turns=np.full(TURNS, 1.0 / TURNS)))
    assert sure.cost(points, Pose(150.0, 20.0), np.zeros(2)) < seen.cost(points, Pose(150.0, 20.0), np.zeros(2))
