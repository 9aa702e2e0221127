"""MuJoCo's Runge–Kutta at a tenth of a millisecond, on the same masses, without limits, is the judge."""

import numpy as np
import pytest

from neurok.core import Articulation, Joint
from neurok.dynamics import Body, Condition, Start, World, simulate
from neurok.kinematics import ArticulatedSpace

pytest.importorskip("mujoco")

GRAVITY = np.array([0.0, -9.81, 0.0])


def assert_same_motion(body: Body, articulation: Articulation, seconds: float, tolerance: float) -> None:
    from mujoco_truth import Truth

    start = body.condition.start
    q = np.zeros(articulation.dof) if start.q is None else start.q
    qdot = np.zeros(articulation.dof) if start.qdot is None else start.qdot
    ours = simulate(body, World(gravity=GRAVITY), seconds=seconds)
    assert ours.status == "ok"
    theirs = Truth(body, articulation, GRAVITY).run(q, qdot, seconds, 24)
    assert np.abs(ours.q - theirs).max() < tolerance


@pytest.mark.parametrize(("links", "seconds"), [(2, 2.0), (6, 2.0)])
def test_a_chain_swings_as_in_mujoco(chain, links, seconds):
    arm = chain(links)
    start = Start(q=np.array([0.6, 0.2, 0.1, -0.2, 0.1, 0.3])[:links])
    assert_same_motion(Body.of(ArticulatedSpace(arm), Condition(start)), arm, seconds, 1e-3)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_tree_of_all_kinds_of_joints_moves_as_in_mujoco(random_tree, seed):
    tree = random_tree(seed, 5)
    rng = np.random.default_rng(seed)
    joints = tuple(Joint(j.kind, j.parent, j.axis, j.origin, damping=0.05) for j in tree.joints)
    tree = Articulation(tree.mesh, joints)
    body = Body.of(
        ArticulatedSpace(tree),
        Condition(Start(q=0.3 * rng.normal(size=tree.dof), qdot=rng.normal(size=tree.dof))),
        masses=rng.uniform(0.1, 1.0, tree.mesh.vertex_count),
    )
    assert_same_motion(body, tree, 1.0, 1e-4)


@pytest.mark.slow
@pytest.mark.data
def test_real_objects_move_as_in_mujoco(real_data):
    from mujoco_truth import Truth

    from neurok import io

    files = sorted((real_data / "partnet_mobility" / "train").glob("*.npz"))
    if not files:
        pytest.skip("NEUROK_DATA holds no PartNet-Mobility objects")
    errors = []
    for index, file in enumerate(files[:: max(1, len(files) // 5)][:5]):
        articulation = io.load(file).articulation
        qdot = np.random.default_rng(index).normal(size=articulation.dof)
        body = Body.of(ArticulatedSpace(articulation), Condition(Start(qdot=qdot)), limit_stiffness=0.0)
        ours = simulate(body, World(gravity=GRAVITY), seconds=1)
        assert ours.report["energy_drift"] < 1e-3
        theirs = Truth(body, articulation, GRAVITY).run(np.zeros(articulation.dof), qdot, 1.0, 24)
        gap = articulation.clip(theirs).positions - ours.positions
        errors.append(np.linalg.norm(gap, axis=-1).max() / articulation.mesh.size)
    assert np.median(errors) < 0.01
