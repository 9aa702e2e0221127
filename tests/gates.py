"""Small objects for tests of scenes: a post with a door on a hinge, and a plain block."""

import math

import numpy as np

from neurok.core import Articulation, Joint, Mesh
from neurok.modelling.shapes import box


def make_gate(up="y", unit=1.0):
    """A post at x = 0 with a door of 1 x 1 m that turns about it; no limits, no friction."""
    post, door = box((0.1, 1.0, 0.1), (0, 0.5, 0)), box((1.0, 1.0, 0.04), (0.55, 0.5, 0))
    count = len(post.vertices)
    mesh = Mesh(
        np.concatenate([post.vertices, door.vertices]),
        np.concatenate([post.faces, door.faces + count]),
        part_ids=np.repeat([0, 1], [count, len(door.vertices)]),
        part_names=("post", "door"),
        name="gate",
    )
    hinge = Joint("revolute", 0, (0, 1, 0), (0, 0, 0), -math.inf, math.inf, name="hinge")
    gate = Articulation(mesh, (Joint(), hinge))
    return gate.in_frame(up, unit)


def make_block(size=(0.2, 0.2, 0.2)):
    shape = box(size, (0, 0, 0))
    return Mesh(shape.vertices, shape.faces, name="block")
