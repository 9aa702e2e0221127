import numpy as np
import pytest

from neurok.core import Mesh
from neurok.geometry.handles import find_handles
from neurok.inference.touch import Contacts, held
from neurok.modelling.shapes import box


def on_a_plate(size: tuple[float, float, float]) -> Mesh:
    """A box that stands on a flat one, along y."""
    below, above = box((1.0, 0.2, 1.0)), box(size)
    lifted = above.vertices + [0.0, below.bounds[1, 1] - above.bounds[0, 1], 0.0]
    return Mesh(
        np.concatenate([below.vertices, lifted]), np.concatenate([below.faces, above.faces + len(below.vertices)])
    )


@pytest.fixture(scope="module")
def stacked() -> Mesh:
    return on_a_plate((0.6, 0.2, 0.6))


def shifts_of_the_upper(mesh: Mesh, count: int = 32) -> tuple:
    """Handles, and three coordinates that shift those of the upper box along x, y and z."""
    handles = find_handles(mesh.vertices, mesh.faces, count)
    upper = handles.centers[:, 1] > 0.1
    slopes = np.zeros((3, handles.count, 4, 3))
    for axis in range(3):
        slopes[axis, upper, 3, axis] = 0.08
    return handles, slopes.reshape(3, -1, 3)


def test_a_narrow_contact_holds():
    """A blade that stands on a plate, as a door hangs on its hinge."""
    blade = on_a_plate((0.6, 0.6, 0.02))
    handles, slopes = shifts_of_the_upper(blade)
    spread = np.sqrt(np.diag(held(Contacts.of(blade, handles).partings(slopes), 3)))
    assert spread.max() < 0.7


def test_a_wide_contact_has_no_say(stacked):
    """A lid may be lifted off its pot."""
    handles, slopes = shifts_of_the_upper(stacked)
    assert Contacts.of(stacked, handles).partings(slopes) == []


def test_what_touches_nothing_is_as_free_as_before(stacked):
    upper = np.arange(stacked.vertex_count)[:, None] >= stacked.vertex_count // 2
    apart = stacked.with_vertices(stacked.vertices + np.where(upper, [[0.0, 0.3, 0.0]], 0.0))
    handles, slopes = shifts_of_the_upper(apart)
    assert Contacts.of(apart, handles).partings(slopes) == []
    np.testing.assert_array_equal(held([], 3), np.eye(3))


def test_contacts_that_the_prior_parts_anyway_have_no_say():
    """The first coordinate swings a door: its free edge leaves the frame. The second tears out its hinge."""
    edge, hinge = np.tile([0.5, 0.0], (20, 1)), np.tile([0.001, 0.1], (20, 1))
    swing, tear = np.sqrt(np.diag(held([np.concatenate([edge, hinge])], 2)))
    assert swing > 0.5
    assert tear < 0.5 * swing


def test_more_contacts_never_free_anything():
    rng = np.random.default_rng(0)
    few = [0.02 * rng.normal(size=(6, 4))]
    assert np.linalg.eigvalsh(np.eye(4) - held(few, 4)).min() > -1e-12


def test_what_moves_as_one_where_it_touches_is_one_body(stacked):
    handles, slopes = shifts_of_the_upper(stacked)
    assert Contacts.of(stacked, handles).companions(slopes) == []
    both = np.zeros((1, handles.count, 4, 3))
    both[0, :, 3, 0] = 0.1
    ((one, other),) = Contacts.of(stacked, handles).companions(both.reshape(1, -1, 3))
    assert {one, other} == set(handles.groups.tolist())


def test_more_components_are_one_body_the_more_they_may_part(stacked):
    """The upper box moves by 0.1, the lower one by half of that: they part by 0.63 of their mean."""
    handles, _ = shifts_of_the_upper(stacked)
    slopes = np.zeros((1, handles.count, 4, 3))
    upper = handles.groups == handles.groups[handles.centers[:, 1].argmax()]
    slopes[0, :, 3, 0] = np.where(upper, 0.1, 0.05)
    contacts = Contacts.of(stacked, handles)
    flat = slopes.reshape(1, -1, 3)
    assert contacts.companions(flat, 0.6) == []
    assert len(contacts.companions(flat, 0.67)) == 1
