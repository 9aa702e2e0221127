from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import cKDTree

from neurok.geometry.lie import axis_angle_matrix
from neurok.posing.refine import PartsAndTarget, PlacementConfig, improve_by_proposals, part_proposals


def plate(at, size, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random((400, 3)) - 0.5
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return np.concatenate([points, corners]) * size + at


BASE, LID = plate([0.0, 0, 0], [1.0, 0.2, 0.6], 0), plate([0.0, 0.2, 0], [1.0, 0.05, 0.6], 1)
REST = np.concatenate([BASE, LID])
LABELS = np.repeat([0, 1], len(BASE))
STILL = (np.tile(np.eye(3), (2, 1, 1)), np.zeros((2, 3)))


def problem_of(target: np.ndarray, movable=(True, True), neighbours=None) -> PartsAndTarget:
    tree = cKDTree(target)

    def error(frames) -> float:
        x = moved(frames)
        return 0.5 * float(tree.query(x)[0].mean() + cKDTree(x).query(target)[0].mean())

    return PartsAndTarget(REST, LABELS, np.array(movable), neighbours or {}, tree, 1.0, error)


def moved(frames) -> np.ndarray:
    return (frames[0][LABELS] @ REST[:, :, None])[..., 0] + frames[1][LABELS]


def opened(degrees: float) -> np.ndarray:
    """The lid turned about its lower back edge."""
    turn, pivot = axis_angle_matrix(np.array([1.0, 0.0, 0.0]), np.deg2rad(degrees)), np.array([0.0, 0.175, -0.3])
    return np.concatenate([BASE, (LID - pivot) @ turn.T + pivot])


@pytest.mark.parametrize(("angle", "far"), [(-90.0, 1e-9), (-75.0, 0.12)])
def test_a_lid_is_opened_about_an_edge_of_its_box(angle, far):
    target = opened(angle)
    found = improve_by_proposals(problem_of(target), STILL)
    np.testing.assert_array_equal(found[0][0], np.eye(3))
    assert np.linalg.norm(moved(found) - target, axis=1).max() <= far


def test_a_drawer_is_slid_along_a_side():
    target = np.concatenate([BASE, LID + [0.0, 0.0, 0.4]])
    np.testing.assert_allclose(moved(improve_by_proposals(problem_of(target), STILL)), target, atol=1e-12)


def test_a_part_is_proposed_the_motion_of_its_neighbour():
    """The base has moved in a way that no box suggests, and the lid with it."""
    frames = (STILL[0].copy(), STILL[1].copy())
    frames[0][0] = axis_angle_matrix(np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0), 1.0)
    frames[1][0] = [0.7, 0.8, 0.9]
    target = REST @ frames[0][0].T + frames[1][0]
    found = improve_by_proposals(problem_of(target, neighbours={1: [0], 0: [1]}), frames)
    np.testing.assert_array_equal(found[0][1], frames[0][0])
    alone = improve_by_proposals(problem_of(target), frames)
    assert np.abs(moved(alone) - target).max() > 0.05


def test_what_may_not_move_or_is_near_stays():
    target = opened(-90.0)
    for problem, config in (
        (problem_of(target, movable=(True, False)), PlacementConfig()),
        (problem_of(target), PlacementConfig(far=1.0)),
        (problem_of(target), PlacementConfig(improvement=0.0)),
        (problem_of(target), PlacementConfig(least_points=10_000)),
    ):
        found = improve_by_proposals(problem, STILL, config)
        np.testing.assert_array_equal(found[0], STILL[0])
        np.testing.assert_array_equal(found[1], STILL[1])


def test_every_proposal_is_rigid_and_turns_keep_an_edge():
    config = replace(PlacementConfig(), slides=())
    rotations, translations = part_proposals(problem_of(REST), STILL, 1, LID, config)
    assert len(rotations) == 3 * 4 * len(config.angles)
    products = rotations @ rotations.swapaxes(1, 2)
    np.testing.assert_allclose(products, np.broadcast_to(np.eye(3), rotations.shape), atol=1e-12)
    low, high = LID.min(axis=0), LID.max(axis=0)
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    x = np.einsum("gij,nj->gni", rotations, corners) + translations[:, None]
    kept = np.linalg.norm(x - corners, axis=2) < 1e-9
    np.testing.assert_array_equal(kept.sum(axis=1), 2)
