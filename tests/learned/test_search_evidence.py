"""What the search says, as probabilities over the options of the network."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.bodyplan.search import search_joints
from neurok.learned import search_evidence as module
from neurok.learned.joint_network import KINDS, SLIDE, TURN
from neurok.learned.joints import signed_directions
from neurok.learned.part_features import describe_parts
from neurok.learned.search_evidence import search_evidence
from solids import door_on_a_box

DOOR = 1


@pytest.fixture(scope="module")
def search():
    return search_joints(door_on_a_box())


def evidence_of(search, valid=None, rejected=None):
    """The evidence for the door, if these hypotheses of it are all there are."""
    if valid is not None or rejected is not None:
        search = replace(search, hypotheses=((), tuple(valid or ())), rejected=((), tuple(rejected or ())))
    clouds = describe_parts(search.mesh)
    directions = signed_directions(clouds)
    found = search_evidence(clouds, directions, search)
    row = list(clouds.parts).index(DOOR)
    return found, row, clouds, directions


def made(kind="revolute", axis=(0.0, 1.0, 0.0), probability=0.5, limits=(0.0, 1.2), **more):
    origin = np.array([0.0, 0.0, 0.4])
    return Hypothesis(DOOR, 0, kind, np.array(axis), origin, *limits, probability, **more)


def test_kinds_and_directions_are_probabilities(search):
    found, _, clouds, _ = evidence_of(search)
    assert np.allclose(found.kinds.sum(axis=1), 1.0)
    assert np.allclose(found.axes.sum(axis=1), 1.0)
    assert found.kinds.min() > 0.0
    assert len(found.lines) == len(clouds.parts)


def test_a_single_hypothesis_takes_all_but_the_floor(search, monkeypatch):
    monkeypatch.setattr(module, "EVEN_SHARE", 0.1)
    found, row, _, directions = evidence_of(search, [made()])
    assert found.kinds[row].argmax() == KINDS.index("revolute")
    upright = int(np.abs(directions[row] @ (0.0, 1.0, 0.0)).argmax())
    count = directions.shape[1]
    assert found.axes[row, upright, TURN] == pytest.approx(0.9 + 0.1 / count)
    assert np.allclose(found.axes[row, :, SLIDE], 1.0 / count)  # nothing is said of slides


def test_a_line_counts_less_if_it_collides_at_once(search, monkeypatch):
    blocked = [made(reason="collides with body after 0 deg")]
    slide = [made("prismatic", (0.0, 0.0, 1.0))]
    shares = []
    for weight in (1.0, 0.2, 0.0):
        monkeypatch.setattr(module, "BLOCKED_WEIGHT", weight)
        monkeypatch.setattr(module, "EVEN_SHARE", 0.0)
        found, row, _, _ = evidence_of(search, slide, blocked)
        shares.append(found.kinds[row, KINDS.index("revolute")])
    assert np.allclose(shares, (1 / 2, 1 / 6, 0.0))


def test_limits_are_counted_about_the_signed_direction(search):
    sides = []
    for sign in (1.0, -1.0):
        found, row, _, directions = evidence_of(search, [made(axis=(0.0, sign, 0.0), limits=(-0.25, 1.0))])
        lines = found.lines[row]
        along = float(directions[row, lines.directions[0]] @ (0.0, sign, 0.0))
        assert abs(along) > 0.99
        assert np.allclose(lines.limits[0], (-0.25, 1.0) if along > 0 else (-1.0, 0.25))
        sides.append(lines.limits[0])
    assert np.allclose(sides[0], -sides[1][::-1])


def test_slides_are_measured_in_the_unit_box_and_full_turns_have_no_limits(search):
    given = [made("prismatic", (0.0, 0.0, 1.0), limits=(0.0, 0.4)), made("continuous", limits=(-np.pi, np.pi))]
    found, row, clouds, _ = evidence_of(search, given)
    slide, turn = found.lines[row].limits
    assert np.abs(slide).max() == pytest.approx(0.4 / clouds.scale)
    assert np.isnan(turn).all()
    assert np.allclose(clouds.from_box(found.lines[row].places), (0.0, 0.0, 0.4))


def test_lines_along_no_direction_of_the_part_count_for_its_kind_alone(search, monkeypatch):
    askew = made(axis=np.array([1.0, 1.3, 0.7]) / np.linalg.norm([1.0, 1.3, 0.7]))
    found, row, _, _ = evidence_of(search, [askew])
    assert found.kinds[row].argmax() == KINDS.index("revolute")
    assert len(found.lines[row]) == 0
    monkeypatch.setattr(module, "SAME_DIRECTION", 0.1)
    loose, row, _, _ = evidence_of(search, [askew])
    assert len(loose.lines[row]) == 1
    assert len(loose.along(row, TURN, int(loose.lines[row].directions[0]))) == 1
    assert len(loose.along(row, SLIDE, int(loose.lines[row].directions[0]))) == 0
