"""Objects made again that fall beside the true ones."""

import numpy as np
import pytest

from neurok.catalogue import draw
from neurok.errors import NeurokError
from neurok.modelling.booleans import to_manifold
from neurok.modelling.forms import turned_shape
from neurok.modelling.shapes import Shape, box, join
from neurok_lab.evaluation.generation_reconstruction import (
    HEIGHT,
    NOTHING,
    Answer,
    FallConfig,
    ReconstructionConfig,
    apart,
    away,
    fall,
    seen_of,
    simplified,
    truth,
)
from neurok_lab.parts.vecset import SurfaceSamples


def test_motions_a_tenth_apart_are_two_hundredths_apart_both_ways():
    true = np.array([[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], [[0.0, -1.0, 0.0], [2.0, -1.0, 0.0]]])
    assert away(true, true) == 0.0
    assert away(true, true + [0.0, 0.1, 0.0]) == pytest.approx(0.02)
    assert away(10.0 * true, 10.0 * (true + [0.0, 0.1, 0.0])) == pytest.approx(0.02)


def test_simplified_solids_stay_apart_and_keep_their_volume():
    heights = np.linspace(-1.0, 1.0, 8)
    knots = np.column_stack([np.sqrt(np.maximum(1.0 - heights**2, 0.01)), heights, np.ones(8)])
    both = join([turned_shape(knots, 0.0, "", "smooth"), box((1.0, 1.0, 1.0), (0.5, 0.0, 0.0))])
    fewer = simplified(both, 0.01)
    assert len(fewer.faces) < 0.5 * len(both.faces)
    assert len(to_manifold(fewer).decompose()) == 2
    assert fewer.volume == pytest.approx(both.volume, rel=0.02)


def test_of_nothing_the_distance_is_one():
    nothing = Answer(Shape(np.zeros((0, 3)), np.zeros((0, 3), dtype=int)), *(np.zeros((0, n)) for n in (3, 2, 5)))
    seen = SurfaceSamples(*(np.zeros((0, 3)),) * 3, *(np.zeros(0, dtype=int),) * 2)
    assert apart(np.zeros((2, 4, 3)), nothing, seen, 1.0) == NOTHING


@pytest.mark.slow
def test_a_pillow_falls_onto_the_ground_and_a_twice_as_large_one_elsewhere():
    pytest.importorskip("warp")
    pillow = draw("pillow", np.random.default_rng(0))
    seen = seen_of(pillow, ReconstructionConfig(asked=1000))
    answer, longest = truth(pillow, seen), float(np.ptp(pillow.bounds, axis=0).max())
    config = FallConfig(points=20_000, asked=1000)
    true = fall(answer, seen, longest, 0, config)
    assert true[0, :, 1].min() == pytest.approx(HEIGHT * longest, abs=0.01 * longest)
    assert abs(true[-1, :, 1].min()) < 0.02 * longest
    again = apart(true, answer, seen, longest, config)
    large = Answer(answer.shape.scale(2.0), answer.colours, answer.stuffs, answer.values)
    assert again < 1e-3 < 0.05 < apart(true, large, seen, longest, config)
    with pytest.raises(NeurokError, match="more than"):
        fall(answer, seen, longest, 0, FallConfig(cells=60, longest=1.0))
