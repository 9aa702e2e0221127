import json
import math
from dataclasses import replace

import numpy as np
import pytest

from neurok.bodyplan.hypothesis import Hypothesis
from neurok.catalogue.samples import make_sample
from neurok.cli import main
from neurok.core import Joint
from neurok.errors import NeurokError
from neurok.geometry.operators import face_areas
from neurok.io import save
from neurok_lab.evaluation.articulation import (
    Condition,
    JointMethod,
    JointSource,
    evaluate_joints,
    find_joint_method,
    given_mesh,
    joint_table,
    turn_object,
)
from neurok_lab.evaluation.joint_scores import (
    Guess,
    calibration_error,
    kind_scores,
    limit_overlap,
    line_distance,
    match_parts,
    merged_scores,
    part_means,
    score_parts,
    summarise_joints,
)


def true_answers(articulation):
    return tuple(
        Hypothesis(p, j.parent, j.kind, -j.axis, j.origin + 0.3 * j.axis, -j.upper, -j.lower, 1.0)
        for p, j in enumerate(articulation.joints)
    )


def scores(truth, answers):
    areas = face_areas(truth.mesh.vertices, truth.mesh.faces)
    return score_parts(truth, Guess(answers, truth.mesh.face_parts), areas)


def test_the_truth_scores_perfectly_even_with_other_signs_and_points_of_the_axes():
    truth = make_sample("cabinet").articulation
    means = part_means(scores(truth, true_answers(truth)))
    assert means["axis"] == pytest.approx(0.0, abs=1e-5)
    assert means["pivot"] == pytest.approx(0.0, abs=1e-9)
    assert means["pivot_point"] == pytest.approx(0.0, abs=1e-9)
    assert (means["precision"], means["recall"], means["tree"]) == (1.0, 1.0, 1.0)
    assert means["limits"] == pytest.approx(1.0)


def test_errors_are_what_was_done_wrong():
    truth = make_sample("laptop").articulation
    answers = list(true_answers(truth))
    hinge = next(p for p, j in enumerate(truth.joints) if j.kind == "revolute")
    axis = truth.joints[hinge].axis
    across = np.cross(axis, [0.3, 0.5, 0.7])
    across /= np.linalg.norm(across)
    turned = np.cos(0.2) * axis + np.sin(0.2) * across
    answers[hinge] = replace(answers[hinge], axis=turned, origin=truth.joints[hinge].origin, kind="continuous")
    row = next(row for row in scores(truth, tuple(answers)) if row["kind"] == "revolute")
    assert row["axis"] == pytest.approx(np.degrees(0.2))
    assert row["guess"] == "continuous"
    answers[hinge] = replace(answers[hinge], axis=axis, origin=truth.joints[hinge].origin + 0.1 * across)
    row = next(row for row in scores(truth, tuple(answers)) if row["kind"] == "revolute")
    assert row["pivot"] == pytest.approx(0.1 / truth.mesh.size)


def test_lines_are_as_far_apart_as_their_common_normal():
    x, y, z = np.eye(3)
    assert line_distance(np.zeros(3), x, 2.0 * z, y) == pytest.approx(2.0)
    assert line_distance(np.zeros(3), x, 2.0 * z + 5.0 * x, x) == pytest.approx(2.0)


def test_limits_overlap_about_the_true_axis_and_up_to_whole_turns():
    x = np.eye(3)[0]
    joint = Joint("revolute", 0, x, np.zeros(3), 0.0, 2.0)
    answer = lambda axis, low, high: Hypothesis(1, 0, "revolute", axis, np.zeros(3), low, high, 1.0)  # noqa: E731
    assert limit_overlap(joint, answer(x, 0.0, 1.0)) == pytest.approx(0.5)
    assert limit_overlap(joint, answer(-x, -2.0, 0.0)) == pytest.approx(1.0)
    assert limit_overlap(joint, answer(-x, 0.0, 2.0)) == pytest.approx(0.0)
    assert limit_overlap(joint, answer(x, -2.0 * math.pi, 2.0 - 2.0 * math.pi)) == pytest.approx(1.0)


def test_parts_match_by_overlap_of_area():
    true = np.array([0, 0, 1, 1])
    found = np.array([2, 2, 0, -1])
    assert match_parts(true, found, np.ones(4), 3, 3).tolist() == [2, 0, -1]


