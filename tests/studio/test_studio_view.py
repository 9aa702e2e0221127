"""What is drawn where: a view with a scene that only takes notes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gates import make_gate
from neurok.bodyplan.editing import plan_of_joints
from neurok.core import MaterialField, Mesh, Surface, material
from neurok.geometry import lie
from neurok.io import load
from neurok.studio.config import CONFIG
from neurok.studio.view import StudioView, body_colors, material_colors


class Notes:
    """Takes every node that is added, as viser's scene would."""

    def __init__(self):
        self.nodes = {}

    def __getattr__(self, verb):
        def add(name="", *values, **options):
            if verb == "remove_by_name":
                self.nodes.pop(name, None)
                return None
            node = SimpleNamespace(verb=verb, values=values, position=np.zeros(3), wxyz=np.array([1.0, 0, 0, 0]))
            node.__dict__.update(options)
            node.bones = [SimpleNamespace() for _ in options.get("bone_positions", ())]
            node.remove = lambda: self.nodes.pop(name, None)
            self.nodes[name] = node
            return node

        return add


@pytest.fixture
def notes():
    return Notes()


@pytest.mark.parametrize(("up", "unit"), [("y", 1.0), ("z", 0.001)])
def test_objects_of_any_frame_are_shown_upright_and_as_large_as_all(notes, up, unit):
    gate = make_gate(up, unit)
    view = StudioView(notes, CONFIG)
    view.show(gate.mesh)
    shown = view.shown(gate.mesh.vertices)
    assert np.linalg.norm(np.ptp(shown, axis=0)) == pytest.approx(1.0)
    np.testing.assert_allclose(view.meant(shown), gate.mesh.vertices, atol=1e-9 * gate.mesh.size)
    top = int((gate.mesh.vertices @ gate.mesh.up_vector).argmax())
    assert shown[top, 1] == pytest.approx(shown[:, 1].max())
    reference = StudioView(Notes(), CONFIG)
    reference.show(make_gate().mesh)
    np.testing.assert_allclose(shown, reference.shown(make_gate().mesh.vertices), atol=1e-9)


@pytest.mark.parametrize("up", ["y", "z"])
def test_rigid_parts_are_moved_as_wholes_and_land_where_their_vertices_are(notes, up):
    gate = make_gate(up)
    view = StudioView(notes, CONFIG)
    view.show(gate.mesh, body_colors(2))
    moved = gate.pose(np.array([0.7])).vertices
    view.move(moved)
    for part, node in view.nodes.items():
        drawn = lie.quaternion_to_matrix(np.asarray(node.wxyz)) @ view.at_rest[view.groups[part]].T
        np.testing.assert_allclose(drawn.T + node.position, view.shown(moved)[view.groups[part]], atol=1e-6)
    assert view.sent == 2  # the turn and the place of the door; the post stands
    view.move(moved)
    assert view.sent == 2


def test_what_bends_is_sent_by_its_vertices_in_their_order(notes):
    gate = make_gate()
    view = StudioView(notes, CONFIG)
    added = []
    view.added = lambda part, node: added.append(part)
    view.show(gate.mesh)
    bent = gate.mesh.vertices.copy()
    door = gate.mesh.part_ids == 1
    bent[door, 2] += 0.2 * bent[door, 0] ** 2
    view.move(bent)
    assert added == [1]
    (node,) = view.bending[1].nodes
    assert node.verb == "add_mesh_simple"
    np.testing.assert_allclose(node.vertices, view.shown(bent)[door], atol=1e-6)
    assert view.nodes[0].verb == "add_glb"


def test_what_has_bent_gets_its_texture_again_when_it_stands_still(notes, tmp_path):
    gate = make_gate()
    view = StudioView(notes, CONFIG)
    told = []
    view.added = lambda part, node: told.append(node)
    view.show(gate.mesh)
    bent = gate.mesh.vertices.copy()
    door = gate.mesh.part_ids == 1
    bent[door, 2] += 0.2 * bent[door, 0] ** 2
    view.move(bent)
    assert view.settle()
    still = view.stills[1]
    assert still.verb == "add_glb"
    assert told[-1] is still  # it answers to the mouse
    (tmp_path / "still.glb").write_bytes(still.values[0])
    drawn = load(tmp_path / "still.glb").mesh
    np.testing.assert_allclose(drawn.bounds, [f(view.shown(bent)[door], axis=0) for f in (np.min, np.max)], atol=1e-6)
    assert not view.settle()  # the second time what bends is hidden
    assert [node.visible for node in view.bending[1].nodes] == [False]
    view.move(bent)
    assert view.stills  # nothing has moved
    view.move(gate.mesh.vertices)
    assert [node.visible for node in view.bending[1].nodes] == [True]
    assert not [name for name in notes.nodes if name.startswith("/still")]


