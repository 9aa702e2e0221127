"""Several objects in one clip."""

import numpy as np
import pytest

from neurok.core import Clip, Mesh, Skin
from neurok.core.surface import Surface
from neurok.errors import NeurokError
from neurok.io.files import unique_names
from neurok.scene.run import merge_clips, merge_meshes, still_clip

TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
FACE = np.array([[0, 1, 2]])
RED, BLUE = Surface("red", (1, 0, 0, 1)), Surface("blue", (0, 0, 1, 1))


def labelled():
    return Mesh(
        np.concatenate([TRIANGLE, TRIANGLE + 5]),
        np.concatenate([FACE, FACE + 3]),
        uv=np.ones((6, 2)),
        part_ids=[0, 0, 0, 1, 1, 1],
        part_names=("body", "lid"),
        surfaces=(RED, BLUE),
        face_surfaces=[1, 0],
    )


def test_every_face_keeps_its_corners_part_and_look():
    plain = Mesh(TRIANGLE + 9, FACE, vertex_colors=np.full((3, 4), 0.25))
    both = merge_meshes([labelled(), plain], ["box", "leaf"])
    assert both.part_names == ("box/body", "box/lid", "leaf")
    corners = both.vertices[both.faces]
    np.testing.assert_array_equal(corners, [TRIANGLE, TRIANGLE + 5, TRIANGLE + 9])
    assert [both.part_names[i] for i in both.face_parts] == ["box/body", "box/lid", "leaf"]
    assert [both.surfaces[i].name for i in both.face_surfaces] == ["blue", "red", "surface"]
    np.testing.assert_array_equal(both.vertex_colors[:, 0], [1] * 6 + [0.25] * 3)
    np.testing.assert_array_equal(both.uv[:, 0], [1] * 6 + [0] * 3)


def test_merged_motion_is_each_motion_and_so_are_the_handles():
    generator = np.random.default_rng(3)
    transforms = np.tile(np.eye(4), (4, 2, 1, 1))
    transforms[..., :3, 3] = generator.normal(size=(4, 2, 3))
    skin = Skin(np.repeat(np.eye(2), 3, axis=0), transforms)
    moving = Clip(labelled(), skin.positions(labelled().vertices), 12.0, skin=skin)
    clip = merge_clips([moving, still_clip(Mesh(TRIANGLE, FACE), 4, 12.0)], ["a", "b"])
    np.testing.assert_array_equal(clip.positions[:, :6], moving.positions)
    np.testing.assert_array_equal(clip.positions[:, 6:], np.tile(TRIANGLE, (4, 1, 1)))
    np.testing.assert_allclose(clip.skin.positions(clip.rest.vertices), clip.positions, atol=1e-14)


def test_without_handles_for_all_there_are_none():
    plain = Clip(Mesh(TRIANGLE, FACE), np.tile(TRIANGLE, (3, 1, 1)))
    assert merge_clips([plain, still_clip(Mesh(TRIANGLE, FACE), 3, 24.0)], ["a", "b"]).skin is None


def test_different_units_are_refused():
    with pytest.raises(NeurokError, match="in_frame"):
        merge_meshes([Mesh(TRIANGLE, FACE), Mesh(TRIANGLE, FACE, unit=0.01)], ["a", "b"])


def test_doubles_are_numbered():
    assert unique_names(["lamp", "lamp", "lamp_2", "lamp"]) == ["lamp", "lamp_2", "lamp_2_2", "lamp_3"]
