"""A mesh on the graphics card: uploaded once, moved every frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Float

from neurok.core import Mesh, Surface
from neurok.errors import NeurokError
from neurok.rendering.context import Stage, put
from neurok.rendering.normals import CREASE_DEGREES, find_corners
from neurok.rendering.palette import CLAY, PLAIN, part_colors

Colors = Literal["surface", "parts"] | np.ndarray
SRGB8_ALPHA8 = 0x8C43
MAX_TEXTURE_SIDE = 8192
"""Larger textures are thinned out: graphics cards refuse them."""

LAYOUT = (("3f 3f", "in_position", "in_normal"), ("2f 4f", "in_uv", "in_color"))


@dataclass
class Batch:
    """Faces that share a look: a range of the index buffer."""

    surface: Surface
    first: int
    count: int
    """Both in indices, three per face."""

    texture: Any
    blend: bool
    holes: bool
    """Parts of it may be invisible, so its shadow needs a look at the colours."""


class GpuMesh:
    """Buffers and draw calls of one mesh; ``move`` puts it into another pose."""

    def __init__(self, stage: Stage, mesh: Mesh, shading: str, colors: Colors) -> None:
        if shading not in ("smooth", "flat"):
            raise NeurokError(f"shading must be 'smooth' or 'flat', got {shading!r}.")
        self.stage = stage
        self.corners = find_corners(mesh, CREASE_DEGREES if shading == "smooth" else 0.0)
        surfaces, rgba = _look(mesh, colors)
        labels = mesh.face_surfaces if len(surfaces) > 1 and mesh.face_surfaces is not None else None
        labels = np.zeros(mesh.face_count, dtype=np.int64) if labels is None else labels
        drawn_rgba = np.ones((len(self.corners.source), 4)) if rgba is None else rgba[self.corners.source]
        self.batches, order = self._sort_faces(surfaces, labels, drawn_rgba, mesh)
        self.mesh_faces, self.faces = mesh.faces, self.corners.faces
        self.sorted_faces = self.faces[order].astype(np.int32)
        uv = np.zeros((len(drawn_rgba), 2)) if mesh.uv is None else mesh.uv[self.corners.source]
        gl = stage.context
        self.motion = np.empty((len(drawn_rgba), 6), dtype="f4")
        self.moving = gl.buffer(reserve=self.motion.nbytes, dynamic=True)
        self.still = gl.buffer(np.column_stack([uv, drawn_rgba]).astype("f4").tobytes())
        self.indices = gl.buffer(self.sorted_faces.tobytes())
        kinds = sorted({batch.texture is not None for batch in self.batches})
        self.objects = {kind: self._array(stage.program("object", "object", textured(kind))) for kind in kinds}
        cut = sorted({batch.holes and batch.texture is not None for batch in self.batches})
        self.prepasses = {kind: self._array(stage.program("object", "prepass", textured(kind))) for kind in cut}
        self.depth = self._array(stage.program("depth", "depth"))
        self.cutout = self._array(stage.program("object", "cutout"))

    def _array(self, program: Any) -> Any:
        content = []
        for buffer, (sizes, *names) in zip((self.moving, self.still), LAYOUT, strict=True):
            used = [name in program for name in names]
            padded = [size if here else f"{4 * int(size[0])}x" for size, here in zip(sizes.split(), used, strict=True)]
            kept = [name for name, here in zip(names, used, strict=True) if here]
            if kept:
                content.append((buffer, " ".join(padded), *kept))
        return self.stage.context.vertex_array(program, content, index_buffer=self.indices)

    def _sort_faces(
        self, surfaces: tuple[Surface, ...], labels: np.ndarray, rgba: np.ndarray, mesh: Mesh
    ) -> tuple[list[Batch], np.ndarray]:
        """Group faces by surface, opaque ones first so that one call draws all their shadows."""
        clear = rgba[self.corners.faces, 3].min(axis=1) < 0.999
        groups = []
        for index, surface in enumerate(surfaces):
            for see_through in (False, True):
                members = np.flatnonzero((labels == index) & (clear == see_through))
                if len(members) == 0:
                    continue
                blend = surface.alpha_mode == "BLEND" or (see_through and surface.alpha_mode != "MASK")
                groups.append((blend or surface.alpha_mode == "MASK", index, blend, members))
        groups.sort(key=lambda g: (g[0], g[1]))
        batches, first = [], 0
        textures: dict[int, Any] = {}
        for holes, index, blend, members in groups:
            surface = surfaces[index]
            if surface.texture is not None and mesh.uv is not None and index not in textures:
                textures[index] = self._texture(surface)
            batches.append(Batch(surface, first, 3 * len(members), textures.get(index), blend, holes))
            first += 3 * len(members)
        self.textures = list(textures.values())
        return batches, np.concatenate([g[3] for g in groups])

    def _texture(self, surface: Surface) -> Any:
        assert surface.texture is not None
        pixels = surface.texture.pixels()
        step = -(-max(pixels.shape[:2]) // MAX_TEXTURE_SIDE)
        pixels = np.ascontiguousarray(pixels[::-step, ::step])
        height, width = pixels.shape[:2]
        gl = self.stage.context
        texture = gl.texture((width, height), 4, pixels.tobytes(), internal_format=SRGB8_ALPHA8)
        texture.build_mipmaps()
        small = max(width, height) <= 8
        texture.filter = (gl.NEAREST, gl.NEAREST) if small else (gl.LINEAR_MIPMAP_NEAREST, gl.LINEAR)
        return texture

    def move(self, positions: Float[np.ndarray, "V 3"]) -> None:
        """Put the vertices into new places, in world coordinates."""
        self.motion[:, :3] = positions[self.corners.source]
        self.motion[:, 3:] = self.corners.normals(positions, self.mesh_faces)
        self.moving.write(self.motion.tobytes())

    def draw_shadow(self, clip_from_world: Float[np.ndarray, "4 4"]) -> None:
        """Draw what casts shadows into the bound depth map."""
        solid = self._solid_count
        if solid:
            put(self.depth.program, clip_from_world=clip_from_world)
            self.depth.render(vertices=solid)
        for batch in self.batches:
            if batch.holes:
                self._bind_texture(self.cutout.program, batch)
                put(self.cutout.program, clip_from_world=clip_from_world, opacity=batch.surface.base_color[3])
                self.cutout.render(vertices=batch.count, first=batch.first)

    def draw_prepass(self, clip_from_world: Float[np.ndarray, "4 4"], eye: Float[np.ndarray, "3"]) -> None:
        """Draw normals and depth of everything that is not see-through."""
        for batch in self.batches:
            if not batch.blend:
                array = self.prepasses[batch.holes and batch.texture is not None]
                put(array.program, clip_from_world=clip_from_world, eye=eye, opacity=batch.surface.base_color[3])
                self._bind_texture(array.program, batch)
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

    def _sort_far_to_near(self, batch: Batch, eye: Float[np.ndarray, "3"]) -> float:
        """Order the faces of a batch for blending; returns its mean distance."""
        faces = self.sorted_faces[batch.first // 3 : (batch.first + batch.count) // 3]
        distances = np.linalg.norm(self.motion[faces, :3].mean(axis=1) - eye.astype("f4"), axis=1)
        order = np.argsort(-distances, kind="stable")
        self.indices.write(faces[order].tobytes(), offset=4 * batch.first)
        return float(distances.mean())

    def _draw_batch(self, batch: Batch) -> None:
        surface, array = batch.surface, self.objects[batch.texture is not None]
        program = array.program
        self._bind_texture(program, batch)
        put(
            program,
            base_color=tuple(surface.base_color),
            emissive=tuple(surface.emissive),
            metallic=float(surface.metallic),
            roughness=float(np.clip(surface.roughness, 0.04, 1.0)),
            alpha_cutoff=0.5 if surface.alpha_mode == "MASK" else (0.002 if batch.blend else -1.0),
            blend=batch.blend,
        )
        self._cull(batch)
        array.render(vertices=batch.count, first=batch.first)

    def _cull(self, batch: Batch) -> None:
        gl = self.stage.context
        if batch.surface.double_sided:
            gl.disable(gl.CULL_FACE)
        else:
            gl.enable(gl.CULL_FACE)

    def _bind_texture(self, program: Any, batch: Batch) -> None:
        put(program, has_texture=batch.texture is not None, base_texture=0)
        if batch.texture is not None:
            batch.texture.use(0)

    def release(self) -> None:
        """Give the memory of the graphics card back."""
        arrays = (*self.objects.values(), *self.prepasses.values(), self.depth, self.cutout)
        for thing in (*arrays, self.moving, self.still, self.indices, *self.textures):
            thing.release()


def textured(kind: bool) -> str:
    """The constant of shaders with and without a texture."""
    return f"#define TEXTURED {int(kind)}\n"


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
