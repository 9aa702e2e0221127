"""Every example runs without a screen and its own check passes."""

import subprocess
import sys
from pathlib import Path

import pytest

from neurok.errors import MissingDependencyError
from neurok.rendering.context import gl_stage

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples_and_each_says_what_it_shows():
    assert len(EXAMPLES) >= 4
    for path in EXAMPLES:
        text = path.read_text()
        assert text.startswith('"""'), path.name
        assert "def check(" in text, path.name


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_and_passes_its_check(path, tmp_path):
    try:
        gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")
    line = [sys.executable, str(path), "--out", str(tmp_path)]
    done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.rglob("*.png"))
