import numpy as np
import pytest

from neurok.core import Asset, Clip
from neurok.errors import NeurokError
from neurok.inference import spaces
from neurok.inference.spaces import asset_of, learned_spaces, space_of, spaces_of
from neurok.io import save
from neurok.kinematics import ArticulatedSpace, LinearSpace
from neurok.samples import make_sample


def test_an_object_is_an_asset_a_mesh_or_a_path(tmp_path):
    lamp = make_sample("lamp")
    save(lamp, tmp_path / "lamp.npz")
    assert asset_of(lamp) is lamp
    assert asset_of(lamp.mesh).mesh is lamp.mesh
    for path in (tmp_path / "lamp.npz", str(tmp_path / "lamp.npz"), "sample:lamp"):
        assert asset_of(path).articulation.dof == lamp.articulation.dof


def test_joints_of_the_file_are_the_only_space():
    laptop = make_sample("laptop")
    (only,) = spaces_of(laptop)
    assert isinstance(only, ArticulatedSpace)
    assert space_of(laptop).dim == only.dim == laptop.articulation.dof


def test_learned_poses_are_sought_along_joints_and_then_in_all_that_the_prior_holds():
    jointed, wide = spaces_of(make_sample("laptop"), "learned")
    assert jointed.has_hard_limits
    assert not wide.has_hard_limits
    assert jointed.dim <= wide.dim


class Fake:
    dim = 3

    def __init__(self, hard: bool) -> None:
        self.has_hard_limits = hard


@pytest.mark.parametrize(
    ("jointed", "expected"), [(Fake(True), ["jointed", "wide"]), (Fake(False), ["jointed"]), (None, ["wide"])]
)
def test_the_wide_space_is_asked_for_where_joints_limit_the_first_or_nothing_has_one(monkeypatch, jointed, expected):
    wide = Fake(False)
    monkeypatch.setattr(spaces, "_learner", lambda weights, touch, plan: lambda mesh: jointed if touch else wide)
    mesh = make_sample("laptop").mesh
    wanted = [{"jointed": jointed, "wide": wide}[name] for name in expected]
    assert learned_spaces(mesh) == wanted
    assert spaces_of(mesh, "learned") == wanted


def test_a_plan_reaches_the_learner(monkeypatch):
    given = []
    monkeypatch.setattr(spaces, "_learner", lambda *words: given.append(words) or (lambda mesh: Fake(False)))
    space_of(make_sample("laptop").mesh, weights="mine", plan="a plan")
    assert given == [("mine", True, "a plan")]


def test_an_object_of_one_pose_is_refused():
    laptop = make_sample("laptop")
    for find in (space_of, spaces_of):
        with pytest.raises(NeurokError, match="only the pose it is in"):
            find(laptop, "rigid")


def test_a_clip_spans_the_poses_of_an_object_without_joints():
    mesh = make_sample("laptop").mesh
    frames = mesh.vertices + np.linspace(0.0, 1.0, 5)[:, None, None] * [0.0, 0.1, 0.0]
    (only,) = spaces_of(Asset(mesh, clips=(Clip(mesh, frames),)))
    assert isinstance(only, LinearSpace)
    assert only.dim == 1
