from dataclasses import replace

import numpy as np
import pytest

import neurok
from neurok.catalogue.samples import make_sample
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.geometry.level_set import surface_nets
from neurok.geometry.lie import axis_angle_matrix
from neurok.geometry.sampling import sample_surface
from neurok.io import save
from neurok.kinematics import ArticulatedSpace, decode
from neurok.kinematics.screws import ScrewSpace
from neurok.model import understand
from neurok.modelling.shapes import box
from neurok.posing.pose import PoseConfig
from neurok.posing.verbs import pose, sample


@pytest.fixture(scope="module")
def laptop():
    return make_sample("laptop")


def points_of(mesh: Mesh, count: int = 3000) -> np.ndarray:
    return sample_surface(mesh.vertices, mesh.faces, count, np.random.default_rng(0)).interpolate(mesh.vertices)


def test_a_mesh_with_the_same_faces_is_met_vertex_by_vertex(laptop):
    wanted = laptop.articulation.pose([0.7])
    found = neurok.pose(laptop, target=wanted)
    assert found.q == pytest.approx([0.7], abs=1e-6)
    np.testing.assert_allclose(found.mesh(laptop.mesh).vertices, wanted.vertices, atol=1e-6)


@pytest.mark.slow
def test_points_an_array_file_and_another_mesh_give_the_same_pose(laptop, tmp_path):
    wanted = laptop.articulation.pose([0.7])
    np.save(tmp_path / "scan.npy", points_of(wanted))
    shuffled = Mesh(wanted.vertices, wanted.faces[::-1])
    for target in (points_of(wanted), tmp_path / "scan.npy", shuffled):
        assert pose(laptop, target=target).q == pytest.approx([0.7], abs=0.01)


def test_a_target_in_another_frame_and_unit_is_brought_to_that_of_the_object(laptop, tmp_path):
    wanted = laptop.articulation.pose([0.7]).in_frame("z", 0.001)
    save(wanted, tmp_path / "target.npz")
    for target in (wanted, tmp_path / "target.npz"):
        assert pose(laptop, target=target).q == pytest.approx([0.7], abs=1e-6)


def test_a_dragged_place_goes_to_its_point():
    cabinet = make_sample("cabinet")
    drawer = cabinet.mesh.part_names.index("drawer")
    middle = cabinet.mesh.vertices[cabinet.mesh.part_ids == drawer].mean(axis=0)
    found = pose(cabinet, move={"drawer": middle + [0.0, 0.0, 0.1]})
    assert found.residual < 1e-6
    assert found.vertices[cabinet.mesh.part_ids == drawer].mean(axis=0) == pytest.approx(middle + [0, 0, 0.1])


@pytest.mark.slow
def test_spaces_at_hand_are_searched_and_the_simplest_that_fits_is_taken(laptop):
    space, twin = (ArticulatedSpace(laptop.articulation) for _ in range(2))
    wanted = laptop.articulation.pose([0.7])
    assert pose(laptop.mesh, target=wanted, spaces=[space, twin]).space is space
    jointed, wide = understand(laptop).spaces_for("learned", deform=True)
    far = points_of(laptop.mesh.with_vertices(decode(wide, 2.0 * wide.sample(1, seed=2)[0])))
    for tolerance, expected in ((1e6, jointed), (-1.0, wide)):
        config = PoseConfig(tolerance=tolerance)
        assert pose(laptop, target=far, spaces=[jointed, wide], config=config).space is expected


@pytest.mark.slow
def test_a_dragged_place_may_miss_a_fifth_of_its_way_along_joints(laptop):
    """The screen is pulled where no hinge takes it: the wide space is taken only if a fifth of the way is too much."""
    jointed, wide = understand(laptop).spaces_for("learned", deform=True)
    screen = laptop.mesh.vertices[laptop.mesh.part_ids == laptop.mesh.part_names.index("screen")].mean(axis=0)
    move = {"screen": screen + [0.0, 0.02, 0.0]}
    for tolerance, expected in ((1e6, jointed), (-1.0, wide)):
        config = PoseConfig(drag_tolerance=tolerance)
        assert pose(laptop, move=move, spaces=[jointed, wide], config=config).space is expected


@pytest.mark.slow
def test_a_partial_target_leaves_alone_what_it_does_not_show():
    cabinet = make_sample("cabinet")
    q = np.array([-1.0, 1.0, 0.0, 0.0, 0.0])
    points = points_of(cabinet.articulation.pose(q), 6000)
    found = pose(cabinet, target=points[points[:, 0] < -0.1], partial=True)
    np.testing.assert_allclose(found.q, [-1.0, 0.0, 0.0, 0.0, 0.0], atol=0.05)


def boxes_that_slide(along: int = 0) -> ScrewSpace:
    """Two boxes; the upper one slides along an axis."""
    parts = [box((1.0, 0.3, 0.6)).vertices, box((0.5, 0.1, 0.4)).vertices + [0.0, 0.5, 0.0]]
    faces = box((1.0, 0.3, 0.6)).faces
    count = len(parts[0])
    mesh = Mesh(np.concatenate(parts), np.concatenate([faces, faces + count]))
    screws = np.zeros((2, 6, 1))
    screws[1, 3 + along, 0] = 0.2
    centers = np.array([[0.0, 0, 0], [0.0, 0.5, 0]])
    return ScrewSpace(mesh, np.repeat(np.eye(2), count, axis=0), centers, screws)


