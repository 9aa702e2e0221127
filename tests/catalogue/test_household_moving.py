"""Household things that move: doors turn outwards, drawers slide out, handles go along, few parts, one body."""

import numpy as np
import pytest

from neurok.catalogue import CATEGORIES, MOVING_TEN, SOFT_TWELVE, asset_of, check_assembly, draw, generate
from neurok.catalogue.captions import full_caption, groups, total
from neurok.catalogue.parts import Assembly
from neurok.catalogue.vocabulary import number, plural
from neurok.core import Articulation
from neurok.modelling.sampler import Sampler
from neurok_lab.data.captions import captions

MOST_PARTS = 24


def dice(seed: int) -> Sampler:
    return Sampler(np.random.default_rng(seed))


@pytest.fixture(scope="module")
def cabinet() -> Assembly:
    """One with doors and drawers that have handles."""
    made = (draw("cabinet", np.random.default_rng(seed)) for seed in range(40))
    wanted = ("door", "drawer")
    return next(a for a in made if all(sum(p.name == n for p in a.parts) > 1 for n in wanted) and _grips(a))


def _grips(assembly: Assembly) -> list[int]:
    return [k for k, part in enumerate(assembly.parts) if part.name in ("handle", "knob")]


def moved_by(articulation: Articulation, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices at rest and with one joint at its upper limit, and the part of each vertex."""
    q = np.zeros(articulation.dof)
    joint = articulation.part_names.index(name)
    q[articulation.slots[joint]] = articulation.joints[joint].upper
    return articulation.mesh.vertices, articulation.pose(q).vertices, articulation.vertex_parts


def test_the_moving_ten_come_after_the_soft_twelve():
    assert len(SOFT_TWELVE) == 12
    assert CATEGORIES == SOFT_TWELVE + MOVING_TEN


@pytest.mark.parametrize("category", MOVING_TEN)
def test_an_instance_is_sound_and_small(category):
    assembly, rejected = generate(category, 3, 0)
    assert check_assembly(assembly) == []
    assert len(rejected) < 3
    assert len(assembly.parts) <= MOST_PARTS


@pytest.mark.slow
@pytest.mark.parametrize("category", ["cabinet", "desk"])
def test_no_object_has_more_parts_than_a_row_of_tokens(category):
    assert all(len(draw(category, np.random.default_rng(seed)).parts) <= MOST_PARTS for seed in range(25))


def test_doors_open_outwards_and_take_their_handles_along(cabinet):
    moving = asset_of(cabinet).articulation
    assert moving is not None
    for name in [name for name in moving.part_names if name.split("_")[0] == "door"]:
        rest, opened, parts = moved_by(moving, name)
        own = parts == moving.part_names.index(name)
        assert opened[own, 2].mean() > rest[own, 2].max()
        assert opened[own, 2].min() > rest[own, 2].min() - 0.002
        _assert_children_move_rigidly(moving, name, rest, opened, parts)


def test_drawers_slide_out_to_the_front_with_their_handles(cabinet):
    moving = asset_of(cabinet).articulation
    assert moving is not None
    for name in [name for name in moving.part_names if name.split("_")[0] == "drawer"]:
        rest, opened, parts = moved_by(moving, name)
        joint = moving.joints[moving.part_names.index(name)]
        own = parts == moving.part_names.index(name)
        np.testing.assert_allclose(opened[own] - rest[own], [[0.0, 0.0, joint.upper]] * int(own.sum()), atol=1e-9)
        assert joint.upper < np.ptp(rest[own, 2])
        _assert_children_move_rigidly(moving, name, rest, opened, parts)


def _assert_children_move_rigidly(moving: Articulation, name: str, rest, opened, parts) -> None:
    """What hangs on a part keeps its distances to it; what does not, stays."""
    k = moving.part_names.index(name)
    along = {k}
    for child, joint in enumerate(moving.joints):
        if joint.parent in along:
            along.add(child)
    goes = np.isin(parts, list(along))
    np.testing.assert_array_equal(rest[~goes], opened[~goes])
    for child in along - {k}:
        a, b = rest[parts == k][:1], rest[parts == child]
        c, d = opened[parts == k][:1], opened[parts == child]
        np.testing.assert_allclose(np.linalg.norm(b - a, axis=1), np.linalg.norm(d - c, axis=1), atol=1e-9)


@pytest.mark.parametrize(
    ("maker", "part"),
    [
        ("containers:trunk", "lid"),
        ("containers:toy_box", "lid"),
        ("containers:pedal_bin", "lid"),
        ("containers:flip_bin", "lid"),
    ],
)
def test_lids_open_upwards(maker, part):
    import importlib

    module, function = maker.split(":")
    made = getattr(importlib.import_module(f"neurok.catalogue.{module}"), function)(dice(1))
    moving = asset_of(made).articulation
    assert moving is not None
    rest, opened, parts = moved_by(moving, part)
    own = parts == moving.part_names.index(part)
    assert opened[own, 1].max() > rest[own, 1].max() + 0.5 * np.ptp(rest[own, 2])
    assert opened[own, 2].mean() < rest[own, 2].mean()


def test_a_laptop_closes_flat():
    from neurok.catalogue.containers import laptop

    moving = asset_of(laptop(dice(2))).articulation
    assert moving is not None
    closed = moving.pose(moving.limits[:, 0]).vertices
    assert np.ptp(closed[:, 1]) < 0.05 < 0.5 * np.ptp(moving.mesh.vertices[:, 1])


def test_a_desk_lamp_has_three_joints_in_a_chain():
    from neurok.catalogue.lamps import desk_lamp

    moving = asset_of(desk_lamp(dice(0))).articulation
    assert moving is not None
    arms = [k for k, joint in enumerate(moving.joints) if joint.dof]
    assert [moving.joints[k].kind for k in arms] == ["revolute"] * 3
    assert [moving.joints[k].parent for k in arms[1:]] == arms[:-1]


def test_parts_of_one_name_and_look_are_said_as_one_with_their_total(cabinet):
    text = full_caption(cabinet)
    found = groups(cabinet)
    assert sorted(k for group in found for k in group) == list(range(len(cabinet.parts)))
    assert text.startswith(f"a cabinet made of {len(found)} parts: ")
    for group in found:
        parts = [cabinet.parts[k] for k in group]
        count = total(parts)
        assert len({(part.name, part.appearance) for part in parts}) == 1
        if count > 1:
            assert f"{number(count)} " in text
            assert plural(parts[0].name) in text


def test_a_caption_names_all_parts_of_a_group(cabinet):
    found = groups(cabinet)
    doors = next(group for group in found if cabinet.parts[group[0]].name == "door")
    told = [each for each in captions(cabinet, 0, 80) if "doors" in each.text]
    assert told
    assert all(set(doors) <= set(each.named) for each in told)
    assert any("two" in each.text or "2" in each.text for each in told)
