"""What speaks for and against a line."""

import numpy as np
import pytest

from neurok.bodyplan import line_features
from neurok.bodyplan.contacts import contact_graph, find_tree
from neurok.bodyplan.line_features import (
    FIXED_FEATURES,
    SLIDE_FEATURES,
    TURN_FEATURES,
    handle_evidence,
    line_distances,
    part_facts,
    roundness,
    same_box_parts,
)
from neurok.bodyplan.search import search_part
from neurok.modelling.shapes import cylinder, slab
from solids import door_on_a_box, drawer_in_a_box, knob_on_a_block, of_parts

X, Y, Z = np.eye(3)


def searched(mesh, part=1):
    graph = contact_graph(mesh)
    parents = find_tree(graph, Y)
    return search_part(mesh, graph, parents, part, graph.samples[part], Y)


def facts_of(mesh, part=1):
    graph = contact_graph(mesh)
    return part_facts(part, find_tree(graph, Y), graph, graph.samples[part], Y)


def column(rows, names, name):
    return rows[:, names.index(name)]


def test_distances_from_lines_are_those_of_geometry():
    points = np.array([[3.0, 7.0, 4.0], [0.0, 0.0, 0.0]])
    found = line_distances(points, np.stack([Y, X]), np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 1.0]]))
    assert np.allclose(found, [[5.0, 0.0], [np.sqrt(58.0), 1.0]])


def test_a_knob_is_round_about_its_axis_and_about_no_other():
    samples = contact_graph(knob_on_a_block()).samples[1]
    middle = np.tile(samples.box.center, (3, 1))
    found = roundness(samples, np.eye(3), middle, np.ones(3))
    assert found[2] > 0.8
    assert found[:2].max() < 0.5
    assert roundness(samples, np.eye(3), middle, np.zeros(3)).tolist() == [0.0, 0.0, 0.0]  # lines off the middle


def test_a_handle_speaks_for_the_line_it_is_far_from():
    samples = contact_graph(door_on_a_box()).samples[1]
    hinges = np.array([[0.0, 0.0, 0.401], [0.5, 0.0, 0.401]])
    gain, bar, along = handle_evidence(samples, samples.box, np.stack([Y, Y]), hinges)
    assert gain[0] > 0.1
    assert gain[1] < -0.1
    assert bar > 0.2
    assert abs(along[1]) > 0.9  # the handle is taller than wide


def test_a_lid_lies_flat_on_the_one_part_it_touches():
    mesh = of_parts(pot=[slab((0, 0, 0), (1, 1, 1))], lid=[slab((0, 1, 0), (1, 1.1, 1))])
    facts = facts_of(mesh)
    assert facts.size == pytest.approx(np.sqrt(2.01) / mesh.size, rel=1e-3)
    assert facts.thin == pytest.approx(0.9, abs=0.02)
    assert abs(facts.normal @ Y) > 0.99
    assert facts.flat > 0.9
    assert facts.alone == 1.0
    assert facts.above == pytest.approx(0.55 / mesh.size, rel=0.05)
    assert 0.35 < facts.touching < 0.65  # its lower side, and what of its rim is in reach


def test_what_is_small_is_so_beside_the_object(monkeypatch):
    mesh = knob_on_a_block()
    share = facts_of(mesh).size
    for least, small in ((0.99 * share, False), (1.01 * share, True)):
        monkeypatch.setattr(line_features, "SMALL_PART", least)
        assert facts_of(mesh).is_small == small


def test_parts_of_one_box_are_found_also_where_they_lie_along_another_axis():
    mesh = of_parts(
        base=[slab((-1, -1, -1), (4, 0, 4))],
        first=[slab((0, 0, 0), (0.4, 0.2, 1.0))],
        second=[slab((2, 0, 2), (2.4, 0.2, 3.0))],
        other=[slab((0, 0, 3), (0.4, 0.3, 4.0))],
    )
    graph = contact_graph(mesh)
    assert same_box_parts(1, graph) == [1, 2]


def test_the_hinge_of_a_door_has_more_contact_and_range_than_its_middle():
    found = searched(door_on_a_box())
    rows, lines = found.evidence["revolute"], found.lines
    assert rows.shape == (len(lines), len(TURN_FEATURES))
    upright = column(rows, TURN_FEATURES, "upright") > 0
    assert np.array_equal(upright, np.abs(lines.axes[:, 1]) > 0.99)
    hinge = int(np.where(upright, np.linalg.norm(lines.origins[:, [0, 2]] - (0.0, 0.4), axis=1), 9.0).argmin())
    middle = int(np.where(upright, column(rows, TURN_FEATURES, "middle"), 0.0).argmax())
    for name, least in (("hinge_length", 0.8), ("free", 0.9), ("one_sided", 1.0)):
        assert column(rows, TURN_FEATURES, name)[hinge] >= least
        assert column(rows, TURN_FEATURES, name)[hinge] > column(rows, TURN_FEATURES, name)[middle]


def test_a_drawer_is_confined_but_for_one_direction():
    found = searched(drawer_in_a_box())
    rows = found.evidence["prismatic"]
    assert rows.shape == (len(found.axes), len(SLIDE_FEATURES))
    out = int(np.abs(found.axes @ Z).argmax())
    confined = column(rows, SLIDE_FEATURES, "confined_free")
    assert confined.argmax() == out
    assert confined[out] > 0.9
    assert column(rows, SLIDE_FEATURES, "free_part")[out] == 1.0


def test_what_can_neither_turn_nor_slide_is_stuck():
    walls = [slab(low, high) for low, high in (((-1, -1, -1), (-0.01, 2, 2)), ((1.01, -1, -1), (2, 2, 2)),
             ((-0.01, -1, -1), (1.01, -0.01, 2)), ((-0.01, 1.01, -1), (1.01, 2, 2)),
             ((-0.01, -0.01, -1), (1.01, 1.01, -0.01)), ((-0.01, -0.01, 1.01), (1.01, 1.01, 2)))]  # fmt: skip
    stone = of_parts(walls=walls, stone=[slab((0, 0, 0), (1, 1, 1))])
    knob = of_parts(block=[slab((0, 0, 0), (2, 2, 1))], knob=[cylinder(0.3, 0.4).along("z").move(1, 1, 1.2)])
    stuck = [searched(mesh).evidence["fixed"][0, FIXED_FEATURES.index("stuck")] for mesh in (stone, knob)]
    assert stuck == [1.0, 0.0]


def test_evidence_turns_with_the_object():
    """The same features for a door and for one that is turned by a quarter about up."""
    mesh = door_on_a_box()
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    first = searched(mesh)
    second = searched(mesh.with_vertices(mesh.vertices @ turn.T))
    for one, axis in enumerate(first.axes):
        other = int(np.abs(second.axes @ (turn @ axis)).argmax())
        for name in ("upright", "along_longest", "along_shortest", "small", "thin", "size", "touching"):
            before = column(first.evidence["prismatic"], SLIDE_FEATURES, name)[one]
            after = column(second.evidence["prismatic"], SLIDE_FEATURES, name)[other]
            assert before == pytest.approx(after, abs=0.02), name
