"""A mesh, its normals and the pictures of its surfaces on the graphics card."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float

from neurok.core import Finish, Mesh, Surface
from neurok.core.surface import CLAMP, MIRROR, NEAREST, Lookup, PlacedTexture, Role, number, numbers, placed_finish
from neurok.errors import NeurokError
from neurok.geometry.operators import CREASE_DEGREES, Corners, find_corners
from neurok.rendering.context import Stage, put
from neurok.rendering.palette import CLAY, PLAIN, part_colors

if TYPE_CHECKING:
    from neurok.core import Mesh

SRGB8_ALPHA8 = 0x8C43
MAX_TEXTURE_SIDE = 8192
MAX_TEXTURE_PIXELS = 200_000_000
"""Of all pictures of an object on the graphics card: about 1 GB with their smaller copies."""
"""Larger textures are thinned out: graphics cards refuse them."""

UNITS: dict[Role, int] = {"base_color": 0, "metallic_roughness": 6, "normal": 7, "occlusion": 8, "emissive": 9}
"""Texture unit of each role; those between belong to the light."""

COLORS = ("base_color", "emissive")
"""Roles whose pictures hold sRGB colours; the others hold numbers."""

LEAST_SHEEN = 0.1
"""Roughness of a velvet below which its light is no longer fitted."""

NARROWEST_NEAREST = 8
"""Pictures of at most this many pixels a side are shown as squares."""


@dataclass(frozen=True, eq=False)
class Map:
    """A texture on the card and where it is looked up."""

    texture: Any
    rows: Float[np.ndarray, "2 3"] | None = None
    """From the stored texture coordinates to the card's; none where the mesh's own ``uv`` is meant."""

    uv_set: int = 0


@dataclass(frozen=True, eq=False)
class ShadedSurface:
    """Everything a shader needs to know of one surface."""

    surface: Surface
    maps: dict[Role, Map]
    values: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    """Switches of the shader that are on."""

    cutoff: float = 0.5
    see_through: float = 0.0
    """Share of light that passes, as through glass."""

    @property
    def constants(self) -> str:
        """Defines of the shader that draws it."""
        on = {*self.flags, *(f"MAP_{role.upper()}" for role in self.maps)}
        on |= {f"PLACED_{role.upper()}" for role, map_ in self.maps.items() if map_.rows is not None}
        return "".join(f"#define {name} 1\n" for name in sorted(on))

    @property
    def base_constants(self) -> str:
        """The same for shaders that look at the base colour alone."""
        on = ["MAP_BASE_COLOR"] if "base_color" in self.maps else []
        on += ["PLACED_BASE_COLOR"] if on and self.maps["base_color"].rows is not None else []
        return "".join(f"#define {name} 1\n" for name in on)

    def bind(self, program: Any) -> None:
        """Give a program the textures, their places and the numbers."""
        for role, map_ in self.maps.items():
            if f"{role}_map" in program:
                map_.texture.use(UNITS[role])
                put(program, **{f"{role}_map": UNITS[role]})
                if map_.rows is not None:
                    put(program, **{f"{role}_rows": map_.rows.astype("f4"), f"{role}_set": map_.uv_set})
        put(program, **self.values)


class SurfaceUploads:
    """Makes the coats of a mesh; a picture that several share is uploaded once."""

    def __init__(self, stage: Stage, mesh: Mesh) -> None:
        self.stage, self.mesh = stage, mesh
        self.has_sets = mesh.authored is not None and len(mesh.authored.uv_sets) > 0
        self._known: dict[tuple[Lookup, bool], Any] = {}
        finishes = [surface.whole_finish() for surface in mesh.surfaces]
        pictures = {id(one.texture): one.texture for finish in finishes for one in finish.lookups}
        pixels = sum(math.prod(texture.size) for texture in pictures.values())
        self.step = math.ceil(math.sqrt(pixels / MAX_TEXTURE_PIXELS)) or 1
        """Every so many pixels of each picture are kept: what all take is bounded."""

    @property
    def textures(self) -> list[Any]:
        return list(self._known.values())

    def coat(self, surface: Surface) -> ShadedSurface:
        finish = surface.whole_finish()
        if self.mesh.uv is None:
            finish = placed_finish(finish, None)
        elif not self.has_sets:
            finish = placed_finish(finish, finish.base_placing)
        base = finish.base_placing
        found = dict(finish.maps)
        if surface.texture is not None and "base_color" not in found and self.mesh.uv is not None:
            found["base_color"] = PlacedTexture(Lookup(surface.texture), *_unpack(base))
        maps = {r: self._map(r, p, base) for r, p in found.items() if p.lookup.texture.is_decodable}
        values, flags = _numbers(finish)
        for role in ("normal", "occlusion"):
            if role in maps:
                values[f"{role}_strength"] = found[role].strength
        values["emissive"] = tuple(finish.emissive_strength * part for part in surface.emissive)
        return ShadedSurface(surface, maps, values, flags, finish.alpha_cutoff, finish.transmission)

    def _map(self, role: Role, placed: PlacedTexture, base: tuple[int, bytes]) -> Map:
        lookup = placed.lookup
        key = (lookup, role in COLORS)
        if key not in self._known:
            self._known[key] = self._upload(lookup, role in COLORS)
        if placed.placing == base and MIRROR not in lookup.wrap:
            return Map(self._known[key])
        rows = np.eye(2, 3) if placed.transform is None else placed.transform
        rows = rows * np.array([[1.0], [-1.0]]) + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # the card's v goes up
        return Map(self._known[key], rows / np.where(np.equal(lookup.wrap, MIRROR), 2.0, 1.0)[:, None], placed.uv_set)

    def _upload(self, lookup: Lookup, is_color: bool) -> Any:
        pixels = lookup.texture.pixels()
        step = max(-(-max(pixels.shape[:2]) // MAX_TEXTURE_SIDE), self.step)
        pixels = pixels[::-step, ::step]
        if lookup.wrap[0] == MIRROR:
            pixels = np.concatenate([pixels, pixels[:, ::-1]], axis=1)
        if lookup.wrap[1] == MIRROR:
            pixels = np.concatenate([pixels, pixels[::-1]], axis=0)
        height, width = pixels.shape[:2]
        gl = self.stage.context
        kind = {"internal_format": SRGB8_ALPHA8} if is_color else {}
        texture = gl.texture((width, height), 4, np.ascontiguousarray(pixels).tobytes(), **kind)
        texture.build_mipmaps()
        is_square = max(width, height) <= NARROWEST_NEAREST if lookup.magnify is None else lookup.magnify == NEAREST
        texture.filter = (gl.NEAREST, gl.NEAREST) if is_square else (gl.LINEAR_MIPMAP_NEAREST, gl.LINEAR)
        texture.repeat_x, texture.repeat_y = (wrap != CLAMP for wrap in lookup.wrap)
        return texture


def _unpack(placing: tuple[int, bytes]) -> tuple[int, np.ndarray | None]:
    uv_set, packed = placing
    return uv_set, np.frombuffer(packed).reshape(2, 3) if packed else None


def _numbers(finish: Finish) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What extensions of the material ask of the shader, as far as it can show them."""
    values: dict[str, Any] = {}
    flags = ["UNLIT"] if finish.is_unlit else []
    ior = number(finish.extension("KHR_materials_ior") or {}, "ior", 1.5)
    mirrored = finish.extension("KHR_materials_specular") or {}
    tint = float(numbers(mirrored, "specularColorFactor", (1.0, 1.0, 1.0)).mean())  # shown as a grey
    specular = number(mirrored, "specularFactor", 1.0)
    values["dielectric"] = specular * min(tint * ((ior - 1.0) / (ior + 1.0)) ** 2, 1.0) if ior > 0 else 1.0
    coat = finish.extension("KHR_materials_clearcoat") or {}
    if number(coat, "clearcoatFactor", 0.0) > 0.0:
        flags.append("CLEARCOAT")
        values["coat"] = number(coat, "clearcoatFactor", 0.0)
        values["coat_roughness"] = number(coat, "clearcoatRoughnessFactor", 0.0)
    velvet = finish.extension("KHR_materials_sheen") or {}
    sheen = numbers(velvet, "sheenColorFactor", (0.0, 0.0, 0.0))
    if sheen.any():
        flags.append("SHEEN")
        values["sheen"] = tuple(sheen.tolist())
        values["sheen_roughness"] = max(number(velvet, "sheenRoughnessFactor", 0.0), LEAST_SHEEN)
    return values, tuple(flags)


