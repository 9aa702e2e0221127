"""The potential of contact, and what is asked of solids and frames for it, against closed forms and differences."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Ground, World, start
from neurok.dynamics.colliders import meet_hull
from neurok.dynamics.reduced import contact
from neurok.dynamics.reduced.contact import Rows
from neurok.dynamics.reduced.equations import blended
from neurok.dynamics.reduced.system import solve_positive
from neurok.dynamics.soft import SOFT, soften
from neurok.modelling import shapes

TILT = np.array([[0.36, -0.48, 0.8], [0.8, 0.6, 0.0], [-0.48, 0.64, 0.6]])
"""A rotation without symmetries, so that no two points are equally low and round-off decides nothing."""


@pytest.fixture
def rows():
    """Six points near planes."""
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(6, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Rows(
        [],
        [],
        start=np.zeros((6, 3)),
        normals=normals,
        gaps=rng.normal(size=6) * 0.1,
        stiffness=np.full(6, 50.0),
        presses=np.ones(6),
        friction=np.full(6, 0.5),
        pressed=np.arange(6),
        slips=0.02 * rng.normal(size=(6, 3)),
        bounce=np.zeros(6),
        loads=np.array([5.0, 0.5, 1.0, 0.0, 2.0, 8.0]),
        before=np.zeros(6),
        slid=np.zeros(6, dtype=bool),
    )


def test_forces_of_contact_are_the_slopes_of_its_energy(rows):
    moved = 0.05 * np.random.default_rng(1).normal(size=(6, 3))
    force = rows._terms(moved)[1].reshape(6, 3)
    for place in np.ndindex(6, 3):
        step = np.zeros((6, 3))
        step[place] = 1e-6
        slope = (rows._terms(moved + step)[0] - rows._terms(moved - step)[0]) / 2e-6
        assert force[place] == pytest.approx(slope, abs=1e-6)


def test_the_descent_ends_where_nothing_pulls_any_more(rows, monkeypatch):
    monkeypatch.setattr(contact, "INNER", 1e-12)
    rng = np.random.default_rng(2)
    matrix = np.diag(rng.uniform(1.0, 3.0, size=4))
    gradient, jacobian = rng.normal(size=4), rng.normal(size=(6, 3, 4))
    moved = np.zeros((6, 3))
    smooth = gradient - rows._terms(moved)[1] @ jacobian.reshape(18, 4)
    rows.moved, rows._last = moved, rows._terms(moved)
    change = rows.descent(matrix, gradient, jacobian)
    left = smooth + matrix @ change + rows._terms(moved + jacobian @ change)[1] @ jacobian.reshape(18, 4)
    assert np.abs(left).max() < 1e-4 * np.abs(gradient).max()


def test_a_positive_matrix_is_solved_and_what_has_no_pivot_stands_still():
    rng = np.random.default_rng(3)
    root, right = rng.normal(size=(5, 5)), rng.normal(size=5)
    np.testing.assert_allclose(root @ root.T @ solve_positive(root @ root.T, right), right, atol=1e-9)
    lame = np.diag([2.0, 0.0, 4.0])
    np.testing.assert_allclose(solve_positive(lame, np.array([2.0, 1.0, 4.0])), [1.0, 0.0, 1.0], atol=1e-12)


def test_blended_vertices_are_where_their_weights_say():
    rng = np.random.default_rng(4)
    weights, rest, y = rng.random((700, 5)), rng.normal(size=(700, 3)), rng.normal(size=(2, 20, 3))
    lifted = np.concatenate([rest, np.ones((700, 1))], axis=1)
    known = np.einsum("vh,vk,bhki->bvi", weights, lifted, y.reshape(2, 5, 4, 3))
    np.testing.assert_allclose(blended(weights, lifted, y), known, atol=1e-12)
    normal = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(blended(weights, lifted, (y @ normal)[..., None])[..., 0], known @ normal, atol=1e-12)


def met(start, end, marks=None, reach=0.05):
    """Points against the cube from -1 to 1."""
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    (which, faces), gaps = np.zeros((2, len(start)), dtype=np.int64), np.empty(len(start))
    marks = np.full(len(start), -1) if marks is None else marks
    box = np.full(3, -1.0), np.full(3, 1.0)
    count = meet_hull(start, end, marks, reach, normals, np.ones(6), *box, 1e-3, which, faces, gaps)
    return which[:count].tolist(), faces[:count].tolist(), gaps[:count].tolist()


def test_a_cube_is_met_where_a_way_goes_in():
    outside, inside = [[0.2, 3.0, 0.1], [3.0, 0.0, 0.0]], [[0.0, 0.9, 0.0], [0.0, 0.9, 0.0]]
    start = np.array([*outside, *inside, [0.0, 1.04, 0.0], [2.0, 2.0, 0.0]])
    end = start + np.array([[0.0, -9.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [-0.5, 0.0, 0.0]])
    which, faces, gaps = met(start, end, np.array([-1, -1, -1, 0, -1, -1]))
    assert which == [0, 2, 3, 4]
    assert faces == [1, 1, 0, 1]
    np.testing.assert_allclose(gaps, [2.0, -0.1, -1.0, 0.04], atol=1e-12)


@pytest.mark.slow
def test_a_soft_body_that_lands_gains_no_energy_and_two_runs_are_equal_to_the_last_bit():
    box, place = shapes.box((0.3, 0.2, 0.25), (0.0, 0.0, 0.0)), np.eye(4)
    place[:3, :3], place[1, 3] = TILT, 0.3
    jelly = MaterialField.uniform(Material("jelly", young=2e4, poisson=0.3, density=300.0, damping_ratio=0.08), 8)
    body = Body.of(Mesh(box.vertices, box.faces), materials=jelly, free=True, placement=place)
    body = soften(body, anyway=True, config=replace(SOFT, space=replace(SOFT.space, modes=5, handles=8)))
    rollouts = []
    for _ in range(2):
        run = start(body, World(ground=Ground(0.0)), seconds=0.4)
        while run.step():
            pass
        assert run.status == "ok"
        assert run._stepper.touched
        rollouts.append(run.rollouts()[0])
    total = rollouts[0].energies["total"]
    assert np.all(np.diff(total) <= 1e-6 * abs(total[0]))
    np.testing.assert_array_equal(rollouts[0].positions, rollouts[1].positions)