def test_a_piece_fixed_to_a_door_moves_with_it():
    truth = make_sample("laptop").articulation
    answers = true_answers(truth)
    hinge = next(p for p, j in enumerate(truth.joints) if j.kind == "revolute")
    lid = np.flatnonzero(truth.mesh.face_parts == hinge)
    areas = face_areas(truth.mesh.vertices, truth.mesh.faces)
    split = truth.mesh.face_parts.copy()
    large = lid[np.argsort(-areas[lid])][: len(lid) // 2]
    split[large] = len(answers)
    piece = Hypothesis(len(answers), hinge, "fixed", np.eye(3)[0], np.zeros(3), 0.0, 0.0, 1.0)
    rows = score_parts(truth, Guess((*answers, piece), split), areas)
    row = next(row for row in rows if row["kind"] == "revolute")
    assert (row["guess"], row["parent"]) == ("revolute", True)


def test_precision_and_recall_by_hand():
    found = kind_scores(["a", "a", "a", "b"], ["a", "a", "b", "b"])
    assert found["recall"] == pytest.approx(0.75)
    assert found["precision"] == pytest.approx(0.75 * 1.0 + 0.25 * 0.5)
    assert found["recall_macro"] == pytest.approx((2 / 3 + 1) / 2)


def test_turns_with_and_without_limits_count_as_one_where_they_are_merged():
    true = ["revolute", "continuous", "prismatic", "revolute"]
    found = ["continuous", "continuous", "prismatic", "prismatic"]
    assert kind_scores(true, found)["recall"] == pytest.approx(0.5)
    merged = merged_scores(true, found)
    assert merged["recall_merged"] == pytest.approx(0.75)
    assert merged["precision_merged"] == pytest.approx(0.75 * 1.0 + 0.25 * 0.5)


def test_confidence_is_judged_by_how_often_it_is_right():
    right = {"kind": "fixed", "guess": "fixed", "confidence": 0.9}
    wrong = {"kind": "fixed", "guess": "revolute", "confidence": 0.9}
    assert calibration_error([right] * 9 + [wrong]) == pytest.approx(0.0, abs=1e-9)
    assert calibration_error([wrong] * 4) == pytest.approx(0.9)


@pytest.mark.parametrize("rotate", ["up", "any"])
def test_turned_objects_turn_with_their_joints(rotate):
    truth = make_sample("cabinet").articulation
    turned = turn_object(truth, rotate, "name")
    q = 0.2 * np.ones(truth.dof)
    moved, still = truth.pose(q).vertices, truth.mesh.vertices
    assert not np.allclose(turned.mesh.vertices, still)
    before = np.linalg.norm(moved - still, axis=1)
    after = np.linalg.norm(turned.pose(q).vertices - turned.mesh.vertices, axis=1)
    assert np.allclose(before, after)


def test_faces_are_removed_and_parts_found_anew():
    truth = make_sample("laptop").articulation
    mesh, kept = given_mesh(truth, Condition(drop_faces=0.05), "laptop")
    assert mesh.face_count == len(kept) == round(0.95 * truth.mesh.face_count)
    assert (mesh.face_parts == truth.mesh.face_parts[kept]).all()
    found, every = given_mesh(truth, Condition("components"), "laptop")
    assert found.face_count == len(every) == truth.mesh.face_count


def test_rows_are_kept_and_a_method_that_fails_is_scored_as_if_nothing_moved(tmp_path):
    truth = make_sample("laptop").articulation
    calls = []

    def oracle(mesh, pieces):
        calls.append(1)
        return true_answers(truth)

    def broken(mesh, pieces):
        raise ValueError("no idea")

    source = JointSource("laptop", "seen categories", lambda: truth)
    methods = [JointMethod("oracle", "oracle", oracle), JointMethod("broken", "broken", broken)]
    store = tmp_path / "rows.jsonl"
    rows = evaluate_joints([source], methods, Condition(), store)
    again = evaluate_joints([source], methods, Condition(), store)
    assert len(calls) == 1
    assert json.dumps(rows) == json.dumps(again)
    summary = summarise_joints(rows)
    assert [row["failed"] for row in summary] == [0, 1]
    assert summary[0]["axis"] < 1e-5 < summary[1]["limits"] + 1.0
    table = joint_table(summary)
    assert "oracle" in table
    assert "GEOPARD (published)" in table


def test_unknown_methods_are_named():
    with pytest.raises(NeurokError, match="known are search and learned"):
        find_joint_method("magic")


@pytest.mark.slow
def test_the_command_writes_its_table(tmp_path, capsys):
    for number in range(5):
        save(make_sample("laptop"), tmp_path / "data" / "partnet_mobility" / "train" / f"Laptop_{number}.npz")
    out, page = tmp_path / "figures.json", tmp_path / "page.md"
    args = ["--data", str(tmp_path / "data"), "--methods", "search", "--out", str(out), "--write", str(page)]
    main(["evaluate", "articulation", *args])
    assert "search" in page.read_text()
    assert json.loads(out.read_text())["summary"][0]["objects"] == 1
