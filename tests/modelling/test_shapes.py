"""The modelling kit against closed forms: volumes, closedness, what a boolean leaves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurok.geometry.topology import degenerate_faces, face_components, is_watertight
from neurok.modelling import profiles
from neurok.modelling.booleans import difference, intersection, union
from neurok.modelling.shapes import box, capsule, cylinder, extrude, hull, join, lathe, loft, slab, sphere, torus
from neurok.modelling.sweeps import sweep, tube

lengths = st.floats(0.05, 3.0)


def polygon_area(segments: int, radius: float = 1.0) -> float:
    return 0.5 * segments * radius**2 * np.sin(2 * np.pi / segments)


EXAMPLES = {
    "box": box((1, 2, 3)),
    "chamfered box": box((1, 2, 3), chamfer=0.1),
    "slab": slab((0, 0, 0), (1, 2, 3)),
    "cylinder": cylinder(1, 2, chamfer=0.1),
    "cone": cylinder(1, 2, top=0.0),
    "sphere": sphere(1.0),
    "capsule": capsule(0.5, 2.0),
    "torus": torus(2.0, 0.5),
    "cup": lathe([(0, 0), (1, 0), (1, 2), (0.9, 2), (0.9, 0.1), (0, 0.1)]),
    "open lathe": lathe([(1, 0), (2, 1), (1, 2)]),
    "plate": extrude(profiles.rectangle(2, 1, 0.2), 0.3, bevel=0.05),
    "plate with holes": extrude(
        profiles.rectangle(4, 4, 0.2), 0.3, [profiles.circle(0.5), profiles.circle(0.4) + 1.0], 0.05
    ),
    "angle": extrude(np.array([[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2.0]]), 1),
    "bent tube": tube([(0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 1, 1)], 0.1),
    "closed tube": tube(np.column_stack([profiles.circle(1.0, 40), np.zeros(40)]), 0.1, closed=True),
    "hull": hull(np.random.default_rng(0).normal(size=(50, 3))),
    "difference": difference(box((2, 2, 2)), box((1, 1, 3))),
    "mirrored": box((1, 2, 3), (4, 4, 4), 0.1).mirror("x"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_solid_is_closed_faces_outwards_and_has_no_degenerate_face(name):
    shape = EXAMPLES[name]
    assert is_watertight(shape.faces)
    assert shape.volume > 0
    assert not degenerate_faces(shape.vertices, shape.faces).any()


@given(lengths, lengths, lengths)
def test_a_box_has_the_volume_of_its_sides(x, y, z):
    assert box((x, y, z)).volume == pytest.approx(x * y * z)


def test_a_chamfer_takes_a_known_volume_off_a_box():
    c = 0.1
    # Each edge loses a prism of c^2/2; where three prisms meet at a corner they overlap in all but a tetrahedron.
    edges = 4 * (1 + 2 + 3) * c**2 / 2
    overlap = 8 * (3 * c**3 / 2 - 5 * c**3 / 6)
    assert box((1, 2, 3), chamfer=c).volume == pytest.approx(6 - edges + overlap, rel=1e-3)


@given(lengths, lengths, st.integers(3, 40))
def test_a_cylinder_has_the_volume_of_its_polygon(radius, height, segments):
    assert cylinder(radius, height, segments).volume == pytest.approx(polygon_area(segments, radius) * height)


def test_a_lathe_gives_a_frustum_and_a_cone():
    area = polygon_area(32)
    assert lathe([(2, 0), (1, 3)], 32).volume == pytest.approx(area * 3 / 3 * (4 + 2 + 1))
    assert lathe([(2, 0), (0, 3)], 32).volume == pytest.approx(area * 4)


def test_a_torus_follows_pappus():
    assert torus(2.0, 0.5, 200, 100).volume == pytest.approx(2 * np.pi**2 * 2.0 * 0.25, rel=5e-3)


@given(lengths, lengths)
def test_a_mitred_frame_has_the_volume_of_its_centre_line(width, height):
    corners = profiles.rectangle(1.0 + width, 1.0 + height)
    path = np.column_stack([corners, np.zeros(4)])
    bar = sweep(profiles.rectangle(0.1, 0.2), path, closed=True, up=(0, 0, 1))
    assert bar.volume == pytest.approx(2 * (2.0 + width + height) * 0.02, rel=1e-9)


def test_a_bent_tube_does_not_twist_and_keeps_its_volume():
    t = np.linspace(0, np.pi / 2, 50)
    arc = np.column_stack([np.cos(t), np.sin(t), np.zeros_like(t)])
    assert tube(arc, 0.1, 32).volume == pytest.approx(np.pi / 2 * polygon_area(32, 0.1), rel=1e-3)


def test_a_plate_with_holes_loses_their_area():
    plate = extrude(profiles.rectangle(4, 4), 0.5, [profiles.circle(0.5, 24), profiles.rectangle(0.5, 0.5) + 1.2])
    assert plate.volume == pytest.approx(0.5 * (16 - polygon_area(24, 0.5) - 0.25))


def test_booleans_obey_inclusion_and_exclusion():
    a, b = box((2, 2, 2)), sphere(1.2).move(0.5, 0.3, 0.1)
    both = intersection(a, b).volume
    assert union(a, b).volume == pytest.approx(a.volume + b.volume - both, rel=1e-9)
    assert difference(a, b).volume == pytest.approx(a.volume - both, rel=1e-9)


def test_joined_shapes_stay_separate_components():
    both = join([box((1, 1, 1)), box((1, 1, 1), (1, 0, 0), 0.1).pictured("x", "y")])
    assert face_components(both.vertices, both.faces).max() == 1
    assert both.uv is not None


def test_lying_down_keeps_the_length_and_the_orientation():
    rod = cylinder(0.1, 3.0)
    for axis, index in (("x", 0), ("y", 1), ("z", 2)):
        lying = rod.along(axis)
        assert np.ptp(lying.bounds, axis=0)[index] == pytest.approx(3.0)
        assert lying.volume == pytest.approx(rod.volume)


def test_a_loft_between_unequal_squares_is_a_prismatoid():
    square = np.array([[1, 0, 1], [-1, 0, 1], [-1, 0, -1], [1, 0, -1.0]])
    assert loft([square, square * 0.5 + (0, 3, 0)]).volume == pytest.approx(3 / 6 * (4 + 4 * 2.25 + 1))


@given(st.floats(0.0, 0.2))
def test_an_inset_rectangle_loses_twice_the_amount_per_side(amount):
    small = profiles.inset(profiles.rectangle(2, 1), amount)
    np.testing.assert_allclose(np.ptp(small, axis=0), [2 - 2 * amount, 1 - 2 * amount])


def test_a_smooth_curve_passes_through_its_points():
    points = np.array([[0, 0, 0], [1, 2, 0], [3, 1, 1], [4, 0, 0.0]])
    np.testing.assert_allclose(profiles.smooth_curve(points, 3 * 8 + 1)[::8], points, atol=1e-12)
