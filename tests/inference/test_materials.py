"""Proposals of materials: what names, looks and shapes say, and what nothing is known of."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Asset, MaterialField, Mesh, Surface, material
from neurok.core.material_library import library
from neurok.core.select import regions_of
from neurok.errors import NeurokError
from neurok.geometry import lie
from neurok.inference.material_appearance import appearance_words, shape_words
from neurok.inference.material_words import evidence, odds_of, read_name, tokens
from neurok.inference.things import lexicon
from neurok.modelling import shapes
from neurok.verbs import propose_materials

SOFT = 1e8
"""[Pa] below which a thing is not stiff."""


def box(size=(0.5, 0.15, 0.5), part="", look="", **surface) -> Mesh:
    made = shapes.box(size)
    ids = np.zeros(len(made.vertices), dtype=int)
    surfaces = (Surface(look or "surface", **surface),) if look or surface else ()
    parts = {"part_ids": ids, "part_names": (part,)} if part else {}
    return Mesh(made.vertices, made.faces, surfaces=surfaces, name="thing", **parts)


def proposed(mesh: Mesh) -> str:
    return propose_materials(mesh).items[0].material.name


@pytest.mark.parametrize(
    ("part", "look", "family"),
    [
        ("Cube.001", "Wood_slats", "wood"),
        ("patas_sofa", "patas_metal", "metal"),
        ("leg", "blackplastic", "plastic"),
        ("", "kov.cerny", "metal"),
        ("", "Metallo_sedia", "metal"),
        ("", "RED_OAK.001", "wood"),
        ("", "jarrón_cerámica.jpg", "ceramic"),
        ("", "plástico_gris", "plastic"),
        ("matress_Cube", "Material.001", "foam"),
        ("cushion", "fabric", "foam"),
        ("big_cushion", "white_leather", "foam"),
        ("", "blackrubber", "rubber"),
        ("Leaf_Plane", "Material", "plant"),
        ("", "cristal", "ceramic"),
        ("", "tierra_maceta", "ground"),
        ("Chair|Chrome", "Chrome", "metal"),
        ("", "black_plastic_wood_table_chairs.jpg", "plastic"),
        ("Trex", "Green", "tissue"),
    ],
)
def test_names_of_many_tongues_are_read(part, look, family):
    assert library()[proposed(box(part=part, look=look))].family == family


def test_every_name_of_the_library_is_proposed_where_it_is_said():
    skipped = set(evidence()["not_words"].split())
    missed = [
        name
        for name in library()
        if "".join(tokens(name)) not in skipped and proposed(box((0.4, 0.004, 0.3), look=name)) != name
    ]
    assert missed == ["bark", "grass"]  # what has bark is a trunk of green wood, and blades of grass are leaves


def test_colours_are_no_materials_and_letters_no_words():
    for name in ("black", "verde", "bianco", "Material.001", "Cube.002", "None", "1_1", "lines"):
        assert read_name(name) == []


def test_a_material_in_a_name_counts_over_what_follows():
    trust = {each.meaning.name: each.trust for each in read_name("black_plastic_wood_table.jpg")}
    assert trust["plastic"] == 1.0
    assert trust["wood"] == 0.5


def test_nothing_known_is_stiff_whatever_it_looks_like():
    prior = odds_of(evidence()["prior"])
    young = np.array([entry.material.young for entry in library().values()])
    looks = [odds_of(record) for word, record in evidence()["appearance"].items() if word != "sheen"]
    shape = [odds_of(record) for record in evidence()["shapes"].values()]
    for count in (0, 1, 2, 3):
        for chosen in itertools.combinations(looks, count):
            for form in [np.zeros(len(prior)), *shape]:
                assert young[np.argmax(prior + sum(chosen, np.zeros(len(prior))) + form)] > SOFT


def test_nothing_known_is_said_with_little_confidence():
    item = propose_materials(box()).items[0]
    assert item.confidence < 0.35
    assert item.material.young > SOFT
    assert "nothing is known" in item.reason
    assert [name for name, _ in item.alternatives]


def test_confidence_is_a_probability_and_reasons_name_the_evidence():
    item = propose_materials(box(part="big_cushion", look="red_fabric")).items[0]
    assert 0.9 < item.confidence <= 1.0
    assert "'cushion'" in item.reason
    assert "'fabric'" in item.reason


def test_cloth_is_a_sheet_where_it_is_thin_and_padding_where_it_is_thick():
    assert proposed(box((1.0, 0.004, 1.0), look="fabric")) == "cotton"
    assert proposed(box((0.5, 0.2, 0.5), look="fabric")) == "upholstery"


def test_looks_have_words():
    words = lambda **look: appearance_words(mesh := box(look="x", **look), regions_of(mesh)[0])  # noqa: E731
    assert "see-through" in words(base_color=(0.8, 0.8, 0.8, 0.2), alpha_mode="BLEND")
    assert "shiny metal" in words(metallic=1.0)
    assert "yellow metal" in words(metallic=1.0, base_color=(0.8, 0.5, 0.1, 1.0))
    assert "brown" in words(base_color=(0.2, 0.1, 0.04, 1.0))
    assert "green" in words(base_color=(0.05, 0.3, 0.05, 1.0))
    assert "bright" in words(base_color=(0.02, 0.02, 0.9, 1.0))


@pytest.mark.parametrize(
    ("size", "word"),
    [((1, 1, 1), "thick"), ((1, 0.01, 1), "thin"), ((1, 0.03, 0.03), "slender"), ((1, 0.5, 0.05), None)],
)
def test_shapes_have_words_whichever_way_they_lie(size, word):
    mesh = box(size)
    turned = mesh.with_vertices(
        lie.apply(lie.rotation_about(np.array([0.6, 0.0, 0.8]), np.ones(3), 0.7), mesh.vertices)
    )
    for each in (mesh, turned, mesh.with_vertices(10.0 * mesh.vertices)):
        assert [said for said, _ in shape_words(each, regions_of(each)[0])] == ([word] if word else [])


def test_what_somebody_says_counts_over_all():
    mesh = box(part="seat", look="fabric")
    item = propose_materials(mesh, given={"all": "oak", "seat": "Steel"}).items[0]
    assert (item.material, item.confidence, item.reason) == (material("steel"), 1.0, "set by hand")
    assert propose_materials(mesh, given={"fabric": "oak"}).items[0].material.name == "oak"
    with pytest.raises(NeurokError, match="Did you mean 'seat'"):
        propose_materials(mesh, given={"saet": "oak"})
    with pytest.raises(NeurokError, match="no material 'oack'"):
        propose_materials(mesh, given={"seat": "oack"})
    with pytest.raises(NeurokError, match="only a piece of a part"):
        propose_materials(mesh, given={"top": "oak"})


def test_what_the_file_says_is_kept():
    mesh = box(part="seat", look="fabric")
    asset = Asset(mesh, materials=MaterialField.uniform(material("cork"), mesh.vertex_count))
    item = propose_materials(asset).items[0]
    assert (item.material.name, item.confidence) == ("cork", 1.0)


def test_hidden_names_are_not_read():
    mesh = replace(box(part="cushion", look="fabric"), name="sofa")
    assert propose_materials(mesh, names=False).items[0].material.young > SOFT


def test_the_field_has_the_proposals():
    found = propose_materials("sample:cabinet")
    for item in found.items:
        assert set(found.field.density[item.region.vertices]) == {item.material.density}
    assert json.dumps(found.records())


def test_the_table_names_materials_that_there_are():
    known = {*library(), *(f"@{entry.family}" for entry in library().values())}
    table = evidence()
    records = [table["prior"], *table["appearance"].values(), *table["shapes"].values()]
    records += [group["of"] for section in ("materials", "parts") for group in table[section]]
    records += [record["of"] for record in (*lexicon()["things"], lexicon()["toy"])]
    assert {name for record in records for name in record} <= known


@pytest.mark.parametrize("name", ["Plane.001", "pCylinder2", "Box017", "Cone"])
def test_primitives_of_modelling_programs_say_nothing_of_a_part(name):
    assert read_name(name) == []


def test_a_large_part_that_nothing_names_is_of_what_its_object_is_made_of():
    """Two halves of a backpack called by their primitives are cloth; a small buckle beside them need not be."""
    halves = [shapes.box((0.3, 0.4, 0.1)), shapes.box((0.3, 0.4, 0.1))]
    vertices = np.concatenate([halves[0].vertices, halves[1].vertices + [0.0, 0.0, 0.1]])
    faces = np.concatenate([halves[0].faces, halves[1].faces + len(halves[0].vertices)])
    ids = np.repeat([0, 1], len(halves[0].vertices))
    found = propose_materials(Mesh(vertices, faces, part_ids=ids, part_names=("Plane_1", "Plane_2"), name="backpack"))
    assert all(item.material.is_soft for item in found.items)
