"""What is said of objects and their motion: what was taken for granted, what moved, and why the rest did not."""

from __future__ import annotations

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.scene.description import Scene, SceneObject, ScenePush
from neurok.scene.report import motion_sentences, travel
from neurok.scene.run import run_scene

CABINET = make_sample("cabinet")


def pushed(at: str, force: tuple[float, float, float]):
    thing = SceneObject(CABINET, pushes=(ScenePush(at, force),), joint_friction=0.0)
    return run_scene(Scene((thing,), seconds=0.25))


def outwards(part: str) -> np.ndarray:
    """The direction in which a drawer comes out."""
    joint = CABINET.articulation.joints[CABINET.mesh.part_names.index(part)]
    low, high = joint.limits[0]
    return np.asarray(joint.axis) * np.sign(low + high)


def test_a_push_along_the_way_of_a_drawer_moves_it_and_needs_no_word():
    run = pushed("drawer", tuple(5.0 * outwards("drawer")))
    ways = travel(run.rollout, run.ready.bodies[0])
    assert ways["drawer"] > 0.01
    assert max(way for name, way in ways.items() if name != "drawer") < 1e-6
    assert motion_sentences(run) == []


@pytest.mark.parametrize(
    ("at", "force", "words"),
    [
        ("drawer", (0.0, 5.0, 0.0), ("across the way it slides", "push along")),
        ("door", (0.0, 5.0, 0.0), ("through its hinge or along it", "push across the axis")),
        (CABINET.mesh.part_names[0], (0.0, 0.0, 5.0), ("has no joint", "push door")),
    ],
)
def test_a_push_that_moves_nothing_is_explained(at, force, words):
    told, why = motion_sentences(pushed(at, force))
    assert "Moved: nothing" in told
    assert all(word in why for word in words)


def test_every_object_is_reported_with_frame_matter_mass_and_joints():
    (report,) = pushed("drawer", (0.0, 0.0, 1.0)).ready.reports
    facts = report.facts
    assert facts["frame"] == "unit m, y up"
    assert facts["mass"] > 1.0
    assert {one["part"] for one in facts["joints"]} == {"door", "door_2", "drawer", "drawer_2", "drawer_3"}
    assert all(0.0 < one["confidence"] <= 1.0 and one["reason"] for one in facts["matter"])
    assert sum(one["parts"] for one in facts["matter"]) >= CABINET.mesh.part_count
