"""Copies of one shape share what is said of them."""

from dataclasses import replace

import numpy as np

from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.geometry import lie
from neurok.learned.part_features import describe_parts, find_copies
from neurok.learned.search_evidence import shared_by_copies


def scene() -> Mesh:
    """A slab with two knobs, one of them turned a quarter, and a larger one."""
    box = np.indices((2, 2, 2)).reshape(3, -1).T - 0.5
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]])
    faces = np.concatenate([faces, [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]])
    knob = box * [0.1, 0.2, 0.05]
    turn = lie.axis_angle_matrix(np.array([0.0, 0.0, 1.0]), np.pi / 2)
    shapes = [box * [2, 1, 0.1], knob + [0.5, 0, 0.1], knob @ turn.T + [-0.5, 0, 0.1], 1.3 * knob + [0, 0, 0.1]]
    return Mesh(
        np.concatenate(shapes),
        np.concatenate([faces + 8 * k for k in range(4)]),
        part_ids=np.repeat(np.arange(4), 8),
        part_names=("slab", "one", "turned", "larger"),
    )


def test_copies_are_found_however_they_are_turned():
    assert find_copies(describe_parts(scene())).tolist() == [0, 1, 1, 3]


def test_copies_on_one_carrier_agree_by_the_geometric_mean():
    shares = np.array([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    copies, parents = np.array([0, 0, 2, 0]), np.array([2, 2, -1, 1])
    found = shared_by_copies(shares, copies, parents)
    assert np.allclose(found[:2], 0.5)  # sqrt(0.8 * 0.2) for both answers
    assert np.allclose(found[2:], shares[2:])  # alone, and a copy on another carrier


def test_nobody_is_a_copy_of_what_is_larger():
    mesh = make_sample("cabinet").articulation.mesh
    grown = replace(mesh, vertices=np.where(mesh.part_ids[:, None] == 1, 1.1, 1.0) * mesh.vertices)
    numbers = find_copies(describe_parts(grown))
    assert (numbers == numbers[1]).sum() == 1
