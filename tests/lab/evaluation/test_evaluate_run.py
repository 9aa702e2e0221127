"""The run goes on where it stopped, survives methods that fail, and writes its tables."""

import json
import shutil

import numpy as np
import pytest

from neurok.cli import main
from neurok.errors import NeurokError
from neurok_lab.evaluation.cases import CaseSource, find_cases
from neurok_lab.evaluation.methods import Entry, accuracy_table, find_method, measure_poses, summarise
from neurok_lab.evaluation.tables import put_section


@pytest.fixture
def sources(drawer_case, bent_sheet):
    return [CaseSource(case.name, case.group, lambda case=case: case) for case in (drawer_case, bent_sheet)]


def failing(rest, target, rng):
    raise RuntimeError("lost its way")


def test_a_method_that_fails_scores_no_motion_and_says_why(sources):
    entries = [find_method("rest"), Entry("bad", "bad", lambda case: failing)]
    entries.append(Entry("odd", "odd", lambda case: lambda rest, target, rng: rest.vertices * np.nan))
    rest, bad, odd = measure_poses("test", sources[:1], entries, points=500)
    assert bad["status"] == odd["status"] == "failed"
    assert "lost its way" in bad["message"]
    assert bad["chamfer_l1"] == odd["chamfer_l1"] == rest["chamfer_l1"] == rest["no_motion_l1"]


def test_what_does_not_apply_is_absent_and_not_counted(sources):
    rows = measure_poses("test", sources, [find_method("oracle-joints")], points=500)
    assert [row["status"] for row in rows] == ["ok", "absent"]
    assert [row["objects"] for row in summarise(rows)] == [1]


def test_an_interrupted_run_goes_on_and_gives_the_same_rows(sources, tmp_path):
    store, calls = tmp_path / "deep" / "rows.jsonl", []

    def counting(rest, target, rng):
        calls.append(rest.name)
        return rest.vertices + 0.01 * rng.normal(size=3)

    entries = [find_method("rest"), Entry("count", "count", lambda case: counting)]
    strip = lambda rows: [{k: v for k, v in row.items() if k != "seconds"} for row in rows]  # noqa: E731
    whole = measure_poses("test", sources, entries, points=500)
    calls.clear()
    measure_poses("test", sources[:1], entries, store, points=500)
    with store.open("a") as file:
        file.write('{"key": "cut off in the mid')
    resumed = measure_poses("test", sources, entries, store, points=500)
    assert calls == ["drawer", "sheet"]
    assert strip(resumed) == strip(whole)
    assert strip(measure_poses("test", sources, entries, store, points=500)) == strip(whole)
    assert len(calls) == 2


def test_a_table_replaces_its_own_section_and_no_other(sources, tmp_path):
    path = tmp_path / "results.md"
    path.write_text("# Results\n\nBy hand.\n")
    summary = summarise(measure_poses("test", sources, [find_method("rest")], points=500))
    put_section(path, "first", accuracy_table("test", summary))
    put_section(path, "second", "other")
    once = path.read_text()
    put_section(path, "first", accuracy_table("test", summary))
    assert path.read_text() == once
    assert once.startswith("# Results\n\nBy hand.\n")
    assert "| rest | 1 |" in once
    assert once.index("other") > once.index("Chamfer L1")


def test_suites_and_limits_that_make_no_sense_are_refused(tmp_path):
    with pytest.raises(NeurokError, match="partnet, animated"):
        find_cases("moon", lambda inside: tmp_path)
    with pytest.raises(NeurokError, match="limit"):
        find_cases("families", lambda inside: tmp_path, 0)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NeurokError, match="no test objects"):
        find_cases("partnet", lambda inside: tmp_path / "empty")


@pytest.mark.slow
def test_the_command_evaluates_a_family_and_writes_what_was_asked(tmp_path, capsys):
    out, page = tmp_path / "figures.json", tmp_path / "results.md"
    line = ["evaluate", "deformation", "--suite", "families", "--limit", "1", "--methods", "rest,oracle-joints"]
    main([*line, "--out", str(out), "--write", str(page), "--json"])
    printed = json.loads(capsys.readouterr().out)
    saved = json.loads(out.read_text())
    assert {row["method"] for row in printed["summary"]} == {"rest", "oracle-joints"}
    assert saved["summary"] == printed["summary"]
    assert "| oracle-joints | 1 |" in page.read_text()
    assert len(out.with_suffix(".jsonl").read_text().splitlines()) == 2


@pytest.mark.data
def test_real_objects_are_reached_by_their_own_joints(real_data, tmp_path, capsys):
    folder = real_data / "partnet_mobility" / "train"
    chosen = sorted(path.name for path in folder.glob("Laptop_*.npz"))[:5]
    small = tmp_path / "partnet_mobility" / "train"
    small.mkdir(parents=True)
    for name in chosen:
        shutil.copy(folder / name, small / name)
    line = ["evaluate", "deformation", "--suite", "partnet", "--data", str(tmp_path), "--methods", "rest,oracle-joints"]
    main([*line, "--json"])
    still, reached = json.loads(capsys.readouterr().out)["summary"]
    assert reached["above_floor"] < 0.2 * still["above_floor"]
