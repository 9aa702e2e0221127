"""The studio in a real browser: what a person does with the mouse arrives, and what comes back is seen."""

import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from browsing import Window, launched, press, repeat, until

pytest.importorskip("viser", reason="viser is not installed: there is no studio")
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no browser can be driven")

from neurok.io import load  # noqa: E402
from neurok.studio.files import exported  # noqa: E402
from neurok.studio.server import StudioServer  # noqa: E402

sys.path.append(str(Path(__file__).parents[1] / "io"))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        yield from launched(playwright)


@pytest.fixture(scope="module")
def server():
    made = StudioServer(load("sample:cabinet"))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def opened(browser, server):
    page = browser.new_page()
    made = Window(page, server)
    until(lambda: made.scene.asset is not None)
    yield made
    page.close()


@pytest.fixture
def window(opened):
    """One window for all tests, with a fresh object in it for each."""
    opened.tab("Open")
    opened.session.do(lambda: opened.session.open(load("sample:cabinet")))
    opened.page.get_by_text("cabinet · posing").wait_for()
    return opened


def front(scene, name):
    """The middle of the foremost side of a part: a hand that misses it by a few pixels holds it, too."""
    mesh = scene.mesh
    mine = scene.positions[mesh.part_ids == mesh.part_names.index(name)]
    x, y = (mine[:, :2].min(axis=0) + mine[:, :2].max(axis=0)) / 2
    return np.array([x, y, mine[:, 2].max()])


def test_a_sample_is_loaded_and_a_dragged_point_takes_its_part_along(window):
    window.choose("Sample", "laptop")
    window.click("Open sample")
    window.page.get_by_text("laptop · posing").wait_for()
    assert window.scene.open_asset.mesh.name == "laptop"
    until(lambda: window.picture().std() > 15)
    before, screen = window.picture(), window.scene.mesh.part_names.index("screen")
    mine = np.flatnonzero(window.scene.mesh.part_ids == screen)
    middle = window.scene.positions[mine].mean(axis=0)
    window.drag(middle, middle + np.array([0.0, -0.06, 0.08]))
    assert abs(window.scene.q[0]) > 0.03
    until(lambda: (np.abs(window.picture() - before).max(axis=2) > 40).sum() > 40)


