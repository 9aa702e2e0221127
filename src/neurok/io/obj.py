"""Wavefront OBJ with its material library: groups are parts, materials are surfaces.

The format knows neither unit nor up axis; files are read and written in metres with y up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from neurok.core import Asset, Mesh, Surface
from neurok.errors import FormatError
from neurok.io.files import Files, read_bytes, unique_names
from neurok.io.parsing import (
    TextLines,
    clean_text,
    decode_name,
    float_rows,
    parse_numbers,
    split_corners,
    take_columns,
    triangulate,
    word_starts,
    words_per_line,
)
from neurok.io.surfaces import Folder, linear_from_srgb, read_library, srgb_from_linear, write_library

SIGNATURE = b"# neurok: metres, y up"
"""First line of the files that are written here."""


def read(path: Path, root: Path | None = None) -> Asset:
    """Everything an OBJ file says; textures and libraries must lie below ``root`` (its own folder by default)."""
    return read_with_sources(path, root)[0]


def read_with_sources(path: Path, root: Path | None = None) -> tuple[Asset, Int[np.ndarray, " V"]]:
    """The asset, and for each vertex the number of its ``v`` line (corners that disagree on uv were split)."""
    data = read_bytes(path)
    if b"\0" in data[:4096]:
        raise FormatError(f"'{path}' is not an OBJ file: it holds binary data.")
    lines, is_ours = TextLines.of(clean_text(data)), data.startswith(SIGNATURE)
    del data
    is_vertex, is_uv, is_face = (lines.begin_with(word) for word in (b"v", b"vt", b"f"))
    if not is_vertex.any():
        raise FormatError(f"'{path}' is not an OBJ file, or it is empty: it has no line that begins with 'v'.")
    vertices, colors = _vertices(lines.pick(is_vertex, 1), path)
    corners = read_corners(lines, is_face, np.cumsum(is_vertex)[is_face], np.cumsum(is_uv)[is_face], path)
    groups = FaceGroups.of(lines, np.cumsum(is_face), Folder(path.parent, root or path.parent))
    uv = _uv(lines.pick(is_uv, 2), corners.uv, path)
    mesh, source = _mesh(vertices, colors, uv, corners, groups, path.stem)
    dropped = int((corners.counts < 3).sum())
    notes = [f"{dropped} faces with fewer than three corners were left out."] if dropped else []
    nodes = () if is_ours else tuple(tuple(name.split("/")) for name in mesh.part_names)
    return Asset(mesh, notes=(*notes, *groups.notes), nodes=nodes), source


def _mesh(
    vertices: Float[np.ndarray, "V 3"],
    colors: Float[np.ndarray, "V 4"] | None,
    uv: Float[np.ndarray, "T 2"] | None,
    corners: PolygonCorners,
    groups: FaceGroups,
    name: str,
) -> tuple[Mesh, Int[np.ndarray, " W"]]:
    """Triangles whose vertices know one uv and one part each, and the ``v`` line of each vertex."""
    triangles, polygon = triangulate(corners.counts, corners.vertex, vertices)
    faces = corners.vertex[triangles]
    if len(faces) == 0 or faces.min() < 0 or faces.max() >= len(vertices):
        Mesh(vertices, faces, name=name)  # raises, and hands the draft to the doctor
    polygon_parts, part_names = groups.parts(len(corners.counts))
    part_count = max(1, len(part_names))
    codes = (corners.uv[triangles] + 1) * part_count + polygon_parts[polygon][:, None]
    source, faces, code = split_corners(faces, codes, len(vertices))
    surfaces, polygon_surfaces = groups.surfaces(len(corners.counts))
    mesh = Mesh(
        vertices[source],
        faces,
        uv=None if uv is None else uv[code // part_count - 1],
        vertex_colors=None if colors is None else colors[source],
        part_ids=code % part_count if part_names else None,
        part_names=part_names,
        surfaces=surfaces,
        face_surfaces=polygon_surfaces[polygon] if len(surfaces) > 1 else None,
        name=groups.object_name or name,
    )
    return mesh, source


def _vertices(text: np.ndarray, path: Path) -> tuple[Float[np.ndarray, "V 3"], Float[np.ndarray, "V 4"] | None]:
    """Positions and, where the lines go on with three numbers, colours."""
    values, counts = float_rows(text, path)
    vertices, has = take_columns(values, counts, 0, 3)
    if not has.all():
        raise FormatError(f"'{path}' is damaged: {int((~has).sum())} vertices have fewer than three coordinates.")
    colors, colored = take_columns(values, counts, 3, 3)
    if not colored.any() or not np.isfinite(colors).all():
        return vertices, None
    colors[~colored] = 1.0
    return vertices, linear_from_srgb(colors / 255.0 if colors.max() > 1.0 else colors)


def _uv(text: np.ndarray, used: Int[np.ndarray, " C"], path: Path) -> Float[np.ndarray, "T 2"] | None:
    """Texture coordinates with a row of zeros at the end, which the corners without any (-1) fall on."""
    if used.max(initial=-1) < 0:
        return None
    values, counts = float_rows(text, path)
    if used.max() >= len(counts):
        raise FormatError(f"'{path}' is damaged: a face names texture coordinate {used.max() + 1} of {len(counts)}.")
    one, _ = take_columns(values, counts, 0, 1)
    two, has = take_columns(values, counts, 0, 2)
    two[~has, 0] = one[~has, 0]
    return np.concatenate([two, np.zeros((1, 2))])


def write(asset: Asset, path: Path) -> Files:
    """The rest mesh as OBJ; a library and pictures beside it when the mesh has surfaces."""
    files, library = write_look(asset.mesh, _plain(path.stem))
    return {path.name: write_geometry(asset.mesh, library), **files}


def write_look(mesh: Mesh, stem: str) -> tuple[Files, str | None]:
    """The library and pictures of a mesh, and the name of the library."""
    if not mesh.surfaces:
        return {}, None
    text, pictures = write_library(mesh.surfaces, surface_names(mesh), stem)
    return {f"{stem}.mtl": text, **pictures}, f"{stem}.mtl"


def surface_names(mesh: Mesh) -> list[str]:
    """A different one-line name for every surface."""
    return _unique(surface.name for surface in mesh.surfaces)


def write_geometry(mesh: Mesh, library: str | None) -> bytes:
    """The text of the OBJ file; numbers are written so that they read back to the last bit."""
    mesh = mesh.in_frame("y", 1.0)
    rows = mesh.vertices
    if mesh.vertex_colors is not None:
        rows = np.concatenate([rows, srgb_from_linear(mesh.vertex_colors)[:, :3]], axis=1)
    out = [SIGNATURE.decode()]
    out += [f"mtllib {library}"] if library else []
    out += [f"o {_plain(mesh.name)}", _lines("v" + " %r" * rows.shape[1], rows)]
    if mesh.uv is not None:
        out.append(_lines("vt %r %r", mesh.uv))
    return ("\n".join(out + _face_lines(mesh)) + "\n").encode("utf-8", "replace")


def _face_lines(mesh: Mesh) -> list[str]:
    """The faces in their own order, with a line wherever the part or the surface changes."""
    out: list[str] = []
    corner = "%d" if mesh.uv is None else "%d/%d"
    template = f"f {corner} {corner} {corner}"
    faces = np.repeat(mesh.faces + 1, 1 if mesh.uv is None else 2, axis=1)
    part_names, materials = _unique(mesh.part_names), surface_names(mesh)
    parts = mesh.face_parts
    surfaces = np.zeros(len(faces), dtype=np.int64) if mesh.face_surfaces is None else mesh.face_surfaces
    if (np.diff(np.unique(parts, return_index=True)[1]) < 0).any():
        out += [f"g {name}" for name in part_names]  # so that the order of the parts survives
    cuts = np.flatnonzero((np.diff(parts) != 0) | (np.diff(surfaces) != 0)) + 1
    part = surface = -1
    for start, stop in zip(np.append(0, cuts), np.append(cuts, len(faces)), strict=True):
        if part_names and parts[start] != part:
            part = int(parts[start])
            out.append(f"g {part_names[part]}")
        if materials and surfaces[start] != surface:
            surface = int(surfaces[start])
            out.append(f"usemtl {materials[surface]}")
        out.append(_lines(template, faces[start:stop]))
    return out


def _lines(template: str, rows: np.ndarray) -> str:
    return "\n".join([template % tuple(row) for row in rows.tolist()])


def _plain(name: str) -> str:
    """A name on one line that is not taken for a comment, a continuation, or nothing."""
    name = re.sub(r"[\x00-\x1f\x7f]+", "_", name).strip().removesuffix("\\")
    return re.sub(r"(^| )#", r"\1_", name) or "unnamed"


def _unique(names: Iterable[str]) -> list[str]:
    return unique_names(map(_plain, names))


@dataclass(frozen=True, eq=False)
class PolygonCorners:
    """The corners of all polygons, one polygon after the other."""

    counts: Int[np.ndarray, " P"]
    vertex: Int[np.ndarray, " C"]
    uv: Int[np.ndarray, " C"]
    """-1 where a corner has none."""


def read_corners(
    lines: TextLines,
    is_face: np.ndarray,
    vertices_before: Int[np.ndarray, " P"],
    uvs_before: Int[np.ndarray, " P"],
    path: Path,
) -> PolygonCorners:
    """Face lines in any of the forms ``a``, ``a/b``, ``a//c``, ``a/b/c``, counted from 1 or back from the line."""
    text = lines.pick(is_face, 1)
    counts = words_per_line(text)
    raw = text.tobytes()
    if b"//" in raw or b"/ " in raw or b"/\n" in raw:
        raw = re.sub(rb"/(?=[/ \n])", b"/0", raw)
        text = np.frombuffer(raw, dtype=np.uint8)
    slashes_before = np.searchsorted(np.flatnonzero(text == ord("/")), np.append(word_starts(text), len(text)))
    fields = np.diff(slashes_before) + 1
    values = parse_numbers(raw.replace(b"/", b" "), int(fields.sum()), np.int64, path)
    offsets = np.cumsum(fields) - fields
    line = np.repeat(np.arange(len(counts)), counts)
    vertex = _absolute(values[offsets], vertices_before[line])
    uv = np.full(len(offsets), -1, dtype=np.int64)
    has_uv = fields > 1
    given = values[offsets[has_uv] + 1]
    uv[has_uv] = np.where(given == 0, -1, np.maximum(_absolute(given, uvs_before[line[has_uv]]), -1))
    return PolygonCorners(counts, vertex, uv)


