import numpy as np
import pytest

from neurok.core import Mesh
from neurok.inference.body_joints import body_joints
from neurok.inference.gather import Motions, gathered, metric
from neurok.modelling.shapes import Shape, slab
from neurok.samples import make_sample


def twist(axis: list[float], origin: list[float] | None = None) -> np.ndarray:
    """Turning about a line, or sliding along a direction, about the origin."""
    if origin is None:
        return np.concatenate([np.zeros(3), axis])
    return np.concatenate([axis, np.cross(origin, axis)])


def likeness(points: np.ndarray, one: np.ndarray, other: np.ndarray) -> float:
    """Cosine of two motions of points."""
    form = metric(points)
    return float(abs(one @ form @ other) / np.sqrt((one @ form @ one) * (other @ form @ other)))


def assembly(*shapes: Shape) -> tuple[Mesh, np.ndarray]:
    """Shapes as one mesh, and which of them each face belongs to."""
    starts = np.cumsum([0, *[len(s.vertices) for s in shapes]])
    faces = np.concatenate([s.faces + k for s, k in zip(shapes, starts[:-1], strict=True)])
    owner = np.repeat(np.arange(len(shapes)), [len(s.faces) for s in shapes])
    return Mesh(np.concatenate([s.vertices for s in shapes]), faces), owner


FRAME = slab((-0.5, 0.0, -0.5), (0.5, 1.0, 0.0))
DOOR = slab((-0.5, 0.0, 0.001), (0.5, 1.0, 0.05))
KNOB = slab((0.35, 0.45, 0.051), (0.42, 0.52, 0.12))


def noisy(true: np.ndarray, points: np.ndarray, noise: float) -> np.ndarray:
    """A prior that moves points by one along a twist, and by so much in each other way."""
    values, vectors = np.linalg.eigh(metric(points))
    return np.column_stack([true / np.sqrt(true @ metric(points) @ true), noise * vectors / np.sqrt(values)])


@pytest.mark.parametrize(("name", "part"), [("laptop", 1), ("cabinet", 1), ("cabinet", 3)])
def test_geometry_takes_the_noise_off_the_joint_that_the_prior_means(name, part):
    articulation = make_sample(name).articulation
    mesh, joint = articulation.mesh, articulation.joints[part]
    true = twist(list(joint.axis), None if joint.kind == "prismatic" else list(joint.origin))
    points = mesh.vertices[articulation.vertex_parts == part]
    screws = noisy(true, points, 0.3)
    bodies = np.where(mesh.face_parts == part, part, -1)
    (found,) = body_joints(Motions(Mesh(mesh.vertices, mesh.faces), bodies, {part: screws}, np.zeros(7)))
    draws = np.random.default_rng(0).normal(size=(100, 7)) @ screws.T
    assert np.mean([likeness(points, draw, true) for draw in draws]) < 0.8
    assert likeness(points, found.twist, true) > 0.98
    assert found.bodies == (part,)


def test_a_joint_has_the_pace_and_the_middle_of_the_prior_and_the_room_that_geometry_leaves():
    mesh, owner = assembly(FRAME, DOOR)
    hinge = twist([0.0, 1.0, 0.0], [-0.5, 0.0, 0.0])
    screws, middle = np.column_stack([0.4 * hinge, np.zeros(6)]), np.array([-2.0, 5.0])
    (found,) = body_joints(Motions(mesh, np.where(owner == 1, 3, -1), {3: screws}, middle))
    sign = np.sign(found.twist @ hinge)
    np.testing.assert_allclose(found.twist, sign * 0.4 * hinge, atol=0.03)
    assert found.middle == pytest.approx(-2.0 * sign, abs=0.1)
    low, high = sorted(np.rad2deg(0.4 * sign * np.array(found.limits)))
    assert (low, high) == pytest.approx((-90.0, 0.0), abs=6.0), "it opens towards +z and never into the frame"
    np.testing.assert_allclose(np.abs(found.latent), [1.0, 0.0], atol=1e-9)


def test_what_touches_only_a_moving_body_goes_with_it_whatever_is_said_of_it():
    mesh, owner = assembly(FRAME, DOOR, KNOB)
    bodies = np.where(owner == 0, -1, owner)
    screws = {1: twist([0.0, 1.0, 0.0], [-0.5, 0.0, 0.0])[:, None], 2: twist([1.0, 0.0, 0.0])[:, None]}
    found = gathered(Motions(mesh, bodies, screws, np.zeros(1)))
    assert found.members == {1: (1, 2)}
    np.testing.assert_array_equal(found.face_bodies, np.where(owner == 0, -1, 1))
    np.testing.assert_array_equal(found.screws[1], screws[1])


