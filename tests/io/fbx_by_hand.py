"""An FBX file in its text form: a strip on two bones, of which the second turns."""

import numpy as np

SECOND = 46186158000
"""Ticks of FBX in a second."""


def numbers(name: str, values: object) -> str:
    flat = np.asarray(values).reshape(-1)
    return f"{name}: *{len(flat)} {{\na: {','.join(f'{value:g}' for value in flat)}\n}}\n"


def matrix(x: float) -> list[float]:
    """A shift along x, as FBX stores matrices (columns one after the other)."""
    return [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, 0, 0, 1]


def bone(number: int, name: str, x: float) -> str:
    return f"""Model: {number}, "Model::{name}", "LimbNode" {{
Version: 232
Properties70: {{
P: "Lcl Translation", "Lcl Translation", "", "A",{x:g},0,0
}}
}}
NodeAttribute: {number + 1000}, "NodeAttribute::{name}", "LimbNode" {{
TypeFlags: "Skeleton"
}}
"""


def cluster(number: int, vertices: list[int], x: float) -> str:
    return (
        f'Deformer: {number}, "SubDeformer::c{number}", "Cluster" {{\nVersion: 100\n'
        + numbers("Indexes", vertices)
        + numbers("Weights", [1.0] * len(vertices))
        + numbers("Transform", matrix(-x))
        + numbers("TransformLink", matrix(x))
        + "}\n"
    )


def bending_strip(unit: float = 100.0) -> str:
    """The text of the file; ``unit`` is in centimetres."""
    vertices = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [0, 1, 0]]
    polygons = [0, 1, 4, ~5, 1, 2, 3, ~4]
    axes = "".join(
        f'P: "{name}", "int", "Integer", "",{value}\n'
        for name, value in [("UpAxis", 1), ("UpAxisSign", 1), ("FrontAxis", 2), ("FrontAxisSign", 1)]
        + [("CoordAxis", 0), ("CoordAxisSign", 1)]
    )
    objects = (
        'Geometry: 100, "Geometry::strip", "Mesh" {\n'
        + numbers("Vertices", vertices)
        + numbers("PolygonVertexIndex", polygons)
        + "GeometryVersion: 124\n}\n"
        + 'Model: 200, "Model::strip", "Mesh" {\nVersion: 232\n}\n'
        + 'Material: 300, "Material::red", "" {\nVersion: 102\nShadingModel: "lambert"\nProperties70: {\n'
        + 'P: "DiffuseColor", "Color", "", "A",1,0,0\n}\n}\n'
        + bone(500, "upper", 0.0)
        + bone(501, "lower", 1.0)
        + 'Deformer: 600, "Deformer::skin", "Skin" {\nVersion: 101\n}\n'
        + cluster(601, [0, 5], 0.0)
        + cluster(602, [1, 2, 3, 4], 1.0)
        + 'AnimationStack: 400, "AnimStack::bend", "" {\nProperties70: {\n'
        + f'P: "LocalStop", "KTime", "Time", "",{SECOND}\n}}\n}}\n'
        + 'AnimationLayer: 401, "AnimLayer::base", "" {\n}\n'
        + 'AnimationCurveNode: 402, "AnimCurveNode::R", "" {\nProperties70: {\n'
        + "".join(f'P: "d|{axis}", "Number", "", "A",0\n' for axis in "XYZ")
        + '}\n}\nAnimationCurve: 403, "AnimCurve::", "" {\nDefault: 0\nKeyVer: 4009\n'
        + f"KeyTime: *2 {{\na: 0,{SECOND}\n}}\n"
        + numbers("KeyValueFloat", [0, 90])
        + numbers("KeyAttrFlags", [4])
        + numbers("KeyAttrDataFloat", [0, 0, 0, 0])
        + numbers("KeyAttrRefCount", [2])
        + "}\n"
    )
    links = [(200, 0), (100, 200), (300, 200), (500, 0), (501, 500), (1500, 500), (1501, 501)]
    links += [(600, 100), (601, 600), (602, 600), (500, 601), (501, 602), (401, 400), (402, 401)]
    joined = "".join(f'C: "OO",{child},{parent}\n' for child, parent in links)
    joined += 'C: "OP",402,501, "Lcl Rotation"\nC: "OP",403,402, "d|Z"\n'
    return _file(objects, joined, axes, unit)


def _file(objects: str, joined: str, axes: str = "", unit: float = 100.0) -> str:
    return (
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXHeaderVersion: 1003\nFBXVersion: 7400\n}\n"
        f"GlobalSettings: {{\nVersion: 1000\nProperties70: {{\n{axes}"
        f'P: "UnitScaleFactor", "double", "Number", "",{unit:g}\n'
        f"}}\n}}\nObjects: {{\n{objects}}}\nConnections: {{\n{joined}}}\n"
    )


def grouped_squares(levels: dict[str, bool], others: dict[str, bool]) -> str:
    """Squares by name and whether they are shown; the first ones are levels of detail of one group."""
    objects = 'Model: 50, "Model::group", "LodGroup" {\nVersion: 232\n}\n'
    objects += 'NodeAttribute: 51, "NodeAttribute::group", "LodGroup" {\nVersion: 100\n}\n'
    links = [(50, 0), (51, 50)]
    for number, (name, is_shown) in enumerate([*levels.items(), *others.items()]):
        x = 3.0 * number
        objects += (
            f'Geometry: {100 + number}, "Geometry::{name}", "Mesh" {{\n'
            + numbers("Vertices", [[x, 0, 0], [x + 1, 0, 0], [x + 1, 1, 0], [x, 1, 0]])
            + numbers("PolygonVertexIndex", [0, 1, 2, ~3])
            + f'GeometryVersion: 124\n}}\nModel: {200 + number}, "Model::{name}", "Mesh" {{\nVersion: 232\n'
            + f'Properties70: {{\nP: "Visibility", "Visibility", "", "A",{int(is_shown)}\n}}\n}}\n'
        )
        links += [(100 + number, 200 + number), (200 + number, 50 if name in levels else 0)]
    return _file(objects, "".join(f'C: "OO",{child},{parent}\n' for child, parent in links))
