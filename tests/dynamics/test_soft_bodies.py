"""Soft things give way and spring back; stiff ones do neither."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from neurok.core import Articulation, Joint, Material, MaterialField, Mesh, material
from neurok.dynamics import Body, Condition, Ground, Start, World, simulate
from neurok.dynamics.colliders import HalfSpace
from neurok.dynamics.masses import face_thickness
from neurok.dynamics.particles.binding import bind
from neurok.dynamics.reduced import ReducedEngine
from neurok.dynamics.reduced.config import DEFAULTS
from neurok.dynamics.reduced.contact import PointSet
from neurok.dynamics.reduced.equations import FeatureMechanics
from neurok.dynamics.reduced.search import Clearance, _foremost, corner_bounds
from neurok.dynamics.soft import SoftConfig, as_built, soften
from neurok.geometry.even_triangles import split_long_edges
from neurok.inference.materials import soft_share
from neurok.kinematics.elastic import ElasticSpaceConfig
from neurok.kinematics.lattice import LatticeConfig
from neurok.modelling import shapes

NOTHING = World(gravity=(0.0, 0.0, 0.0))
COARSE = SoftConfig(space=ElasticSpaceConfig(modes=8, lattice=LatticeConfig(cells=120, most_cells=400)))
JELLY = Material("jelly", young=2e4, poisson=0.3, density=300.0, damping_ratio=0.05)


def ball(stuff: Material, **fields) -> Body:
    made = shapes.sphere(0.2, 16, 12)
    mesh = Mesh(made.vertices, made.faces)
    return Body.of(mesh, materials=MaterialField.uniform(stuff, mesh.vertex_count), free=True, **fields)


def strip(stuff: Material, length: float = 0.5, height: float = 0.02) -> tuple[Body, np.ndarray]:
    """A horizontal strip, and the vertices of its left end."""
    made = shapes.box((length, height, 0.1), (length / 2, 0.0, 0.0))
    mesh = Mesh(made.vertices, made.faces)
    return Body.of(mesh, materials=MaterialField.uniform(stuff, 8)), np.flatnonzero(mesh.vertices[:, 0] < 1e-9)


@pytest.mark.parametrize(("name", "soft"), [("steel", False), ("oak", False), ("glass", False), ("memory foam", True)])
def test_what_is_soft_follows_from_the_material(name, soft):
    body = soften(ball(material(name)), config=COARSE)
    assert (body.poses.stiffness is not None) == soft
    assert (soft_share(body.mesh, body.stuff) > 0.5) == soft


def test_softness_is_a_matter_of_shape_too():
    rubber = replace(JELLY, young=5e7)
    thick, thin = soften(*strip(rubber, 0.2, 0.1), config=COARSE), soften(*strip(rubber, 0.5, 0.005), config=COARSE)
    assert thick.poses.stiffness is None
    assert thin.poses.stiffness is not None


def two_boxes(*made_of: Material) -> Body:
    """Two boxes side by side, the second on a hinge of the first."""
    made = shapes.box((0.2, 0.2, 0.2))
    mesh = Mesh(
        np.concatenate([made.vertices, made.vertices + [0.21, 0, 0]]),
        np.concatenate([made.faces, made.faces + len(made.vertices)]),
        part_ids=np.repeat([0, 1], len(made.vertices)),
        part_names=("a", "b"),
    )
    hinge = Joint("revolute", 0, axis=(0.0, 0.0, 1.0), origin=(0.1, 0.0, 0.0), lower=0.0, upper=1.0)
    field = MaterialField(made_of, np.repeat([0, 1], len(made.vertices)))
    return Body.of(Articulation(mesh, (Joint(), hinge)), materials=field)


def test_a_soft_part_yields_on_its_joint_and_the_hard_one_that_carries_it_does_not():
    hard = two_boxes(material("oak"), material("steel"))
    assert soften(hard) is hard
    space = soften(two_boxes(material("oak"), JELLY), config=COARSE).poses
    assert space.rigid_joints.dof == 1
    assert space.dim > 1
    moved = space.positions(np.concatenate([[0.0], 0.5 * space.screws.reach]))
    away = np.linalg.norm(moved - space.rest.vertices, axis=1).reshape(2, -1)
    assert away[0].max() < 1e-12 < 1e-3 < away[1].max()


def test_hard_pieces_of_a_soft_object_move_as_rigid_ones():
    ball = shapes.sphere(0.2, 16, 12)
    mesh = Mesh(ball.vertices, ball.faces)
    steel = mesh.vertices[:, 1] < -0.1
    body = Body.of(mesh, materials=MaterialField((JELLY, material("steel")), steel.astype(int)), free=True)
    space = soften(body, config=COARSE).poses
    moved, rest = space.positions(0.5 * space.reach), mesh.vertices
    assert np.abs(pdist(moved[steel]) - pdist(rest[steel])).max() < 1e-9
    assert np.abs(pdist(moved[~steel]) - pdist(rest[~steel])).max() > 1e-2


def towel(**fields) -> tuple[Body, np.ndarray]:
    """A folded towel, and the vertices of its left edge."""
    made = shapes.box((0.24, 0.02, 0.16), (0.12, 0.0, 0.0))
    mesh = Mesh(*split_long_edges(made.vertices, made.faces, 0.03))
    field = MaterialField.uniform(material("cotton"), mesh.vertex_count)
    return Body.of(mesh, materials=field, **fields), np.flatnonzero(mesh.vertices[:, 0] < 1e-9)


@pytest.mark.slow
def test_a_pinned_towel_hangs_and_is_not_stretched():
    body, left = towel()
    soft = replace(soften(body, left), damping=10.0)
    x = simulate(soft, seconds=1.5).positions[-1]
    tip = body.mesh.vertices[:, 0] > 0.23
    assert x[tip, 1].mean() < -0.15  # a springboard of solid cotton sinks by a millimetre
    assert np.linalg.norm(x[tip].mean(axis=0) - x[left].mean(axis=0)) == pytest.approx(0.24, rel=0.15)


def test_layers_that_slide_bend_as_so_many_sheets():
    body, _ = towel()
    cotton = material("cotton")
    sheets = face_thickness(body)[0] * 2.0 / cotton.thickness
    assert as_built(body).young[0] == pytest.approx(cotton.young / sheets**2, rel=1e-6)


@pytest.mark.parametrize("name", ["cotton", "stuffing", "rubber", "leaf", "leather", "steel", "oak", "abs", "ceramic"])
def test_both_engines_hold_the_same_things_for_soft(name):
    made = shapes.box((0.6, 0.004, 0.4))
    mesh = Mesh(made.vertices, made.faces)
    body = Body.of(mesh, materials=MaterialField.uniform(material(name), mesh.vertex_count), free=True)
    reduced = soften(body, config=COARSE).poses.stiffness is not None
    particles = bool((bind([body], World()).particles.rigid < 0).any())
    assert reduced == particles == material(name).is_soft


def test_a_clamped_strip_sags_under_its_weight_as_the_beam_formula_says():
    stuff = replace(JELLY, young=5e6, density=100.0)
    body, left = strip(stuff)
    body = replace(soften(body, left, anyway=True), damping=30.0)
    sunk = body.mesh.vertices - simulate(body, seconds=1.5).positions[-1]
    tip = body.mesh.vertices[:, 0] > 0.49
    weight = stuff.density * 9.81 * 0.1 * 0.02
    expected = weight * 0.5**4 / (8 * stuff.young * 0.1 * 0.02**3 / 12)
    assert sunk[tip, 1].mean() == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
def test_a_hanging_cloth_droops_as_the_heavy_elastica():
    """Large droop: the angle of a strip under its own weight, from the differential equation of the elastica."""
    from scipy.integrate import solve_bvp

    length, thickness, density, young = 0.3, 0.002, 200.0, 5e7
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    mesh = Mesh([[0, 0, -0.05], [length, 0, -0.05], [length, 0, 0.05], [0, 0, 0.05]], faces)
    cloth = Material("cloth", young=young, poisson=0.0, density=density)
    body = Body.of(mesh, materials=MaterialField.uniform(cloth, 4), thickness=thickness)
    body = replace(soften(body, np.array([0, 3]), anyway=True), damping=30.0)
    found = -simulate(body, seconds=2.0).positions[-1][[1, 2], 1].mean()
    load = density * thickness * 9.81 / (young * thickness**3 / 12)

    def bend(s, y):
        return np.stack([y[1], -load * (length - s) * np.cos(y[0])])

    s = np.linspace(0, length, 50)
    angle = solve_bvp(bend, lambda a, b: np.array([a[0], b[1]]), s, np.zeros((2, 50))).sol(s)[0]
    droop = float(np.trapezoid(np.sin(-angle), s)) if angle[-1] < 0 else float(np.trapezoid(np.sin(angle), s))
    assert 0.2 * length < abs(droop) < 0.7 * length
    assert found == pytest.approx(abs(droop), rel=0.05)


def test_free_vibration_keeps_its_energy():
    body, left = strip(replace(JELLY, damping_ratio=0.0))
    body = soften(body, left, anyway=True, config=COARSE)
    start = np.zeros(body.poses.dim)
    start[0] = 0.3 * body.poses.reach[0]
    rollout = simulate(replace(body, condition=Condition(Start(q=start))), NOTHING, seconds=2.0)
    assert rollout.report["energy_drift"] < 0.01


@pytest.mark.slow
def test_a_pushed_strip_sways_and_comes_back():
    body, left = strip(replace(JELLY, young=5e5, damping_ratio=0.2))
    body = soften(body, left, anyway=True, config=COARSE)
    start = np.zeros(body.poses.dim)
    start[0] = 0.5 * body.poses.reach[0]
    q = simulate(replace(body, condition=Condition(Start(q=start))), NOTHING, seconds=4.0).q[:, 0] / start[0]
    assert q.min() < -0.1
    assert np.abs(q[-10:]).max() < 0.2


@pytest.mark.slow
def test_a_dropped_ball_squashes_and_recovers_and_gains_no_energy():
    place = np.eye(4)
    place[1, 3] = 0.4
    body = soften(ball(JELLY, placement=place), config=COARSE)
    rollout = simulate(body, World(ground=Ground(0.0)), seconds=1.5)
    heights = np.ptp(rollout.positions[:, :, 1], axis=1)
    assert rollout.status == "ok"
    assert heights.min() < 0.95 * heights[0]
    assert heights[-1] > 0.96 * heights[0] - 2 * body.poses.sag * body.mesh.size
    total = np.sum([rollout.energies[name] for name in rollout.energies], axis=0)
    assert (np.diff(total) < 0.01 * total[0]).all()
    assert rollout.report["max_penetration"] < 0.005 * body.mesh.size


def test_of_each_patch_the_one_that_stands_for_it_and_the_lowest_touch():
    patches = np.array([0, 0, 0, 3, 3, 3, 6, 6])
    points = PointSet(0, None, np.zeros(8), np.full(8, -1), patches)
    heights = np.array([0.3, 0.1, 0.2, 0.05, 0.4, 0.9, 0.8, 0.9])
    near = [np.flatnonzero(heights <= reach) for reach in (0.5, 0.25, 0.0)]
    assert sorted(_foremost(points, near[0], heights[near[0]])) == [0, 1, 3]
    assert sorted(_foremost(points, near[1], heights[near[1]])) == [1, 3]
    assert sorted(_foremost(replace(points, patches=None), near[1], heights[near[1]])) == [1, 2, 3]
    assert len(_foremost(points, near[2], heights[near[2]])) == 0


def test_all_that_may_have_come_near_is_asked_again():
    body = soften(ball(JELLY), anyway=True, config=COARSE)
    mechanics = FeatureMechanics.of(body.poses, np.full(body.mesh.vertex_count, 0.01), free=True)
    points = PointSet(
        0,
        mechanics.points(np.arange(body.mesh.vertex_count)),
        np.zeros(body.mesh.vertex_count),
        np.full(body.mesh.vertex_count, -1),
    )
    plane, rng = HalfSpace(np.array([0.0, 1.0, 0.0]), -0.1), np.random.default_rng(5)
    clearance, q = Clearance(points, [plane]), np.zeros(mechanics.dim)
    span = np.concatenate([np.ones(6), body.poses.reach])
    start = mechanics.motion(np.eye(4), q[None], q[None]).y[0]
    for size in (0.0, 1e-3, 1e-2, 0.1, 1e-3, 0.3, 1e-2):
        q = q + size * span * rng.normal(size=len(q))
        motion = mechanics.motion(np.eye(4), q[None], span * rng.normal(size=(1, len(q))))
        x, v = points.points.positions(motion)[0], points.points.velocities(motion)[0]
        heights = np.minimum(x @ plane.normal, (x + 0.01 * v) @ plane.normal) + 0.1
        np.testing.assert_allclose(points.points.lowest(motion, plane.normal, 0.01) + 0.1, heights, atol=1e-12)
        assert clearance.near(motion, 0.01, 0.02).tolist() == np.flatnonzero(heights <= 0.02).tolist()
        assert corner_bounds(*clearance._corners, clearance._plane, motion.y[0], motion.rate[0], 0.01, start)[0] <= (
            heights.min() + 1e-12
        )
        moved = points.points._select((motion.y[0] - start)[None])[0]
        bound = corner_bounds(*clearance._corners, clearance._plane, motion.y[0], motion.rate[0], 0.0, start)[1]
        assert bound >= np.linalg.norm(moved, axis=1).max() - 1e-12


def test_vertices_between_the_contact_points_do_not_sink_in():
    place = np.eye(4)
    place[1, 3] = 0.25
    body = soften(ball(JELLY, placement=place), anyway=True, config=COARSE)
    contact = replace(DEFAULTS.contact, soft_points=24)
    engine = ReducedEngine(config=replace(DEFAULTS, contact=contact))
    rollout = simulate(body, World(ground=Ground(0.0)), seconds=0.4, engine=engine)
    assert rollout.report["max_penetration_share"] < 2e-3
