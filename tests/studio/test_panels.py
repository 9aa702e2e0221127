"""What a panel makes of the hands of its user."""

import asyncio
from types import SimpleNamespace

import pytest

from neurok.studio.panels import Panel, scale_of


class Widget:
    """An input as viser has it: the user's values come in the loop, the program's by assignment."""

    def __init__(self):
        self.value, self.follow = "auto", None

    def on_update(self, act):
        self.follow = act
        return act

    def user_sets(self, value, client="someone"):
        self.value = value
        asyncio.run(self.follow(SimpleNamespace(client=client)))


@pytest.fixture
def queue():
    return []


@pytest.fixture
def panel(queue):
    session = SimpleNamespace(client=SimpleNamespace(gui=None), soon=queue.append, do=lambda act: act())
    return Panel(session)


def test_a_value_of_the_user_counts_though_the_window_was_brought_up_to_date_meanwhile(panel, queue):
    taken = []
    widget = panel.input(Widget(), taken.append)
    widget.user_sets("particles")
    widget.value = "auto"  # as another thread does that shows the scene
    for act in queue:
        act()
    assert taken == ["particles"]


def test_of_values_that_come_faster_than_they_are_followed_the_newest_counts(panel, queue):
    taken = []
    widget = panel.input(Widget(), taken.append)
    for value in range(5):
        widget.user_sets(value)
    for act in queue:
        act()
    assert taken == [4]


def test_what_the_program_sets_does_nothing(panel, queue):
    widget = panel.input(Widget(), lambda value: pytest.fail("nobody did anything"))
    widget.user_sets("particles", client=None)
    assert not queue


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((-6.043451, 5.956549), (-6.1, 6.0, 0.1)), ((0.0, 0.3), (0.0, 0.3, 0.001)), ((1.0, 1.0), (1.0, 1.00000001, 1e-8))],
)
def test_sliders_have_round_ends_that_hold_the_range(limits, expected):
    low, high, step = scale_of(*limits)
    assert (low, high, step) == pytest.approx(expected)
    assert low <= limits[0] + 1e-6 * step
    assert high >= limits[1] - 1e-6 * step
