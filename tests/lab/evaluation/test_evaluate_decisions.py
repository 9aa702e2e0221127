"""Decisions on files are compared with what a person says of them."""

import json

import numpy as np
import pytest

from neurok.cli import main
from neurok.core import Asset, Joint, Mesh
from neurok.errors import NeurokError
from neurok.io import save
from neurok.modelling.shapes import box
from neurok_lab.evaluation.decisions import Motion, read_truth

HEAD = "source,name,matter,material,mass_min_kg,mass_max_kg,moves,truth\n"
UP = np.array([0.0, 1.0, 0.0])
SIDE = np.array([1.0, 0.0, 0.0])


@pytest.fixture
def folder(tmp_path):
    """A block of steel, whose mass is that of its volume at most, under two truths."""
    shape = box((0.1, 0.1, 0.1))
    for name in ("steel_block_1", "steel_block_2"):
        (tmp_path / "made" / name).mkdir(parents=True)
        save(Asset(Mesh(shape.vertices, shape.faces, name=name)), tmp_path / "made" / name / "block.obj")
    rows = "made,steel_block_1,hard,steel,0.05,8,0,\nmade,steel_block_2,soft,steel,9,10,1,lid turns\n"
    (tmp_path / "truth.csv").write_text(HEAD + rows)
    return tmp_path


def test_right_and_wrong_decisions_are_told_apart(folder, tmp_path):
    out = tmp_path / "figures.json"
    main(["evaluate", "decisions", str(folder), "--out", str(out), "--json"])
    right, wrong = json.loads(out.read_text())["rows"]
    assert (right["matter_right"], right["mass_right"], right["still_right"]) == (1.0, 1.0, 1.0)
    assert (wrong["matter_right"], wrong["mass_right"], wrong["joint_right"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("words", "kind", "axis", "right"),
    [
        ("doors revolute about vertical outer edges", "revolute", UP, True),
        ("doors revolute about vertical outer edges", "revolute", SIDE, False),
        ("3 drawers slide to the front", "prismatic", SIDE, True),
        ("3 drawers slide to the front", "prismatic", UP, False),
        ("3 drawers slide to the front", "revolute", SIDE, False),
        ("wheels continuous", "continuous", SIDE, True),
        ("cap turns", "revolute", UP, True),
    ],
)
def test_words_name_kind_and_direction_of_a_joint(words, kind, axis, right):
    assert Motion.of(words).is_done_by(Joint(kind, 0, axis), UP) is right


def test_a_folder_without_truth_is_refused(tmp_path):
    with pytest.raises(NeurokError, match=r"truth\.csv"):
        read_truth(tmp_path)


def test_a_row_without_a_file_is_refused(folder):
    (folder / "truth.csv").write_text(HEAD + "made,nowhere,hard,steel,1,2,0,\n")
    with pytest.raises(NeurokError, match="nowhere"):
        read_truth(folder)
