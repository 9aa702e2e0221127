"""``neurok convert`` as a person calls it."""

import json

import numpy as np
import pytest
from PIL import Image

from neurok.cli import main
from neurok.core import Articulation, Asset, Clip, Joint, Mesh, Skin, Surface
from neurok.errors import MissingDependencyError, NeurokError
from neurok.io import load, save

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)
TALL = CUBE_VERTICES * [0.2, 0.9, 0.4]


def convert(capsys, *args):
    main(["convert", *map(str, args), "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def still(tmp_path):
    save(Mesh(TALL, CUBE_FACES, surfaces=(Surface("red", (1.0, 0.0, 0.0, 1.0)),)), tmp_path / "still.obj")
    return tmp_path / "still.obj"


@pytest.fixture
def moving(tmp_path):
    mesh = Mesh(TALL, CUBE_FACES)
    rise = np.linspace(0, 1, 7)[:, None, None] * [0.0, 1.0, 0.0]
    sway = np.sin(np.linspace(0, 3, 7))[:, None, None] * TALL[None, :, 1:2] * [1.0, 0.0, 0.0]
    clips = (Clip(mesh, TALL + rise, fps=12.0, name="rise"), Clip(mesh, TALL + sway, fps=12.0, name="sway"))
    save(Asset(mesh, clips), tmp_path / "moving.npz")
    return tmp_path / "moving.npz"


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".stl", ".off", ".npz", ".glb", ".gltf"])
def test_a_mesh_survives_every_format_and_the_figures_are_true(still, suffix, tmp_path, capsys):
    out = tmp_path / "sub" / f"out{suffix}"
    told = convert(capsys, still, "--out", out)
    assert told["output"] == str(out)
    assert (told["faces"], told["parts"], told["clips"], told["joints"]) == (12, 1, [], 0)
    written = sorted(str(path) for path in (tmp_path / "sub").rglob("*") if path.is_file())
    assert sorted(told["files"]) == written
    assert told["bytes"] == sum(path.stat().st_size for path in (tmp_path / "sub").rglob("*") if path.is_file())
    mesh = load(out).mesh
    assert mesh.face_count == 12
    np.testing.assert_allclose(mesh.in_frame("y", 1.0).bounds, [[0, 0, 0], [0.2, 0.9, 0.4]], atol=1e-6)


def test_an_animation_survives_glb_within_the_tolerance(moving, tmp_path, capsys):
    told = convert(capsys, moving, "--out", tmp_path / "out.glb", "--tolerance", "1e-5")
    assert told["clips"] == ["rise", "sway"]
    before, after = load(moving), load(tmp_path / "out.glb")
    size = before.mesh.size
    for old, new in zip(before.clips, after.clips):
        old_low, new_low = old.positions.min(axis=1), new.positions.min(axis=1)
        old_high, new_high = old.positions.max(axis=1), new.positions.max(axis=1)
        count = min(len(old_low), len(new_low))
        np.testing.assert_allclose(new_low[:count], old_low[:count], atol=2e-5 * size)
        np.testing.assert_allclose(new_high[:count], old_high[:count], atol=2e-5 * size)


@pytest.mark.parametrize("which", ["sway", "1"])
def test_one_clip_is_picked_by_name_or_number(moving, which, tmp_path, capsys):
    told = convert(capsys, moving, "--out", tmp_path / "one.npz", "--clip", which)
    assert told["clips"] == ["sway"]
    assert [clip.name for clip in load(tmp_path / "one.npz").clips] == ["sway"]


def test_an_unknown_clip_is_refused_with_what_there_is(moving, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["convert", str(moving), "--out", str(tmp_path / "x.npz"), "--clip", "jump"])
    assert end.value.code == 2
    assert "0 (rise), 1 (sway)" in capsys.readouterr().err
    assert not (tmp_path / "x.npz").exists()


def test_the_output_frame_is_turned_and_scaled(still, tmp_path, capsys):
    convert(capsys, still, "--out", tmp_path / "cad.stl", "--out-up", "z", "--out-unit", "mm")
    low, high = load(tmp_path / "cad.stl").mesh.bounds
    np.testing.assert_allclose(sorted(high - low), [200.0, 400.0, 900.0], rtol=1e-5)
    assert (high - low)[2] == pytest.approx(900.0, rel=1e-5)


def test_the_frame_of_the_input_can_be_told(tmp_path, capsys):
    save(Mesh(CUBE_VERTICES * [200.0, 400.0, 900.0], CUBE_FACES), tmp_path / "cad.obj")
    convert(capsys, tmp_path / "cad.obj", "--out", tmp_path / "out.glb", "--up", "z", "--unit", "mm")
    mesh = load(tmp_path / "out.glb").mesh.in_frame("y", 1.0)
    np.testing.assert_allclose(mesh.bounds[1] - mesh.bounds[0], [0.4, 0.9, 0.2], rtol=1e-5)


