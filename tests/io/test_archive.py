"""NPZ: nothing is lost, nothing is executed, joints of plain arrays are understood."""

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from plain_meshes import articulated_arrays, assert_same_look, meshes, rich_mesh, tetrahedron

from neurok.core import Articulation, Asset, Clip, Inertial, Joint, Material, MaterialField, Skin
from neurok.errors import FormatError, NeurokError
from neurok.io import files, load, load_articulation, load_mesh, npz_arrays, save


def full_asset() -> Asset:
    mesh = replace(rich_mesh(), up="z", unit=0.01)
    joints = (
        Joint("fixed", name="base"),
        Joint("cylindrical", 0, (0, 1, 1), (1, 2, 3), -1.5, slide_upper=0.25, name="lid", damping=0.1),
    )
    inertials = (None, Inertial(2.5, (1, 2, 3), np.diag([1.0, 2, 3])))
    articulation = Articulation(mesh, joints, inertials, "jar")
    turning = articulation.clip(np.linspace(0, 0.2, 10).reshape(5, 2), fps=30, name="open")
    waving = Clip(tetrahedron(), np.random.default_rng(0).normal(size=(3, 4, 3)).astype(np.float32), 12.5, "wave")
    field = MaterialField(
        (Material("oak", 1e10, 0.3, 700), Material("sand", kind="sand", friction_angle=0.6)), np.arange(8) % 2
    )
    return Asset(mesh, (turning, waving), articulation, field, {"source": "hand"}, ("A note.",))


def assert_same_mesh(a, b):
    for name in ("vertices", "faces", "uv", "vertex_colors", "part_ids", "face_surfaces"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None), name
        if one is not None:
            np.testing.assert_array_equal(one, other)
    assert (a.part_names, a.unit, a.up, a.name) == (b.part_names, b.unit, b.up, b.name)
    assert_same_look(a, b)


def test_everything_an_asset_holds_survives(tmp_path):
    asset = full_asset()
    save(asset, tmp_path / "a.npz")
    back = load(tmp_path / "a.npz")
    assert_same_mesh(asset.mesh, back.mesh)
    assert back.articulation.mesh is back.mesh
    for one, other in zip(asset.articulation.joints, back.articulation.joints, strict=True):
        assert (one.kind, one.parent, one.name, one.damping) == (other.kind, other.parent, other.name, other.damping)
        np.testing.assert_array_equal(one.limits, other.limits)
        np.testing.assert_allclose(one.axis, other.axis, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(one.origin, other.origin)
    assert back.articulation.inertials[0] is None
    np.testing.assert_array_equal(back.articulation.inertials[1].inertia, np.diag([1.0, 2, 3]))
    for one, other in zip(asset.clips, back.clips, strict=True):
        np.testing.assert_array_equal(one.positions, other.positions)
        assert one.positions.dtype == other.positions.dtype
        assert (one.fps, one.name) == (other.fps, other.name)
    assert back.clips[0].rest is back.mesh
    assert_same_mesh(asset.clips[1].rest, back.clips[1].rest)
    np.testing.assert_array_equal(asset.clips[0].skin.transforms, back.clips[0].skin.transforms)
    np.testing.assert_array_equal(asset.clips[0].skin.weights, back.clips[0].skin.weights)
    assert asset.materials.materials == back.materials.materials
    np.testing.assert_array_equal(asset.materials.ids, back.materials.ids)
    assert (back.provenance, back.notes) == (asset.provenance, asset.notes)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(meshes())
def test_any_mesh_survives_to_the_last_bit(tmp_path, mesh):
    save(mesh, tmp_path / "m.npz")
    assert_same_mesh(mesh, load_mesh(tmp_path / "m.npz"))


def test_the_same_asset_gives_the_same_bytes_and_numpy_reads_them(tmp_path):
    save(full_asset(), tmp_path / "a.npz")
    save(full_asset(), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["vertices"], full_asset().mesh.vertices)


def test_plain_vertices_and_faces_are_enough(tmp_path):
    np.savez(
        tmp_path / "m.npz",
        vertices=tetrahedron().vertices.astype(np.float32),
        faces=tetrahedron().faces.astype(np.uint16),
    )
    np.testing.assert_array_equal(load_mesh(tmp_path / "m.npz").faces, tetrahedron().faces)


def test_a_door_of_plain_arrays_turns_about_its_hinge(tmp_path):
    np.savez(tmp_path / "door.npz", **articulated_arrays())
    asset = load(tmp_path / "door.npz")
    door = asset.articulation
    assert door.part_names == ("door", "door_2")
    assert door.limits.tolist() == [[0.0, pytest.approx(np.pi / 2)]]
    assert "swapped" in asset.notes[0]
    assert asset.provenance["category"] == "Door"
    assert "research only" in asset.provenance["license"]
    assert asset.mesh.vertex_count == 6  # the two shared corners were split
    posed = door.pose(np.array([np.pi / 2]))
    origin_corner = posed.vertices[posed.part_ids == 0][0]
    np.testing.assert_allclose(origin_corner, [1, 0, 1], atol=1e-7)  # (-1, 0, 0) from the hinge, a quarter turn about y


@pytest.mark.parametrize(
    "change",
    [{"face_part": np.array([0, 5])}, {"parent": np.array([1, 0])}, {"joint_type": np.array(["helical", "fixed"])},
     {"lower": np.array([np.nan, 0])}, {"axis": np.zeros((2, 3))}, {"parent": np.array([1])}, {"axis": None},
     {"vertices": np.zeros((4, 2))}, {"faces": np.array([[0, 1, 9], [1, 3, 2]])}, {"faces": np.array([["a"] * 3] * 2)}],
)  # fmt: skip
def test_joints_that_make_no_sense_get_one_sentence(tmp_path, change):
    arrays = {k: v for k, v in {**articulated_arrays(), **change}.items() if v is not None}
    np.savez(tmp_path / "door.npz", **arrays)
    with pytest.raises(NeurokError) as caught:
        load(tmp_path / "door.npz")
    assert "\n" not in str(caught.value)


def test_pickles_are_never_opened(tmp_path):
    np.savez(tmp_path / "m.npz", vertices=np.array([{"a": 1}], dtype=object), faces=np.zeros((1, 3), int))
    with pytest.raises(FormatError, match="plain arrays"):
        load(tmp_path / "m.npz")


def test_an_array_that_promises_more_than_it_holds_is_refused(tmp_path):
    body = io.BytesIO()
    np.lib.format.write_array_header_1_0(body, {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)})
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        archive.writestr("vertices.npy", body.getvalue())
    with pytest.raises(FormatError, match="another size"):
        load(tmp_path / "m.npz")


