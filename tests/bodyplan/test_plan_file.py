"""Plans as JSON: what is written is read again, edits are heard, and mistakes get one sentence."""

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import neurok
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.plan import BodyPlan, PlannedBody, connected_pieces
from neurok.bodyplan.plan_file import plan_from_dict, plan_to_dict, read_plan, write_plan
from neurok.core import Mesh
from neurok.errors import FormatError
from neurok.modelling.shapes import slab
from solids import of_parts

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NAMES = ("case", "door", "knob")


def three_boxes(scale: float = 1.0) -> Mesh:
    """A case, a door before it and a knob on the door; pieces are in this order."""
    case, door, knob = (
        slab((0, 0, 0), (1, 1, 0.5)),
        slab((0, 0, 0.5), (1, 1, 0.6)),
        slab((0.8, 0.4, 0.6), (0.9, 0.5, 0.7)),
    )
    mesh = of_parts(case=[case], door=[door], knob=[knob])
    return Mesh(scale * mesh.vertices, mesh.faces, name="cupboard")


def hinge(part: int = 1, parent: int = 0, **changes) -> Hypothesis:
    line = Hypothesis(
        part, parent, "revolute", np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.5]), -1.5, 0.0, 0.75, source="search"
    )
    return replace(line, **changes)


def plan_of(mesh: Mesh, joint: Hypothesis | None = None) -> BodyPlan:
    """The door is hinged on the case, and the knob is fixed on the door."""
    labelled = replace(mesh, part_ids=np.repeat([0, 1, 2], 8), part_names=NAMES)
    line = joint or hinge()
    slide = replace(line, kind="prismatic", axis=np.array([0.0, 0.0, 1.0]), lower=0.0, upper=0.2, probability=0.1)
    bodies = (
        PlannedBody("case", (0,), -1),
        PlannedBody("door", (1,), 0, (line, slide), line, False, 0.75),
        PlannedBody("knob", (2,), 1, (), None, True, 0.9),
    )
    return BodyPlan(labelled, connected_pieces(mesh), bodies)


@pytest.fixture
def said() -> dict:
    return json.loads(json.dumps(plan_to_dict(plan_of(three_boxes()))))


def same_joint(one: Hypothesis, other: Hypothesis, size: float) -> None:
    assert (one.part, one.parent, one.kind, one.source) == (other.part, other.parent, other.kind, other.source)
    np.testing.assert_allclose(one.axis, other.axis, atol=2e-6)
    length = size if one.kind == "prismatic" else 1.0
    np.testing.assert_allclose(one.origin, other.origin, atol=2e-6 * size)
    np.testing.assert_allclose([one.lower, one.upper], [other.lower, other.upper], atol=2e-6 * length)
    np.testing.assert_allclose(one.probability, other.probability, atol=1e-4)
    if one.kind == "cylindrical":
        np.testing.assert_allclose(one.slide, other.slide, atol=2e-6 * size)


def test_what_was_written_is_read_again(tmp_path):
    plan = plan_of(three_boxes())
    write_plan(plan, tmp_path / "plan.json")
    read = read_plan(tmp_path / "plan.json", three_boxes())
    assert read.origin == "edited"
    for one, other in zip(read.bodies, plan.bodies, strict=True):
        assert (one.name, one.pieces, one.parent, one.bends) == (other.name, other.pieces, other.parent, other.bends)
        assert one.probability == other.probability
        assert (one.joint is None) == (other.joint is None)
        assert len(one.hypotheses) == len(other.hypotheses)
    np.testing.assert_array_equal(read.mesh.face_parts, plan.mesh.face_parts)
    np.testing.assert_array_equal(read.mesh.vertices, plan.mesh.vertices)
    assert {**plan_to_dict(read), "bodies_from": "pieces"} == plan_to_dict(plan)


def test_a_plan_of_labels_that_no_mesh_shows_is_read_again_and_again(tmp_path):
    """Labels cut the door in two, against its connected pieces; the second plan is one that was read before."""
    mesh = three_boxes()
    labels = np.repeat([0, 1, 2], 12)
    labels[12:16] = 3
    made = neurok.plan(mesh, labels=labels, method="search")
    for name in ("first.json", "second.json"):
        write_plan(made, tmp_path / name)
        read = read_plan(tmp_path / name, mesh)
        np.testing.assert_array_equal(read.face_pieces, made.face_pieces)
        np.testing.assert_array_equal(read.mesh.face_parts, labels)
        made = read


