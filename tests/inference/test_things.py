import numpy as np
import pytest

from neurok.core import Mesh
from neurok.inference.material_words import nouns_of
from neurok.inference.things import head_noun, identify, lexicon, things, toy
from neurok.model import understand
from neurok.modelling.shapes import box


def shaped(name: str, side: float) -> Mesh:
    shape = box((side, 0.8 * side, 0.6 * side))
    return Mesh(shape.vertices, shape.faces, name=name)


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("School_Backpack_Blue_Streak", "backpack"),
        ("Flower_Basket", "basket"),
        ("Mens_Boat_Shoe_in_Brown_Leather", "shoe"),
        ("Dust_Pan_And_Brush_1_ct", "dustpan"),
        ("Orchid_Pot_Ceramic_Lime", "flowerpot"),
        ("portable_wireless_speaker", "speaker"),
        ("Tieks_Italian_Snake", "tieks"),
        ("kitchen_towels_16_x_26", "kitchentowels"),
        ("Material.001", None),
    ],
)
def test_the_last_noun_before_a_joiner_names_the_thing(name, noun):
    assert head_noun(nouns_of(name)) == noun


def test_a_small_sofa_is_a_toy_and_a_large_one_is_not():
    assert identify([["sofa"]], 0.2).thing is toy()
    assert identify([["sofa"]], 2.0).thing is things()["sofa"]
    assert identify([["dollhouse", "sofa"]], 2.0).is_toy


@pytest.mark.parametrize(
    ("name", "side", "matter"),
    [
        ("wooden_crate", 0.6, "hard"),
        ("unheard_of_gadget", 0.3, "hard"),
        ("dollhouse_sofa", 0.2, "hard"),
        ("sofa", 2.2, "mixed"),
        ("vinyl_figure_panda", 0.08, "hard"),
        ("panda_plush", 0.3, "soft"),
        ("dinosaur_toy", 0.1, "hard"),
        ("horse_statue", 0.4, "hard"),
        ("terracotta_planter_pot_clay", 0.3, "hard"),
        ("running_shoe", 0.3, "soft"),
        ("kitchen_towel", 0.3, "thin"),
        ("felt_hat", 0.3, "thin"),
        ("burlap_sack", 0.6, "thin"),
        ("rubber_duck", 0.1, "soft"),
        ("sponge", 0.12, "soft"),
        ("claw_hammer", 0.3, "hard"),
        ("steel_frying_pan", 0.3, "hard"),
        ("apple", 0.08, "hard"),
        ("fern_plant", 0.5, "soft"),
        ("pepper_grinder_of_glass", 0.2, "hard"),
    ],
)
def test_what_a_thing_is_says_whether_it_yields(name, side, matter):
    assert understand(shaped(name, side)).matter == matter


@pytest.mark.parametrize("side", [0.05, 0.3, 1.0, 3.0])
def test_nothing_known_is_hard_and_of_plausible_mass(side):
    model = understand(shaped("q", side))
    assert model.matter == "hard"
    assert 15.0 < model.mass.mass / (0.48 * side**3) < 900.0


def test_the_lexicon_is_sound():
    words = [word for record in lexicon()["things"] for word in record["words"].split()]
    assert len(words) == len(set(words)) > 1500
    for thing in (*things().values(), toy()):
        assert 0 < thing.bulk[0] < thing.bulk[1] < 5000
        assert thing.size is None or thing.size[0] < thing.size[1]
    assert set(np.concatenate([row["words"].split() for row in lexicon()["brands"]])).isdisjoint(words)
    known = {*words, *lexicon()["toy"]["words"].split(), "", "brass", "castiron"}
    assert set(lexicon()["phrases"].values()) <= known
