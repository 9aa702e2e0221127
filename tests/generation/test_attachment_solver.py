"""Gaps between parts are closed together, with the least change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neurok.catalogue.assemble import Maker
from neurok.catalogue.materials import wood
from neurok.catalogue.parts import Repeat
from neurok.catalogue.solids import block
from neurok.generation.attachment import ATTACHMENT, DEPTH, ROUGH, AttachmentSolver, attach, moves_of
from neurok.generation.contacts import farthest, missing
from neurok.generation.numbers import scale_of
from neurok.modelling.sampler import Sampler
from neurok_lab.data.household import drawn

RIGID = replace(ATTACHMENT, even=1e9)


def stacked(gap, repeat=None):
    """A cube of 0.2 m over another one, aside of the middle, with a gap between them."""
    m = Maker("table")
    finish = wood(Sampler(np.random.default_rng(0)))
    below = m.add("top", block((0.2, 0.2, 0.2), (0.3, 0.1, 0.3), edge=0.0, corner=0.02), finish)
    at = (0.3, 0.3 + gap, 0.3)
    m.add("leg", block((0.2, 0.2, 0.2), at, edge=0.0, corner=0.02), finish, below, repeat=repeat or Repeat())
    return m.done()


def test_two_equal_parts_close_their_gap_by_half_each():
    gap = 0.02
    assembly = stacked(gap)
    solver = AttachmentSolver("table", assembly.parts, 0.4, RIGID)
    parts = solver.run()
    assert not missing(parts[1], parts[0])
    wanted = gap + DEPTH * 0.4
    # The least squares of |t|^2 + (h s)^2 for both with t + h s = wanted / 2 each: half of it is a move.
    for part, before, way in zip(parts, assembly.parts, (1, -1), strict=True):
        assert part.centre[1] - before.centre[1] == pytest.approx(way * wanted / 4, rel=0.02)
        assert farthest(part, before) == pytest.approx(wanted / 2, rel=0.05)


def test_how_a_point_moves_is_what_finite_differences_say():
    assembly = drawn("chair", 0, 3)
    number = next(k for k, part in enumerate(assembly.parts) if part.repeat.total > 1)
    rng = np.random.default_rng(0)
    solver = AttachmentSolver("chair", assembly.parts, 1.0)
    part = assembly.parts[number]
    copy = part.repeat.total - 1
    point = part.copies[copy].vertices[5]
    rows = solver._rows(number, copy, point, moves_of(part))
    change = 1e-4 * rng.standard_normal((len(assembly.parts), 6))
    own = np.linalg.solve(part.poses[copy], [*point, 1.0]) / [*part.size, 1.0]
    solver._apply(change)
    new = solver.parts[number]
    moved = (new.poses[copy] @ (own * [*new.size, 1.0]))[:3] - point
    np.testing.assert_allclose(moved, rows @ change.ravel(), atol=2e-7)


def test_a_part_that_is_there_several_times_meets_with_every_copy():
    m = Maker("table")
    finish = wood(Sampler(np.random.default_rng(0)))
    top = m.add("top", block((1.0, 0.05, 0.6), (0, 0.7, 0)), finish)
    m.add("leg", block((0.05, 0.62, 0.05), (0.4, 0.33, 0.2)), finish, top, repeat=Repeat("xz"))
    found = attach(m.done())
    assert found.bodies == 1
    assert found.moved < 0.7 * 0.04  # the top comes down, too
    legs = found.assembly.parts[1]
    assert legs.size[1] > 0.62  # they got longer instead of leaving the ground
    np.testing.assert_allclose(legs.size[[0, 2]], 0.05, rtol=0.02)


def test_what_stands_in_the_middle_stays_there():
    assembly = drawn("teddy bear", 0, 4)
    head = next(k for k, part in enumerate(assembly.parts) if part.name == "head")
    parts = list(assembly.parts)
    parts[head] = replace(parts[head], centre=parts[head].centre + [0.0, 0.12, 0.0])
    found = attach(replace(assembly, parts=tuple(parts)))
    assert found.bodies == 1
    assert found.assembly.parts[head].centre[0] == pytest.approx(0.0, abs=1e-9)


def test_a_mattress_that_is_too_short_reaches_the_ends_of_its_base_again():
    assembly = drawn("crib", 0, 11)
    names = [part.name for part in assembly.parts]
    number, parts = names.index("mattress"), list(assembly.parts)
    whole = parts[number]
    parts[number] = replace(whole, size=whole.size * [0.88, 1.0, 1.0])
    scale = scale_of(assembly)
    drawn_out = AttachmentSolver("crib", parts, scale, ROUGH).run()
    short = lambda some: some[0].size[0] - some[number].size[0] - (parts[0].size[0] - whole.size[0])  # noqa: E731
    assert abs(short(drawn_out)) < 0.3 * short(parts)
    assert np.abs(drawn_out[number].size[1:] / whole.size[1:] - 1).max() < 0.1


def test_ends_that_always_lie_at_the_same_place_are_counted(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from count_household_words import joins_of

    def stool(number):
        m = Maker("table")
        finish = wood(Sampler(np.random.default_rng(0)))
        wide = 0.4 + 0.05 * number
        top = m.add("top", block((wide, 0.04, 0.5), (0, 0.5, 0)), finish)
        m.add("leg", block((0.05, 0.49, 0.05), (0.1, 0.245, 0.1)), finish, top, repeat=Repeat("xz"))
        return m.done()

    rows = joins_of([stool(number) for number in range(6)], least=6)["table"]["leg"]["top"]["ends"]
    found = {tuple(row[:3]): row[3] for row in rows}
    assert found[1, 1, 0] == pytest.approx(0.01 / 0.52, abs=0.01)  # legs end inside the top
    assert (0, 1, 1) not in found  # tops are of all widths
