"""What coordinates do, against what joints do."""

import numpy as np
import pytest

from neurok.bodyplan.bodies import label_faces
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Joint
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.kinematics import ArticulatedSpace
from neurok_lab.evaluation.articulation import JointSource
from neurok_lab.evaluation.cases import boxed_articulation
from neurok_lab.evaluation.motions import (
    Found,
    MotionMethod,
    _matched,
    _of_space,
    cosines,
    find_motion_method,
    joint_fields,
    measure_motions,
    motion_tables,
    summarise_motions,
)
from solids import door_on_a_box


@pytest.fixture(scope="module", params=["cabinet", "lamp"])
def true(request) -> Articulation:
    return make_sample(request.param).articulation


def source_of(articulation: Articulation) -> JointSource:
    return JointSource("Thing_1", "test", lambda: articulation)


def row_of(articulation: Articulation, run) -> dict:
    (row,) = measure_motions([source_of(articulation)], [MotionMethod("method", run)])
    return row


def by_joints(articulation: Articulation) -> Found:
    fields = joint_fields(articulation)
    return Found(fields, np.ones(len(fields)))


def hinged(axis=(0.0, 1.0, 0.0), origin=(0.0, 0.0, 0.4), kind="revolute") -> Articulation:
    return Articulation(door_on_a_box(), (Joint(), Joint(kind, 0, axis, origin)))


def test_fields_are_the_derivatives_of_forward_kinematics(true):
    fields, step = joint_fields(true), 1e-6
    assert len(fields) == true.dof
    for k in range(true.dof):
        q = step * np.eye(true.dof)[k]
        numeric = (true.pose(q).vertices - true.pose(-q).vertices) / (2 * step)
        np.testing.assert_allclose(fields[k], numeric[true.mesh.faces].reshape(-1, 9), atol=1e-8)


def test_both_ways_of_a_cylindrical_joint_have_a_field():
    joints = hinged(kind="cylindrical")
    fields, step = joint_fields(joints), 1e-6
    for k in range(2):
        q = step * np.eye(2)[k]
        numeric = (joints.pose(q).vertices - joints.pose(-q).vertices) / (2 * step)
        np.testing.assert_allclose(fields[k], numeric[joints.mesh.faces].reshape(-1, 9), atol=1e-8)


def test_an_object_measured_against_its_own_joints_is_perfect(true):
    for run in (by_joints, lambda joints: _of_space(ArticulatedSpace(joints))):
        row = row_of(true, run)
        assert row["hits"] == row["joints"] == row["coordinates"] == true.dof
        (summary,) = summarise_motions([row])
        assert summary["recall"] == summary["precision"] == summary["object_recall"] == summary["strongest"] == 1.0


def test_the_sign_and_the_unit_of_a_coordinate_do_not_matter(true):
    row = row_of(true, lambda joints: Found(-3.0 * joint_fields(joints), np.ones(joints.dof)))
    assert row["hits"] == true.dof


@pytest.mark.parametrize(
    "wrong",
    [
        hinged(axis=(1.0, 0.0, 0.0)),
        hinged(origin=(0.5, 0.0, 0.4)),
        hinged(axis=(0.0, 0.0, 1.0), kind="prismatic"),
        Articulation(door_on_a_box(), (Joint("revolute", 1, (0, 1, 0), (0, 0, 0.4)), Joint())),
    ],
    ids=["axis", "side", "kind", "part"],
)
def test_a_wrong_joint_is_not_found(wrong):
    row = row_of(hinged(), lambda joints: by_joints(boxed_articulation(wrong)))
    assert (row["joints"], row["coordinates"], row["hits"], row["strongest"]) == (1, 1, 0, False)


def test_an_axis_that_is_off_by_a_little_is_found():
    assert row_of(hinged(), lambda joints: by_joints(_turned(joints, 0.1)))["hits"] == 1


def _turned(joints: Articulation, angle: float) -> Articulation:
    door = joints.joints[1]
    axis = (np.sin(angle), np.cos(angle), 0.0)
    return Articulation(joints.mesh, (Joint(), Joint("revolute", 0, axis, door.origin)))


