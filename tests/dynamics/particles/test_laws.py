"""Constitutive laws: the vector code against NumPy's reference, energies against stresses, and Warp's plain kernels."""

import numpy as np
import pytest

from neurok.dynamics.particles import Law, ParticleSet, Solver, SolverConfig, Surroundings
from neurok.dynamics.particles.laws import FLOW, TAIT, elastic_energy, law_rows, sound_speed, symmetric

pytest.importorskip("warp")
from plain_warp import use_plain_kernels

from neurok.dynamics.particles.kernels_transfer import LOOSEST

LAWS = (Law.ELASTIC, Law.METAL, Law.GRANULAR, Law.FOAM, Law.FLUID)
DT = 1e-3


def stuff(law: Law, count: int = 1, **extra: float) -> ParticleSet:
    given = {"yield_stress": 800.0, "hardening": 1e4, "friction_angle": 0.6, "cohesion": 20.0, "viscosity": 3.0} | extra
    spots = np.arange(count)[:, None] * [20.0, 0.0, 0.0]  # far apart, so that each has a grid to itself
    return ParticleSet.of(spots, volumes=1e-3, young=1e5, poisson=0.25, law=law, **given)


def step_law(
    law,
    state,
    gradient,
    constants,
    viscosity,
    dt,
):
    """State after ``dt`` [s] of a velocity gradient [1/s], and Kirchhoff's stress [Pa]; float64, by singular values."""
    mu, lam, first, second = constants
    eye, new = np.eye(3), state.copy()
    grow = eye + dt * gradient
    drag = gradient + np.swapaxes(gradient, 1, 2)
    if law == Law.ELASTIC:
        f = grow @ (np.moveaxis(state, 0, 1).reshape(-1, 3, 3) + eye)
        left, _, right = np.linalg.svd(f)
        volume = np.linalg.det(f)
        stress = 2 * mu[:, None, None] * (f - left @ right) @ np.swapaxes(f, 1, 2)
        stress += (lam * volume * (volume - 1))[:, None, None] * eye + (viscosity * volume)[:, None, None] * drag
        return (f - eye).reshape(-1, 9).T, stress
    if law == Law.FLUID:
        volume = (1 + state[0]) * (1 + dt * np.trace(gradient, axis1=1, axis2=2))
        new[0] = np.clip(volume - 1, -0.5, LOOSEST)
        volume = 1 + new[0]
        push = np.maximum(lam * (volume**-TAIT - 1) / TAIT, 0.0)
        return new, (-volume * push)[:, None, None] * eye + (viscosity * volume)[:, None, None] * drag
    values, axes = np.linalg.eigh(grow @ (symmetric(state[:6]) + eye) @ np.swapaxes(grow, 1, 2))
    strain = 0.5 * np.log(values)
    total = strain.sum(axis=1)
    shear = strain - total[:, None] / 3
    size = np.linalg.norm(shear, axis=1) + 1e-300
    if law == Law.GRANULAR:
        total = total + state[7]
        new[7] = np.clip(total - second, 0.0, LOOSEST)
        total = np.minimum(total, second)
        keep = np.minimum(first * (second - total) / size, 1.0)
        new[6] += FLOW * (1 - keep) * size
    else:
        over = np.maximum(2 * mu * size - first - FLOW * second * state[6], 0.0)
        slow = 2 * viscosity / dt if law == Law.FOAM else 0.0
        slip = over / (2 * mu + second * 2 / 3 + slow)
        keep = 1 - slip / size
        new[6] += FLOW * slip
    strain = shear * keep[:, None] + total[:, None] / 3
    stress = (axes * (2 * mu[:, None] * strain + lam[:, None] * total[:, None])[:, None]) @ np.swapaxes(axes, 1, 2)
    stretch = (axes * np.expm1(2 * strain)[:, None]) @ np.swapaxes(axes, 1, 2)
    new[:6] = stretch.reshape(-1, 9).T[[0, 1, 2, 4, 5, 8]]
    return new, stress


def start_state(law: Law, count: int, rng: np.random.Generator) -> np.ndarray:
    """States that the law can be in: a stretch, some plastic strain, and no dilation."""
    f = np.eye(3) + 0.1 * rng.normal(size=(count, 3, 3))
    state = np.zeros((9, count))
    if law == Law.ELASTIC:
        state[:] = (f - np.eye(3)).reshape(-1, 9).T
    elif law == Law.FLUID:
        state[0] = 0.05 * rng.normal(size=count)
    else:
        b = (f @ np.swapaxes(f, 1, 2) - np.eye(3)).reshape(-1, 9).T
        state[:6], state[6] = b[[0, 1, 2, 4, 5, 8]], rng.uniform(0, 0.1, count)
    return state


