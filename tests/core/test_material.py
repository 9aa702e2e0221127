"""Materials over an object: a library, numbers that vary, and answers at any point."""

import numpy as np
import pytest

from neurok.core import Asset, Material, MaterialField, Mesh
from neurok.core.material import DEFAULT_DENSITY
from neurok.errors import NeurokError, ShapeError
from neurok.io import load, save
from neurok.modelling import shapes

OAK = Material("oak", 1.1e10, 0.35, 700.0, "rigid")
CLAY = Material("clay", 2e6, 0.4, 1800.0, "plasticine", yield_stress=5e4)
SAND = Material("sand", kind="sand", friction_angle=0.5)


def varied(mesh: Mesh) -> MaterialField:
    """Oak, clay and sand in turn; the clay's stiffness differs from vertex to vertex."""
    ids = np.arange(mesh.vertex_count) % 3
    young = np.where(ids == 1, np.linspace(1e6, 3e6, len(ids)), np.nan)
    density = np.full(len(ids), 900.0) + np.arange(len(ids))
    friction = np.linspace(0.1, 0.9, len(ids))
    return MaterialField((OAK, CLAY, SAND), ids, {"young": young, "density": density, "friction": friction})


def box() -> Mesh:
    made = shapes.box((0.4, 0.6, 0.8))
    return Mesh(made.vertices, made.faces)


def test_numbers_of_a_vertex_count_over_the_library():
    field = varied(box())
    assert field.young[0] == OAK.young
    assert 1e6 <= field.young[1] <= 3e6
    assert field.density[5] == 905.0
    np.testing.assert_array_equal(field.poisson[:3], [0.35, 0.4, 0.3])
    np.testing.assert_array_equal(field.yield_stress[:3], [np.nan, 5e4, np.nan])
    np.testing.assert_array_equal(field.friction_angle[:3], [np.nan, np.nan, 0.5])
    assert field.kind[:3].tolist() == ["rigid", "plasticine", "sand"]


def test_a_point_is_made_of_what_the_nearest_vertex_is():
    mesh = box()
    field = varied(mesh)
    order = np.array([5, 0, 3, 3])
    here = field.at(mesh.vertices[order] * 1.05, mesh.vertices)
    for name in ("young", "poisson", "density", "yield_stress", "friction_angle", "kind"):
        np.testing.assert_array_equal(getattr(here, name), getattr(field, name)[order])
    with pytest.raises(ShapeError, match="8 vertices, got 3"):
        field.at(mesh.vertices, mesh.vertices[:3])


def test_a_part_can_be_made_of_something_else():
    field = varied(box()).with_part(np.array([1, 2]), OAK)
    assert field.kind[:3].tolist() == ["rigid", "rigid", "rigid"]
    np.testing.assert_array_equal(field.young[:3], OAK.young)
    np.testing.assert_array_equal(field.density[1:3], OAK.density)
    assert field.density[3] == 903.0


def test_several_objects_have_one_field():
    plain = MaterialField.uniform(CLAY, 2)
    both = MaterialField.joined([varied(box()), plain])
    assert both.kind[-2:].tolist() == ["plasticine", "plasticine"]
    np.testing.assert_array_equal(both.density, [*varied(box()).density, 1800.0, 1800.0])
    np.testing.assert_array_equal(both.young[-2:], CLAY.young)


@pytest.mark.parametrize("suffix", [".npz", ".glb", ".gltf"])
def test_every_writer_of_materials_keeps_all_of_them(tmp_path, suffix):
    mesh = box()
    field = varied(mesh)
    save(Asset(mesh, materials=field), tmp_path / f"a{suffix}")
    back = load(tmp_path / f"a{suffix}")
    assert back.materials.materials == field.materials
    order = np.array([int(np.argmin(np.linalg.norm(mesh.vertices - p, axis=1))) for p in back.mesh.vertices])
    assert sorted(order) == list(range(mesh.vertex_count))
    assert back.materials.kind.tolist() == field.kind[order].tolist()
    for name in ("young", "poisson", "density", "yield_stress", "friction_angle", "damping_ratio", "friction"):
        np.testing.assert_allclose(getattr(back.materials, name), getattr(field, name)[order], rtol=1e-6)


def test_nothing_said_is_wood():
    assert Material().density == DEFAULT_DENSITY == 500.0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"young": np.array([1.0, -1.0])}, "young must be positive"),
        ({"poisson": np.array([0.2, 0.7])}, "poisson must lie"),
        ({"colour": np.zeros(2)}, "'colour' cannot vary"),
        ({"density": np.zeros(3)}, "density"),
    ],
)
def test_numbers_that_no_material_has_are_refused(values, words):
    with pytest.raises((NeurokError, ShapeError), match=words):
        MaterialField((OAK,), np.zeros(2, dtype=int), values)
