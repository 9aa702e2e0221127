"""Keys of a keyboard: one is tried for all that are alike."""

import numpy as np

from neurok.bodyplan.contacts import contact_graph
from neurok.bodyplan.search import search_joints, translated_copies, translation_between
from neurok.modelling.shapes import slab
from solids import of_parts


def panel(columns=6, rows=5, odd=True):
    """A plate with keys on it in rows, and a wide key behind them."""
    parts = {"plate": [slab((0, 0, 0), (columns, 0.5, rows + 2))]}
    for i in range(columns):
        for j in range(rows):
            parts[f"key_{i}_{j}"] = [slab((i + 0.2, 0.5, j + 0.2), (i + 0.8, 0.8, j + 0.8))]
    if odd:
        parts["space"] = [slab((1, 0.5, rows + 0.5), (5, 0.8, rows + 1.5))]
    return of_parts(**parts)


def star(mesh):
    return tuple(-1 if part == 0 else 0 for part in range(mesh.part_count))


def test_equal_keys_are_copies_of_the_one_in_their_midst_and_the_wide_one_is_not():
    mesh = panel()
    contacts = contact_graph(mesh)
    copies = translated_copies(contacts, star(mesh))
    original = set(copies.values())
    assert len(copies) == 29
    assert len(original) == 1
    assert mesh.part_names[original.pop()] in ("key_2_2", "key_3_2")
    assert mesh.part_names.index("space") not in copies
    first, last = mesh.part_names.index("key_0_0"), mesh.part_names.index("key_5_4")
    assert np.allclose(translation_between(first, last, contacts), [5, 0, 4])


def test_objects_of_few_parts_are_tried_part_by_part():
    mesh = panel(4, 4)
    assert translated_copies(contact_graph(mesh), star(mesh)) == {}


def test_a_part_that_carries_another_or_hangs_elsewhere_is_no_copy():
    mesh = panel(odd=False)
    parents = list(star(mesh))
    parents[3] = 2
    copies = translated_copies(contact_graph(mesh), tuple(parents))
    assert not {2, 3} & {*copies, *copies.values()}


def test_copies_get_the_lines_and_ranges_of_their_original_where_they_stand():
    mesh = panel()
    search = search_joints(mesh, parents=star(mesh))
    contacts = contact_graph(mesh)
    copies = translated_copies(contacts, star(mesh))
    part, original = next(iter(copies.items()))
    shift = translation_between(original, part, contacts)
    both = [(*search.hypotheses[p], *search.rejected[p]) for p in (part, original)]
    lines = [{(c.kind, tuple(np.round(c.axis, 6)), tuple(np.round(c.origin - s, 6))): c.free
              for c in some if c.kind in ("revolute", "continuous")}
             for some, s in zip(both, (shift, 0 * shift), strict=True)]  # fmt: skip
    assert lines[0] == lines[1]


def test_a_copy_is_not_said_to_collide_with_the_neighbours_of_its_original():
    mesh = panel()
    search = search_joints(mesh, parents=star(mesh))
    copies = translated_copies(search.contacts, star(mesh))
    told = {reason for part in copies for c in search.rejected[part] if (reason := c.reason)}
    assert told
    assert not any("key_" in reason for reason in told)
