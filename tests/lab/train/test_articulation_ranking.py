import numpy as np
import pytest

from neurok.bodyplan.line_features import FEATURES
from neurok.catalogue.samples import make_sample
from neurok_lab.train.ranking import (
    COLUMNS,
    KINDS,
    PartEvidence,
    fit_fixed,
    fit_ranking,
    gather,
    to_table,
    top_share,
    weigh,
)


def made_up(rng: np.random.Generator, truth: np.ndarray, fixed: bool) -> PartEvidence:
    """Six hinges and the fixed part; the right one is what the true weights like best."""
    kinds = np.array([KINDS.index("revolute")] * 6 + [KINDS.index("fixed")])
    rows = np.zeros((7, COLUMNS[-1]))
    rows[:6, : len(FEATURES["revolute"])] = rng.normal(size=(6, len(FEATURES["revolute"])))
    last = COLUMNS[KINDS.index("fixed")]
    rows[6, last : last + 2] = 1.0, 3.0 if fixed else -3.0
    right = np.zeros(7)
    right[6 if fixed else int((rows[:6] @ truth).argmax())] = 1.0
    return PartEvidence(f"thing_{rng.integers(99)}", rows, kinds, right)


def test_weights_rank_lines_of_other_parts_as_the_true_weights_do():
    rng = np.random.default_rng(0)
    truth = np.zeros(COLUMNS[-1])
    truth[:3] = 3.0, -2.0, 1.0
    parts = [made_up(rng, truth, fixed=False) for _ in range(300)]
    found = fit_ranking(weigh(parts[:200]))
    assert top_share(found, parts[200:]) > 0.9
    assert top_share(np.zeros_like(found), parts[200:]) < 0.4


def test_a_fixed_part_outweighs_all_motions_only_where_it_is_fixed():
    rng = np.random.default_rng(1)
    truth = np.zeros(COLUMNS[-1])
    truth[0] = 2.0
    moving, still = [[made_up(rng, truth, fixed) for _ in range(80)] for fixed in (False, True)]
    found = fit_fixed(truth, moving, still)
    assert np.array_equal(found[: COLUMNS[KINDS.index("fixed")]], truth[: COLUMNS[KINDS.index("fixed")]])
    for parts, expected in ((moving, False), (still, True)):
        wins = [part.rows[-1] @ found > np.logaddexp.reduce(part.rows[:-1] @ found) for part in parts]
        assert np.mean(np.array(wins) == expected) > 0.95


def test_objects_of_many_parts_do_not_count_by_their_number():
    part = made_up(np.random.default_rng(2), np.ones(COLUMNS[-1]), fixed=False)
    weighed = weigh([part] * 4, 2.0)
    assert sum(one.weight for one in weighed) == pytest.approx(2.0 * 4 / np.sqrt(4))


def test_every_moving_part_of_a_sample_has_a_right_line_and_a_row_for_not_moving():
    joints = make_sample("laptop").articulation
    parts = list(gather("laptop", joints.mesh, joints.joints))
    assert len(parts) == sum(joint.parent >= 0 for joint in joints.joints)
    for part in parts:
        assert part.right.max() > 0.5
        assert KINDS[part.kinds[-1]] == "fixed"


def test_the_table_names_every_word():
    table = to_table(np.arange(COLUMNS[-1], dtype=float))
    assert {kind: tuple(row) for kind, row in table.items()} == FEATURES
