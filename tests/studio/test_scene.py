"""The state machine of the window, driven without a browser and with a simulation that is only said to run."""

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from gates import make_gate
from neurok.bodyplan import editing
from neurok.core import Asset
from neurok.errors import NeurokError
from neurok.io import load
from neurok.kinematics import ArticulatedSpace
from neurok.studio.files import exported
from neurok.studio.live import News
from neurok.studio.panels import meter_line
from neurok.studio.scene import StudioScene
from neurok.studio.state import Studied


@dataclass
class Told:
    """A simulation that notes its orders and tells what it is given."""

    path: object
    config: object
    orders: list = field(default_factory=list)
    waiting: list = field(default_factory=list)
    closed: bool = False

    def order(self, verb, **values):
        self.orders.append((verb, values))

    def news(self):
        out, self.waiting = self.waiting, []
        return out

    def close(self):
        self.closed = True


@pytest.fixture
def scene(tmp_path):
    made = []
    studio = StudioScene(tmp_path, simulate=lambda path, config: made.append(Told(path, config)) or made[-1])
    studio.made = made
    studio.open(load("sample:cabinet"))
    return studio


def part_vertex(scene, name):
    mesh = scene.mesh
    return int(np.flatnonzero(mesh.part_ids == mesh.part_names.index(name))[-1])


def test_an_empty_window_refuses_everything_in_a_sentence(tmp_path):
    studio = StudioScene(tmp_path)
    assert studio.mode == "empty"
    for act in (studio.run, studio.rest, lambda: studio.record(True), lambda: exported(studio), studio.play):
        with pytest.raises(NeurokError, match=r"Nothing is open|no recording"):
            act()


def test_a_coordinate_moves_its_own_part_alone_and_stays_in_range(scene):
    before = scene.positions
    scene.set_coordinate(0, 99.0)
    assert scene.q[0] == scene.space.ranges[0, 1]
    scene.set_coordinate(0, scene.space.ranges[0, 0] / 2)
    moved = np.linalg.norm(scene.positions - before, axis=1) > 1e-9
    assert {scene.mesh.part_names[k] for k in np.unique(scene.mesh.part_ids[moved])} == {scene.space.names[0]}
    scene.rest()
    np.testing.assert_allclose(scene.positions, before)


def test_random_states_repeat_with_their_seed(scene):
    scene.random_pose(3)
    first = scene.q
    scene.random_pose(4)
    assert not np.array_equal(first, scene.q)
    scene.random_pose(3)
    np.testing.assert_array_equal(first, scene.q)


def test_a_dragged_point_follows_and_the_others_stay(scene):
    scene.set_coordinate(2, 0.1)
    drawer, vertex = scene.q[2], part_vertex(scene, "door")
    turned = scene.plan.articulation.pose(np.array([scene.space.ranges[0].sum() * 0.3, 0, 0.1, 0, 0])).vertices[vertex]
    scene.grab(scene.nearest(scene.positions[vertex], part=1))
    scene.drag(turned)
    np.testing.assert_allclose(scene.positions[vertex], turned, atol=1e-6)
    assert scene.q[2] == drawer
    scene.drag(turned + np.array([100.0, 0, 0]))
    low, high = scene.space.limits.T
    assert ((scene.q >= low) & (scene.q <= high)).all()
    scene.release()
    with pytest.raises(NeurokError, match="Nothing is held"):
        scene.drag(turned)


def test_the_same_drag_is_a_spring_while_it_runs(scene):
    scene.run()
    scene.grab(7)
    scene.drag(np.array([1.0, 2.0, 3.0]))
    scene.release()
    orders = scene.made[0].orders
    assert orders[0] == ("play", {})
    assert orders[1] == ("grab", {"vertices": [7], "target": [1.0, 2.0, 3.0], "stiffness": None, "seconds": None})
    assert orders[2] == ("release", {})


def test_run_pause_run_reset_is_one_simulation(scene):
    scene.run()
    scene.run()
    scene.pause()
    assert scene.mode == "paused"
    scene.run()
    assert [verb for verb, _ in scene.made[0].orders] == ["play", "pause", "play"]
    scene.rest()
    assert scene.made[0].closed
    assert scene.mode == "posing"
    assert len(scene.made) == 1


def test_frames_are_shown_and_the_values_are_kept_when_a_hand_takes_over(scene):
    scene.run()
    q = np.concatenate([np.zeros(6), [0.0, 0.5, 0.1, 0.0, 0.0]])
    shown = scene.positions + 1.0
    scene.made[0].waiting = [News("frame", positions=shown.astype(np.float32), figures={"time": 1.0, "q": q})]
    assert scene.tick(0.03)
    np.testing.assert_allclose(scene.positions, shown, atol=1e-6)
    scene.pause()
    scene.grab(3)
    assert scene.mode == "posing"
    np.testing.assert_allclose(scene.q, q[6:])


def test_a_frame_that_takes_long_says_so_in_the_meter(scene):
    scene.run()
    scene.made[0].waiting = [News("progress", figures={"time": 0.5, "pieces": 3})]
    assert scene.tick(0.0)
    assert "next frame: 3 steps done" in meter_line(scene.meter)
    assert meter_line({}) == "getting ready ..."


def test_a_simulation_that_fails_says_so_and_the_object_is_back(scene):
    rest = scene.positions
    scene.run()
    scene.made[0].waiting = [News("error", "There is no gravity.")]
    scene.tick(0.0)
    assert scene.mode == "posing"
    assert scene.notes[-1] == "There is no gravity."
    np.testing.assert_allclose(scene.positions, rest)


