"""Decided once: whoever asks about a mesh is told the same bodies and joints."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import neurok
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, connected_pieces, with_bodies
from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.inference.evidence import SHOWN, is_same_line
from neurok.kinematics.space import decode
from neurok.model import understand
from neurok.modelling.shapes import sphere
from neurok.posing.pose import Pose
from neurok.verbs import articulate, infer, plan
from solids import door_on_a_box, drawer_in_a_box


def raw_laptop() -> Mesh:
    """The laptop without parts or joints."""
    return replace(make_sample("laptop").mesh, part_ids=None, part_names=())


@pytest.fixture(scope="module")
def found() -> BodyPlan:
    return plan(raw_laptop())


def joints_of(articulation) -> list[tuple]:
    """All that a joint says, exactly."""
    return [
        (j.kind, j.parent, j.axis.tolist(), j.origin.tolist(), j.limits.tolist()) for j in articulation.joints if j.dof
    ]


@pytest.mark.slow
def test_one_hinge_whoever_asks(found):
    mesh = raw_laptop()
    hinge = joints_of(found.articulation)
    assert len(hinge) == 1
    assert hinge[0][0] == "revolute"
    assert joints_of(articulate(mesh).articulation) == hinge
    assert joints_of(infer(mesh).articulation) == hinge
    assert joints_of(neurok.sample(mesh, 1).space.articulation) == hinge
    assert joints_of(understand(mesh).spaces_for()[0].articulation) == hinge
    assert joints_of(understand(mesh).space().articulation) == hinge


def test_the_hinge_is_that_of_the_laptop(found):
    (true,) = [joint for joint in make_sample("laptop").articulation.joints if joint.dof]
    (joint,) = [joint for joint in found.articulation.joints if joint.dof]
    assert abs(float(joint.axis @ true.axis)) > 0.999
    offset = joint.origin - true.origin
    across = offset - (offset @ true.axis) * true.axis
    assert np.linalg.norm(across) < 0.05 * found.mesh.size


@pytest.mark.parametrize("mesh", [raw_laptop(), drawer_in_a_box(), door_on_a_box()], ids=["laptop", "drawer", "door"])
@pytest.mark.parametrize("given_parts", [True, False])
def test_bodies_partition_the_faces_and_are_made_of_whole_pieces(mesh, given_parts):
    made = plan(mesh, method="search", parts="file" if given_parts else "pieces")
    np.testing.assert_array_equal(made.mesh.vertices[made.mesh.faces], mesh.vertices[mesh.faces])
    assert sorted(piece for body in made.bodies for piece in body.pieces) == list(range(made.face_pieces.max() + 1))
    for k, body in enumerate(made.bodies):
        assert body.name == made.mesh.part_names[k]
        np.testing.assert_array_equal(np.isin(made.face_pieces, body.pieces), made.mesh.face_parts == k)


def test_joints_of_the_articulation_are_those_of_the_bodies(found):
    for body, joint in zip(found.bodies, found.articulation.joints, strict=True):
        assert joint.parent == body.parent
        assert joint.name == body.name
        assert joint.kind == ("fixed" if body.joint is None else body.joint.kind)
        if body.joint is not None:
            np.testing.assert_allclose(joint.axis, body.joint.axis, atol=1e-12)
            np.testing.assert_array_equal(joint.limits, [[body.joint.lower, body.joint.upper]])
    assert len(found.moving) == 1
    assert not found.bends


def test_hypotheses_are_ranked_distinct_and_few(found):
    for body in found.bodies:
        likely = [line.probability for line in body.hypotheses]
        assert likely == sorted(likely, reverse=True)
        assert len(likely) <= SHOWN
        for first, second in combinations(body.hypotheses, 2):
            assert not is_same_line(first, second, found.mesh.size)
        assert 0.0 <= body.probability <= 1.0


def test_another_joint_is_seen_by_everyone(found):
    (body,) = [k for k, one in enumerate(found.bodies) if one.joint is not None]
    mesh = raw_laptop()
    line = replace(found.bodies[body].joint, kind="prismatic", axis=np.array([0.0, 1.0, 0.0]), lower=0.0, upper=0.25)
    edited = found.with_joint(body, line)
    slide = joints_of(edited.articulation)
    assert slide[0][0] == "prismatic"
    assert edited.origin == "edited"
    assert joints_of(articulate(mesh, plan=edited).articulation) == slide
    assert joints_of(infer(mesh, plan=edited).articulation) == slide
    assert joints_of(understand(mesh, plan=edited).space().articulation) == slide
    fixed = found.with_joint(body, None)
    assert fixed.moving == ()
    assert infer(mesh, plan=fixed).dim == 0
    assert understand(mesh, plan=fixed).space().dim == 0
    assert joints_of(found.articulation)[0][0] == "revolute", "the plan itself has not changed"


def test_the_surest_body_comes_first(found):
    (body,) = [k for k, one in enumerate(found.bodies) if one.joint is not None]
    other = next(k for k in range(len(found.bodies)) if k != body)
    surer = replace(found.bodies[body].joint, part=other, parent=body, probability=1.0)
    bodies = list(found.with_joint(body, replace(found.bodies[body].joint, probability=0.5)).bodies)
    bodies[other] = replace(bodies[other], joint=surer)
    assert [one.name for one in replace(found, bodies=tuple(bodies)).moving] == [bodies[other].name, bodies[body].name]


def test_the_contacts_of_a_plan_are_those_of_its_bodies():
    made = plan(door_on_a_box(), method="search", parts="pieces")
    assert int(connected_pieces(made.mesh).max()) + 1 == 7
    assert all(max(pair.first, pair.second) < len(made.bodies) for pair in made.contacts.pairs)


def test_bodies_that_share_vertices_are_split_and_others_keep_their_vertices():
    mesh = raw_laptop()
    pieces = connected_pieces(mesh)
    names = tuple(f"part_{k}" for k in range(int(pieces.max()) + 1))
    np.testing.assert_array_equal(with_bodies(mesh, pieces, names).vertices, mesh.vertices)
    halves = (np.arange(mesh.face_count) % 2).astype(np.int64)
    split = with_bodies(mesh, halves, ("even", "odd"))
    assert split.vertex_count > mesh.vertex_count
    np.testing.assert_array_equal(split.face_parts, halves)
    np.testing.assert_array_equal(split.vertices[split.faces], mesh.vertices[mesh.faces])


def test_labels_say_what_the_bodies_are():
    mesh = drawer_in_a_box()
    plain = replace(mesh, part_ids=None, part_names=())
    made = plan(plain, labels=mesh.face_parts, method="search")
    assert made.origin == "labels"
    np.testing.assert_array_equal(made.mesh.face_parts, mesh.face_parts)
    assert [body.joint.kind for body in made.moving] == ["prismatic"]


def test_samples_and_poses_of_bodies_that_shared_vertices_are_whole():
    """A ball cut in two along its faces; the upper half slides up."""
    ball = sphere(0.5)
    mesh = Mesh(ball.vertices, ball.faces)
    labels = (mesh.vertices[mesh.faces].mean(axis=1)[:, 1] > 0).astype(np.int64)
    made = plan(mesh, labels=labels, method="search")
    assert made.mesh.vertex_count > mesh.vertex_count
    bodies = tuple(replace(body, parent=k - 1, joint=None) for k, body in enumerate(made.bodies))
    up = Hypothesis(1, 0, "prismatic", np.array([0.0, 1.0, 0.0]), np.zeros(3), 0.0, 0.4, 1.0)
    slid = replace(made, bodies=bodies).with_joint(1, up)
    states = neurok.sample(mesh, 1, plan=slid)
    lifted = mesh.vertices[mesh.faces] + states.q[0] * labels[:, None, None] * up.axis
    np.testing.assert_allclose(states[0].vertices[states[0].faces], lifted, atol=1e-9)
    space = infer(mesh, plan=slid)
    moved = Pose(space, states.q[0], decode(space, states.q[0]), 0.0, "ok").mesh(mesh)
    np.testing.assert_allclose(moved.vertices[moved.faces], lifted, atol=1e-9)
