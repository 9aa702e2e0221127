"""The checks of simulated clips: they pass a plain swing and catch each planted fault."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Asset, Clip, Mesh
from neurok.modelling.shapes import box
from neurok_lab.worlds.soft.checks import check_clip, jitter_share
from neurok_lab.worlds.soft.grids import SheetGrid

FRAMES = 30


def swinging_sheet() -> Asset:
    """A square metre of cloth that swings once a second about its upper edge."""
    grid = SheetGrid(21, 21)
    u, v = grid.parameters.T
    rest = np.stack([v, 2.0 - u, np.zeros_like(u)], -1)
    angle = 0.4 * np.sin(2 * np.pi * np.arange(FRAMES) / 24.0)
    positions = np.stack([np.stack([v, 2.0 - u * np.cos(a), u * np.sin(a)], -1) for a in angle])
    mesh = Mesh(rest, grid.triangles)
    return Asset(mesh, (Clip(mesh, positions),))


def with_positions(asset: Asset, positions: np.ndarray) -> Asset:
    return replace(asset, clips=(replace(asset.clips[0], positions=positions),))


def test_a_plain_swing_passes():
    assert check_clip(swinging_sheet()) == []


def test_a_torn_sheet_is_exploded():
    asset = swinging_sheet()
    positions = np.array(asset.clips[0].positions)
    positions[20:, 200] += [0.0, 3.0, 0.0]
    assert "exploded" in check_clip(with_positions(asset, positions))


def test_a_sheet_that_shoots_away_is_exploded():
    asset = swinging_sheet()
    positions = np.array(asset.clips[0].positions)
    positions[15:] += [1.0, 0.0, 0.0]
    assert "exploded" in check_clip(with_positions(asset, positions))


def test_a_still_clip_is_frozen():
    asset = swinging_sheet()
    assert check_clip(with_positions(asset, np.repeat(asset.mesh.vertices[None], FRAMES, axis=0))) == ["frozen"]


def test_a_clip_that_leaves_the_scene_ran_away():
    asset = swinging_sheet()
    drift = np.linspace(0.0, 4.0, FRAMES)[:, None, None] * np.array([1.0, 0.0, 0.0])
    assert check_clip(with_positions(asset, asset.clips[0].positions + drift)) == ["ran_away"]


def test_positions_that_are_not_numbers_are_caught():
    asset = swinging_sheet()
    positions = np.array(asset.clips[0].positions)
    positions[3, 5] = np.nan
    # A Clip refuses NaN at birth; the check must hold for data that came in another way.
    object.__setattr__(asset.clips[0], "positions", positions)
    assert check_clip(asset) == ["not_finite"]


def test_flicker_between_frames_is_jitter():
    asset = swinging_sheet()
    sign = np.where(np.arange(FRAMES) % 2, 1.0, -1.0)[:, None, None]
    sign[0] = 0.0
    positions = asset.clips[0].positions + 0.08 * sign * np.array([0.0, 0.0, 1.0])
    assert "jitter" in check_clip(with_positions(asset, positions))


@pytest.mark.parametrize("rate", [1.0, 3.0, 6.0])
def test_jitter_of_a_swing_is_the_closed_form(rate):
    # Third differences against first ones of a sinusoid: sin^2(pi rate / fps), whatever its phase.
    t = np.arange(240) / 24.0
    swing = np.zeros((240, 1, 3))
    swing[:, 0, 0] = np.sin(2 * np.pi * rate * t + 0.3)
    assert jitter_share(swing, 1.0) == pytest.approx(np.sin(np.pi * rate / 24.0) ** 2, rel=0.02)


def test_free_fall_is_not_jitter():
    t = np.arange(FRAMES) / 24.0
    fall = np.zeros((FRAMES, 1, 3))
    fall[:, 0, 1] = -0.5 * 9.81 * t**2
    assert jitter_share(fall, 1.0) < 1e-9


def test_sinking_into_the_ground_is_caught():
    asset = swinging_sheet()
    drift = np.linspace(0.0, -1.6, FRAMES)[:, None, None] * np.array([0.0, 1.0, 0.0])
    assert check_clip(with_positions(asset, asset.clips[0].positions + drift)) == ["below_ground"]


def test_a_first_frame_far_from_rest_is_a_mismatch():
    asset = swinging_sheet()
    moved = Mesh(asset.mesh.vertices + [0.0, 0.0, 0.5], asset.mesh.faces)
    wrong = Asset(moved, (replace(asset.clips[0], rest=moved),))
    assert "rest_mismatch" in check_clip(wrong)


def test_a_cloth_that_falls_through_a_table_penetrates():
    grid = SheetGrid(21, 21)
    u, v = (grid.parameters - 0.5).T
    sheet = np.stack([u, 0 * u + 1.2, v], -1)
    table = box((1.5, 0.2, 1.5), (0.0, 1.0, 0.0))
    rest = np.concatenate([sheet, table.vertices])
    mesh = Mesh(
        rest,
        np.concatenate([grid.triangles, table.faces + len(sheet)]),
        part_ids=np.repeat([0, 1], [len(sheet), len(table.vertices)]),
        part_names=("cloth", "table"),
    )
    positions = np.repeat(rest[None], FRAMES, axis=0)
    sag = np.linspace(0.0, 1.0, FRAMES)[:, None] * 0.15 * (1.0 - 4.0 * u**2)
    positions[:, : len(sheet), 1] -= 0.6 * sag
    assert "penetrates" not in check_clip(Asset(mesh, (Clip(mesh, positions),)))
    positions[:, : len(sheet), 1] -= 0.6 * sag
    assert "penetrates" in check_clip(Asset(mesh, (Clip(mesh, positions),)))