@pytest.mark.parametrize("law", LAWS)
def test_vector_code_steps_a_law_as_the_reference_does(law):
    rng = np.random.default_rng(int(law))
    count = 21  # not a multiple of eight: the last lanes must not be written
    particles = stuff(law, count)
    surroundings = Surroundings(gravity=(0, 0, 0), domain=((-1e3,) * 3, (1e3,) * 3))
    solver = Solver(particles, None, surroundings, SolverConfig(cell=1.0, partitions=1))
    table = solver._table
    state = start_state(law, count, rng).astype(np.float32)
    gradient = 20.0 * rng.normal(size=(count, 3, 3)).astype(np.float32)
    table[18:27], table[9:18] = state[:, solver._order], gradient.reshape(-1, 9).T[:, solver._order]
    solver._machine.numbers[1] = DT
    solver._machine.crew.run(solver._machine.transfers()[0])
    found = np.empty((9, count))
    found[:, solver._order] = solver._table[18:27]
    expected, _ = step_law(
        law, state.astype(float), gradient.astype(float), law_rows(particles), particles.viscosity, DT
    )
    np.testing.assert_allclose(found, expected, atol=3e-6)


@pytest.mark.parametrize("law", LAWS)
def test_stress_is_the_slope_of_the_stored_energy(law):
    rng = np.random.default_rng(int(law))
    particles = stuff(law, yield_stress=1e9, friction_angle=1.5, cohesion=1e8, viscosity=0.0)
    constants, state, tiny = law_rows(particles), np.zeros((9, 1)), 1e-6
    if law == Law.FLUID:
        state[0] = -0.03
    rate = rng.normal(size=(1, 3, 3))
    state, _ = step_law(law, state, 0.05 * rng.normal(size=(1, 3, 3)) / DT, constants, particles.viscosity, DT)
    if law == Law.FLUID:
        state[0] = -0.03
    _, stress = step_law(law, state, np.zeros((1, 3, 3)), constants, particles.viscosity, DT)
    ends = [step_law(law, state, sign * rate, constants, particles.viscosity, tiny)[0] for sign in (1, -1)]
    power = np.subtract(*(elastic_energy(law, end, constants)[0] for end in ends)) / (2 * tiny)
    assert power == pytest.approx((stress[0] * rate[0]).sum(), rel=1e-4)


def test_metal_yields_at_its_stress_and_hardens():
    particles = stuff(Law.METAL)
    constants, state = law_rows(particles), np.zeros((9, 1))
    shear = np.zeros((1, 3, 3))
    shear[0, 0, 1] = 1.0
    for _ in range(100):
        state, stress = step_law(Law.METAL, state, shear, constants, particles.viscosity, 1e-3)
    deviator = stress[0] - np.trace(stress[0]) / 3 * np.eye(3)
    mises = np.sqrt(1.5 * (deviator**2).sum())
    assert mises == pytest.approx(800.0 + 1e4 * state[6, 0], rel=1e-6)


def test_sand_without_cohesion_carries_no_tension():
    particles = stuff(Law.GRANULAR, cohesion=0.0)
    grow = 10.0 * np.eye(3)[None]
    state, stress = step_law(Law.GRANULAR, np.zeros((9, 1)), grow, law_rows(particles), particles.viscosity, 1e-3)
    assert np.abs(stress).max() < 1e-9
    back, stress = step_law(Law.GRANULAR, state, -0.5 * grow, law_rows(particles), particles.viscosity, 1e-3)
    assert np.abs(stress).max() < 1e-9, "what has opened has to close before there is pressure"
    assert back[7, 0] > 0


def test_sound_is_as_fast_as_the_closed_form_says():
    p = ParticleSet.of(np.zeros((1, 3)), volumes=1e-6, young=2e9, poisson=0.25, density=1200.0)
    assert sound_speed(p)[0] == pytest.approx(np.sqrt(2e9 * 0.75 / (1.25 * 0.5) / 1200.0))


@pytest.mark.parametrize("law", LAWS)
def test_plain_kernels_and_vector_snippets_move_the_same_way(law):
    rng = np.random.default_rng(7)
    dx = 1 / 12
    side = np.arange(dx / 4, 0.33, dx / 2)
    x = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1).reshape(-1, 3)
    v = 0.2 * rng.normal(size=x.shape) + np.cross([1.0, 2.0, 3.0], x)
    given = {"yield_stress": 500.0, "hardening": 1e4, "friction_angle": 0.6, "cohesion": 10.0, "viscosity": 5.0}
    ends = []
    for backend in ("vector", "plain"):
        p = ParticleSet.of(x, volumes=(dx / 2) ** 3, young=1e5, law=law, velocities=v, damping=0.5, **given)
        solver = Solver(p, None, Surroundings())
        if backend == "plain":
            use_plain_kernels(solver)
        solver.advance(20 * solver.dt)
        ends.append((solver.positions, solver.velocities))
    np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-5 * dx)
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-4)


@pytest.mark.slow
def test_plain_kernels_compile_to_ptx(tmp_path):
    import re

    import plain_warp
    import warp as wp

    wp.compile_aot_module(plain_warp.MODULE, arch=80, module_dir=tmp_path, use_ptx=True)  # needs no GPU
    (made,) = tmp_path.rglob("*.ptx")
    entries = re.findall(r"\.entry (\w+)\((.*?)\)\s*(.*?)\n\}", made.read_text(), flags=re.DOTALL)
    assert {name.split("_cuda_")[0].rsplit("_", 1)[0] for name, *_ in entries} == {"scatter", "add_up", "gather"}
    assert all(body.count("\n") > 100 for *_, body in entries), "and hold what they say: snippets for the CPU are empty"
