"""The soft families: engine, embedding, and one clip of each family."""

import numpy as np
import pytest

from neurok.errors import NeurokError
from neurok.geometry.level_set import surface_nets
from neurok.geometry.topology import is_watertight
from neurok.modelling.shapes import box, sphere
from neurok_lab.worlds.soft import SOFT_FAMILIES, generate, make_soft
from neurok_lab.worlds.soft.checks import VERTEX_RANGE
from neurok_lab.worlds.soft.grids import SheetGrid, lattice_of, smooth_weights, thicken
from neurok_lab.worlds.soft.scene import GRAVITY, Flex, FlexScene
from neurok_lab.worlds.soft.stems import StemBuilder

pytest.importorskip("mujoco")


def first_good(name: str, seed: int, tries: int = 4):
    for index in range(tries):
        asset, _ = generate(name, seed, index)
        if asset is not None:
            return asset
    pytest.fail(f"{tries} members of {name} in a row were rejected")


@pytest.mark.parametrize("seed", [11, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(SOFT_FAMILIES))
def test_every_family_makes_a_clip_that_passes_and_says_what_it_is(name, seed):
    asset = first_good(name, seed)
    clip = asset.clips[0]
    assert VERTEX_RANGE[0] <= clip.rest.vertex_count <= VERTEX_RANGE[1]
    assert clip.fps == 24.0
    assert 24 <= clip.frame_count <= 40
    assert clip.rest.part_ids is not None
    assert clip.rest.part_names
    assert asset.materials is not None
    assert len(asset.materials.ids) == clip.rest.vertex_count
    assert {"family", "category", "engine", "excitation", "license", "source", "seed"} <= set(asset.provenance)
    assert asset.provenance["family"] == name


@pytest.mark.parametrize("name", ["potted_plant", "pendant_lamp"])
def test_the_same_seed_and_index_give_the_same_bytes(name):
    index = next(i for i in range(5) if generate(name, 3, i)[0] is not None)
    first, second = generate(name, 3, index)[0], generate(name, 3, index)[0]
    other = make_soft(name, np.random.default_rng(index + 100))
    assert first.clips[0].positions.tobytes() == second.clips[0].positions.tobytes()
    assert first.mesh.vertices.tobytes() == second.mesh.vertices.tobytes()
    assert other.clips[0].positions.tobytes() != first.clips[0].positions.tobytes()


def test_an_unknown_family_is_named_together_with_the_known_ones():
    with pytest.raises(NeurokError, match=r"no soft family 'rock'.*flag"):
        generate("rock", 0, 0)


def test_a_free_sheet_falls_as_the_closed_form_says():
    grid = SheetGrid(4, 4)
    u, v = grid.parameters.T
    flex = Flex(np.stack([u, 0 * u + 5.0, v], -1), grid.triangles, mass=0.2, young=1e5)
    heights = FlexScene((flex,)).run(12, substeps=10).nodes[0][..., 1].mean(axis=1)
    steps = np.arange(12) * 10
    dt = 1 / 240
    # Semi-implicit Euler: after n steps the fall is g dt^2 n (n + 1) / 2.
    np.testing.assert_allclose(heights, 5.0 - GRAVITY * dt**2 * steps * (steps + 1) / 2, atol=1e-6)


def test_driven_nodes_follow_their_path():
    grid = SheetGrid(4, 4)
    u, v = grid.parameters.T
    nodes = np.stack([v, 1.0 - u, 0 * u], -1)
    held = np.arange(4)
    path = lambda t: nodes[held] + [0.0, 0.0, 0.1 * np.sin(3 * t)]  # noqa: E731
    frames = FlexScene((Flex(nodes, grid.triangles, 0.2, 1e5, driven=held, motion=path),)).run(20).nodes[0]
    for k, frame in enumerate(frames):
        np.testing.assert_allclose(frame[held], path(k / 24.0), atol=2e-4)


def test_a_stem_without_load_stays_and_swings_at_its_own_rate_when_held_up():
    # A rigid bar on a spring: omega^2 = stiffness / (m l^2 / 3), gravity balanced.
    length, mass, rate = 0.5, 0.3, 1.0
    inertia = mass * length**2 / 3
    stems = StemBuilder()
    stems.add(
        np.array([[0.0, 0.0, 0.0], [0.0, length, 0.0]]),
        radius=1e-4,
        mass=mass,
        stiffness=inertia * (2 * np.pi * rate) ** 2,
        damping=0.0,
    )
    still = FlexScene(rods=stems.build(carries_weight=False)).run(10).links
    np.testing.assert_allclose(still, np.broadcast_to(np.eye(4), still.shape), atol=1e-6)

    kick = lambda t, x, v: np.array([[2.0 if t < 0.02 else 0.0, 0.0, 0.0]])  # noqa: E731
    links = FlexScene(rods=stems.build(carries_weight=False, force=kick)).run(60, substeps=40).links
    lean = links[:, 0, 0, 1]
    crossings = np.flatnonzero(np.diff(np.sign(lean[2:])) != 0)
    period = 2 * np.diff(crossings).mean() / 24.0
    assert period == pytest.approx(1.0 / rate, rel=0.06)


def test_a_refined_sheet_passes_through_its_points_and_keeps_affine_maps():
    grid = SheetGrid(5, 7)
    rng = np.random.default_rng(0)
    coarse = rng.normal(size=(35, 3))
    fine = grid.refine(coarse, 3).reshape(13, 19, 3)
    np.testing.assert_allclose(fine[::3, ::3].reshape(-1, 3), coarse, atol=1e-12)
    flat = np.concatenate([grid.parameters, np.zeros((35, 1))], axis=1) @ rng.normal(size=(3, 3))
    expected = np.concatenate([grid.refined(3).parameters, np.zeros((247, 1))], axis=1)
    back = np.linalg.lstsq(expected[:, :2], grid.refine(flat, 3), rcond=None)
    assert back[1].sum() < 1e-20


def test_a_thickened_sheet_is_closed_and_has_its_thickness():
    grid = SheetGrid(4, 5)
    u, v = grid.parameters.T
    positions, faces = thicken(np.stack([u, v, 0 * u], -1)[None], grid.triangles, 0.1)
    x = positions[0]
    assert is_watertight(faces)
    volume = np.einsum("fi,fi->", x[faces[:, 0]], np.cross(x[faces[:, 1]], x[faces[:, 2]])) / 6
    assert volume == pytest.approx(0.1)


def test_the_lattice_of_a_box_fills_it_without_overlap():
    block = box((0.8, 0.4, 0.6), (0.1, 0.2, 0.3))
    solid = lattice_of(block.vertices, block.faces)
    sides = solid.nodes[solid.tetrahedra[:, 1:]] - solid.nodes[solid.tetrahedra[:, :1]]
    assert np.linalg.det(sides).min() > 0
    assert solid.volume == pytest.approx(0.8 * 0.4 * 0.6, rel=0.02)
    assert len(solid.nodes) <= 320
    assert len(solid.components()) == 1


def test_the_lattice_of_two_balls_has_two_pieces_and_nearly_their_volume():
    balls = [sphere(0.2, 32, 20).move(x) for x in (0.0, 1.0)]
    faces = np.concatenate([balls[0].faces, balls[1].faces + len(balls[0].vertices)])
    solid = lattice_of(np.concatenate([b.vertices for b in balls]), faces)
    assert len(solid.components()) == 2
    assert 0.7 < solid.volume / (2 * 4 / 3 * np.pi * 0.2**3) < 1.05
    middle = np.where(solid.nodes[:, :1] < 0.5, 0.0, 1.0) * [1.0, 0.0, 0.0]
    assert np.linalg.norm(solid.nodes - middle, axis=1).max() < 0.2 + 1e-9


def test_smooth_weights_are_exact_for_affine_motion():
    rng = np.random.default_rng(1)
    nodes, points = rng.uniform(size=(60, 3)), rng.uniform(0.2, 0.8, size=(40, 3))
    matrix, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    weights = smooth_weights(nodes, points)
    np.testing.assert_allclose(weights @ (nodes @ matrix + shift), points @ matrix + shift, atol=2e-4)


def test_surface_nets_find_a_sphere():
    def field(x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(x - [0.1, 0.2, 0.3], axis=1) - 0.5

    x, faces = surface_nets(field, np.array([[-0.4, -0.3, -0.2], [0.6, 0.7, 0.8]]), 0.1)
    assert is_watertight(faces)
    np.testing.assert_allclose(np.linalg.norm(x - [0.1, 0.2, 0.3], axis=1), 0.5, atol=1e-3)
    centered = x - [0.1, 0.2, 0.3]
    volume = np.einsum("fi,fi->", centered[faces[:, 0]], np.cross(centered[faces[:, 1]], centered[faces[:, 2]])) / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.05)