FEW = replace(CONFIG, sent_vertices=1_000)
"""Bones for small meshes, too."""


def sheet(count=70):
    """A flat square of many vertices, in two colours."""
    side = np.linspace(0.0, 1.0, count)
    x, y = np.meshgrid(side, side, indexing="ij")
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).reshape(-1)
    faces = np.concatenate(
        [
            np.stack([corner, corner + count, corner + 1], axis=1),
            np.stack([corner + 1, corner + count, corner + count + 1], axis=1),
        ]
    )
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(count**2)], axis=1)
    looks = (Surface("red", base_color=(1.0, 0.0, 0.0, 1.0)), Surface("blue", base_color=(0.0, 0.0, 1.0, 1.0)))
    return Mesh(vertices, faces, surfaces=looks, face_surfaces=(vertices[faces[:, 0], 0] > 0.5).astype(np.int64))


def skinned(node):
    """Where a browser draws the vertices of a skinned node."""
    turns = np.array([lie.quaternion_to_matrix(np.asarray(bone.wxyz)) for bone in node.bones])
    places = np.array([bone.position for bone in node.bones])
    local = node.values[0][:, None] - np.asarray(node.bone_positions)
    return np.einsum("vb,vbi->vi", node.skin_weights, np.einsum("bij,vbj->vbi", turns, local) + places)


def test_a_large_part_that_bends_is_sent_by_bones_and_is_where_its_vertices_are(notes):
    mesh = sheet()
    view = StudioView(notes, FEW)
    view.show(mesh)
    bent = mesh.vertices.copy()
    bent[:, 2] = 0.15 * np.sin(2.5 * bent[:, 0]) * bent[:, 1]
    view.move(bent)
    bending = view.bending[0]
    assert [node.verb for node in bending.nodes] == ["add_mesh_skinned"] * 2  # a node for each colour
    assert {node.color for node in bending.nodes} == {(255, 0, 0), (0, 0, 255)}
    for node, used in zip(bending.nodes, bending.used, strict=True):
        assert (np.count_nonzero(node.skin_weights, axis=1) <= 4).all()
        np.testing.assert_allclose(skinned(node), view.shown(bent)[used], atol=CONFIG.bone_gap)


def test_bones_that_say_too_little_are_given_up_for_the_vertices(notes):
    mesh = sheet()
    view = StudioView(notes, FEW)
    told = []
    view.added = lambda part, node: told.append(node)
    view.show(mesh)
    folded = mesh.vertices.copy()
    folded[:, 2] = 0.1 * np.sin(40.0 * folded[:, 0])
    view.move(folded)
    bending = view.bending[0]
    assert [node.verb for node in bending.nodes] == ["add_mesh_simple"] * 2
    assert told[-2:] == bending.nodes
    for node, used in zip(bending.nodes, bending.used, strict=True):
        np.testing.assert_allclose(node.vertices, view.shown(folded)[used], atol=1e-6)


@pytest.mark.parametrize("up", ["y", "z"])
def test_axes_are_drawn_on_the_lines_of_joints(notes, up):
    gate = make_gate(up)
    view = StudioView(notes, CONFIG)
    view.show(gate.mesh)
    view.show_joints(plan_of_joints(gate), None, 1)
    ((start, end),) = notes.nodes["/joints/1"].values[0]
    np.testing.assert_allclose((end - start) / np.linalg.norm(end - start), [0, 1, 0], atol=1e-6)
    on_line = view.meant(np.array([start, end]))
    level = on_line - on_line @ gate.mesh.up_vector[:, None] * gate.mesh.up_vector
    np.testing.assert_allclose(level, 0.0, atol=1e-6)
    assert notes.nodes["/joints/1/name"].values[0] == "door 1.00"
    view.clear_extras()
    assert not [name for name in notes.nodes if name.startswith("/joints")]


def test_parts_of_one_material_have_one_colour():
    gate = make_gate()
    field = MaterialField.of_parts(gate.mesh, {"post": material("steel"), "door": material("oak")})
    post, door = material_colors(gate.mesh, field)
    assert post != door
    same = MaterialField.of_parts(gate.mesh, {"post": material("steel"), "door": material("steel")})
    assert len(set(material_colors(gate.mesh, same))) == 1
