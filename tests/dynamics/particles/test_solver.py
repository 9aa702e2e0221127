"""The particle solver against closed forms, conservation laws and itself."""

import numpy as np
import particle_answers as answers
import pytest

from neurok.dynamics.particles import Law, Obstacle, ParticleSet, Plane, Solver, SolverConfig, Surroundings, plan_steps
from neurok.errors import NeurokError

pytest.importorskip("warp")
FLOOR = Plane((0, 0, 0), (0, 1, 0))


def cube(cells: int = 4, dx: float = 1 / 32, at: tuple[float, float, float] = (0, 0, 0), **given) -> ParticleSet:
    x = answers.block(at, tuple(np.add(at, cells * dx)), dx / 2)
    return ParticleSet.of(x, volumes=(dx / 2) ** 3, **({"young": 1e5} | given))


def test_free_fall_is_that_of_the_integrator():
    assert abs(answers.free_fall(4).off) < 3e-6  # a larger body rounds less


def test_momenta_of_a_free_body_are_kept():
    for answer in answers.momentum_drift(6, 400):
        assert abs(answer.off) < 1e-6


def test_sound_runs_along_a_bar_as_it_should():
    assert abs(answers.wave_speed(16).off) < 0.02


def test_a_dam_breaks_as_fast_as_in_the_experiment():
    _, fronts = answers.dam_break(6, last=2.4)
    assert (np.abs(fronts[:, 2] / fronts[:, 1] - 1) < 0.15).all()


def test_energy_never_grows_without_work_but_for_the_swing_of_symplectic_steps():
    assert answers.energy_growth(0.5) < 2e-3
    assert answers.energy_growth(0.5, courant=0.1) < 1e-5


def test_bits_do_not_depend_on_threads():
    assert answers.same_bits()


def test_what_lies_on_the_floor_touches_it():
    p = cube(6, at=(0, 0.02, 0), young=1e6, damping=3.0)
    solver = Solver(p, None, Surroundings(planes=(FLOOR,)))
    solver.advance(0.6)
    gap = solver.positions[:, 1].min() - (1 / 32) / 4
    assert abs(gap) < 0.15 / 32, "neither floats nor sinks by more than a part of a cell"


@pytest.mark.parametrize(("friction", "slides"), [(0.3, True), (0.8, False)])
def test_a_block_slides_down_a_slope_that_is_steeper_than_its_friction(friction, slides):
    slope = np.deg2rad(30)
    pull = 9.81 * np.array([np.sin(slope), -np.cos(slope), 0.0])
    p = cube(4, young=1e6)
    solver = Solver(p, None, Surroundings(tuple(pull), (Plane((0, 0, 0), (0, 1, 0), friction),)))
    solver.advance(0.4)
    moved = (solver.positions - p.positions)[:, 0].mean()
    expected = 0.5 * 9.81 * (np.sin(slope) - friction * np.cos(slope)) * 0.4**2 if slides else 0.0
    assert moved == pytest.approx(expected, abs=0.012)


def test_objects_touch_and_part_again():
    left, right = cube(4, young=1e5, velocities=(1.0, 0, 0)), cube(4, at=(0.16, 0, 0), velocities=(-1.0, 0, 0), body=1)
    solver = Solver(ParticleSet.join([left, right]), None, answers.NOTHING)
    solver.advance(0.25)
    count, v, x = len(left), solver.velocities[:, 0], solver.positions[:, 0]
    assert v[:count].mean() < -0.5, "thrown back"
    assert v[count:].mean() > 0.5
    assert x[:count].max() < x[count:].min()


def test_a_held_face_goes_where_it_is_told():
    p = cube(4, young=1e4)
    solver = Solver(p, None, answers.NOTHING)
    held = np.flatnonzero(p.positions[:, 0] < 1 / 32)
    goal = p.positions[held] + [0.05, 0.02, 0]
    solver.set_targets(held, goal, seconds=0.2)
    solver.advance(0.2)
    np.testing.assert_allclose(solver.positions[held].mean(axis=0), goal.mean(axis=0), atol=0.05 / 32)
    solver.set_targets(held[:0], goal[:0])
    solver.advance(0.01)
    assert solver.status == "ok"


def test_springs_hold_a_weight_at_their_closed_form():
    p = cube(2, young=1e6, damping=20.0)
    solver = Solver(p)
    every = np.arange(len(p))
    stiffness = p.masses * 400.0  # ω² = 400
    solver.set_targets(every, p.positions, stiffness=stiffness, damping=0.0)
    solver.advance(1.0)
    assert (p.positions - solver.positions)[:, 1].mean() == pytest.approx(9.81 / 400, rel=0.01)


