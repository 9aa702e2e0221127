"""Lists and numbers of a part say all there is to say of it."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from neurok.catalogue import CATEGORIES, generate
from neurok.generation.attachment import attach
from neurok.generation.fields import (
    appearance_fields,
    build_fields,
    can_be_listed,
    choice_words,
    chosen,
    part_words,
    quarters,
    whole_fields,
    whole_words,
)
from neurok.generation.numbers import WIDTH, Standard, part_of, row_of, scale_of, used_by


@pytest.mark.parametrize("category", ["chair", "plant", "bag", "cabinet"])
def test_words_and_numbers_give_the_same_solids_in_the_same_places(category):
    assembly, _ = generate(category, 7, 1)
    scale = scale_of(assembly)
    for part in assembly.parts:
        words = part_words(part)
        again = choice_words(
            (*build_fields(), *appearance_fields()),
            [*chosen(build_fields(), words), *chosen(appearance_fields(), words)],
        )
        assert again == words
        other = part_of(words, row_of(part, scale), scale)
        for one, two in zip(part.copies, other.copies, strict=True):
            for here, there in ((one, two), (two, one)):  # in any order: equal corners may change places
                assert cKDTree(there.vertices).query(here.vertices)[0].max() < 2e-3 * scale
            assert two.volume == pytest.approx(one.volume, rel=0.02)
        assert other.parent == part.parent
        assert (other.hinge is None) == (part.hinge is None)
        if part.hinge is not None:
            np.testing.assert_allclose(other.hinge.origin, part.hinge.origin, atol=1e-9)
            assert (other.hinge.lower, other.hinge.upper) == pytest.approx((part.hinge.lower, part.hinge.upper))
        assert (other.appearance.material, other.appearance.cover, other.appearance.feel) == (
            part.appearance.material,
            part.appearance.cover,
            part.appearance.feel,
        )


@pytest.mark.slow
@pytest.mark.parametrize("category", CATEGORIES)
def test_every_category_can_be_listed(category):
    for index in range(3):
        assembly, _ = generate(category, 3, index)
        assert can_be_listed(assembly)
        chosen(whole_fields(), whole_words(assembly))


def test_quarter_turns_are_the_24_rotations_of_a_cube():
    found = np.stack(quarters())
    assert len(found) == 24
    np.testing.assert_array_equal(found[0], np.eye(3))
    np.testing.assert_allclose(found @ found.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (24, 3, 3)))
    np.testing.assert_allclose(np.linalg.det(found), 1.0)
    assert len({row.tobytes() for row in np.round(found + 0.0)}) == 24


def test_numbers_that_mean_nothing_are_not_used():
    rng = np.random.default_rng(0)
    assembly, _ = generate("chair", 7, 1)
    scale = scale_of(assembly)
    for part in assembly.parts:
        words, row = part_words(part), row_of(part, scale)
        used = used_by(words)
        noise = np.where(used > 0, row, row + rng.normal(size=WIDTH))
        one, two = part_of(words, row, scale), part_of(words, noise, scale)
        np.testing.assert_allclose(one.copies[0].vertices, two.copies[0].vertices, atol=1e-12)


def test_standard_rows_have_no_mean_and_unit_spread():
    rng = np.random.default_rng(0)
    rows, kinds = rng.normal(3.0, 2.0, size=(400, WIDTH)), rng.integers(5, size=400)
    standard = Standard.of(rows, np.ones_like(rows), kinds)
    even = standard.to(rows, kinds)
    np.testing.assert_allclose(even.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(even.std(axis=0), 1.0, atol=1e-9)
    np.testing.assert_allclose(standard.back(even, kinds), rows)


def test_parts_that_were_torn_off_are_brought_back():
    from dataclasses import replace

    assembly, _ = generate("chair", 7, 1)
    parts = list(assembly.parts)
    offset = np.array([0.0, 0.5, 0.0])
    parts[-1] = replace(parts[-1], centre=parts[-1].centre + offset, meets=parts[-1].meets + offset)
    broken = replace(assembly, parts=tuple(parts))
    attached = attach(broken)
    assert attached.bodies == 1
    assert 0.1 < attached.moved < 0.6
    assert attach(assembly).moved == 0.0
    assert attached.assembly.bounds[0, 1] == pytest.approx(0.0, abs=1e-9)
