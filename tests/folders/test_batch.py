"""Any work on every object of a folder: resumable, within limits, and the same bytes however it was done."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neurok.cli import main
from neurok.errors import NeurokError
from neurok.folders.processes import Limited
from neurok.folders.run import batch
from neurok.folders.store import BatchSettings, find_sources, links_outside
from neurok.io import load, save
from neurok.sandbox import Ended, Limits

NAMES = ("bent", "crash", "fine", "good", "hang", "hungry", "well")


def act(job):
    """Does what the name of an object says."""
    name = job.source.key
    if name == "bent":
        raise ZeroDivisionError("a fault of ours")
    if name == "crash":
        os._exit(7)
    if name == "hang":
        time.sleep(600)
    if name == "hungry":
        eaten = [b"1" * 50_000_000 for _ in range(20)]
        time.sleep(600 * len(eaten))
    (job.folder / "made").mkdir()
    (job.folder / "made" / f"{name}.txt").write_text(job.settings.command)
    return {"status": "ok", "figures": {"parts": 1}}


def note(job):
    """Counts the calls beside the objects."""
    with (job.source.path.parent / "calls.log").open("a") as file:
        file.write(f"{job.source.key}\n")
    return act(job)


@pytest.fixture
def things(tmp_path):
    folder = tmp_path / "things"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.obj").write_text(name)
    return folder


def tree(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "times.jsonl"
    }


def leave_only(folder, *names):
    for path in folder.glob("*.obj"):
        if path.stem not in names:
            path.unlink()


def test_one_that_fails_or_crashes_does_not_stop_the_rest(things, tmp_path):
    leave_only(things, "bent", "crash", "fine", "good")
    records = batch(act, things, tmp_path / "out", BatchSettings("try"))
    assert {record["asset"]: record["status"] for record in records} == {
        "bent": "bug", "crash": "crash", "fine": "ok", "good": "ok",
    }  # fmt: skip
    assert "ended with code 7" in records[1]["message"]
    assert records[0]["message"] == "ZeroDivisionError: a fault of ours."
    assert (tmp_path / "out/assets/fine/made/fine.txt").read_text() == "try"
    lines = (tmp_path / "out/report.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == records
    page = (tmp_path / "out/index.html").read_text()
    assert "4 of 4 objects" in page
    assert page.index("<h2>bent") < page.index("<h2>crash") < page.index("<h2>fine")
    assert "ZeroDivisionError" in (tmp_path / "out/assets/bent/traceback.txt").read_text()
    assert not (tmp_path / "out/.work").exists()


def test_an_interrupted_batch_goes_on_and_ends_with_the_same_bytes(things, tmp_path):
    leave_only(things, "crash", "fine", "good", "well")
    straight = batch(note, things, tmp_path / "straight", BatchSettings("try"))
    (things / "calls.log").unlink()

    def stop(done, total, name=""):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch(note, things, tmp_path / "out", BatchSettings("try"), progress=stop)
    assert "2 of 4 objects" in (tmp_path / "out/index.html").read_text()
    (tmp_path / "out/assets/good").mkdir(parents=True)
    (tmp_path / "out/assets/good/.neurok-left").write_text("half")
    (tmp_path / "out/.work").mkdir()
    assert batch(note, things, tmp_path / "out", BatchSettings("try")) == straight
    assert sorted((things / "calls.log").read_text().split()) == ["crash", "fine", "good", "well"]
    assert tree(tmp_path / "out") == tree(tmp_path / "straight")


def test_what_changed_or_failed_is_done_again(things, tmp_path):
    leave_only(things, "crash", "fine", "good")
    batch(note, things, tmp_path / "out", BatchSettings("try"))
    (things / "good.obj").write_text("changed")
    (things / "calls.log").unlink()
    batch(note, things, tmp_path / "out", BatchSettings("try"))
    assert (things / "calls.log").read_text().split() == ["good"]
    batch(note, things, tmp_path / "out", BatchSettings("try"), retry=True)
    assert (things / "calls.log").read_text().split() == ["good", "crash"]


def test_a_folder_that_holds_something_else_is_refused(things, tmp_path):
    leave_only(things, "fine")
    batch(act, things, tmp_path / "out", BatchSettings("try"))
    for settings in (BatchSettings("other"), BatchSettings("try", ("--fast",)), BatchSettings("try", (), (".glb",))):
        with pytest.raises(NeurokError, match="another command or flags"):
            batch(act, things, tmp_path / "out", settings)
    with pytest.raises(NeurokError, match="something else"):
        batch(act, things, things, BatchSettings("try"))
    with pytest.raises(NeurokError, match="workers must be 1"):
        batch(act, things, tmp_path / "out", BatchSettings("try"), workers=0)


@pytest.mark.slow
def test_time_and_memory_are_limited(things, tmp_path):
    leave_only(things, "hang", "fine")
    records = batch(act, things, tmp_path / "timed", BatchSettings("try"), limits=Limits(seconds=5.0))
    assert [record["status"] for record in records] == ["ok", "time"]
    assert records[1]["message"] == "It took longer than 5 s."
    (things / "hang.obj").rename(things / "hungry.obj")
    records = batch(act, things, tmp_path / "weighed", BatchSettings("try"), limits=Limits(memory=7e8))
    assert [record["status"] for record in records] == ["ok", "memory"]
    assert records[1]["message"] == "It took more than 0.7 GB of memory."


def answer(number):
    if number < 0:
        raise ValueError(number)
    return os.getpid(), number + 1


def test_a_process_answers_again_after_a_fault_and_is_replaced_when_ended():
    with Limited(answer, Limits()) as limited:
        process, value = limited.call(1)
        assert value == 2
        assert process != os.getpid()
        with pytest.raises(Ended, match="ValueError: -1") as end:
            limited.call(-1)
        assert end.value.cause == "fault"
        assert limited.call(2) == (process, 3)
        limited.end()
        assert limited.call(3)[0] != process


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "models"
    for name in ("lamp", "laptop", "pillow"):
        save(load(f"sample:{name}"), folder / "deep" / f"{name}.npz")
    (folder / "broken.obj").write_text("v 0 0 0\n")
    return folder


def test_the_command_writes_what_it_says(models, tmp_path, capsys):
    out = tmp_path / "out"
    line = ["batch", "convert", str(models), "--out", str(out), "--formats", "obj", ".ply", "--json"]
    main([*line, "--", "--max-faces", "200"])
    told = json.loads(capsys.readouterr().out)
    assert told["states"] == {"failed": 1, "ok": 3}
    assert told["flags"] == ["--max-faces", "200"]
    assert load(out / "assets/deep/pillow/pillow.ply").mesh.face_count <= 200
    records = [json.loads(line) for line in (out / "report.jsonl").read_text().splitlines()]
    assert [record["asset"] for record in records] == ["broken", "deep/lamp", "deep/laptop", "deep/pillow"]
    assert "empty" in records[0]["message"]
    assert records[1]["figures"]["up"] == "y"
    assert {"lamp.obj", "lamp.mtl", "lamp.ply", "picture.jpg"} <= set(records[1]["files"])
    page = (out / "index.html").read_text()
    assert 'src="assets/deep/lamp/picture.jpg"' in page
    assert 'href="assets/deep/lamp/lamp.ply"' in page


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--", "--bogus"], "bogus"),
        (["--", "--out", "x.glb"], "set by the batch"),
        (["--limit", "0"], "--limit must be above 0"),
    ],
)
def test_mistakes_are_told_before_the_work(words, told, models, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["batch", "convert", str(models), "--out", str(tmp_path / "out"), *words])
    assert end.value.code == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_batch_that_is_killed_twice_ends_with_the_same_bytes(models, tmp_path):
    for number in range(2):
        save(load("sample:cabinet"), models / f"cabinet_{number}.npz")
    line = [sys.executable, "-m", "neurok", "batch", "articulate", str(models), "--workers", "2", "--out"]
    subprocess.run([*line, str(tmp_path / "straight"), "--", "--method", "search"], check=True)
    out = tmp_path / "killed"
    for count in (1, 3):
        process = subprocess.Popen([*line, str(out), "--", "--method", "search"])
        while process.poll() is None and len(list(out.glob("assets/**/record.json"))) < count:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([*line, str(out), "--", "--method", "search"], check=True)
    assert tree(out) == tree(tmp_path / "straight")
    assert any(name.endswith(".urdf") for name in tree(out))


@pytest.mark.slow
def test_two_machines_of_a_ray_cluster_make_the_same_bytes(models, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_worker_niceness", "0")  # by default they come last, also on a busy machine
    main(["batch", "inspect", str(models), "--out", str(tmp_path / "local")])
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        cluster.add_node(num_cpus=1)
        main(["batch", "inspect", str(models), "--out", str(tmp_path / "ray"), "--ray", cluster.address])
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert tree(tmp_path / "ray") == tree(tmp_path / "local")


def test_pages_point_to_files_that_are_there(models, tmp_path):
    import re

    out = tmp_path / "out"
    main(["batch", "inspect", str(models), "--out", str(out), "--json"])
    links = re.findall(r'(?:src|href)="([^"]+)"', (out / "index.html").read_text())
    assert links
    assert all((out / Path(link)).exists() for link in links)


@pytest.mark.parametrize("format", [".nosuch", "../x.glb"])
def test_formats_that_cannot_be_written_are_refused_before_the_work(models, tmp_path, capsys, format):
    with pytest.raises(SystemExit) as end:
        main(["batch", "convert", str(models), "--out", str(tmp_path / "out"), "--formats", format])
    assert end.value.code == 2
    assert format.strip(".") in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_links_that_lead_out_of_a_folder_are_left_out_and_lists_are_believed(tmp_path):
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / f"{folder.name}.obj").write_text("v 0 0 0")
    (inside / "far.obj").symlink_to(outside / "outside.obj")
    assert [path.name for path in links_outside(inside)] == ["far.obj"]
    assert {source.path.name for source in find_sources(inside)} == {"inside.obj"}
    (tmp_path / "list.txt").write_text("inside/far.obj\n")
    assert [source.path.name for source in find_sources(tmp_path / "list.txt")] == ["far.obj"]


def count(job):
    return {
        "status": "ok" if int(job.source.key) % 3 else "failed",
        "message": "" if int(job.source.key) % 3 else "No.",
    }


@pytest.mark.slow
def test_objects_and_results_may_lie_in_storage_and_a_batch_goes_on_there(models, tmp_path, capsys):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in models.rglob("*.*"):
        memory.pipe_file(f"/things/{path.relative_to(models).as_posix()}", path.read_bytes())
    line = ["batch", "convert", "memory://things", "--out", "memory://made", "--json"]
    main(line)
    told = json.loads(capsys.readouterr().out)
    assert told["states"] == {"failed": 1, "ok": 3}
    assert [reason["count"] for reason in told["reasons"]] == [1]
    names = {name.removeprefix("/made/") for name in memory.find("/made")}
    assert {"batch.json", "report.jsonl", "index.html", "times.jsonl"} <= names
    assert "assets/things/deep/lamp/record.json" in names
    before = memory.ukey("/made/assets/things/deep/lamp/record.json")
    memory.rm("/made/assets/things/deep/laptop", recursive=True)
    (tmp_path / "list.txt").write_text("".join(f"memory:/{name}\n" for name in sorted(memory.find("/things"))))
    main([*line[:2], str(tmp_path / "list.txt"), *line[3:]])
    assert json.loads(capsys.readouterr().out)["states"] == {"failed": 1, "ok": 3}
    assert memory.ukey("/made/assets/things/deep/lamp/record.json") == before
    assert memory.exists("/made/assets/things/deep/laptop/record.json")


def test_a_place_that_no_storage_knows_is_a_sentence(tmp_path):
    pytest.importorskip("fsspec")
    with pytest.raises(NeurokError, match="cannot be reached"):
        batch(act, "nosuch://things", tmp_path / "out", BatchSettings("try"))


def test_the_summary_counts_reasons_and_the_sheet_is_bounded(tmp_path, monkeypatch):
    from neurok.folders import sheet
    from neurok.folders.run import run_batch

    monkeypatch.setattr(sheet, "MOST_CARDS", 2)
    (tmp_path / "list.txt").write_text("".join(f"{k}.obj\n" for k in range(9)))
    found = run_batch(count, tmp_path / "list.txt", tmp_path / "out", BatchSettings("count"))
    assert (found.states, found.reasons) == ({"failed": 3, "ok": 6}, {"No.": 3})
    page = (tmp_path / "out/index.html").read_text()
    assert page.count("<article") == 4
    assert "3 failed" in page
    assert "report.jsonl has all" in page
    assert len((tmp_path / "out/report.jsonl").read_text().splitlines()) == 9
