"""Where the light comes from, and the depth maps that tell what it reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from neurok.rendering.camera import axes_toward, direction
from neurok.rendering.context import (
    GROUND_SIZE,
    KEY_SIZE,
    SKY_COLUMNS,
    SKY_COUNT,
    SKY_SIZE,
    Canvas,
    Stage,
    light_constants,
    put,
)

GROUND_TAPS, OBJECT_TAPS = 12, 6
EMPTY = 1e4
"""The distance where there is no object."""

KEY_UNIT, SKY_UNIT, GROUND_UNIT, LIGHT_UNIT, SURFACE_UNIT = range(1, 6)
"""Texture units; unit 0 is the object's own texture."""


@dataclass(frozen=True, eq=False)
class Lights:
    """A key light with a shadow, fill and rim without, and a sky sampled from fixed directions.

    They turn with the camera, so that every view is lit as in a studio. The world is scaled so that the object
    over its whole motion lies in the unit sphere.
    """

    key_toward: Float[np.ndarray, "3"]
    fill_toward: Float[np.ndarray, "3"]
    rim_toward: Float[np.ndarray, "3"]
    key_matrix: Float[np.ndarray, "4 4"]
    """World to the key light's box."""

    key_half: float
    """Half the width of that box."""

    ground_area: tuple[float, float, float]
    """Centre x, centre z and half width of the lit piece of ground."""

    ground_height: float
    sky_axes: Float[np.ndarray, "K 3 3"]
    """Rows right, up, toward of each sky direction."""

    def upload(self, program: Any, eye: Float[np.ndarray, "3"] | None = None) -> None:
        put(
            program,
            key_toward=self.key_toward,
            fill_toward=self.fill_toward,
            rim_toward=self.rim_toward,
            key_from_world=self.key_matrix,
            key_texel=2.0 * self.key_half / KEY_SIZE,
            key_radius=0.012,
            sky_right=self.sky_axes[:, 0],
            sky_up=self.sky_axes[:, 1],
            sky_toward=self.sky_axes[:, 2],
            ground_area=self.ground_area,
            ground_height=self.ground_height,
            key_map=KEY_UNIT,
            sky_map=SKY_UNIT,
            ground_map=GROUND_UNIT,
            light_map=LIGHT_UNIT,
            surface_map=SURFACE_UNIT,
        )
        if eye is not None:
            put(program, eye=eye)


def studio_lights(azimuth: float, low: Float[np.ndarray, "3"], high: Float[np.ndarray, "3"]) -> Lights:
    """Lights for a camera at ``azimuth`` [degrees] and an object inside a box."""
    key = direction(azimuth - 48.0, 50.0)
    axes = axes_toward(key)
    corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    local = corners @ axes.T
    center, half = (local.max(0) + local.min(0)) / 2, (local.max(0) - local.min(0)) / 2 * 1.02 + 0.02
    width = float(max(half[0], half[1]))
    matrix = np.eye(4)
    matrix[:3, :3] = axes / np.array([width, width, -half[2] - 1.0])[:, None]
    matrix[:3, 3] = -center / np.array([width, width, -half[2] - 1.0])
    reach = (high[1] - low[1]) * 0.75 + 0.35
    span = float(max(high[0] - low[0], high[2] - low[2]) / 2 + reach)
    middle = (low + high) / 2
    return Lights(
        key_toward=key,
        fill_toward=direction(azimuth + 60.0, 25.0),
        rim_toward=direction(azimuth + 155.0, 40.0),
        key_matrix=matrix,
        key_half=width,
        ground_area=(float(middle[0]), float(middle[2]), span),
        ground_height=float(low[1]),
        sky_axes=_sky_axes(azimuth),
    )


def _sky_axes(azimuth: float) -> Float[np.ndarray, "K 3 3"]:
    """Directions spread evenly over the upper half of the sphere, none at the very horizon."""
    steps = (np.arange(SKY_COUNT) + 0.5) / SKY_COUNT
    elevations = np.degrees(np.arcsin(0.12 + 0.86 * steps))
    return np.stack([axes_toward(direction(azimuth + 137.508 * i, e)) for i, e in enumerate(elevations)])


def draw_depth_maps(
    stage: Stage, lights: Lights, draw: Callable[[Float[np.ndarray, "4 4"]], None], with_sky: bool
) -> None:
    """Fill the key light's and the sky's maps; ``draw`` gets the matrix and draws what casts shadows."""
    gl = stage.context
    gl.enable_only(gl.DEPTH_TEST)
    stage.key_map.use()
    stage.key_map.clear(depth=1.0)
    draw(lights.key_matrix)
    stage.key_map.depth_attachment.use(KEY_UNIT)
    if not with_sky:
        return
    stage.sky_map.use()
    stage.sky_map.clear(depth=1.0)
    for k, axes in enumerate(lights.sky_axes):
        matrix = np.eye(4)
        matrix[:3, :3] = axes * np.array([1.0, 1.0, -1.0])[:, None]
        stage.sky_map.viewport = (k % SKY_COLUMNS * SKY_SIZE, k // SKY_COLUMNS * SKY_SIZE, SKY_SIZE, SKY_SIZE)
        draw(matrix)
    stage.sky_map.depth_attachment.use(SKY_UNIT)


def draw_ground_light(stage: Stage, lights: Lights, with_sky: bool) -> None:
    """Light that reaches the ground, smoothed."""
    stage.context.enable_only(0)
    first, second = stage.ground_maps
    screen = stage.screen("ground_light", light_constants(with_sky, GROUND_TAPS))
    first.use()
    lights.upload(screen.program)
    screen.render(stage.context.TRIANGLE_STRIP)
    _blur(stage, "ground_blur", first, second, GROUND_UNIT, (GROUND_SIZE, GROUND_SIZE))


def draw_object_light(
    stage: Stage,
    canvas: Canvas,
    lights: Lights,
    clip_from_world: Float[np.ndarray, "4 4"],
    eye: np.ndarray,
    with_sky: bool,
) -> None:
    """Light that reaches what the prepass has seen, smoothed."""
    gl = stage.context
    gl.enable_only(gl.DEPTH_TEST)
    gl.depth_func = ">"
    canvas.surface.use(SURFACE_UNIT)
    first, second = canvas.lights
    for light in (first, second):
        light.depth_mask = False
        light.clear(1.0, 1.0, EMPTY)
    screen = stage.screen("object_light", light_constants(with_sky, OBJECT_TAPS))
    first.use()
    lights.upload(screen.program, eye)
    put(screen.program, world_from_clip=np.linalg.inv(clip_from_world))
    screen.render(stage.context.TRIANGLE_STRIP)
    _blur(stage, "object_blur", first, second, LIGHT_UNIT, canvas.size)
    gl.depth_func = "<"


def _blur(stage: Stage, shader: str, first: Any, second: Any, unit: int, size: tuple[int, int]) -> None:
    """Blur along x and then y; the result lies in ``first`` and stays bound to the texture unit."""
    screen = stage.screen(shader)
    put(screen.program, ground_map=unit, light_map=unit)
    for source, target, step in ((first, second, (1.0 / size[0], 0.0)), (second, first, (0.0, 1.0 / size[1]))):
        source.color_attachments[0].use(unit)
        target.use()
        put(screen.program, step_size=step)
        screen.render(stage.context.TRIANGLE_STRIP)
    first.color_attachments[0].use(unit)
