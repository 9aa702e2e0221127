"""The verbs on meshes without joints or animation."""

import contextlib
import json

import numpy as np
import pytest

from neurok import hub
from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.core import Mesh
from neurok.io import load, save


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> str:
    """A lamp that has lost its joints and its parts."""
    mesh = make_sample("lamp").mesh
    path = tmp_path_factory.mktemp("mesh") / "lamp.ply"
    save(mesh, path)
    return str(path)


def figures(capsys, *arguments: str) -> dict:
    with contextlib.suppress(SystemExit):  # a poor fit has an exit code of its own
        main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_sampling_a_plain_mesh_draws_learned_states(plain, tmp_path, capsys):
    out = f"{tmp_path}/states"
    found = figures(capsys, "sample", plain, "-n", "2", "--out", out)
    assert found["space"] in ("joints", "skeleton")
    assert found["why"].endswith("(its file has no joints or animation).")
    one, two = (load(f"{out}/state_000{k}.glb").mesh.vertices for k in range(2))
    assert np.abs(one - two).max() > 0


@pytest.mark.slow
def test_posing_a_plain_mesh_leads_a_dragged_place(plain, tmp_path, capsys):
    mesh = load(plain).mesh
    top = mesh.vertices[mesh.vertices[:, 1] > mesh.bounds[1, 1] - 1e-3].mean(axis=0)
    wish = "top:" + ",".join(f"{value:.4f}" for value in top + [0.0, 0.01, 0.0])
    found = figures(capsys, "pose", plain, "--move", wish, "--out", f"{tmp_path}/posed.ply")
    assert found["space"] in ("joints", "skeleton")
    assert found["fit"] in ("good", "fair", "poor")
    assert load(tmp_path / "posed.ply").mesh.vertex_count == mesh.vertex_count


@pytest.mark.slow
def test_a_pose_that_is_refined_comes_closer_to_its_target(plain, tmp_path, capsys):
    """Another mesh of the same lamp with its head turned and all of it wider, which neither joints nor bones reach."""
    lamp = make_sample("lamp")
    q = np.full(lamp.articulation.dof, 0.3)
    bent = lamp.articulation.pose(q).vertices
    middle = bent.mean(axis=0)
    bent = middle + (bent - middle) * (1.0 + 0.4 * (1.0 - np.abs(lamp.mesh.up_vector)))
    save(Mesh(bent, lamp.mesh.faces[::-1]), tmp_path / "target.ply")
    line = ["pose", plain, "--target", f"{tmp_path}/target.ply", "--out", f"{tmp_path}/out.ply"]
    loose, tight = figures(capsys, *line), figures(capsys, *line, "--deform")
    assert tight["residual"] < 0.8 * loose["residual"]


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--drop",)])
def test_simulating_a_plain_mesh_moves_in_learned_poses(plain, tmp_path, capsys, more):
    line = ["simulate", plain, "--seconds", "0.2", "--push", "top:1,0,0", *more]
    found = figures(capsys, *line, "--out", f"{tmp_path}/motion.glb")
    assert found["status"] == "ok"
    assert found["dof"] > (6 if more else 0)
    assert load(tmp_path / "motion.glb").clips[0].frame_count > 2


def test_a_scene_file_keeps_the_choice_of_space(plain, tmp_path, capsys):
    figures(capsys, "simulate", plain, "--space", "rigid", "--free", "--out", f"{tmp_path}/s.json")
    assert json.loads((tmp_path / "s.json").read_text())["objects"][0]["space"] == "rigid"


def test_without_weights_the_latent_space_gets_a_sentence(plain, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(hub, "SHIPPED", tmp_path)
    with pytest.raises(SystemExit):
        main(["sample", plain, "--space", "latent", "--out", f"{tmp_path}/x.png"])
    assert "There are no weights 'deformation'" in capsys.readouterr().err
