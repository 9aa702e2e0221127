import numpy as np
import trimesh

from neurok.geometry.decimate import decimate
from neurok.geometry.topology import is_watertight


def ball(detail, size=1.0):
    sphere = trimesh.creation.icosphere(detail, size)
    return np.array(sphere.vertices), np.array(sphere.faces)


def volume(vertices, faces):
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.einsum("fd,fd->", a, np.cross(b, c))) / 6.0


def test_a_ball_keeps_its_volume_and_stays_closed_at_any_scale():
    for size in (1e-3, 1.0, 1e4):
        vertices, faces, _ = decimate(*ball(4, size), 500)
        assert 400 <= len(faces) <= 500
        assert is_watertight(faces)
        assert abs(volume(vertices, faces) / (4 / 3 * np.pi * size**3) - 1) < 0.03


def test_seams_do_not_tear_open():
    vertices, faces = ball(4)
    vertices, faces, _ = decimate(vertices[faces.reshape(-1)], np.arange(faces.size).reshape(-1, 3), 500)
    assert len(faces) <= 500
    assert is_watertight(faces)


def test_groups_share_the_budget_in_proportion_and_no_vertex():
    (big, big_faces), (small, small_faces) = ball(4), ball(3)
    faces = np.concatenate([big_faces, small_faces + len(big)])
    groups = np.repeat([7, 2], [len(big_faces), len(small_faces)])
    _, coarse, labels = decimate(np.concatenate([big, small + 5.0]), faces, 1000, groups)
    assert not set(coarse[labels == 7].ravel()) & set(coarse[labels == 2].ravel())
    assert abs((labels == 7).sum() - 800) <= 20
    assert abs((labels == 2).sum() - 200) <= 20


def test_small_groups_are_kept_whole():
    vertices, faces = ball(0)
    many = np.concatenate([vertices + 3.0 * i for i in range(30)])
    all_faces = np.concatenate([faces + 12 * i for i in range(30)])
    _, coarse, labels = decimate(many, all_faces, 10, np.repeat(np.arange(30), 20))
    assert len(np.unique(labels)) == 30
    assert len(coarse) >= 30 * 4
