"""Captions speak of the parts there are, in many ways, the same for the same seed; free prompts share no template."""

import re

import numpy as np
import pytest

from neurok.catalogue import CATEGORIES, MOVING_TEN, draw
from neurok.catalogue.appearance import basic, colour_words, palette
from neurok.catalogue.captions import full_caption, groups, main_part, total
from neurok.catalogue.prompts import PartConstraint, Prompt, free_prompts, judge
from neurok.catalogue.vocabulary import PART_NAMES, article, material_words, plural, said_as
from neurok.core.material_library import library, material
from neurok.modelling.sampler import Sampler
from neurok_lab.data.captions import caption, captions, misspelt


@pytest.fixture(scope="module")
def chair():
    return draw("chair", np.random.default_rng(11))


def test_the_same_seed_says_the_same(chair):
    assert captions(chair, 3, 12) == captions(chair, 3, 12)
    assert captions(chair, 3, 12) != captions(chair, 4, 12)


def test_many_ways_of_saying(chair):
    texts = {caption(chair, np.random.default_rng(k)).text for k in range(200)}
    assert len(texts) > 150


def test_a_caption_names_parts_that_are_there(chair):
    for k in range(60):
        told = caption(chair, np.random.default_rng(k))
        assert told.text == " ".join(told.text.split())
        assert all(0 <= number < len(chair.parts) for number in told.named)


def test_the_full_caption_lists_every_part_with_colour_and_count(chair):
    text = full_caption(chair)
    assert text.startswith(f"a chair made of {len(groups(chair))} parts: ")
    for group in groups(chair):
        parts = [chair.parts[k] for k in group]
        assert parts[0].appearance.colour in text
        assert (parts[0].name if total(parts) == 1 else plural(parts[0].name)) in text


def test_material_words_are_many_and_known_to_the_library():
    assert len(material_words()) >= 80
    for name in material_words().values():
        assert material(name).name in library()


def test_a_misspelt_caption_differs_in_one_word():
    text = "a wooden chair with purple cushions"
    other = misspelt(Sampler(np.random.default_rng(0)), text)
    assert sum(a != b for a, b in zip(text.split(), other.split(), strict=True)) == 1


def test_grammar_of_plurals_and_articles():
    assert plural("leaf") == "leaves"
    assert plural("bow tie") == "bow ties"
    assert article("oak leg") == "an oak leg"
    assert said_as("styles", "woven") == ["woven"]


def test_free_prompts_are_many_and_ask_for_what_there_is():
    prompts = free_prompts()
    assert len(prompts) >= 250
    assert sum(prompt.category in MOVING_TEN for prompt in prompts) >= 40
    assert {prompt.category for prompt in prompts} == set(CATEGORIES)
    basics = {basic(colour) for colour in palette()}
    families = {entry.family for entry in library().values()}
    for prompt in prompts:
        for constraint in prompt.constraints:
            assert constraint.part == "*" or constraint.part in PART_NAMES
            assert set(constraint.colours) <= basics
            assert all(name in library() or name in families for name in constraint.materials)


def test_no_free_prompt_is_made_by_a_template():
    shapes = [r"made of \w+ parts", r"^an? [\w ]+ (that has|having|featuring) ", r"[.;] the \w+ (is|are) "]
    shapes.append(r"^an? [\w ]*(\w+|\d)-(door|drawer|shelf|arm) \w+")
    texts = [prompt.text for prompt in free_prompts()]
    assert not [text for text in texts if any(re.search(shape, text) for shape in shapes)]


def test_an_object_is_judged_by_category_parts_colours_and_materials(chair):
    k = main_part(chair)
    part = chair.parts[k]
    constraint = PartConstraint(part.name, (basic(part.appearance.colour),), (part.appearance.visible_material,))
    right = judge(chair, Prompt("", "chair", (constraint,)))
    assert right.category
    assert right.present == (True,)
    assert all(right.materials) or sum(p.name == part.name for p in chair.parts) > 1
    wrong = judge(chair, Prompt("", "bed", (PartConstraint("petal", ("red",), (), 3),)))
    assert not wrong.category
    assert (wrong.present, wrong.colours, wrong.counts) == ((False,), (False,), (False,))


def test_every_colour_word_is_said_in_lower_case():
    assert all(word == word.lower() for word in colour_words())
