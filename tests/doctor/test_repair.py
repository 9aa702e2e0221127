from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.core import Mesh, Surface
from neurok.doctor import diagnose, mend, repair
from neurok.doctor.diagnosis import KINDS
from neurok.errors import MeshError
from neurok.geometry.topology import face_components, is_watertight

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def draft_of(vertices, faces, **rest):
    """The mesh, or the draft in the error that refuses it."""
    try:
        return Mesh(vertices, faces, **rest)
    except MeshError as error:
        return error.draft


def cube(at=(0.0, 0.0, 0.0), side=1.0):
    return CUBE_VERTICES * side + np.array(at)


def soup(vertices, faces):
    """Every face with three vertices of its own, as STL files have them."""
    return vertices[faces.reshape(-1)], np.arange(3 * len(faces)).reshape(-1, 3)


def volume(mesh):
    a, b, c = (mesh.vertices[mesh.faces[:, i]] for i in range(3))
    return float(np.einsum("fd,fd->", a, np.cross(b, c))) / 6.0


def kinds(mesh):
    return {problem.kind: problem.count for problem in diagnose(mesh).problems}


def test_a_sound_mesh_is_left_alone():
    mesh = Mesh(cube(), CUBE_FACES)
    mended, notes = repair(mesh)
    assert mended is mesh
    assert notes == []
    assert not diagnose(mesh).problems


def test_broken_vertices_and_indices_go_with_their_faces_and_nothing_else():
    vertices = np.concatenate([cube(), [[np.nan, 0, 0], [np.inf, 0, 0]]])
    faces = np.concatenate([CUBE_FACES, [[0, 1, 8], [0, 1, 9], [0, 1, 10], [0, 1, -1]]])
    draft = draft_of(vertices, faces)
    found = kinds(draft)
    assert (found["non_finite_vertices"], found["index_out_of_range"]) == (2, 2)
    mended, notes = repair(draft)
    np.testing.assert_array_equal(mended.vertices, cube())
    np.testing.assert_array_equal(mended.faces, CUBE_FACES)
    assert len(notes) == 1


def test_degenerate_and_duplicate_faces_and_lonely_vertices_are_dropped():
    vertices = np.concatenate([cube(), [[9, 9, 9]]])
    faces = np.concatenate([CUBE_FACES, CUBE_FACES[:2, [1, 2, 0]], [[0, 0, 1]]])
    mesh = Mesh(vertices, faces)
    found = kinds(mesh)
    assert found == {"degenerate_faces": 1, "duplicate_faces": 2, "unreferenced_vertices": 1}
    mended, _ = repair(mesh)
    np.testing.assert_array_equal(mended.faces, CUBE_FACES)
    assert mended.vertex_count == 8


def test_a_back_to_back_pair_of_faces_is_no_duplicate():
    mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 1]])
    assert "duplicate_faces" not in kinds(mesh)
    assert repair(mesh)[0].face_count == 2


def test_a_soup_becomes_a_closed_cube_of_eight_vertices():
    mesh = Mesh(*soup(cube(), CUBE_FACES))
    assert kinds(mesh) == {"duplicate_vertices": 28}
    mended, _ = repair(mesh)
    assert mended.vertex_count == 8
    assert is_watertight(mended.faces)
    assert volume(mended) == pytest.approx(1.0)


@pytest.mark.parametrize("shift", [(1, 0, 0), (1, 1, 0), (1, 1, 1)], ids=["face", "edge", "corner"])
def test_touching_cubes_are_never_glued_together(shift):
    vertices = np.concatenate([cube(), cube(shift)])
    faces = np.concatenate([CUBE_FACES, CUBE_FACES + 8])
    mended, _ = repair(Mesh(vertices, faces))
    components = face_components(mended.vertices, mended.faces, weld=False)
    assert components.max() == 1
    assert mended.vertex_count == 16


def test_vertices_that_differ_in_any_attribute_are_kept_apart():
    vertices, faces = soup(cube(), CUBE_FACES)
    own = np.arange(36) // 3
    assert repair(Mesh(vertices, faces, uv=np.stack([own, own], 1)))[0].vertex_count == 36
    assert repair(Mesh(vertices, faces, vertex_colors=np.repeat(own[:, None] / 12.0, 4, 1)))[0].vertex_count == 36
    assert repair(Mesh(vertices, faces, part_ids=own))[0].vertex_count == 36
    looks = tuple(Surface(str(i)) for i in range(12))
    assert repair(Mesh(vertices, faces, surfaces=looks, face_surfaces=np.arange(12)))[0].vertex_count == 36


@pytest.mark.parametrize("flipped", [[0], [0, 5, 7], list(range(12))], ids=["one", "three", "all"])
def test_a_closed_cube_ends_up_looking_outwards(flipped):
    faces = CUBE_FACES.copy()
    faces[flipped] = faces[flipped][:, ::-1]
    mesh = Mesh(cube(), faces)
    expected = {"inside_out": 1} if len(flipped) == 12 else {"inconsistent_winding"}
    assert set(expected) <= set(kinds(mesh))
    mended, _ = repair(mesh)
    assert is_watertight(mended.faces)
    assert volume(mended) == pytest.approx(1.0)


def test_the_wall_of_a_cavity_keeps_looking_inwards():
    vertices = np.concatenate([cube(side=3.0), cube((1, 1, 1))])
    faces = np.concatenate([CUBE_FACES, CUBE_FACES[:, ::-1] + 8])
    mesh = Mesh(vertices, faces)
    mended, notes = repair(mesh)
    assert notes == []
    assert volume(mended) == pytest.approx(27.0 - 1.0)
    assert diagnose(mesh).volume == pytest.approx(26.0)


