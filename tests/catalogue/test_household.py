"""Household things: closed parts that meet, one body, the same from the same seed, different from another."""

import numpy as np
import pytest

from neurok.catalogue import CATEGORIES, asset_of, check_assembly, draw, generate, split_of
from neurok.catalogue.appearance import basic, colour_words, material_of, palette
from neurok.catalogue.asset import copy_names, copy_parents
from neurok.catalogue.categories import _MAKERS
from neurok.catalogue.parts import Assembly
from neurok.errors import NeurokError

MADE = [category for category in CATEGORIES if category in _MAKERS]


@pytest.fixture(scope="module")
def made() -> dict[str, Assembly]:
    return {category: draw(category, np.random.default_rng(7)) for category in MADE}


@pytest.mark.parametrize("category", ["vase", "pillow", "headband", "chair"])
def test_parts_are_closed_and_meet_in_one_body(category):
    assembly, rejected = generate(category, 7, 0)
    assert check_assembly(assembly) == []
    assert len(rejected) < 3


def test_a_part_that_floats_is_turned_away(made):
    from dataclasses import replace

    chair = made["chair"]
    far = replace(chair.parts[1], centre=chair.parts[1].centre + np.array([1.5, 0.0, 0.0]))
    assert "does not meet" in check_assembly(replace(chair, parts=(chair.parts[0], far)))[0]


def test_a_swivel_chair_turns_about_its_column():
    from neurok.catalogue.chairs import swivel_chair
    from neurok.modelling.sampler import Sampler

    turning = asset_of(swivel_chair(Sampler(np.random.default_rng(0)))).articulation
    assert turning is not None
    assert [joint.kind for joint in turning.joints if joint.dof] == ["continuous"]


@pytest.mark.slow
def test_the_gate_of_a_crib_slides_down():
    from neurok.catalogue.beds import crib
    from neurok.modelling.sampler import Sampler

    cribs = (crib(Sampler(np.random.default_rng(seed))) for seed in range(20))
    gated = asset_of(next(each for each in cribs if "gated" in each.style)).articulation
    assert gated is not None
    slides = [joint for joint in gated.joints if joint.dof]
    assert [joint.kind for joint in slides] == ["prismatic"]
    assert slides[0].lower < 0.0 == slides[0].upper


@pytest.mark.parametrize("category", MADE)
def test_an_object_stands_on_the_ground(made, category):
    assert made[category].bounds[0, 1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("category", ["chair", "headband"])
def test_the_place_where_a_part_meets_its_parent_lies_on_both(category):
    parts = generate(category, 7, 1)[0].parts
    for part in parts[1:]:
        size = float(np.linalg.norm(np.ptp(part.copies[0].bounds, axis=0)))
        for shapes in (part.copies, parts[part.parent].copies):
            low, high = np.min([s.bounds[0] for s in shapes], axis=0), np.max([s.bounds[1] for s in shapes], axis=0)
            assert (part.meets >= low - 0.05 * size).all()
            assert (part.meets <= high + 0.05 * size).all()


@pytest.mark.parametrize("category", MADE)
def test_an_asset_has_a_name_a_surface_and_a_material_for_each_copy(made, category):
    asset = asset_of(made[category])
    copies = sum(part.repeat.total for part in made[category].parts)
    assert len(asset.mesh.part_names) == copies == len(set(asset.mesh.part_names))
    assert asset.materials is not None
    assert len(asset.materials.ids) == asset.mesh.vertex_count
    assert list(asset.mesh.part_names) == copy_names(made[category])
    parents = copy_parents(made[category])
    assert parents[0] == -1
    assert (parents[1:] < np.arange(1, copies)).all()


def test_the_same_seed_gives_the_same_object_and_another_another():
    first, again, other = (draw("chair", np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert [part.name for part in first.parts] == [part.name for part in again.parts]
    for a, b in zip(first.parts, again.parts, strict=True):
        np.testing.assert_array_equal(a.code, b.code)
        assert a.appearance == b.appearance
    assert [part.appearance for part in first.parts] != [part.appearance for part in other.parts]


def test_an_unknown_category_is_told_what_there_is():
    with pytest.raises(NeurokError, match="There is no household category 'spoon'; there are"):
        draw("spoon", np.random.default_rng(0))


def test_a_tenth_of_the_instances_is_kept_for_tests():
    share = np.mean([split_of(index) == "test" for index in range(2000)])
    assert 0.07 < share < 0.13


def test_every_colour_word_belongs_to_a_colour_of_the_palette():
    words = colour_words()
    assert len(words) >= 150
    assert set(words.values()) == set(palette())
    assert len({basic(colour) for colour in palette()}) >= 10


def test_a_firm_cushion_is_stiffer_than_a_soft_one(made):
    from dataclasses import replace

    finish = made["pillow"].parts[0].appearance
    soft, plain, firm = (material_of(replace(finish, feel=feel)) for feel in ("soft", "", "firm"))
    assert soft.young < plain.young < firm.young
