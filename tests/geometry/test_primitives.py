"""Solids that simulators know by name."""

import numpy as np
import pytest

from neurok.geometry import lie
from neurok.geometry.convex import Primitive, enclosing, hull_planes, hull_volume


@pytest.mark.parametrize("kind", ["box", "cylinder", "sphere"])
def test_a_piece_around_a_primitive_holds_it_and_is_hardly_larger(kind):
    size = np.array([0.4, 0.4, 0.4 if kind == "sphere" else 1.1])
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = lie.axis_angle_matrix(np.array([1.0, 2.0, 0.5]) / 2.29129, 0.7), (0.3, -0.2, 0.1)
    around = enclosing(Primitive(kind, pose, size))
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.5, 0.5, (4000, 3))
    if kind == "cylinder":
        points[:, :2] *= 0.5 / np.linalg.norm(points[:, :2], axis=1, keepdims=True)
    elif kind == "sphere":
        points *= 0.5 / np.linalg.norm(points, axis=1, keepdims=True)
    normals, heights = hull_planes(around)
    assert (((points * size) @ pose[:3, :3].T + pose[:3, 3]) @ normals.T <= heights + 1e-9).all()
    volume = size.prod() * {"box": 1.0, "cylinder": np.pi / 4, "sphere": np.pi / 6}[kind]
    assert volume * 0.999 < hull_volume(around) < 1.04 * volume
