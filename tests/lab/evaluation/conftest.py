"""Small objects whose motion is known."""

import numpy as np
import pytest

from neurok.core import Articulation, Asset, Joint, Mesh
from neurok.modelling.shapes import box, join
from neurok_lab.evaluation.cases import Case, case_of


@pytest.fixture(scope="session")
def drawer() -> Articulation:
    """A block that slides out of the space between two plates, along z."""
    parts = [box((1.0, 0.2, 1.0), (0, 0, 0)), box((0.6, 0.3, 0.9), (0, 0.27, 0)), box((1.0, 0.2, 1.0), (0, 0.54, 0))]
    whole = join(parts)
    counts = [len(part.vertices) for part in parts]
    ids = np.repeat([0, 1, 0], counts)
    mesh = Mesh(whole.vertices, whole.faces, part_ids=ids, part_names=("frame", "block"), name="drawer")
    slide = Joint("prismatic", 0, axis=(0, 0, 1), lower=0.3, upper=0.6, name="slide")
    return Articulation(mesh, (Joint(), slide), name="drawer")


@pytest.fixture(scope="session")
def drawer_case(drawer) -> Case:
    case = case_of(Asset(drawer.mesh, articulation=drawer), "Drawer_1", "articulated")
    assert case is not None
    return case


@pytest.fixture(scope="session")
def bent_sheet() -> Case:
    """A strip bent into an arc of 60 degrees; lengths along it stay."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 25), np.linspace(-0.15, 0.15, 9), indexing="ij")
    vertices = np.stack([x, np.zeros_like(x), y], axis=-1).reshape(-1, 3)
    grid = np.arange(25 * 9).reshape(25, 9)
    a, b, c, d = grid[:-1, :-1].ravel(), grid[1:, :-1].ravel(), grid[1:, 1:].ravel(), grid[:-1, 1:].ravel()
    mesh = Mesh(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]), name="sheet")
    curvature = np.pi / 3
    s = vertices[:, 0]
    bent = np.stack(
        [np.sin(curvature * s) / curvature, (1 - np.cos(curvature * s)) / curvature, vertices[:, 2]], axis=1
    )
    return Case("sheet", "soft", mesh, bent)
