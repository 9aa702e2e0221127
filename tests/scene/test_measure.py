"""Figures of a motion that is known: squashed, turned, bent, pulled apart."""

import numpy as np
import pytest

from neurok.core import MaterialField, Mesh, Rollout, material
from neurok.dynamics.body import Body
from neurok.dynamics.condition import Ground
from neurok.geometry import lie
from neurok.scene.outcome import TRIAL, measure, probes_of

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
SIDES = np.array(
    [
        *[[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]],
        *[[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]],
    ]
)


def two_boxes() -> Mesh:
    """A box on another, which touch."""
    upper = CORNERS + [0.0, 1.0, 0.0]
    return Mesh(
        np.concatenate([CORNERS, upper]),
        np.concatenate([SIDES, SIDES + 8]),
        part_ids=np.repeat([0, 1], 8),
        part_names=("lower", "upper"),
        name="boxes",
    )


def figures(mesh: Mesh, *moved: np.ndarray, young: str = "foam") -> dict:
    stuff = MaterialField.uniform(material(young), mesh.vertex_count)
    rollout = Rollout(mesh, 0.1, np.stack([mesh.vertices, *moved]))
    body = Body(mesh, materials=stuff, free=True)
    return measure(rollout, body, Ground(0.0, np.array([0.0, 1.0, 0.0])), probes_of(mesh, stuff, TRIAL), TRIAL)


def test_a_part_that_is_pressed_to_half_its_height_says_so():
    mesh = two_boxes()
    flat = mesh.vertices * [1.0, 0.5, 1.0]
    found = figures(mesh, flat)
    for part in ("lower", "upper"):
        assert found["parts"][part]["squash"] == pytest.approx([0.5, 0.5])
        assert found["parts"][part]["spread"] == pytest.approx([1.0, 1.0])
    assert found["height"] == pytest.approx(0.5)


def test_stretch_is_that_of_the_longest_edges():
    mesh = two_boxes()
    found = figures(mesh, mesh.vertices * [3.0, 1.0, 1.0], mesh.vertices)
    assert found["parts"]["lower"]["stretch"] == pytest.approx([2.0, 0.0], abs=1e-9)
    assert found["parts"]["lower"]["spread"] == pytest.approx([3.0, 1.0])


def test_a_rigid_turn_neither_bends_nor_stretches_but_leans():
    mesh = two_boxes()
    turns = [lie.rotation_about(np.array([0.0, 0.0, 1.0]), np.zeros(3), np.array(a)) for a in (0.3, 0.6, 0.9)]
    found = figures(mesh, *(lie.apply(turn, mesh.vertices) for turn in turns))
    assert found["lean"] == pytest.approx(np.degrees(0.9), rel=1e-3)
    assert found["shake"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert found["speed"][1] > 0.1
    for part in found["parts"].values():
        assert part["bend"] == pytest.approx([0.0, 0.0], abs=1e-9)
        assert part["apart"] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_parts_that_separate_are_apart_by_their_gap():
    mesh = two_boxes()
    moved = mesh.vertices + np.repeat([[0.0, 0.0, 0.0], [0.0, 0.6, 0.0]], 8, axis=0)
    found = figures(mesh, moved)
    assert found["parts"]["upper"]["apart"][1] == pytest.approx(0.6 / mesh.size, rel=1e-3)
    assert found["parts"]["upper"]["squash"] == pytest.approx([1.0, 1.0])


def test_the_same_motion_has_the_same_figures_in_another_unit():
    mesh = two_boxes()
    moved = mesh.vertices * [1.2, 0.7, 1.0]
    large = Mesh(
        1000.0 * mesh.vertices, mesh.faces, part_ids=mesh.part_ids, part_names=mesh.part_names, unit=0.001, name="boxes"
    )
    assert figures(large, 1000.0 * moved)["parts"] == figures(mesh, moved)["parts"]
