"""Sheets by triangle forces."""

import numpy as np
import particle_answers as answers
import pytest

from neurok.dynamics.particles import Law, ParticleSet, SheetSet, Solver, SolverConfig
from neurok.dynamics.particles.sheets import sheet_energy

pytest.importorskip("warp")


def strip(along: int, across: int, length: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    x = np.stack(
        np.meshgrid(np.linspace(0, length, along), [0.0], np.linspace(0, width, across), indexing="ij"), axis=-1
    )
    i = np.arange(along * across).reshape(along, across)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    return x.reshape(-1, 3), np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def test_forces_are_the_slope_of_the_energy():
    rng = np.random.default_rng(3)
    rest, triangles = strip(4, 3, 0.3, 0.2)
    sheets = SheetSet.of(triangles, rest, thickness=0.02, young=1e5, poisson=0.3)
    x = rest + 0.01 * rng.normal(size=rest.shape)
    p = ParticleSet.of(x, volumes=1e-5, law=Law.SHEET)
    solver = Solver(p, sheets, answers.NOTHING, SolverConfig(cell=0.05))
    solver._sheets.pull()
    found = np.empty_like(x)
    found[solver._order] = solver._machine.forces[:, : len(x)].T
    slope = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        slope[i] = -(sheet_energy(sheets, x + step) - sheet_energy(sheets, x - step)) / 2e-6
    np.testing.assert_allclose(found, slope, atol=1e-3 * np.abs(slope).max())


def test_a_drawn_sheet_strains_as_the_closed_form_says_and_does_not_tear():
    answer, worst = answers.sheet_stretch(13, 0.15)
    assert abs(answer.off) < 0.05
    assert worst < 1.1


def test_a_sheet_hangs_without_stretching_much():
    rest, triangles = strip(11, 11, 0.3, 0.3)
    share = np.bincount(triangles.ravel(), minlength=len(rest)) * (0.03**2 / 6)
    p = ParticleSet.of(rest, volumes=share * 1e-3, density=300.0, law=Law.SHEET, damping=2.0)
    sheets = SheetSet.of(triangles, rest, thickness=1e-3, young=1e5, damping=1e-3)
    solver = Solver(p, sheets, None, SolverConfig(cell=0.03))
    held = np.flatnonzero(rest[:, 0] < 0.001)
    solver.set_targets(held, rest[held])
    start = solver.energies().total
    solver.advance(0.6)
    x = solver.positions.reshape(11, 11, 3)
    assert x[-1, :, 1].mean() < -0.2
    edges = np.linalg.norm(np.diff(x, axis=0), axis=2) / 0.03
    assert edges.max() < 1.15
    assert solver.energies().total < start
