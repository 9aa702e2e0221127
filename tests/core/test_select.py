"""Words, points and numbers for places on an object."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurok.core import Mesh
from neurok.core.select import parse_vector, select_vertices
from neurok.errors import NeurokError
from neurok.modelling.shapes import box


def block(up="y"):
    shape = box((2.0, 4.0, 6.0), (0, 0, 0))
    return Mesh(shape.vertices, shape.faces, name="block").in_frame(up)


def two_blocks():
    shape = box((1.0, 1.0, 1.0), (0, 0, 0))
    count = len(shape.vertices)
    return Mesh(
        np.concatenate([shape.vertices, shape.vertices + [0, 3, 0]]),
        np.concatenate([shape.faces, shape.faces + count]),
        part_ids=np.repeat([0, 1, 2], [count, count, 0]),
        part_names=("base", "top", "empty"),
        name="two",
    )


@pytest.mark.parametrize(
    ("word", "axis", "sign"),
    [("top", 1, 1), ("bottom", 1, -1), ("right", 0, 1), ("left", 0, -1), ("front", 2, 1), ("back", 2, -1)],
)
def test_a_side_is_the_vertices_at_that_end(word, axis, sign):
    mesh = block()
    chosen = select_vertices(mesh, word)
    assert (sign * mesh.vertices[chosen, axis] == np.abs(mesh.vertices[:, axis]).max()).all()
    assert len(chosen) == mesh.vertex_count / 2


@pytest.mark.parametrize("up", ["x", "z"])
@pytest.mark.parametrize("word", ["top", "bottom", "left", "right", "front", "back", "center"])
def test_words_mean_the_same_place_whatever_axis_is_up(up, word):
    np.testing.assert_array_equal(select_vertices(block(up), word), select_vertices(block(), word))


@given(st.integers(0, 7))
def test_a_number_is_that_vertex_and_its_place_finds_it(index):
    mesh = block()
    assert select_vertices(mesh, str(index)).tolist() == [index]
    near = mesh.vertices[index] * 1.1
    chosen = select_vertices(mesh, ",".join(map(str, near)))
    np.testing.assert_array_equal(mesh.vertices[chosen], np.tile(mesh.vertices[index], (len(chosen), 1)))


def test_a_part_is_all_its_vertices_and_a_slash_looks_within_it():
    mesh = two_blocks()
    assert (mesh.vertices[select_vertices(mesh, "base"), 1] < 1).all()
    assert set(mesh.vertices[select_vertices(mesh, "base/top"), 1]) == {0.5}
    assert len(select_vertices(mesh, "base/0.5,9,0.5")) < len(select_vertices(mesh, "base"))


def test_a_part_called_like_a_side_wins_and_all_brings_the_side_back():
    mesh = two_blocks()
    assert (mesh.part_ids[select_vertices(mesh, "top")] == 1).all()
    assert set(mesh.vertices[select_vertices(mesh, "all/top"), 1]) == {3.5}
    assert len(select_vertices(mesh, "all")) == mesh.vertex_count


def test_a_point_never_reaches_over_to_another_part():
    mesh = two_blocks()
    close = mesh.with_vertices(mesh.vertices - np.where(mesh.part_ids == 1, 1.999, 0.0)[:, None] * [0, 1, 0])
    chosen = select_vertices(close, "0.5,0.5,0.5")
    assert len(set(close.part_ids[chosen])) == 1


@pytest.mark.parametrize("at", ["lid", "Top", "basee/top", "base/up", "", "/", "1.5"])
def test_an_unknown_place_lists_the_parts_and_the_words(at):
    with pytest.raises(NeurokError, match=r"base, top, empty.*bottom"):
        select_vertices(two_blocks(), at)


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("8000", "0 to"),
        ("-1", "0 to"),
        ("empty", "no vertices"),
        ("1,2", "three numbers"),
        ("nan,0,0", "finite"),
        ("a,b,c", "three numbers"),
    ],
)
def test_impossible_places_say_why(at, words):
    with pytest.raises(NeurokError, match=words):
        select_vertices(two_blocks(), at)


def test_a_mistyped_part_gets_a_suggestion():
    with pytest.raises(NeurokError, match="Did you mean 'base'"):
        select_vertices(two_blocks(), "bse")


@given(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 3))
def test_vectors_are_read_exactly(vector):
    assert parse_vector(",".join(map(repr, vector)), "the vector") == vector
