"""What is held out is never trained on."""

import zlib

from hypothesis import given
from hypothesis import strategies as st

from neurok_lab.data.still import UNSEEN_CATEGORIES, category, hold_out

names = st.lists(
    st.builds("{}_{}".format, st.sampled_from(["Box", "Table", "Oven", *UNSEEN_CATEGORIES]), st.integers(0, 10**6)),
    max_size=60,
)


@given(names)
def test_the_three_sets_are_disjoint_and_hold_every_name(found):
    train, seen, unseen = hold_out(found)
    assert sorted(train + seen + unseen) == sorted(set(found))


@given(names)
def test_no_unseen_category_is_trained_on(found):
    train, seen, unseen = hold_out(found)
    assert not {category(name) for name in train + seen} & set(UNSEEN_CATEGORIES)
    assert {category(name) for name in unseen} <= set(UNSEEN_CATEGORIES)


def test_every_fifth_name_is_held_out_whatever_the_order():
    found = [f"Box_{i:02d}" for i in range(12)]
    shuffled = sorted(found, key=lambda name: zlib.crc32(name.encode()))
    assert hold_out(shuffled)[1] == ["Box_00", "Box_05", "Box_10"]
