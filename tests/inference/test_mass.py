import math
from dataclasses import replace

import numpy as np
import pytest

import neurok
from neurok.core import Mesh, material
from neurok.errors import NeurokError
from neurok.inference.mass import AS_ESTIMATED, Weighing, estimate_mass, fused, total_mass
from neurok.inference.things import Identity, things
from neurok.io import load
from neurok.model import understand
from neurok.modelling.shapes import box, cylinder
from neurok.scene.description import Scene, SceneObject
from neurok.scene.placing import make_body, mass_of


def cube(side: float = 0.5, name: str = "x") -> Mesh:
    shape = box((side, side, side))
    return Mesh(shape.vertices, shape.faces, name=name)


def field_of(mesh: Mesh, name: str):
    return neurok.core.MaterialField.uniform(material(name), mesh.vertex_count)


def estimate(mesh: Mesh, name: str, weighing: Weighing = AS_ESTIMATED, identity: Identity | None = None):
    return estimate_mass(mesh, field_of(mesh, name), identity, weighing=weighing)


def test_a_closed_box_said_to_be_hollow_weighs_what_its_walls_weigh():
    found = estimate(cube(), "steel", Weighing(hollow=True))  # at the usual size the wall is the material's sheet
    assert found.mass == pytest.approx(7850 * 0.0015 * 6 * 0.5**2, rel=1e-6)
    thick = estimate(cube(), "steel", Weighing(hollow=True, thickness=0.004))
    assert thick.mass == pytest.approx(7850 * 0.004 * 6 * 0.5**2, rel=1e-6)


def test_a_closed_box_said_to_be_solid_weighs_volume_times_density():
    assert estimate(cube(), "steel", Weighing(hollow=False)).mass == pytest.approx(7850 * 0.5**3)


def test_a_mass_that_is_given_is_that_of_the_field():
    mesh = cube()
    found = estimate(mesh, "oak", Weighing(mass=3.2))
    assert found.mass == 3.2
    assert total_mass(mesh, found.field) == pytest.approx(3.2, rel=1e-9)


def test_walls_grow_with_the_root_of_size_and_never_beyond_the_solid():
    small, large = (estimate(cube(side), "abs", Weighing(hollow=True)).mass for side in (0.5, 1.0))
    assert large / small == pytest.approx(4 * math.sqrt(2), rel=1e-6)
    tiny = estimate(cube(0.002), "abs", Weighing(hollow=True)).mass
    assert tiny == pytest.approx(1050 * 0.002**3, rel=1e-6)


def test_two_estimates_are_fused_by_their_precision():
    middle, spread = fused(1.0, 0.5, 4.0, 0.5)
    assert middle == pytest.approx(2.0)
    assert spread == pytest.approx(0.5 / math.sqrt(2))
    assert fused(1.0, 1e-6, 4.0, 0.5)[0] == pytest.approx(1.0, rel=1e-6)
    assert fused(3.0, 0.7, 3.0, 0.2)[0] == pytest.approx(3.0)


def test_the_estimate_lies_between_geometry_and_what_such_things_weigh():
    mesh, identity = cube(0.4), Identity("barrel", things()["barrel"])
    geometric = estimate(mesh, "steel", Weighing(hollow=True)).mass
    found = estimate(mesh, "steel", identity=identity).mass
    low, high = (0.4**3 * math.sqrt(math.sqrt(0.3 * 1.5) / 0.4) * bulk for bulk in identity.thing.bulk)
    assert min(geometric, math.sqrt(low * high)) < found < max(geometric, math.sqrt(low * high))


def test_a_sheet_weighs_its_area_and_thickness_whatever_it_is_called():
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1.5, 0], [0, 1.5, 0]], dtype=float)
    towel = Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]]), name="towel")
    cotton = material("cotton")
    assert understand(towel).mass.mass == pytest.approx(1.5 * cotton.thickness * cotton.density)


@pytest.mark.parametrize("name", ["wooden chair", "steel drum", "teddy bear", "concrete statue", "thing"])
def test_size_and_unit_of_the_file_do_not_matter(name):
    metres, inches = cube(0.4, name), replace(cube(0.4 / 0.0254, name), unit=0.0254)
    assert understand(inches).mass.mass == pytest.approx(understand(metres).mass.mass, rel=1e-9)


def test_every_file_and_scene_has_the_mass_of_the_model(tmp_path):
    can = cylinder(0.3, 0.9, 48)
    model = understand(Mesh(can.vertices, can.faces, name="steel barrel"))
    body = make_body(Scene((SceneObject(model),)), 0, "barrel", model)
    assert mass_of(body) == pytest.approx(model.mass.mass, rel=1e-6)
    for suffix in (".glb", ".npz", ".urdf", ".xml"):
        neurok.save(replace(model.asset, materials=model.field), tmp_path / f"barrel{suffix}")
        read = understand(load(tmp_path / f"barrel{suffix}"))
        body = make_body(Scene((SceneObject(read),)), 0, "barrel", read)
        assert mass_of(body) == pytest.approx(model.mass.mass, rel=1e-4), suffix


def test_densities_of_ones_own_are_kept():
    mesh = cube(0.1, "steel barrel")
    own = replace(material("steel"), name="mine", density=5000.0)
    assert understand(mesh, materials={"all": own}).mass.mass == pytest.approx(5.0)


def test_the_same_materials_from_a_file_give_the_same_mass(tmp_path):
    from neurok.io.materials_file import write_materials

    model = understand(cube(0.4, "wooden crate"))
    path = tmp_path / "materials.json"
    write_materials(model.materials.field, model.mesh, path, model.materials.records())
    again = understand(model.asset, materials=path)
    assert again.mass.mass == pytest.approx(model.mass.mass, rel=1e-9)


@pytest.mark.parametrize("wrong", [{"mass": 0.0}, {"mass": math.nan}, {"thickness": -1.0}])
def test_impossible_masses_are_refused(wrong):
    with pytest.raises(NeurokError, match="must be positive"):
        understand(cube(), **wrong)
