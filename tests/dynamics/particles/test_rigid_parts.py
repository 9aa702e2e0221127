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


def tipped(x: np.ndarray, degrees: float) -> np.ndarray:
    """Turned about the edge at the origin."""
    a = np.radians(degrees)
    return x @ np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]]).T


CORNERS = np.array([[x, y, z] for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.1)])


def test_a_rigid_part_stands_on_its_corners_and_stays_where_it_is():
    p = block((0, 0, 0), (0.1, 0.2, 0.1))
    solver = Solver(p, None, FLOOR, skins=[CORNERS])
    before = solver.energies().total
    solver.advance(0.2)
    np.testing.assert_allclose(solver.positions, p.positions, atol=1e-3 * DX)
    assert solver.energies().total <= before + 1e-6 * abs(before)


def test_particles_of_a_part_may_reach_below_its_corners_without_lifting_it():
    p = block((0, 0, 0), (0.1, 0.2, 0.1), radius=0.5 * DX)
    solver = Solver(p, None, FLOOR, skins=[CORNERS])
    solver.advance(0.1)
    np.testing.assert_allclose(solver.positions, p.positions, atol=1e-3 * DX)


def test_a_part_that_tips_over_turns_about_its_edge_and_gains_no_energy():
    p = block((0, 0, 0), (0.1, 0.2, 0.1))
    skin = tipped(CORNERS - [0.1, 0.0, 0.0], -40.0)
    leaning = ParticleSet.of(tipped(p.positions - [0.1, 0.0, 0.0], -40.0), volumes=p.volumes, law=Law.RIGID, rigid=0)
    solver = Solver(leaning, None, Surroundings(planes=(Plane((0, 0, 0), (0, 1, 0), friction=2.0),)), skins=[skin])
    totals = [solver.energies().total]
    for _ in range(12):
        solver.advance(0.01)
        totals.append(solver.energies().total)
        turned, moved = solver.rigid_motions
        assert (skin @ turned[0].T + moved[0])[:, 1].min() > -0.02 * DX
    assert np.diff(totals).max() < 2e-3 * np.ptp(solver.positions[:, 1]) * p.masses.sum() * 9.81
    assert totals[-1] > 0.97 * totals[0]
    assert np.linalg.norm(turned[0] - np.eye(3)) > 0.1


def test_a_rigid_part_with_soft_stuff_around_it_keeps_momentum_and_gains_no_energy():
    core = answers.block((0.05, 0.05, 0.05), (0.15, 0.15, 0.15), DX / 2)
    whole = answers.block((0, 0, 0), (0.2, 0.2, 0.2), DX / 2)
    inside = ((whole > 0.05) & (whole < 0.15)).all(axis=1)
    spin = lambda x: np.cross([0.0, 0.0, 3.0], x - 0.1) + [0.3, 0.0, 0.0]  # noqa: E731
    hard = ParticleSet.of(core, volumes=(DX / 2) ** 3, density=2000.0, law=Law.RIGID, rigid=0, velocities=spin(core))
    rest = whole[~inside]
    soft = ParticleSet.of(rest, volumes=(DX / 2) ** 3, density=1500.0, young=1e5, velocities=spin(rest))
    solver = Solver(ParticleSet.join([hard, soft]), None, answers.NOTHING)
    before, start = solver.momentum(), solver.energies().total
    solver.advance(0.2)
    assert solver.energies().total <= start * (1 + 1e-4)
    np.testing.assert_allclose(before[0], solver.momentum()[0], atol=5e-3 * np.linalg.norm(before[0]))


def test_a_tumbling_part_keeps_its_energy():
    p = block((0, 0, 0), (0.3, 0.1, 0.15))
    arm = p.positions - p.positions.mean(axis=0)
    p = block((0, 0, 0), (0.3, 0.1, 0.15), velocities=np.cross([0.1, 8.0, 0.2], arm))  # about an axis that flips
    solver = Solver(p, None, answers.NOTHING)
    before = solver.energies().kinetic
    solver.advance(1.0)
    assert solver.energies().kinetic == pytest.approx(before, rel=2e-3)


@pytest.mark.parametrize("count", [5100, 5127, 5151, 5153])
def test_lists_of_contacts_and_nodes_never_outgrow_their_arrays(count):
    solver = Solver(block((0, 0, 0), (0.2, 0.1, 0.2)), None, FLOOR)
    contact = solver._contact
    held = contact._held
    held["counts"].view[:] = 0
    points, normals = np.zeros((count, 3)), np.tile([0.0, 1.0, 0.0], (count, 1))
    contact._write(0, points, normals, np.zeros(count), 0, 0.5, np.zeros(count))
    written = held["counts"].view[0]
    assert 16 * written <= held["places"].array.shape[0]
    assert 8 * written <= held["contacts"].array.shape[0]
    assert written + held["counts"].view[1] == count


@pytest.mark.slow
def test_a_part_that_owns_more_nodes_than_there_was_room_for_falls_all_the_same():
    p = block((0, 0, 0), (1.0, 0.9, 1.0))
    solver = Solver(p, None, Surroundings())
    solver.advance(0.002)
    held = solver._contact._held
    assert held["counts"].view[2] > 5200
    for name, width in (("owned", 2), ("speeds", 6)):
        assert held[name].array.shape[0] >= width * held["counts"].view[2]
    np.testing.assert_allclose(solver.velocities, np.tile([0.0, -9.80665 * 0.002, 0.0], (len(p), 1)), atol=1e-5)