@pytest.mark.parametrize(
    "runs", [None, [], [[0, 35]], [[0, 36], [1, 0, 1]], [[0, -1], [0, 37]], [["a", 36]], [[9, 36]]]
)
def test_runs_of_pieces_that_do_not_fit_the_mesh_get_a_sentence(said, runs):
    with pytest.raises(FormatError):
        plan_from_dict({**said, "piece_runs": runs}, three_boxes())


@FEW
@given(
    st.sampled_from(["revolute", "continuous", "prismatic", "cylindrical"]),
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1),
    st.tuples(*[st.floats(-2, 2)] * 3),
    st.tuples(st.floats(-3, 0), st.floats(0, 3), st.floats(-1, 0), st.floats(0, 1), st.floats(0, 1)),
    st.sampled_from([1e-4, 1.0, 1e3]),
)
def test_any_joint_is_read_as_it_was_written_to_a_millionth_of_the_size(kind, axis, origin, numbers, size):
    lower, upper, low, high, probability = numbers
    length = size if kind == "prismatic" else 1.0
    joint = hinge(
        kind=kind,
        axis=np.array(axis) / np.linalg.norm(axis),
        origin=size * np.array(origin),
        lower=length * lower,
        upper=length * upper,
        slide=(size * low, size * high),
        probability=probability,
    )
    mesh = three_boxes(size)
    read = plan_from_dict(json.loads(json.dumps(plan_to_dict(plan_of(mesh, joint)))), mesh)
    same_joint(read.bodies[1].joint, joint, size)
    same_joint(read.bodies[1].hypotheses[0], joint, size)
    assert read.articulation.joints[1].dof == (2 if kind == "cylindrical" else 1)


def test_two_bodies_are_merged_by_their_pieces(said):
    said["bodies"][1]["pieces"] += said["bodies"].pop(2)["pieces"]
    plan = plan_from_dict(said, three_boxes())
    assert [body.pieces for body in plan.bodies] == [(0,), (1, 2)]
    np.testing.assert_array_equal(plan.mesh.face_parts, np.minimum(connected_pieces(three_boxes()), 1))
    opened = plan.articulation.pose([-math.pi / 2]).vertices
    assert np.abs(opened - plan.mesh.vertices)[16:].max() > 0.5, "the knob goes with the door"


@pytest.mark.parametrize("change", [None, {"kind": "fixed", "axis": [0, 1, 0], "origin": [0, 0, 0]}])
def test_a_joint_set_to_null_or_fixed_is_gone(said, change):
    said["bodies"][1]["joint"] = change
    plan = plan_from_dict(said, three_boxes())
    assert plan.articulation.dof == 0
    assert plan.moving == ()
    assert len(plan.bodies[1].hypotheses) == 2


def test_an_alternative_can_be_taken_and_an_axis_need_not_have_unit_length(said):
    said["bodies"][1]["joint"] = said["bodies"][1]["alternatives"][1] | {"axis": [0, 0, 5]}
    (joint,) = [joint for joint in plan_from_dict(said, three_boxes()).articulation.joints if joint.dof]
    assert joint.kind == "prismatic"
    np.testing.assert_array_equal(joint.axis, [0.0, 0.0, 1.0])
    assert (joint.lower, joint.upper) == (0.0, 0.2)


def test_pieces_are_those_of_the_file_even_if_components_are_as_large_in_another_order():
    """Parts whose order is not that of the faces: both orders count twelve faces twice."""
    shapes = of_parts(first=[slab((0, 0, 0), (1, 1, 1))], second=[slab((2, 0, 0), (3, 1, 1))])
    mesh = replace(shapes, part_ids=1 - shapes.part_ids, part_names=("right", "left"))
    bodies = (PlannedBody("right", (0,), -1), PlannedBody("left", (1,), 0, (), hinge()))
    plan = BodyPlan(mesh, mesh.face_parts, bodies, "file")
    read = plan_from_dict(plan_to_dict(plan), mesh)
    np.testing.assert_array_equal(read.mesh.face_parts, mesh.face_parts)
    assert read.mesh.vertices[read.mesh.part_ids == 0].min(axis=0)[0] == 2.0


