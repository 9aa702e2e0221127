"""Copies among the parts of a real model are found again, however they are arranged."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue.parts import Appearance, Part
from neurok.modelling.forms import CODE
from neurok.modelling.shapes import Shape, box, join
from neurok_lab.data.household_real import Single, repeated

LOOK = Appearance("brown", "brown", (0.4, 0.3, 0.2), "wood")
CROOKED = join([box((0.1, 0.6, 0.1)), box((0.2, 0.08, 0.08), (0.1, 0.28, 0.04))])


def singles(*shapes: Shape, finish: Appearance = LOOK) -> list[Single]:
    return [Single(shape, finish, "leg") for shape in shapes]


def copies_of(one: Single) -> list[np.ndarray]:
    shape = Shape(one.solid.vertices - one.centre, one.solid.faces)
    part = Part("leg", "support", "implicit", np.zeros(CODE), one.size, one.centre, np.eye(3), one.appearance,
                repeat=one.repeat, mesh=shape)  # fmt: skip
    return [copy.bounds.mean(axis=0) for copy in part.copies]


def mirrored(shape: Shape, x: float, z: float) -> Shape:
    flipped = Shape(shape.vertices * [x, 1.0, z], shape.faces)
    return flipped.flipped() if x * z < 0 else flipped


def test_four_legs_are_one_that_is_mirrored_twice():
    leg = CROOKED.move(0.4, 0.3, 0.3)
    found = repeated(singles(*(mirrored(leg, x, z).move(x=0.05) for x in (1.0, -1.0) for z in (1.0, -1.0))))
    assert [one.repeat.mirror for one in found] == ["xz"]
    assert found[0].repeat.pivot == pytest.approx([0.05, 0.0], abs=1e-6)
    assert {tuple(np.sign(np.round(c[[0, 2]] - [0.05, 0.0], 3))) for c in copies_of(found[0])} == {
        (1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0),
    }  # fmt: skip


def test_slats_in_a_row_are_one_with_a_step():
    found = repeated(singles(*(box((0.05, 0.4, 0.02), (0.1 * k, 0.2, 0.0)) for k in (2, 0, 1, 4, 3))))
    assert [one.repeat.count for one in found] == [5]
    np.testing.assert_allclose(sorted(c[0] for c in copies_of(found[0])), 0.1 * np.arange(5), atol=1e-9)


def test_arms_of_a_star_are_one_that_is_turned():
    arm = CROOKED.turn("x", 90).move(z=0.5, y=0.1)
    found = repeated(singles(*(arm.turn("y", 72.0 * k) for k in range(5))))
    assert [(one.repeat.count, round(float(np.degrees(one.repeat.turn)))) for one in found] == [(5, 72)]


def test_what_differs_in_size_or_colour_stays_alone():
    red = replace(LOOK, rgb=(0.9, 0.1, 0.1))
    things = [
        *singles(box((0.2, 0.2, 0.2), (1.0, 0.0, 0.0)), box((0.2, 0.25, 0.2), (-1.0, 0.0, 0.0))),
        *singles(box((0.2, 0.2, 0.2), (-1.0, 1.0, 0.0)), finish=red),
    ]
    assert [one.repeat.total for one in repeated(things)] == [1, 1, 1]


def test_copies_that_lie_on_each_other_are_no_row_without_end():
    slats = [box((0.05, 0.4, 0.02), (0.1 * k, 0.2, 0.0)) for k in (0, 1, 2, 3)]
    doubled = [*slats, *(slat.move(z=0.001) for slat in slats)]
    found = repeated(singles(*doubled))
    assert sum(one.repeat.total for one in found) == len(doubled)
    assert len(found) < len(doubled)
