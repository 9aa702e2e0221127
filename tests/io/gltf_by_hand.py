"""glTF files put together by hand, independent of the writer under test."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
TYPES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)


class Handmade:
    """Lists of records and one growing buffer."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}}
        self.data = b""

    def add(self, kind: str, **record: Any) -> int:
        self.json.setdefault(kind, []).append(record)
        return len(self.json[kind]) - 1

    def view(self, data: bytes, **more: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        start = len(self.data)
        self.data += data
        return self.add("bufferViews", buffer=0, byteOffset=start, byteLength=len(data), **more)

    def array(self, values: Any, dtype: Any = np.float32, **more: Any) -> int:
        values = np.asarray(values, dtype=dtype)
        values = values.reshape(len(values), -1)
        return self.add(
            "accessors",
            bufferView=self.view(values.tobytes()),
            componentType=TYPES[values.dtype.name],
            count=len(values),
            type=KINDS[values.shape[1]],
            **more,
        )

    def mesh(self, vertices: Any = TRIANGLE, indices: Any = (0, 1, 2), mode: int = 4, **attributes: int) -> int:
        primitive: dict[str, Any] = {"attributes": {"POSITION": self.array(vertices), **attributes}, "mode": mode}
        if indices is not None:
            primitive["indices"] = self.array(indices, np.uint16)
        return self.add("meshes", primitives=[primitive])

    def animate(self, node: int, path: str, times: Any, values: Any, interpolation: str = "LINEAR") -> None:
        """Add a channel to the only animation."""
        animation = self.json.setdefault("animations", [{"name": "move", "channels": [], "samplers": []}])[0]
        values = np.asarray(values, dtype=np.float32)
        output = self.array(values.reshape(-1) if path == "weights" else values.reshape(-1, values.shape[-1]))
        animation["samplers"].append({"input": self.array(times), "output": output, "interpolation": interpolation})
        animation["channels"].append(
            {"sampler": len(animation["samplers"]) - 1, "target": {"node": node, "path": path}}
        )

    def glb(self) -> bytes:
        binary = self.data + b"\0" * (-len(self.data) % 4)
        return pack_glb({**self.json, "buffers": [{"byteLength": len(binary)}]}, binary)

    def save(self, folder: Path, name: str = "hand.glb") -> Path:
        path = folder / name
        path.write_bytes(self.glb())
        return path

    def save_gltf(self, folder: Path, embedded: bool) -> Path:
        """As JSON, with the buffer as a data URI or as a file beside it."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        if not embedded:
            uri = "my%20buffer.bin"
            (folder / "my buffer.bin").write_bytes(self.data)
        path = folder / "hand.gltf"
        path.write_text(json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}))
        return path


def pack_glb(content: Any, binary: bytes = b"") -> bytes:
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    if binary:
        chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def unpack_glb(data: bytes) -> tuple[dict[str, Any], bytes]:
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), data[28 + size :]


def bending_strip() -> Handmade:
    """A strip of four triangles on two bones: the second, at (1, 0, 0), turns a quarter about z in one second."""
    hand = Handmade()
    vertices = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0], [2, 1, 0]]
    faces = [0, 2, 1, 1, 2, 3, 2, 4, 3, 3, 4, 5]
    joints = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    weights = [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    mesh = hand.mesh(vertices, faces, JOINTS_0=hand.array(joints, np.uint8), WEIGHTS_0=hand.array(weights))
    bind = np.stack([np.eye(4), np.eye(4)])
    bind[1, 0, 3] = -1.0
    hand.add("nodes", name="strip", mesh=mesh, skin=0)
    hand.add("nodes", name="upper", children=[2])
    hand.add("nodes", name="lower", translation=[1, 0, 0])
    hand.add("skins", joints=[1, 2], inverseBindMatrices=hand.array(bind.swapaxes(1, 2)))
    hand.add("scenes", nodes=[0, 1])
    half = np.sqrt(0.5)
    hand.animate(2, "rotation", [0.0, 1.0], [[0, 0, 0, 1], [0, 0, half, half]])
    return hand
