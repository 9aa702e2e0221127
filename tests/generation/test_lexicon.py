"""What words name, and what a prompt asks for."""

import numpy as np
import pytest

from neurok.catalogue.prompts import PartConstraint
from neurok.generation.fields import appearance_fields, build_fields
from neurok.generation.lexicon import Meaning, features, meaning_count, read
from neurok.generation.list_drawing import AppearanceMask, BuildMask, request_for
from neurok.generation.request import Request, request_of, strange_noun


def asked(text: str) -> Request:
    return request_of(read(text))


def test_longest_phrases_are_read_first():
    spans = read("a dark-blue love seat")
    assert [span.text for span in spans] == ["a", "dark blue", "love seat"]
    assert Meaning("category", "love seat") in spans[2].meanings


@pytest.mark.parametrize(
    ("text", "category", "constraint"),
    [
        ("a chair with four oak legs", "chair", PartConstraint("leg", (), ("oak",), 4)),
        ("a chair whose seat is red", "chair", PartConstraint("seat", ("red",))),
        ("a navy sofa", "sofa", PartConstraint("*", ("blue",))),
        ("sofa in navy", "sofa", PartConstraint("*", ("blue",))),
        ("a cabinet with 3 drawers and brass knobs", "cabinet", PartConstraint("drawer", (), (), 3)),
        ("a bed. The headboard is made of walnut", "bed", PartConstraint("headboard", (), ("walnut",))),
        ("a table with metal legs", "table", PartConstraint("leg", (), ("metal",))),
        ("a sofa with oak feet", "sofa", PartConstraint("leg", (), ("oak",))),
        ("a rucksack, navy, with a red pocket", "bag", PartConstraint("*", ("blue",))),
        ("a locker with a single door, grey", "cabinet", PartConstraint("*", ("grey",))),
        ("a grey laptop bag", "bag", PartConstraint("*", ("grey",))),
        ("a crib made of 2 parts: a base, 34 spindles", "crib", PartConstraint("spindle", (), (), 34)),
        ("a cabinet with two red doors and one blue door", "cabinet", PartConstraint("door", ("red", "blue"), (), 3)),
        ("stool next to my table with 3 legs", "chair", PartConstraint("leg", (), (), 3)),
    ],
)
def test_words_belong_to_the_parts_they_are_said_of(text, category, constraint):
    found = asked(text)
    assert found.category == category
    assert constraint in found.prompt(text, category).constraints


def test_what_is_said_of_one_part_is_not_said_of_others():
    found = asked("a teddy bear with a blue bow")
    assert found.category == "teddy bear"
    assert [constraint.part for constraint in found.parts] == ["bow"]
    assert found.bound == {5}
    assert request_for(found, "body", "body") is None
    assert request_for(found, "knot", "body").shade == "blue"


def test_a_part_that_is_not_wanted_is_none_of_the_wishes():
    found = asked("a chair without arms and with no cushion")
    assert not found.parts
    assert {"arm", "armrest", "cushion"} <= set(found.without)


def test_two_colours_of_one_thing_are_told():
    assert "red" in asked("a red and blue sofa").notes[0]
    assert not asked("a red and blue striped sofa").notes
    assert "one of them" in asked("a wooden steel chair").notes[0]
    assert not asked("an oak chair with a steel seat").notes


def test_the_rest_looks_like_the_whole_when_the_main_part_does_not():
    found = asked("a white chair with a red seat")
    assert request_for(found, "leg", "seat").shade == "white"
    assert request_for(found, "seat", "seat").shade == "red"


def test_counts_are_held_and_lists_know_what_is_missing():
    hold, fields = BuildMask(asked("a cabinet with three drawers"), "cabinet"), {f.name: f for f in build_fields()}
    name = fields["name"]
    assert hold.missing == ["drawer"]
    hold.add({"name": "drawer", "count": "1", "mirror": "x"})
    chosen = [0] * len(fields)
    chosen[0] = name.index("drawer")
    counts = hold.mask(1, fields["count"], chosen)
    assert [fields["count"].words[k] for k in counts.nonzero()[:, 0]] == ["1"]
    hold.add({"name": "drawer", "count": "1", "mirror": ""})
    assert not hold.missing
    assert not hold.mask(2, name, [])[name.index("drawer")]


def test_no_category_is_held_to_parts_that_it_never_has():
    assert not BuildMask(asked("a teddy bear with three drawers"), "teddy bear").missing


