import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.geometry.sampling import sample_surface
from neurok.posing.registration import HoldOut


@pytest.fixture(scope="module")
def held_out() -> HoldOut:
    mesh = make_sample("laptop").mesh
    target = sample_surface(mesh.vertices, mesh.faces, 3001, np.random.default_rng(1)).interpolate(mesh.vertices)
    return HoldOut(mesh, target, 1000, 0)


def test_the_halves_share_no_point_and_miss_none(held_out):
    both = np.concatenate([held_out.fit.tree.data, held_out.validation.tree.data])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(held_out.target, axis=0))
    assert abs(len(held_out.fit.tree.data) - len(held_out.validation.tree.data)) <= 1
    assert len(held_out.fit.points) == 1000
    assert not np.array_equal(held_out.fit.samples.barycentric, held_out.validation.samples.barycentric)


def test_the_error_is_small_at_the_truth_and_grows_with_the_distance(held_out):
    rest = held_out.rest.vertices
    errors = [held_out.error(rest + [0.0, 0.0, way * held_out.scale]) for way in (0.0, 0.1, 1.0, 10.0)]
    assert errors[0] < 0.03 * held_out.scale
    assert errors == sorted(errors)
    assert errors[-1] == pytest.approx(10.0 * held_out.scale, rel=0.1)


def test_only_validation_points_decide_the_error(held_out):
    """Points to fit may lie anywhere: the error stays."""
    order = np.random.default_rng(0).permutation(len(held_out.target))
    target = held_out.target.copy()
    target[order[::2]] += 100.0
    again = HoldOut(held_out.rest, target, 1000, 0)
    np.testing.assert_array_equal(again.validation.tree.data, held_out.validation.tree.data)
    assert again.error(held_out.rest.vertices) == held_out.error(held_out.rest.vertices)


def test_the_displacement_of_a_shift_is_its_length(held_out):
    assert held_out.displacement(held_out.rest.vertices + [0.3, 0.0, 0.4]) == pytest.approx(0.5)


def test_the_seed_decides_the_halves(held_out):
    same = HoldOut(held_out.rest, held_out.target, 1000, 0)
    other = HoldOut(held_out.rest, held_out.target, 1000, 1)
    np.testing.assert_array_equal(same.fit.tree.data, held_out.fit.tree.data)
    assert not np.array_equal(other.fit.tree.data, held_out.fit.tree.data)
