"""Valid files of every kind that neurok reads, made by its own writers."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neurok.bodyplan.plan import BodyPlan, PlannedBody
from neurok.bodyplan.plan_file import write_plan
from neurok.core import Articulation, Asset, Clip, Joint, Mesh, Surface, Texture
from neurok.core.material import MaterialField
from neurok.core.material_library import material
from neurok.io import save

SECRET = 123.4375
"""A coordinate of what lies beside the folder; no file may bring it in."""

Folder = dict[str, bytes]


@dataclass(frozen=True)
class Seed:
    """Files that belong together, and the one that is opened."""

    name: str
    kind: str
    """Which of ``targets.TARGETS`` opens it."""

    main: str
    files: Folder
    hurt: tuple[str, ...]
    """The files that are damaged, one at a time."""


def shape() -> Asset:
    """A box with a hinged lid, two pictured surfaces, materials and a short motion."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) / 2
    faces = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]]
    faces += [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    vertices = np.concatenate([corners * (1, 0.6, 0.6), corners * (1, 0.1, 0.6) + (0, 0.36, 0)])
    noise = np.random.default_rng(1)
    picture = lambda name: Texture.from_pixels(noise.integers(0, 255, (4, 4, 3), dtype=np.uint8), f"{name}.png")  # noqa: E731
    colours = {"wood": (0.5, 0.3, 0.1, 1.0), "steel": (0.7, 0.7, 0.7, 1.0)}
    looks = tuple(Surface(name, colour, 0.0, 0.4, picture(name)) for name, colour in colours.items())
    mesh = Mesh(
        vertices,
        np.concatenate([np.array(faces), np.array(faces) + 8]),
        uv=noise.uniform(size=(16, 2)),
        part_ids=np.repeat([0, 1], 8),
        part_names=("body", "lid"),
        surfaces=looks,
        face_surfaces=np.repeat([0, 1], 12),
        name="chest",
    )
    hinge = Joint("revolute", 0, axis=(1, 0, 0), origin=(0, 0.3, -0.3), lower=-1.2, upper=0.0, name="hinge")
    articulation = Articulation(mesh, (Joint(name="root"), hinge))
    frames = np.stack([articulation.pose([q]).vertices for q in (0.0, -0.3, -0.6)])
    stuff = MaterialField((material("oak"), material("steel")), np.repeat([0, 1], 8))
    return Asset(mesh, (Clip(mesh, frames, 12.0),), articulation, materials=stuff, provenance={"source": "seed"})


def seeds(folder: Path) -> list[Seed]:
    """Every seed; ``folder`` is used to write them once."""
    asset = shape()
    made = [_format(asset, folder, suffix) for suffix in FORMATS]
    made += [_sequence(asset, folder), _partnet(folder), *_text_variants(asset), *_scenes(), _labels(asset)]
    made += [*_clouds(folder), _manifest(asset), _plan(asset, folder), _materials(asset, folder), *_weights(folder)]
    made += [_zip(made[2]), *_other_programs(), *_pictures(), *_packed_glb(asset, folder), _studio(asset, folder)]
    made += [Seed("flags", "flags", "a.obj", {"a.obj": TRIANGLES}, ())]
    return made


TRIANGLES = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


FORMATS = (".glb", ".gltf", ".obj", ".ply", ".stl", ".off", ".npz", ".pc2", ".urdf", ".xml", ".usda", ".usdc", ".usdz")
SIDE = (".mtl", ".bin", ".obj", ".stl", ".png")


def _written(folder: Path) -> Folder:
    found = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    for path in sorted(folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    return found


def _format(asset: Asset, folder: Path, suffix: str) -> Seed:
    if suffix == ".pc2":
        save(asset.mesh, folder / "a.obj")
    save(asset, folder / f"a{suffix}")
    files = _written(folder)
    beside = tuple(name for name in files if name.endswith(SIDE) and name != f"a{suffix}")
    kinds = {name.rsplit(".")[-1]: name for name in beside}
    hurt = (f"a{suffix}",) * 4 + tuple(dict.fromkeys((*beside[:2], *kinds.values())))
    return Seed(suffix[1:], "format", f"a{suffix}", files, hurt)


def _sequence(asset: Asset, folder: Path) -> Seed:
    save(asset.clips[0], folder / "walk_%04d.ply")
    files = _written(folder)
    return Seed("sequence", "format", "walk_%04d.ply", files, tuple(files)[:2])


def _partnet(folder: Path) -> Seed:
    (folder / "o/textured_objs").mkdir(parents=True)
    for name, low in (("base", 0.0), ("door", 1.0)):
        save(Mesh(np.eye(3) + low, np.array([[0, 1, 2]])), folder / f"o/textured_objs/{name}.obj")
    axis = {"origin": [0, 0, 0], "direction": [0, 1, 0]}
    links = [
        {"id": 0, "parent": -1, "joint": "free", "name": "base", "parts": [{"id": 1}], "jointData": {}},
        {"id": 1, "parent": 0, "joint": "hinge", "name": "door", "parts": [{"id": 2}],
         "jointData": {"axis": axis, "limit": {"a": 0, "b": 90, "noLimit": False}}},
    ]  # fmt: skip
    tree = [{"id": 0, "name": "all", "children": [
        {"id": 1, "name": "base", "objs": ["base"]}, {"id": 2, "name": "door", "objs": ["door"]}]}]  # fmt: skip
    (folder / "o/mobility_v2.json").write_text(json.dumps(links))
    (folder / "o/result.json").write_text(json.dumps(tree))
    return Seed("partnet", "format", "o", _written(folder), ("o/mobility_v2.json", "o/result.json"))


def _rows(word: str, points: np.ndarray) -> str:
    return "".join(f"{word}{x:.4f} {y:.4f} {z:.4f}\n" for x, y, z in points)


def _text_variants(asset: Asset) -> list[Seed]:
    """Layouts that our writers do not use, but readers take."""
    ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    ply += "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
    ply += "0 0 0\n1 0 0\n1 1 0\n0 1 1\n4 0 1 2 3\n3 0 1 3\n"
    corners = asset.mesh.vertices[asset.mesh.faces]
    lines = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in face)
        + "endloop\nendfacet\n"
        for face in corners
    ]
    obj = "o a\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\ng x\nf -4/1/1 2/1 3//1 4\ng y\nf 1 2 3\n"
    mjcf = '<mujoco><include file="part.xml"/><worldbody><replicate count="3" offset="0 0 1"><body><joint type="hinge"'
    mjcf += '/><geom type="box" size=".1 .2 .3"/></body></replicate></worldbody></mujoco>'
    usda = '#usda 1.0\n(\n  defaultPrim = "A"\n)\ndef Xform "A" (references = @b.usda@</B>)\n{\n}\n'
    layer = '#usda 1.0\ndef Xform "B"\n{\n  def Cube "c"\n  {\n    double size = 2\n  }\n}\n'
    shapes = '<robot name="r"><link name="a"><visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual>'
    shapes += (
        '</link><link name="b"><visual><origin xyz="0 0 1" rpy="0 1 0"/><geometry><sphere radius="0.2"/></geometry>'
    )
    shapes += (
        '</visual><inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    shapes += '</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
    shapes += '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    inner = '<mujocoinclude><compiler meshdir="." angle="degree"/></mujocoinclude>'
    plain = {
        "text ply": ("a.ply", {"a.ply": ply}, ()),
        "text stl": ("a.stl", {"a.stl": "solid a\n" + "".join(lines) + "endsolid a\n"}, ()),
        "mixed obj": ("a.obj", {"a.obj": obj}, ()),
        "nested mjcf": ("a.xml", {"a.xml": mjcf, "part.xml": inner}, ("part.xml",)),
        "layered usd": ("a.usda", {"a.usda": usda, "b.usda": layer}, ("b.usda",)),
        "shapes urdf": ("a.urdf", {"a.urdf": shapes}, ()),
    }
    return [
        Seed(name, "format", main, {key: text.encode() for key, text in files.items()}, (main, *others))
        for name, (main, files, others) in plain.items()
    ]


def _zip(inner: Seed) -> Seed:
    """The files of another seed in an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in inner.files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)
    return Seed("zip", "format", "a.zip", {"a.zip": out.getvalue()}, ("a.zip",))


def _other_programs() -> list[Seed]:
    """Formats that neurok reads and does not write."""
    rows = "0 0 0 1 0 0 0 1 0 0 0 1"
    source = '<source id="p"><float_array id="pa" count="12">' + rows + "</float_array><technique_common>"
    source += '<accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>'
    source += '<param name="Z" type="float"/></accessor></technique_common></source>'
    mesh = f'<mesh>{source}<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="2">'
    mesh += '<input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3</p></triangles></mesh>'
    dae = '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><created>2020-01-01'
    dae += '</created><modified>2020-01-01</modified><unit name="cm" meter="0.01"/><up_axis>Z_UP</up_axis></asset>'
    dae += f'<library_geometries><geometry id="g">{mesh}</geometry></library_geometries><library_visual_scenes>'
    dae += '<visual_scene id="s"><node id="n"><translate>0 0 1</translate><instance_geometry url="#g"/></node>'
    dae += '</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    fbx = "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\nObjects: {\n"
    fbx += 'Geometry: 100, "Geometry::g", "Mesh" {\nVertices: *12 {\na: ' + rows.replace(" ", ",") + "\n}\n"
    fbx += "PolygonVertexIndex: *6 {\na: 0,2,-2,0,1,-4\n}\nGeometryVersion: 124\n}\n"
    fbx += 'Model: 200, "Model::m", "Mesh" {\nVersion: 232\nProperties70: {\n'
    fbx += 'P: "Lcl Translation", "Lcl Translation", "", "A",1,2,3\n}\n}\n}\n'
    fbx += 'Connections: {\nC: "OO",200,0\nC: "OO",100,200\n}\n'
    texts = {"dae": dae, "fbx": fbx}
    return [
        Seed(name, "format", f"a.{name}", {f"a.{name}": text.encode()}, (f"a.{name}",)) for name, text in texts.items()
    ]


def _scenes() -> list[Seed]:
    text = """neurok_scene: 1
seconds: 0.1
fps: 24
seed: 3
objects:
  - {path: "sample:laptop", name: a, drop: 0.2, space: joints, density: 500, materials: {base: steel}}
  - path: a.obj
    position: [0, 1, 0]
    pushes: [{at: top, force: [0, 0, 20], start: 0, end: 0.1}]
    drags: [{at: "0", path: [[0, 0, 0.1], [0, 0.1, 0]], times: [0.05, 0.1]}]
world: {gravity: [0, -9.81, 0], wind: [1, 0, 0], ground: {friction: 0.5}}
"""
    toml = 'neurok_scene = 1\nseconds = 0.1\n[[objects]]\npath = "a.obj"\ndrop = 0.5\n[world.ground]\nfriction = 0.5\n'
    import yaml

    as_json = json.dumps(yaml.safe_load(text))
    files = {"a.yaml": text.encode(), "a.json": as_json.encode(), "a.toml": toml.encode()}
    return [
        Seed(f"scene {name[2:]}", "scene", name, {name: data, "a.obj": TRIANGLES}, (name,))
        for name, data in files.items()
    ]


def _array(values: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


def _labels(asset: Asset) -> Seed:
    return Seed("labels", "labels", "a.npy", {"a.npy": _array(asset.mesh.face_parts)}, ("a.npy",))


def _clouds(folder: Path) -> list[Seed]:
    points = np.random.default_rng(2).uniform(-1, 1, (40, 3))
    rows = _rows("", points)
    head = (
        "ply\nformat ascii 1.0\nelement vertex 40\nproperty float x\nproperty float y\nproperty float z\nend_header\n"
    )
    return [
        Seed("cloud npy", "cloud", "a.npy", {"a.npy": _array(points)}, ("a.npy",)),
        Seed("cloud ply", "cloud", "a.ply", {"a.ply": (head + rows).encode()}, ("a.ply",)),
    ]


def _manifest(asset: Asset) -> Seed:
    import hashlib

    from neurok.learned.subject import subject_of
    from neurok_lab.data.shards import Item, encode_asset, encode_subject, shard_name, write_shard

    info = {"family": "chest", "kind": "articulated", "license": "CC0-1.0", "source": "seed", "joints": ["revolute"]}
    shard = write_shard([Item(0, info, encode_asset(asset), encode_subject(subject_of(asset)))])
    entry = {"name": shard_name(0), "items": 1, "sha256": hashlib.sha256(shard).hexdigest()}
    facts = {"recipe": "tiny", "seed": 0, "bytes": len(shard), "tally": {"chest": 1}, "rejected": {}}
    manifest = {"version": 1, "items": 1, "shards": [entry], **facts}
    files = {"d/manifest.json": json.dumps(manifest).encode(), f"d/{shard_name(0)}": shard}
    return Seed("data set", "manifest", "d", files, tuple(files))


def _plan(asset: Asset, folder: Path) -> Seed:
    body = [PlannedBody(name, (k,), k - 1) for k, name in enumerate(asset.mesh.part_names)]
    write_plan(BodyPlan(asset.mesh, asset.mesh.face_parts, tuple(body), "file"), folder / "a.json")
    return Seed("plan", "plan", "a.json", _written(folder), ("a.json",))


def _materials(asset: Asset, folder: Path) -> Seed:
    from neurok.io.materials_file import write_materials

    assert asset.materials is not None
    write_materials(asset.materials, asset.mesh, folder / "a.json")
    return Seed("materials", "materials", "a.json", _written(folder), ("a.json",))


def _weights(folder: Path) -> list[Seed]:
    """A network of the smallest size with its card."""
    from neurok.hub import load_card, save_model
    from neurok.learned.grouping import Grouper, PieceCalibration
    from neurok.learned.grouping_network import PieceConfig, PieceModel
    from neurok.learned.joint_network import JointConfig

    odds = load_card("pieces")["piece_calibration"]
    model = PieceModel(PieceConfig(encoder=JointConfig(width=8, heads=2, depth=1, octaves=2), depth=1, pair_width=8))
    calibration = PieceCalibration(**{name: tuple(pair) for name, pair in odds.items()})
    save_model(Grouper((model,), calibration), folder / "w.safetensors", {"note": "seed"})
    files = _written(folder)
    return [Seed("weights", "weights", "w.safetensors", files, ("w.json", "w.json", "w.safetensors"))]


def _pictures() -> list[Seed]:
    """Pictures of every kind, for ``generate`` and as the texture of an object."""
    from PIL import Image

    rgb = np.full((64, 64, 3), 250, np.uint8)
    rgb[14:52, 20:44] = np.random.default_rng(4).integers(60, 120, (38, 24, 3))
    image = Image.fromarray(rgb)
    later = [Image.fromarray(np.roll(rgb, 4 * k, axis=0)) for k in (1, 2)]
    deep = Image.fromarray(rgb[..., 0].astype(np.uint16) * 257)
    kinds = {
        "png": (image, {}), "16 bit png": (deep, {}), "palette png": (image.convert("P"), {}), "jpg": (image, {}),
        "cmyk jpg": (image.convert("CMYK"), {}), "webp": (image, {}),
        "animated webp": (image, {"save_all": True, "append_images": later}),
        "animated png": (image, {"save_all": True, "append_images": later}), "gif": (image, {}), "tif": (image, {}),
    }  # fmt: skip
    obj = b"mtllib a.mtl\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\n" + TRIANGLES.replace(b"f 1 3 2", b"f 1/1 3/2 2/3")
    made = []
    for name, (picture, options) in kinds.items():
        file, out = f"a.{name.split()[-1]}", io.BytesIO()
        picture.save(out, {"jpg": "JPEG", "tif": "TIFF"}.get(file[2:], file[2:].upper()), **options)
        files = {file: out.getvalue(), "a.obj": obj, "a.mtl": f"newmtl m\nmap_Kd {file}\n".encode()}
        made.append(Seed(f"picture {name}", "picture", file, files, (file,)))
    return made


def _packed_glb(asset: Asset, folder: Path) -> list[Seed]:
    """The same box with its vertices packed by meshopt, and by Draco."""
    import struct

    import DracoPy

    points, faces = asset.mesh.vertices.astype("<f4"), asset.mesh.faces
    rows = points.view(np.uint8).reshape(16, 12).astype(np.int64)
    steps = np.diff(rows, axis=0, prepend=rows[:1])
    steps = (steps + 128) % 256 - 128
    codes = np.where(steps >= 0, 2 * steps, -2 * steps - 1).astype(np.uint8)
    first = points[0].tobytes()
    meshopt = b"\xa0" + b"".join(b"\3" + codes[:, k].tobytes() for k in range(12)) + bytes(20) + first
    draco = DracoPy.encode(points, faces=faces.astype(np.uint32))
    indices = faces.astype("<u2").tobytes()
    accessors = [
        {"bufferView": 0, "componentType": 5126, "count": 16, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5123, "count": 72, "type": "SCALAR"},
    ]
    primitive = {"attributes": {"POSITION": 0}, "indices": 1}

    def made(name: str, binary: bytes, extension: str, views: list, primitive: dict, accessors: list) -> Seed:
        document = {
            "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [primitive]}], "buffers": [{"byteLength": len(binary)}], "bufferViews": views,
            "accessors": accessors, "extensionsUsed": [extension], "extensionsRequired": [extension],
        }  # fmt: skip
        text = json.dumps(document).encode()
        text, binary = text + b" " * (-len(text) % 4), binary + bytes(-len(binary) % 4)
        head = struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(binary), len(text), 0x4E4F534A)
        data = head + text + struct.pack("<II", len(binary), 0x4E4942) + binary
        return Seed(name, "format", "a.glb", {"a.glb": data}, ("a.glb",))

    packed = {"buffer": 0, "byteLength": len(meshopt), "byteStride": 12, "count": 16, "mode": "ATTRIBUTES"}
    views = [
        {"buffer": 0, "byteLength": 192, "extensions": {"EXT_meshopt_compression": packed}},
        {"buffer": 0, "byteOffset": len(meshopt), "byteLength": len(indices)},
    ]
    settings = {"bufferView": 0, "attributes": {"POSITION": 0}}
    bare = [{key: value for key, value in one.items() if key != "bufferView"} for one in accessors]
    bare[0]["count"] = len(DracoPy.decode(draco).points)
    return [
        made("meshopt glb", meshopt + indices, "EXT_meshopt_compression", views, primitive, accessors),
        made(
            "draco glb",
            draco,
            "KHR_draco_mesh_compression",
            [{"buffer": 0, "byteLength": len(draco)}],
            {**primitive, "extensions": {"KHR_draco_mesh_compression": settings}},
            bare,
        ),
    ]


def _studio(asset: Asset, folder: Path) -> Seed:
    """What the studio saves."""
    from neurok.studio.files import save_scene
    from neurok.studio.scene import StudioScene

    (folder / "work").mkdir()
    scene = StudioScene(folder / "work")
    scene.open(asset)
    save_scene(scene, folder / "a.neurok")
    data = (folder / "a.neurok").read_bytes()
    _written(folder)
    return Seed("studio", "studio", "a.neurok", {"a.neurok": data}, ("a.neurok",))