def test_nothing_found_is_no_hit_and_no_error():
    row = row_of(hinged(), lambda joints: Found(np.zeros((0, joints.mesh.face_count, 9)), np.zeros(0)))
    assert (row["joints"], row["coordinates"], row["hits"], row["strongest"]) == (1, 0, 0, False)


def test_splitting_vertices_changes_no_cosine(true):
    mesh = true.mesh
    split = label_faces(mesh, np.arange(mesh.face_count))
    assert split.vertex_count == 3 * mesh.face_count > mesh.vertex_count
    labels = true.mesh.face_parts
    apart = label_faces(split, labels, true.part_names)
    other = Articulation(apart, true.joints)
    areas = face_areas(mesh.vertices, mesh.faces)
    alike = cosines(joint_fields(true), joint_fields(other), areas)
    np.testing.assert_allclose(alike, cosines(joint_fields(true), joint_fields(true), areas), atol=1e-12)
    np.testing.assert_allclose(np.diag(alike), 1.0)


def test_cosines_weigh_corners_by_area():
    """Two faces, one three times as large; the fields agree on the large one alone."""
    first, second = np.zeros((2, 1, 2, 9))
    first[0, :, 0] = 1.0
    second[0, 0, 0], second[0, 1, 1] = 1.0, 1.0
    np.testing.assert_allclose(cosines(first, second, np.array([3.0, 1.0])), 3.0 / 4.0)


def test_a_coordinate_cannot_match_two_joints_nor_a_joint_two_coordinates():
    """Two hinges that lie so close that one coordinate does what both do."""
    near = np.concatenate([joint_fields(hinged()), joint_fields(_turned(hinged(), 0.01))])
    areas = face_areas(hinged().mesh.vertices, hinged().mesh.faces)
    assert cosines(near[:1], near, areas).min() > 0.99
    one, two = Found(near[:1], np.ones(1)), Found(near, np.ones(2))
    assert _matched(one, near, areas)["hits"] == 1
    assert _matched(two, near[:1], areas)["hits"] == 1
    assert _matched(two, near, areas)["hits"] == 2


def test_a_pair_that_matches_only_one_way_gives_way():
    """The first coordinate fits both joints, the second only the first joint: both joints are found."""
    base = np.zeros((3, 1, 9))
    base[0, 0, 0], base[1, 0, 1], base[2, 0, 2] = 1.0, 1.0, 1.0
    joints = np.stack([base[0], 0.95 * base[0] + 0.31 * base[1]])
    found = Found(np.stack([base[0] + 0.1 * base[1], 0.95 * base[0] - 0.2 * base[1]]), np.ones(2))
    areas = np.ones(1)
    np.testing.assert_array_equal(cosines(found.fields, joints, areas) > 0.9, [[True, True], [True, False]])
    assert _matched(found, joints, areas)["hits"] == 2


def test_tables_name_groups_categories_and_shares():
    rows = [row_of(hinged(), by_joints), row_of(hinged(), lambda joints: by_joints(hinged((1.0, 0.0, 0.0))))]
    text = motion_tables(rows, categories=True)
    assert "Test:" in text
    assert "By category:" in text
    assert "| method | 2 | 2 | 0.500 | 0.500 | 0.500 | 0.500 |" in text


def test_an_unknown_method_is_named():
    with pytest.raises(NeurokError, match="no method 'magic' of motions; known are plan, infer"):
        find_motion_method("magic")


def test_the_search_alone_finds_the_hinge_of_a_laptop_without_parts():
    row = row_of(make_sample("laptop").articulation, find_motion_method("search").run)
    assert (row["joints"], row["hits"]) == (1, 1)


def test_joints_that_move_little_of_the_surface_are_counted_apart():
    door = hinged()
    areas = face_areas(door.mesh.vertices, door.mesh.faces)
    fields = joint_fields(door)
    small = _matched(by_joints(door), fields, areas * np.where(door.mesh.face_parts == 1, 1e-3, 1.0))
    large = _matched(by_joints(door), fields, areas)
    assert (small["joints"], small["small"], small["small_hits"]) == (1, 1, 1)
    assert (large["joints"], large["small"], large["small_hits"]) == (1, 0, 0)
