"""``neurok train ranking`` on built-in objects."""

import json

import pytest

from neurok.cli import main


@pytest.mark.slow
def test_a_ranking_is_fitted_and_written(tmp_path, capsys):
    main(["data", "build", "--out", str(tmp_path / "made"), "--recipe", "tiny", "--json"])
    capsys.readouterr()
    main(
        [
            "train",
            "ranking",
            str(tmp_path / "made"),
            "--out",
            str(tmp_path / "ranking.json"),
            "--limit",
            "4",
            "--json",
        ]
    )
    told = json.loads(capsys.readouterr().out)
    shipped = json.loads((tmp_path / "ranking.json").read_text())
    assert told["objects"] > 0
    assert shipped


@pytest.mark.parametrize("out", ["ranking.txt", "ranking"])
def test_another_suffix_is_refused(tmp_path, capsys, out):
    with pytest.raises(SystemExit, match="2"):
        main(["train", "ranking", str(tmp_path), "--out", str(tmp_path / out)])
    assert ".json" in capsys.readouterr().err
