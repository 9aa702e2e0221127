from types import SimpleNamespace

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


class Look:
    """What an inference finds: the space of the body plan, and the wide prior behind it."""

    is_of_points = False

    def __init__(self, planned, prior) -> None:
        self.space, self.prior = planned, prior

    def wide(self):
        return self.prior


def found(dim: int, kind: str = "learned", moves: bool = True):
    return SimpleNamespace(dim=dim, kind=kind, articulation=None, screws=np.full(1, float(moves)))


@pytest.mark.parametrize(
    ("planned", "wide", "expected"),
    [
        (found(2, "joints"), found(5), ["planned", "wide"]),
        (found(2), found(5), ["planned"]),
        (found(0), found(5), ["wide"]),
        (found(0), found(5, moves=False), []),
    ],
)
def test_the_wide_prior_follows_a_plan_with_joints_or_stands_in_for_one_where_nothing_moves(
    monkeypatch, planned, wide, expected
):
    monkeypatch.setattr(spaces, "_look", lambda *words: Look(planned, wide))
    assert learned_spaces(make_sample("laptop").mesh) == [{"planned": planned, "wide": wide}[name] for name in expected]


def test_one_look_at_an_object_gives_all_its_spaces(monkeypatch):
    looks = []
    monkeypatch.setattr(spaces, "_look", lambda *words: looks.append(words) or Look(found(2, "joints"), found(5)))
    mesh = make_sample("laptop").mesh
    assert len(spaces_of(mesh, weights="mine", plan="a plan")) == 2
    assert [words[:3] for words in looks] == [(mesh, "mine", "a plan")]


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
