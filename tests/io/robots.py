"""Small objects with joints that tests of robot and scene formats write and read."""

import numpy as np

from neurok.core import Articulation, Joint, Mesh, Surface, Texture

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float) / 2
SIDES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def boxes(places: dict[str, tuple], **fields) -> Mesh:
    """Boxes as parts: name to (centre, extents); no extents make an empty part."""
    solid = [(i, *place) for i, place in enumerate(places.values()) if place]
    return Mesh(
        np.concatenate([CORNERS * extents + center for _, center, extents in solid]),
        np.concatenate([SIDES + 8 * k for k in range(len(solid))]),
        part_ids=np.repeat([i for i, *_ in solid], 8),
        part_names=tuple(places),
        **fields,
    )


def checker() -> Texture:
    pixels = np.zeros((4, 4, 3), dtype=np.uint8)
    pixels[:2] = [255, 0, 0]
    pixels[2:, :2] = [0, 0, 255]
    return Texture.from_pixels(pixels, "checker")


def every_joint() -> Articulation:
    """All kinds of joints, a child before its parent, an empty part, centimetres, y up, a picture."""
    mesh = boxes(
        {
            "knob": ((62, 40, 5), (4, 4, 4)),
            "frame": ((0, 40, 0), (100, 80, 60)),
            "door": ((55, 40, 0), (2, 70, 60)),
            "drawer": ((0, 20, 40), (40, 10, 20)),
            "swivel": None,
            "piston": ((0, 100, 0), (10, 40, 10)),
            "wheel é <&>": ((-60, 5, 0), (10, 10, 10)),
            "shelf": ((20, 60, 10), (30, 2, 30)),
        },
        unit=0.01,
        up="y",
        surfaces=(Surface("wood", (0.4, 0.2, 0.1, 1.0), texture=checker()), Surface("steel", (0.2, 0.2, 0.25, 1.0))),
        face_surfaces=np.repeat([0, 1, 0, 1, 0, 1, 0], 12),
        uv=np.tile(CORNERS[:, :2] + 0.5, (7, 1)),
        name="cupboard",
    )
    joints = (
        Joint("continuous", 2, axis=(1, 0.2, 0), origin=(62, 40, 5), name="turn"),
        Joint(),
        Joint("revolute", 1, axis=(0.1, 1, 0), origin=(55, 0, -30), lower=-0.2, upper=1.9, name="hinge", damping=0.5),
        Joint("prismatic", 1, axis=(0, 0, 1), lower=-5, upper=25, name="rail"),
        Joint("revolute", 1, axis=(0, 1, 0), origin=(0, 80, 0), lower=-1, upper=1),
        Joint("cylindrical", 4, axis=(0, 1, 0.1), origin=(0, 90, 0), lower=-2, upper=2, slide_lower=-3, slide_upper=9),
        Joint("continuous", 1, axis=(1, 0, 0), origin=(-60, 5, 0)),
        Joint("fixed", 1),
    )
    return Articulation(mesh, joints, name="cupboard")