def test_constant_forces_do_the_work_that_is_told():
    p = cube(3, young=1e5)
    solver = Solver(p, None, answers.NOTHING)
    solver.set_forces(np.tile([0.0, 0.0, 2.0], (len(p), 1)) * p.masses[:, None])
    solver.advance(0.3)
    e = solver.energies()
    assert e.work == pytest.approx(p.masses.sum() * 2.0 * 0.5 * 2.0 * 0.3**2, rel=0.01)
    assert e.kinetic == pytest.approx(e.work, rel=0.01)


def test_a_ball_of_distances_stops_what_falls_on_it():
    side = np.linspace(-0.3, 0.3, 31)
    grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1)
    ball = Obstacle(np.linalg.norm(grid, axis=-1) - 0.2, (-0.3,) * 3, float(side[1] - side[0]))
    p = cube(3, at=(-1.5 / 32, 0.22, -1.5 / 32), young=1e5, damping=5.0)
    solver = Solver(p, None, Surroundings(obstacles=(ball,)))
    solver.advance(0.4)
    assert np.linalg.norm(solver.positions, axis=1).min() > 0.2 - 0.5 / 32
    assert solver.positions[:, 1].mean() > 0.2


def test_what_leaves_the_domain_is_frozen_and_counted():
    p = cube(2)
    solver = Solver(p, None, Surroundings(domain=((-1, -0.2, -1), (1, 1, 1))))
    solver.advance(1.0)
    assert solver.status == "left"
    assert len(solver.lost) == len(p)
    assert "left the domain" in solver.message
    assert solver.positions[:, 1].min() > -0.5
    solver.advance(1.0)


def test_a_few_particles_that_fly_far_do_not_blow_up_the_grid():
    p = cube(3)
    drop = ParticleSet.of(np.full((1, 3), 0.3), volumes=p.volumes[0], velocities=(60.0, 60.0, 60.0))
    flying = ParticleSet.join([p, drop])
    config = SolverConfig(most_nodes=40_000, nodes_each=0)
    solver = Solver(flying, None, Surroundings((0.0, 0.0, 0.0), domain=((-1e3,) * 3, (1e3,) * 3)), config)
    solver.advance(0.5)
    assert solver.status == "left"
    assert solver.lost.tolist() == [len(p)]
    assert solver._machine.grid.array.shape[0] < 4 * 400_000


def test_an_unstable_motion_ends_with_a_message_and_finite_places():
    p = cube(3, velocities=np.random.default_rng(0).normal(size=(216, 3)) * 1e18)
    solver = Solver(p, None, answers.NOTHING)
    solver.advance(1.0)
    assert solver.status in ("failed", "left")
    assert solver.message
    assert np.isfinite(solver.positions).all()


def test_the_same_run_gives_the_same_bits():
    ends = []
    for _ in range(2):
        solver = Solver(cube(4, at=(0, 0.01, 0)), None, Surroundings(planes=(FLOOR,)))
        solver.advance(0.1)
        ends.append(solver.positions)
    assert (ends[0] == ends[1]).all()


def test_a_plan_tells_the_step_that_the_solver_takes():
    p = cube(4, young=1e7)
    plan = plan_steps(p, seconds=0.01)
    solver = Solver(p)
    assert solver.advance(0.01) == plan.substeps
    assert "sound" in plan.limit
    assert plan_steps(cube(4, young=4e7), seconds=0.01).dt == pytest.approx(plan.dt / 2, rel=1e-6)


def test_scale_does_not_matter():
    """A body of a millimetre and one of a kilometre, with everything that has a length scaled."""
    ends = []
    for scale in (1e-3, 1.0, 1e3):
        p = cube(4, dx=scale / 32, young=1e5 * scale, at=(0, 0.01 * scale, 0))
        around = Surroundings(gravity=(0, -9.81, 0), planes=(FLOOR,))
        solver = Solver(p, None, around, SolverConfig(longest_step=1e3))
        solver.advance(0.1 * np.sqrt(scale))
        ends.append((solver.positions - p.positions).mean(axis=0) / scale)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)
    np.testing.assert_allclose(ends[2], ends[1], atol=1e-4)


@pytest.mark.parametrize(
    ("change", "words"),
    [({"young": -1.0}, "'young' above zero"), ({"poisson": 0.5}, "below 0.5"), ({"density": 0.0}, "mass above zero")],
)
def test_impossible_materials_are_told_in_one_sentence(change, words):
    with pytest.raises(NeurokError, match=words):
        cube(1, **change)


def test_rigid_particles_need_a_part():
    with pytest.raises(NeurokError, match="rigid part"):
        cube(1, law=Law.RIGID)