def test_joints_survive_and_turn_along(tmp_path, capsys):
    mesh = Mesh(
        np.concatenate([TALL, TALL + [1, 0, 0]]),
        np.concatenate([CUBE_FACES, CUBE_FACES + 8]),
        part_ids=np.repeat([0, 1], 8),
        part_names=("body", "door"),
    )
    joints = (Joint(name="body"), Joint("revolute", 0, (0, 1, 0), (1, 0, 0), 0.0, 1.5, name="door"))
    save(Articulation(mesh, joints), tmp_path / "door.npz")
    told = convert(capsys, tmp_path / "door.npz", "--out", tmp_path / "z.npz", "--out-up", "z", "--out-unit", "cm")
    assert told["joints"] == 1
    turned = load(tmp_path / "z.npz").articulation
    assert turned is not None
    np.testing.assert_allclose(np.abs(turned.joints[1].axis), [0, 0, 1], atol=1e-12)
    moved = turned.pose(np.array([0.7])).in_frame("y", 1.0).vertices
    np.testing.assert_allclose(moved, Articulation(mesh, joints).pose(np.array([0.7])).vertices, atol=1e-9)


def test_max_faces_reduces_and_says_so(tmp_path, capsys):
    import trimesh

    ball = trimesh.creation.icosphere(4)
    save(Mesh(np.array(ball.vertices), np.array(ball.faces)), tmp_path / "ball.ply")
    told = convert(capsys, tmp_path / "ball.ply", "--out", tmp_path / "small.ply", "--max-faces", "300")
    assert told["faces"] <= 300
    assert any("5,120" in note for note in told["notes"])


def test_tolerance_is_refused_where_it_means_nothing(still, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["convert", str(still), "--out", str(tmp_path / "x.ply"), "--tolerance", "1e-3"])
    assert end.value.code == 2
    assert "--tolerance is for" in capsys.readouterr().err


def test_every_frame_of_a_sequence_is_named(moving, tmp_path, capsys):
    told = convert(capsys, moving, "--out", tmp_path / "frames" / "rise_%03d.obj")
    assert len([name for name in told["files"] if name.endswith(".obj")]) == 7


def test_words_say_what_was_written(still, tmp_path, capsys):
    main(["convert", str(still), "--out", str(tmp_path / "out.glb")])
    assert f"Wrote {tmp_path / 'out.glb'}: 12 faces, 1 part" in capsys.readouterr().out


def test_a_picture_and_a_film_are_rendered(moving, tmp_path, capsys):
    from neurok.rendering.context import gl_stage

    try:
        gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")
    convert(capsys, moving, "--out", tmp_path / "out.png")
    assert Image.open(tmp_path / "out.png").size == (640, 480)
    convert(capsys, moving, "--out", tmp_path / "out.gif")
    assert Image.open(tmp_path / "out.gif").n_frames == 7


def test_resampling_interpolates_between_frames_and_keeps_the_length():
    mesh = Mesh(TALL, CUBE_FACES)
    straight = TALL + np.arange(5.0)[:, None, None]
    finer = Clip(mesh, straight, fps=4.0).resampled(10.0)
    assert finer.duration == pytest.approx(1.0)
    np.testing.assert_allclose(finer.positions, TALL + 0.4 * np.arange(11.0)[:, None, None])
    assert Clip(mesh, straight, fps=4.0).resampled(4.0).frame_count == 5


def test_handles_survive_where_frames_fall_on_old_ones():
    mesh = Mesh(TALL, CUBE_FACES)
    transforms = np.tile(np.eye(4), (5, 1, 1, 1))
    transforms[:, 0, 0, 3] = np.arange(5.0)
    skin = Skin(np.ones((8, 1)), transforms)
    clip = Clip(mesh, skin.positions(TALL), fps=4.0, skin=skin)
    half = clip.resampled(2.0)
    assert half.skin is not None
    np.testing.assert_allclose(half.skin.transforms[:, 0, 0, 3], [0.0, 2.0, 4.0])
    assert clip.resampled(3.0).skin is None
    with pytest.raises(NeurokError, match="frame rate"):
        clip.resampled(0.0)


def test_what_the_output_cannot_hold_is_left_out_of_the_figures_and_told(moving, tmp_path, capsys):
    one = convert(capsys, moving, "--out", tmp_path / "a.pc2")
    assert one["clips"] == ["rise"]
    assert any("Only the animation 'rise'" in note for note in one["notes"])
    none = convert(capsys, moving, "--out", tmp_path / "a.stl")
    assert none["clips"] == []
    assert any("Animations are left out" in note for note in none["notes"])
    stiff = convert(capsys, "sample:laptop", "--out", tmp_path / "b.ply")
    assert stiff["joints"] == 0
    assert any("Joints are left out" in note for note in stiff["notes"])


def test_a_size_does_not_change_how_the_file_was_read_and_flags_of_simulators_are_not_lost_silently(
    still, tmp_path, capsys
):
    told = convert(capsys, still, "--out", tmp_path / "big.urdf", tmp_path / "big.glb", "--size", "1.8", "--mass", "3")
    assert told["unit"] == 1.0
    assert np.ptp(load(tmp_path / "big.glb").mesh.vertices, axis=0).max() == pytest.approx(1.8)
    assert [note for note in told["notes"] if ".glb" in note] == [
        "'.glb' files are not for simulators: --mass left out."
    ]
