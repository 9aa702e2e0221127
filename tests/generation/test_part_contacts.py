"""Rays tell that two solids overlap only where the volume of their intersection does, too."""

import numpy as np
import pytest

from neurok.catalogue import generate
from neurok.catalogue.checks import LEAST_VOLUME
from neurok.catalogue.parts import Appearance, Part, Repeat
from neurok.generation.contacts import boxes_of, met_copies, spans_inside, surely_overlap
from neurok.geometry import lie
from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import mesh_of
from neurok.modelling.shapes import Shape, box
from neurok_lab.parts.part_frames import plain_forms

LOOK = Appearance("brown", "brown", (0.4, 0.3, 0.2), "wood")


def told(one: Shape, other: Shape) -> bool:
    ends = np.stack([one.bounds, other.bounds])
    return surely_overlap(
        (one.vertices, one.faces), (other.vertices, other.faces), ends[:, 0].max(axis=0), ends[:, 1].min(axis=0)
    )


def test_a_line_is_inside_a_box_from_face_to_face():
    solid = box((2.0, 1.0, 0.5), (0.3, 0.0, 0.0))
    for axis, (low, high) in enumerate(solid.bounds.T):
        found = spans_inside((solid.vertices, solid.faces), axis, np.array([0.21, 0.13, 0.07]))
        np.testing.assert_allclose(found, [[low, high]], atol=1e-12)


def test_a_line_through_a_hollow_is_inside_its_walls_only():
    cup = mesh_of("lathe", plain_forms(np.ones(3))[2][1], np.ones(3))
    turned_round = Shape(0.5 * cup.vertices, cup.faces[:, ::-1])
    both = Shape(
        np.concatenate([cup.vertices, turned_round.vertices]),
        np.concatenate([cup.faces, turned_round.faces + len(cup.vertices)]),
    )
    found = spans_inside((both.vertices, both.faces), 0, np.array([0.0, 0.013, 0.021]))
    assert len(found) == 2
    assert found[0, 1] < -0.2 < 0.2 < found[1, 0]


def test_boxes_that_only_touch_or_stand_apart_are_not_told_to_share():
    first = box((1.0, 1.0, 1.0))
    assert told(first, box((1.0, 1.0, 1.0), (0.99, 0.2, 0.1)))
    assert not told(first, box((1.0, 1.0, 1.0), (1.0, 0.2, 0.1)))
    assert not told(first, box((1.0, 1.0, 1.0), (1.0 + 1e-9, 0.2, 0.1)))
    assert not told(first, box((1.0, 1.0, 1.0), (1.0 - 1e-12, 0.2, 0.1)))


def test_what_lines_tell_is_what_cutting_tells():
    rng, found = np.random.default_rng(0), []
    forms = [mesh_of(kind, code, np.ones(3)) for kind, code in plain_forms(np.ones(3))]
    for _ in range(60):
        pair = []
        for form in rng.choice(len(forms), 2):
            axis = rng.normal(size=3)
            turn = lie.axis_angle_matrix(axis / np.linalg.norm(axis), rng.uniform(0.0, np.pi))
            vertices = (forms[form].vertices * rng.uniform(0.05, 1.0, 3)) @ turn.T + rng.uniform(-0.35, 0.35, 3)
            pair.append(Shape(vertices, forms[form].faces))
        ends = np.stack([shape.bounds for shape in pair])
        if (ends[:, 0].max(axis=0) < ends[:, 1].min(axis=0)).all():
            found.append((told(*pair), (to_manifold(pair[0]) ^ to_manifold(pair[1])).volume() > LEAST_VOLUME))
    assert not any(is_told and not is_true for is_told, is_true in found)
    right = [is_told for is_told, is_true in found if is_true]
    assert len(right) > 15
    assert np.mean(right) > 0.5, "or it saves nothing"


@pytest.mark.parametrize("repeat", [Repeat("xz", pivot=(0.1, -0.2)), Repeat(count=5, turn=0.7, lean=0.2, scale=0.9)])
def test_boxes_of_copies_are_those_of_the_solids_to_the_last_digit(repeat):
    (kind, code), axis = plain_forms(np.ones(3))[1], np.array([0.6, 0.0, 0.8])
    size, centre, turn = np.array([0.3, 0.2, 0.7]), np.array([0.4, 0.3, 0.1]), lie.axis_angle_matrix(axis, 0.4)
    part = Part("leg", "support", kind, code, size, centre, turn, LOOK, repeat=repeat, meets=np.array([0.4, 0.2, 0.1]))
    expected = np.array([solid.bounding_box() for solid in part.solids]).reshape(-1, 2, 3)
    np.testing.assert_array_equal(boxes_of(part), expected)


@pytest.mark.parametrize("category", ["chair", "plant"])
def test_copies_meet_their_parents_where_cutting_says_so(category):
    parts = generate(category, 0, 3)[0].parts
    for part in parts[1:]:
        parent = parts[part.parent]
        expected = [any((one ^ other).volume() > LEAST_VOLUME for other in parent.solids) for one in part.solids]
        assert met_copies(part, parent) == expected
    away = Part(**{**{name: getattr(parts[1], name) for name in Part.__dataclass_fields__}, "centre": np.full(3, 9.0)})
    assert not any(met_copies(away, parts[0]))
