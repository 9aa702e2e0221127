"""``neurok materials`` as a person calls it: look, correct, hand back."""

import json

import numpy as np
import pytest
from PIL import Image
from tests.io.khronos import faults

from neurok import cli, understand
from neurok.core import Articulation, Asset, Joint, Surface
from neurok.core.material_library import library
from neurok.io import load, save
from neurok.modelling.builder import mesh_of_pieces
from neurok.modelling.shapes import box, sphere
from neurok.modelling.textures import recipes, tile_of


def told(capsys, *args: str) -> dict:
    cli.main([*args, "--json"])
    return json.loads(capsys.readouterr().out)


def test_each_part_gets_a_material_a_confidence_and_a_reason(capsys):
    said = told(capsys, "materials", "sample:cabinet")
    rows = {row["part"]: row for row in said["parts"]}
    assert rows["door/oak grain"]["material"] == "oak"
    assert rows["door/brass"]["material"] == "brass"
    assert all(0 < row["confidence"] <= 1 and row["reason"] for row in said["parts"])
    cli.main(["materials", "sample:cabinet"])
    table = capsys.readouterr().out
    assert table.startswith("part")
    assert "door/oak grain" in table


def test_without_an_object_all_materials_are_listed(capsys):
    assert [row["name"] for row in told(capsys, "materials")["materials"]] == list(library())


def test_what_is_set_is_written_in_every_form_and_handed_back(tmp_path, capsys):
    outs = [str(tmp_path / name) for name in ("a.json", "a.glb", "a.npz", "a.png")]
    said = told(capsys, "materials", "sample:lamp", "--set", "all=aluminium", "--set", "head=glass", "--out", *outs)
    assert said["files"] == outs
    for name in ("a.glb", "a.npz"):
        asset = load(tmp_path / name)
        head = asset.mesh.part_ids == asset.mesh.part_names.index("head")
        names = np.array([each.name for each in asset.materials.materials])[asset.materials.ids]
        assert set(names[head]) == {"glass"}
        assert set(names[~head]) == {"aluminium"}
    picture = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    again = told(capsys, "materials", "sample:lamp", "--materials", outs[0])
    assert {row["material"] for row in again["parts"]} == {"glass", "aluminium"}
    line = ["simulate", "sample:lamp", "--seconds", "0.1", "--out", str(tmp_path / "b.npz")]
    by_file = told(capsys, *line, "--materials", outs[0])
    by_flag = told(capsys, *line, "--material", "head=glass", "--material", "all=aluminium")
    assert by_file["mass"] == pytest.approx(by_flag["mass"])


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["sample:lamp", "--set", "head=glas"], "the nearest are glass"),
        (["sample:lamp", "--set", "haed=glass"], "Did you mean 'head'"),
        (["sample:lamp", "--set", "glass"], "write it like seat=foam"),
        (["sample:lamp", "--out", "a.stl"], "cannot hold materials"),
        (["sample:lamp", "--materials", "none.json"], "There is no file"),
        (["--set", "a=glass"], "Name an object"),
    ],
)
def test_mistakes_end_in_one_sentence(args, words, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["materials", *args])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_paint_gives_bare_parts_the_look_of_their_materials(tmp_path, capsys):
    board, ball = box((1.0, 0.02, 0.3)), sphere(0.1).move(0, 0.2, 0)
    pieces = [(board, Surface("board"), 0), (ball, Surface("ball"), 1)]
    bare = mesh_of_pieces(pieces, ["top", "knob"], "table")
    joints = (Joint("fixed", -1), Joint("revolute", 0, (0, 1, 0), (0, 0, 0), -1.0, 1.0))
    articulation = Articulation(bare, joints)
    save(Asset(bare, (articulation.clip(articulation.sweep(3)),), articulation), tmp_path / "bare.glb")
    given = ["--set", "top=walnut", "--set", "knob=brass"]
    outs = [str(tmp_path / name) for name in ("painted.glb", "painted.png", "painted.usda")]
    told(capsys, "materials", str(tmp_path / "bare.glb"), *given, "--paint", "--out", *outs)
    assert faults([tmp_path / "painted.glb"]) == {}
    before, after = load(tmp_path / "bare.glb"), load(tmp_path / "painted.glb")
    assert np.allclose(after.mesh.vertices[after.mesh.faces], before.mesh.vertices[before.mesh.faces], atol=1e-6)
    assert {tile_of(surface) for surface in after.mesh.surfaces} == {
        recipes()["walnut"].tile,
        recipes()["polished"].tile,
    }
    assert after.articulation.dof == 1
    moved = [asset.clips[0].positions[-1][asset.mesh.faces] for asset in (before, after)]
    assert np.allclose(moved[0], moved[1], atol=1e-4)
    assert [m.name for m in after.materials.materials] == ["walnut", "brass"]
    again = understand(str(tmp_path / "painted.glb")).painted()
    assert again.mesh.surfaces == after.mesh.surfaces  # what has pictures is left alone
    assert len(load(tmp_path / "painted.usda").mesh.surfaces) == 2
