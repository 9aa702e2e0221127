"""Scenes in words: objects, relations, motions."""

import pytest

from neurok.errors import NeurokError
from neurok.generation.arrangement import MOST_OBJECTS, arrangement_of, summary


def relations(text: str) -> dict[str, tuple[str | None, str | None]]:
    found = arrangement_of(text).objects
    return {one.name: (one.relation, None if one.target is None else found[one.target].name) for one in found}


def prompts(text: str) -> list[str]:
    return [one.prompt for one in arrangement_of(text).objects]


def test_a_desk_with_things_on_it_and_around_it():
    text = "a desk with a lamp and an open laptop on it, a chair in front, a plant in a pot to the left"
    assert relations(text) == {
        "desk": (None, None),
        "lamp": ("on", "desk"),
        "laptop": ("on", "desk"),
        "chair": ("front", "desk"),
        "plant": ("left", "desk"),
    }
    assert [one.name for one in arrangement_of(text).objects if one.is_open] == ["laptop"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a lamp on a desk", {"lamp": ("on", "desk"), "desk": (None, None)}),
        ("On a table stands a blue vase.", {"table": (None, None), "vase": ("on", "table")}),
        ("a pillow and a bag on a bed", {"pillow": ("on", "bed"), "bag": ("on", "bed"), "bed": (None, None)}),
        ("two chairs against the wall", {"chair": ("wall", None), "chair_2": ("wall", None)}),
        ("a sofa facing a table", {"sofa": ("front", "table"), "table": (None, None)}),
    ],
)
def test_relations_bind_subjects_to_targets(text, expected):
    assert relations(text) == expected


def test_a_chain_of_relations_goes_from_one_to_the_next():
    found = relations("a vase inside a box under a round table next to the bed")
    assert found["vase"] == ("in", "box")
    assert found["box"] == ("under", "table")
    assert found["table"] == ("beside", "bed")


def test_parts_and_materials_stay_with_their_object():
    assert prompts("a red velvet sofa on oak legs and a hat on it") == ["a red velvet sofa on oak legs", "a hat"]
    assert prompts("a cabinet with three drawers, a lamp on the cabinet") == ["a cabinet with three drawers", "a lamp"]
    assert prompts("a table and a red fridge with two doors is beside the table")[1] == "a red fridge with two doors"


def test_definite_nouns_mean_what_was_named():
    assert list(relations("a desk, a chair. A lamp is on the desk.")) == ["desk", "chair", "lamp"]


def test_verbs_are_motions_of_objects_or_of_their_parts():
    moving = arrangement_of(
        "a table with a vase on it and a fridge behind it. The vase falls off. The door swings open."
    )
    names = [moving.objects[one.subject].name for one in moving.motions]
    assert list(zip(names, [one.motion for one in moving.motions], strict=True)) == [
        ("vase", "fall"),
        ("fridge", "open"),
    ]
    assert moving.motions[1].part == "door"


def test_words_that_mean_nothing_are_told():
    assert arrangement_of("a chair beside a table, hooray").unread == ("hooray",)


def test_nothing_that_can_be_made_is_one_sentence():
    with pytest.raises(NeurokError, match="It can make"):
        arrangement_of("a galaxy beyond the sea")
    with pytest.raises(NeurokError, match="nothing in the scene"):
        arrangement_of("a chair. The door opens.")
    with pytest.raises(NeurokError, match=str(MOST_OBJECTS)):
        arrangement_of(", ".join(["four chairs"] * 7))


def test_the_summary_says_who_stands_where():
    assert summary(arrangement_of("a lamp on a desk")) == "2 objects: lamp on desk, desk"
