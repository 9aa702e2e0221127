import numpy as np
import pytest
import trimesh

from neurok.core import Articulation, Asset, Clip, Joint, Mesh, Skin, Surface
from neurok.doctor import decimate, decimate_asset
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.geometry.topology import face_components


def ball(center=(0.0, 0.0, 0.0), radius=1.0, detail=4):
    sphere = trimesh.creation.icosphere(subdivisions=detail, radius=radius)
    return np.array(sphere.vertices) + np.array(center), np.array(sphere.faces)


def two_parts():
    """Two touching balls as two parts, with texture coordinates and two surfaces."""
    (a, fa), (b, fb) = ball(), ball((2, 0, 0), detail=3)
    vertices = np.concatenate([a, b])
    return Mesh(
        vertices,
        np.concatenate([fa, fb + len(a)]),
        uv=vertices[:, :2],
        part_ids=np.repeat([0, 1], [len(a), len(b)]),
        part_names=("left", "right"),
        surfaces=(Surface("wood"), Surface("metal")),
        face_surfaces=np.repeat([0, 1], [len(fa), len(fb)]),
    )


TURN = lie.rotation_about(np.array([0.0, 0.6, 0.8]), np.array([1.0, -2.0, 0.5]), 2.1)


def test_a_small_mesh_is_passed_through():
    mesh = Mesh(*ball(detail=1))
    coarse, transfer = decimate(mesh, 1000)
    assert coarse is mesh
    np.testing.assert_allclose(transfer(mesh.vertices), mesh.vertices, atol=1e-14)


def test_parts_components_and_looks_survive_and_the_limit_is_kept():
    mesh = two_parts()
    coarse, _ = decimate(mesh, 800)
    assert 600 <= coarse.face_count <= 800
    assert coarse.part_names == mesh.part_names
    assert face_components(coarse.vertices, coarse.faces, coarse.face_parts).max() == 1
    np.testing.assert_array_equal(coarse.face_surfaces, coarse.face_parts)
    np.testing.assert_allclose(coarse.uv, coarse.vertices[:, :2], atol=0.03)
    middle = np.array([[0.0, 0, 0], [2.0, 0, 0]])[coarse.part_ids]
    np.testing.assert_allclose(np.linalg.norm(coarse.vertices - middle, axis=1), 1.0, atol=0.04)


def test_a_rigid_motion_of_the_copy_is_the_same_rigid_motion_of_the_full_mesh():
    mesh = two_parts()
    coarse, transfer = decimate(mesh, 500)
    np.testing.assert_allclose(transfer(coarse.vertices), mesh.vertices, atol=1e-12)
    np.testing.assert_allclose(transfer(lie.apply(TURN, coarse.vertices)), lie.apply(TURN, mesh.vertices), atol=1e-6)


def test_each_part_follows_its_own_part_even_where_they_touch():
    mesh = two_parts()
    coarse, transfer = decimate(mesh, 500)
    moved = np.where((coarse.part_ids == 1)[:, None], lie.apply(TURN, coarse.vertices), coarse.vertices)
    expected = np.where((mesh.part_ids == 1)[:, None], lie.apply(TURN, mesh.vertices), mesh.vertices)
    np.testing.assert_allclose(transfer(moved), expected, atol=1e-6)


def test_tiny_components_are_never_lost():
    big, faces = ball(detail=4)
    specks = [ball((3.0 + 0.1 * i, 0, 0), 0.01, 0) for i in range(20)]
    vertices, all_faces = [big], [faces]
    for speck, speck_faces in specks:
        all_faces.append(speck_faces + sum(map(len, vertices)))
        vertices.append(speck)
    coarse, _ = decimate(Mesh(np.concatenate(vertices), np.concatenate(all_faces)), 1000)
    assert face_components(coarse.vertices, coarse.faces).max() == 20
    assert coarse.face_count <= 1000


def test_clips_skins_and_joints_come_along():
    mesh = two_parts()
    weights = np.eye(2)[mesh.part_ids]
    transforms = np.stack([np.stack([np.eye(4), np.eye(4)]), np.stack([np.eye(4), TURN])])
    skin = Skin(weights, transforms)
    clips = (Clip(mesh, skin.positions(mesh.vertices), skin=skin), Clip(mesh, skin.positions(mesh.vertices)))
    joints = (Joint(), Joint("revolute", parent=0))
    small = decimate_asset(Asset(mesh, clips, Articulation(mesh, joints)), 500)
    assert small.mesh.face_count <= 500
    assert small.articulation is not None
    assert small.articulation.mesh is small.mesh
    expected = np.einsum("vij,vj->vi", transforms[1][small.mesh.part_ids][:, :3, :3], small.mesh.vertices)
    expected += transforms[1][small.mesh.part_ids][:, :3, 3]
    for clip in small.clips:
        np.testing.assert_allclose(clip.positions[1], expected, atol=1e-6)
    assert small.clips[0].skin is not None
    assert any("500" in note or "faces" in note for note in small.notes)


def test_an_impossible_limit_is_refused():
    with pytest.raises(NeurokError, match="at least 4"):
        decimate(Mesh(*ball(detail=0)), 2)
