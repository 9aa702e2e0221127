"""The commands and the Python of every tutorial run as they stand there, one after the other."""

import re
import shlex
from pathlib import Path

import pytest

from neurok.cli import main
from neurok.errors import MissingDependencyError
from neurok.rendering.context import gl_stage

TUTORIALS = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.md"))


def test_there_are_tutorials():
    assert len(TUTORIALS) >= 6


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    try:
        gl_stage()
    except MissingDependencyError as error:
        pytest.skip(f"no pictures on this machine: {error}")
    monkeypatch.chdir(tmp_path)
    for language, body in re.findall(r"```(\w*)\n(.*?)```", page.read_text(), flags=re.S):
        if language == "python":
            exec(body, {})
            continue
        for line in body.splitlines():
            main(shlex.split(line, comments=True)[1:])
    assert list(tmp_path.iterdir())
