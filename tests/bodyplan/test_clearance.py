"""Bodies of one object keep out of each other: a drawer waits for the door before it."""

import numpy as np
import pytest

from neurok.bodyplan.clearance import Clearance
from neurok.core import Articulation, Joint, Mesh
from neurok.kinematics import ArticulatedSpace
from neurok.modelling.shapes import box
from neurok.posing.verbs import free_states


@pytest.fixture(scope="module")
def oven() -> Articulation:
    """A tray behind a door that opens downwards, between two walls."""
    blocks = {
        "wall": ((-0.55, 0.0, 0.0), (0.1, 1.0, 1.0)),
        "tray": ((0.0, 0.0, 0.0), (0.9, 0.05, 0.8)),
        "door": ((0.0, 0.0, 0.55), (1.0, 1.0, 0.05)),
    }
    vertices, faces, parts = [], [], []
    for number, (center, size) in enumerate(blocks.values()):
        shape = box(size)
        faces.append(shape.faces + sum(len(rows) for rows in vertices))
        vertices.append(shape.vertices - shape.bounds.mean(axis=0) + center)
        parts.append(np.full(len(shape.vertices), number))
    mesh = Mesh(
        np.concatenate(vertices), np.concatenate(faces), part_ids=np.concatenate(parts), part_names=tuple(blocks)
    )
    joints = (
        Joint(name="wall"),
        Joint("prismatic", 0, (0, 0, 1), lower=0.0, upper=0.6, name="tray"),
        Joint("revolute", 0, (1, 0, 0), (0.0, -0.5, 0.55), 0.0, np.pi / 2, name="door"),
    )
    return Articulation(mesh, joints)


def test_a_tray_waits_for_the_door(oven):
    clearance = Clearance(oven)
    assert clearance.is_free(np.zeros(2))
    assert clearance.is_free(np.array([0.0, 1.2]))
    assert clearance.is_free(np.array([0.6, np.pi / 2])), "the door first, then the tray"
    pair = clearance.blocked(np.array([0.6, 0.0]))
    assert set(clearance.names(pair)) == {"tray", "door"}
    assert not clearance.is_free(np.array([0.6, 0.2]))


def test_what_is_in_the_way_is_drawn_back_as_far_as_it_must(oven):
    clearance = Clearance(oven)
    q, waits = clearance.freed(np.array([0.6, 0.0]))
    assert waits == (("tray", "door"),)
    assert clearance.is_free(q)
    assert 0.05 < q[0] < 0.2, "up to the closed door, and no farther"
    same, nobody = clearance.freed(np.array([0.6, np.pi / 2]))
    np.testing.assert_array_equal(same, [0.6, np.pi / 2])
    assert nobody == ()


def test_states_that_are_drawn_are_free(oven):
    space, clearance = ArticulatedSpace(oven), Clearance(oven)
    raw = space.sample(12, seed=1)
    assert not all(clearance.is_free(q) for q in raw), "the test asks nothing"
    drawn = free_states(space, 12, seed=1)
    assert all(clearance.is_free(q) for q in drawn)
    free = np.array([clearance.is_free(q) for q in raw])
    np.testing.assert_array_equal(drawn[free], raw[free])
    np.testing.assert_array_equal(drawn, free_states(space, 12, seed=1))
