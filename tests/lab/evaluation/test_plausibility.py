"""True states are plausible by every measure; torn and overlapping ones are not."""

import numpy as np
import pytest

from neurok_lab.evaluation.plausibility import Probe, measure_states, random_rigid_states, summarise_states, true_states


@pytest.fixture
def probe(drawer_case):
    return Probe(drawer_case, drawer_case.articulation)


def test_true_states_of_rigid_parts_neither_stretch_nor_enter_each_other(probe, drawer_case):
    states = true_states(drawer_case, 6, 12)
    assert probe.edge_stretch(states) < 1e-12
    assert probe.part_stretch(states) < 1e-12
    assert probe.penetration(states) == 0.0


def test_a_state_covers_itself_and_rest_covers_nothing(probe, drawer_case):
    states = true_states(drawer_case, 6, 12)
    assert probe.coverage(states, states) == 0.0
    assert probe.coverage(drawer_case.rest.vertices[None], states) == pytest.approx(1.0)


def test_scaling_stretches_edges_and_parts_by_its_factor(probe, drawer_case):
    states = 1.2 * drawer_case.rest.vertices[None]
    assert probe.edge_stretch(states) == pytest.approx(0.2)
    assert probe.part_stretch(states) == pytest.approx(0.2)


def test_a_block_pushed_half_into_a_plate_has_entered_it(probe, drawer_case):
    block = drawer_case.articulation.vertex_parts == 1
    states = drawer_case.rest.vertices[None].copy()
    states[0, block, 1] -= 0.1
    moved, points = states[0], probe.points(states)[0]
    on = block[probe.samples.faces[:, 0]]
    within = lambda x: ((points > x.min(axis=0)) & (points < x.max(axis=0))).all(axis=1)  # noqa: E731
    plate = np.flatnonzero(~block)[:8]
    truth = ((on & within(moved[plate])) | (~on & within(moved[block]))).mean()
    assert truth > 0.1
    assert probe.penetration(states) == pytest.approx(truth, abs=0.005)


def test_random_rigid_motion_has_the_asked_size_and_keeps_edges(probe, drawer_case):
    states = random_rigid_states(drawer_case, 4, 0.1, probe)
    assert probe.displacement(states) == pytest.approx(0.1, rel=0.02)
    assert probe.edge_stretch(states) < 1e-12
    assert probe.part_stretch(states) > 0.01


def test_figures_of_all_kinds_are_summed_up(drawer_case):
    sampler = lambda rest, count, seed: np.repeat(rest.vertices[None] * 1.1, count, axis=0)  # noqa: E731
    summary = {row["states"]: row for row in summarise_states(measure_states(drawer_case, sampler, 4, 3))}
    assert set(summary) == {"prior samples", "random rigid", "true states"}
    assert summary["prior samples"]["edge_stretch"] == pytest.approx(0.1)
    assert summary["true states"]["coverage"] < summary["random rigid"]["coverage"]
    assert summary["random rigid"]["displacement"] == pytest.approx(summary["prior samples"]["displacement"], rel=0.05)
