"""What bends is solid to others, and others are to it."""

import numpy as np
import pytest

from neurok.core import Mesh
from neurok.dynamics import Body, Condition, Ground, Start, World, simulate_together
from neurok.dynamics.energies import Quadratic
from neurok.dynamics.reduced.build import mechanics_of
from neurok.dynamics.reduced.shapes import BendingSurface
from neurok.geometry import lie
from neurok.kinematics import LinearSpace
from neurok.modelling import shapes


def sheet(count: int = 13, size: float = 1.0, height: float = 0.5) -> Mesh:
    """A square sheet without thickness, level at a height."""
    line = np.linspace(-0.5 * size, 0.5 * size, count)
    x, z = np.meshgrid(line, line, indexing="ij")
    vertices = np.stack([x.ravel(), np.full(x.size, height), z.ravel()], axis=1)
    i = np.arange(count * count).reshape(count, count)
    a, b, c, d = i[:-1, :-1].ravel(), i[1:, :-1].ravel(), i[1:, 1:].ravel(), i[:-1, 1:].ravel()
    return Mesh(vertices, np.concatenate([np.stack([a, c, b], axis=1), np.stack([a, d, c], axis=1)]))


def bending(mesh: Mesh, rate: float, **fields) -> Body:
    """A body that bulges up and down in one mode, springing back at a rate [1/s]."""
    middle = mesh.vertices.mean(axis=0)
    away = ((mesh.vertices - middle)[:, [0, 2]] ** 2).sum(axis=1)
    mode = np.zeros((1, mesh.vertex_count, 3))
    mode[0, :, 1] = np.exp(-away / (0.3 * mesh.size) ** 2)
    space = LinearSpace(mesh, mode)
    plain = Body.of(space, elastic=False, **fields)
    mechanics = mechanics_of(plain)
    still = np.zeros((1, mechanics.dim))
    mass = mechanics.motion(np.eye(4), still, still).mass_matrices()[0][-1:, -1:]
    energy = Quadratic((2 * np.pi * rate) ** 2 * mass)
    return Body.of(space, elastic=False, energies=[energy], **{"limit_stiffness": 0.0, "damping": 1.0, **fields})


def fine_box() -> Mesh:
    """A box of 0.6 x 0.2 x 0.6 on the ground, each triangle cut in four, three times."""
    box = shapes.box((0.6, 0.2, 0.6), (0.0, 0.1, 0.0))
    vertices, faces = np.asarray(box.vertices), np.asarray(box.faces)
    for _ in range(3):
        corners = vertices[faces]
        a, b, c = (corners[:, i] for i in range(3))
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        pieces = np.concatenate([np.stack(p, axis=1) for p in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        vertices, inverse = np.unique(np.round(pieces.reshape(-1, 3), 9), axis=0, return_inverse=True)
        faces = inverse.reshape(-1, 3)
    return Mesh(vertices, faces)


def ball(radius: float, height: float) -> Mesh:
    shape = shapes.sphere(radius)
    return Mesh(shape.vertices + [0.0, height + radius, 0.0], shape.faces)


@pytest.mark.slow
def test_a_ball_lies_on_a_sheet_that_bends():
    below = bending(sheet(), 6.0, name="sheet")
    above = Body.of(ball(0.08, 0.6), free=True, name="ball")
    first, second = simulate_together([below, above], World(), seconds=1.5)
    assert first.status == "ok"
    lowest = second.positions[:, :, 1].min(axis=1)
    dent = first.positions[:, :, 1].min(axis=1)
    assert dent[-1] < 0.5 - 1e-3, "it gives way"
    assert (lowest > dent - 0.01).all(), "and is not passed"
    assert second.report["max_penetration_share"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.0, 6.0])
def test_a_block_does_not_pass_a_cushion_however_fast(speed):
    cushion = bending(fine_box(), 4.0, free=True, name="cushion")
    block = shapes.box((0.2, 0.1, 0.2), (0.0, 0.35, 0.0))
    start = Condition(Start(velocity=(0.0, -speed, 0.0)))
    body = Body.of(Mesh(block.vertices, block.faces), start, free=True, name="block")
    below, above = simulate_together([cushion, body], World(ground=Ground(height=0.0)), seconds=1.0)
    assert below.status == "ok"
    assert above.positions[:, :, 1].mean(axis=1).min() > 0.15, "it stays above"


def test_two_soft_bodies_rest_on_each_other():
    mesh = fine_box()
    lift = lie.translation(np.array([0.03, 0.3, 0.02]))
    bodies = [bending(mesh, 5.0, free=True), bending(mesh, 5.0, free=True, placement=lift)]
    below, above = simulate_together(bodies, World(ground=Ground(height=0.0)), seconds=1.0)
    assert below.status == "ok"
    assert abs(above.positions[-1, :, 1].mean() - 0.3) < 0.03


def test_the_surface_of_a_cushion_knows_inside_from_outside():
    shape = shapes.sphere(0.5, 48, 24)
    mesh = Mesh(shape.vertices, shape.faces)
    body = bending(mesh, 5.0)
    mechanics = mechanics_of(body)
    surface = BendingSurface.of(body, mechanics, 1500)
    motion = mechanics.motion(np.eye(4), np.zeros((1, 1)), np.zeros((1, 1)))
    x = np.random.default_rng(0).normal(size=(200, 3))
    radii = np.linspace(0.4, 0.6, 200)
    x = x / np.linalg.norm(x, axis=1, keepdims=True) * radii[:, None]
    met, _ = surface.meet(motion, x, x, np.full(200, -1), 1.0, np.zeros(200))
    assert len(met.which) == 200
    np.testing.assert_allclose(met.gaps, radii - 0.5, atol=0.01)
    assert ((met.normals * x).sum(axis=1) > 0.95 * radii).all()
