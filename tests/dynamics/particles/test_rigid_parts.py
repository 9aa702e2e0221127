"""Rigid parts among particles."""

import numpy as np
import particle_answers as answers
import pytest

from neurok.dynamics.particles import Law, ParticleSet, Plane, Solver, Surroundings

pytest.importorskip("warp")
DX = 1 / 20
FLOOR = Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0)),))


def block(low, high, body: int = 0, part: int = 0, **given) -> ParticleSet:
    x = answers.block(low, high, DX / 2)
    return ParticleSet.of(x, volumes=(DX / 2) ** 3, law=Law.RIGID, rigid=part, body=body, **given)


def test_a_spinning_rigid_part_keeps_its_momenta_and_shape():
    p = block((0, 0, 0), (0.2, 0.1, 0.15))
    arm = p.positions - p.positions.mean(axis=0)
    v = np.cross([2.0, -3.0, 4.0], arm) + [0.5, 0.1, -0.2]
    p = block((0, 0, 0), (0.2, 0.1, 0.15), velocities=v)
    solver = Solver(p, None, answers.NOTHING)
    before = solver.momentum()
    solver.advance(0.3)
    for a, b in zip(before, solver.momentum()):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.linalg.norm(a))
    turned, moved = solver.rigid_motions
    np.testing.assert_allclose(p.positions @ turned[0].T + moved[0], solver.positions, atol=1e-6)
    np.testing.assert_allclose(turned[0] @ turned[0].T, np.eye(3), atol=1e-9)


def test_a_rigid_block_lands_on_the_floor_and_stays():
    solver = Solver(block((0, 0.1, 0), (0.2, 0.3, 0.2)), None, FLOOR)
    solver.advance(0.5)
    bottom = solver.positions[:, 1].min() - DX / 4
    assert abs(bottom) < 0.05 * DX
    solver.advance(0.3)
    assert abs(solver.positions[:, 1].min() - DX / 4 - bottom) < 0.02 * DX
    assert solver.energies().kinetic < 1e-4


def test_rigid_blocks_of_two_objects_stack():
    low, high = block((0, 0.0, 0), (0.2, 0.1, 0.2)), block((0.02, 0.12, 0.02), (0.18, 0.2, 0.18), body=1, part=1)
    solver = Solver(ParticleSet.join([low, high]), None, FLOOR)
    solver.advance(0.6)
    gap = solver.positions[len(low) :, 1].min() - solver.positions[: len(low), 1].max() - DX / 2
    assert abs(gap) < 0.25 * DX
    assert solver.energies().kinetic < 1e-3


def test_a_rigid_part_that_is_held_at_some_points_goes_where_they_go():
    p = block((0, 0.1, 0), (0.2, 0.2, 0.2))
    solver = Solver(p)
    held = np.flatnonzero(p.positions[:, 0] < DX)
    solver.set_targets(held, p.positions[held])
    solver.advance(0.1)
    np.testing.assert_allclose(solver.positions, p.positions, atol=0.02 * DX)
    solver.set_targets(held, p.positions[held] + [0.0, 0.05, 0.0], seconds=0.1)
    solver.advance(0.1)
    np.testing.assert_allclose(solver.positions, p.positions + [0.0, 0.05, 0.0], atol=0.05 * DX)


def test_a_rigid_part_held_at_a_point_swings():
    p = block((0, 0, 0), (0.3, 0.06, 0.06))
    solver = Solver(p)
    corner = np.argsort(np.linalg.norm(p.positions - [0.0, 0.03, 0.03], axis=1))[:1]
    solver.set_targets(corner, p.positions[corner])
    solver.advance(0.3)
    assert np.linalg.norm(solver.positions[corner] - p.positions[corner]) < 0.1 * DX
    assert solver.positions[:, 1].min() < -0.1
    assert abs(solver.energies().dissipated) < 0.05 * p.masses.sum() * 9.81 * 0.15
