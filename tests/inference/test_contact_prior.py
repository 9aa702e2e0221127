"""Contacts hold what bends: narrow ones, unless the prior parts them anyway."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.bodies import label_faces
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.plan import connected_pieces
from neurok.core import Mesh
from neurok.inference.prior import (
    ContactPriorConfig,
    LearnedPrior,
    condition_on_contacts,
    held_covariance,
    vertex_weights,
)
from neurok.kinematics.screws import ScrewSpace, whole
from neurok.learned.subject import patches_of
from neurok.modelling.shapes import box, join


def on_a_plate(size: tuple[float, float, float], gap: float = 0.0) -> Mesh:
    """A box that stands on a flat one, along y."""
    below, above = box((1.0, 0.2, 1.0)), box(size)
    both = join([below, above.move(y=below.bounds[1, 1] - above.bounds[0, 1] + gap)])
    return Mesh(both.vertices, both.faces)


def spread_of(mesh: Mesh, config: ContactPriorConfig | None = None) -> np.ndarray:
    """Standard deviations, given the contacts of the mesh, of three coordinates that shift its upper box."""
    patches, pieces = patches_of(mesh), connected_pieces(mesh)
    centers = patches.points[: patches.handles.count].mean(axis=1)
    screws = np.zeros((len(centers), 6, 3))
    screws[centers[:, 1] > 0.1 * np.ptp(mesh.vertices[:, 0]), 3:] = 0.08 * mesh.size * np.eye(3)
    space = ScrewSpace(mesh, vertex_weights(mesh, patches), centers, screws, np.zeros(3), whole(3))
    prior = LearnedPrior(space, patches, np.ones(2, dtype=bool))
    groups = np.zeros(2, dtype=np.int64)
    groups[pieces] = patches.handles.face_groups
    covariance = condition_on_contacts(prior, contact_graph(label_faces(mesh, pieces)), groups, config)
    return np.sqrt(np.diag(covariance))


def test_a_narrow_contact_holds():
    """A blade that stands on a plate, as a door hangs on its hinge."""
    assert spread_of(on_a_plate((0.6, 0.6, 0.02))).max() < 0.7


def test_a_wide_contact_has_no_say_because_it_is_wide():
    """A lid may be lifted off its pot."""
    lid = on_a_plate((0.6, 0.2, 0.6))
    np.testing.assert_array_equal(spread_of(lid), 1.0)
    assert spread_of(lid, replace(ContactPriorConfig(), narrow=10.0)).max() < 0.7


def test_what_touches_nothing_is_as_free_as_before():
    np.testing.assert_array_equal(spread_of(on_a_plate((0.6, 0.6, 0.02), gap=0.3)), 1.0)
    np.testing.assert_array_equal(held_covariance([], 3), np.eye(3))


def test_the_same_contact_holds_wherever_the_object_is_and_however_large():
    blade = on_a_plate((0.6, 0.6, 0.02))
    far = blade.with_vertices(20.0 * blade.vertices + [0.0, 0.0, 7.0])
    np.testing.assert_allclose(spread_of(blade), spread_of(far), rtol=0.1)


def test_contacts_that_the_prior_parts_anyway_have_no_say():
    """The first coordinate swings a door: its free edge leaves the frame. The second tears out its hinge."""
    edge, hinge = np.tile([0.5, 0.0], (20, 1)), np.tile([0.001, 0.1], (20, 1))
    swing, tear = np.sqrt(np.diag(held_covariance([np.concatenate([edge, hinge])], 2)))
    assert swing > 0.5
    assert tear < 0.5 * swing


def test_one_small_parting_is_held_as_gaussians_are_conditioned():
    """Far below what is loose, the variance along a parting r is 1 / (1 + r² / tight²)."""
    config = ContactPriorConfig(tight=0.02, loose=1e6)
    covariance = held_covariance([np.array([[0.04, 0.0]])], 2, config)
    np.testing.assert_allclose(covariance, np.diag([1.0 / (1.0 + 4.0), 1.0]), rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_more_contacts_never_free_anything(seed):
    """With every contact trusted alike, each narrows the covariance further, in every direction."""
    rng = np.random.default_rng(seed)
    partings = [0.02 * rng.normal(size=(6, 4)) for _ in range(3)]
    config = ContactPriorConfig(loose=1e6)
    before = np.eye(4)
    for count in (1, 2, 3):
        after = held_covariance(partings[:count], 4, config)
        assert np.linalg.eigvalsh(before - after).min() > -1e-12
        before = after
    assert np.linalg.eigvalsh(np.eye(4) - held_covariance(partings, 4)).min() > -1e-12
