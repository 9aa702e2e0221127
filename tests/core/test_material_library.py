"""Materials by name: real figures, each with its source."""

from pathlib import Path

import numpy as np
import pytest

from neurok.core import Material, MaterialField, Mesh, material
from neurok.core.material_library import library
from neurok.errors import NeurokError
from neurok.modelling import shapes

FIGURES = ("young", "poisson", "density", "yield_stress", "friction_angle", "damping_ratio", "friction", "thickness")


def test_there_are_many_materials_of_all_families():
    families = {entry.family for entry in library().values()}
    assert len(library()) >= 40
    assert families >= {"fabric", "leather", "foam", "wood", "metal", "ceramic", "plastic", "rubber", "paper", "ground"}
    assert families >= {"plant", "tissue", "fluid"}


@pytest.mark.parametrize("name", sorted(library()))
def test_each_figure_has_a_source(name):
    entry = library()[name]
    given = {figure for figure in FIGURES if getattr(entry.material, figure) is not None}
    assert set(entry.sources) == given
    assert all(entry.sources.values())
    assert all(figure in entry.material.source for figure in given)


def test_every_name_and_alias_is_found_however_it_is_written():
    for name, entry in library().items():
        for word in (name, name.upper(), name.replace(" ", "_"), name.replace(" ", "-"), *entry.aliases):
            assert material(word).name == name


def test_names_mean_one_material_each():
    words = [word for name, entry in library().items() for word in (name, *entry.aliases)]
    assert len(words) == len(set(words))


@pytest.mark.parametrize(("given", "expected"), [("stel", "steel"), ("leathr", "leather"), ("oak veneer", "oak")])
def test_an_unknown_name_lists_the_nearest(given, expected):
    with pytest.raises(NeurokError, match=f"no material '{given}'; the nearest are .*{expected}"):
        material(given)


def test_a_name_like_no_other_lists_all():
    with pytest.raises(NeurokError, match=r"there are abs, acrylic, .*zinc"):
        material("xyzzy")


def test_the_figures_are_ordered_as_every_child_knows():
    young = lambda *names: [material(name).young for name in names]  # noqa: E731
    density = lambda *names: [material(name).density for name in names]  # noqa: E731
    assert young("down", "stuffing", "foam", "rubber", "cork", "pine", "glass", "steel") == sorted(
        young("down", "stuffing", "foam", "rubber", "cork", "pine", "glass", "steel")
    )
    order = density("foam", "cork", "pine", "water", "concrete", "aluminium", "steel", "lead", "gold")
    assert order == sorted(order)


def test_water_is_as_compressible_as_water_is():
    water = material("water")
    bulk = water.young / (3 * (1 - 2 * water.poisson))
    assert bulk == pytest.approx(2.2e9, rel=0.01)


@pytest.mark.parametrize(
    ("figures", "words"),
    [
        ({"density": 1e-30}, "density must lie between 0.1 and 30000 kg/m.3, got 1e-30"),
        ({"density": 1e9}, "density must lie between"),
        ({"density": float("nan")}, "density must be positive"),
        ({"young": 0.0}, "young must be positive"),
        ({"young": -1e5}, "young must be positive"),
        ({"young": 1e15}, r"young must lie between 1 and 2e\+12 Pa"),
    ],
)
def test_what_no_material_can_have_is_refused(figures, words):
    with pytest.raises(NeurokError, match=words):
        Material("odd", **figures)


def two_boxes() -> Mesh:
    box = shapes.box((1.0, 1.0, 1.0))
    count = len(box.vertices)
    vertices = np.concatenate([box.vertices, box.vertices + [2.0, 0.0, 0.0]])
    faces = np.concatenate([box.faces, box.faces + count])
    return Mesh(vertices, faces, part_ids=np.repeat([0, 1], count), part_names=("seat", "leg"))


def test_parts_are_made_of_what_they_are_said_to_be():
    mesh = two_boxes()
    field = MaterialField.of_parts(mesh, {"leg": material("oak")}, material("foam"))
    half = mesh.vertex_count // 2
    assert set(field.density[half:]) == {700.0}
    assert set(field.density[:half]) == {35.0}
    assert np.isnan(field.thickness).all()
    with pytest.raises(NeurokError, match="no part 'arm'; it has seat, leg"):
        MaterialField.of_parts(mesh, {"arm": material("oak")})


def test_the_docs_list_the_library():
    page = (Path(__file__).parents[2] / "docs" / "materials.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.split("<!-- library -->")[1].splitlines() if "|" in line]
    listed = {
        row[0]: (float(row[2]), float(row[3]), float(row[4]))
        for row in rows[2:]
        if len(row) > 4 and row[0] in library()
    }
    assert list(listed) == list(library())
    for name, (young, poisson, density) in listed.items():
        figures = library()[name].material
        assert (young, poisson, density) == pytest.approx((figures.young, figures.poisson, figures.density), rel=5e-3)
