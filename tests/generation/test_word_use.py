"""Every word of a prompt is seen in the object, in no table, or said to have been asked for in vain."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue import draw
from neurok.catalogue.captions import full_caption
from neurok.catalogue.prompts import free_prompts
from neurok.catalogue.vocabulary import CATEGORIES
from neurok.generation.lexicon import read
from neurok.generation.request import request_of
from neurok.generation.word_use import word_uses


def outcomes(text, assembly):
    spans = read(text)
    return {use.word: use.outcome for use in word_uses(spans, request_of(spans), assembly)}


@pytest.fixture(scope="module")
def things():
    return {category: draw(category, np.random.default_rng(7)) for category in CATEGORIES}


def test_every_word_of_the_free_prompts_has_one_outcome_and_every_loss_a_sentence(things):
    for prompt in free_prompts():
        spans = read(prompt.text)
        uses = word_uses(spans, request_of(spans), things[prompt.category])
        assert [use.word.split(" (as ")[0] for use in uses] == [span.text for span in spans if not span.is_filler]
        assert all((use.outcome == "missed") == bool(use.reason) for use in uses)
        assert all((use.outcome == "unknown") == (not span.meanings) for use, span in zip(
            uses, [span for span in spans if not span.is_filler], strict=True))  # fmt: skip


@pytest.mark.parametrize("category", CATEGORIES)
def test_all_that_a_caption_says_of_its_own_object_can_be_seen(category, things):
    thing = things[category]
    lost = [word for word, outcome in outcomes(full_caption(thing), thing).items() if outcome == "missed"]
    assert not lost


def test_a_colour_is_lost_when_the_part_that_it_was_said_of_has_another(things):
    chair = things["chair"]
    painted = tuple(
        replace(part, appearance=replace(part.appearance, colour="red" if part.name == "leg" else "green", cover=""))
        for part in chair.parts
    )
    chair = replace(chair, parts=painted)
    assert outcomes("a chair with red legs", chair)["red"] == "used"
    assert outcomes("a chair with a red seat", chair)["red"] == "missed"
    assert outcomes("a green chair with blue legs", chair) == {
        "green": "used", "chair": "used", "blue": "missed", "legs": "used"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "category", "word", "outcome"),
    [
        ("a chair for zorblax", "chair", "zorblax", "unknown"),
        ("a wardrobe with sliding doors", "cabinet", "sliding", "missed"),
        ("a recliner", "chair", "recliner", "missed"),
        ("a bed with a tripod", "bed", "tripod", "missed"),
        ("a stool next to my table", "chair", "table", "missed"),
        ("three vases", "vase", "three", "missed"),
        ("a cabinet with ninety-nine drawers", "cabinet", "ninety", "unknown"),
    ],
)
def test_words_that_are_not_followed_are_told(text, category, word, outcome, things):
    assert outcomes(text, things[category])[word] == outcome


def test_what_is_unwanted_is_lost_only_where_it_is(things):
    chair = things["chair"]
    name = next(part.name for part in chair.parts if part.name in ("arm", "leg", "seat", "back"))
    assert outcomes(f"a chair without a {name}", chair)[name] == "missed"
    assert outcomes("a chair without a headrest", chair)["headrest"] == "used"


def test_a_word_by_which_something_was_resized_is_used(things):
    spans = read("a huge low bed")
    (low,) = [span.start for span in spans if span.text == "low"]
    request = request_of(spans)
    without, with_it = (word_uses(spans, request, things["bed"], grown) for grown in ((), (low,)))
    assert [use.outcome for use in without] == ["unknown", "missed", "used"]
    assert [use.outcome for use in with_it] == ["unknown", "used", "used"]
