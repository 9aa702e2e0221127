"""Forms: any numbers give a closed solid that fills its box, and a code says the same at every size."""

import numpy as np
import pytest

from neurok.catalogue.checks import is_closed
from neurok.catalogue.solids import block, lathe, plate, sheet, tube
from neurok.errors import NeurokError, ShapeError
from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import CODE, LAYOUT, RELIEFS, Hollow, code_of, fields_of, mesh_of

EXAMPLES = {
    "block": block((0.5, 0.2, 0.4), corner=0.3, edge=0.5, crown=0.4),
    "plate": plate([(-0.2, -0.1), (0.2, -0.1), (0.15, 0.2), (-0.15, 0.2)], 0.03, puff=0.2, bow=0.02),
    "lathe": lathe([(0.1, 0.0), (0.15, 0.1, 0.0), (0.08, 0.25, 0.0), (0.1, 0.3)]),
    "tube": tube([(0, 0, 0), (0, 0.3, 0), (0.2, 0.4, 0.1)], 0.02),
    "sheet": sheet(0.05 * np.sin(np.linspace(0.2, 3.0, 9)), 0.3, 0.004, bends=0.1),
}


@pytest.mark.parametrize("kind", LAYOUT)
def test_any_numbers_give_a_closed_solid_that_fills_its_box(kind):
    rng = np.random.default_rng(1)
    for _ in range(12):
        code = EXAMPLES[kind].code + rng.normal(0.0, 0.2, CODE)
        size = rng.uniform(0.1, 1.0, 3)
        shape = mesh_of(kind, code, size)
        assert is_closed(shape)
        assert to_manifold(shape).volume() > 0
        assert shape.volume > 0
        np.testing.assert_allclose(shape.bounds, [-size / 2, size / 2], atol=1e-9)


@pytest.mark.parametrize("kind", LAYOUT)
def test_a_code_says_the_same_at_every_size(kind):
    solid = EXAMPLES[kind]
    small, large = mesh_of(kind, solid.code, solid.size), mesh_of(kind, solid.code, 3.0 * solid.size)
    np.testing.assert_allclose(large.volume, 27.0 * small.volume, rtol=1e-6)


def test_a_round_block_is_an_ellipsoid():
    """Edges as round as they can be and a round plan: 4/3 pi a b c, up to the facets."""
    solid = block((0.4, 0.4, 0.4), corner=1.0, edge=1.0)
    np.testing.assert_allclose(mesh_of("block", solid.code, solid.size).volume, 4 / 3 * np.pi * 0.2**3, rtol=0.03)


def test_a_square_block_is_a_box():
    solid = block((0.4, 0.3, 0.2), corner=0.02, edge=0.0)
    np.testing.assert_allclose(mesh_of("block", solid.code, solid.size).volume, 0.4 * 0.3 * 0.2, rtol=0.03)


def test_a_turned_wall_has_the_volume_of_its_shell():
    """A cylinder of radius R and height h without one of radius R - w that starts at w, up to the facets."""
    radius, height, wall = 0.1, 0.3, 0.01
    solid = lathe([(radius, 0.0), (radius, height)])
    shell = mesh_of("lathe", solid.code, solid.size, Hollow(wall, "top"))
    expected = np.pi * (radius**2 * height - (radius - wall) ** 2 * (height - wall))
    np.testing.assert_allclose(shell.volume, expected, rtol=0.03)
    assert to_manifold(shell).genus() == 0


@pytest.mark.parametrize("opening", ["top", "bottom"])
def test_a_hollow_block_is_open_on_one_side(opening):
    solid = block((0.4, 0.3, 0.2), corner=0.05, edge=0.0)
    shape = mesh_of("block", solid.code, solid.size, Hollow(0.02, opening))
    inside = 0.36 * 0.28 * 0.16
    np.testing.assert_allclose(shape.volume, 0.4 * 0.3 * 0.2 - inside, rtol=0.05)


@pytest.mark.parametrize("relief", RELIEFS)
def test_every_relief_keeps_the_solid_closed(relief):
    for kind in ("block", "lathe"):
        solid = EXAMPLES[kind]
        assert is_closed(mesh_of(kind, solid.code, solid.size, relief=relief))


def test_codes_and_their_fields_go_back_and_forth():
    for kind, solid in EXAMPLES.items():
        np.testing.assert_array_equal(code_of(kind, **fields_of(kind, solid.code)), solid.code)


def test_what_cannot_be_meshed_is_said_in_one_sentence():
    with pytest.raises(NeurokError, match="no code that says its shape"):
        mesh_of("implicit", np.zeros(CODE), np.ones(3))
    with pytest.raises(ShapeError, match="24 numbers"):
        mesh_of("block", np.zeros(5), np.ones(3))
    with pytest.raises(NeurokError, match="has no 'girth'"):
        code_of("block", girth=1.0)


def test_a_turned_solid_of_negative_radii_is_a_solid():
    knots = np.column_stack([np.full(8, -0.1), np.linspace(-1.0, 1.0, 8), np.ones(8)])
    shape = mesh_of("lathe", code_of("lathe", knots=knots), [0.1, 1.0, 0.1])
    assert shape.volume > 0
