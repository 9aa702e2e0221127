import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neurok.cli import main
from neurok.errors import FormatError, NeurokError
from neurok.io import save
from neurok_lab.data.build import RECIPES, Recipe, build
from neurok_lab.data.shards import ShardSet
from neurok_lab.data.still import find_sources

SKETCH = Recipe("sketch", articulated=4, soft=1, shard_size=2, families=("table", "bucket", "flag"))


def digest(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "one"
    build(SKETCH, folder)
    return folder


@pytest.mark.slow
def test_two_workers_give_the_same_bytes_as_one(built, tmp_path):
    build(SKETCH, tmp_path / "two", workers=2)
    assert digest(tmp_path / "two") == digest(built)


@pytest.mark.slow
def test_a_local_ray_gives_the_same_bytes(built, tmp_path):
    build(SKETCH, tmp_path / "ray", workers=2, ray_address="local")
    assert digest(tmp_path / "ray") == digest(built)


@pytest.mark.slow
def test_a_killed_build_goes_on_and_ends_with_the_same_bytes(built, tmp_path):
    out = tmp_path / "killed"
    code = f"from neurok_lab.data.build import Recipe, build\nbuild({SKETCH!r}, {str(out)!r})"
    process = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 120
    while not list(out.glob("shard-*.tar")) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (out / "manifest.json").exists()
    (out / ".neurok-left").write_bytes(b"half")
    (out / "shard-00001.tar").write_bytes(b"half a shard")
    build(SKETCH, out)
    assert digest(out) == digest(built)


@pytest.mark.slow
@pytest.mark.parametrize("to_all", [True, False])
def test_an_interrupted_build_ends_at_once_without_a_traceback_and_goes_on(built, tmp_path, to_all):
    out = tmp_path / "stopped"
    command = ["data", "build", "--recipe", "tiny", "--out", str(out), "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", f"from neurok.cli import main; main({command!r})"],
        # Where the tests run in the background SIGINT is ignored, and children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while not list(out.glob("shard-*.tar")) and time.monotonic() < deadline:
        time.sleep(0.02)
    # A terminal tells the whole group, a supervisor only the process it started.
    (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "goes on" in said
    assert build(RECIPES["tiny"], out)["items"] == 10


def test_damaged_notes_of_a_build_are_made_again_or_refused(tmp_path):
    recipe = replace(SKETCH, articulated=1, soft=0)
    before = build(recipe, tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    assert build(recipe, tmp_path) == before
    (tmp_path / "build.json").write_text("[]")
    with pytest.raises(NeurokError, match="another recipe"):
        build(recipe, tmp_path)


def test_families_that_do_not_exist_are_refused_with_those_that_do(tmp_path):
    with pytest.raises(NeurokError, match=r"spaceship.*cupboard"):
        build(replace(SKETCH, families=("spaceship",)), tmp_path / "x")


def test_addresses_that_cannot_be_read_get_a_sentence():
    with pytest.raises(NeurokError, match="not known"):
        ShardSet.open("nowhere://data")


def test_another_seed_gives_other_objects(built, tmp_path):
    other = replace(SKETCH, articulated=2, soft=0)
    build(other, tmp_path / "other", seed=1)
    first = [next(iter(ShardSet.open(folder))).asset().mesh.vertices for folder in (built, tmp_path / "other")]
    assert first[0].shape != first[1].shape or not np.allclose(first[0], first[1])


def test_a_stream_visits_every_item_once_in_an_order_that_follows_from_the_seed(built):
    data = ShardSet.open(built)
    orders = [[item.index for item in data.stream(seed, buffer=3)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1]
    assert orders[0] != orders[2] or len(data) < 3
    assert sorted(orders[0]) == [item.index for item in data]
    assert {item.info["kind"] for item in data.stream(0, kind="soft")} == {"soft"}


def test_shards_are_read_through_an_fsspec_url(built):
    assert [i.index for i in ShardSet.open(f"file://{built}")] == [i.index for i in ShardSet.open(built)]


def test_every_item_has_a_licence_and_a_subject_that_moves(built):
    for item in ShardSet.open(built):
        assert {"family", "category", "license", "source", "seed"} <= set(item.asset().provenance)
        assert (item.info["license"], item.info["source"]) == ("Apache-2.0", "neurok")
        assert item.subject().present.any()
        assert item.asset().mesh.face_count == item.info["faces"]


def test_damage_is_found_by_its_checksum(built, tmp_path):
    build(replace(SKETCH, articulated=1, soft=0), tmp_path / "bad")
    shard = tmp_path / "bad" / "shard-00000.tar"
    shard.write_bytes(shard.read_bytes()[:-2048] + b"\1" * 2048)
    with pytest.raises(FormatError, match="checksum"):
        ShardSet.open(tmp_path / "bad").verify()


def test_folders_of_real_assets_become_items(chest, wobble, tmp_path):
    source = tmp_path / "assets"
    save(chest, source / "chest.npz")
    save(chest, source / "robots" / "chest.urdf")
    save(wobble, source / "wobble.glb")
    save(wobble.clips[0], source / "frames" / "wobble_%04d.obj")
    (source / "broken.glb").write_bytes(b"glTF nonsense")
    assert len(find_sources(source)) == 5
    manifest = build(replace(RECIPES["real"], folders=(str(source),)), tmp_path / "out")
    assert manifest["items"] == 4
    assert manifest["rejected"] == {"source that cannot be read": 1}
    kinds = sorted(item.info["kind"] for item in ShardSet.open(tmp_path / "out"))
    assert kinds == ["articulated", "articulated", "soft", "soft"]


def test_several_folders_may_follow_one_flag_or_several(chest, tmp_path, capsys):
    for name in "abc":
        save(chest, tmp_path / name / f"{name}.npz")
    a, b, c = (str(tmp_path / name) for name in "abc")
    main(["data", "build", "--recipe", "real", "--out", str(tmp_path / "x"), "--add", a, b, "--add", c, "--json"])
    assert json.loads(capsys.readouterr().out)["items"] == 3


def test_bad_wishes_get_a_sentence(tmp_path, capsys):
    (tmp_path / "file").write_text("something else")
    for arguments, word in (
        (["--recipe", "huge", "--out", str(tmp_path / "x")], "no recipe"),
        (["--recipe", "real", "--out", str(tmp_path / "x")], "--add"),
        (["--recipe", "tiny", "--out", str(tmp_path / "x"), "--workers", "0"], "workers"),
        (["--recipe", "real", "--out", str(tmp_path / "x"), "--add", str(tmp_path / "none")], "not a folder"),
        (["--recipe", "tiny", "--out", str(tmp_path / "x"), "--seed", "-1"], "seed"),
        (["--recipe", "tiny", "--out", str(tmp_path / "file")], "not a folder"),
    ):
        with pytest.raises(SystemExit) as end:
            main(["data", "build", *arguments])
        assert end.value.code == 2
        assert word in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
    with pytest.raises(NeurokError, match="no finished data set"):
        ShardSet.open(tmp_path)


def test_a_folder_with_another_build_is_left_alone(built):
    with pytest.raises(NeurokError, match="another recipe or seed"):
        build(SKETCH, built, seed=7)


def test_info_and_preview_say_and_show_what_is_there(built, tmp_path, capsys):
    main(["data", "info", str(built), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["items"] == 5
    assert figures["kinds"] == {"articulated": 4, "soft": 1}
    main(
        ["data", "preview", str(built), "--out", str(tmp_path / "sheet.png"), "--items", "2", "--states", "2", "--json"]
    )
    assert json.loads(capsys.readouterr().out)["items"] == 2
    assert (tmp_path / "sheet.png").stat().st_size > 5000
