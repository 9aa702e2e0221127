"""What one material is given for: parts, and surfaces of parts."""

from dataclasses import replace

import numpy as np
import pytest

from neurok.core import Mesh, Surface
from neurok.core.select import regions_of, select_region
from neurok.errors import NeurokError
from neurok.modelling import shapes


def two_boxes() -> Mesh:
    """A seat with a red and a blue half whose vertices are shared, and a leg without looks of its own."""
    box = shapes.box((1.0, 1.0, 1.0))
    count, half = len(box.vertices), len(box.faces) // 2
    return Mesh(
        np.concatenate([box.vertices, box.vertices + [2.0, 0.0, 0.0]]),
        np.concatenate([box.faces, box.faces + count]),
        part_ids=np.repeat([0, 1], count),
        part_names=("seat", "leg"),
        surfaces=(Surface("red"), Surface("blue")),
        face_surfaces=np.repeat([0, 1, 0], [half, half, 2 * half]),
    )


def test_every_face_and_vertex_belongs_to_one_region():
    mesh = two_boxes()
    regions = regions_of(mesh)
    assert [region.name for region in regions] == ["seat/red", "seat/blue", "leg"]
    assert sorted(np.concatenate([region.faces for region in regions])) == list(range(mesh.face_count))
    assert sorted(np.concatenate([region.vertices for region in regions])) == list(range(mesh.vertex_count))


def test_regions_do_not_depend_on_the_order_of_faces():
    mesh = two_boxes()
    order = np.random.default_rng(0).permutation(mesh.face_count)
    mixed = replace(mesh, faces=mesh.faces[order], face_surfaces=mesh.face_surfaces[order])
    for one, other in zip(regions_of(mesh), regions_of(mixed), strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.vertices, other.vertices)


def test_a_name_is_a_part_a_region_a_surface_or_a_place():
    mesh = two_boxes()
    seat, leg = np.arange(mesh.vertex_count // 2), np.arange(mesh.vertex_count // 2, mesh.vertex_count)
    np.testing.assert_array_equal(select_region(mesh, "seat"), seat)
    np.testing.assert_array_equal(select_region(mesh, "leg"), leg)
    np.testing.assert_array_equal(select_region(mesh, "all"), np.arange(mesh.vertex_count))
    np.testing.assert_array_equal(select_region(mesh, "red"), np.union1d(leg, select_region(mesh, "seat/red")))
    with pytest.raises(NeurokError, match="Did you mean 'seat'"):
        select_region(mesh, "seet")


def test_a_mesh_without_parts_has_regions_named_as_its_surfaces():
    mesh = replace(two_boxes(), part_ids=None, part_names=())
    assert [region.name for region in regions_of(mesh)] == ["red", "blue"]
    bare = replace(mesh, surfaces=(), face_surfaces=None, name="block")
    assert [region.name for region in regions_of(bare)] == ["block"]
