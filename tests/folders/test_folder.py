"""A folder of objects from proposals to acceptance: interrupted, broken, edited, and with the same bytes each time."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from neurok import cli
from neurok.core import Mesh
from neurok.errors import NeurokError
from neurok.folders.check import check_within
from neurok.folders.flags import LIMITS
from neurok.folders.materials import check_folder, edit_folder, propose_folder
from neurok.folders.processes import Limited
from neurok.folders.records import AnnotationStore
from neurok.folders.store import find_sources
from neurok.io import load, save
from neurok.model import understand
from neurok.modelling.shapes import box
from neurok.sandbox import Limits

pytestmark = pytest.mark.slow

SECONDS = 0.15


def crate(folder: Path, name: str, size: float = 0.4) -> None:
    shape = box((size, size, size))
    mesh = Mesh(shape.vertices, shape.faces, name=name)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    save(mesh, folder / f"{name}.ply")


@pytest.fixture(scope="module")
def things(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("things")
    crate(folder, "balsa_crate")
    crate(folder, "cases/granite_case", 0.2)
    (folder / "cases" / "broken.glb").write_bytes(b"nothing of use")
    return folder


@pytest.fixture(scope="module")
def done(things, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("done")
    propose_folder(things, out)
    check_folder(things, out, seconds=SECONDS)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_only_objects_whose_names_begin_so_are_run(things, tmp_path):
    propose_folder(things, tmp_path)
    told = check_folder(things, tmp_path, seconds=SECONDS, only=("cases/",))
    assert told["checked"] == 1
    assert AnnotationStore(tmp_path).check("balsa_crate") is None


def test_every_object_is_proposed_checked_and_shown_and_a_broken_one_stops_nobody(things, done):
    store = AnnotationStore(done)
    assert [source.key for source in find_sources(things)] == ["balsa_crate", "cases/broken", "cases/granite_case"]
    assert store.status("cases/broken") == "failed"
    assert "GLB" in store.annotation("cases/broken").problem
    assert store.annotation("balsa_crate").rows[0].material == "balsa"
    found = store.check("balsa_crate")
    assert found["mass"] == pytest.approx(understand(things / "balsa_crate.ply").mass.mass, rel=1e-3)
    assert found["runs"]["drop"]["moved"] > 0.0
    assert [flag["kind"] for flag in store.check("cases/granite_case")["flags"]] == ["heavy"]
    page = (done / "index.html").read_text()
    for words in ("balsa_crate", "heavy", "granite", "GLB"):
        assert words in page
    assert not list(done.rglob("*.mp4"))  # mass shows in no run


def test_a_run_that_is_interrupted_goes_on_and_ends_with_the_same_bytes(things, done, tmp_path):
    def stop(done: int, total: int, name: str) -> None:
        if name == "cases/granite_case":
            raise KeyboardInterrupt

    for verb, more in ((propose_folder, {}), (check_folder, {"seconds": SECONDS})):
        with pytest.raises(KeyboardInterrupt):
            verb(things, tmp_path, progress=stop, **more)
        # what a killed process leaves half-written
        (tmp_path / "assets/balsa_crate/.neurok-left").write_bytes(b"half")
        if verb is check_folder:
            (tmp_path / "assets/cases/granite_case/runs.jpg").write_bytes(b"half")
        verb(things, tmp_path, **more)
    assert contents(tmp_path) == contents(done)


def test_what_was_checked_is_not_run_again_and_other_limits_judge_the_same_runs(things, done, tmp_path, monkeypatch):
    import shutil

    from neurok.folders import materials as verbs

    out = tmp_path / "copy"
    shutil.copytree(done, out)
    ran: list[str] = []
    monkeypatch.setattr(verbs, "run_check", lambda job: ran.append(job.source.key))
    check_folder(things, out, seconds=SECONDS)
    assert contents(out) == contents(done)
    told = check_folder(things, out, seconds=SECONDS, limits=replace(LIMITS, heavy=1e5))
    assert (ran, told["flagged"]) == ([], 0)
    monkeypatch.undo()
    check_folder(things, out, seconds=SECONDS, limits=replace(LIMITS, still=1e3))  # needs films that are not there
    assert {path.name for path in (out / "assets/balsa_crate").glob("*.mp4")} == {"drop.mp4", "throw.mp4", "drag.mp4"}
    assert 'src="assets/balsa_crate/drop.mp4"' in (out / "index.html").read_text()
    monkeypatch.setattr(verbs, "run_check", lambda job: ran.append(job.source.key))
    check_folder(things, out, seconds=2 * SECONDS)
    assert ran == ["balsa_crate", "cases/granite_case"]


def test_edits_change_accept_and_are_checked_again_alone(things, done, tmp_path, capsys):
    import shutil

    out = tmp_path / "copy"
    shutil.copytree(done, out)
    store = AnnotationStore(out)
    before = (out / "assets/balsa_crate/check.json").read_bytes()
    part = store.annotation("cases/granite_case").rows[0].part
    (tmp_path / "edits.json").write_text(
        json.dumps([{"asset": "cases/granite_case", "part": part, "material": "cardboard"}])
    )
    line = ["materials", str(things), "--out", str(out), "--edit", str(tmp_path / "edits.json"), "--json"]
    cli.main([*line, "--accept", "balsa_crate", "--models"])
    said = json.loads(capsys.readouterr().out)
    assert said["status"] == {"accepted": 1, "edited": 1, "failed": 1}
    assert store.changed("cases/granite_case") == {part: ("granite", "cardboard")}
    assert store.check("cases/granite_case") is None  # what the old material did says nothing any more
    assert load(out / "accepted/balsa_crate.glb").materials.density[0] == 160.0
    check_folder(things, out, seconds=SECONDS)
    assert store.check("cases/granite_case")["flags"] == []
    assert (out / "assets/balsa_crate/check.json").read_bytes() == before
    (tmp_path / "edits.csv").write_text("asset,part,material,accept\ncases/granite_case,,,yes\nbalsa_crate,all,pine,\n")
    cli.main(["materials", str(things), "--out", str(out), "--edit", str(tmp_path / "edits.csv"), "--json"])
    capsys.readouterr()
    assert store.status("cases/granite_case") == "accepted"
    assert store.status("balsa_crate") == "edited"
    assert not (out / "accepted/balsa_crate.json").exists()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"asset": "nobody", "accept": True}], "there is no object 'nobody'"),
        ([{"asset": "balsa_crate", "part": "lid", "material": "oak"}], "lid"),
        ([{"asset": "balsa_crate", "part": "all", "material": "oka"}], "There is no material 'oka'"),
        ([{"asset": "balsa_crate", "part": "all"}], "needs both a part and a material"),
        ([{"asset": "balsa_crate"}], "says nothing"),
        ([{"asset": "balsa_crate", "accept": "perhaps"}], "must be true or false"),
        ([{"asset": "balsa_crate", "accept": True, "colour": 1}], "'colour'"),
        ([{"asset": "cases/broken", "accept": True}], "GLB"),
        (["oak"], "is no object"),
        (7, "must hold a list"),
    ],
)
def test_edits_that_cannot_be_change_nothing(rows, words, things, done, tmp_path, capsys):
    before = contents(done)
    (tmp_path / "edits.json").write_text(json.dumps(rows))
    with pytest.raises(SystemExit) as end:
        cli.main(["materials", str(things), "--out", str(done), "--edit", str(tmp_path / "edits.json")])
    error = capsys.readouterr().err
    assert end.value.code == 2
    assert words in error
    assert error.count("\n") == 1
    assert contents(done) == before


def test_a_plug_in_that_fails_on_one_object_leaves_the_others(things, tmp_path):
    def proposer(question):
        if "granite" in question.name:
            raise RuntimeError("no answer from the model")
        return [(part.name, "cork", 0.6, "seen") for part in question.parts]

    told = propose_folder(things, tmp_path, proposer=proposer, name="test:proposer")
    assert told["status"] == {"failed": 2, "proposed": 1}
    assert "no answer from the model" in told["problems"]["cases/granite_case"]
    assert AnnotationStore(tmp_path).annotation("balsa_crate").rows[0].material == "cork"
    part = AnnotationStore(tmp_path).annotation("balsa_crate").rows[0].part
    from neurok.folders.materials import Edit

    edit_folder(things, tmp_path, [Edit("balsa_crate", part, "oak")])
    propose_folder(things, tmp_path)  # the rules replace what nobody touched, and keep what a person set
    assert AnnotationStore(tmp_path).changed("balsa_crate") == {part: ("cork", "oak")}
    assert AnnotationStore(tmp_path).annotation("cases/granite_case").rows[0].material == "granite"


def test_lists_name_objects_and_their_categories(things, tmp_path):
    (things / "list.csv").write_text("file,category\nbalsa_crate.ply,crate\n")
    (source,) = find_sources(things / "list.csv")
    assert (source.key, source.category) == ("balsa_crate", "crate")
    for name, text, words in (("a.csv", "path\nx\n", "column 'file'"), ("b.txt", "", "is empty")):
        (tmp_path / name).write_text(text)
        with pytest.raises(NeurokError, match=words):
            find_sources(tmp_path / name)
    with pytest.raises(NeurokError, match="holds no object"):
        find_sources(tmp_path)
    (things / "list.csv").unlink()


def hang(job) -> None:
    time.sleep(60)


def crash(job) -> None:
    import os

    os._exit(7)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("work", "limit", "words"), [(hang, 3.0, "took longer than 3 s"), (crash, 300.0, "ended with code 7")]
)
def test_what_hangs_or_crashes_is_ended_and_noted(work, limit, words, things, tmp_path):
    from neurok.folders.check import Job
    from neurok.scene.outcome import TRIAL

    source = find_sources(things)[0]
    limited = Limited(work, Limits(seconds=limit))
    record = check_within(limited, Job(source, AnnotationStore(tmp_path), "auto", SECONDS, TRIAL, LIMITS))
    limited.end()
    assert words in record["problem"]
    assert AnnotationStore(tmp_path).check(source.key) == record


def test_edits_that_cannot_be_leave_no_file(things, tmp_path, capsys):
    (tmp_path / "bad.csv").write_text("asset,part,material,accept,why\nbalsa_crate,nowhere,steel,,\n")
    with pytest.raises(SystemExit) as end:
        cli.main(["materials", str(things), "--out", str(tmp_path / "out"), "--edit", str(tmp_path / "bad.csv")])
    assert end.value.code == 2
    assert "nowhere" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
