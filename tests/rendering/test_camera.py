"""Where the camera stands, by geometry alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from neurok.errors import NeurokError
from neurok.rendering.camera import VIEWS, Camera, fit


def project(viewpoint, points):
    clip = np.column_stack([points, np.ones(len(points))]) @ viewpoint.matrix(1e-3, 1e4).T
    return clip[:, :2] / clip[:, 3:], clip[:, 3]


@settings(max_examples=60, deadline=None)
@given(
    points=hnp.arrays(float, (12, 3), elements=st.floats(-10, 10).map(lambda x: round(x, 3))),
    azimuth=st.floats(-360, 360),
    elevation=st.floats(-89, 89),
    aspect=st.floats(0.3, 3.0),
)
def test_the_fit_holds_every_point_and_touches_the_margin(points, azimuth, elevation, aspect):
    points = points + np.arange(36).reshape(12, 3) * 1e-2
    viewpoint = fit(Camera(azimuth, elevation, margin=0.1), [points[:5], points[5:]], aspect)
    seen, depth = project(viewpoint, points)
    assert (depth > 0).all()
    assert np.abs(seen).max() == pytest.approx(0.8, abs=1e-6)
    spans = seen.max(axis=0) + seen.min(axis=0)
    wide = np.argmax(np.abs(seen).max(axis=0))
    assert spans[wide] == pytest.approx(0.0, abs=1e-6), "the binding direction is centred"


def test_named_views_look_where_their_names_say():
    assert Camera.parse("front").axes[2] @ [0, 0, 1] > 0.98
    assert Camera.parse("side").axes[2] @ [1, 0, 0] > 0.98
    assert Camera.parse("top").axes[2] @ [0, 1, 0] > 0.98
    assert Camera.parse("-30,15") == Camera(-30.0, 15.0)
    for name in VIEWS:
        assert np.allclose(Camera.parse(name).axes @ Camera.parse(name).axes.T, np.eye(3))


@pytest.mark.parametrize("text", ["above", "1,2,3", "", "a,b", "0,120", "nan,0"])
def test_a_view_that_makes_no_sense_is_refused(text):
    with pytest.raises(NeurokError):
        Camera.parse(text)
