"""Vertices on particles."""

import numpy as np
import pytest

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body
from neurok.dynamics.particles.filling import fill
from neurok.dynamics.particles.skinning import embed
from neurok.geometry import lie
from neurok.modelling.shapes import box, sphere

NOTHING = np.zeros((0, 3, 3)), np.zeros((0, 3))


def carried(shape, cell=0.04, young=1e4, rigid=-1):
    mesh = Mesh(shape.vertices, shape.faces)
    body = Body.of(mesh, materials=MaterialField.uniform(Material(young=young), mesh.vertex_count))
    filling = fill(body, mesh.vertices, cell)
    return mesh, filling, embed(filling, mesh.vertices, np.full(filling.count, rigid))


@pytest.mark.parametrize("shape", [sphere(0.2, 24, 12), box((0.4, 0.2, 0.3))])
def test_an_affine_motion_of_particles_is_that_of_vertices(shape):
    mesh, filling, surface = carried(shape)
    rng = np.random.default_rng(0)
    matrix, shift = np.eye(3) + 0.3 * rng.normal(size=(3, 3)), rng.normal(size=3)
    found = surface.positions(filling.points @ matrix.T + shift, *NOTHING)
    assert np.allclose(found, mesh.vertices @ matrix.T + shift, atol=1e-5)


def test_forces_on_vertices_keep_their_sum_and_their_torque():
    mesh, filling, surface = carried(sphere(0.2, 24, 12))
    forces = np.random.default_rng(1).normal(size=mesh.vertices.shape)
    felt = surface.weights.T @ forces
    assert np.allclose(felt.sum(axis=0), forces.sum(axis=0))
    torque = np.cross(mesh.vertices, forces).sum(axis=0)
    assert np.allclose(np.cross(filling.points, felt).sum(axis=0), torque, atol=1e-5)


def test_rigid_parts_carry_their_vertices_exactly():
    mesh, filling, surface = carried(box((0.3, 0.3, 0.3)), rigid=0)
    pose = lie.rotation_about(np.array([0.0, 0.6, 0.8]), np.zeros(3), np.array(1.0))
    noisy = filling.points + 0.01 * np.random.default_rng(0).normal(size=filling.points.shape)
    found = surface.positions(noisy, pose[None, :3, :3], np.array([[1.0, 2.0, 3.0]]))
    assert np.allclose(found, mesh.vertices @ pose[:3, :3].T + [1.0, 2.0, 3.0], atol=1e-12)


def test_vertices_in_one_place_stay_together_whatever_happens():
    shape = sphere(0.2, 24, 12)
    # Every face has corners of its own, as files with seams and creases have them.
    split = type(shape)(shape.vertices[shape.faces].reshape(-1, 3), np.arange(3 * len(shape.faces)).reshape(-1, 3))
    mesh, filling, surface = carried(split)
    moved = filling.points + 0.02 * np.random.default_rng(0).normal(size=filling.points.shape)
    found = surface.positions(moved, *NOTHING)
    place = np.unique(mesh.vertices, axis=0, return_inverse=True)[1].reshape(-1)
    first = np.unique(place, return_index=True)[1]
    assert np.array_equal(found, found[first][place])


def test_a_sheet_at_rest_is_where_it_was_and_turns_as_a_whole():
    rng = np.random.default_rng(2)
    points = np.stack(np.meshgrid(np.linspace(0, 1, 30), np.linspace(0, 1, 30), indexing="ij"), -1).reshape(-1, 2)
    vertices = np.column_stack([points[:, 0], 0.01 * rng.normal(size=len(points)), points[:, 1]])
    i = np.arange(900).reshape(30, 30)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    shape = type("S", (), {"vertices": vertices, "faces": np.concatenate([np.c_[a, b, c], np.c_[a, c, d]])})
    mesh, filling, surface = carried(shape, cell=0.12)
    assert len(filling.points) < 900  # coarser than the mesh
    assert np.allclose(surface.positions(filling.points, *NOTHING), mesh.vertices, atol=1e-9)
    pose = lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.zeros(3), np.array(2.0))[:3, :3]
    assert np.allclose(surface.positions(filling.points @ pose.T, *NOTHING), mesh.vertices @ pose.T, atol=1e-9)
