"""Small objects of boxes whose joints are known."""

import numpy as np

from neurok.core import Mesh
from neurok.modelling.shapes import cylinder, slab


def of_parts(**parts):
    """A mesh whose parts are lists of shapes."""
    vertices, faces, ids, count = [], [], [], 0
    for number, shapes in enumerate(parts.values()):
        for shape in shapes:
            vertices.append(shape.vertices)
            faces.append(shape.faces + count)
            ids.append(np.full(len(shape.vertices), number))
            count += len(shape.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces), part_ids=np.concatenate(ids), part_names=tuple(parts))


def shell(low, high, wall=0.02):
    """Five walls of a box that is open towards +z."""
    (a, b, c), (x, y, z) = low, high
    return [
        slab((a, b, c), (a + wall, y, z)),
        slab((x - wall, b, c), (x, y, z)),
        slab((a + wall, b, c), (x - wall, b + wall, z)),
        slab((a + wall, y - wall, c), (x - wall, y, z)),
        slab((a + wall, b + wall, c), (x - wall, y - wall, c + wall)),
    ]


def drawer_in_a_box():
    """A drawer with a knob that slides towards +z."""
    inside = [
        *shell((0.023, 0.023, 0.05), (0.577, 0.377, 0.46), 0.015),
        slab((0.023, 0.023, 0.46), (0.577, 0.377, 0.48)),
    ]
    inside.append(slab((0.28, 0.18, 0.48), (0.32, 0.22, 0.5)))
    return of_parts(body=shell((0, 0, 0), (0.6, 0.4, 0.47)), drawer=inside)


def door_on_a_box():
    """A door before an open box, its hinge along the left edge (x = 0, z = 0.4), its handle at the right."""
    door = [slab((0, 0, 0.401), (0.5, 0.8, 0.42)), slab((0.44, 0.35, 0.42), (0.46, 0.45, 0.45))]
    return of_parts(body=shell((0, 0, 0), (0.5, 0.8, 0.4)), door=door)


def knob_on_a_block():
    """A round knob on the front of a block; it turns about z through (0.1, 0.1)."""
    knob = cylinder(0.05, 0.06).along("z").move(0.1, 0.1, 0.231)
    return of_parts(block=[slab((0, 0, 0), (0.6, 0.4, 0.2))], knob=[knob])
