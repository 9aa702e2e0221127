"""What is cut out of a closed surface gets a back, and the hole behind it an inside."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.interior import with_interiors
from neurok.core import Articulation, Joint, Mesh
from neurok.geometry.operators import mass_properties
from neurok.geometry.topology import row_ids


def cabinet(cells: int = 8) -> tuple[Mesh, np.ndarray]:
    """A closed unit box of a grid of faces, and whether each face lies in the middle half of the front (z = 1)."""
    ticks = np.linspace(0.0, 1.0, cells + 1)
    u, v = (grid.reshape(-1) for grid in np.meshgrid(ticks, ticks, indexing="ij"))
    corner = np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)[None]
    a, b = corner.reshape(-1), corner.reshape(-1) + cells + 1
    square = np.concatenate([np.stack([a, b, b + 1], 1), np.stack([a, b + 1, a + 1], 1)])
    vertices, faces = [], []
    for axis in range(3):
        for side in (0.0, 1.0):
            points = np.insert(np.stack([u, v], 1), axis, side, axis=1)
            outward = (axis != 1) == (side == 1.0)
            faces.append((square if outward else square[:, ::-1]) + len(vertices) * len(u))
            vertices.append(points)
    mesh = Mesh(np.concatenate(vertices), np.concatenate(faces))
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    door = (middles[:, 2] > 1 - 1e-9) & (np.abs(middles[:, :2] - 0.5) < 0.25).all(axis=1)
    return mesh, door


def opened(joint: Joint) -> Articulation:
    mesh, door = cabinet()
    parts = label_faces(mesh, door.astype(np.int64), ("body", "door"))
    return Articulation(parts, (Joint(), joint))


DOOR = Joint("revolute", 0, np.array([0.0, 1.0, 0.0]), np.array([0.25, 0.0, 1.0]), -1.5, 0.0)
DRAWER = Joint("prismatic", 0, np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.0, 0.4)


def is_closed(mesh: Mesh, part: int) -> bool:
    """Every edge of the part is run through as often in one direction as in the other."""
    faces = row_ids(mesh.vertices)[mesh.faces[mesh.face_parts == part]]
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    sums = {}
    for start, end in edges.tolist():
        sums[(min(start, end), max(start, end))] = sums.get((min(start, end), max(start, end)), 0) + (
            1 if start < end else -1
        )
    return not any(sums.values())


@pytest.mark.parametrize("joint", [DOOR, DRAWER])
def test_part_and_rest_are_closed_after_the_cut(joint):
    before, after = opened(joint), with_interiors(opened(joint))
    assert not is_closed(before.mesh, 0)
    assert not is_closed(before.mesh, 1)
    assert is_closed(after.mesh, 0)
    assert is_closed(after.mesh, 1)


def test_the_door_is_a_board_and_the_cavity_as_deep_as_there_is_room():
    mesh = with_interiors(opened(DOOR)).mesh
    solid = [mass_properties(mesh.vertices, mesh.faces[mesh.face_parts == part], 1.0, 0.0)[0] for part in (0, 1)]
    board, deep = 0.06 * 0.5, 0.85
    np.testing.assert_allclose(solid[1], 0.25 * board, rtol=1e-9)
    np.testing.assert_allclose(solid[0], 1.0 - 0.25 * deep, rtol=1e-9)


def test_a_drawer_has_a_box_that_stays_inside_the_cavity():
    mesh = with_interiors(opened(DRAWER)).mesh
    drawer = mesh.vertices[mesh.part_ids == 1]
    assert drawer[:, 2].min() < 0.3
    assert drawer[:, 2].min() > 0.15
    assert (np.abs(drawer[:, :2] - 0.5) <= 0.25 + 1e-9).all()


def test_a_lid_is_capped_on_both_sides():
    mesh, _ = cabinet()
    upper = (mesh.vertices[mesh.faces].mean(axis=1)[:, 1] > 0.75).astype(np.int64)
    parts = label_faces(mesh, upper, ("body", "lid"))
    joint = Joint("revolute", 0, np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.75, 0.0]), 0.0, 1.5)
    after = with_interiors(Articulation(parts, (Joint(), joint))).mesh
    volumes = [mass_properties(after.vertices, after.faces[after.face_parts == part], 1.0, 0.0)[0] for part in (0, 1)]
    assert is_closed(after, 0)
    assert is_closed(after, 1)
    np.testing.assert_allclose(volumes, [0.75, 0.25], rtol=1e-9)


def test_parts_that_are_closed_already_stay_as_they_are():
    mesh, _ = cabinet(2)
    small = replace(mesh, vertices=0.2 * mesh.vertices + np.array([0.4, 0.4, 1.0]))
    both = Mesh(
        np.concatenate([mesh.vertices, small.vertices]),
        np.concatenate([mesh.faces, small.faces + mesh.vertex_count]),
        part_ids=np.repeat([0, 1], mesh.vertex_count),
    )
    given = Articulation(both, (Joint(), DRAWER))
    assert with_interiors(given) is given


def test_colours_of_the_inside_come_from_the_rim():
    base = opened(DOOR)
    colours = np.where(base.mesh.part_ids[:, None] == 0, [[1.0, 0, 0, 1]], [[0, 0, 1.0, 1]])
    mesh = with_interiors(replace(base, mesh=replace(base.mesh, vertex_colors=colours))).mesh
    red = mesh.vertex_colors[mesh.part_ids == 0]
    assert (red == [1.0, 0, 0, 1]).all()


def test_a_door_beside_another_body_is_cut_free_too():
    mesh, door = cabinet()
    left = mesh.vertices[mesh.faces].mean(axis=1)[:, 0] < 0.5
    parts = label_faces(mesh, np.where(door, 1, np.where(left, 0, 2)), ("left", "door", "right"))
    after = with_interiors(Articulation(parts, (Joint(), DOOR, Joint("fixed", 0))))
    assert is_closed(after.mesh, 1)


def test_a_scene_says_whether_insides_are_made():
    from neurok.scene.description import SceneObject
    from neurok.scene.run import _understood

    thing = SceneObject(cabinet()[0])
    assert _understood(thing, None).interior
    assert not _understood(replace(thing, interior=False), None).interior
