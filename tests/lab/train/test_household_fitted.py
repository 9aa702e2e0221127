"""Real models as lists: forms stand where parts stood, carry names of the vocabulary and follow their parents."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.catalogue import draw
from neurok.catalogue.parts import Appearance, Assembly, Part, Repeat
from neurok.catalogue.vocabulary import PART_NAMES
from neurok.generation.fields import can_be_listed
from neurok.modelling.forms import CODE, code_of
from neurok.modelling.shapes import box
from neurok_lab.parts.part_autoencoder import PartConfig, PartModel
from neurok_lab.train.household_fitted import fitted_thing, part_names, renamed, with_parents

pytestmark = pytest.mark.slow

WOOD = Appearance("brown", "brown", (0.4, 0.3, 0.2), "wood")
BOX = code_of("block", widths=np.full(5, 1.0), depths=np.full(5, 1.0), corner=0.05)


def part(size, centre, *, mesh=False, repeat=None, parent=0) -> Part:
    kind, code = ("implicit", np.zeros(CODE)) if mesh else ("block", BOX)
    return Part("body", "body", kind, code, np.array(size), np.array(centre), np.eye(3), WOOD,
                repeat=repeat or Repeat(), parent=parent, mesh=box(size) if mesh else None)  # fmt: skip


def stool(mesh: bool, off: float = 0.0) -> Assembly:
    leg = part([0.04, 0.44, 0.04], [off + 0.2, 0.22, 0.18], mesh=mesh, repeat=Repeat("xz", pivot=(off, 0.0)), parent=-1)
    back = part([0.44, 0.5, 0.03], [off, 0.7, -0.2], mesh=mesh)
    return Assembly("chair", (leg, part([0.46, 0.05, 0.44], [off, 0.46, 0.0], mesh=mesh), back))


def test_parts_of_a_chair_are_named_by_where_they_are():
    assert [one.name for one in renamed(stool(mesh=False)).parts[:2]] == ["leg", "seat"]
    kept = replace(stool(mesh=False).parts[2], name="armrest")
    assert renamed(Assembly("chair", (*stool(mesh=False).parts[:2], kept))).parts[2].name == "armrest"


def test_generated_parts_mostly_get_their_own_names():
    rng = np.random.default_rng(99)
    things = [draw("sofa", rng) for _ in range(6)]
    nameless = [replace(one, parts=tuple(replace(p, name="body") for p in one.parts)) for one in things]
    pairs = [(a.name, b.name) for x, y in zip(things, nameless, strict=True)
             for a, b in zip(x.parts, renamed(y).parts, strict=True)]  # fmt: skip
    assert np.mean([a == b for a, b in pairs]) > 0.7
    assert set(part_names("sofa").ranks) <= set(PART_NAMES)


def test_the_seat_comes_first_and_what_floats_is_left_out():
    thing = renamed(stool(mesh=False))
    floating = replace(part([0.1, 0.1, 0.1], [0.0, 3.0, 0.0]), name="cushion")
    found = with_parents(replace(thing, parts=(*thing.parts, floating)))
    assert [one.name for one in found.parts][:2] == ["seat", "leg"]
    assert [one.parent for one in found.parts] == [-1, 0, 0]
    assert found.parts[1].meets[1] == pytest.approx(0.44, abs=0.03)


@pytest.mark.slow
def test_forms_take_the_place_of_meshes_about_the_middle():
    model = PartModel(PartConfig(width=16, heads=2, field_width=16, form_width=16))
    made, alike = fitted_thing(model, stool(mesh=True, off=2.0))
    assert alike > 0.8
    assert can_be_listed(made)
    assert made.parts[0].name == "seat"
    assert made.parts[0].centre[0] == 0.0
    np.testing.assert_allclose(made.bounds.mean(axis=0)[[0, 2]], 0.0, atol=0.01)
    assert sorted(one.repeat.total for one in made.parts) == [1, 1, 4]
