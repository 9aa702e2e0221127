"""Edits change what they name, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue import Part, Repeat, generate
from neurok.catalogue.appearance import rgb_of
from neurok.catalogue.record import record_of
from neurok.errors import NeurokError
from neurok.generation.attachment import attach
from neurok.generation.edit_request import MORE, read_edit
from neurok.generation.editing import edited, named_parts, removed
from neurok.generation.reshaping import counted, part_factors, resized


class NoArtist:
    """For edits that need no network."""

    def replace(self, assembly, numbers, styles):
        raise AssertionError("nothing is to be drawn")

    def add(self, assembly, names):
        return None


@pytest.fixture(scope="module")
def chair():
    """Seat, four legs, two posts and a back."""
    return generate("chair", 8, 11)[0]


@pytest.fixture(scope="module")
def sofa():
    return generate("sofa", 7, 1)[0]


def changed(assembly, text):
    return edited(assembly, read_edit(text).changes, NoArtist())


def rows(assembly):
    return {f"{k} {part.name}": row for k, (part, row) in enumerate(zip(assembly.parts, record_of(assembly)["parts"]))}


def differing(one, two):
    before, after = rows(one), rows(two)
    return [key for key in before if before[key] != after.get(key)]


def number_of(assembly, name):
    return [part.name for part in assembly.parts].index(name)


def test_a_colour_changes_the_named_part_in_words_and_numbers(chair):
    other = changed(chair, "a navy seat")
    finish = other.assembly.parts[number_of(chair, "seat")].appearance
    assert (finish.colour, finish.shade, finish.rgb) == ("navy", "navy", rgb_of("navy"))
    assert differing(chair, other.assembly) == ["0 seat"]
    assert not other.is_moved
    for old, new in zip(chair.parts[1:], other.assembly.parts[1:], strict=True):
        assert old is new


def test_a_material_brings_its_own_colour_and_takes_the_grain_along(chair):
    oak = changed(chair, "make the legs oak").assembly
    leg = oak.parts[number_of(chair, "leg")].appearance
    assert (leg.material, leg.pattern, leg.colour) == ("oak", "wood", "light brown")
    steel = changed(oak, "make the legs metal").assembly.parts[number_of(chair, "leg")].appearance
    assert (steel.material, steel.pattern, steel.cover) == ("steel", "plain", "")


def test_a_cloth_covers_what_is_padded(chair):
    seat = changed(chair, "a red velvet seat").assembly.parts[number_of(chair, "seat")].appearance
    assert (seat.cover, seat.colour) == ("velvet", "red")
    assert seat.material == chair.parts[0].appearance.material


def test_several_parts_are_changed_at_once(sofa):
    text = "oak legs and red cushions"
    other = changed(sofa, text).assembly
    for old, new in zip(sofa.parts, other.parts, strict=True):
        if new.name == "leg":
            assert new.appearance.material == "oak"
        elif "cushion" in new.name:
            assert new.appearance.colour == "red"
        else:
            assert old is new


def test_patterns_take_the_second_colour(chair):
    finish = changed(chair, "a red and white striped seat").assembly.parts[0].appearance
    assert (finish.colour, finish.pattern, finish.second) == ("red", "stripes", "white")


@pytest.mark.parametrize(
    ("text", "axis", "factor"),
    [("wider", 0, MORE), ("narrower", 0, 1 / MORE), ("taller", 1, MORE), ("deeper", 2, MORE), ("20% wider", 0, 1.2)],
)
def test_the_whole_grows_along_one_axis_alone(sofa, text, axis, factor):
    """Thin parts are moved and not stretched, and the others make up for it."""
    sofa = removed(sofa, [k for k, part in enumerate(sofa.parts) if part.name == "throw pillow"])
    step = changed(sofa, text)
    growth = np.ptp(attach(step.assembly).assembly.bounds, axis=0) / np.ptp(sofa.bounds, axis=0)
    assert step.is_moved
    assert growth[axis] == pytest.approx(factor, rel=0.04)
    np.testing.assert_allclose(np.delete(growth, axis), 1.0, atol=0.05)  # a back that leans reaches farther back


def test_pillows_stay_as_they_are_on_a_wider_sofa(sofa):
    k = number_of(sofa, "throw pillow")
    other = changed(sofa, "much wider").assembly
    np.testing.assert_array_equal(other.parts[k].size, sofa.parts[k].size)


def test_a_larger_object_is_the_same_one_scaled(chair):
    other = resized(chair, (), "size", 1.3)
    np.testing.assert_allclose(other.bounds, 1.3 * chair.bounds, atol=1e-9)


@pytest.mark.parametrize("text", ["wider", "taller", "smaller", "thicker legs", "make the back higher", "longer legs"])
def test_parts_still_meet_when_sizes_change(chair, text):
    done = attach(changed(chair, text).assembly)
    assert done.bodies == 1
    assert done.moved < 0.02


def test_thicker_legs_are_as_long_as_before(chair):
    k = number_of(chair, "leg")
    other = changed(chair, "thicker legs").assembly
    ratio = other.parts[k].size / chair.parts[k].size
    assert sorted(ratio) == pytest.approx([1.0, MORE, MORE])
    assert differing(chair, other) == [f"{k} leg"]


def test_a_higher_back_grows_from_where_it_is_held(chair):
    k = number_of(chair, "back")
    other = changed(chair, "make the back higher").assembly
    np.testing.assert_allclose(other.parts[k].meets, chair.parts[k].meets)
    assert other.bounds[1, 1] > chair.bounds[1, 1] + 0.02
    assert differing(chair, other) == [f"{k} back"]


def test_children_follow_the_place_they_meet(chair):
    """A seat twice as wide: its legs stand apart twice as far, and are what they were."""
    other = resized(chair, (0,), "width", 2.0)
    k = number_of(chair, "leg")
    assert other.parts[k].meets[0] == pytest.approx(2.0 * chair.parts[k].meets[0])
    np.testing.assert_array_equal(other.parts[k].size, chair.parts[k].size)


def test_rods_and_boards_are_thick_in_other_ways(chair):
    part = replace(chair.parts[0], size=np.array([0.04, 0.5, 0.05]), turn=np.eye(3))
    np.testing.assert_array_equal(part_factors(part, "thickness", 2.0), [2.0, 1.0, 2.0])
    board = replace(part, size=np.array([0.4, 0.02, 0.5]))
    np.testing.assert_array_equal(part_factors(board, "thickness", 2.0), [1.0, 2.0, 1.0])
    np.testing.assert_array_equal(part_factors(board, "width", 2.0), [2.0, 1.0, 1.0])


def test_what_is_removed_goes_with_what_holds_it_and_hangs_on_it(chair):
    other = changed(chair, "without the back").assembly
    assert [part.name for part in other.parts] == ["seat", "leg"]
    legless = changed(chair, "remove the legs").assembly
    assert [part.name for part in legless.parts] == ["seat", "post", "back"]
    assert [part.parent for part in legless.parts] == [-1, 0, 1]


def test_the_part_that_all_hang_on_is_not_removed(chair):
    with pytest.raises(NeurokError, match="attached to the seat"):
        changed(chair, "remove the seat")
    with pytest.raises(NeurokError, match="cannot be removed"):
        removed(chair, (0,))


@pytest.mark.parametrize(
    "text", ["red drawers", "remove the arms", "make the propeller red", "five wheels", "a red door"]
)
def test_words_that_fit_no_part_name_those_there_are(chair, text):
    with pytest.raises(NeurokError, match="seat, leg, post, back"):
        changed(chair, text)


def test_what_cannot_be_added_is_said_in_a_sentence(chair):
    with pytest.raises(NeurokError, match="No place was found for a drawer on this chair"):
        changed(chair, "add a drawer")


@pytest.mark.parametrize(("count", "mirror"), [(1, ""), (2, "x"), (3, ""), (5, ""), (6, "z"), (8, "z")])
def test_legs_are_counted_anew(chair, count, mirror):
    k = number_of(chair, "leg")
    other, note = counted(chair, (k,), count)
    assert other.parts[k].repeat.total == count
    assert other.parts[k].repeat.mirror == mirror
    assert note == ""
    ends = np.array([pose[:3, 3] for pose in other.parts[k].poses])
    if count > 1:
        np.testing.assert_allclose(ends[:, [0, 2]].mean(axis=0), [0.0, chair.parts[k].repeat.pivot[1]], atol=1e-9)


def test_a_row_keeps_its_ends(chair):
    k = number_of(chair, "post")
    slat = replace(chair.parts[k], size=np.array([0.02, 0.4, 0.02]), turn=np.eye(3))
    row = replace(slat, repeat=Repeat(count=5, step=(0.1, 0.0, 0.0)))
    other, _ = counted(replace(chair, parts=(chair.parts[0], row)), (1,), 9)
    np.testing.assert_allclose(other.parts[1].poses[[0, -1]], row.poses[[0, -1]], atol=1e-12)
    assert len(other.parts[1].poses) == 9


def test_drawers_share_the_room_they_had():
    cabinet = next(
        one
        for one in (generate("cabinet", 7, index)[0] for index in range(40))
        if [part.name for part in one.parts].count("drawer") == 2
        and np.ptp([part.centre[0] for part in one.parts if part.name == "drawer"]) < 1e-6
    )
    numbers = named_parts(cabinet, read_edit("drawers red").changes[0].nouns[0])
    other, note = counted(cabinet, numbers, 4)
    assert note == ""
    old, new = ([p for p in one.parts if p.name == "drawer"] for one in (cabinet, other))
    assert len(new) == 4
    span = lambda parts: (  # noqa: E731
        min(p.centre[1] - p.size[_up(p)] / 2 for p in parts),
        max(p.centre[1] + p.size[_up(p)] / 2 for p in parts),
    )
    assert sum(p.size[_up(p)] for p in new) == pytest.approx(sum(p.size[_up(p)] for p in old))
    np.testing.assert_allclose(np.mean(span(new)), np.mean(span(old)), atol=1e-9)
    assert all(part.hinge is not None for part in new)


def _up(part: Part) -> int:
    return int(np.abs(part.turn[1]).argmax())


def test_a_count_that_cannot_be_is_said(sofa):
    k = number_of(sofa, "arm")
    other, note = counted(sofa, (k,), 3)
    assert other is sofa
    assert "keeps its two arms" in note
    assert "already" in counted(sofa, (k,), 2)[1]


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ("make the legs thicker and black", ["alter", "alter"]),
        ("remove the arms and make the back higher", ["remove", "alter"]),
        ("remove the arms and the cushions", ["remove", "remove"]),
        ("replace the back with a slatted one", ["replace"]),
        ("keep the legs, change the back", ["replace"]),
        ("another back", ["replace"]),
        ("no arms", ["remove"]),
        ("add two cushions", ["add"]),
        ("Remove the arms.", ["remove"]),
        ("please", []),
    ],
)
def test_sentences_are_taken_apart(text, verbs):
    assert [change.verb for change in read_edit(text).changes] == verbs


def test_what_is_said_after_a_part_is_said_of_it():
    first, second = read_edit("make the legs thicker and black").changes
    assert first.nouns == second.nouns
    assert first.resizes == (("thickness", MORE),)
    assert second.shades == ("black",)


def test_degrees_of_more():
    factor = lambda text: read_edit(text).changes[0].resizes[0][1]  # noqa: E731
    assert factor("slightly wider") < factor("wider") < factor("much wider")
    assert factor("twice as wide") == 2.0
    assert factor("narrower") == pytest.approx(1.0 / factor("wider"))


def test_an_edit_of_too_many_words_is_refused():
    with pytest.raises(NeurokError, match="at most 64"):
        read_edit("red " * 200)