@pytest.mark.parametrize(("pace", "moves"), [(0.05, False), (0.3, True)])
def test_a_body_that_hardly_touches_the_frame_moves_if_it_is_lively(pace, moves):
    aside = slab((0.501, 0.45, -0.3), (1.2, 0.5, -0.25))
    mesh, owner = assembly(FRAME, DOOR, aside)
    slide = twist([0.0, 0.0, 1.0])[:, None]
    found = gathered(Motions(mesh, np.where(owner == 0, -1, owner), {1: slide, 2: pace * slide}, np.zeros(1)))
    assert (2 in found.screws) is moves


def test_a_body_that_is_all_set_in_the_frame_moves_only_if_it_is_among_the_liveliest():
    shelf = slab((-0.4, 0.3, -0.4), (0.4, 0.6, -0.003))
    hollow = [
        slab((-0.5, 0.0, -0.5), (-0.401, 1.0, 0.0)),
        slab((0.401, 0.0, -0.5), (0.5, 1.0, 0.0)),
        slab((-0.4, 0.0, -0.5), (0.4, 0.299, 0.0)),
        slab((-0.4, 0.601, -0.5), (0.4, 1.0, 0.0)),
    ]
    mesh, owner = assembly(*hollow, DOOR, shelf)
    bodies = np.where(owner < 4, -1, owner)
    slide = twist([0.0, 0.0, 1.0])[:, None]
    moving = lambda pace: set(gathered(Motions(mesh, bodies, {4: slide, 5: pace * slide}, np.zeros(1))).screws)  # noqa: E731
    assert moving(0.3) == {4}
    assert moving(1.0) == {4, 5}


def test_what_alone_carries_something_larger_belongs_to_the_frame():
    hinge = slab((-0.5, 0.4, 0.001), (-0.4, 0.6, 0.05))
    door = slab((-0.5, 0.0, 0.051), (0.5, 1.0, 0.1))
    mesh, owner = assembly(slab((-0.5, 0.0, -0.5), (0.5, 1.0, 0.0)), hinge, door)
    swing = twist([0.0, 1.0, 0.0], [-0.5, 0.0, 0.05])[:, None]
    found = gathered(Motions(mesh, np.where(owner == 0, -1, owner), {1: swing, 2: swing}, np.zeros(1)))
    assert set(found.screws) == {2}


def test_if_everything_moves_the_base_stands_still_and_the_others_move_beside_it():
    mesh, owner = assembly(FRAME, DOOR)
    one, two = twist([0.0, 0.0, 1.0])[:, None], twist([0.0, 1.0, 0.0], [-0.5, 0.0, 0.0])[:, None]
    found = gathered(Motions(mesh, owner, {0: one, 1: one + two}, np.zeros(1)))
    assert set(found.screws) == {1}
    np.testing.assert_allclose(found.screws[1], two)


def test_an_object_of_one_piece_has_no_joints():
    mesh, owner = assembly(FRAME)
    assert body_joints(Motions(mesh, owner, {0: twist([1.0, 0.0, 0.0])[:, None]}, np.zeros(1))) == []
    assert body_joints(Motions(mesh, np.full_like(owner, -1), {}, np.zeros(1))) == []


def test_a_still_crumb_without_surface_is_not_the_base():
    mesh, owner = assembly(FRAME, DOOR)
    faces = np.concatenate([mesh.faces, [[0, 0, 1]]])
    bodies = np.append(np.where(owner == 0, 0, 1), -1)
    swing = twist([0.0, 1.0, 0.0], [-0.5, 0.0, 0.0])[:, None]
    found = gathered(Motions(Mesh(mesh.vertices, faces), bodies, {0: 0.5 * swing, 1: swing}, np.zeros(1)))
    assert set(found.screws) == {1}
    np.testing.assert_allclose(found.screws[1], 0.5 * swing)


def test_a_thin_rod_that_turns_about_itself_does_not_spin():
    rod = slab((-0.5, 0.49, 0.001), (0.5, 0.51, 0.021))
    mesh, owner = assembly(FRAME, rod)
    spin = twist([1.0, 0.0, 0.0], [0.0, 0.5, 0.011])
    found = body_joints(Motions(mesh, np.where(owner == 0, -1, 1), {1: 30.0 * spin[:, None]}, np.zeros(1)))
    assert all(np.linalg.norm(joint.twist[:3]) <= 0.5 + 1e-9 for joint in found)
