from dataclasses import replace

import numpy as np
import pytest
import torch

from neurok.bodyplan.search import search_joints
from neurok.catalogue.samples import make_sample
from neurok.core import Articulation
from neurok.errors import FormatError, NeurokError
from neurok.hub import load_model, save_model
from neurok.learned.ensemble import Ensemble, grow_tree
from neurok.learned.joint_network import KINDS, JointConfig, JointModel
from neurok.learned.joints import VIEWS, calibrated, fuse, predict_joints, signed_directions, view_parts
from neurok.learned.part_features import CloudConfig, describe_parts
from neurok.learned.search_evidence import FusionConfig, search_evidence
from neurok_lab.train.calibration import fit_odds

SMALL = JointConfig(width=16, heads=2, depth=1, octaves=3)


@pytest.fixture(scope="module")
def model() -> Ensemble:
    torch.manual_seed(1)
    return Ensemble((JointModel(SMALL).requires_grad_(False),))


def test_every_part_gets_one_answer_and_they_form_a_tree(model):
    mesh = make_sample("cabinet").articulation.mesh
    prediction = predict_joints(mesh, model, with_search=False)
    assert len(prediction.answers) == mesh.part_count
    assert sum(answer.parent < 0 for answer in prediction.answers) == 1
    joints = tuple(answer.joint() for answer in prediction.answers)
    assert Articulation(mesh, joints).order  # a cycle would raise
    assert all(0.0 <= answer.probability <= 1.0 for answer in prediction.answers)


def test_moving_the_mesh_moves_the_answers_along(model):
    mesh = make_sample("laptop").articulation.mesh
    first = predict_joints(mesh, model, with_search=False)
    second = predict_joints(replace(mesh, vertices=3.0 * mesh.vertices + [5.0, -2.0, 1.0]), model, with_search=False)
    for one, two in zip(first.answers, second.answers, strict=True):
        assert one.kind == two.kind
        assert np.allclose(one.axis, two.axis, atol=1e-6)
        assert np.allclose(3.0 * one.origin + [5.0, -2.0, 1.0], two.origin, atol=1e-4)


def test_views_of_a_mirrored_object_are_the_same_views(model):
    """The eight views of an object and of its quarter turn are one set, so the posterior agree."""
    mesh = make_sample("cabinet").articulation.mesh
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    clouds = describe_parts(mesh)
    again = replace(
        clouds,
        points=clouds.points @ turn.T,
        normals=clouds.normals @ turn.T,
        toward=clouds.toward @ turn.T,
        directions=clouds.directions @ turn.T,
        pairs=np.concatenate([clouds.pairs[..., :4], clouds.pairs[..., 4:] @ turn.T], axis=-1),
    )
    first, second = (
        fuse(view_parts(model.members, clouds, config=CloudConfig(view_points=256))),
        fuse(view_parts(model.members, again, config=CloudConfig(view_points=256))),
    )
    assert np.allclose(first.kinds, second.kinds, atol=1e-4)
    assert np.allclose(first.axes, second.axes, atol=1e-4)
    assert np.allclose(first.pivot_probabilities, second.pivot_probabilities, atol=1e-3)


def test_models_that_answer_together_count_alike(model):
    """Of two models that see four views each the shares are the mean of what each says of its own."""
    torch.manual_seed(2)
    other = JointModel(SMALL).requires_grad_(False)
    clouds = describe_parts(make_sample("cabinet").articulation.mesh)
    first, second = view_parts(model.members, clouds, VIEWS[:4]), view_parts([other], clouds, VIEWS[4:])
    both = view_parts([*model.members, other], clouds)
    assert np.allclose(both.kinds, (first.kinds + second.kinds) / 2, atol=1e-6)
    assert [len(member.views) for member in both.members] == [4, 4]
    assert not np.allclose(first.kinds, second.kinds, atol=1e-2)
    assert fuse(both).pivots.shape == fuse(first).pivots.shape


def test_a_tree_has_one_root_and_takes_the_likeliest_links():
    logits = np.log(np.array([[0.9, 0.05, 0.05], [0.8, 0.1, 0.1], [0.1, 0.8, 0.1]]))
    assert grow_tree(logits).tolist() == [-1, 0, 1]
    rng = np.random.default_rng(0)
    for _ in range(20):
        parents = grow_tree(rng.normal(size=(7, 7)))
        assert (parents < 0).sum() == 1
        for part in range(7):
            seen = set()
            while part >= 0:
                assert part not in seen
                seen.add(part)
                part = parents[part]


def test_weights_survive_their_file_and_damage_is_told(model, tmp_path):
    path = tmp_path / "w.safetensors"
    torch.manual_seed(2)
    two = Ensemble((*model.members, JointModel(replace(SMALL, depth=2))), (0.5, 1.0), (0.25, -1.0))
    save_model(two, path, {"what": "test"})
    again = load_model(path)
    assert (again.calibration, again.piece_calibration) == ((0.5, 1.0), (0.25, -1.0))
    for before, after in zip(two.members, again.members, strict=True):
        assert before.config == after.config
        for name, value in before.state_dict().items():
            assert torch.allclose(after.state_dict()[name], value, atol=2e-3, rtol=2e-3)
    other = tmp_path / "other.safetensors"
    other.write_bytes(path.read_bytes()[:-4] + b"\0\1\2\3")
    other.with_suffix(".json").write_bytes(path.with_suffix(".json").read_bytes())
    with pytest.raises(FormatError, match="checksum"):
        load_model(other)
    with pytest.raises(NeurokError, match="no weights"):
        load_model(tmp_path / "nothing.safetensors")


def test_the_search_can_overrule_a_network_that_knows_nothing(model):
    """With all the trust on its side the answers are those of the search, as far as they are along known directions."""
    mesh = make_sample("laptop").articulation.mesh
    clouds = describe_parts(mesh)
    search = search_joints(mesh)
    evidence = search_evidence(clouds, signed_directions(clouds), search)
    posterior = fuse(view_parts(model.members, clouds), evidence, FusionConfig(1.0, 1.0, 1.0, 1.0))
    lid = next(row for row, part in enumerate(clouds.parts) if search.parents[part] >= 0)
    best = search.best(int(clouds.parts[lid]))
    assert best.kind == "revolute"
    assert KINDS[int(posterior.kinds[lid].argmax())] == "revolute"
    axis = posterior.directions[lid, posterior.choices[lid, 0]] @ clouds.turn
    assert abs(axis @ best.axis) > 0.99
    assert np.linalg.norm(np.cross(clouds.from_box(posterior.pivots[lid]) - best.origin, axis)) < 0.05 * mesh.size


def test_confidence_is_fitted_to_how_often_answers_are_right():
    rng = np.random.default_rng(0)
    shares = rng.uniform(0.05, 0.95, 4000)
    calibration = np.log(shares / (1 - shares))
    right = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * calibration + 1.0)))
    slope, offset = fit_odds(shares, right)
    assert slope == pytest.approx(0.5, abs=0.1)
    assert offset == pytest.approx(1.0, abs=0.15)
    assert calibrated(0.5, slope, offset) == pytest.approx(1 / (1 + np.exp(-offset)))