def test_another_kind_of_joint_changes_the_motion_and_can_be_undone(window):
    window.tab("Plan")
    mesh = window.scene.mesh
    door = mesh.part_names.index("door")
    middle = mesh.vertices[mesh.part_ids == door].mean(axis=0) + [0, 0, 0.01]
    repeat(lambda: window.page.mouse.click(*window.at(middle)), lambda: window.session.selected == door)
    window.choose("Kind", "prismatic")
    until(lambda: window.scene.is_edited)
    coordinate = list(window.scene.space.names).index("door")
    assert window.scene.space.is_length[coordinate]
    before = window.scene.positions
    window.tab("Pose")
    window.click("Random state")
    until(lambda: window.scene.q.any())
    moved = (window.scene.positions - before)[mesh.part_ids == door]
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)  # it slides
    window.tab("Plan")
    window.click("Undo")
    until(lambda: not window.scene.space.is_length[coordinate])
    press(window.page.get_by_text("Move the axis"))
    panel = next(panel for panel in window.session.panels if hasattr(panel, "gizmo"))
    until(lambda: panel.gizmo is not None)
    joint = window.scene.plan.bodies[door].joint
    np.testing.assert_allclose(window.session.view.meant(panel.gizmo.position), joint.origin, atol=1e-6)
    led = SimpleNamespace(wxyz=panel.gizmo.wxyz, position=panel.gizmo.position + np.array([0.1, 0.0, 0.0]))
    panel._led(SimpleNamespace(target=led))
    moved = window.scene.plan.bodies[door].joint
    np.testing.assert_allclose(moved.origin, joint.origin + [0.1 * mesh.size, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(moved.axis, joint.axis, atol=1e-6)
    press(window.page.get_by_text("Move the axis"))


def test_run_record_pause_and_download_what_others_can_use(window, tmp_path):
    from khronos import faults

    window.tab("Record")
    window.click("Record")
    window.tab("Forces")
    window.choose("Do", "drop")
    window.click("Do it")
    until(lambda: window.scene.meter.get("time", 0) > 1.0)
    assert window.scene.mode == "running"
    window.page.get_by_text("real time", exact=False).wait_for()
    window.tab("Record")
    window.click("Stop")
    until(lambda: window.scene.playback.recording is not None)
    window.click("Pause")
    until(lambda: window.scene.mode == "paused")
    clip = window.scene.playback.recording.clip
    assert clip.duration >= 1.0
    assert np.ptp(clip.positions[:, :, 1].min(axis=1)) > 0.1  # it fell
    files = {}
    for format in ("GLB", "URDF"):
        window.choose("Format", format)
        with window.page.expect_download() as download:
            window.click("Download")
        files[format] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[format])
    assert not faults([files["GLB"]])
    assert load(files["GLB"]).clips[0].frame_count == clip.frame_count
    mujoco = pytest.importorskip("mujoco")
    with zipfile.ZipFile(files["URDF"]) as archive:
        archive.extractall(tmp_path / "urdf")
    (urdf,) = (tmp_path / "urdf").glob("*.urdf")
    model = mujoco.MjModel.from_xml_path(str(urdf))
    data = mujoco.MjData(model)
    data.qvel[:] = 0.1
    mujoco.mj_step(model, data)
    assert model.nq == 5
    assert np.isfinite(data.qpos).all()
    assert (data.qpos != 0).any()


def test_a_spring_pulls_while_it_runs(window):
    window.tab("Forces")
    press(window.page.get_by_text("Ground", exact=True))
    until(lambda: not window.scene.forces.ground)
    window.click("Run")
    until(lambda: window.scene.meter.get("time", 0) > 0.2)
    drawer = list(window.scene.space.names).index("drawer_2")
    start = front(window.scene, "drawer_2")
    window.drag(start, start + np.array([0.0, 0.0, 0.3]), held=lambda: window.scene.meter["q"][-5:][drawer] > 0.05)
    assert window.scene.mode == "running"


def test_a_broken_file_is_refused_in_a_sentence_and_a_good_one_is_shown(window, tmp_path):
    broken, good = tmp_path / "broken.glb", tmp_path / "tetra.obj"
    broken.write_bytes(b"glTF" + b"\x00" * 40)
    good.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    for path in (broken, good):
        button = window.page.get_by_role("button", name="Open a file ...", exact=True)
        button.locator("xpath=preceding-sibling::input[@type='file']").set_input_files(path)  # as its dialogue does
        if path is broken:
            until(lambda: window.session.error)
            window.page.get_by_text("broken.glb", exact=False).first.wait_for()
            assert window.scene.open_asset.mesh.name == "cabinet"
    until(lambda: window.scene.open_asset.mesh.name == "tetra")


def test_a_file_is_dropped_onto_the_window(window):
    window.tab("Pose")
    text = "v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 1 4 3\\n"
    drop = f"""() => {{
        const held = new DataTransfer();
        held.items.add(new File(["{text}"], "dropped.obj"));
        document.body.dispatchEvent(new DragEvent("drop", {{bubbles: true, cancelable: true, dataTransfer: held}}));
    }}"""
    window.page.evaluate(drop)
    until(lambda: window.scene.open_asset.mesh.name == "dropped")


def test_words_become_an_object_in_the_window(window):
    window.tab("Open")
    words = "a red chair with four oak legs"
    row = window.page.get_by_text("Words", exact=True).locator("xpath=ancestor::div[.//input][1]")
    row.locator("input").first.fill(words)
    until(lambda: window.input("Words").value == words)
    window.click("Make it")
    until(lambda: "chair" in window.scene.open_asset.mesh.name)
    window.page.get_by_text("Made: chair", exact=False).wait_for()
    assert any("leg" in name for name in window.scene.mesh.part_names)
    until(lambda: window.picture().std() > 10)


def test_a_material_named_by_hand_is_shown_and_leaves_with_the_object(window):
    window.tab("Materials")
    window.choose("Material", "steel")
    window.click("Set material")
    until(lambda: window.scene.materials == {"all": "steel"})
    made = exported(window.scene).materials
    assert {material.name for material in made.materials} == {"steel"}


def test_particles_run_in_the_window_and_say_how_far_they_are(window):
    window.choose("Sample", "pillow")
    window.click("Open sample")
    until(lambda: window.scene.open_asset.mesh.name == "pillow")
    window.tab("Forces")
    window.choose("Engine", "particles")
    until(lambda: window.scene.forces.engine == "particles")
    before = window.scene.positions.copy()
    window.click("Run")
    until(lambda: window.scene.meter.get("time", 0) > 0.04, 600.0)
    assert window.scene.meter.get("engine") in (None, "particles")
    until(lambda: np.abs(window.scene.positions - before).max() > 1e-5)
    window.click("Pause")
    until(lambda: window.scene.mode == "paused")


def test_two_people_at_once_do_not_see_each_other(window, browser, server):
    page = browser.new_page()
    other = Window(page, server)
    until(lambda: other.scene.asset is not None)
    other.choose("Sample", "laptop")
    other.click("Open sample")
    until(lambda: other.scene.open_asset.mesh.name == "laptop")
    assert window.scene.open_asset.mesh.name == "cabinet"
    assert window.session.folder != other.session.folder
    assert window.page.get_by_text("cabinet · posing").count() == 1
    assert window.page.get_by_text("laptop · posing").count() == 0
    page.close()
    until(lambda: other.session.over)
    until(lambda: not other.session.folder.exists())


def test_a_window_comes_back_after_the_server_was_started_again(browser):
    first = StudioServer(load("sample:laptop"))
    page = browser.new_page()
    Window(page, first)
    port = first.port
    first.stop()
    second = StudioServer(load("sample:lamp"), port=port)
    try:
        until(lambda: second.sessions)
        page.get_by_text("lamp", exact=False).first.wait_for()
    finally:
        page.close()
        second.stop()


def test_without_the_token_nobody_gets_in(browser):
    server = StudioServer(load("sample:laptop"), host="0.0.0.0")
    try:
        bare = f"http://127.0.0.1:{server.port}/"
        page = browser.new_page()
        answer = page.goto(bare)
        assert answer.status == 403
        page.get_by_text("The studio needs its token").wait_for()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(bare + "?token=guess")
        window = Window(page, server, bare + f"?token={server.token}")
        assert "token" not in page.url
        until(lambda: window.scene.asset is not None)
        page.close()
    finally:
        server.stop()
