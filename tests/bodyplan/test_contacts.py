"""Where parts touch."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.bodyplan.contacts import contact_graph
from neurok.geometry.lie import axis_angle_matrix
from neurok.modelling.shapes import slab
from solids import of_parts


def two_boxes(gap=0.0):
    return of_parts(left=[slab((0, 0, 0), (1, 1, 1))], right=[slab((1 + gap, 0, 0), (2 + gap, 0.5, 1))])


def test_boxes_side_by_side_touch_in_their_common_face():
    (contact,) = contact_graph(two_boxes()).pairs
    assert (contact.first, contact.second) == (0, 1)
    assert abs(contact.normal[0]) > 0.99
    assert contact.normal[0] > 0
    assert np.allclose(contact.points[:, 0], 1.0, atol=0.03)
    assert np.allclose(contact.center, (1.0, 0.25, 0.5), atol=0.05)
    assert np.allclose(contact.extent[:2], (1.0, 0.5), atol=0.1)


def test_a_part_far_from_all_touches_its_nearest_neighbour():
    contacts = contact_graph(two_boxes(gap=0.7))
    assert contacts.neighbours(1) == (0,)
    assert abs(contacts.pairs[0].center[0] - 1.35) < 0.02


def test_parts_that_do_not_touch_have_no_contact():
    third = slab((5, 0, 0), (6, 1, 1))
    mesh = of_parts(
        left=[slab((0, 0, 0), (1, 1, 1))],
        right=[slab((1, 0, 0), (2, 1, 1))],
        far=[third],
        next=[slab((6, 0, 0), (7, 1, 1))],
    )
    contacts = contact_graph(mesh)
    assert 2 not in contacts.neighbours(0)
    assert 0 not in contacts.neighbours(2)
    assert 2 in contacts.neighbours(3)


@settings(max_examples=5, deadline=None)
@given(angle=st.floats(0.1, 3.0), scale=st.floats(1e-3, 1e3))
def test_contacts_turn_and_scale_with_the_object(angle, scale):
    mesh = two_boxes()
    turn = axis_angle_matrix(np.array([0.6, 0.0, 0.8]), angle)
    moved = contact_graph(mesh.with_vertices(mesh.vertices @ turn.T * scale)).pairs[0]
    still = contact_graph(mesh).pairs[0]
    assert abs(float(moved.normal @ turn @ still.normal)) > 0.999
    assert np.allclose(moved.center, turn @ still.center * scale, atol=0.02 * scale)
    assert np.allclose(moved.extent, still.extent * scale, rtol=0.05, atol=0.03 * scale)


def test_boxes_of_parts_fit_them_and_lie_along_the_world_when_the_part_does():
    samples = contact_graph(two_boxes()).samples
    assert np.allclose(np.abs(samples[0].box.axes), np.eye(3))
    assert np.allclose(np.sort(samples[1].box.half), (0.25, 0.5, 0.5))
