"""Joints found by moving parts."""

from neurok.articulation.parts import find_parts
from neurok.articulation.search import search_joints
from neurok.samples import make_sample


def test_every_part_but_the_base_gets_candidates():
    mesh = find_parts(make_sample("cabinet"))
    search = search_joints(mesh)
    bases = [part for part, parent in enumerate(search.parents) if parent < 0]
    assert len(bases) == 1
    assert all(bool(found) != (part in bases) for part, found in enumerate(search.candidates))
    assert len(search.articulation().joints) == mesh.part_count
