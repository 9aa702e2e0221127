"""Lines that are worth a try."""

from dataclasses import replace

import numpy as np

from neurok.bodyplan import lines as tried
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.lines import directions, directions_of_parts, turning_lines
from neurok.geometry.lie import axis_angle_matrix
from neurok.modelling.shapes import slab
from solids import of_parts


def lid_on_a_pot():
    return of_parts(pot=[slab((0, 0, 0), (3, 2, 1))], lid=[slab((0, 2, 0), (3, 2.2, 1))])


def lines_of(mesh, part=1):
    graph = contact_graph(mesh)
    axes = directions(graph.samples[part], graph.of(part))
    return axes, turning_lines(part, 1 - part, graph, axes, graph.samples[part]), graph.size


def distance(lines, axis, point):
    """How near the nearest line along an axis comes to a point."""
    parallel = np.abs(lines.axes @ axis) > 0.9999
    offset = point - lines.origins[parallel]
    return np.linalg.norm(offset - (offset @ axis)[:, None] * axis, axis=1).min()


def test_boxes_along_the_world_have_its_three_directions_and_no_others():
    axes, _, _ = lines_of(lid_on_a_pot())
    assert sorted(map(tuple, np.abs(axes))) == sorted(map(tuple, np.eye(3)))


def test_a_turned_object_has_its_own_directions_and_those_of_the_world():
    mesh, turn = lid_on_a_pot(), axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.5)
    axes, _, _ = lines_of(mesh.with_vertices(mesh.vertices @ turn.T))
    for wanted in (*np.eye(3), *turn.T):
        assert np.abs(axes @ wanted).max() > 0.999
    dots = np.abs(axes @ axes.T) - 2.0 * np.eye(len(axes))
    assert dots.max() < tried.SAME_DIRECTION


def test_every_edge_and_the_middle_of_the_part_are_among_its_lines():
    _, lines, _ = lines_of(lid_on_a_pot())
    for point in ((0, 2, 0), (3, 2, 0), (3, 2.2, 1), (1.5, 2.1, 0.5)):
        for axis in np.eye(3):
            assert distance(lines, axis, np.array(point)) < 1e-9


def test_parallel_lines_keep_their_distance_and_a_larger_one_leaves_fewer(monkeypatch):
    _, lines, size = lines_of(lid_on_a_pot())
    for axis in np.unique(lines.axes, axis=0):
        places = lines.origins[(lines.axes == axis).all(axis=1)]
        apart = np.linalg.norm(places[:, None] - places, axis=2) + size * np.eye(len(places))
        assert apart.min() > tried.SAME_PLACE * size
    monkeypatch.setattr(tried, "SAME_PLACE", 10.0)
    _, few, _ = lines_of(lid_on_a_pot())
    assert len(few) == 3 < len(lines)


def heap_of_boards():
    """Five boards, each turned another way, that all touch a sixth."""
    names = {"table": [slab((0, 0, 0), (5, 0.5, 1))]}
    for k in range(5):
        board = slab((0, 0, 0), (0.8, 0.3, 0.5))
        turn = axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.3 + 0.2 * k)
        names[f"board_{k}"] = [replace(board, vertices=board.vertices @ turn.T + [k, 0.5, 0.3])]
    return of_parts(**names)


def test_few_parts_keep_all_their_directions():
    graph = contact_graph(heap_of_boards())
    found, cap = directions_of_parts(graph, range(1, 6))
    assert cap == 0
    for part, axes in found.items():
        np.testing.assert_array_equal(axes, directions(graph.samples[part], graph.of(part)))


def test_a_crowd_shares_so_many_directions_and_every_part_keeps_the_first_of_its_own(monkeypatch):
    graph = contact_graph(heap_of_boards())
    all_of_them, _ = directions_of_parts(graph, range(1, 6))
    most = sum(map(len, all_of_them.values())) - 1
    monkeypatch.setattr(tried, "FEWEST_DIRECTIONS", 3)
    monkeypatch.setattr(tried, "MOST_DIRECTIONS", most)
    found, cap = directions_of_parts(graph, range(1, 6))
    assert 0 < sum(map(len, found.values())) <= most
    assert max(map(len, found.values())) == cap
    for part, axes in found.items():
        np.testing.assert_array_equal(axes[:3], all_of_them[part][:3])
    monkeypatch.setattr(tried, "MOST_DIRECTIONS", 1)
    fewest, cap = directions_of_parts(graph, range(1, 6))
    assert cap == 3
    assert {len(axes) for axes in fewest.values()} == {3}
