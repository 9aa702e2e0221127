"""The one frame in which networks see objects."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurok.catalogue.samples import make_sample
from neurok.core.mesh import UnitBox, frame_change
from neurok.geometry.lie import axis_angle_matrix

POINTS = np.random.default_rng(0).normal(size=(40, 3)) * [2.0, 0.5, 1.0]


@pytest.mark.parametrize("up", ["y", "z"])
def test_the_box_around_points_is_centred_has_one_as_longest_side_and_stands_upright(up):
    inside = UnitBox.around(POINTS, up).to_box(POINTS)
    low, high = inside.min(axis=0), inside.max(axis=0)
    np.testing.assert_allclose(low + high, 0.0, atol=1e-12)
    assert (high - low).max() == pytest.approx(1.0)
    rise = UnitBox.around(POINTS, up).to_box(np.stack([np.zeros(3), frame_change("y", up) @ [0.0, 1.0, 0.0]]))
    np.testing.assert_allclose(np.diff(rise, axis=0)[0], [0.0, 1.0 / np.ptp(POINTS, axis=0).max(), 0.0], atol=1e-12)


def test_the_box_of_a_mesh_is_the_same_wherever_it_lies_and_whichever_axis_is_up():
    mesh = make_sample("lamp").mesh
    lying = mesh.in_frame("z", 0.01)
    far = lying.vertices + [3.0, 1.0, -2.0]
    first = UnitBox.around(mesh.vertices, mesh.up).to_box(mesh.vertices)
    np.testing.assert_allclose(UnitBox.around(far, "z").to_box(far), first, atol=1e-9)


@given(
    st.sampled_from(["y", "z"]),
    st.floats(1e-3, 1e3),
    st.lists(st.floats(-100, 100), min_size=3, max_size=3),
)
def test_there_and_back_is_where_it_was(up, scale, shift):
    points = scale * POINTS + shift
    box = UnitBox.around(points, up)
    np.testing.assert_allclose(box.from_box(box.to_box(points)), points, atol=1e-9 * (scale + np.abs(points).max()))
    assert box.to_box(points[None, :4]).shape == (1, 4, 3)


@pytest.mark.parametrize("up", ["y", "z"])
def test_twists_move_the_mesh_as_they_move_the_box(up):
    """Points near a centre that turn and shift in the box; their velocities on the mesh by finite differences."""
    box, rng = UnitBox.around(3.0 * POINTS + [5.0, -1.0, 2.0], up), np.random.default_rng(1)
    points = 3.0 * POINTS[:7] + [5.0, -1.0, 2.0]
    center, twist, step = points[0], rng.normal(size=6), 1e-6

    def moved(time: float) -> np.ndarray:
        turn = axis_angle_matrix(twist[:3] / np.linalg.norm(twist[:3]), float(np.linalg.norm(twist[:3])) * time)
        middle = box.to_box(center)
        return box.from_box((box.to_box(points) - middle) @ turn.T + middle + time * twist[3:])

    numeric = (moved(step) - moved(-step)) / (2 * step)
    found = box.twists_from_box(twist[:, None])[:, 0]
    np.testing.assert_allclose(np.cross(found[:3], points - center) + found[3:], numeric, atol=1e-6)


def test_one_point_has_a_box():
    assert np.isfinite(UnitBox.around(np.ones((1, 3))).to_box(np.ones((1, 3)))).all()
