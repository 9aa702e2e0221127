"""Pictures depend on names and seeds alone, show what they say, and go on after an interruption."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue import asset_of, generate
from neurok.errors import FormatError, MissingDependencyError, NeurokError
from neurok.generation.pictures import CameraView, take_pictures
from neurok_lab.data.household_pictures import (
    ELEVATION,
    FRONT_AZIMUTH,
    FRONT_SHARE,
    PictureConfig,
    PictureSet,
    Sitter,
    assembly_sitters,
    build_pictures,
    draw_views,
)

SMALL = PictureConfig(side=32, views=2, shard_objects=2)


@pytest.fixture
def egl():
    from neurok.rendering.context import gl_stage

    try:
        return gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")


@pytest.fixture
def sitters(chest) -> list[Sitter]:
    calls: list[str] = []

    def make(name):
        calls.append(name)
        return chest.mesh

    out = [Sitter(f"chest {i}", "chest", lambda i=i: make(f"chest {i}")) for i in range(5)]
    out[0].make.__dict__["calls"] = calls
    return out


def test_views_follow_from_the_name_and_lie_in_their_ranges():
    config = PictureConfig(views=200)
    views = draw_views("chair 0/1", config)
    assert views == draw_views("chair 0/1", config)
    assert views != draw_views("chair 0/2", config)
    assert views[:3] == draw_views("chair 0/1", replace(config, views=3))
    assert all(ELEVATION[0] <= view.elevation <= ELEVATION[1] for view in views)
    front = np.mean([abs(view.azimuth) <= FRONT_AZIMUTH for view in views])
    assert front == pytest.approx(FRONT_SHARE + (1 - FRONT_SHARE) * FRONT_AZIMUTH / 180, abs=0.08)


def test_things_are_named_and_categories_take_turns():
    things = [generate(category, 3, index)[0] for category in ("pillow", "vase") for index in (0, 1)]
    sitters = assembly_sitters(things)
    assert [sitter.name for sitter in sitters] == ["pillow 3/0", "vase 3/0", "pillow 3/1", "vase 3/1"]
    assert sitters[2].category == "pillow"
    np.testing.assert_array_equal(sitters[0].make().vertices, asset_of(things[0]).mesh.vertices)


def test_pictures_from_opposite_sides_have_mirrored_outlines(egl, chest):
    """From far away, what is seen from behind covers the mirror image of what is seen from the front."""
    views = [CameraView(azimuth, 0.0, 1.0, 0.1, 48.0, False, False) for azimuth in (20.0, 200.0)]
    front, back = take_pictures(chest, views, 64)[..., 3].astype(float)
    assert np.abs(front - back[:, ::-1]).mean() < 0.01 * 255
    assert 0.1 < (front > 128).mean() < 0.9


def test_lights_turn_without_moving_the_object(egl, chest):
    views = [CameraView(20.0, 20.0, 30.0, 0.1, turn, False, False) for turn in (0.0, 110.0)]
    left, right = take_pictures(chest, views, 64).astype(float)
    np.testing.assert_array_equal(left[..., 3], right[..., 3])
    assert np.abs(left[..., :3] - right[..., :3]).max() > 20


def test_a_build_goes_on_where_it_stood_and_ends_with_the_same_pictures(egl, sitters, tmp_path):
    calls = sitters[0].make.__dict__["calls"]
    assert build_pictures(tmp_path / "whole", sitters, SMALL) == 10
    build_pictures(tmp_path / "parts", sitters[:2], SMALL)
    calls.clear()
    build_pictures(tmp_path / "parts", sitters, SMALL)
    assert calls == ["chest 2", "chest 3", "chest 4"]
    whole, parts = PictureSet.open(tmp_path / "whole"), PictureSet.open(tmp_path / "parts")
    assert whole.rows == parts.rows
    np.testing.assert_array_equal(whole.batch(range(10)), parts.batch(range(10)))


def test_a_set_finds_every_picture_across_shards(egl, sitters, tmp_path):
    build_pictures(tmp_path, sitters, SMALL)
    pictures = PictureSet.open(tmp_path)
    stacked = np.stack([picture for _, picture in pictures])
    order = np.array([9, 0, 4, 3, 3])
    np.testing.assert_array_equal(pictures.batch(order), stacked[order])
    assert pictures.of_object()["chest 3"] == [6, 7]


def test_another_configuration_is_built_anew(egl, sitters, tmp_path):
    build_pictures(tmp_path, sitters[:2], SMALL)
    build_pictures(tmp_path, sitters[:2], replace(SMALL, views=1))
    assert len(PictureSet.open(tmp_path)) == 2


def test_missing_and_damaged_stores_are_told(egl, sitters, tmp_path):
    with pytest.raises(NeurokError, match="holds no pictures"):
        PictureSet.open(tmp_path)
    build_pictures(tmp_path, sitters[:2], SMALL)
    (tmp_path / "pictures-00000.npy").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="damaged"):
        PictureSet.open(tmp_path)
