"""``neurok simulate --engine particles`` and what belongs to it."""

import json

import numpy as np
import pytest

from neurok import cli
from neurok.core import Mesh
from neurok.core.clip import Rollout
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.io import load, save
from neurok.modelling.shapes import box
from neurok.scene.description import Scene, SceneObject
from neurok.scene.files import read_scene, write_scene
from neurok.scene.output import surface_around
from neurok.scene.run import engine_of, prepare_scene

pytest.importorskip("warp")


@pytest.fixture
def block(tmp_path):
    shape = box((0.2, 0.2, 0.2))
    save(Mesh(shape.vertices, shape.faces, name="block"), tmp_path / "block.npz")
    return str(tmp_path / "block.npz")


def run(capsys, *args):
    cli.main(["simulate", *map(str, args), "--engine", "particles", "--resolution", "5", "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    return json.loads(out)


def test_a_block_of_jelly_falls_and_keeps_its_faces(block, tmp_path, capsys):
    out = tmp_path / "a.npz"
    figures = run(capsys, block, "--material", "all=gelatin", "--drop", "0.05", "--seconds", "0.1", "--out", out)
    assert (figures["status"], figures["engine"], figures["engine_reason"]) == ("ok", "particles", "asked for")
    assert figures["mass"] == pytest.approx(1010 * 0.008, rel=0.01)
    assert figures["particles"] > 500
    written = load(out)
    assert np.array_equal(written.mesh.faces, load(block).mesh.faces)
    assert written.clips[0].positions[-1, :, 1].min() < written.clips[0].positions[0, :, 1].min() - 0.02


@pytest.mark.parametrize("flags", [["--resolution", "finest"], ["--stiffest", "-1"], ["--integrator", "gauss"]])
def test_nonsense_is_refused_in_one_sentence(block, tmp_path, capsys, flags):
    out = tmp_path / "a.npz"
    with pytest.raises(SystemExit) as ended:
        cli.main(["simulate", block, "--engine", "particles", "--drop", "0.1", "--out", str(out), *flags])
    assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not out.exists()


def test_scene_files_hold_resolution_and_clamp(block, tmp_path):
    scene = Scene((SceneObject(block),), engine="particles", resolution=17, stiffest=1e7)
    write_scene(scene, tmp_path / "a.yaml")
    found = read_scene(tmp_path / "a.yaml")
    assert (found.engine, found.resolution, found.stiffest) == ("particles", 17, 1e7)
    engine = engine_of(found)
    assert (engine.config.cells, engine.config.stiffest) == (17, 1e7)


def test_pins_hold_and_materials_are_proposed_whatever_the_object_is(block):
    thing = SceneObject(block, pins=(), drop=0.1)
    ready = prepare_scene(Scene((thing,), engine="particles", resolution="coarse"))
    assert ready.bodies[0].materials is not None
    assert ready.reports[0].matter[0]["confidence"] < 1.0


def test_a_surface_is_drawn_around_what_lies_together():
    axis = np.arange(20) * 0.01
    points = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    vertices, faces = surface_around(points, 0.01)
    assert np.ptp(vertices, axis=0) == pytest.approx([0.2] * 3, abs=0.012)
    assert face_areas(vertices, faces).sum() == pytest.approx(6 * 0.2**2, rel=0.15)


def test_a_rollout_counts_its_grains():
    mesh = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    assert Rollout(mesh, 0.1, positions=np.eye(3)[None]).grains == 0


def test_evaluate_refuses_a_resolution_it_does_not_know(capsys):
    with pytest.raises((SystemExit, NeurokError)):
        cli.main(["evaluate", "dynamics", "--resolution", "finest"])
