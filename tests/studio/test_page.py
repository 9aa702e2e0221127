"""Pages that need no server: everything is inside, and a browser plays it."""

import json
import re

import numpy as np
import pytest

import neurok
from neurok.bodyplan.editing import plan_of_joints
from neurok.cli import main
from neurok.errors import NeurokError
from neurok.io import load

pytest.importorskip("viser", reason="viser is not installed: there are no pages")


@pytest.fixture(scope="module")
def page():
    return neurok.show("sample:laptop")


def test_a_page_names_no_other_address_to_load_from(page):
    loads = re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"', page.page)
    assert not [address for address in loads if not address.startswith("data:")]
    assert "__VISER_EMBED_DATA__" in page.page


def test_a_notebook_shows_it_inline_and_a_file_holds_the_same(page, tmp_path):
    assert page._repr_html_().startswith("<iframe srcdoc=")
    assert page.save(tmp_path / "laptop.html").read_text() == page.page
    with pytest.raises(NeurokError, match=r"must end in \.html"):
        page.save(tmp_path / "laptop.txt")


def test_meshes_clips_rollouts_and_plans_are_shown():
    laptop = load("sample:laptop")
    joints = laptop.articulation
    clip = joints.clip(np.linspace(0, 0.5, 3)[:, None])
    still, moving = (len(neurok.show(thing).page) for thing in (laptop.mesh, clip))
    assert abs(moving - still) < 50_000  # parts move as wholes: frames add a few numbers, no vertices
    bent = neurok.Clip(laptop.mesh, np.stack([laptop.mesh.vertices * (1, s, 1) for s in (1.0, 1.1)]))
    assert len(neurok.show(bent).page) > 0
    assert len(neurok.show(plan_of_joints(joints)).page) > 0


def test_the_command_writes_a_page_and_prints_nothing_but_json(tmp_path, capsys):
    main(["render", "sample:laptop", "--out", str(tmp_path / "out.html"), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["bytes"] == (tmp_path / "out.html").stat().st_size
    assert said["frames"] == 48


def test_a_page_has_no_camera_of_its_own(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["render", "sample:laptop", "--out", str(tmp_path / "out.html"), "--sheet"])
    assert ended.value.code == 2
    assert "--sheet does not apply to an interactive page" in capsys.readouterr().err
    assert not (tmp_path / "out.html").exists()
