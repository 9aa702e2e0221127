"""Draws one object, posed frame by frame, with the same camera and light throughout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, UInt8

from neurok.core import Mesh
from neurok.core.mesh import frame_change
from neurok.errors import NeurokError
from neurok.rendering.camera import Camera, fit
from neurok.rendering.context import Canvas, gl_stage, put
from neurok.rendering.gpu_mesh import Colors, GpuMesh
from neurok.rendering.lights import draw_depth_maps, draw_ground_light, draw_object_light, studio_lights
from neurok.rendering.markers import Marker, MarkerMesh

MAX_SIDE = 8192
FINE_PIXELS = 2560 * 2560
"""Larger pictures are drawn without supersampling, to stay within the memory of small machines."""

Background = Literal["studio", "transparent"] | tuple[float, float, float]
STUDIO_TOP, STUDIO_BOTTOM = (0.905, 0.917, 0.933), (0.970, 0.968, 0.963)


class Renderer:
    """Keeps a mesh on the graphics card and takes pictures of it in many poses.

    The camera, the light and the ground are fitted once to everything in ``fit``, so that nothing jumps.
    Use it in a ``with`` block, or call ``close``.
    """

    def __init__(
        self,
        mesh: Mesh,
        *,
        width: int = 640,
        height: int = 480,
        camera: Camera | None = None,
        shading: Literal["smooth", "flat"] = "smooth",
        colors: Colors = "surface",
        fit_to: Iterable[Float[np.ndarray, "V 3"]] | None = None,
        ground: bool = True,
        background: Background = "studio",
        quality: Literal["fine", "fast"] = "fine",
    ) -> None:
        """
        Args:
            fit_to: Poses that must fit into the picture (such as all positions of a clip); the mesh's own if absent.
            ground: Show shadows on a floor under the lowest point of all those poses.
            background: A soft gradient, nothing (the picture then has an alpha channel), or an sRGB colour 0..1.
            quality: ``fast`` leaves out anti-aliasing and the shade of the sky, for previews of many objects.
        """
        if not (min(width, height) >= 16 and max(width, height) <= MAX_SIDE):
            raise NeurokError(f"A picture must have 16x16 to {MAX_SIDE}x{MAX_SIDE} pixels, got {width}x{height}.")
        if quality not in ("fine", "fast"):
            raise NeurokError(f"quality must be 'fine' or 'fast', got {quality!r}.")
        self.mesh, self.width, self.height = mesh, width, height
        self.background, self.has_ground = background, ground
        self._with_sky = quality == "fine"
        self._supersample = 2 if quality == "fine" and width * height <= FINE_PIXELS else 1
        self._turn = frame_change(mesh.up, "y")
        used = np.unique(mesh.faces)
        poses = [mesh.vertices] if fit_to is None else fit_to
        self._place(poses if isinstance(poses, (list, np.ndarray)) else list(poses), used, camera or Camera())
        self.stage = gl_stage()
        self._gpu = GpuMesh(self.stage, mesh, shading, colors)

    def _place(self, poses: Sequence[np.ndarray] | np.ndarray, used: np.ndarray, camera: Camera) -> None:
        """Scale the world to the object and put up camera and lights."""
        ends = [(pose[used].min(axis=0), pose[used].max(axis=0)) for pose in poses]
        low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
        self._center = (low + high) / 2.0
        self._scale = max(float(np.linalg.norm(high - low)) / 2.0, 1e-12)
        corners = np.stack([self.to_world(low), self.to_world(high)])
        low, high = corners.min(axis=0), corners.max(axis=0)
        self._lights = studio_lights(camera.azimuth, low, high)
        self._viewpoint = fit(camera, (self.to_world(pose[used]) for pose in poses), self.width / self.height)
        distance = float(np.linalg.norm(self._viewpoint.eye))
        reach = 1.0 + 2.0 * self._lights.ground_area[2]
        self._clip_from_world = self._viewpoint.matrix(max(distance - 1.5, distance * 0.02, 1e-3), distance + reach)

    def to_world(self, points: Float[np.ndarray, "*N 3"]) -> Float[np.ndarray, "*N 3"]:
        """Points of the mesh's frame in the picture's: y up, the object inside the unit sphere."""
        return (points - self._center) @ (self._turn.T / self._scale)

    def render(
        self, positions: Float[np.ndarray, "V 3"] | None = None, markers: Sequence[Marker] = ()
    ) -> UInt8[np.ndarray, "H W C"]:
        """A picture of the mesh in one pose, first row at the top: RGB, or RGBA without a background.

        Args:
            positions: Vertex positions in the mesh's frame; those of the mesh itself if absent.
            markers: Arrows, axes and balls drawn over the object, in the mesh's frame.
        """
        positions = self.mesh.vertices if positions is None else positions
        if positions.shape != self.mesh.vertices.shape:
            raise NeurokError(f"A pose needs positions of shape {self.mesh.vertices.shape}, got {positions.shape}.")
        self._gpu.move(self.to_world(positions))
        gl = self.stage.context
        draw_depth_maps(self.stage, self._lights, self._gpu.draw_shadow, self._with_sky)
        draw_ground_light(self.stage, self._lights, self._with_sky)
        canvas = self.stage.canvas(self.width, self.height, self._supersample)
        self._draw_prepass(canvas)
        canvas.large.use()
        self._draw_solid(canvas)
        self._draw_background()
        if self.has_ground:
            self._draw_ground()
        gl.enable_only(gl.DEPTH_TEST)
        self._gpu.draw_see_through(self._viewpoint.eye)
        if markers:
            self._draw_markers(markers)
        return self._read(canvas)

    def _draw_prepass(self, canvas: Canvas) -> None:
        gl, eye = self.stage.context, self._viewpoint.eye
        canvas.prepass.use()
        canvas.prepass.clear(depth=1.0)
        gl.enable_only(gl.DEPTH_TEST)
        self._gpu.draw_prepass(self._clip_from_world, eye)
        draw_object_light(self.stage, canvas, self._lights, self._clip_from_world, eye, self._with_sky)

    def _draw_background(self) -> None:
        """The gradient, where no solid face is: its square lies at the far end."""
        gl = self.stage.context
        if self.background == "studio":
            gl.depth_func = "<="
            screen = self.stage.screen("background")
            put(screen.program, top_color=STUDIO_TOP, bottom_color=STUDIO_BOTTOM)
            screen.render(gl.TRIANGLE_STRIP)
            gl.depth_func = "<"

    def _draw_solid(self, canvas: Canvas) -> None:
        color = self.background if isinstance(self.background, tuple) else (0.0, 0.0, 0.0)
        canvas.large.clear(*color, 0.0 if self.background == "transparent" else 1.0, depth=1.0)
        gl = self.stage.context
        gl.enable_only(gl.DEPTH_TEST)
        size = (float(canvas.large_size[0]), float(canvas.large_size[1]))
        for array in self._gpu.objects.values():
            self._lights.upload(array.program, self._viewpoint.eye)
            put(array.program, clip_from_world=self._clip_from_world, canvas_size=size)
        self._gpu.draw_solid()

    def _draw_ground(self) -> None:
        """Drawn last, so that hidden ground costs nothing; a camera below it sees none."""
        if self._viewpoint.eye[1] <= self._lights.ground_height:
            return
        gl, screen = self.stage.context, self.stage.screen("ground", vertex="ground")
        gl.enable_only(gl.DEPTH_TEST | gl.BLEND)
        gl.blend_func = gl.ONE, gl.ONE_MINUS_SRC_ALPHA
        self._lights.upload(screen.program)
        put(screen.program, clip_from_world=self._clip_from_world)
        screen.render(gl.TRIANGLE_STRIP)

    def _draw_markers(self, markers: Sequence[Marker]) -> None:
        drawn = MarkerMesh(self.stage, markers, self.to_world, self._scale)
        drawn.draw(self._clip_from_world, self._viewpoint.axes)
        drawn.release()

    def _read(self, canvas: Canvas) -> UInt8[np.ndarray, "H W C"]:
        gl = self.stage.context
        gl.enable_only(0)
        canvas.final.use()
        canvas.picture.use(0)
        screen = self.stage.screen("shrink")
        put(screen.program, picture=0)
        screen.render(gl.TRIANGLE_STRIP)
        channels = 4 if self.background == "transparent" else 3
        data = np.frombuffer(canvas.final.read(components=channels, alignment=1), dtype=np.uint8)
        pixels = data.reshape(self.height, self.width, channels)[::-1]
        if channels == 3:
            return np.ascontiguousarray(pixels)
        # Colours come multiplied by alpha; files keep them apart.
        alpha = pixels[..., 3:].astype(np.float32)
        straight = np.divide(pixels[..., :3] * 255.0, alpha, out=np.zeros(alpha.shape[:2] + (3,)), where=alpha > 0)
        return np.concatenate([np.clip(np.round(straight), 0, 255).astype(np.uint8), pixels[..., 3:]], axis=2)

    def frames(self, poses: Iterable[Float[np.ndarray, "V 3"]]) -> Iterator[UInt8[np.ndarray, "H W C"]]:
        """A picture of each pose."""
        for positions in poses:
            yield self.render(positions)

    def close(self) -> None:
        """Give the buffers back; the renderer cannot be used afterwards."""
        self._gpu.release()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
