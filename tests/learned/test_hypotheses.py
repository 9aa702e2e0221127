"""Every way a part may move, ranked."""

import numpy as np
import pytest

from neurok.catalogue.samples import make_sample
from neurok.hub import load_model
from neurok.learned.joints import Prediction, fixed_probability, joint_hypotheses, predict_joints


@pytest.fixture(scope="module", params=["laptop", "cabinet"])
def prediction(request) -> Prediction:
    return predict_joints(make_sample(request.param).mesh, load_model("articulation", "articulation"))


def moving(prediction: Prediction) -> list[int]:
    return [answer.part for answer in prediction.answers if answer.parent >= 0 and answer.kind != "fixed"]


def test_lines_are_sorted_by_probability(prediction):
    assert moving(prediction)
    for part in moving(prediction):
        likely = [line.probability for line in joint_hypotheses(prediction, part)]
        assert len(likely) > 1
        assert likely == sorted(likely, reverse=True)
        assert likely[-1] >= 0.0
        assert likely[0] <= 1.0


def test_the_answer_is_among_the_lines_of_a_part_that_moves(prediction):
    """The line of network and search together, for the way the answer moves."""
    for part in moving(prediction):
        answer, lines = prediction.answers[part], joint_hypotheses(prediction, part)
        slides = answer.kind == "prismatic"
        (line,) = [o for o in lines if o.source == "network and search" and (o.kind == "prismatic") == slides]
        assert (line.part, line.parent, line.kind) == (part, answer.parent, answer.kind)
        np.testing.assert_allclose(line.axis, answer.axis, atol=1e-9)
        if not slides:
            across = line.origin - answer.origin
            across -= (across @ answer.axis) * answer.axis
            np.testing.assert_allclose(across, 0.0, atol=1e-9 * prediction.mesh.size)


def test_the_best_line_is_the_answer_where_the_part_surely_moves(prediction):
    for part in moving(prediction):
        answer, best = prediction.answers[part], joint_hypotheses(prediction, part)[0]
        assert abs(float(best.axis @ answer.axis)) > np.cos(np.radians(8.0))
        assert (best.kind == "prismatic") == (answer.kind == "prismatic")


def test_the_root_has_no_lines_and_parts_that_move_are_not_held_to_be_fixed(prediction):
    (root,) = [answer.part for answer in prediction.answers if answer.parent < 0]
    assert joint_hypotheses(prediction, root) == []
    for part in moving(prediction):
        assert 0.0 <= fixed_probability(prediction, part) < 0.5


def test_a_part_without_surface_has_no_lines_and_is_fixed(prediction):
    assert joint_hypotheses(prediction, 99) == []
    assert fixed_probability(prediction, 99) == 1.0
