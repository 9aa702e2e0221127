"""Verdicts on poses: how far they went, and whether the surface is whole."""

import numpy as np
import pytest

import neurok
from neurok.catalogue.samples import make_sample
from neurok.core import Asset
from neurok.posing.verdict import PoseJudge, PoseVerdict, to_vertices


@pytest.fixture(scope="module")
def laptop() -> Asset:
    return make_sample("laptop")


def test_a_pose_that_arrives_is_good_and_whole(laptop):
    target = laptop.articulation.pose(np.array([0.6]))
    found = neurok.pose(laptop, target=target)
    assert found.status == "ok"
    assert found.verdict.grade == "good"
    assert found.verdict.sentence == "good fit: 100% of the way"
    assert found.why == "joints: 1 joint of its file."


def test_a_wish_that_joints_cannot_meet_is_a_poor_fit(laptop):
    away = laptop.mesh.with_vertices(laptop.mesh.vertices + [0.0, 0.5, 0.0])
    found = neurok.pose(laptop, target=away)
    assert found.status == "poor"
    assert found.verdict.sentence.startswith("poor fit: ")


def test_stretched_faces_are_torn_and_parts_that_float_came_off(laptop):
    judge = PoseJudge(laptop.mesh)
    x = laptop.mesh.vertices.copy()
    assert judge.torn(x) == 0.0
    assert judge.apart(x) == 0
    lid = laptop.mesh.part_ids == laptop.mesh.part_ids.max()
    x[lid] += [0.0, laptop.mesh.size, 0.0]
    assert judge.torn(x) == 0.0
    assert judge.apart(x) >= 1
    stretched = laptop.mesh.vertices * [3.0, 1.0, 1.0]
    assert judge.torn(stretched) > 0.3
    verdict = judge.verdict(stretched, to_vertices(np.arange(len(x)), stretched))
    assert verdict.is_torn
    assert verdict.reached == 1.0
    assert "had to tear" in verdict.sentence


def test_a_cloud_of_the_rest_shape_is_no_way_at_all(laptop):
    from neurok.geometry.sampling import sample_surface

    judge, rest = PoseJudge(laptop.mesh), laptop.mesh
    points = sample_surface(rest.vertices, rest.faces, 8000, np.random.default_rng(5)).interpolate(rest.vertices)
    moved = points + [0.2 * rest.size, 0.0, 0.0]
    near, far = judge.to_points(points, False), judge.to_points(moved, False)
    assert near(rest.vertices) < 0.1 * far(rest.vertices)


def test_what_waits_is_told():
    verdict = PoseVerdict(0.24, obstructions=(("tray", "door"),))
    assert verdict.sentence == "poor fit: 24% of the way; tray waits for door"
