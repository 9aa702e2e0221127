"""The front door: few names, each with one home and a sentence, and quick to open."""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import neurok


@pytest.mark.parametrize("name", neurok.__all__)
def test_every_public_name_exists_has_one_home_and_explains_itself(name):
    thing = getattr(neurok, name)
    home = importlib.import_module(neurok._HOMES[name])
    assert thing is getattr(home, name)
    assert inspect.getdoc(thing)
    assert thing.__module__.startswith(neurok._HOMES[name])


def test_the_front_door_stays_small():
    assert len(neurok.__all__) <= 33
    assert len(set(neurok.__all__)) == len(neurok.__all__)
    assert set(neurok.__all__) <= set(dir(neurok))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = neurok.nonsense


def test_type_checkers_see_the_same_names():
    source = inspect.getsource(neurok)
    for name, home in neurok._HOMES.items():
        assert f"from {home} import {name} as {name}\n" in source


def test_importing_neurok_loads_nothing_heavy():
    code = (
        "import sys, neurok\n"
        "heavy = {'torch', 'trimesh', 'numpy', 'scipy', 'PIL', 'tyro', 'rich'} & set(sys.modules)\n"
        "assert not heavy, heavy\nassert neurok.__version__"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_public_names_are_what_the_last_change_said():
    from public_api import KEPT, described

    assert described() == KEPT.read_text(), (
        "The public API has changed. If that is meant: say it in CHANGELOG.md (what goes is first deprecated, see "
        "CONTRIBUTING.md) and run: python tests/public_api.py"
    )


def test_the_reference_shows_every_public_name_where_it_is_defined():
    from pathlib import Path

    shown = re.findall(r"^::: (\S+)$", (Path(__file__).parents[1] / "docs" / "api.md").read_text(), flags=re.M)
    things = [getattr(neurok, name) for name in neurok.__all__]
    assert sorted(shown) == sorted(f"{thing.__module__}.{thing.__name__}" for thing in things)
