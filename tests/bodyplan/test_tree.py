"""Who carries whom."""

import numpy as np

from neurok.bodyplan.contacts import contact_graph, find_base, find_tree, subtree
from neurok.modelling.shapes import slab
from solids import of_parts

UP = np.array([0.0, 1.0, 0.0])


def cupboard():
    """A body, a door before it, a knob on the door."""
    return of_parts(
        knob=[slab((0.4, 0.5, 0.44), (0.44, 0.54, 0.47))],
        door=[slab((0, 0, 0.4), (0.5, 1, 0.44))],
        body=[slab((0, 0, 0), (0.5, 1, 0.4))],
    )


def test_the_largest_part_on_the_ground_is_the_base():
    assert find_base(contact_graph(cupboard()), UP) == 2


def test_a_knob_hangs_on_the_door_and_the_door_on_the_body():
    parents = find_tree(contact_graph(cupboard()), UP)
    assert parents == (1, 2, -1)
    assert sorted(subtree(parents, 1)) == [0, 1]
    assert sorted(subtree(parents, 2)) == [0, 1, 2]


def test_every_part_reaches_the_base_even_when_islands_float():
    boxes = {
        f"b{k}": [slab((3 * k, 0, 0), (3 * k + 1, 1, 1)), slab((3 * k, 1, 0), (3 * k + 1, 2, 1))] for k in range(4)
    }
    parents = find_tree(contact_graph(of_parts(**boxes)), UP)
    assert parents.count(-1) == 1
    root = parents.index(-1)
    assert sorted(subtree(parents, root)) == [0, 1, 2, 3]


def test_an_object_of_one_part_is_its_own_base():
    assert find_tree(contact_graph(of_parts(only=[slab((0, 0, 0), (1, 1, 1))])), UP) == (-1,)
