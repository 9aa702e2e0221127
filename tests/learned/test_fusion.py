"""Networks and search as one answer."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurok.bodyplan.search import search_joints
from neurok.catalogue.samples import make_sample
from neurok.learned.joint_network import KINDS, SLIDE, TURN
from neurok.learned.joints import signed_directions
from neurok.learned.part_features import describe_parts
from neurok.learned.search_evidence import (
    EvidenceLines,
    FusionConfig,
    SearchEvidence,
    axis_weight,
    fuse_limits,
    log_pool,
    open_side,
    search_evidence,
)

UP = np.array([0.0, 1.0, 0.0])


def evidence_line(likely, place=(0.0, 0.0, 0.0), move=TURN):
    """A search that knows one line to turn about or to slide along, of the only direction."""
    lines = EvidenceLines(
        np.array([move]), np.array([0]), np.array([place], dtype=float), np.array([likely]), np.array([0.5])
    )
    return SearchEvidence(np.full((1, 5), 0.2), np.ones((1, 1, 2)), (lines,))


def limits_after(network, spread, evidence, sided=False):
    limits = np.zeros((1, 2, 2))
    limits[0] = network
    directions, choices = UP[None, None], np.zeros((1, 2), dtype=np.int64)
    found = fuse_limits(limits, np.array([spread]), np.array([sided]), np.zeros((1, 3)), directions, choices, evidence)
    return found[0, int(evidence.lines[0].moves[0])].tolist()


def test_limits_lie_on_the_side_that_is_open():
    straddling = np.array([-1.0, 0.5])
    assert open_side(straddling, (0.0, 3.0)).tolist() == [0.0, 1.5]
    assert open_side(straddling, (-3.0, 0.0)).tolist() == [-1.5, 0.0]
    assert open_side(straddling, (-2.0, 2.0)).tolist() == [-1.0, 0.5]
    assert open_side(straddling, (0.0, 0.0)).tolist() == [-1.0, 0.5]


def test_a_length_that_views_agree_on_is_kept_and_a_guess_gives_way_to_the_search():
    evidence = evidence_line((0.0, 1.2))
    assert limits_after((0.0, 2.0), 0.02, evidence) == [0.0, 2.0]
    assert limits_after((0.0, 2.0), 0.5, evidence) == [0.0, 1.2]


def test_a_slide_keeps_its_length_too_and_the_search_tells_its_side():
    for spread in (0.02, 0.5):
        assert limits_after((0.0, 2.0), spread, evidence_line((-1.2, 0.0), move=SLIDE)) == [-2.0, 0.0]


def test_a_slide_stays_on_the_side_that_all_views_see_and_a_turn_does_not():
    shut = {move: evidence_line((-1.2, 0.0), move=move) for move in (TURN, SLIDE)}
    assert limits_after((0.0, 2.0), 0.02, shut[SLIDE], sided=True) == [0.0, 2.0]
    assert limits_after((0.0, 2.0), 0.02, shut[TURN], sided=True) == [-2.0, 0.0]


def test_a_guess_stays_where_the_search_knows_no_line_or_no_range():
    assert limits_after((0.0, 2.0), 0.5, evidence_line((0.0, 1.2), place=(0.5, 0.0, 0.0))) == [0.0, 2.0]
    assert limits_after((0.0, 2.0), 0.5, evidence_line((0.0, 0.0))) == [0.0, 2.0]
    assert limits_after((0.0, 2.0), 0.5, evidence_line((np.nan, np.nan))) == [0.0, 2.0]


def test_the_search_counts_more_for_parts_on_which_views_disagree():
    shares = np.array([[0.7, 0.2, 0.1], [0.5, 0.4, 0.1]])
    votes = np.array([[1.0, 0.0, 0.0], [0.75, 0.25, 0.0]])
    assert axis_weight(votes, shares, FusionConfig(axes=0.5, doubtful_axes=0.8)).tolist() == [[0.5], [0.8]]


@given(st.floats(0.0, 1.0), st.integers(0, 100))
def test_a_blend_of_shares_is_shares_and_ends_at_its_two_sources(trust, seed):
    network, search = np.random.default_rng(seed).dirichlet(np.ones(4), (2, 3))
    both = log_pool(network, search, trust)
    assert np.allclose(both.sum(axis=1), 1.0)
    assert np.allclose(log_pool(network, search, 0.0), np.maximum(network, 1e-6), atol=1e-5)
    assert np.allclose(log_pool(network, search, 1.0), np.maximum(search, 1e-6), atol=1e-5)
    same = log_pool(network, network, trust)
    assert np.allclose(same, network, atol=1e-5)


def test_many_lines_to_turn_about_do_not_outvote_a_better_one_to_slide_along():
    """Twenty poor hinges sum up to more than one good slide, but the slide is what the search would answer."""
    mesh = make_sample("laptop").articulation.mesh
    clouds = describe_parts(mesh)
    search = search_joints(mesh)
    part = next(p for p in range(mesh.part_count) if search.parents[p] >= 0)
    hinge = next(c for c in search.hypotheses[part] if c.kind == "revolute")
    made = (replace(hinge, kind="prismatic", probability=0.3), *(replace(hinge, probability=0.05) for _ in range(20)))
    few = replace(search, hypotheses=tuple(made if p == part else () for p in range(mesh.part_count)))
    few = replace(few, rejected=((),) * mesh.part_count)
    kinds = search_evidence(clouds, signed_directions(clouds), few).kinds[list(clouds.parts).index(part)]
    assert np.isclose(kinds.sum(), 1.0)
    assert kinds.argmax() == KINDS.index("prismatic")
