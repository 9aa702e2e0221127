"""Every family of articulated objects: sound, deterministic, and never twice the same."""

import numpy as np
import pytest

from neurok.errors import NeurokError
from neurok_lab.worlds.articulated import FAMILIES, check_articulated, generate, make_family


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_gives_three_sound_and_different_instances(name):
    assets = [generate(name, 5, index)[0] for index in range(3)]
    assert all(asset is not None for asset in assets)
    sizes = {(asset.mesh.face_count, round(asset.mesh.size, 9)) for asset in assets}
    assert len(sizes) == 3
    for asset in assets:
        assert 100 < asset.mesh.face_count < 15_000
        assert asset.provenance["category"] == name
        assert asset.articulation.dof >= 1


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_gives_a_sound_instance(name):
    asset, _ = generate(name, 0, 0)
    assert asset is not None
    assert {"family", "category", "license", "source", "seed"} <= set(asset.provenance)


@pytest.mark.parametrize("name", sorted(FAMILIES)[::8])
def test_an_instance_depends_on_seed_and_index_alone(name):
    first, again, other = generate(name, 1, 4)[0], generate(name, 1, 4)[0], generate(name, 2, 4)[0]
    np.testing.assert_array_equal(first.mesh.vertices, again.mesh.vertices)
    np.testing.assert_array_equal(first.mesh.faces, again.mesh.faces)
    np.testing.assert_array_equal(first.articulation.limits, again.articulation.limits)
    assert first.mesh.vertices.shape != other.mesh.vertices.shape or not np.allclose(
        first.mesh.vertices, other.mesh.vertices
    )


def test_there_are_more_than_seventy_families():
    assert len(FAMILIES) > 70


def test_all_kinds_of_joints_and_nested_ones_occur():
    kinds, nested = set(), 0
    for name in ("oven", "door", "office_chair", "blender", "cupboard"):
        joints = make_family(name, np.random.default_rng(0)).articulation.joints
        kinds |= {joint.kind for joint in joints}
        nested += sum(joint.parent >= 0 and joints[joint.parent].dof > 0 for joint in joints)
    assert {"fixed", "revolute", "prismatic", "continuous"} <= kinds
    assert nested > 5


def test_an_unknown_family_lists_the_known_ones():
    with pytest.raises(NeurokError, match="cupboard"):
        make_family("spaceship", np.random.default_rng(0))


@pytest.mark.slow
def test_nine_of_ten_first_tries_pass_the_checks():
    passed = []
    for name in FAMILIES:
        for seed in range(2):
            passed.append(not check_articulated(make_family(name, np.random.default_rng([seed, 11]))))
    assert np.mean(passed) > 0.9
