"""Runs that cannot go well end in a sentence, and soon."""

from __future__ import annotations

import numpy as np
import pytest

from neurok import simulate
from neurok.dynamics import Body, Condition, Start, World
from neurok.dynamics.engine import Settings
from neurok.dynamics.reduced import collocation
from neurok.errors import NeurokError
from neurok.io import load


def test_the_adaptive_solver_gives_up_where_steps_only_get_shorter(monkeypatch):
    monkeypatch.setattr(collocation, "MAX_EVALUATIONS", 100)
    world = World(gravity=np.array([0.0, -1e12, 0.0]))
    rollout = simulate(load("sample:laptop"), world, seconds=0.1, integrator="runge-kutta")
    assert rollout.status == "diverged"
    assert "shorter and shorter" in rollout.message
    assert "integrator 'implicit'" in rollout.message


def test_a_start_out_of_all_bounds_is_a_sentence():
    body = Body.of(load("sample:laptop"), Condition(Start(velocity=(1e300, 0.0, 0.0))), free=True)
    with pytest.raises(NeurokError, match="cannot start"):
        simulate(body)


@pytest.mark.parametrize(("seconds", "fps"), [(2.0, 1e-6), (0.5, 0.9)])
def test_a_frame_longer_than_the_motion_is_refused(seconds, fps):
    with pytest.raises(NeurokError, match="lasts longer"):
        Settings(seconds, fps)


def test_more_steps_than_days_are_refused():
    with pytest.raises(NeurokError, match="time steps"):
        Settings(1e9, 1e-6).steps_per_frame(0.01)
    assert Settings(2.0, 24.0).steps_per_frame(0.01) == 5