@pytest.mark.slow
def test_a_pose_as_close_as_points_can_tell_is_neither_sought_wider_nor_refined():
    """The wider space has no finite pose: asking it would fail."""
    space = boxes_that_slide()
    unasked = replace(space, screws=np.full_like(space.screws, np.nan))
    target = points_of(space.rest.with_vertices(decode(space, np.array([0.8]))), 10_000)
    for refine in (False, True):
        found = pose(space.rest, target=target, deform=refine, spaces=[space, unasked], seed=1)
        assert found.is_close
        assert found.q == pytest.approx([0.8], abs=0.03)
    with pytest.raises(ValueError, match="finite"):
        pose(space.rest, target=target, spaces=[boxes_that_slide(along=1), unasked], seed=1)


@pytest.mark.slow
def test_refining_comes_closer_than_the_space_can():
    """The space lets the upper box slide along x alone, and the target shows it turned as well."""
    space = boxes_that_slide()
    mesh, lower, upper = space.rest, *np.split(space.rest.vertices, 2)
    turn = axis_angle_matrix(np.array([0.0, 1.0, 0.0]), 0.25)
    middle = [0.0, 0.5, 0.0]
    wanted = np.concatenate([lower, (upper - middle) @ turn.T + middle + [0.1, 0.05, 0.05]])
    target = points_of(mesh.with_vertices(wanted), 6000)
    plain, close = (pose(mesh, target=target, deform=refine, spaces=[space]) for refine in (False, True))
    far, near = (np.linalg.norm(found.vertices - wanted, axis=1).mean() for found in (plain, close))
    assert near < 0.25 * far
    assert close.residual < plain.residual


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "either --target"),
        ({"target": np.zeros((20, 3)), "move": {"top": (0, 0, 0)}}, "either --target"),
        ({"move": {"top": (0, 0, 0)}, "deform": True}, "--deform"),
        ({"target": np.zeros((20, 3)), "deform": True, "partial": True}, "--partial"),
        ({"target": np.zeros((20, 2))}, "rows of three numbers"),
        ({"target": np.zeros((3, 3))}, "at least 10 finite"),
        ({"target": np.zeros((20, 3)), "spaces": []}, "give at least one"),
        ({"target": "nowhere.npy"}, "There is no file"),
        ({"move": {"nowhere": (0, 0, 0)}}, "nowhere"),
    ],
)
def test_impossible_wishes_get_a_sentence(laptop, words, sentence):
    with pytest.raises(NeurokError, match=sentence):
        pose(laptop, **words)


def test_samples_are_states_of_the_space_and_meshes_of_the_object(laptop):
    states = neurok.sample(laptop, 3, seed=4)
    assert len(states) == len(list(states)) == 3
    np.testing.assert_array_equal(states.q, states.space.sample(3, 4))
    for q, mesh in zip(states.q, states, strict=True):
        np.testing.assert_allclose(mesh.vertices, laptop.articulation.pose(q).vertices, atol=1e-9)
        assert mesh.part_names == laptop.mesh.part_names
    np.testing.assert_array_equal(states.q, sample("sample:laptop", 3, seed=4).q)
    with pytest.raises(NeurokError, match="1 to 10,000"):
        sample(laptop, 0)


def test_numbers_nobody_can_meet_are_refused(laptop, tmp_path):
    with pytest.raises(NeurokError, match="1 to 10,000"):
        sample(laptop, 10**8)
    with pytest.raises(NeurokError, match="further than"):
        pose(laptop, move={"top": (1e300, 0, 0)})
    np.save(tmp_path / "far.npy", np.full((50, 3), 1e300))
    (tmp_path / "empty.npy").touch()
    for name, word in (("far", "far away"), ("empty", "is empty")):
        with pytest.raises(NeurokError, match=word):
            pose(laptop, target=tmp_path / f"{name}.npy")


def test_what_is_hard_and_has_no_joint_is_bent_only_when_that_is_asked_for():
    solid = box((0.4, 0.2, 0.3))
    block = Mesh(solid.vertices, solid.faces, name="steel_block")
    leaning = block.vertices + [0.3, 0.0, 0.0] * block.vertices[:, 1:2]
    with pytest.raises(NeurokError, match="--deform"):
        pose(block, target=points_of(block.with_vertices(leaning)))


def scanned_laptop(angle: float) -> Mesh:
    """Base and lid as closed surfaces of small even triangles without names, as a scan is meshed anew."""
    turn = axis_angle_matrix(np.array([1.0, 0.0, 0.0]), np.radians(-angle))
    hinge = np.array([0.0, 0.02, -0.11])

    def distance(x: np.ndarray, centre: tuple, half: tuple) -> np.ndarray:
        outside = np.abs(x - np.array(centre)) - np.array(half)
        return np.linalg.norm(np.maximum(outside, 0.0), axis=1) + np.minimum(outside.max(axis=1), 0.0)

    def field(x: np.ndarray) -> np.ndarray:
        base = distance(x, (0.0, 0.009, 0.0), (0.16, 0.009, 0.11))
        lid = distance((x - hinge) @ turn, (0.0, 0.002, 0.11), (0.158, 0.005, 0.108))
        return np.minimum(base, lid)

    return Mesh(*surface_nets(field, np.array([[-0.2, -0.02, -0.26], [0.2, 0.26, 0.15]]), 0.005), name="laptop")


@pytest.mark.slow
def test_the_hinge_of_a_scan_turns_and_nothing_of_it_crumples():
    scan, wanted = scanned_laptop(100.0), scanned_laptop(60.0)
    found = pose(scan, target=points_of(wanted))
    edges = found.space.rest.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    lengths = [
        np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1) for x in (found.space.rest.vertices, found.vertices)
    ]
    assert found.status == "ok"
    np.testing.assert_allclose(lengths[1], lengths[0], atol=1e-6)
    assert abs(np.degrees(found.q[0])) == pytest.approx(40.0, abs=5.0)