def test_a_bomb_is_refused_before_it_unpacks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_UNPACKED_BYTES", 10_000)
    np.savez_compressed(tmp_path / "m.npz", vertices=np.zeros((100_000, 3)), faces=np.zeros((1, 3), int))
    with pytest.raises(FormatError, match="would unpack"):
        load(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "header", ["[]", "{}", '{"version": 2}', "[" * 100_000, '{"version": 1, "meshes": [{}]}', "\xff"]
)
def test_a_header_that_does_not_fit_gets_one_sentence(tmp_path, header):
    np.savez(tmp_path / "m.npz", neurok=np.frombuffer(header.encode("latin-1"), dtype=np.uint8))
    with pytest.raises(FormatError):
        load(tmp_path / "m.npz")


def test_a_header_that_names_a_mesh_of_no_number_gets_one_sentence(tmp_path):
    save(full_asset(), tmp_path / "a.npz")
    arrays = npz_arrays.unpack((tmp_path / "a.npz").read_bytes(), tmp_path)
    header = json.loads(arrays["neurok"].tobytes())
    header["clips"][0]["rest"] = 9
    np.savez(tmp_path / "b.npz", **{**arrays, "neurok": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})
    with pytest.raises(FormatError, match="does not fit"):
        load(tmp_path / "b.npz")


def test_a_skin_survives_with_its_handles(tmp_path):
    rest = tetrahedron()
    skin = Skin(np.ones((4, 1)), np.tile(np.eye(4), (3, 1, 1, 1)))
    save(Clip(rest, skin.positions(rest.vertices), 24, "still", skin), tmp_path / "c.npz")
    np.testing.assert_array_equal(load(tmp_path / "c.npz").clips[0].skin.transforms, skin.transforms)


@pytest.mark.data
@pytest.mark.slow
def test_every_partnet_mobility_object_loads_and_moves_within_its_limits(real_data):
    paths = sorted((real_data / "partnet_mobility" / "train").glob("*.npz"))
    assert paths
    rng = np.random.default_rng(0)
    for path in paths:
        articulation = load_articulation(path)
        with np.load(path, allow_pickle=False) as arrays:
            kinds = arrays["joint_type"].tolist()
            np.testing.assert_array_equal(np.bincount(articulation.mesh.face_parts, minlength=len(kinds)),
                                          np.bincount(arrays["face_part"], minlength=len(kinds)))  # fmt: skip
        assert [joint.kind for joint in articulation.joints] == kinds
        assert articulation.dof == sum(kind != "fixed" for kind in kinds)
        low, high = np.clip(articulation.limits, -np.pi, np.pi).T
        posed = articulation.pose(rng.uniform(low, high))
        assert np.isfinite(posed.vertices).all(), path
