"""docs/dynamics.md tells the truth about scenes, flags and code."""

import re
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import pytest

from neurok.cli.flags import MassFlags
from neurok.cli.simulate import LoadFlags, MatterFlags, Simulate, SteppingFlags
from neurok.core import Mesh
from neurok.dynamics.body import Body
from neurok.dynamics.simulate import simulate
from neurok.kinematics import LinearSpace
from neurok.scene import description as nouns
from neurok.scene.files import read_scene

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "dynamics.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_scene_of_the_page_is_a_scene(tmp_path):
    (tmp_path / "scene.yaml").write_text(blocks("yaml")[0])
    scene = read_scene(tmp_path / "scene.yaml")
    assert [thing.source for thing in scene.objects] == ["sample:cabinet", "sample:pillow"]
    assert scene.objects[0].drags[0].times == (1.0, 2.0)


def test_every_flag_and_key_is_on_the_page_and_no_other():
    groups = (Simulate, LoadFlags, MatterFlags, SteppingFlags, MassFlags)
    flags = {field.name.replace("_", "-") for group in groups for field in fields(group)}
    flags -= {"object", "exit-code", "loads", "matter", "stepping", "weighing"}
    assert set(re.findall(r"--([a-z-]+[a-z])", TEXT)) == flags
    for noun in (nouns.Scene, nouns.SceneObject, nouns.SceneWorld, nouns.SceneGround):
        for field in fields(noun):
            assert re.search(rf"\b{field.name}\b", TEXT), field.name


def test_every_picture_of_the_page_is_there_and_small():
    pictures = re.findall(r"\]\((images/[^)]+)\)", TEXT)
    assert len(pictures) >= 10
    for picture in pictures:
        assert 0 < (ROOT / "docs" / picture).stat().st_size < 200_000


@pytest.mark.slow
def test_the_live_run_of_the_page_pulls_the_laptop_up():
    names = {}
    exec(blocks("python")[1], names)
    assert names["run"].time == 1.0
    assert np.linalg.norm(names["show"][0] - [0.0, 0.5, 0.0]) < 0.1


@pytest.mark.slow
def test_the_python_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(blocks("python")[0], {})
    assert (tmp_path / "door.glb").stat().st_size > 0


def test_the_energy_of_the_page_swings_with_its_closed_form():
    names = {"dataclass": dataclass, "np": np}
    exec(blocks("python")[3], names)
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    slide = LinearSpace(Mesh(triangle, np.array([[0, 1, 2]])), np.ones((1, 3, 1)) * [[[1.0, 0.0, 0.0]]])
    tether = names["Tether"](np.array([0]), np.array([0.1, 0.0, 0.0]))
    body = Body.of(slide, energies=[tether], masses=np.full(3, 1.0))
    rollout = simulate(body, seconds=0.5, fps=48)
    times = np.arange(rollout.frame_count) / 48
    np.testing.assert_allclose(rollout.q[:, 0], 0.1 * (1 - np.cos(np.sqrt(100.0 / 3.0) * times)), atol=1e-8)
    assert "tether" in rollout.energies
