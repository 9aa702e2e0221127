"""Objects that data tests share."""

import numpy as np
import pytest

from neurok.core import Articulation, Asset, Clip, Joint, Mesh


def cube(center, size) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) / 2
    faces = np.array(
        [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4]]
        + [[1, 5, 7], [1, 7, 3]]
    )
    return corners * size + center, faces


@pytest.fixture
def chest() -> Asset:
    """A box with a hinged lid and a drawer."""
    pieces = [cube((0, 0, 0), (1, 0.6, 0.6)), cube((0, 0.35, 0), (1, 0.1, 0.6)), cube((0, 0, 0.4), (0.8, 0.3, 0.2))]
    vertices = np.concatenate([v for v, _ in pieces])
    faces = np.concatenate([f + 8 * i for i, (_, f) in enumerate(pieces)])
    mesh = Mesh(vertices, faces, part_ids=np.repeat(np.arange(3), 8), part_names=("body", "lid", "drawer"))
    joints = (
        Joint(),
        Joint("revolute", 0, axis=(1, 0, 0), origin=(0, 0.3, -0.3), lower=-1.2, upper=0.0),
        Joint("prismatic", 0, axis=(0, 0, 1), lower=0.0, upper=0.4),
    )
    return Asset(mesh, articulation=Articulation(mesh, joints), provenance={"family": "chest"})


@pytest.fixture
def wobble() -> Asset:
    """A sheet that bends."""
    x, z = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 12), np.linspace(0, 1, 12)))
    rest = np.stack([x, 0 * x, z], axis=1)
    i = np.arange(11 * 12).reshape(11, 12)[:, :-1].ravel()
    faces = np.concatenate([np.stack([i, i + 1, i + 12], 1), np.stack([i + 1, i + 13, i + 12], 1)])
    frames = np.stack([rest + np.stack([0 * x, 0.1 * t * np.sin(3 * x), 0 * x], 1) for t in np.linspace(0, 1, 9)])
    mesh = Mesh(rest, faces)
    return Asset(mesh, clips=(Clip(mesh, frames),), provenance={"family": "wobble"})