def stored_coordinates(mesh: Mesh) -> Float[np.ndarray, "V 4"] | None:
    """The first two sets of texture coordinates as the file has them."""
    sets = () if mesh.authored is None else mesh.authored.uv_sets
    if mesh.uv is None:
        return None
    first = sets[0] if sets else np.column_stack([mesh.uv[:, 0], 1.0 - mesh.uv[:, 1]])
    return np.column_stack([first, sets[1] if len(sets) > 1 else first])


Colors = Literal["surface", "parts"] | np.ndarray
LAYOUT = (("3f 3f", "in_position", "in_normal"), ("2f 4f", "in_uv", "in_color"), ("4f", "in_stored"))
CLEAR = 0.9
"""Share of its colour that a surface loses which lets all light through."""

LUMINANCE = (0.2126, 0.7152, 0.0722)
"""How bright red, green and blue are seen; glass of a colour passes so much. As in shaders/object.frag.glsl."""


@dataclass
class DrawBatch:
    """Faces that share a look: a range of the index buffer."""

    coat: ShadedSurface
    first: int
    count: int
    """Both in indices, three per face."""

    blend: bool
    holes: bool
    """Parts of it may be invisible, so its shadow needs a look at the colours."""


class GpuMesh:
    """Buffers and draw calls of one mesh; ``move`` puts it into another pose."""

    def __init__(self, stage: Stage, mesh: Mesh, shading: str, colors: Colors) -> None:
        if shading not in ("smooth", "flat"):
            raise NeurokError(f"shading must be 'smooth' or 'flat', got {shading!r}.")
        self.stage = stage
        crease = CREASE_DEGREES if shading == "smooth" else 0.0
        self.corners = find_corners(mesh.vertices, mesh.faces, mesh.part_ids, crease)
        self.authored = authored_turns(mesh, self.corners) if shading == "smooth" else None
        self.uploads = SurfaceUploads(stage, mesh)
        surfaces, rgba = _look(mesh, colors)
        labels = mesh.face_surfaces if len(surfaces) > 1 and mesh.face_surfaces is not None else None
        labels = np.zeros(mesh.face_count, dtype=np.int64) if labels is None else labels
        drawn_rgba = np.ones((len(self.corners.source), 4)) if rgba is None else rgba[self.corners.source]
        self.batches, order = self._sort_faces(surfaces, labels, drawn_rgba)
        self.mesh_faces, self.faces = mesh.faces, self.corners.faces
        self.sorted_faces = self.faces[order].astype(np.int32)
        uv = np.zeros((len(drawn_rgba), 2)) if mesh.uv is None else mesh.uv[self.corners.source]
        gl = stage.context
        self.motion = np.empty((len(drawn_rgba), 6), dtype="f4")
        self.moving = gl.buffer(reserve=self.motion.nbytes, dynamic=True)
        self.still = gl.buffer(np.column_stack([uv, drawn_rgba]).astype("f4").tobytes())
        self.indices = gl.buffer(self.sorted_faces.tobytes())
        stored = stored_coordinates(mesh) if any("PLACED" in batch.coat.constants for batch in self.batches) else None
        self.stored = None if stored is None else gl.buffer(stored[self.corners.source].astype("f4").tobytes())
        constants = sorted({batch.coat.constants for batch in self.batches})
        self.objects = {kind: self._array(stage.program("object", "object", kind)) for kind in constants}
        cut = sorted({self._cut(batch) for batch in self.batches})
        self.prepasses = {kind: self._array(stage.program("object", "prepass", kind)) for kind in cut}
        cut = sorted({self._cut(batch) for batch in self.batches if batch.holes})
        self.cutouts = {kind: self._array(stage.program("object", "cutout", kind)) for kind in cut}
        self.depth = self._array(stage.program("depth", "depth"))

    @staticmethod
    def _cut(batch: DrawBatch) -> str:
        """Constants of shaders that only cut holes."""
        return batch.coat.base_constants if batch.holes else ""

    def _array(self, program: Any) -> Any:
        content = []
        for buffer, (sizes, *names) in zip((self.moving, self.still, self.stored), LAYOUT, strict=True):
            if buffer is None:
                continue
            used = [name in program for name in names]
            padded = [size if here else f"{4 * int(size[0])}x" for size, here in zip(sizes.split(), used, strict=True)]
            kept = [name for name, here in zip(names, used, strict=True) if here]
            if kept:
                content.append((buffer, " ".join(padded), *kept))
        return self.stage.context.vertex_array(program, content, index_buffer=self.indices)

    def _sort_faces(
        self, surfaces: tuple[Surface, ...], labels: np.ndarray, rgba: np.ndarray
    ) -> tuple[list[DrawBatch], np.ndarray]:
        """Group faces by surface, opaque ones first so that one call draws all their shadows."""
        clear = rgba[self.corners.faces, 3].min(axis=1) < 0.999
        coats = {index: self.uploads.coat(surfaces[index]) for index in np.unique(labels).tolist()}
        groups = []
        for index, coat in coats.items():
            mode = coat.surface.alpha_mode
            for see_through in (False, True):
                members = np.flatnonzero((labels == index) & (clear == see_through))
                if len(members) == 0:
                    continue
                blend = mode == "BLEND" or coat.see_through > 0.0 or (see_through and mode != "MASK")
                groups.append((blend or mode == "MASK", index, blend, members))
        groups.sort(key=lambda g: (g[0], g[1]))
        batches, first = [], 0
        for holes, index, blend, members in groups:
            batches.append(DrawBatch(coats[index], first, 3 * len(members), blend, holes))
            first += 3 * len(members)
        return batches, np.concatenate([g[3] for g in groups])

    def move(self, positions: Float[np.ndarray, "V 3"]) -> None:
        """Put the vertices into new places, in world coordinates."""
        self.motion[:, :3] = positions[self.corners.source]
        normals = self.corners.normals(positions, self.mesh_faces)
        self.motion[:, 3:] = normals if self.authored is None else self.authored.follow(normals)
        self.moving.write(self.motion.tobytes())

    def draw_shadow(self, clip_from_world: Float[np.ndarray, "4 4"]) -> None:
        """Draw what casts shadows into the bound depth map."""
        solid = self._solid_count
        if solid:
            put(self.depth.program, clip_from_world=clip_from_world)
            self.depth.render(vertices=solid)
        for batch in self.batches:
            if batch.holes:
                array = self.cutouts[self._cut(batch)]
                self._put_holes(array.program, batch)
                put(array.program, clip_from_world=clip_from_world)
                array.render(vertices=batch.count, first=batch.first)

    def draw_prepass(self, clip_from_world: Float[np.ndarray, "4 4"], eye: Float[np.ndarray, "3"]) -> None:
        """Draw normals and depth of everything that is not see-through."""
        for batch in self.batches:
            if not batch.blend:
                array = self.prepasses[self._cut(batch)]
                put(array.program, clip_from_world=clip_from_world, eye=eye)
                self._put_holes(array.program, batch)
                self._cull(batch)
                array.render(vertices=batch.count, first=batch.first)

    @property
    def _solid_count(self) -> int:
        return sum(batch.count for batch in self.batches if not batch.holes)

    def draw_solid(self) -> None:
        """Draw the lit object, except for see-through faces."""
        for batch in self.batches:
            if not batch.blend:
                self._draw_batch(batch)

    def draw_see_through(self, eye: Float[np.ndarray, "3"]) -> None:
        """Draw see-through faces from far to near over what is there."""
        gl = self.stage.context
        blended = [batch for batch in self.batches if batch.blend]
        if not blended:
            return
        gl.enable(gl.BLEND)
        gl.blend_func = gl.ONE, gl.ONE_MINUS_SRC_ALPHA
        self.stage.context.fbo.depth_mask = False
        for _, batch in sorted(((self._sort_far_to_near(b, eye), b) for b in blended), key=lambda pair: -pair[0]):
            self._draw_batch(batch)
        self.stage.context.fbo.depth_mask = True
        gl.disable(gl.BLEND)

    def _sort_far_to_near(self, batch: DrawBatch, eye: Float[np.ndarray, "3"]) -> float:
        """Order the faces of a batch for blending; returns its mean distance."""
        faces = self.sorted_faces[batch.first // 3 : (batch.first + batch.count) // 3]
        distances = np.linalg.norm(self.motion[faces, :3].mean(axis=1) - eye.astype("f4"), axis=1)
        order = np.argsort(-distances, kind="stable")
        self.indices.write(faces[order].tobytes(), offset=4 * batch.first)
        return float(distances.mean())

    def _draw_batch(self, batch: DrawBatch) -> None:
        coat, array = batch.coat, self.objects[batch.coat.constants]
        surface, program = coat.surface, array.program
        coat.bind(program)
        put(
            program,
            base_color=tuple(surface.base_color),
            clear=CLEAR * coat.see_through,
            metallic=float(surface.metallic),
            roughness=float(np.clip(surface.roughness, 0.04, 1.0)),
            alpha_cutoff=coat.cutoff if surface.alpha_mode == "MASK" else (0.002 if batch.blend else -1.0),
            blend=batch.blend,
        )
        self._cull(batch)
        array.render(vertices=batch.count, first=batch.first)

    def _cull(self, batch: DrawBatch) -> None:
        gl = self.stage.context
        if batch.coat.surface.double_sided:
            gl.disable(gl.CULL_FACE)
        else:
            gl.enable(gl.CULL_FACE)

    def _put_holes(self, program: Any, batch: DrawBatch) -> None:
        """Tell a program what is invisible: below the cutoff of a mask, or less than half of glass."""
        coat = batch.coat
        cutoff = coat.cutoff if coat.surface.alpha_mode == "MASK" else 0.5
        coat.bind(program)
        passes = CLEAR * coat.see_through * float(np.dot(coat.surface.base_color[:3], LUMINANCE))
        alpha = 1.0 if coat.surface.alpha_mode == "OPAQUE" else coat.surface.base_color[3]
        put(program, opacity=alpha * (1.0 - passes), cutoff=cutoff)

    def release(self) -> None:
        """Give the memory of the graphics card back."""
        arrays = (*self.objects.values(), *self.prepasses.values(), *self.cutouts.values(), self.depth)
        buffers = [buffer for buffer in (self.moving, self.still, self.stored, self.indices) if buffer is not None]
        for thing in (*arrays, *buffers, *self.uploads.textures):
            thing.release()


def _look(mesh: Mesh, colors: Colors) -> tuple[tuple[Surface, ...], np.ndarray | None]:
    """Surfaces and vertex colours to draw with."""
    if isinstance(colors, np.ndarray):
        if colors.shape not in ((mesh.vertex_count, 3), (mesh.vertex_count, 4)):
            raise NeurokError(
                f"colors must have one row of 3 or 4 per vertex ({mesh.vertex_count}), got {colors.shape}."
            )
        opaque = np.ones((len(colors), 4))
        opaque[:, : colors.shape[1]] = colors
        return (PLAIN,), opaque
    if colors == "parts":
        ids = np.zeros(mesh.vertex_count, dtype=np.int64) if mesh.part_ids is None else mesh.part_ids
        return (PLAIN,), part_colors(ids)
    if colors != "surface":
        raise NeurokError(f"colors must be 'surface', 'parts' or an array, got {colors!r}.")
    fallback = CLAY if mesh.vertex_colors is None else PLAIN
    return mesh.surfaces or (fallback,), mesh.vertex_colors


UNTURNED = 1.0 - 1e-6
"""Cosine of the angle from which on a face counts as not turned."""

TURNED_OVER = -0.9
"""Cosine below which a face has turned so far that its old normal says nothing."""


@dataclass(frozen=True, eq=False)
class AuthoredNormals:
    """Normals that the file gives, carried along by those of the moving faces."""

    given: Float[np.ndarray, "C 3"]
    resting: Float[np.ndarray, "C 3"]
    """Normals of the faces at rest, in the same axes."""

    turn: Float[np.ndarray, "3 3"]
    """To the axes of the picture."""

    def follow(self, normals: Float[np.ndarray, "C 3"]) -> Float[np.ndarray, "C 3"]:
        """The given normals after the shortest turn that takes the faces from rest to ``normals``."""
        given, resting = self.given @ self.turn.T, self.resting @ self.turn.T
        cosine = np.einsum("ij,ij->i", resting, normals)[:, None]
        if cosine.min() > UNTURNED:
            return given
        axis = np.cross(resting, normals)
        turned = given * cosine + np.cross(axis, given)
        turned += axis * (np.einsum("ij,ij->i", axis, given)[:, None] / np.maximum(1.0 + cosine, 0.05))
        return np.where(cosine > TURNED_OVER, turned, normals)


def authored_turns(mesh: Mesh, corners: Corners) -> AuthoredNormals | None:
    """The file's own normals for drawing, if it gives one for every vertex.

    Two faces back to back share their vertices and with them one normal; it is turned over for the one it does not fit.
    """
    from neurok.core.mesh import frame_change

    given = mesh.normals
    if given is None or not (np.abs(given).max(axis=1) > 0)[corners.source].all():
        return None
    resting = corners.normals(mesh.vertices, mesh.faces)
    given = given[corners.source]
    against = np.einsum("ij,ij->i", given, resting)[:, None] < 0.0
    return AuthoredNormals(np.where(against, -given, given), resting, frame_change(mesh.up, "y").astype(np.float32))
