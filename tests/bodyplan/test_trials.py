"""How far parts get before they collide or come loose."""

import numpy as np

from neurok.bodyplan import sweep
from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.sweep import Mover, try_slides, try_turns
from neurok.modelling.shapes import slab
from solids import door_on_a_box, of_parts

Y = np.array([[0.0, 1.0, 0.0]])


def test_a_block_before_a_wall_is_free_up_to_the_wall_and_not_through_it():
    mesh = of_parts(
        block=[slab((0, 0, 0), (1, 1, 1))],
        wall=[slab((1.25, -1, -1), (1.3, 2, 2)), slab((-2, -0.1, -1), (3, 0, 2))],
    )
    mover = Mover(mesh, contact_graph(mesh), (0,))
    trial = try_slides(mover, np.eye(3)[:1], np.array([1.0]), mesh.part_names)
    assert 0.2 <= trial.high[0] <= 0.3  # a gap of 0.25 in steps of 0.05
    assert trial.low[0] == 1.0
    down = try_slides(mover, np.array([[0.0, -1.0, 0.0]]), np.array([1.0]), mesh.part_names)
    assert down.high[0] == 0.0
    assert "wall" in down.reasons[0] or down.low[0] > 0


def test_a_part_lifted_off_what_it_stands_on_comes_loose():
    mesh = of_parts(cup=[slab((0, 0, 0), (1, 1, 1))], table=[slab((-2, -0.1, -2), (3, 0, 3))])
    mover = Mover(mesh, contact_graph(mesh), (0,))
    trial = try_slides(mover, np.array([[0.0, 1.0, 0.0]]), np.array([1.0]), mesh.part_names)
    assert trial.high[0] < 0.3
    assert "loose" in trial.reasons[0]


def test_a_round_pin_in_a_hole_turns_all_the_way_and_a_square_one_does_not():
    frame = [slab((-1, -1, 0), (-0.21, 1, 1)), slab((0.21, -1, 0), (1, 1, 1)),
             slab((-0.21, 0.21, 0), (0.21, 1, 1)), slab((-0.21, -1, 0), (0.21, -0.21, 1))]  # fmt: skip
    angles = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    round_pin = slab((-0.2, -0.2, 0.1), (0.2, 0.2, 0.9))
    for pin, is_free in ((_prism(angles, 0.2), True), (round_pin, False)):
        mesh = of_parts(frame=frame, pin=[pin])
        mover = Mover(mesh, contact_graph(mesh), (1,))
        trial = try_turns(mover, np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 3)), mesh.part_names)
        assert trial.is_full[0] == is_free


def _prism(angles, radius):
    from neurok.modelling.shapes import hull

    ring = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return hull(np.concatenate([np.column_stack([ring, np.full(len(ring), z)]) for z in (0.1, 0.9)]))


def test_finer_steps_find_the_wall_more_exactly(monkeypatch):
    mesh = of_parts(block=[slab((0, 0, 0), (1, 1, 1))], floor=[slab((-2, -0.1, -1), (3, 0, 2))],
                    wall=[slab((1.23, 0, -1), (1.3, 2, 2))])  # fmt: skip
    found = []
    for steps in (10, 100):
        monkeypatch.setattr(sweep, "SLIDE_STEPS", steps)
        mover = Mover(mesh, contact_graph(mesh), (0,))
        found.append(try_slides(mover, np.eye(3)[:1], np.array([1.0]), mesh.part_names).high[0])
    assert np.allclose(found, (0.2, 0.23), atol=0.011)


def test_a_door_opens_outward_about_its_hinge_and_its_range_turns_round_with_the_axis():
    mesh = door_on_a_box()
    mover = Mover(mesh, contact_graph(mesh), (1,))
    hinge = np.array([[0.0, 0.0, 0.401]])
    up, down = (try_turns(mover, axis, hinge, mesh.part_names) for axis in (Y, -Y))
    assert up.low[0] > np.pi / 2 > 0.3 > up.high[0]
    assert (up.low[0], up.high[0]) == (down.high[0], down.low[0])
    assert not up.is_full[0]


def test_what_never_counts_as_a_collision_goes_on_until_it_comes_loose(monkeypatch):
    mesh = of_parts(block=[slab((0, 0, 0), (1, 1, 1))], floor=[slab((-2, -0.1, -1), (3, 0, 2))])
    mover = Mover(mesh, contact_graph(mesh), (0,))
    assert try_slides(mover, -Y, np.array([1.0]), mesh.part_names).high[0] == 0.0
    monkeypatch.setattr(sweep, "COLLIDES", 1.0)
    assert try_slides(mover, -Y, np.array([1.0]), mesh.part_names).high[0] > 0.5
