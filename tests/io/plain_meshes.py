"""Small meshes, random meshes and comparisons that the tests of the plain formats share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from neurok.core import Mesh, Surface, Texture

FINITE = st.floats(-1e6, 1e6, allow_nan=False, width=64)


def picture(seed: int = 0) -> Texture:
    """Noise, so that no encoder gives the same bytes by chance."""
    pixels = np.random.default_rng(seed).integers(0, 255, (5, 7, 3), dtype=np.uint8)
    return Texture.from_pixels(pixels, f"noise_{seed}.png")


def tetrahedron(**changes) -> Mesh:
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return Mesh(vertices, faces, **changes)


def rich_mesh() -> Mesh:
    """Two parts in an order that differs from the faces', two surfaces with pictures, uv and colours."""
    body = tetrahedron()
    vertices = np.concatenate([body.vertices, body.vertices * 0.3 + 2.0])
    faces = np.concatenate([body.faces + 4, body.faces])
    rng = np.random.default_rng(3)
    colors = np.round(rng.uniform(0.2, 1, (8, 4)) * 255) / 255
    surfaces = (
        Surface("wood", (0.5, 0.25, 0.125, 1.0), 0.0, 0.3, picture(1)),
        Surface("glass", (0.9, 0.95, 1.0, 0.4), 0.5, 0.1, picture(2), alpha_mode="BLEND", emissive=(0.0, 0.5, 2.0)),
    )
    return Mesh(
        vertices,
        faces,
        uv=rng.uniform(size=(8, 2)),
        vertex_colors=colors,
        part_ids=np.repeat([0, 1], 4),
        part_names=("body", "lid of glass"),
        surfaces=surfaces,
        face_surfaces=np.array([0, 1, 1, 1, 0, 0, 1, 1]),
        name="jar",
    )


def articulated_arrays() -> dict[str, np.ndarray]:
    """A door and its frame in the articulated layout of NPZ; the limits are the wrong way round."""
    return {
        "vertices": np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], dtype=np.float32),
        "faces": np.array([[0, 1, 2], [1, 3, 2]], dtype=np.int32),
        "face_part": np.array([0, 1], dtype=np.int16),
        "part_name": np.array(["door", "door"]),
        "parent": np.array([1, -1], dtype=np.int16),
        "joint_type": np.array(["revolute", "fixed"]),
        "axis": np.array([[0, 2.0, 0], [0, 0, 0]], dtype=np.float32),
        "origin": np.array([[1.0, 0, 0], [np.nan, 0, 0]], dtype=np.float32),
        "lower": np.array([np.pi / 2, 0], dtype=np.float32),
        "upper": np.array([0, 0], dtype=np.float32),
        "category": np.array("Door"),
    }


@st.composite
def meshes(draw, with_labels: bool = True) -> Mesh:
    """Any valid triangle mesh without surfaces; parts, uv and colours come and go."""
    count = draw(st.integers(3, 12))
    vertices = draw(hnp.arrays(np.float64, (count, 3), elements=FINITE))
    faces = draw(hnp.arrays(np.int64, (draw(st.integers(1, 12)), 3), elements=st.integers(0, count - 1)))
    uv = draw(st.none() | hnp.arrays(np.float64, (count, 2), elements=FINITE)) if with_labels else None
    unit = st.integers(0, 255).map(lambda level: level / 255)
    colors = draw(st.none() | hnp.arrays(np.float64, (count, 4), elements=unit)) if with_labels else None
    if with_labels and draw(st.booleans()):
        twin = np.concatenate([faces, faces + count])
        double = lambda a: None if a is None else np.concatenate([a, a])  # noqa: E731
        return Mesh(
            double(vertices), twin, double(uv), double(colors), np.repeat([0, 1], count), ("left", "right"), name="m"
        )
    return Mesh(vertices, faces, uv=uv, vertex_colors=colors, name="m")


def assert_same_geometry(a: Mesh, b: Mesh, atol: float = 0.0) -> None:
    assert np.array_equal(a.faces, b.faces)
    np.testing.assert_allclose(a.vertices, b.vertices, rtol=0, atol=atol)


def assert_same_look(a: Mesh, b: Mesh) -> None:
    assert len(a.surfaces) == len(b.surfaces)
    for one, other in zip(a.surfaces, b.surfaces, strict=True):
        assert one.name == other.name
        np.testing.assert_allclose(one.base_color, other.base_color)
        np.testing.assert_allclose(one.emissive, other.emissive)
        np.testing.assert_allclose((one.metallic, one.roughness), (other.metallic, other.roughness))
        assert one.alpha_mode == other.alpha_mode
        assert (one.texture is None) == (other.texture is None)
        if one.texture is not None and other.texture is not None:
            assert one.texture.data == other.texture.data
    if a.face_surfaces is not None:
        assert np.array_equal(a.face_surfaces, b.face_surfaces)


def assert_same_labels(a: Mesh, b: Mesh) -> None:
    assert a.part_names == b.part_names
    assert (a.part_ids is None) == (b.part_ids is None)
    if a.part_ids is not None:
        assert np.array_equal(a.part_ids[np.unique(a.faces)], b.part_ids[np.unique(b.faces)])
