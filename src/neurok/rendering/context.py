"""The graphics context: opened once per thread, with the compiled programs and the pictures it draws into."""

from __future__ import annotations

import os
import threading
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from neurok.errors import MissingDependencyError

SKY_COLUMNS, SKY_COUNT, SKY_SIZE = 4, 8, 256
KEY_SIZE = 1024
GROUND_SIZE = 224
LIT_SHADERS = ("ground_light", "object_light")
"""Those that look up light get the functions of ``visibility``."""

PICTURED_SHADERS = ("object", "prepass", "cutout")
"""Those that look up the pictures of a surface."""

EGL: dict[str, Any] = {"backend": "egl"}

_open = threading.local()


def gl_stage() -> Stage:
    """The stage of this thread; the first call opens it.

    Raises:
        MissingDependencyError: If the machine has no EGL.
    """
    stage: Stage | None = getattr(_open, "stage", None)
    if stage is None or stage.process != os.getpid():
        stage = _open.stage = Stage(_create_context())
    return stage


def _create_context() -> Any:
    import moderngl

    try:
        return moderngl.create_context(standalone=True, require=330, **EGL)
    except Exception as error:
        raise MissingDependencyError(
            f"Pictures need OpenGL 3.3 through EGL, which this machine does not offer ({error}); "
            "on Debian or Ubuntu run: apt install libegl1 libgl1-mesa-dri. Everything else works without it."
        ) from error


class Canvas:
    """Everything of the size of one picture."""

    def __init__(self, gl: Any, width: int, height: int, supersample: int) -> None:
        self.key = (width, height, supersample)
        size, large = (width, height), (width * supersample, height * supersample)
        self.size, self.large_size = size, large
        self.picture = gl.texture(large, 4)
        self.large = gl.framebuffer([self.picture], gl.depth_renderbuffer(large))
        self.final = gl.framebuffer([gl.renderbuffer(size, 4)])
        # The light passes share the depths of the prepass, so that they run only where the object is.
        self.depths = gl.depth_renderbuffer(size)
        self.surface = _texture(gl, size, 4, "f4")
        self.prepass = gl.framebuffer([self.surface], self.depths)
        self.lights = [gl.framebuffer([_texture(gl, size, 4, "f4")], self.depths) for _ in range(2)]

    def release(self) -> None:
        for light in self.lights:
            light.color_attachments[0].release()
            light.release()
        for thing in (self.large, self.final, self.prepass, self.picture, self.surface, self.depths):
            thing.release()


class Stage:
    """What all pictures share: programs, shadow maps, the canvas of the last size."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.process = os.getpid()
        self._canvas: Canvas | None = None
        self._programs: dict[tuple[str, str, str], Any] = {}
        self._screens: dict[tuple[str, str], Any] = {}
        corners = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], dtype="f4")
        self.square = context.buffer(corners.tobytes())

    def canvas(self, width: int, height: int, supersample: int) -> Canvas:
        """The canvas of a size; the one before is given back when the size changes."""
        if self._canvas is None or self._canvas.key != (width, height, supersample):
            if self._canvas is not None:
                self._canvas.release()
            self._canvas = Canvas(self.context, width, height, supersample)
        return self._canvas

    def program(self, vertex: str, fragment: str, constants: str = "") -> Any:
        """A program by the names of its shaders, compiled once for each set of constants (lines of defines)."""
        key = (vertex, fragment, constants)
        if key not in self._programs:
            head = "#version 330\n" + constants
            shared = _shader("visibility") if fragment in LIT_SHADERS else ""
            shared += _shader("coordinates") if fragment in PICTURED_SHADERS else ""
            self._programs[key] = self.context.program(
                vertex_shader=head + _shader(f"{vertex}.vert"),
                fragment_shader=head + shared + _shader(f"{fragment}.frag"),
            )
        return self._programs[key]

    def screen(self, fragment: str, constants: str = "", vertex: str = "screen") -> Any:
        """A square that fills the picture, drawn with the named shader."""
        key = (fragment, constants)
        if key not in self._screens:
            program = self.program(vertex, fragment, constants)
            self._screens[key] = self.context.vertex_array(program, [(self.square, "2f", "in_position")])
        return self._screens[key]

    @cached_property
    def sky_map(self) -> Any:
        return self._depth_map(SKY_SIZE * SKY_COLUMNS, SKY_SIZE * (SKY_COUNT // SKY_COLUMNS))

    @cached_property
    def key_map(self) -> Any:
        return self._depth_map(KEY_SIZE, KEY_SIZE)

    @cached_property
    def ground_maps(self) -> tuple[Any, Any]:
        """Two textures with their framebuffers, written in turn by the blur."""
        size, gl = (GROUND_SIZE, GROUND_SIZE), self.context
        first, second = (gl.framebuffer([_texture(gl, size, 4, "f1", smooth=True)]) for _ in range(2))
        return first, second

    def _depth_map(self, width: int, height: int) -> Any:
        gl = self.context
        texture = gl.depth_texture((width, height))
        texture.compare_func = ""
        texture.filter = (gl.NEAREST, gl.NEAREST)
        texture.repeat_x = texture.repeat_y = False
        return gl.framebuffer(depth_attachment=texture)


def light_constants(with_sky: bool, key_taps: int) -> str:
    """Defines of the shaders that look up light."""
    names = {"SKY_COUNT": SKY_COUNT, "SKY_COLUMNS": SKY_COLUMNS, "SKY_SIZE": SKY_SIZE, "KEY_TAPS": key_taps}
    names["WITH_SKY"] = int(with_sky)
    return "".join(f"#define {name} {value}\n" for name, value in names.items())


def _texture(gl: Any, size: tuple[int, int], channels: int, kind: str, smooth: bool = False) -> Any:
    texture = gl.texture(size, channels, dtype=kind)
    texture.filter = (gl.LINEAR, gl.LINEAR) if smooth else (gl.NEAREST, gl.NEAREST)
    texture.repeat_x = texture.repeat_y = False
    return texture


@cache
def _shader(name: str) -> str:
    return resources.files("neurok.rendering").joinpath("shaders", f"{name}.glsl").read_text()


def put(program: Any, **values: Any) -> None:
    """Set uniforms; those that the compiler removed as unused are passed over."""
    for name, value in values.items():
        uniform = program.get(name, None)
        if uniform is None:
            continue
        if isinstance(value, np.ndarray):
            matrix = value.shape == (4, 4)
            uniform.write(np.ascontiguousarray(value.T if matrix else value, dtype="f4").tobytes())
        else:
            uniform.value = value
