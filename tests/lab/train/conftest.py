"""Small runs of every task."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from neurok.catalogue.samples import make_sample
from neurok.learned.part_features import describe_parts
from neurok.learned.part_views import labels_of
from neurok.learned.subject import Subject, subject_of
from neurok_lab.train import articulation, deformation
from neurok_lab.train.articulation import ArticulationTraining
from neurok_lab.train.deformation import DeformationTraining, Split
from neurok_lab.train.examples import Example
from neurok_lab.train.loop import Task, train

SAMPLES = ("laptop", "cabinet", "lamp")


@pytest.fixture(scope="session")
def subjects() -> list[Subject]:
    return [subject_of(make_sample(name)) for name in SAMPLES]


@pytest.fixture(scope="session")
def examples() -> list[Example]:
    found = []
    for name in SAMPLES:
        joints = make_sample(name).articulation
        clouds = describe_parts(joints.mesh)
        found.append(Example(f"{name}.rest", clouds, labels_of(clouds, joints.joints), name != "lamp"))
    return found


@pytest.fixture(scope="module", params=[pytest.param("deformation", marks=pytest.mark.slow), "articulation"])
def make_task(request, subjects, examples) -> Callable[..., Task]:
    """A run of eight steps of each task, with changes to its recipe."""
    short = {"steps": 8, "evaluate_every": 2, "warmup": 2}

    def make(**changes) -> Task:
        if request.param == "deformation":
            recipe = replace(deformation.RECIPES["smoke"], kl_start=2, kl_ramp=4, **{**short, **changes})
            return DeformationTraining(recipe, Split(subjects, {"watch": subjects[:1]}))
        recipe = replace(articulation.RECIPES["smoke"], **{**short, **changes})
        return ArticulationTraining(recipe, examples, {"watch": examples[:1]})

    return make


@pytest.fixture(scope="module")
def whole(make_task, tmp_path_factory) -> Path:
    """The folder of such a run that was never interrupted."""
    folder = tmp_path_factory.mktemp("whole")
    train(make_task(), folder)
    return folder
