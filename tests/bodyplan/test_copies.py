"""Copies of one part are found, however they are mirrored, and joints are carried over from one to the other."""

import numpy as np
import pytest

from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.copies import copy_groups, copy_maps
from neurok.bodyplan.hypothesis import Hypothesis
from neurok.modelling.shapes import slab
from solids import of_parts, shell

UP = 1


def two_doors():
    """A left and a right door with handles at their inner edges, before an open box."""
    left = [slab((0, 0, 0.401), (0.49, 0.8, 0.42)), slab((0.43, 0.3, 0.42), (0.46, 0.5, 0.46))]
    right = [slab((0.51, 0, 0.401), (1.0, 0.8, 0.42)), slab((0.54, 0.3, 0.42), (0.57, 0.5, 0.46))]
    return of_parts(body=shell((0, 0, 0), (1, 0.8, 0.4)), left=left, right=right)


def test_mirrored_doors_are_copies_and_the_box_is_none():
    contacts = contact_graph(two_doors())
    assert copy_groups(contacts, (-1, 0, 0), UP) == [(1, 2)]
    assert copy_groups(contacts, (-1, 0, 1), UP) == []  # of other carriers


def test_the_hinge_of_one_door_is_the_mirrored_hinge_of_the_other():
    contacts = contact_graph(two_doors())
    hinge = Hypothesis(1, 0, "revolute", np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.4, 0.41]), -1.5, 0.0, 0.9)
    maps = copy_maps(contacts, 1, 2, UP)
    assert maps
    for way in maps:
        assert abs(np.linalg.det(way.linear)) == pytest.approx(1.0)
        other = way.line(hinge, 2, 0)
        assert (other.lower, other.upper) == (-1.5, 0.0)
        # opened by a small angle, the corner of the door still moves out of the box
        corner = np.array([0.49, 0.4, 0.41])
        there = way.linear @ (corner - way.source) + way.target
        out = np.cross(-hinge.axis, corner - hinge.origin)
        assert np.cross(-other.axis, there - other.origin) == pytest.approx(way.linear @ out, abs=1e-9)
    mirrored = [way.line(hinge, 2, 0) for way in maps if way.linear[0, 0] < 0 < way.linear[2, 2]]
    assert mirrored[0].origin == pytest.approx([1.0, 0.4, 0.41], abs=0.01)
    assert mirrored[0].axis == pytest.approx([0.0, -1.0, 0.0])


def test_a_slide_keeps_its_direction_in_a_mirror():
    contacts = contact_graph(two_doors())
    slide = Hypothesis(1, 0, "prismatic", np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.0, 0.2, 0.9)
    axes = {tuple(way.line(slide, 2, 0).axis) for way in copy_maps(contacts, 1, 2, UP) if way.linear[2, 2] > 0}
    assert axes == {(0.0, 0.0, 1.0)}


def test_a_narrower_part_is_no_copy():
    parts = {"body": [slab((0, 0, 0), (1, 0.8, 0.4))], "one": [slab((0, 0, 0.4), (0.5, 0.8, 0.42))]}
    mesh = of_parts(**parts, other=[slab((0.5, 0, 0.4), (0.9, 1.0, 0.42))])
    assert copy_groups(contact_graph(mesh), (-1, 0, 0), UP) == []
