"""Features beyond the lists: what slides runs free, what is stacked stands in one piece, and edits keep it so."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue import draw
from neurok.catalogue.asset import asset_of
from neurok.catalogue.checks import body_count
from neurok.catalogue.record import assembly_of, record_of
from neurok.generation.attachment import attach
from neurok.generation.contacts import ends_of
from neurok.generation.features import SITTING, with_features
from neurok.generation.lexicon import read
from neurok.generation.request import request_of


def drawn(category, style, fits=lambda assembly: True):
    for seed in range(200):
        assembly = draw(category, np.random.default_rng(seed))
        if (not style or style in assembly.style) and fits(assembly):
            return assembly
    raise AssertionError(f"no {style} {category}")


def asked(text, assembly):
    spans = read(text)
    return with_features(assembly, spans, request_of(spans))


def bodies(assembly):
    return body_count([solid for part in assembly.parts for solid in part.solids])


@pytest.fixture(scope="module")
def wardrobe():
    plain = drawn("cabinet", "wardrobe", lambda one: sum(part.name == "door" for part in one.parts) == 2)
    return plain, asked("a wardrobe with sliding doors", plain)


def test_sliding_doors_run_along_the_face_and_pass_each_other(wardrobe):
    plain, made = wardrobe
    doors = [part for part in made.parts if part.name == "door"]
    assert len(doors) == sum(part.name == "door" for part in plain.parts)
    assert all(door.hinge.kind == "prismatic" and abs(door.hinge.axis[0]) == 1.0 for door in doors)
    depths = sorted(tuple(ends_of(door)[:, 2]) for door in doors)
    assert depths[0][1] < depths[1][0]
    for door in doors:
        across = float(np.ptp(ends_of(door)[:, 0]))
        assert 0.5 * across < door.hinge.upper < across
    assert bodies(made) == 1


def test_sliding_doors_close_what_doors_on_hinges_did(wardrobe):
    plain, made = wardrobe
    wide = [
        (min(low), max(high))
        for ends in ([ends_of(part)[:, 0] for part in one.parts if part.name == "door"] for one in (plain, made))
        for low, high in [tuple(zip(*ends, strict=True))]
    ]
    np.testing.assert_allclose(wide[0], wide[1], atol=1e-6)


def test_sliding_doors_stay_so_in_files_and_when_parts_are_put_together_again(wardrobe):
    again = assembly_of(record_of(wardrobe[1]))
    kinds = [part.hinge.kind for part in attach(again).assembly.parts if part.name == "door"]
    assert kinds == ["prismatic"] * 2
    articulation = asset_of(again).articulation
    assert sum(joint.kind == "prismatic" for joint in articulation.joints) >= 2


def test_one_door_alone_has_nowhere_to_slide():
    single = drawn("cabinet", "nightstand", lambda one: sum(part.name == "door" for part in one.parts) == 1)
    assert asked("a nightstand with sliding doors", single) is single


@pytest.mark.parametrize("style", ["double door", "inner door"])
def test_leaves_of_a_sliding_door_run_aside_before_the_frame(style):
    plain = drawn("door", style)
    made = asked("a sliding door", plain)
    frame = max(float(ends_of(part)[1, 2]) for part in made.parts if part.name in ("jamb", "lintel"))
    leaves = sorted((part for part in made.parts if part.name == "door"), key=lambda part: part.centre[0])
    assert len(leaves) == sum(part.name == "door" for part in plain.parts)
    for leaf in leaves:
        assert ends_of(leaf)[0, 2] > frame
        assert leaf.hinge.upper == pytest.approx(float(np.ptp(ends_of(leaf)[:, 0])))
    assert leaves[-1].hinge.axis[0] == 1.0
    assert len(leaves) == 1 or leaves[0].hinge.axis[0] == -1.0
    assert bodies(made) == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_bunk_bed_has_two_mattresses_in_one_piece_with_room_to_sit(seed):
    bed = draw("bed", np.random.default_rng(seed))
    made = asked("a bunk bed", bed)
    if made is bed:
        pytest.skip("a bed without a mattress")
    lower, upper = sorted(ends_of(part)[:, 1].tolist() for part in made.parts if part.name == "mattress")
    assert upper[0] - lower[1] > 0.9 * SITTING
    assert bodies(made) == 1
    assert "bunk" in made.style


def test_a_chest_freezer_is_a_white_steel_box_whose_lid_opens_unless_a_colour_is_said():
    box = drawn("box", "trunk", lambda one: any(part.hinge for part in one.parts))
    white, red = (asked(text, box) for text in ("a chest freezer", "a red chest freezer"))
    assert {part.appearance.colour for part in white.parts} == {"white"}
    assert "white" not in {part.appearance.colour for part in red.parts}
    assert {part.appearance.material for part in white.parts} == {"steel"}
    assert [part.hinge.kind for part in white.parts if part.hinge] == ["revolute"]
    assert white.bounds[1, 1] == pytest.approx(0.86)


def test_nothing_is_changed_that_was_not_asked_for(wardrobe):
    plain = wardrobe[0]
    assert asked("a wardrobe with two doors", plain) is plain
    bed = replace(plain, category="bed")
    assert asked("a wardrobe with sliding doors", bed) is bed
