"""The comparison of the engines keeps its rows."""

from neurok_lab.evaluation import dynamics


def test_rows_are_kept_in_a_folder_that_is_not_there_and_not_measured_twice(tmp_path, monkeypatch):
    store, runs = tmp_path / "new" / "rows.jsonl", []
    monkeypatch.setattr(dynamics, "_timed", lambda scene: runs.append(scene.engine))
    monkeypatch.setattr(dynamics, "compared", lambda reduced, full: {"ratio": 7.0})
    found = [dynamics.compare_engines("pillow", "drop", seconds, 14, store) for seconds in (0.1, 0.1, 0.2)]
    assert runs == ["particles", "reduced"] * 2
    assert [row["ratio"] for row in found] == [7.0] * 3
    assert len(store.read_text().splitlines()) == 2
