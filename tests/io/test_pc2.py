"""PC2: positions in one file, faces in another."""

import struct

import numpy as np
import pytest
from plain_meshes import rich_mesh, tetrahedron

from neurok.core import Clip
from neurok.errors import FormatError, NeurokError
from neurok.io import load, load_clip, save


def wobble(rest, frames=4):
    return Clip(rest, rest.vertices + np.arange(frames)[:, None, None] * 0.25, 24, "wobble")


def test_a_clip_survives_to_32_bits_and_keeps_its_look(tmp_path):
    clip = wobble(rich_mesh())
    save(clip, tmp_path / "w.pc2")
    back = load_clip(tmp_path / "w.pc2")
    np.testing.assert_allclose(back.positions, clip.positions, atol=1e-6)
    np.testing.assert_array_equal(back.rest.faces, clip.rest.faces)
    assert back.rest.surfaces[0].texture.data == clip.rest.surfaces[0].texture.data


def test_the_bytes_follow_the_published_layout(tmp_path):
    save(wobble(tetrahedron(), 2), tmp_path / "w.pc2")
    data = (tmp_path / "w.pc2").read_bytes()
    assert struct.unpack("<12siiffi", data[:32]) == (b"POINTCACHE2\0", 1, 4, 0.0, 1.0, 2)
    assert struct.unpack("<3f", data[32 + 12 * 7 :][:12]) == (0.25, 0.25, 1.25)
    assert len(data) == 32 + 2 * 4 * 12


def test_points_follow_vertex_lines_even_where_uv_split_them(tmp_path):
    (tmp_path / "q.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 1\nf 1/1 2/1 3/1\nf 1/2 3/2 4/2\n"
    )
    points = np.arange(12, dtype="<f4").reshape(4, 3)
    (tmp_path / "q.pc2").write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 4, 0, 1, 1) + points.tobytes())
    clip = load_clip(tmp_path / "q.pc2")
    assert clip.rest.vertex_count == 6
    np.testing.assert_array_equal(clip.positions[0, clip.rest.faces], points[[[0, 1, 2], [0, 2, 3]]])


def test_a_z_up_clip_in_centimetres_moves_in_the_frame_of_its_mesh(tmp_path):
    save(wobble(tetrahedron(up="z", unit=0.01)), tmp_path / "w.pc2")
    clip = load_clip(tmp_path / "w.pc2")
    np.testing.assert_allclose(clip.positions[0], clip.rest.vertices, atol=1e-8)
    np.testing.assert_allclose(clip.positions[3] - clip.positions[0], 0.0075, atol=1e-8)


def test_what_is_missing_is_said(tmp_path):
    save(wobble(tetrahedron()), tmp_path / "w.pc2")
    data = (tmp_path / "w.pc2").read_bytes()
    (tmp_path / "w.obj").unlink()
    with pytest.raises(NeurokError, match=r"w\.obj"):
        load(tmp_path / "w.pc2")
    save(rich_mesh(), tmp_path / "w.ply")
    with pytest.raises(FormatError, match="4 points"):
        load(tmp_path / "w.pc2")
    for damaged in (data[:20], data[:-1], b"x" * 60, data[:16] + struct.pack("<i", 2**31 - 1) + data[20:]):
        (tmp_path / "w.pc2").write_bytes(damaged)
        with pytest.raises(FormatError):
            load(tmp_path / "w.pc2")
    with pytest.raises(NeurokError, match="no clip"):
        save(tetrahedron(), tmp_path / "still.pc2")
    assert not (tmp_path / "still.pc2").exists()