def test_misspelt_words_are_taken_for_what_they_mean_unless_they_are_words():
    (span,) = read("crimsom")
    assert span.meant == "crimson"
    assert read("cable", frozenset({"cable"}))[0].meanings == ()


def test_colour_words_come_with_their_colour():
    seen = features(read("a crimson chair"))
    np.testing.assert_array_equal(seen.values[:, 3], [0, 1, 0])
    assert seen.values[1, 0] > seen.values[1, 1]
    assert seen.meanings.max() < meaning_count()


def test_looks_are_held_to_wishes():
    import torch

    fields = {field.name: field for field in appearance_fields()}
    hold = AppearanceMask(asked("a chair with a red leather seat"), ["seat"], ["seat"])
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


def test_parts_that_are_not_named_keep_clear_of_the_colour_of_others():
    import torch

    fields = {field.name: field for field in appearance_fields()}
    oak = torch.tensor([fields["material"].index("oak")])
    hold = AppearanceMask(asked("a wooden chair with a red seat"), ["leg"], ["seat"])
    colours = hold(fields["colour"], [oak])[0]
    assert not colours[fields["colour"].index("red")]
    assert colours[fields["colour"].index("brown")]
    brown = AppearanceMask(asked("a wooden chair with a brown seat"), ["leg"], ["seat"])(fields["colour"], [oak])
    assert brown[0, fields["colour"].index("brown")]


def test_shapes_and_patterns_are_held():
    import torch

    build, finish = {f.name: f for f in build_fields()}, {f.name: f for f in appearance_fields()}
    hold = BuildMask(asked("a round table with tapered legs"), "table")
    top, leg = ([build["name"].index(name)] for name in ("top", "leg"))
    named = lambda field, mask: {field.words[k] for k in mask.nonzero()[:, 0]}  # noqa: E731
    assert named(build["style 0"], hold.mask(0, build["style 0"], top)) == {"round"}
    assert named(build["kind"], hold.mask(0, build["kind"], top)) == {"lathe"}
    assert named(build["style 0"], hold.mask(1, build["style 0"], leg)) == {"tapered"}
    assert hold.mask(0, build["style 1"], top).all()
    looks = AppearanceMask(asked("a pillow striped blue and white"), ["body"], ["body"])
    before = [torch.tensor([k]) for k in (0, 0, finish["colour"].index("blue"), 0)]
    assert named(finish["pattern"], looks(finish["pattern"], before)[0]) == {"stripes"}
    before.append(torch.tensor([finish["pattern"].index("stripes")]))
    assert named(finish["second"], looks(finish["second"], before)[0]) == {"white"}


def test_a_name_that_is_in_no_table_is_told_from_things_that_are_left_open():
    strange = lambda text: strange_noun(read(text))  # noqa: E731
    assert strange("a blue helicopter") == "helicopter"
    assert strange("a steel knife with a wooden handle") == "knife"
    for text in ("a comfy red thing", "something to carry my books in", "red and soft", "somewhere to hang my coats"):
        assert strange(text) == ""


def test_a_material_with_a_colour_of_its_own_is_not_painted_unless_a_colour_is_said():
    import torch

    fields = {field.name: field for field in appearance_fields()}
    steel = torch.tensor([fields["material"].index("steel")])
    cover = torch.tensor([0])
    bare = AppearanceMask(asked("a steel fridge"), ["body"], ["body"])(fields["colour"], [steel, cover])[0]
    assert bare[fields["colour"].index("silver")]
    assert not bare[fields["colour"].index("pink")]
    pink = AppearanceMask(asked("a pink steel fridge"), ["body"], ["body"])(fields["colour"], [steel, cover])[0]
    assert [fields["colour"].words[k] for k in pink.nonzero()[:, 0]] == ["pink"]


def test_parts_hang_on_what_ever_carries_them_in_their_category():
    fields = {field.name: field for field in build_fields()}
    names = fields["name"]
    for kind, has_apron in (("block", True), ("lathe", False)):
        hold = BuildMask(asked("a table"), "table")
        hold.add({"name": "top", "kind": kind, "count": "1", "mirror": ""})
        assert bool(hold.mask(1, names, [])[names.index("apron")]) == has_apron
    hold = BuildMask(asked("a table"), "table")
    for name in ("top", "apron", "drawer", "leg"):
        hold.add({"name": name, "kind": "block", "count": "1", "mirror": ""})
    carriers = hold.mask(4, fields["parent"], [names.index("knob")])
    assert [fields["parent"].words[k] for k in carriers.nonzero()[:, 0]] == ["2"]
