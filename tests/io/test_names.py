"""Names that must differ."""

from neurok.io.files import unique_names


def test_repeated_and_taken_names_get_the_first_free_number():
    assert unique_names(["a", "a", "a_2", "b", "a"], taken=("b",)) == ["a", "a_2", "a_2_2", "b_2", "a_3"]


def test_very_many_equal_names_take_no_longer_than_different_ones():
    names = unique_names(["part"] * 200_000)  # trying every number anew would take hours
    assert len(set(names)) == 200_000
