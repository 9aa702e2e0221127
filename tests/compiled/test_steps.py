"""Compiled steps against the same steps by calls, and the quantities in them against their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.compiled import blend, nearness
from neurok.compiled.farthest import choose
from neurok.core import Material, MaterialField, Mesh
from neurok.dynamics import Body, Ground, World, start
from neurok.dynamics.soft import SOFT, soften
from neurok.modelling import shapes
from neurok.samples import make_sample

TILT = np.array([[0.36, -0.48, 0.8], [0.8, 0.6, 0.0], [-0.48, 0.64, 0.6]])
"""A rotation without symmetries, so that no two points are equally low and round-off decides nothing."""


def placed(height):
    place = np.eye(4)
    place[:3, :3], place[1, 3] = TILT, height
    return place


@pytest.fixture(scope="module")
def jelly():
    box = shapes.box((0.3, 0.2, 0.25), (0.0, 0.0, 0.0))
    stuff = MaterialField.uniform(Material("jelly", young=2e4, poisson=0.3, density=300.0, damping_ratio=0.08), 8)
    body = Body.of(Mesh(box.vertices, box.faces), materials=stuff, free=True, placement=placed(0.3))
    return soften(body, anyway=True, config=replace(SOFT, space=replace(SOFT.space, modes=5, handles=8)))


@pytest.fixture(scope="module")
def laptop():
    return Body.of(make_sample("laptop"), free=True, placement=placed(0.3))


def stepped(body, seconds, is_compiled):
    """A run whose steps are found as exactly as can be: where they stop early is no matter of agreement."""
    run = start(body, World(ground=Ground(0.0)), seconds=seconds)
    stepper = run._stepper
    stepper.config = replace(stepper.config, last_change=1e-9, last_share=1e-9, inner=1e-12)
    stepper.compiled = is_compiled
    stepper.change(stepper.system)
    assert (stepper._closed is not None) == is_compiled
    while run.step():
        pass
    assert run.status == "ok"
    return run.rollouts()[0], stepper


@pytest.mark.slow
@pytest.mark.parametrize("which", ["jelly", "laptop"])
def test_compiled_steps_do_what_steps_by_calls_do(which, request):
    body = request.getfixturevalue(which)
    fast, stepper = stepped(body, 0.25, True)
    slow, _ = stepped(body, 0.25, False)
    assert stepper.touched
    np.testing.assert_allclose(fast.positions, slow.positions, rtol=0, atol=1e-7 * body.mesh.size)
    np.testing.assert_array_equal(fast.positions, stepped(body, 0.25, True)[0].positions)


@pytest.mark.slow
def test_energy_does_not_grow_in_compiled_steps(jelly):
    total = stepped(jelly, 0.4, True)[0].energies["total"]
    assert np.all(np.diff(total) <= 1e-6 * abs(total[0]))


def test_masses_momenta_and_slopes_agree_with_those_of_the_mechanics(jelly, laptop):
    rng = np.random.default_rng(0)
    for body in (jelly, laptop):
        run = start(body, World(ground=Ground(0.0)), seconds=0.1)
        stepper, state = run._stepper, run._state
        q, p = 0.1 * rng.normal(size=(2, stepper.system.dim))
        state = replace(state, q=q, p=p)
        closed = stepper._closed
        own = closed.own(stepper.bearings, stepper.rolling)
        moment, inertia = closed.begin(state, own)
        (motion,) = stepper.system.motions(state.poses, q[None], moment.qdot[None])
        np.testing.assert_allclose(motion.mass_matrices()[0].diagonal(), inertia, rtol=1e-10)
        np.testing.assert_allclose(motion.momentum[0], p, atol=1e-10)
        np.testing.assert_allclose(closed.gravity(moment), motion.field_force(stepper.gravity)[0], atol=1e-10)
        assert moment.kinetic == pytest.approx(float(motion.kinetic[0]))
        points = motion.mechanics.points(np.arange(5))
        np.testing.assert_allclose(points.rows @ moment.place.y, points.positions(motion)[0], atol=1e-12)
        moved = closed.rebase(state)
        known = stepper.system.rebase(state)
        np.testing.assert_allclose(moved.poses[0], known.poses[0], atol=1e-12)
        np.testing.assert_allclose(moved.p, known.p, atol=1e-10)


def test_blended_vertices_are_where_their_weights_say():
    rng = np.random.default_rng(1)
    weights, rest, rows = rng.random((700, 5)), rng.normal(size=(700, 3)), rng.normal(size=(5, 4, 3))
    lifted = np.concatenate([rest, np.ones((700, 1))], axis=1)
    known = np.einsum("vh,vk,hki->vi", weights, lifted, rows)
    out, flat = np.empty((700, 3)), rows.reshape(5, 12)
    blend.everywhere(weights, rest, flat, out)
    np.testing.assert_allclose(out, known, atol=1e-12)
    some, normal = rng.integers(700, size=300), np.array([0.6, 0.0, 0.8])
    out, heights = np.empty((300, 3)), np.empty(300)
    blend.some(weights, rest, some, flat, out)
    blend.heights(weights, rest, some, flat, normal, heights)
    np.testing.assert_allclose(out, known[some], atol=1e-12)
    np.testing.assert_allclose(heights, known[some] @ normal, atol=1e-12)


def met(start, end, marks=None, reach=0.05):
    """Points against the cube from -1 to 1."""
    normals = np.concatenate([np.eye(3), -np.eye(3)])
    (which, faces), gaps = np.zeros((2, len(start)), dtype=np.int64), np.empty(len(start))
    marks = np.full(len(start), -1) if marks is None else marks
    box = np.full(3, -1.0), np.full(3, 1.0)
    count = nearness.meet_hull(start, end, marks, reach, normals, np.ones(6), *box, 1e-3, which, faces, gaps)
    return which[:count].tolist(), faces[:count].tolist(), gaps[:count].tolist()


def test_a_cube_is_met_where_a_way_goes_in():
    outside, inside = [[0.2, 3.0, 0.1], [3.0, 0.0, 0.0]], [[0.0, 0.9, 0.0], [0.0, 0.9, 0.0]]
    start = np.array([*outside, *inside, [0.0, 1.04, 0.0], [2.0, 2.0, 0.0]])
    end = start + np.array([[0.0, -9.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [-0.5, 0.0, 0.0]])
    which, faces, gaps = met(start, end, np.array([-1, -1, -1, 0, -1, -1]))
    assert which == [0, 2, 3, 4]
    assert faces == [1, 1, 0, 1]
    np.testing.assert_allclose(gaps, [2.0, -0.1, -1.0, 0.04], atol=1e-12)


def test_points_are_chosen_far_from_those_before():
    line = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [10.0]])
    chosen = np.empty(4, dtype=np.int64)
    choose(line, 0, chosen)
    assert chosen.tolist() == [0, 4, 2, 1]