MISTAKES = [
    (lambda s: s.pop("neurok_plan"), "neurok_plan"),
    (lambda s: s.update(neurok_plan=2), "neurok_plan"),
    (lambda s: s.update(bodies=[]), "at least one body"),
    (lambda s: s.update(bodies=[1]), "at least one body"),
    (lambda s: s.update(pieces=None), "'pieces' must list"),
    (lambda s: s["pieces"].pop(), "another mesh"),
    (lambda s: s["pieces"][0].update(faces=13), "another mesh"),
    (lambda s: s["bodies"][0].update(name="door"), "name of its own"),
    (lambda s: s["bodies"][0].update(name=3), "name of its own"),
    (lambda s: s["bodies"][1].update(pieces=[1, 7]), "from 0 to 2"),
    (lambda s: s["bodies"][1].update(pieces=[True]), "from 0 to 2"),
    (lambda s: s["bodies"][1].update(pieces=[0]), "share a piece"),
    (lambda s: s["bodies"].pop(2), "piece 2 belongs to no body"),
    (lambda s: s["bodies"][1].update(parent="window"), "'window', which is no body; known are case, door, knob"),
    (lambda s: s["bodies"][1].update(parent="door"), "form a cycle"),
    (lambda s: s["bodies"][0].update(parent="knob"), "form a cycle"),
    (lambda s: s["bodies"][1].update(parent=None), "a joint but no parent"),
    (lambda s: s["bodies"][1].update(parent=["case"]), "which is no body"),
    (lambda s: s["bodies"][1].update(joint="hinge"), "kind of the joint of 'door'"),
    (lambda s: s["bodies"][1].update(alternatives=5), "alternatives of 'door'"),
    (lambda s: s["bodies"][1].update(alternatives=[5]), "kind of the joint of 'door'"),
    (lambda s: s["bodies"][1].update(bends="no"), "true or false"),
    (lambda s: s["bodies"][1].update(probability=1.5), "from 0 to 1"),
    (lambda s: s["bodies"][1]["joint"].update(kind="hinge"), "must be one of fixed, revolute"),
    (lambda s: s["bodies"][1]["joint"].update(axis=[0, 0, 0]), "not zeros"),
    (lambda s: s["bodies"][1]["joint"].update(axis=[0, 0]), "three numbers"),
    (lambda s: s["bodies"][1]["joint"].update(axis=[0, 0, 1e300]), "finite number"),
    (lambda s: s["bodies"][1]["joint"].update(origin=[0, 0, 10**400]), "finite number"),
    (lambda s: s["bodies"][1]["joint"].update(origin=[0, 0, math.nan]), "finite number"),
    (lambda s: s["bodies"][1]["joint"].update(lower=1.0, upper=0.5), "lower <= upper"),
    (lambda s: s["bodies"][1]["joint"].update(lower=True), "finite number"),
    (lambda s: s["bodies"][1]["joint"].update(slide=[1.0]), "two numbers"),
    (lambda s: s["bodies"][1]["joint"].update(kind="cylindrical", slide=[1.0, 0.0]), "lower <= upper"),
]


@pytest.mark.parametrize(("change", "word"), MISTAKES)
def test_each_mistake_has_its_sentence(said, change, word):
    change(said)
    with pytest.raises(FormatError, match=word) as told:
        plan_from_dict(said, three_boxes())
    assert str(told.value).endswith(".")


def test_the_plan_of_another_mesh_is_refused(said, tmp_path):
    (tmp_path / "plan.json").write_text(json.dumps(said))
    other = of_parts(only=[slab((0, 0, 0), (1, 1, 1))])
    with pytest.raises(FormatError, match=r"plan\.json' cannot be used: it was made for another mesh.* 36 faces"):
        read_plan(tmp_path / "plan.json", other)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"null", b"[]", b"7", b'"plan"'])
def test_what_is_no_plan_gets_a_sentence(tmp_path, data):
    (tmp_path / "plan.json").write_bytes(data)
    with pytest.raises(FormatError, match=r"plan\.json"):
        read_plan(tmp_path / "plan.json", three_boxes())


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def places(value, way=()):
    """Every place of a plan at which something may be put."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*way, key)
        yield from places(inner, (*way, key))


WRITTEN = json.loads(json.dumps(plan_to_dict(plan_of(three_boxes()))))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(list(places(WRITTEN))), JUNK | st.just("delete")), min_size=1, max_size=3))
def test_whatever_is_written_into_a_plan_it_works_or_gets_a_sentence(changes):
    said = copy.deepcopy(WRITTEN)
    for way, value in changes:
        holder = said
        try:
            for key in way[:-1]:
                holder = holder[key]
            if value == "delete":
                del holder[way[-1]]
            else:
                holder[way[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change has removed this place
    try:
        plan = plan_from_dict(said, three_boxes())
    except FormatError:
        return
    q = np.zeros(plan.articulation.dof)
    np.testing.assert_allclose(plan.articulation.pose(q).vertices, plan.mesh.vertices, atol=1e-9)
    assert set(plan.mesh.face_parts.tolist()) == set(range(len(plan.bodies)))
