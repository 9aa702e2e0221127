"""In which unit and with which axis up an object is read."""

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.core import Asset, Mesh
from neurok.doctor import frame
from neurok.doctor.frame import METRES, framed, guess_unit, parse_unit, parse_up, unit_odds
from neurok.errors import NeurokError
from neurok.io import load, save
from neurok.io.formats import states_frame
from neurok.modelling.shapes import box

SAMPLES = ["laptop", "cabinet", "lamp", "pillow"]


def lying(mesh):
    """The same numbers in a file that says nothing, with z up."""
    turned = mesh.in_frame("z", mesh.unit)
    return Mesh(turned.vertices, turned.faces, name="scan")


def stool(scale=1.0, up="z", said="y"):
    """Four legs under a seat with a back, standing on zero about the middle."""
    legs = [box((0.05, 0.4, 0.05), (x, 0.2, z)) for x in (-0.2, 0.2) for z in (-0.2, 0.2)]
    pieces = [*legs, box((0.5, 0.05, 0.5), (0, 0.425, 0)), box((0.5, 0.5, 0.05), (0, 0.7, -0.225))]
    offsets = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    vertices = np.concatenate([piece.vertices for piece in pieces])
    faces = np.concatenate([piece.faces + start for piece, start in zip(pieces, offsets)])
    standing = Mesh(scale * vertices, faces).in_frame(up)
    return Mesh(standing.vertices, standing.faces, up=said, name="stool")


def test_units_are_names_or_metres():
    assert parse_unit("cm") == 0.01
    assert parse_unit("inch") == parse_unit("in") == 0.0254
    assert parse_unit("0.3048") == 0.3048
    for wrong in ("furlong", "0", "-1", "nan", ""):
        with pytest.raises(NeurokError, match="is no unit; write m, cm"):
            parse_unit(wrong)
    with pytest.raises(NeurokError, match="is no up axis"):
        parse_up("w")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("is_stated", [True, False])
def test_good_files_are_believed(name, is_stated):
    asset = make_sample(name)
    found = framed(asset, is_stated=is_stated)
    assert found.asset is asset
    assert not found.notes


@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize(("scale", "unit"), [(300.0, "cm"), (1000.0, "mm"), (3000.0, "mm")])
def test_a_size_that_is_surely_wrong_is_read_in_a_likely_unit(scale, unit, is_stated):
    found = framed(Asset(stool(scale)), is_stated=is_stated, up="z")
    assert found.asset.mesh.unit == METRES[unit]
    assert f"read in {unit}" in found.notes[0]
    np.testing.assert_array_equal(found.asset.mesh.vertices, stool(scale).vertices)


def test_a_stated_unit_needs_more_to_be_doubted():
    longest = 30.0
    assert framed(Asset(stool(longest)), is_stated=True, up="z").asset.mesh.unit == 1.0
    assert framed(Asset(stool(longest)), is_stated=False, up="z").asset.mesh.unit == 0.01
    assert unit_odds(longest, is_stated=True)["m"] > unit_odds(longest)["m"]
    assert sum(unit_odds(longest).values()) == pytest.approx(1.0)
    assert guess_unit(5.0, 0.01).value == "cm"


def test_a_scan_with_z_up_stands_upright_and_says_so():
    found = framed(Asset(stool()), is_stated=False)
    assert found.asset.mesh.up == "z"
    assert "upright with z up" in found.notes[0]
    assert framed(Asset(stool()), is_stated=True).asset.mesh.up == "y"
    assert framed(Asset(stool()), is_stated=False, up="x").asset.mesh.up == "x"
    assert framed(Asset(stool(up="y")), is_stated=False).asset.mesh.up == "y"


@pytest.mark.parametrize("name", SAMPLES)
def test_what_the_guess_does_to_a_turned_sample_is_right_or_nothing(name):
    mesh = framed(Asset(lying(make_sample(name).mesh)), is_stated=False, unit=1.0).asset.mesh
    assert mesh.up in ("y", "z")


def test_formats_that_state_a_frame():
    assert states_frame("a.glb")
    assert states_frame("sample:laptop")
    assert states_frame("robot.urdf")
    assert not states_frame("scan.PLY")
    assert not states_frame("walk_%04d.obj")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["plan", "IN", "--method", "search", "--out", "OUT.json"],
        ["articulate", "IN", "--method", "search", "--out", "OUT.urdf"],
        ["render", "IN", "--out", "OUT.png", "--size", "64x48"],
        ["simulate", "IN", "--space", "rigid", "--act", "drop", "--seconds", "0.1", "--out", "OUT.npz"],
    ],
)
def test_every_command_reads_the_same_frame(command, tmp_path, capsys):
    save(stool(300.0, up="y"), tmp_path / "stool.obj")
    words = [word.replace("IN", str(tmp_path / "stool.obj")).replace("OUT", str(tmp_path / "out")) for word in command]
    main([*words, "--json"])
    assert "read in cm" in capsys.readouterr().err
    main([*words, "--json", "--unit", "mm", "--up", "y"])
    assert "read in" not in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main([*words, "--unit", "ell"])
    assert ended.value.code == 2


def test_inspect_takes_the_flags_for_granted(tmp_path, capsys):
    import json

    save(stool(300.0, up="y"), tmp_path / "stool.obj")
    main(["inspect", str(tmp_path / "stool.obj"), "--unit", "cm", "--json"])
    assert max(json.loads(capsys.readouterr().out)["size"]) == pytest.approx(0.95 * 3.0)


def test_what_is_exported_has_the_likely_size(tmp_path):
    save(stool(300.0, up="y"), tmp_path / "stool.obj")
    main(["articulate", str(tmp_path / "stool.obj"), "--method", "search", "--out", str(tmp_path / "stool.urdf")])
    low, high = load(tmp_path / "stool.urdf").mesh.bounds
    assert (high - low).max() == pytest.approx(0.95 * 3.0, rel=1e-3)


def test_inspect_says_what_all_commands_do():
    from neurok.doctor import diagnose

    for up in ("x", "y", "z"):
        for scale in (0.1, 1.0, 20.0, 300.0):
            asset = Asset(stool(scale, up))
            shown, used = diagnose(asset.mesh), framed(asset, is_stated=False).asset.mesh
            assert (shown.up.value, METRES[shown.unit.value]) == (used.up, used.unit)


def test_the_guess_of_least_harm_is_the_likelier_one_by_a_margin(monkeypatch):
    mesh, found = stool(), []
    for harm in (1.0, 1e6):
        monkeypatch.setattr(frame, "DEPARTING", harm)
        found.append(frame.guess_up(mesh, mesh.faces))
    bold, shy = found
    assert (bold.value, shy.value) == ("z", "y")
    assert bold.confidence + shy.confidence == pytest.approx(1.0, abs=0.02)
