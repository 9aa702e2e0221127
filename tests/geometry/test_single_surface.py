"""Pieces melted into one surface, and one surface cut into patches."""

import numpy as np

from neurok.geometry.level_set import MeltConfig, melted
from neurok.geometry.operators import face_areas
from neurok.geometry.patches import cut_patches
from neurok.geometry.topology import face_components
from neurok.modelling.shapes import slab
from solids import of_parts

COARSE = MeltConfig(cells=24, faces=1_500, samples=4_000)


def laptop():
    """A board, and another that stands on its edge."""
    return of_parts(base=[slab((0, 0, 0), (1, 0.1, 1))], lid=[slab((0, 0.1, 0), (1, 0.9, 0.1))])


def test_pieces_that_touch_become_one_closed_surface():
    mesh = laptop()
    vertices, faces, owners = melted(mesh.vertices, mesh.faces, COARSE)
    assert face_components(vertices, faces).max() == 0
    edges = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert np.abs(vertices.min(axis=0) - mesh.vertices.min(axis=0)).max() < 0.06
    assert np.abs(vertices.max(axis=0) - mesh.vertices.max(axis=0)).max() < 0.06
    high = vertices[faces].mean(axis=1)[:, 1] > 0.3
    assert (mesh.face_parts[owners][high] == 1).all()


def test_patches_end_where_the_surface_bends_inward():
    mesh = laptop()
    vertices, faces, owners = melted(mesh.vertices, mesh.faces, COARSE)
    patches, areas = cut_patches(vertices, faces), face_areas(vertices, faces)
    assert 2 <= patches.max() + 1 <= 40
    shared = np.zeros((patches.max() + 1, 2))
    np.add.at(shared, (patches, mesh.face_parts[owners]), areas)
    assert shared.max(axis=1).sum() > 0.9 * areas.sum()


def test_a_flat_board_is_one_patch_on_each_side_at_most():
    mesh = of_parts(board=[slab((0, 0, 0), (1, 1, 0.1))])
    patches = cut_patches(mesh.vertices, mesh.faces)
    assert patches.max() + 1 <= 6
    assert len(patches) == len(mesh.faces)


def test_bars_thinner_than_the_blur_stay():
    mesh = of_parts(top=[slab((0, 1, 0), (1, 1.1, 1))], leg=[slab((0.48, 0, 0.48), (0.51, 1, 0.51))])
    vertices, faces, owners = melted(mesh.vertices, mesh.faces, COARSE)
    assert vertices[:, 1].min() < 0.06
    assert (mesh.face_parts[owners][vertices[faces].mean(axis=1)[:, 1] < 0.8] == 1).all()
    assert face_components(vertices, faces).max() == 0
