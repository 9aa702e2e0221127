import numpy as np
import pytest

from neurok.core import Articulation, Joint, Mesh
from neurok.errors import NeurokError
from neurok.geometry import lie


def two_triangles() -> Mesh:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0], [2, 1, 0]], float)
    return Mesh(vertices, [[0, 1, 2], [3, 4, 5]], part_ids=[0, 0, 0, 1, 1, 1], part_names=("base", "arm"))


def test_a_quarter_turn_about_an_offset_axis_matches_the_closed_form():
    joints = (Joint(), Joint("revolute", 0, axis=(0, 0, 2), origin=(2, 0, 0), lower=-2, upper=2))
    moved = Articulation(two_triangles(), joints).pose(np.array([np.pi / 2])).vertices
    np.testing.assert_allclose(moved[3:], [[2, 0, 0], [2, 1, 0], [1, 0, 0]], atol=1e-12)
    np.testing.assert_array_equal(moved[:3], two_triangles().vertices[:3])


def test_a_child_rides_on_its_parent_whatever_the_order_of_parts():
    joints = (
        Joint("prismatic", 1, axis=(0, 1, 0), lower=0, upper=1),
        Joint("prismatic", -1, axis=(1, 0, 0), lower=0, upper=1),
    )
    moved = Articulation(two_triangles(), joints).pose(np.array([0.25, 0.5])).vertices
    rest = two_triangles().vertices
    np.testing.assert_allclose(moved[:3] - rest[:3], np.tile([0.5, 0.25, 0], (3, 1)))
    np.testing.assert_allclose(moved[3:] - rest[3:], np.tile([0.5, 0, 0], (3, 1)))


def test_a_cylindrical_joint_turns_and_slides():
    joints = (Joint(), Joint("cylindrical", 0, axis=(0, 0, 1), origin=(2, 0, 0)))
    articulation = Articulation(two_triangles(), joints)
    assert articulation.dof_names == ("arm/turn", "arm/slide")
    moved = articulation.pose(np.array([np.pi, 0.5])).vertices
    np.testing.assert_allclose(moved[4], [1, 0, 0.5], atol=1e-12)


def test_the_clip_of_an_articulation_agrees_with_its_skin():
    joints = (Joint(), Joint("revolute", 0, axis=(1, 2, 3), origin=(2, 1, 0), lower=-1, upper=2))
    articulation = Articulation(two_triangles(), joints)
    clip = articulation.clip(articulation.sweep(7))
    assert clip.skin is not None
    np.testing.assert_allclose(clip.skin.positions(clip.rest.vertices), clip.positions, atol=1e-6)


def test_cycles_and_missing_joints_are_refused_with_a_sentence():
    with pytest.raises(NeurokError, match="cycle"):
        Articulation(two_triangles(), (Joint(parent=1), Joint(parent=0)))
    with pytest.raises(NeurokError, match="one joint per part"):
        Articulation(two_triangles(), (Joint(),))
    with pytest.raises(NeurokError, match="direction"):
        Joint(axis=(0, 0, 0))
    with pytest.raises(NeurokError, match="lower <= upper"):
        Joint("revolute", lower=1, upper=0)


def by_recursion(articulation: Articulation, part: int, q: np.ndarray) -> np.ndarray:
    """Motion of a part as the kinds of joints are defined, one after the other up to the root."""
    joint, values = articulation.joints[part], q[articulation.slots[part]]
    turn = values[0] if joint.kind in ("revolute", "continuous", "cylindrical") else 0.0
    slide = values[-1] if joint.kind in ("prismatic", "cylindrical") else 0.0
    local = lie.translation(slide * joint.axis) @ lie.rotation_about(joint.axis, joint.origin, turn)
    return local if joint.parent < 0 else by_recursion(articulation, joint.parent, q) @ local


@pytest.mark.parametrize("seed", range(12))
def test_every_part_moves_as_a_plain_recursion_says(seed):
    rng, count = np.random.default_rng(seed), 7
    kinds = rng.choice(["fixed", "revolute", "continuous", "prismatic", "cylindrical"], count)
    shuffled = rng.permutation(count)
    parents = np.full(count, -1)
    for place, part in enumerate(shuffled):
        parents[part] = rng.choice([-1, *shuffled[:place]])
    joints = tuple(
        Joint(str(kind), int(parent), rng.normal(size=3), rng.normal(size=3))  # type: ignore[arg-type]
        for kind, parent in zip(kinds, parents, strict=True)
    )
    faces = np.arange(3 * count).reshape(count, 3)
    articulation = Articulation(Mesh(rng.normal(size=(3 * count, 3)), faces, part_ids=faces.reshape(-1) // 3), joints)
    q = rng.normal(size=(2, 3, articulation.dof))
    found = articulation.transforms(q)
    assert found.shape == (2, 3, count, 4, 4)
    expected = [by_recursion(articulation, part, q[1, 2]) for part in range(count)]
    np.testing.assert_allclose(found[1, 2], expected, atol=1e-12)
    np.testing.assert_array_equal(articulation.pose(np.zeros(articulation.dof)).vertices, articulation.mesh.vertices)
