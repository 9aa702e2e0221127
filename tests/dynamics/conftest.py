"""Objects that several tests of dynamics use."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neurok.core import Articulation, Joint, Mesh
from neurok.modelling import shapes

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # MuJoCo's view of an object lives there


def _chain(links: int, length: float = 0.2, root: str = "revolute", damping: float = 0.0) -> Articulation:
    """Rods that hang from each other, all turning about z."""
    rods = [shapes.box((0.02, length, 0.03), (0.0, -(i + 0.5) * length, 0.0)) for i in range(links)]
    vertices = np.concatenate([rod.vertices for rod in rods])
    counts = [len(rod.vertices) for rod in rods]
    starts = np.cumsum([0, *counts[:-1]])
    faces = np.concatenate([rod.faces + start for rod, start in zip(rods, starts, strict=True)])
    mesh = Mesh(vertices, faces, part_ids=np.repeat(np.arange(links), counts))
    joints = [
        Joint(root if i == 0 else "revolute", i - 1, (0, 0, 1), (0, -i * length, 0), damping=damping)  # type: ignore[arg-type]
        for i in range(links)
    ]
    return Articulation(mesh, tuple(joints))


def _random_tree(seed: int, parts: int) -> Articulation:
    """A random tree with all kinds of joints; the root is fixed."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", "continuous", "prismatic", "cylindrical", "fixed"]
    vertices = rng.normal(size=(parts, 6, 3)) * 0.3 + rng.normal(size=(parts, 1, 3))
    faces = np.array([[0, 1, 2], [3, 4, 5]]) + 6 * np.arange(parts)[:, None, None]
    joints = [Joint()] + [
        Joint(
            kinds[int(rng.integers(len(kinds)))],  # type: ignore[arg-type]
            int(rng.integers(i)),
            rng.normal(size=3),
            rng.normal(size=3),
        )
        for i in range(1, parts)
    ]
    mesh = Mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3), part_ids=np.repeat(np.arange(parts), 6))
    return Articulation(mesh, tuple(joints))


def _block(size: tuple[float, float, float] = (0.2, 0.1, 0.2), height: float = 0.0) -> Articulation:
    """A box that stands at a height."""
    box = shapes.box(size, (0.0, height + size[1] / 2, 0.0))
    return Articulation(Mesh(box.vertices, box.faces), (Joint(),))


@pytest.fixture(scope="session")
def chain() -> Callable[..., Articulation]:
    return _chain


@pytest.fixture(scope="session")
def random_tree() -> Callable[..., Articulation]:
    return _random_tree


@pytest.fixture(scope="session")
def block() -> Callable[..., Articulation]:
    return _block