def test_gravity_and_wind_reach_what_runs_at_once(scene):
    scene.set_forces(gravity=0.5)
    scene.run()
    scene.set_forces(gravity=0.0, wind=3.0)
    orders = scene.made[0].orders
    assert ("gravity", {"vector": [0.0, 0.0, 0.0]}) in orders
    assert ("wind", {"vector": [3.0, 0.0, 0.0]}) in orders
    with pytest.raises(NeurokError, match="gravity must lie"):
        scene.set_forces(gravity=math.nan)
    assert scene.forces.gravity == 0.0


def test_a_push_waits_for_the_weight_and_has_the_force_it_says(scene):
    scene.push("door", "front", 2.0)
    assert [verb for verb, _ in scene.made[0].orders] == ["play"]
    scene.made[0].waiting = [News("ready", figures={"mass": 10.0, "vertices": scene.mesh.vertex_count})]
    scene.tick(0.0)
    verb, values = scene.made[0].orders[-1]
    assert verb == "grab"
    gap = np.linalg.norm(np.array(values["target"]) - scene.positions[values["vertices"]].mean(axis=0))
    assert values["stiffness"] * gap == pytest.approx(0.5 * 2.0 * 10.0 * 9.80665, rel=1e-3)
    with pytest.raises(NeurokError, match="no place"):
        scene.push("nowhere", "front", 1.0)


def test_an_edit_is_followed_by_poses_and_exports_and_can_be_undone(scene):
    door = scene.mesh.part_names.index("door")
    scene.set_coordinate(1, 0.4)
    scene.edit("limits", lambda plan: editing.with_limits(plan, door, -0.3, 0.0))
    assert scene.space.limits[0].tolist() == [-0.3, 0.0]
    assert scene.q[1] == pytest.approx(0.4)
    assert exported(scene).articulation.limits[0].tolist() == [-0.3, 0.0]
    scene.edit("fix", lambda plan: editing.fixed(plan, door))
    assert scene.space.dim == 4
    assert scene.undo() == "fix"
    assert scene.space.dim == 5
    assert scene.undo() == "limits"
    assert scene.space.limits[0].tolist() == load("sample:cabinet").articulation.limits[0].tolist()
    assert scene.redo() == "limits"
    assert scene.space.limits[0].tolist() == [-0.3, 0.0]
    scene.redo()
    with pytest.raises(NeurokError, match="nothing to redo"):
        scene.redo()


def test_a_refused_edit_changes_nothing(scene):
    plan = scene.plan
    with pytest.raises(NeurokError, match="base"):
        scene.edit("free the base", lambda plan: editing.freed(plan, 0))
    assert scene.plan is plan
    assert not scene.is_edited


def test_materials_are_named_exported_and_undone(scene):
    scene.set_material("door", "steel")
    field = exported(scene).materials
    ids = np.unique(field.ids[scene.mesh.part_ids == 1])
    assert {field.materials[k].name for k in ids} == {"steel"}
    with pytest.raises(NeurokError, match="no material"):
        scene.set_material("door", "unobtainium")
    scene.undo()
    assert exported(scene).materials is None


def test_a_recording_is_kept_scrubbed_played_and_exported(scene, tmp_path):
    scene.record(True)
    scene.run()
    assert ("record", {"on": True}) in scene.made[0].orders
    joints = scene.plan.articulation
    frames = np.stack([joints.pose(np.array([0, angle, 0, 0, 0])).vertices for angle in np.linspace(0, 1, 5)])
    scene.record(False)
    assert "keep" in [verb for verb, _ in scene.made[0].orders]
    kept = {"positions": frames.astype(np.float32), "energies": np.arange(5.0), "depths": np.zeros(5), "fps": 10.0}
    scene.made[0].waiting = [News("kept", figures=kept)]
    scene.tick(0.0)
    assert scene.playback.recording.clip.skin is not None  # all parts stayed rigid
    scene.scrub(2)
    np.testing.assert_allclose(scene.positions, frames[2], atol=1e-6)
    scene.set_loop(False)
    scene.play()
    scene.tick(0.101)
    assert scene.playback.frame == 3
    scene.tick(10.0)
    assert (scene.mode, scene.playback.frame) == ("posing", 4)
    (clip,) = exported(scene).clips
    np.testing.assert_allclose(clip.positions, frames, atol=1e-6)


def test_a_mesh_without_joints_is_studied_and_another_object_is_not_disturbed(tmp_path):
    studio = StudioScene(tmp_path)
    gate = make_gate()
    still = Asset(gate.mesh)
    studio.open(still)
    assert studio.needs_study
    found = Studied(editing.plan_of_joints(gate), ArticulatedSpace(gate), "")
    studio.learn(Asset(gate.mesh), found)  # another object's
    assert studio.needs_study
    studio.learn(still, found)
    assert studio.space.dim == 1
    assert exported(studio).articulation.dof == 1


def test_a_mesh_that_is_too_large_is_refused_and_the_old_one_stays(scene):
    from dataclasses import replace

    scene.config = replace(scene.config, most_vertices=100)
    with pytest.raises(NeurokError, match="shows up to 100"):
        scene.open(load("sample:lamp"))
    assert scene.open_asset.mesh.name == "cabinet"