def _absolute(index: Int[np.ndarray, " C"], before: Int[np.ndarray, " C"]) -> Int[np.ndarray, " C"]:
    """Counted from 0; a negative index counts back from the lines before the face."""
    return np.where(index < 0, before + index, index - 1)


@dataclass(frozen=True, eq=False)
class FaceGroups:
    """Which object, group and material each stretch of faces belongs to."""

    starts: Int[np.ndarray, " S"]
    """First polygon of each stretch."""

    labels: list[tuple[str, str, str]]
    """Object, group and material of each stretch."""

    library: dict[str, Surface]
    notes: tuple[str, ...]

    @staticmethod
    def of(lines: TextLines, faces_before: Int[np.ndarray, " L"], folder: Folder) -> FaceGroups:
        """Walk the few lines that are neither numbers nor faces."""
        wanted = np.zeros(len(lines.starts), dtype=bool)
        for word in (b"o", b"g", b"usemtl", b"mtllib"):
            wanted |= lines.begin_with(word)
        starts, labels, library, notes = [0], [("", "", "")], dict[str, Surface](), list[str]()
        for number in np.flatnonzero(wanted):
            key, _, rest = decode_name(lines.line(int(number))).partition(" ")
            rest = rest.strip()
            if key == "mtllib":
                found, missing = _libraries(rest, folder)
                library |= found
                notes += missing
                continue
            old = labels[-1]
            # An object begins its own groups.
            new = {"o": (rest, "", old[2]), "g": (old[0], rest, old[2]), "usemtl": (old[0], old[1], rest)}[key]
            starts.append(int(faces_before[number]))
            labels.append(new)
        return FaceGroups(np.array(starts), labels, library, tuple(notes))

    @property
    def object_name(self) -> str:
        """The object's name, when there is exactly one."""
        names = {label[0] for label in self.labels if label[0]}
        return names.pop() if len(names) == 1 else ""

    def _spread(self, of_stretch: list[int], count: int) -> Int[np.ndarray, " P"]:
        """A number per stretch to a number per polygon."""
        return np.repeat(of_stretch, np.diff(np.append(self.starts, count)))

    def parts(self, count: int) -> tuple[Int[np.ndarray, " P"], tuple[str, ...]]:
        """The part of each polygon; no names when all belong together."""
        numbers: dict[str, int] = {}
        many_objects = not self.object_name
        of_stretch = []
        for thing, group, _ in self.labels:
            name = "/".join(filter(None, (thing if many_objects else "", group))) or thing or "default"
            of_stretch.append(numbers.setdefault(name, len(numbers)))
        parts = self._spread(of_stretch, count)
        used, compact = np.unique(parts, return_inverse=True)
        names = [list(numbers)[i] for i in used]
        labelled = len(names) > 1 or any(group for _, group, _ in self.labels)
        return (compact.reshape(-1), tuple(names)) if labelled else (np.zeros_like(parts), ())

    def surfaces(self, count: int) -> tuple[tuple[Surface, ...], Int[np.ndarray, " P"]]:
        """The surfaces in use, in the order of the library, and the one of each polygon."""
        order = {name: i for i, name in enumerate(self.library)}
        names = [material for _, _, material in self.labels]
        of_stretch = [order.setdefault(name, len(order)) for name in names]
        used, compact = np.unique(self._spread(of_stretch, count), return_inverse=True)
        chosen = [list(order)[i] for i in used]
        if chosen == [""]:
            return (), np.zeros(count, dtype=np.int64)
        return tuple(self.library.get(name, Surface(name or "default")) for name in chosen), compact.reshape(-1)


def _libraries(rest: str, folder: Folder) -> tuple[dict[str, Surface], list[str]]:
    """Surfaces of the libraries a ``mtllib`` line names; the whole rest may be one name with blanks."""
    whole = folder.resolve(rest) if rest else None
    targets = [(rest, whole)] if whole and whole.is_file() else [(word, folder.resolve(word)) for word in rest.split()]
    surfaces: dict[str, Surface] = {}
    missing = []
    for name, target in targets:
        if not target.is_file():
            missing.append(f"The material library '{name}' is missing, so its materials are plain grey.")
        elif target.stat().st_size:
            surfaces |= read_library(read_bytes(target), replace(folder, here=target.parent))
    return surfaces, missing
