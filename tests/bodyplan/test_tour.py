"""The motion that shows the joints of an object."""

import numpy as np

from neurok.bodyplan.clearance import tour
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation, Joint
from neurok.modelling.shapes import slab
from solids import of_parts, shell


def tray_behind_a_door(shut=True):
    """A tray that slides towards +z out of a box; the door before it turns about its left edge, or hangs beside it."""
    aside = 0.0 if shut else -0.6
    mesh = of_parts(
        body=shell((0, 0, 0), (0.5, 0.4, 0.4)),
        tray=[slab((0.03, 0.15, 0.03), (0.47, 0.17, 0.35))],
        door=[slab((aside, 0, 0.41), (aside + 0.5, 0.4, 0.43))],
    )
    turn = Joint("revolute", 0, np.array([0.0, -1.0, 0.0]), np.array([aside, 0.0, 0.42]), 0.0, 2.0, name="door")
    slide = Joint("prismatic", 0, np.array([0.0, 0.0, 1.0]), np.zeros(3), 0.0, 0.25, name="tray")
    return Articulation(mesh, (Joint("fixed", -1, name="body"), slide, turn))


def test_a_door_is_opened_before_what_stands_behind_it_and_closed_after_it():
    values = tour(tray_behind_a_door())
    tray, door = values.T
    assert np.allclose(values[[0, -1]], 0.0)
    assert np.isclose(tray.max(), 0.25, rtol=0.01)
    assert np.allclose(door[tray > 0.03], 2.0, rtol=0.01)
    assert (door[tray == 0.0] > 1.9).any()
    assert np.abs(np.diff(door)).max() < 0.5


def test_what_is_free_moves_alone():
    tray, door = tour(tray_behind_a_door(shut=False)).T
    assert not ((tray > 0.01) & (door > 0.01)).any()
    cabinet = make_sample("cabinet").articulation
    assert ((np.abs(tour(cabinet)) > 1e-9).sum(axis=1) <= 1).all()
