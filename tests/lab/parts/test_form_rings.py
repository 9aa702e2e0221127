"""Forms as rings: the same solids as those of the modelling kit, many at once."""

import numpy as np
import pytest

from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import code_of, mesh_of
from neurok_lab.parts.form_rings import can_be_rings, ring_solid, ring_solids

KNOTS = np.array([[np.cos(a), 0.6 * np.sin(a)] for a in np.linspace(0, 2 * np.pi, 9, endpoint=False)])
CODES = {
    "block": code_of(
        "block", widths=[0.5, 0.6, 0.7, 0.6, 0.4], depths=np.full(5, 0.4), corner=0.4, edges=[0.2, 0.6],
        crowns=[0.0, 0.4], lean=[0.1, 0.0], welt=0.01,
    ),
    "plate": code_of("plate", knots=KNOTS, thickness=0.1, round=0.6, bevel=0.5, puff=0.4, bow=0.1),
    "lathe": code_of("lathe", knots=[[0.3 + 0.1 * k % 0.4, -1.0 + 2.0 * k / 7, k % 2] for k in range(8)]),
    "sheet": code_of("sheet", widths=np.linspace(0.4, 0.1, 9), bends=np.full(9, 0.05), thickness=0.05, length=2.0),
}  # fmt: skip
SIZE = np.array([0.5, 0.4, 0.3])


@pytest.mark.parametrize("kind", CODES)
def test_rings_enclose_what_the_modelling_kit_makes(kind):
    exact, rings = mesh_of(kind, CODES[kind], SIZE), ring_solid(kind, CODES[kind], SIZE)
    np.testing.assert_allclose(rings.bounds, exact.bounds, atol=1e-9)
    first, second = to_manifold(exact), to_manifold(rings)
    assert second.volume() == pytest.approx(first.volume(), rel=0.03)
    assert (first ^ second).volume() > 0.96 * first.volume()


@pytest.mark.parametrize("kind", CODES)
def test_many_codes_at_once_are_the_same_as_each_alone(kind):
    codes = np.stack([CODES[kind], 1.05 * CODES[kind]])
    sizes = np.stack([SIZE, 2.0 * SIZE])
    places, faces = ring_solids(kind, codes, sizes)
    for code, size, some in zip(codes, sizes, places, strict=True):
        alone = ring_solids(kind, code[None], size[None])[0][0]
        np.testing.assert_allclose(some, alone, atol=1e-12)
    assert faces.max() == places.shape[1] - 1


def test_tubes_are_made_one_by_one():
    assert not can_be_rings("tube")
