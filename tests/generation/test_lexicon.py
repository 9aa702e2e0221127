"""What words name, and what a prompt asks for."""

import numpy as np
import pytest

from neurok.families.household.prompts import Wish
from neurok.generation.lexicon import Meaning, features, meaning_count, read
from neurok.generation.wishes import LookHold, Wishes, understood, wishes_of


def asked(text: str) -> Wishes:
    return wishes_of(read(text))


def test_longest_phrases_are_read_first():
    spans = read("a dark-blue love seat")
    assert [span.text for span in spans] == ["a", "dark blue", "love seat"]
    assert Meaning("category", "love seat") in spans[2].meanings


@pytest.mark.parametrize(
    ("text", "category", "wish"),
    [
        ("a chair with four oak legs", "chair", Wish("leg", (), ("oak",), 4)),
        ("a chair whose seat is red", "chair", Wish("seat", ("red",))),
        ("a navy sofa", "sofa", Wish("*", ("blue",))),
        ("sofa in navy", "sofa", Wish("*", ("blue",))),
        ("a cabinet with 3 drawers and brass knobs", "cabinet", Wish("drawer", (), (), 3)),
        ("a bed. The headboard is made of walnut", "bed", Wish("headboard", (), ("walnut",))),
        ("a table with metal legs", "table", Wish("leg", (), ("metal",))),
    ],
)
def test_words_belong_to_the_parts_they_are_said_of(text, category, wish):
    found = asked(text)
    assert found.category == category
    assert wish in found.parts


def test_misspelt_words_are_taken_for_what_they_mean_unless_they_are_words():
    (span,) = read("crimsom")
    assert span.meant == "crimson"
    assert read("cable", frozenset({"cable"}))[0].meanings == ()


def test_what_is_not_understood_is_told():
    known, unknown = understood(read("a red chair for zorblax the great"))
    assert known == ["red", "chair"]
    assert unknown == ["zorblax", "great"]


def test_colour_words_come_with_their_colour():
    seen = features(read("a crimson chair"))
    np.testing.assert_array_equal(seen.values[:, 3], [0, 1, 0])
    assert seen.values[1, 0] > seen.values[1, 1]
    assert seen.meanings.max() < meaning_count()


def test_looks_are_held_to_wishes():
    import torch

    from neurok.generation.fields import look_fields

    fields = {field.name: field for field in look_fields()}
    hold = LookHold([asked("a chair with a red leather seat")], ["seat"], ["seat"])
    material = hold(fields["material"], [])[0]
    leather, steel, padding = (fields["material"].index(name) for name in ("leather", "steel", "upholstery"))
    assert material[leather]
    assert material[padding]
    assert not material[steel]
    cover = hold(fields["cover"], [torch.tensor([padding])])[0]
    assert {fields["cover"].words[k] for k in cover.nonzero()[:, 0]} == {"leather", "suede", "artificial leather"}
    colours = hold(fields["colour"], [torch.tensor([padding])])[0]
    assert colours[fields["colour"].index("red")]
    assert not colours[fields["colour"].index("green")]
