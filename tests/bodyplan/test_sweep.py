"""Moving a part against the rest: where its points go, what they cross, when it comes loose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.bodyplan import sweep
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.sweep import Mover, OccupancyGrid, trajectories
from neurok.geometry import lie
from neurok.modelling.shapes import slab
from solids import of_parts

EVERY = np.array([99])
"""No line is given up before its last step."""


def block_before_a_wall():
    """A block on a floor, 0.25 before a wall towards +x."""
    return of_parts(
        block=[slab((0, 0, 0), (1, 1, 1))],
        floor=[slab((-2, -0.1, -1), (3, 0, 2))],
        wall=[slab((1.25, 0, -1), (1.3, 2, 2))],
    )


def mover(mesh):
    return Mover(mesh, contact_graph(mesh), (0,))


def slid(mover, axis, ways):
    """What crosses on a slide by each of these lengths."""
    axes, values = np.array([axis], dtype=float), np.array([ways]) / mover.size
    return mover.sweep(axes, np.zeros((1, 3)), values, False, EVERY, enough=2.0, window=len(ways))


@settings(max_examples=20, deadline=None)
@given(angle=st.floats(-3.0, 3.0), seed=st.integers(0, 1000))
def test_points_travel_as_rigid_motions_say(angle, seed):
    rng = np.random.default_rng(seed)
    points, axis, origin = rng.normal(size=(5, 3)), rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    turned = trajectories(points, axis[None], origin[None], np.array([[0.0, angle]]), turning=True)[0]
    assert np.allclose(turned[0], points, atol=1e-5)
    assert np.allclose(turned[1], lie.apply(lie.rotation_about(axis, origin, angle), points), atol=1e-5)
    moved = trajectories(points, axis[None], origin[None], np.array([[angle]]), turning=False)[0, 0]
    assert np.allclose(moved, points + angle * axis, atol=1e-5)


def test_a_block_crosses_the_wall_when_it_gets_there_and_the_wall_is_the_obstacle():
    mesh = block_before_a_wall()
    crossings = slid(mover(mesh), (1, 0, 0), [0.1, 0.2, 0.3, 0.5])
    assert (crossings.own[0, :2] == 0.0).all()
    assert (crossings.other[0, :2] < sweep.COLLIDES).all()  # the floor under its edge
    assert (crossings.own[0, 2:] > 0.1).all()
    assert (np.diff(crossings.other[0]) >= 0.0).all()
    assert crossings.obstacle[0].tolist() == [-1, -1, 2, 2]


def test_sliding_along_the_floor_is_no_collision_and_sinking_into_it_is():
    body = mover(block_before_a_wall())
    along, down = slid(body, (-1, 0, 0), [0.2, 0.5]), slid(body, (0, -1, 0), [0.2, 0.5])
    assert along.own.max() == 0.0
    assert along.other.max() < sweep.COLLIDES
    assert down.own[0, 0] > 0.1
    assert down.obstacle[0, 0] == 1


def test_where_every_angle_grazes_nothing_crosses(monkeypatch):
    monkeypatch.setattr(sweep, "GRAZING", 1.001)
    crossings = slid(mover(block_before_a_wall()), (1, 0, 0), [0.3, 0.5])
    assert crossings.own.max() == crossings.other.max() == 0.0


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_size_and_place_of_the_object_do_not_matter(scale):
    mesh = block_before_a_wall()
    moved = mesh.with_vertices(scale * (mesh.vertices + [5.0, -2.0, 7.0]))
    first = slid(mover(mesh), (1, 0, 0), [0.1, 0.3])
    second = slid(mover(moved), (1, 0, 0), [0.1 * scale, 0.3 * scale])
    assert np.allclose(first.own, second.own, atol=0.03)
    assert np.array_equal(first.obstacle, second.obstacle)


def test_a_block_that_is_lifted_comes_loose_and_one_that_is_pushed_does_not():
    mesh = of_parts(block=[slab((0, 0, 0), (1, 1, 1))], floor=[slab((-2, -0.1, -2), (3, 0, 3))])
    body, values = mover(mesh), np.array([[0.02, 0.5]])
    lifted = body.is_detached(np.array([[0.0, 1, 0]]), np.zeros((1, 3)), values / body.size, False)
    pushed = body.is_detached(np.array([[1.0, 0, 0]]), np.zeros((1, 3)), values / body.size, False)
    assert lifted.tolist() == [[False, True]]
    assert pushed.tolist() == [[False, False]]


def test_a_grid_holds_what_is_within_two_cells():
    grid = OccupancyGrid(np.zeros((1, 3)), cells=80, margin=3)
    steps = np.array([0.0, 1.0, 2.1, 40.0, 1000.0]) / 80
    near = grid.contains(np.stack([steps, 0 * steps, 0 * steps], axis=1).astype(np.float32))
    assert near.tolist() == [True, True, False, False, False]
