"""Each flag goes up for what it is meant for, names part and remedy, and stays down otherwise."""

import copy

import pytest

from neurok.core import material
from neurok.folders.flags import ACTIONS, LIMITS, Bulk, TriedPart, flags_of

PARTS = (
    TriedPart("seat", material("foam"), (("leather", 0.3),), 2.0),
    TriedPart("legs", material("oak"), (("steel", 0.2),), 5.0),
)
STILL = {key: [good, good] for key, good in (("squash", 1.0), ("spread", 1.0), ("stretch", 0.01), ("bend", 0.001))}
GOOD = {
    name: {
        "status": "ok",
        "seconds": 2.0,
        "depth": 0.0,
        "speed": [0.0, 0.0],
        "shake": [0.0, 0.0],
        "moved": 0.5,
        "lean": 1.0,
        "height": 1.0,
        "above": 0.0,
        "parts": {"seat": {**STILL, "apart": [0.0, 0.0]}, "legs": {**STILL, "apart": [0.0, 0.0]}},
    }
    for name in ACTIONS
}


def flags(*changes: tuple, density: float = 50.0, mass: float = 7.0, parts: tuple[TriedPart, ...] = PARTS):
    runs = copy.deepcopy(GOOD)
    for run, *path, value in changes:
        place = runs[run]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value
    return flags_of(runs, parts, Bulk(1.0, mass, density), LIMITS)


def test_a_sound_object_has_no_flag():
    assert flags() == []


@pytest.mark.parametrize(
    ("kind", "part", "words", "change"),
    [
        ("diverged", "seat", "stiffer material, perhaps leather", ("drop", "status", "diverged")),
        ("flows", "seat", "40% of its extent", ("drop", "parts", "seat", "squash", [0.3, 0.4])),
        ("flows", "seat", "200% of its extent", ("drop", "parts", "seat", "spread", [2.0, 2.0])),
        ("tears", "seat", "stretched by 200%", ("throw", "parts", "seat", "stretch", [2.0, 0.1])),
        ("bends", "legs", "perhaps steel", ("wind", "parts", "legs", "bend", [0.12, 0.0])),
        ("comes apart", "legs", "leaves what it touches", ("drag", "parts", "legs", "apart", [0.1, 0.0])),
        ("does not move", "legs", "does not move in 'drag'", ("drag", "moved", 0.0)),
        ("penetrates", "seat", "into the ground", ("throw", "depth", 0.02)),
        ("never rests", "seat", "does not slow down", ("stand", "speed", [0.1, 0.1])),
        ("tips", "legs", "leans by 60 degrees", ("stand", "lean", 60.0)),
        ("sags", "seat", "loses 20% of its height", ("stand", "height", 0.8)),
        ("floats", "", "above the ground", ("drop", "above", 0.1)),
    ],
)
def test_each_fault_has_its_flag(kind, part, words, change):
    (found,) = flags(change)
    assert (found.kind, found.part) == (kind, part)
    assert words in found.sentence
    assert found.run == change[0]


def test_mass_is_compared_with_the_box():
    assert [flag.kind for flag in flags(density=2000.0)] == ["heavy"]
    assert [flag.kind for flag in flags(density=1.0)] == ["light"]
    assert [(flag.kind, flag.part) for flag in flags(mass=30.0, density=100.0)] == [("filled", "legs")]


def test_soft_things_that_move_like_stone_are_flagged():
    still = {"squash": [1.0, 1.0], "stretch": [0.0, 0.0], "bend": [0.0, 0.0]}
    changes = [(run, "parts", "seat", key, value) for run in ACTIONS for key, value in still.items()]
    assert [(flag.kind, flag.part) for flag in flags(*changes)] == [("does not give", "seat")]


def test_what_flows_by_nature_may_flow():
    soil = (TriedPart("seat", material("sand"), (), 2.0), PARTS[1])
    assert flags(("drop", "parts", "seat", "squash", [0.1, 0.1]), parts=soil) == []


def test_what_is_thrown_may_still_roll_when_a_run_ends_and_what_shakes_less_and_less_may_shake():
    assert flags(("throw", "speed", [0.5, 0.5]), ("drop", "shake", [0.5, 0.1]), ("tilt", "shake", [0.5, 0.5])) == []
    assert flags(("throw", "shake", [0.5, 0.5]), ("throw", "seconds", 0.7)) == []
    assert [flag.kind for flag in flags(("throw", "shake", [0.5, 0.5]))] == ["never rests"]