def test_a_moebius_strip_is_left_as_it_is():
    turn = np.linspace(0, np.pi, 12, endpoint=False)
    around = np.stack([np.cos(2 * turn), np.sin(2 * turn), 0 * turn], 1)
    tilt = np.cos(turn)[:, None] * around + np.sin(turn)[:, None] * np.array([0, 0, 1.0])
    vertices = np.concatenate([around + 0.3 * tilt, around - 0.3 * tilt])
    i = np.arange(12)
    j, far = (i + 1) % 12, np.where(i == 11, 12, 0)
    a, b = j + far, (j + 12 + far) % 24
    faces = np.concatenate([np.stack([i, a, i + 12], 1), np.stack([a, b, i + 12], 1)])
    mended, notes = repair(Mesh(vertices, faces))
    assert not [note for note in notes if note.startswith("Turned")]
    np.testing.assert_array_equal(mended.faces, faces)


@pytest.mark.parametrize(("side", "expected"), [(2000.0, 2.0), (5e5, 1.0), (1e-4, 0.1), (1e-9, 1.0)])
def test_an_absurd_size_is_scaled_to_a_likely_one(side, expected):
    mesh = Mesh(cube(side=side), CUBE_FACES)
    assert "absurd_scale" in kinds(mesh)
    mended = mend(mesh)
    assert mended.mesh.unit == 1.0
    low, high = mended.mesh.bounds
    np.testing.assert_allclose(high - low, expected)
    np.testing.assert_allclose(mended.mesh.vertices, mended.scale * mesh.vertices[mended.source] + mended.offset)


def test_millimetres_that_the_file_declares_are_not_absurd():
    assert "absurd_scale" not in kinds(Mesh(cube(side=2000.0), CUBE_FACES, unit=0.001))


def test_an_object_far_away_comes_to_the_origin():
    mesh = Mesh(cube(at=(1e5, 0, -2e5)), CUBE_FACES)
    assert kinds(mesh).keys() == {"far_from_origin"}
    mended = mend(mesh)
    np.testing.assert_allclose(mended.mesh.bounds, [[-0.5] * 3, [0.5] * 3])
    np.testing.assert_allclose(mended.offset, [-1e5 - 0.5, -0.5, 2e5 - 0.5])


def test_a_face_across_two_parts_of_a_broken_draft_is_cut_off():
    parts = [0, 0, 0, 0, 1, 1, 1, 1, 7]
    names = ("left", "right")
    draft = draft_of(np.concatenate([cube(), [[np.nan] * 3]]), CUBE_FACES, part_ids=parts, part_names=names)
    mended, _ = repair(draft)
    assert mended.part_names == names
    assert mended.face_count == 12


@pytest.mark.parametrize(
    ("vertices", "faces"),
    [
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.full((3, 3), np.nan), [[0, 1, 2]]),
        (np.zeros((3, 3)), [[0, 1, 2]]),
        (cube(), [[0, 1, 99]]),
    ],
    ids=["empty", "nan", "point", "index"],
)
def test_nothing_left_is_one_sentence(vertices, faces):
    draft = draft_of(vertices, faces)
    assert not diagnose(draft).is_repairable
    with pytest.raises(MeshError, match="Nothing of"):
        mend(draft)


coordinate = st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.5, np.nan, np.inf, 1e-5, 1e300])


@st.composite
def drafts(draw):
    count = draw(st.integers(1, 9))
    vertices = np.array(draw(st.lists(st.tuples(coordinate, coordinate, coordinate), min_size=count, max_size=count)))
    corner = st.integers(-1, count)
    faces = draw(st.lists(st.tuples(corner, corner, corner), min_size=1, max_size=14))
    scale, far = draw(st.sampled_from([1.0, 1e-6, 1e7])), draw(st.sampled_from([0.0, 1e6]))
    parts = np.array(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    draft = draft_of([[0.0, 0.0, 0.0]], [[0, 0, 9]])
    put = {
        "vertices": vertices * scale + far,
        "faces": np.array(faces),
        "part_ids": draw(st.sampled_from([None, parts])),
    }
    for name, value in put.items():
        object.__setattr__(draft, name, value)
    return draft


@settings(max_examples=150, deadline=None)
@given(drafts())
def test_a_second_visit_changes_nothing_and_the_doctor_never_stumbles(draft):
    before = diagnose(draft)
    assert {problem.kind for problem in before.problems} <= set(KINDS)
    try:
        mended, _ = repair(draft)
    except MeshError:
        return
    again, notes = repair(mended)
    assert notes == []
    assert again is mended
    after = diagnose(mended)
    assert after.is_usable
    assert {problem.kind for problem in after.problems} <= {"holes", "non_manifold_edges", "inconsistent_winding"}


def test_repair_keeps_labels_and_looks():
    looks = (Surface("wood"), Surface("metal"))
    mesh = Mesh(
        np.concatenate([cube(), cube((3, 0, 0)), [[5, 5, 5]]]),
        np.concatenate([CUBE_FACES, CUBE_FACES + 8]),
        uv=np.arange(34).reshape(17, 2),
        part_ids=[0] * 8 + [1] * 9,
        part_names=("body", "lid"),
        surfaces=looks,
        face_surfaces=[0] * 12 + [1] * 12,
        up="z",
        unit=0.01,
        name="box",
    )
    mended, _ = repair(mesh)
    assert (mended.part_names, mended.surfaces, mended.up, mended.unit) == (("body", "lid"), looks, "z", 0.01)
    np.testing.assert_array_equal(mended.uv, mesh.uv[:16])
    np.testing.assert_array_equal(mended.face_surfaces, mesh.face_surfaces)
    assert replace(mended, name="other").name == "other"
