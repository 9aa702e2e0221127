"""Compiled contact against closed forms and finite differences."""

import numpy as np
import pytest

from neurok.compiled import contact as loops
from neurok.compiled.loops import is_cached


@pytest.fixture
def rows():
    """Six points near planes: normals, gaps, stiffness, presses, friction, loads, pressed, slips, slid."""
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(6, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    gaps, stiffness = rng.normal(size=6) * 0.1, np.full(6, 50.0)
    loads = np.array([5.0, 0.5, 1.0, 0.0, 2.0, 8.0])
    return (
        normals,
        gaps,
        stiffness,
        np.ones(6),
        np.full(6, 0.5),
        loads,
        np.arange(6),
        0.02 * rng.normal(size=(6, 3)),
        np.zeros(6, dtype=bool),
    )


def energy(moved, rows):
    force, bend = np.zeros((6, 3)), np.zeros((6, 6))
    return loops.terms(moved, *rows, False, force, bend)[0], force, bend


def test_forces_of_contact_are_the_slopes_of_its_energy(rows):
    moved = 0.05 * np.random.default_rng(1).normal(size=(6, 3))
    _, force, _ = energy(moved, rows)
    for place in np.ndindex(6, 3):
        step = np.zeros((6, 3))
        step[place] = 1e-6
        slope = (energy(moved + step, rows)[0] - energy(moved - step, rows)[0]) / 2e-6
        assert force[place] == pytest.approx(slope, abs=1e-6)


def test_the_descent_ends_where_nothing_pulls_any_more(rows):
    rng = np.random.default_rng(2)
    matrix = np.diag(rng.uniform(1.0, 3.0, size=4))
    gradient, jacobian = rng.normal(size=4), rng.normal(size=(6, 3, 4))
    moved = np.zeros((6, 3))
    smooth = gradient - np.einsum("ci,cid->d", energy(moved, rows)[1], jacobian)
    change = loops.descent(matrix, gradient, jacobian, moved, *rows, 1e-12, 60, 40)
    force = energy(moved + jacobian @ change, rows)[1]
    left = smooth + matrix @ change + np.einsum("ci,cid->d", force, jacobian)
    assert np.abs(left).max() < 1e-4 * np.abs(gradient).max()
    assert is_cached(loops.descent)


def test_a_positive_matrix_is_solved_and_what_has_no_pivot_stands_still():
    rng = np.random.default_rng(3)
    root, right = rng.normal(size=(5, 5)), rng.normal(size=5)
    out = np.empty(5)
    loops.solve(root @ root.T, right, out)
    np.testing.assert_allclose(root @ root.T @ out, right, atol=1e-9)
    lame = np.diag([2.0, 0.0, 4.0])
    out = np.empty(3)
    loops.solve(lame, np.array([2.0, 1.0, 4.0]), out)
    np.testing.assert_allclose(out, [1.0, 0.0, 1.0])
