"""The plug-in point: what a proposer sees, and what becomes of bad answers."""

import pytest

from neurok.errors import NeurokError
from neurok.folders.proposers import MaterialProposer, Question, ask, find_proposer
from neurok.io import load


@pytest.fixture(scope="module")
def lamp():
    return load("sample:lamp")


def says(*answers):
    return lambda question: list(answers)


def test_the_rules_are_the_default(lamp):
    assert find_proposer("rules") is None
    assert all(item.confidence <= 1 for item in ask(None, lamp).items)


def test_a_plug_in_sees_parts_names_and_pictures_and_the_rest_is_left_to_the_rules(lamp):
    seen = []

    def proposer(question: Question):
        seen.append(question)
        return [(question.parts[0].name, "glass", 0.9, "it shines")]

    assert isinstance(proposer, MaterialProposer)
    found = ask(proposer, lamp, "desk lamp")
    assert (found.items[0].material.name, found.items[0].confidence, found.items[0].reason) == (
        "glass",
        0.9,
        "it shines",
    )
    rules = ask(None, lamp, "desk lamp")
    assert [i.material for i in found.items[1:]] == [i.material for i in rules.items[1:]]
    (question,) = seen
    assert question.category == "desk lamp"
    assert sum(part.share for part in question.parts) == pytest.approx(1.0)
    assert "oak" in question.materials
    assert len(question.pictures) == 4
    assert question.pictures[0].shape == question.part_pictures[0].shape


@pytest.mark.parametrize(
    ("proposer", "words"),
    [
        (lambda question: 1 / 0, "ZeroDivisionError"),
        (lambda question: None, "must return a list"),
        (lambda question: "oak", "must return a list"),
        (says("oak"), "is no (part, material"),
        (says(("nowhere", "oak", 0.5, "")), "there is no part 'nowhere'"),
        (says((["base"], "oak", 0.5, "")), "there is no part"),
        (says(("base", "unobtainium", 0.5, "")), "There is no material 'unobtainium'"),
        (says(("base", "oak", 7, "")), "must be a number from 0 to 1"),
        (says(("base", "oak", float("nan"), "")), "must be a number from 0 to 1"),
        (says(("base", "oak", 0.5, None)), "is no text"),
        (says(("base", "oak", 0.5, ""), ("base", "pine", 0.5, "")), "answered twice"),
    ],
)
def test_a_bad_plug_in_gets_one_sentence(proposer, words, lamp):
    name = ask(None, lamp).items[0].region.name
    with pytest.raises(NeurokError) as error:
        ask(lambda question: _named(proposer(question), name), lamp)
    assert words.replace("base", name) in str(error.value)
    assert "\n" not in str(error.value)


def _named(answers, name):
    """The answers with ``base`` replaced by a part that there is."""
    if not isinstance(answers, list):
        return answers
    return [(name, *a[1:]) if isinstance(a, tuple) and a[0] == "base" else a for a in answers]


@pytest.mark.parametrize("word", ["model", "no.such.module:thing", "math:no_such", "math:pi"])
def test_a_plug_in_that_is_not_there_gets_one_sentence(word):
    with pytest.raises(NeurokError, match=r"The proposer '"):
        find_proposer(word)
