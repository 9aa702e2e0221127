"""COLLADA files, read by ``trimesh`` and ``pycollada`` within our limits and taken on as glTF."""

from __future__ import annotations

import io
import logging
from pathlib import Path
from typing import Any, cast

from neurok.core import Asset
from neurok.core.mesh import UpAxis
from neurok.errors import FormatError, NeurokError, require
from neurok.io import xml
from neurok.io.files import read_bytes, resolve_inside

UPS: dict[str, UpAxis] = {"X_UP": "x", "Y_UP": "y", "Z_UP": "z"}


def read(path: Path) -> Asset:
    """The nodes, meshes and materials of a ``.dae`` file in its own unit and axes; animations are not read.

    Raises:
        FormatError: If it is damaged or refers to files outside its folder.
    """
    require("collada", "formats")
    import trimesh

    data = read_bytes(path)
    root = xml.parse(data, f"'{path}'")  # the reader's own parser would follow entities
    logging.getLogger("trimesh").disabled = True  # what is wrong is said once, in our error
    try:
        scene = trimesh.load_scene(io.BytesIO(data), file_type="dae", resolver=cast(Any, _Beside(path.parent)))
        packed = scene.export(file_type="glb")
    except NeurokError:
        raise
    except Exception as error:  # the reader has errors of many kinds
        raise FormatError(f"'{path}' is not a COLLADA file that can be read: {error}.") from error
    from neurok.io.gltf_read import read_packed

    asset = read_packed(packed, path)
    up, unit = _frame(root)
    return asset.relabelled(up, unit) if (up, unit) != ("y", 1.0) else asset


def _frame(root: Any) -> tuple[UpAxis, float]:
    """The up axis and unit [m] that a file states."""
    up, unit = "Y_UP", 1.0
    for element in root.iter():
        name = str(element.tag).rpartition("}")[2]
        if name == "up_axis":
            up = (element.text or up).strip()
        elif name == "unit":
            unit = float(xml.numbers(element, "meter", (1.0,), "The unit of the file")[0])
        elif name.startswith("library_"):
            break
    return UPS.get(up, "y"), unit if unit > 0 else 1.0


class _Beside:
    """Gives the files in or below a folder, and no others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, name: str) -> bytes:
        return read_bytes(resolve_inside(self.folder, name.removeprefix("./")))

    def keys(self) -> list[str]:
        return []
