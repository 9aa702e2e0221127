"""Numbered files, one per frame."""

import numpy as np
import pytest
from plain_meshes import rich_mesh, tetrahedron

from neurok.core import Clip, Surface
from neurok.errors import FormatError, NeurokError
from neurok.io import load, load_clip, load_mesh, save


def wobble(rest, frames=3):
    return Clip(rest, rest.vertices + np.arange(frames)[:, None, None] * 0.25, 24, "wobble")


def test_obj_frames_share_one_library_and_its_pictures(tmp_path):
    clip = wobble(rich_mesh())
    save(clip, tmp_path / "frames" / "walk_%04d.obj")
    names = sorted(p.name for p in (tmp_path / "frames").iterdir())
    assert names == [
        "walk.mtl",
        "walk_0000.obj",
        "walk_0001.obj",
        "walk_0002.obj",
        "walk_texture_0.png",
        "walk_texture_1.png",
    ]
    back = load_clip(tmp_path / "frames" / "walk_%04d.obj")
    np.testing.assert_array_equal(back.positions, clip.positions)
    assert back.name == "walk"
    assert [s.texture.data for s in back.rest.surfaces] == [s.texture.data for s in clip.rest.surfaces]


def test_ply_frames_share_one_picture(tmp_path):
    texture = rich_mesh().surfaces[0].texture
    clip = wobble(tetrahedron(uv=np.zeros((4, 2)), surfaces=(Surface("s", texture=texture),)))
    save(clip, tmp_path / "w%d.ply")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["w0.ply", "w1.ply", "w2.ply", "w_texture.png"]
    back = load_clip(tmp_path / "w%d.ply")
    np.testing.assert_array_equal(back.positions, clip.positions)
    assert back.rest.surfaces[0].texture.data == texture.data


def test_more_than_ten_frames_come_in_the_order_of_their_numbers(tmp_path):
    save(wobble(tetrahedron(), 12), tmp_path / "w%d.obj")
    assert load_clip(tmp_path / "w%d.obj").positions[:, 0, 0].tolist() == [0.25 * i for i in range(12)]


def test_numbers_may_begin_anywhere_but_must_not_skip(tmp_path):
    save(wobble(tetrahedron(), 4), tmp_path / "w%02d.obj")
    (tmp_path / "w00.obj").unlink()
    assert load_clip(tmp_path / "w%02d.obj").frame_count == 3
    (tmp_path / "w02.obj").unlink()
    with pytest.raises(NeurokError, match="frame 2 is missing"):
        load(tmp_path / "w%02d.obj")


def test_frames_with_other_faces_are_refused(tmp_path):
    save(wobble(tetrahedron(), 2), tmp_path / "w%02d.obj")
    save(rich_mesh(), tmp_path / "w01.obj")
    with pytest.raises(FormatError, match="other faces"):
        load(tmp_path / "w%02d.obj")


@pytest.mark.parametrize("name", ["w%04d.stl", "w%04d.glb", "w%d_%d.obj"])
def test_patterns_that_cannot_be_written_get_one_sentence(tmp_path, name):
    with pytest.raises(NeurokError):
        save(wobble(tetrahedron()), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_no_frames_no_folder_and_no_clip_get_one_sentence(tmp_path):
    with pytest.raises(NeurokError, match="fits"):
        load(tmp_path / "w%d.obj")
    with pytest.raises(NeurokError, match="cannot be read"):
        load(tmp_path / "nowhere" / "w%d.obj")
    with pytest.raises(NeurokError, match="no clip"):
        save(tetrahedron(), tmp_path / "w%d.obj")


def test_a_single_file_takes_the_rest_mesh_of_a_clip(tmp_path):
    save(wobble(tetrahedron()), tmp_path / "w.obj")
    np.testing.assert_array_equal(load_mesh(tmp_path / "w.obj").vertices, tetrahedron().vertices)
    assert load(tmp_path / "w.obj").clips == ()
