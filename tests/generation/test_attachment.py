"""Parts that were written with errors meet again, and their copies stand in order."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.checks import body_count
from neurok.generation.attachment import attach
from neurok.generation.contacts import farthest, missing
from neurok.generation.copies import GOLDEN, laid_out
from neurok.geometry import lie
from neurok_lab.data.household import drawn


@pytest.fixture(scope="module")
def crib():
    return drawn("crib", 0, 11)


@pytest.fixture(scope="module")
def plant():
    return drawn("plant", 0, 17)


def number_of(assembly, name):
    return [part.name for part in assembly.parts].index(name)


def changed(assembly, number, **fields):
    parts = list(assembly.parts)
    parts[number] = replace(parts[number], **fields)
    return replace(assembly, parts=tuple(parts))


def test_an_object_whose_parts_meet_is_left_where_it_is(crib):
    found = attach(crib)
    assert found.bodies == 1
    assert found.moved < 1e-6


def test_a_row_with_a_slight_turn_and_slope_is_straight_again(crib):
    number = number_of(crib, "spindle")
    repeat = crib.parts[number].repeat
    step = np.asarray(repeat.step)
    bent = replace(repeat, turn=0.06, step=step * 1.1 + [0.0, 0.02, 0.0])
    other = changed(crib, number, repeat=bent)
    parent = other.parts[other.parts[number].parent]
    assert missing(other.parts[number], parent)
    row = laid_out(other.parts[number], parent).repeat
    assert row.turn == 0.0
    assert np.count_nonzero(row.step) == 1
    found = attach(other)
    assert found.bodies == 1
    assert not missing(found.assembly.parts[number], found.assembly.parts[crib.parts[number].parent])
    assert found.moved > 0.02


def test_leaves_climb_their_stem_by_the_golden_angle(plant):
    number = number_of(plant, "leaf")
    leaf = plant.parts[number]
    away = replace(leaf.repeat, pivot=np.asarray(leaf.repeat.pivot) + 0.03, turn=GOLDEN + 0.2)
    parent = plant.parts[leaf.parent]
    laid = laid_out(replace(leaf, repeat=away, centre=leaf.centre + [0.04, 0.0, 0.02]), parent)
    assert laid.repeat.turn == pytest.approx(GOLDEN)
    assert 0 not in missing(laid, parent)
    roots = laid.contacts
    assert (np.diff(roots[:, 1]) > 0).all()
    assert roots[-1, 1] < parent.copies[0].bounds[1, 1]


def test_a_part_that_is_far_off_comes_back_with_all_that_lies_on_it(crib):
    number = number_of(crib, "mattress")
    by = np.array([0.0, 0.3, 0.0])
    mattress = crib.parts[number]
    found = attach(changed(crib, number, centre=mattress.centre + by, meets=mattress.meets + by))
    assert found.bodies == 1
    assert 0.1 < found.moved < 0.31


def test_a_stretch_counts_as_much_as_its_farthest_point_moves(crib):
    part = crib.parts[number_of(crib, "mattress")]
    longer = replace(part, size=part.size * [1.1, 1.0, 1.0])
    assert farthest(longer, part) == pytest.approx(0.05 * part.size[0])
    assert farthest(replace(part, centre=part.centre + [0.0, 0.02, 0.0]), part) == pytest.approx(0.02)


def test_a_screen_lies_flat_in_its_lid_again():
    laptop = drawn("laptop", 0, 5)
    number, lid = number_of(laptop, "screen"), laptop.parts[number_of(laptop, "lid")]
    screen = laptop.parts[number]
    askew = lie.axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.06) @ screen.turn
    found = attach(changed(laptop, number, turn=askew)).assembly.parts[number]
    np.testing.assert_allclose(lid.turn.T @ found.turn, np.eye(3), atol=1e-3)


def test_a_brim_that_sags_below_its_rim_leaves_the_hat_in_one_piece():
    hat = next(one for one in (drawn("hat", 0, k) for k in range(20)) if one.parts[0].hollow is not None)
    crown = hat.parts[0]
    knots = crown.code.reshape(-1, 3).copy()
    knots[0, 1] = knots[1:3, 1].max() + 0.03
    broken = changed(hat, 0, code=knots.reshape(-1), kind="lathe")
    assert body_count([broken.parts[0].solids[0]]) == 2
    assert attach(broken).bodies == 1
