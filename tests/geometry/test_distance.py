import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurok.errors import NeurokError
from neurok.geometry.distance import chamfer_l1, chamfer_l2, closest_barycentric, closest_point, volumetric_iou

CUBE_VERTICES = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def brute_force(points, vertices, faces):
    """Every point against every triangle."""
    best = np.full(len(points), np.inf)
    for face in faces:
        triangle = np.broadcast_to(vertices[face], (len(points), 3, 3))
        landed = np.einsum("nk,nkd->nd", closest_barycentric(points, triangle), triangle)
        best = np.minimum(best, np.linalg.norm(landed - points, axis=1))
    return best


def random_mesh(seed):
    """Triangles of very different sizes, thin and degenerate ones among them."""
    rng = np.random.default_rng(seed)
    centers, sizes = rng.normal(size=(60, 1, 3)), np.exp(rng.normal(-2, 1.5, size=(60, 1, 1)))
    corners = centers + sizes * rng.normal(size=(60, 3, 3)) * [1, 1, rng.choice([0.0, 1.0])]
    corners[0] = corners[0, :1]
    return corners.reshape(-1, 3), np.arange(180).reshape(-1, 3)


def test_distances_from_a_cube_match_the_closed_form():
    points = np.random.default_rng(0).uniform(-2, 3, size=(200, 3))
    outside = np.linalg.norm(np.maximum(np.maximum(-points, points - 1.0), 0.0), axis=1)
    inside = np.minimum(points, 1.0 - points).min(axis=1)
    expected = np.where(outside > 0, outside, np.abs(inside))
    near = closest_point(points, CUBE_VERTICES, CUBE_FACES)
    np.testing.assert_allclose(near.distances, expected, atol=1e-12)
    corners = CUBE_VERTICES[CUBE_FACES[near.face_ids]]
    np.testing.assert_allclose(np.einsum("nk,nkd->nd", near.barycentric, corners), near.points, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_the_search_finds_what_brute_force_finds(seed):
    vertices, faces = random_mesh(seed)
    points = np.random.default_rng(seed + 1).normal(size=(50, 3))
    near = closest_point(points, vertices, faces)
    np.testing.assert_allclose(near.distances, brute_force(points, vertices, faces), rtol=1e-9, atol=1e-9)
    assert near.barycentric.min() >= 0
    np.testing.assert_allclose(near.barycentric.sum(axis=1), 1.0)


def test_a_point_sees_only_its_own_group():
    vertices = np.concatenate([CUBE_VERTICES, CUBE_VERTICES + [10, 0, 0]])
    faces, groups = np.concatenate([CUBE_FACES, CUBE_FACES + 8]), np.repeat([3, 5], 12)
    points = np.full((2, 3), 0.5) - [1.0, 0, 0]
    near = closest_point(points, vertices, faces, np.array([3, 5]), groups)
    np.testing.assert_allclose(near.distances, [0.5, 10.5])


def test_a_mesh_without_faces_is_refused():
    with pytest.raises(NeurokError, match="need a mesh with faces"):
        closest_point(np.zeros((1, 3)), CUBE_VERTICES, np.zeros((0, 3), dtype=np.int64))


def test_chamfer_distances_of_two_shifted_lines_match_their_definition():
    line = np.stack([np.arange(10.0), np.zeros(10), np.zeros(10)], axis=1)
    other = line + [0.0, 0.3, 0.4]
    assert chamfer_l1(line, other) == pytest.approx(0.5)
    assert chamfer_l2(line, other) == pytest.approx(0.25)
    # One extra point 5 away: one direction stays, the other becomes (10 * 0 + 5) / 11.
    far = np.concatenate([line, [[-5.0, 0.0, 0.0]]])
    assert chamfer_l1(line, far) == pytest.approx(0.5 * 5 / 11)
    assert chamfer_l2(line, far) == pytest.approx(0.5 * 25 / 11)


def test_chamfer_needs_points():
    with pytest.raises(NeurokError, match="at least one point"):
        chamfer_l1(np.zeros((0, 3)), np.zeros((1, 3)))


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 1.0), (0.5, 1 / 3), (1.0, 0.0), (2.0, 0.0)])
def test_shifted_cubes_overlap_as_their_intervals_do(shift, expected):
    moved = CUBE_VERTICES + [shift, 0.0, 0.0]
    # The box of both is 1 + shift long: this many cells make their borders fall on cell borders.
    iou = volumetric_iou((CUBE_VERTICES, CUBE_FACES), (moved, CUBE_FACES), resolution=int(40 * (1 + shift)))
    assert iou == pytest.approx(expected, abs=1e-12)


def test_a_cube_in_a_cube_and_a_cavity_fill_their_volumes():
    inner = CUBE_VERTICES * 0.5 + 0.25
    assert volumetric_iou((CUBE_VERTICES, CUBE_FACES), (inner, CUBE_FACES)) == pytest.approx(1 / 8, abs=1e-12)
    hollow = np.concatenate([CUBE_VERTICES, inner]), np.concatenate([CUBE_FACES, CUBE_FACES[:, ::-1] + 8])
    assert volumetric_iou((CUBE_VERTICES, CUBE_FACES), hollow) == pytest.approx(7 / 8, abs=1e-12)


def test_overlapping_pieces_count_once():
    doubled = np.concatenate([CUBE_VERTICES, CUBE_VERTICES]), np.concatenate([CUBE_FACES, CUBE_FACES + 8])
    assert volumetric_iou((CUBE_VERTICES, CUBE_FACES), doubled) == pytest.approx(1.0)


def test_a_ball_fills_its_share_of_the_box():
    import trimesh

    sphere = trimesh.creation.icosphere(4, 0.5)
    ball = np.array(sphere.vertices) + 0.5, np.array(sphere.faces)
    assert volumetric_iou(ball, (CUBE_VERTICES, CUBE_FACES)) == pytest.approx(np.pi / 6, abs=0.005)


def test_a_box_without_its_lid_still_has_an_inside():
    lidless = CUBE_FACES[2:]
    assert volumetric_iou((CUBE_VERTICES, CUBE_FACES), (CUBE_VERTICES, lidless)) == pytest.approx(1.0)


def test_sheets_have_a_volume_only_as_shells():
    sheet = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]])
    lifted = sheet[0] + [0, 0, 0.5], sheet[1]
    assert volumetric_iou(sheet, sheet) == 0.0
    assert volumetric_iou(sheet, sheet, shell=True) == 1.0
    assert volumetric_iou(sheet, lifted, shell=True) == 0.0
